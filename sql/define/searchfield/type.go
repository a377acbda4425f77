package searchfield

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

var pathTypes = regexp.MustCompile(`^(KEYWORD|BIGINT|BIGINT UNSIGNED|DOUBLE|BOOL|BOOLEAN|DATE|DATETIME ?(?:\( ?([0-6]) ?\))?|DECIMAL ?(?:\( ?(\d+) ?(?:, ?(\d+) ?)?\))?)$`)

// PathType reads the type of a field over a part of a JSON column: 1210, 1425 to
// 1427.
func PathType(text string) (schema.Type, error) {
	name := strings.ToUpper(strings.Join(strings.Fields(text), " "))
	m := pathTypes.FindStringSubmatch(name)
	if m == nil {
		return schema.Type{}, sqlerr.WrongArgumentsReason("search index field",
			"type '"+text+"' is none of KEYWORD, BIGINT, BIGINT UNSIGNED, DOUBLE, DECIMAL(p,s), BOOL, DATE, DATETIME(n)")
	}
	switch {
	case name == "KEYWORD":
		return types.Text(schema.CollationUTF8MB4Bin), nil
	case name == "BIGINT":
		return types.BigInt, nil
	case name == "BIGINT UNSIGNED":
		return types.UBigInt, nil
	case name == "DOUBLE":
		return types.Double, nil
	case strings.HasPrefix(name, "BOOL"):
		return schema.Type{ID: schema.TypeTinyInt, Len: 1, Collation: schema.CollationBinary}, nil
	case name == "DATE":
		return types.Date, nil
	case strings.HasPrefix(name, "DATETIME"):
		n, _ := strconv.Atoi("0" + m[2])
		return types.DatetimeOf(n), nil
	}
	precision, scale := 10, 0
	if m[3] != "" {
		precision, _ = strconv.Atoi(m[3])
		scale, _ = strconv.Atoi("0" + m[4])
	}
	switch {
	case precision < 1 || precision > 65:
		return schema.Type{}, sqlerr.PrecisionTooBig(precision, name, 65)
	case scale > 30:
		return schema.Type{}, sqlerr.ScaleTooBig(scale, name, 30)
	case scale > precision:
		return schema.Type{}, sqlerr.MBiggerThanD(name)
	}
	return types.DecimalOf(precision, scale), nil
}
