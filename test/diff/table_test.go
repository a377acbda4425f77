package diff

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// kind is the class of an expression's values.
type kind int

const (
	kindInt kind = iota
	kindDecimal
	kindFloat
	kindText
	kindDate
	kindDatetime
	kindTime
	kindOther // only stored, compared with itself and shown
)

// column of a generated table.
type column struct {
	name   string
	kind   kind
	typ    string
	big    bool // its values overflow in arithmetic
	ci     bool // equal values may differ in bytes
	null   bool
	show   string // how it is selected, with %s for the column
	values []string
	as     string // the expression of a generated column
	raw    bool   // only stored, shown, and compared by conditions of its own
}

// table is a generated table.
type table struct {
	name     string
	cols     []column
	pk       []string
	indexes  []string        // names
	keys     [][]string      // columns of the primary key and of indexes
	ddl      []string        // of sqlots, of the oracle
	unique   bool            // it has unique indexes
	zeroes   map[string]bool // columns with zero dates
	searched bool            // it has a search or columnar index, xs
}

var (
	textValues = []string{"''", "'a'", "'A'", "'ab'", "'abc'", "'b'", "'B'", "'Hello'", "'hello'", "'x%y'", "'12'", "'-3'", "'1e1'", "'zz'",
		"'é'", "'中文'", "'it''s'", `'a\\b'`, "'foo bar'", "'2020-01-02'", "'longer text'", "'\U0001F600'"}
	dateValues = []string{"'2020-01-01'", "'2020-02-29'", "'1999-12-31'", "'2021-03-28'", "'2000-01-01'", "'2020-01-02'", "'1000-01-01'", "'9999-12-31'", "'2020-12-31'"}
	dtValues   = []string{"'2020-01-01 00:00:00'", "'2020-02-29 12:34:56'", "'1999-12-31 23:59:59'", "'2021-03-28 02:30:00'", "'2020-01-01 10:00:00'", "'2000-01-01 00:00:01'", "'2037-06-01 05:06:07'"}
	dt3Values  = []string{"'2020-01-01 00:00:00.123'", "'2020-02-29 12:34:56.5'", "'1999-12-31 23:59:59.999'", "'2020-01-01 10:00:00'"}
	timeValues = []string{"'00:00:00'", "'12:34:56'", "'-01:00:00'", "'838:59:59'", "'23:59:59'", "'100:00:01'", "'00:00:01'"}
)

// columnKinds are the columns to choose from.
func columnKinds() []column {
	small := []string{"0", "1", "2", "3", "5", "7", "10", "-1", "-5", "42", "100"}
	positive := []string{"0", "1", "2", "3", "5", "7", "10", "42", "100", "200"}
	return []column{
		{name: "ti", kind: kindInt, typ: "TINYINT", values: append([]string{"127", "-128"}, small...)},
		{name: "su", kind: kindInt, typ: "SMALLINT UNSIGNED", values: append([]string{"65535"}, positive...)},
		{name: "mi", kind: kindInt, typ: "MEDIUMINT", values: append([]string{"8388607", "-8388608"}, small...)},
		{name: "i1", kind: kindInt, typ: "INT", values: small},
		{name: "i2", kind: kindInt, typ: "INT", values: append([]string{"2147483647", "-2147483648"}, small...)},
		{name: "bi", kind: kindInt, typ: "BIGINT", big: true, values: append([]string{"9223372036854775807", "-9223372036854775808"}, small...)},
		{name: "bu", kind: kindInt, typ: "BIGINT UNSIGNED", big: true, values: append([]string{"18446744073709551615", "9223372036854775808"}, positive...)},
		{name: "bo", kind: kindInt, typ: "BOOL", values: []string{"0", "1"}},
		{name: "yr", kind: kindInt, typ: "YEAR", values: []string{"1901", "2000", "2020", "2155", "1999"}},
		{name: "d2", kind: kindDecimal, typ: "DECIMAL(10,2)", values: []string{"0", "1.5", "-1.50", "99999999.99", "0.01", "3", "2.25", "10", "-0.99"}},
		{name: "d6", kind: kindDecimal, typ: "DECIMAL(20,6)", values: []string{"0", "1.5", "-1.500001", "0.333333", "12345678901234.567891", "3", "100"}},
		{name: "d0", kind: kindDecimal, typ: "DECIMAL(30,0)", values: []string{"0", "1", "-7", "123456789012345678901234567890", "10"}},
		{name: "fd", kind: kindFloat, typ: "DOUBLE", values: []string{"0", "1.5", "-2.25", "1e10", "0.125", "3", "1e-5", "-1e10", "10"}},
		{name: "fl", kind: kindFloat, typ: "FLOAT", values: []string{"0", "1.5", "-2.25", "1024", "0.125", "3", "10"}},
		{name: "ch", kind: kindText, typ: "CHAR(12)", ci: true, values: textValues},
		{name: "vc", kind: kindText, typ: "VARCHAR(30)", ci: true, values: textValues},
		{name: "vb", kind: kindText, typ: "VARCHAR(40) COLLATE utf8mb4_bin", values: textValues},
		{name: "cb", kind: kindText, typ: "CHAR(15) COLLATE utf8mb4_bin", values: textValues},
		{name: "tx", kind: kindText, typ: "TEXT COLLATE utf8mb4_bin", values: textValues},
		{name: "vn", kind: kindOther, typ: "VARBINARY(30)", show: "HEX(%s)", values: textValues},
		{name: "bn", kind: kindOther, typ: "BINARY(6)", show: "HEX(%s)", values: []string{"''", "'a'", "'abc'", "'A'", "'abcdef'"}},
		{name: "bl", kind: kindOther, typ: "BLOB", show: "HEX(%s)", values: textValues},
		{name: "da", kind: kindDate, typ: "DATE", values: dateValues},
		{name: "dt", kind: kindDatetime, typ: "DATETIME", values: dtValues},
		{name: "d3", kind: kindDatetime, typ: "DATETIME(3)", values: dt3Values},
		{name: "ts", kind: kindDatetime, typ: "TIMESTAMP", values: dtValues},
		{name: "tm", kind: kindTime, typ: "TIME", values: timeValues},
		{name: "dm", kind: kindDatetime, typ: "DATETIME(6)", values: dt3Values},
		{name: "t6", kind: kindTime, typ: "TIME(6)", values: []string{"'00:00:00.000001'", "'12:34:56.5'", "'-01:00:00.25'", "'23:59:59.999999'", "'10:00:00'"}},
		{name: "js", kind: kindOther, typ: "JSON", raw: true, values: []string{`'{"a": 1, "t": [1, 2]}'`, `'{"a": 2, "t": []}'`, `'{"a": "x", "t": [2, 3, 3]}'`, `'[1, 2]'`, `'{"t": 5}'`, "'null'"}},
		{name: "pt", kind: kindOther, typ: "POINT", raw: true, show: "ST_AsText(%s)", values: []string{"ST_GeomFromText('POINT(1 2)')", "POINT(0, 0)", "ST_GeomFromText('POINT(-1.5 3)')"}},
		{name: "en", kind: kindOther, typ: "ENUM('x','y','zed','a')", values: []string{"'x'", "'y'", "'zed'", "'a'"}},
		{name: "se", kind: kindOther, typ: "SET('p','q','r')", values: []string{"''", "'p'", "'p,q'", "'r'", "'p,q,r'"}},
		{name: "bt", kind: kindOther, typ: "BIT(8)", show: "%s+0", values: []string{"0", "1", "255", "b'101'"}},
	}
}

// newTable makes a table with a primary key and indexes.
func newTable(r *rand.Rand, name string) *table {
	t := &table{name: name}
	all := columnKinds()
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	n := 3 + r.IntN(6)
	var pk []string
	prefix := ""
	switch r.IntN(6) {
	case 0, 1:
		pk = []string{"id", "k"}
		t.cols = append(t.cols, column{name: "k", kind: kindText, typ: "VARCHAR(20) COLLATE utf8mb4_bin", values: textValues})
		if r.IntN(2) == 0 {
			prefix = fmt.Sprintf("(%d)", 1+r.IntN(4))
		}
	case 2:
		pk = []string{"k", "id"}
		t.cols = append(t.cols, column{name: "k", kind: kindInt, typ: "INT", values: []string{"1", "2", "3", "4"}})
	default:
		pk = []string{"id"}
	}
	t.pk, t.keys = pk, [][]string{pk}
	for _, c := range all[:n] {
		c.null = r.IntN(4) > 0 || c.typ == "TIMESTAMP" || c.raw
		t.cols = append(t.cols, c)
	}
	t.generate(r)
	lines := []string{"id INT NOT NULL"}
	if r.IntN(4) == 0 {
		lines[0] = "id INT NOT NULL AUTO_INCREMENT"
		if pk[0] != "id" {
			lines[0] = "id INT NOT NULL"
		}
	}
	for i := range t.cols {
		c := &t.cols[i]
		def := c.name + " " + c.typ
		switch {
		case c.as != "":
			def += " AS (" + c.as + ")" + pick(r, []string{" VIRTUAL", " STORED"})
		case c.typ == "TIMESTAMP":
			def += " NULL"
		case !c.null:
			def += " NOT NULL"
		case r.IntN(10) == 0:
			def += " INVISIBLE"
		}
		lines = append(lines, def)
	}
	t.cols = append([]column{{name: "id", kind: kindInt, typ: "INT"}}, t.cols...)
	lines = append(lines, "PRIMARY KEY ("+strings.Join(pk, ",")+prefix+")")
	oracle := append([]string(nil), lines...)
	for i, k := 0, r.IntN(4); i < k; i++ {
		def, include := t.newIndex(r, i)
		lines, oracle = append(lines, def+include), append(oracle, def)
	}
	lines = append(lines, t.ownIndexes(r)...)
	for _, l := range [][]string{lines, oracle} {
		t.ddl = append(t.ddl, "CREATE TABLE "+name+" ("+strings.Join(l, ", ")+") DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci")
	}
	return t
}

// generate adds generated columns over others.
func (t *table) generate(r *rand.Rand) {
	for _, c := range t.cols {
		if r.IntN(8) > 0 {
			continue
		}
		switch {
		case c.kind == kindInt && !c.big && c.name != "yr" && c.name != "k":
			t.cols = append(t.cols, column{name: "gi", kind: kindInt, typ: "BIGINT", null: true, values: c.values, as: c.name + " * 2 + 1"})
		case strings.HasPrefix(c.typ, "VARCHAR") && c.kind == kindText && c.name != "k": // MariaDB takes no CHAR
			t.cols = append(t.cols, column{name: "gt", kind: kindText, typ: "VARCHAR(80) COLLATE utf8mb4_bin", null: true, values: c.values, as: "CONCAT(" + c.name + ", 'a')"})
		default:
			continue
		}
		return
	}
}

// ownIndexes are indexes that the oracle does not know: of expressions, of
// parts of the rows, of the elements of arrays, and one that is not used.
func (t *table) ownIndexes(r *rand.Rand) (defs []string) {
	add := func(name, def string) {
		defs = append(defs, "KEY "+name+" "+def)
		t.indexes = append(t.indexes, name)
	}
	if r.IntN(3) > 0 {
		t.search(r, &defs)
	}
	for _, c := range t.cols {
		if c.name == "js" {
			add("xj", "((CAST(js->'$.t' AS UNSIGNED ARRAY)))")
		}
		if c.raw || c.name == "id" || c.typ == "TIMESTAMP" || c.typ == "TEXT COLLATE utf8mb4_bin" || c.typ == "BLOB" || r.IntN(7) > 0 {
			continue
		}
		switch n := r.IntN(3); {
		case n == 0 && c.kind == kindInt && !c.big && c.name != "yr" && c.as == "":
			add("xe_"+c.name, "(("+c.name+" + 1))")
		case n < 2 && c.as == "" && len(c.values) > 0 && c.kind <= kindText:
			add("xp_"+c.name, "("+c.name+") WHERE "+c.name+pick(r, []string{" > ", " = ", " <> "})+pick(r, c.values))
		case n < 2:
			add("xp_"+c.name, "("+c.name+", id) WHERE "+c.name+" IS NOT NULL")
		default:
			defs = append(defs, "KEY xi_"+c.name+" ("+c.name+") INVISIBLE")
		}
	}
	return defs
}

// search adds a search index, or a columnar one, over some of the columns, or all.
func (t *table) search(r *rand.Rand, defs *[]string) {
	var fields []string
	all := r.IntN(2) == 0
	for _, c := range t.cols {
		if !c.raw && (all || r.IntN(3) > 0) {
			fields = append(fields, c.name)
		}
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	if len(fields) > 0 {
		def := "SEARCH INDEX xs (" + strings.Join(fields, ",") + ")"
		switch len(fields) % 3 {
		case 1:
			def = "COLUMNAR INDEX xs (" + strings.Join(fields, ",") + ")"
		case 2:
			def = "COLUMNAR INDEX xs (*)"
		}
		*defs = append(*defs, def)
		t.indexes, t.searched = append(t.indexes, "xs"), true
	}
}

func (t *table) newIndex(r *rand.Rand, i int) (def, include string) {
	perm := r.Perm(len(t.cols))
	n := min(1+r.IntN(3), len(perm))
	unique := r.IntN(6) == 0
	var parts []string
	used := map[string]bool{}
	var names []string
	for _, j := range perm[:n] {
		c := t.cols[j]
		if c.raw {
			c = t.cols[0]
		}
		if used[c.name] {
			continue
		}
		p := c.name
		if strings.HasPrefix(c.typ, "TEXT") || c.typ == "BLOB" || (c.kind == kindText && r.IntN(4) == 0) {
			p += fmt.Sprintf("(%d)", 1+r.IntN(4))
		}
		if r.IntN(4) == 0 {
			p += " DESC"
		}
		used[c.name] = true
		parts, names = append(parts, p), append(names, c.name)
	}
	for _, name := range t.pk {
		if !used[name] {
			names = append(names, name)
		}
	}
	t.keys = append(t.keys, names)
	name := fmt.Sprintf("x%d", i)
	t.indexes = append(t.indexes, name)
	def = "KEY " + name + " (" + strings.Join(parts, ",") + ")"
	if unique {
		t.unique = true
		def = "UNIQUE " + def
	}
	if r.IntN(4) == 0 {
		var list []string
		for _, c := range t.cols {
			if !used[c.name] && r.IntN(3) == 0 && c.name != "id" && c.name != "k" && c.as == "" && !c.raw {
				list = append(list, c.name)
			}
		}
		if len(list) > 0 {
			include = " INCLUDE (" + strings.Join(list, ",") + ")"
		}
	}
	return def, include
}

// selectAll reads the whole table in key order.
func (t *table) selectAll() string {
	list := make([]string, len(t.cols))
	for i, c := range t.cols {
		list[i] = c.shown(c.name)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + t.name + " ORDER BY " + strings.Join(t.pk, ", ")
}

func (c column) shown(ref string) string {
	if c.show == "" {
		return ref
	}
	return fmt.Sprintf(c.show, ref)
}
