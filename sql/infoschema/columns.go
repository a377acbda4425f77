package infoschema

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// columns reads a list of columns "NAME type, …" where type is one of
//
//	sN  VARCHAR(N), compared without case      nN  VARCHAR(N), compared by bytes
//	t   LONGTEXT                               i   BIGINT, u BIGINT UNSIGNED
//	f   DOUBLE                                 d   DATETIME, dN  DATETIME(N)
//	mP.S  DECIMAL(P,S)                         m   DECIMAL(27,4)
//	e:a|b  as long as the longest of a and b   j   JSON
//	E:a|b  ENUM('a','b')                       S:a|b  SET('a','b')
//
// and a ? after it makes the column nullable. Names may hold spaces; the type is
// the last word, or all from e:, E: or S: on.
func columns(spec string) []logical.Column {
	var out []logical.Column
	for _, f := range strings.Split(spec, ",") {
		f = strings.TrimSpace(f)
		if f == "" {
			continue
		}
		i := -1 // members may hold spaces
		for _, kind := range []string{" e:", " E:", " S:"} {
			i = max(i, strings.Index(f, kind))
		}
		if i < 0 {
			i = strings.LastIndexByte(f, ' ')
		}
		name, typ := strings.TrimSpace(f[:i]), f[i+1:]
		null := strings.HasSuffix(typ, "?")
		out = append(out, logical.Column{Name: name, T: columnTypeOf(strings.TrimSuffix(typ, "?")), Null: null})
	}
	return out
}

func columnTypeOf(typ string) schema.Type {
	n, err := strconv.Atoi(typ[1:])
	if err != nil {
		n = 64
	}
	switch typ[0] {
	case 'n':
		return types.VarcharOf(n, schema.CollationUTF8MB3Bin)
	case 't':
		return types.Text(schema.CollationUTF8MB3GeneralCI)
	case 'i':
		return types.BigInt
	case 'u':
		return types.UBigInt
	case 'f':
		return types.Double
	case 'd':
		if len(typ) == 1 {
			n = 0
		}
		return types.DatetimeOf(n)
	case 'm':
		var precision, scale int
		if _, err := fmt.Sscanf(typ, "m%d.%d", &precision, &scale); err != nil {
			return types.DecimalOf(27, 4)
		}
		return types.DecimalOf(precision, scale)
	case 'j':
		return types.JSON
	case 'E':
		return schema.Type{ID: schema.TypeEnum, Collation: schema.CollationUTF8MB3GeneralCI, Elems: strings.Split(typ[2:], "|")}
	case 'S':
		return schema.Type{ID: schema.TypeSet, Collation: schema.CollationUTF8MB3GeneralCI, Elems: strings.Split(typ[2:], "|")}
	case 'e':
		// ENUM columns are shown as strings of their longest member.
		longest := 0
		for _, m := range strings.Split(typ[2:], "|") {
			longest = max(longest, len(m))
		}
		return types.VarcharOf(longest, schema.CollationUTF8MB3GeneralCI)
	}
	return types.VarcharOf(n, schema.CollationUTF8MB3GeneralCI)
}

// numberOf is the number of a text in a column of type ENUM or SET.
func numberOf(t schema.Type, text string) value.Datum {
	var n uint64
	for i, e := range t.Elems {
		switch {
		case t.ID == schema.TypeEnum && e == text:
			return value.Uint(uint64(i) + 1)
		case t.ID == schema.TypeSet && slices.Contains(strings.Split(text, ","), e):
			n |= 1 << i
		}
	}
	return value.Uint(n)
}

func sortStrings(s []string) { slices.Sort(s) }

func sortedTables(m map[string]*table) []*table {
	out := make([]*table, 0, len(m))
	for _, t := range m {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out
}
