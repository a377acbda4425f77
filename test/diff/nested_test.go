package diff

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// member is a kind of value in the objects of an array: its type in NESTED, types
// of columns of JSON_TABLE, the first of which is the member's, values that the
// type takes, others, and conditions of it.
type member struct {
	name, typ string
	columns   []string
	fit, odd  []string
	literals  []string
	more      func(r *rand.Rand, ref string) string // nil for none
	// conds are conditions of the member's name in NESTED_QUERY; nil for compare.
	conds func(r *rand.Rand, ref string) string
}

// memberKinds are the types that members have.
func memberKinds(r *rand.Rand) []member {
	var texts []string
	for range 20 {
		texts = append(texts, `"`+strings.NewReplacer(`"`, "", "\n", " ").Replace(text(r))+`"`)
	}
	return []member{
		{name: "w", typ: "TEXT" + choose(r, "", "", " ANALYZER 'fuzzy'", " ANALYZER 'english'", " ANALYZER 'max_word'", " ANALYZER 'keyword'", " ANALYZER 'fulltext'", " ANALYZER 'ngram'", " ANALYZER 'split'"),
			columns: []string{"LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "LONGTEXT", "VARCHAR(64)", "CHAR(8)"},
			fit:     texts, odd: []string{"5", "true", `["a"]`}, literals: []string{"'apple'", "'red apple'", "''", "'zz'", "'中华'"},
			more: func(r *rand.Rand, ref string) string {
				return ref + choose(r, " LIKE '%app%'", " LIKE 'red%'", " NOT LIKE '%中%'")
			},
			conds: wordsCond},
		{name: "k", typ: "KEYWORD", columns: []string{"LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "LONGTEXT", "VARCHAR(64)", "VARCHAR(1)", "VARCHAR(20) COLLATE utf8mb4_0900_ai_ci", "CHAR(8) COLLATE utf8mb4_general_ci", "INT"},
			fit: []string{`"a"`, `"b"`, `"A"`, `"ab"`, `"é"`, `""`, `"5"`, `"a "`, `"中文"`}, odd: []string{"5", "true", "{}", `["a"]`}, literals: []string{"'a'", "'A'", "'ab'", "'é'", "''", "'5'", "'a '", "5", "'zz'"},
			more: func(r *rand.Rand, ref string) string {
				return ref + choose(r, " LIKE 'a%'", " NOT LIKE '%b'", " REGEXP 'a.'", " LIKE '%中%'")
			}},
		{name: "i", typ: "BIGINT", columns: []string{"BIGINT", "INT", "TINYINT", "BIGINT UNSIGNED", "DOUBLE", "VARCHAR(20)", "DECIMAL(5,1)"},
			fit: []string{"0", "1", "5", "-1", "42", "100", "5.0", "9007199254740993", "-9223372036854775808"}, odd: []string{"5.5", `"5"`, `"x"`, "9223372036854775808", "true", "1e30", "[]"}, literals: []string{"0", "1", "5", "-1", "42", "5.5", "'5'", "100", "1e3", "9007199254740993"},
			more: func(r *rand.Rand, ref string) string { return ref + choose(r, " % 2 = 1", " + 1 > 5", " DIV 5 = 1") }},
		{name: "u", typ: "BIGINT UNSIGNED", columns: []string{"BIGINT UNSIGNED", "BIGINT", "DOUBLE", "DECIMAL(20,0)"},
			fit: []string{"0", "1", "5", "42", "18446744073709551615", "9223372036854775808"}, odd: []string{"-1", "5.5", `"5"`, "1e30", "false"}, literals: []string{"0", "5", "-1", "42", "18446744073709551615", "5.5"}},
		{name: "f", typ: "DOUBLE", columns: []string{"DOUBLE", "FLOAT", "INT", "DECIMAL(10,3)", "VARCHAR(20)"},
			fit: []string{"0", "1.5", "-2.25", "5", "1e10", "0.1", "4.5", "9007199254740993"}, odd: []string{`"5"`, `"x"`, "true", "{}"}, literals: []string{"0", "5", "1.5", "-1", "0.1", "1e10", "'5'", "9007199254740993"}},
		{name: "d", typ: "DECIMAL(8,2)", columns: []string{"DECIMAL(8,2)", "DECIMAL(20,4)", "DOUBLE", "INT", "DECIMAL(3,0)"},
			fit: []string{"0", "1.5", "-3", "99.99", "5", "0.01", "999999.99"}, odd: []string{"1.005", "99.996", "1e10", `"5"`, "true"}, literals: []string{"0", "5", "1.5", "99.99", "100", "-3", "1.005", "0.010"}},
		{name: "b", typ: "BOOL", columns: []string{"BOOL", "INT", "VARCHAR(5)"},
			fit: []string{"true", "false"}, odd: []string{"0", "1", "5", `"true"`, `"x"`}, literals: []string{"TRUE", "FALSE", "0", "1", "5"},
			more: func(r *rand.Rand, ref string) string { return choose(r, "", "NOT ") + ref }},
		{name: "on", typ: "DATE", columns: []string{"DATE", "DATETIME", "VARCHAR(20)"},
			fit: []string{`"2020-01-01"`, `"2020-02-29"`, `"1999-12-31"`, `"1970-01-01"`}, odd: []string{`"n/a"`, "20200101", `"2020-02-30"`, "true", `"2020-01-01 10:00:00"`}, literals: []string{"'2020-01-01'", "DATE'2020-02-29'", "'1970-01-01'"},
			conds: timeCond},
		{name: "at", typ: "DATETIME(3)", columns: []string{"DATETIME(3)", "DATETIME", "DATE", "VARCHAR(30)"},
			fit: []string{`"2020-01-01 10:00:00"`, `"2020-01-01T10:00:00.5"`, `"2020-02-29 12:34:56.789"`, `"1999-12-31"`, `"2020-01-01"`}, odd: []string{`"n/a"`, "5", `""`, `"2020-01-01 10:00:00+02:00"`}, literals: []string{"'2020-01-01'", "'2020-01-01 10:00:00'", "TIMESTAMP'2000-01-01 00:00:00'"},
			conds: timeCond},
		{name: "told", typ: "DATE FORMAT ('yyyy-MM-dd', 'epoch_second')", columns: []string{"LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "VARCHAR(20)"},
			fit: []string{`"2020-01-01"`, `"2020-02-29"`, "1577836800", "0", `"1970-01-01"`}, odd: []string{`"n/a"`, "true", `"2020-02-30"`, "5.5"}, literals: []string{"'2020-01-01'", "'1577836800'", "''"},
			conds: func(r *rand.Rand, ref string) string {
				return timeCond(r, "PARSE_DATETIME("+ref+", 'yyyy-MM-dd', 'epoch_second')")
			}},
		{name: "ip", typ: "IP", columns: []string{"LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "VARCHAR(40)"},
			fit: []string{`"10.0.0.1"`, `"10.0.0.255"`, `"::1"`, `"FE80::1"`, `"0.0.0.0"`}, odd: []string{`"n/a"`, "5", `""`, `"10.0.0.256"`}, literals: []string{"'10.0.0.1'", "'::1'", "''"}, conds: ipCond},
		{name: "pos", typ: "GEO_POINT", columns: []string{"LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "VARCHAR(40)"},
			fit: []string{`"48.1,11.5"`, `"48.1,11.5001"`, `"0,0"`, `"0.1,-179.9"`, `"89.9,12"`, `"-90,0"`}, odd: []string{`"91,0"`, `"n/a"`, "5", "[1, 2]"}, literals: []string{"'48.1,11.5'", "'0,0'"},
			conds: func(r *rand.Rand, ref string) string { return placeCond(r, "GEO_POINT("+ref+")", "0") }},
		textMember("t", "TEXT ANALYZER 'fuzzy'"),
		textMember("e", "TEXT ANALYZER 'english'"),
	}
}

// textMember has words.
func textMember(name, typ string) member {
	match := func(r *rand.Rand, ref string) string {
		return choose(r, "TEXT_MATCH("+ref+", ", "TEXT_MATCH("+ref+", ", "TEXT_MATCH_PHRASE("+ref+", ", "TEXT_MATCH_FUZZY("+ref+", ") + choose(r, "'red'", "'red pears'", "'pear, red'", "'中'", "'run'", "'fox'") + ")"
	}
	return member{name: name, typ: typ, columns: []string{"LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "TEXT", "VARCHAR(6)"},
		fit: []string{`"red pears"`, `"a red, red fox"`, `"running foxes,pear"`, `""`, `"Red"`, `"中文 red"`}, odd: []string{"5", "true", "[]"}, literals: []string{"'Red'", "'red'", "''", "'red pears'", "'zz'", "5"},
		more: func(r *rand.Rand, ref string) string {
			if !strings.Contains(ref, "`") { // a column of JSON_TABLE has no words
				return ref + choose(r, " LIKE '%ed%'", " LIKE 'r%'", " NOT LIKE '%x'")
			}
			if r.IntN(4) == 0 {
				return ref + choose(r, " LIKE '%ed%'", " LIKE '%a%d%'")
			}
			return match(r, ref) + choose(r, "", "", " > 0", " IS NULL")
		}}
}

// compare is a condition of a member, of which values compare as those of its type.
func (m member) compare(r *rand.Rand, ref string) string {
	l := func() string { return pick(r, m.literals) }
	switch n := r.IntN(9); {
	case n == 0:
		return ref + choose(r, " IS NULL", " IS NOT NULL")
	case n == 1:
		return ref + choose(r, " IN (", " IN (", " NOT IN (") + l() + ", " + choose(r, l(), l(), "NULL") + ")"
	case n == 2:
		return ref + choose(r, " BETWEEN ", " NOT BETWEEN ") + l() + " AND " + l()
	case n == 3 && m.more != nil, n > 5 && strings.HasPrefix(m.typ, "TEXT"):
		return m.more(r, ref)
	case n == 4:
		return l() + choose(r, " = ", " < ", " >= ") + ref
	}
	return ref + choose(r, " = ", " = ", " < ", " <= ", " > ", " >= ", " <> ", " <=> ") + l()
}

// objects are the objects of an array: the members of each, and an array of others
// in them, named p.
type objects struct {
	members []member
	sub     *objects
}

func newObjects(r *rand.Rand, depth int) *objects {
	o := &objects{members: memberKinds(r)}
	r.Shuffle(len(o.members), func(i, j int) { o.members[i], o.members[j] = o.members[j], o.members[i] })
	o.members = o.members[:1+r.IntN(4)]
	if depth > 0 && r.IntN(2) == 0 {
		o.sub = newObjects(r, depth-1)
	}
	return o
}

// field is the list after NESTED.
func (o *objects) field() string {
	var list []string
	for _, m := range o.members {
		list = append(list, m.name+" "+m.typ)
	}
	if o.sub != nil {
		list = append(list, "p NESTED "+o.sub.field())
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// array is a JSON text; others than arrays of objects, and values that do not fit,
// are few.
func (o *objects) array(r *rand.Rand) string {
	var list []string
	n := r.IntN(4)
	if r.IntN(15) == 0 {
		n = r.IntN(20)
	}
	for range n {
		list = append(list, o.object(r))
	}
	switch r.IntN(40) {
	case 0:
		return choose(r, "5", `"a"`, "null", "{}", "true")
	case 1:
		return o.object(r)
	case 2:
		list = append(list, choose(r, "5", "null", "[]", `"a"`, "["+o.object(r)+"]"))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (o *objects) object(r *rand.Rand) string {
	var out []string
	for _, m := range o.members {
		switch n := r.IntN(40); {
		case n < 6: // missing
		case n < 10:
			out = append(out, `"`+m.name+`": null`)
		case n == 10:
			out = append(out, `"`+m.name+`": `+pick(r, m.odd))
		default:
			out = append(out, `"`+m.name+`": `+pick(r, m.fit[:min(len(m.fit), 2+r.IntN(8))]))
		}
	}
	if o.sub != nil && r.IntN(6) > 0 {
		out = append(out, `"p": `+o.sub.array(r))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// tree combines conditions.
func tree(r *rand.Rand, depth int, one func() string) string {
	if depth > 0 {
		switch r.IntN(6) {
		case 0, 1:
			return "(" + tree(r, depth-1, one) + " AND " + tree(r, depth-1, one) + ")"
		case 2:
			return "(" + tree(r, depth-1, one) + " OR " + tree(r, depth-1, one) + ")"
		case 3:
			return choose(r, "NOT ("+tree(r, depth-1, one)+")", "("+tree(r, depth-1, one)+") IS NOT TRUE", "("+tree(r, depth-1, one)+") IS UNKNOWN", "("+tree(r, depth-1, one)+" XOR "+tree(r, depth-1, one)+")")
		}
	}
	return one()
}

// query is a condition of one object below prefix, a name without its last `.
func (o *objects) query(r *rand.Rand, prefix string) string {
	return "NESTED_QUERY(" + tree(r, r.IntN(3), func() string { return o.within(r, prefix, true) }) + ")"
}

// within is a part of such a condition; inside, it may be one that names no member.
func (o *objects) within(r *rand.Rand, prefix string, inside bool) string {
	if o.sub != nil {
		switch r.IntN(6) {
		case 0:
			return choose(r, "", "NOT ") + o.sub.query(r, prefix+".p")
		case 1:
			return o.sub.within(r, prefix+".p", inside)
		}
	}
	switch n := r.IntN(20); {
	case n == 0 && inside:
		return "a.id > 50"
	case n == 1:
		return "a.`" + prefix + "." + pick(r, o.members).name + "` > a.id"
	}
	m := pick(r, o.members)
	if ref := "a.`" + prefix + "." + m.name + "`"; m.conds != nil {
		return m.conds(r, ref)
	} else {
		return m.compare(r, ref)
	}
}

// table is a call of JSON_TABLE, and columns of it to compare; equal has them of
// the members' types only.
func (o *objects) table(r *rand.Rand, doc, path string, equal bool) (call string, cols map[string]member) {
	cols = map[string]member{}
	return "JSON_TABLE(" + doc + ", '" + path + "[*]' " + o.columns(r, equal, "c", cols) + ") jt", cols
}

func (o *objects) columns(r *rand.Rand, equal bool, prefix string, cols map[string]member) string {
	var list []string
	for _, m := range o.members {
		typ := m.columns[0]
		if !equal {
			typ = pick(r, m.columns)
		}
		on := ""
		if r.IntN(12) == 0 {
			def := "5"
			if strings.HasPrefix(typ, "DATE") { // a default that is no date is an error where it is used
				def = `"2024-05-31"`
			}
			on = choose(r, " DEFAULT '"+def+"' ON EMPTY", " DEFAULT '"+def+"' ON ERROR", " NULL ON EMPTY NULL ON ERROR")
		}
		cols[prefix+m.name] = m
		list = append(list, prefix+m.name+" "+typ+" PATH '$."+m.name+"'"+on)
	}
	if r.IntN(8) == 0 {
		list = append(list, prefix+"n FOR ORDINALITY")
	}
	if o.sub != nil && r.IntN(2) == 0 {
		list = append(list, "NESTED PATH '$.p[*]' "+o.sub.columns(r, equal, prefix+"p", cols))
	}
	return "COLUMNS (" + strings.Join(list, ", ") + ")"
}

// nestedFeature is a column with NESTED at a path of it: "" for the column.
func nestedFeature(col, typ, path string) func(*rand.Rand) feature {
	return func(r *rand.Rand) feature {
		o := newObjects(r, 2)
		f := feature{cols: []string{col}, defs: []string{col + " " + typ}}
		name, doc, at := col, col, "$"
		if path != "" {
			name, doc, at = col+path, col+"->'$"+path+"'", "$"+path
		}
		f.fields = []string{doc + " NESTED " + o.field()}
		f.value = func(r *rand.Rand, _ string) string {
			v := o.array(r)
			for _, step := range slices.Backward(strings.Split(path, ".")) {
				if step != "" {
					v = `{"` + step + `": ` + v + "}"
				}
			}
			switch {
			case path != "" && r.IntN(12) == 0:
				v = choose(r, "{}", "[]", "5", `{"a": 5}`)
			case typ == "TEXT" && r.IntN(25) == 0:
				v = choose(r, "no json", "", "[", "[{}] x")
			}
			return quote(v)
		}
		from := func(r *rand.Rand, list int) (call, cond string) {
			call, cols := o.table(r, "a."+col, at, r.IntN(2) == 0)
			var names []string
			for n := range cols {
				names = append(names, n)
			}
			slices.Sort(names)
			return call, tree(r, list, func() string {
				n := pick(r, names)
				if r.IntN(20) == 0 {
					return "jt." + n + " > a.id"
				}
				return cols[n].compare(r, "jt."+n)
			})
		}
		f.cond = func(r *rand.Rand) string {
			switch r.IntN(8) {
			case 0, 1:
				return o.within(r, name, false) // each about any object
			case 2, 3:
				call, cond := from(r, 2)
				return choose(r, "", "", "NOT ") + "EXISTS (SELECT 1 FROM " + call + " WHERE " + cond + ")"
			case 4:
				return o.query(r, name) + choose(r, " = 1", " IS NULL", " IS TRUE", " = 0", " < 1")
			case 5:
				return "NOT " + o.query(r, name)
			}
			return o.query(r, name)
		}
		f.orders = func(r *rand.Rand) string { return o.query(r, name) }
		f.joins = func(r *rand.Rand) (call, cond string) { return from(r, 1+r.IntN(2)) }
		return f
	}
}
