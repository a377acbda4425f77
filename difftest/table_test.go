package difftest

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
}

// table is a generated table.
type table struct {
	name    string
	cols    []column
	pk      []string
	indexes []string        // names
	ddl     []string        // of sqlots, of the oracle
	zeroes  map[string]bool // columns with zero dates
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
	switch r.IntN(5) {
	case 0:
		pk = []string{"id", "k"}
		t.cols = append(t.cols, column{name: "k", kind: kindText, typ: "VARCHAR(20) COLLATE utf8mb4_bin", values: textValues})
	case 1:
		pk = []string{"k", "id"}
		t.cols = append(t.cols, column{name: "k", kind: kindInt, typ: "INT", values: []string{"1", "2", "3", "4"}})
	default:
		pk = []string{"id"}
	}
	t.pk = pk
	for _, c := range all[:n] {
		c.null = r.IntN(4) > 0 || c.typ == "TIMESTAMP"
		t.cols = append(t.cols, c)
	}
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
		if c.typ == "TIMESTAMP" {
			def += " NULL"
		} else if !c.null {
			def += " NOT NULL"
		}
		lines = append(lines, def)
	}
	t.cols = append([]column{{name: "id", kind: kindInt, typ: "INT"}}, t.cols...)
	lines = append(lines, "PRIMARY KEY ("+strings.Join(pk, ",")+")")
	oracle := append([]string(nil), lines...)
	for i, k := 0, r.IntN(4); i < k; i++ {
		def, include := t.newIndex(r, i)
		lines, oracle = append(lines, def+include), append(oracle, def)
	}
	for _, l := range [][]string{lines, oracle} {
		t.ddl = append(t.ddl, "CREATE TABLE "+name+" ("+strings.Join(l, ", ")+") DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci")
	}
	return t
}

func (t *table) newIndex(r *rand.Rand, i int) (def, include string) {
	perm := r.Perm(len(t.cols))
	n := min(1+r.IntN(3), len(perm))
	unique := r.IntN(6) == 0
	var parts []string
	used := map[string]bool{}
	for _, j := range perm[:n] {
		c := t.cols[j]
		p := c.name
		if strings.HasPrefix(c.typ, "TEXT") || c.typ == "BLOB" || (c.kind == kindText && r.IntN(4) == 0) {
			p += fmt.Sprintf("(%d)", 1+r.IntN(4))
		}
		if r.IntN(4) == 0 {
			p += " DESC"
		}
		used[c.name] = true
		parts = append(parts, p)
	}
	name := fmt.Sprintf("x%d", i)
	t.indexes = append(t.indexes, name)
	def = "KEY " + name + " (" + strings.Join(parts, ",") + ")"
	if unique {
		def = "UNIQUE " + def
	}
	if r.IntN(4) == 0 {
		var list []string
		for _, c := range t.cols {
			if !used[c.name] && r.IntN(3) == 0 && c.name != "id" && c.name != "k" {
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
