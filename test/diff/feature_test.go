package diff

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// feature is a column, or some attributes, with fields of a search index over it
// and questions that they answer.
type feature struct {
	cols   []string // columns to write to
	defs   []string // their definitions, fewer where they are attributes
	fields []string
	value  func(r *rand.Rand, col string) string
	cond   func(r *rand.Rand) string
	// orders are expressions to order by and to show; of scores the figures of
	// the index change while others write.
	orders func(r *rand.Rand) string
	scores bool
	// joins are calls of JSON_TABLE, as jt, with conditions of the rows; nil for none.
	joins func(r *rand.Rand) (call, cond string)
}

func choose(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// features are some of all.
func features(r *rand.Rand) (list []feature) {
	for _, make := range []func(*rand.Rand) feature{wordsFeature("body"), wordsFeature("title"), jsonFeature, pathFeature, ipFeature, timeFeature, placeFeature, pointFeature, attributeFeature,
		nestedFeature("nj", "JSON", ""), nestedFeature("np", "JSON", ".a.list"), nestedFeature("nx", "TEXT", "")} {
		if f := make(r); r.IntN(5) < 2 {
			list = append(list, f)
		}
	}
	return list
}

// wordList are words for texts: short ones, stop words, prefixes of one another,
// some an edit apart, of several scripts.
var wordList = []string{"apple", "apples", "app", "apply", "red", "the", "a", "is", "of", "running", "runs", "run", "database", "databse", "Datenbank", "index", "indexes", "straße", "strasse", "café", "cafe", "Café",
	"naïve", "IPhone6", "x1", "foo.bar", "o'neil", "foo_bar", "don't", "中华人民共和国", "中华", "国歌", "数据库", "表格存储", "日本語", "東京都", "한국어", "Жизнь", "42", "3.14", "-", "!", "ab", "abc", "abcd", "😀"}

func text(r *rand.Rand) string {
	n := r.IntN(9)
	if r.IntN(6) == 0 {
		n = r.IntN(40)
	}
	var b strings.Builder
	for range n {
		// low numbers are more frequent
		b.WriteString(wordList[min(r.IntN(len(wordList)), r.IntN(len(wordList)))])
		b.WriteString(choose(r, " ", " ", " ", ", ", "-", "", "\n"))
	}
	return b.String()
}

func wordsFeature(col string) func(*rand.Rand) feature {
	return func(r *rand.Rand) feature {
		analyzer := choose(r, "", "single_word", "single_word", "fuzzy", "fuzzy(min_chars=2)", "split", "min_word", "max_word", "cjk", "ngram", "fulltext", "standard", "keyword", "english", "german", "ngram(token_size=3)", "single_word(delimit_word=true)", "single_word(case_sensitive=true)", "standard(accent_sensitive=true)")
		name, options, _ := strings.Cut(strings.TrimSuffix(analyzer, ")"), "(")
		field := col + " TEXT"
		if name != "" {
			field += " ANALYZER '" + name + "'"
		}
		if options != "" {
			field += " OPTIONS (" + options + ")"
		}
		f := feature{cols: []string{col}, fields: []string{field}, scores: true,
			defs:  []string{col + " " + choose(r, "TEXT", "VARCHAR(2000)") + choose(r, "", " COLLATE utf8mb4_0900_ai_ci", " COLLATE utf8mb4_bin", " COLLATE utf8mb4_unicode_520_ci")},
			value: func(r *rand.Rand, _ string) string { return quote(text(r)) },
		}
		f.cond = func(r *rand.Rand) string { return wordsCond(r, "a."+col) }
		f.orders = func(r *rand.Rand) string { return matchOf(r, "a."+col) }
		return f
	}
}

// someWords is a text to look for.
func someWords(r *rand.Rand) string {
	var list []string
	for range 1 + r.IntN(3) {
		list = append(list, pick(r, wordList))
	}
	return strings.Join(list, choose(r, " ", " ", "-", ", "))
}

// boolean is a question of the boolean mode, mostly well-formed.
func boolean(r *rand.Rand, depth int) string {
	var list []string
	for range 1 + r.IntN(4) {
		w := pick(r, wordList)
		switch n := r.IntN(10); {
		case n == 0:
			w = strings.TrimSuffix(w[:1+r.IntN(len(w))], "\xe4") + "*"
			w = strings.ToValidUTF8(w, "")
		case n == 1:
			w = `"` + someWords(r) + `"`
		case n == 2:
			w = `"` + someWords(r) + `" @` + fmt.Sprint(1+r.IntN(6))
		case n == 3 && depth > 0:
			w = "(" + boolean(r, depth-1) + ")"
		}
		list = append(list, choose(r, "", "", "+", "+", "-", "~", ">", "<")+w)
	}
	return strings.Join(list, " ")
}

// matchOf is a score.
func matchOf(r *rand.Rand, ref string) string {
	n := r.IntN(9)
	if strings.Contains(ref, "->") { // MATCH takes columns alone
		n = 5 + r.IntN(3)
	}
	switch n {
	case 0, 1:
		return "MATCH (" + ref + ") AGAINST (" + quote(someWords(r)) + choose(r, "", " IN NATURAL LANGUAGE MODE") + ")"
	case 2, 3, 4:
		return "MATCH (" + ref + ") AGAINST (" + quote(boolean(r, 2)) + " IN BOOLEAN MODE)"
	case 5:
		return "TEXT_MATCH_PHRASE(" + ref + ", " + quote(someWords(r)) + ")"
	case 6:
		return "TEXT_MATCH_FUZZY(" + ref + ", " + quote(someWords(r)) + choose(r, "", ", 1", ", 2", ", 1, 'and'", ", 1, 'or', 2") + ")"
	}
	return "TEXT_MATCH(" + ref + ", " + quote(someWords(r)) + choose(r, "", ", 'and'", ", 'or', 2") + ")"
}

func wordsCond(r *rand.Rand, ref string) string {
	switch r.IntN(8) {
	case 0:
		return ref + choose(r, " LIKE ", " NOT LIKE ") + quote(choose(r, "%", "", "%%")+choose(r, pick(r, wordList), "a_p", "o", "中", "é", "E", "st%ss", "_", ".")+choose(r, "%", "%", ""))
	case 1:
		return "NOT " + matchOf(r, ref)
	case 2:
		return matchOf(r, ref) + choose(r, " IS NULL", " > 0", " = 0", " IS TRUE", " <> 0")
	case 3:
		return ref + choose(r, " IS NULL", " IS NOT NULL", " REGEXP 'app'", " <> ''", " > 'd'")
	}
	return matchOf(r, ref)
}

var jsonScalars = []string{`"a"`, `"b"`, `"A"`, `"ab"`, `"é"`, `""`, `"5"`, `"true"`, `0`, `1`, `-1`, `5`, `5.0`, `4.5`, `0.1`, `1e3`, `1000`, `99.996`, `9007199254740993`, `18446744073709551615`, `1e300`, `true`, `false`, `null`}

// document is a JSON text, mostly of the shape that the fields want.
func document(r *rand.Rand) string {
	texts, numbers := jsonScalars[:8], jsonScalars[8:21]
	one := func(list []string) string {
		switch r.IntN(25) {
		case 0:
			return choose(r, "{}", "[]", `["a", 5]`, `{"a": 1}`, "null")
		case 1:
			list = jsonScalars
		}
		return pick(r, list)
	}
	array := func(list []string) string {
		if r.IntN(12) == 0 {
			return one(list)
		}
		var out []string
		for range r.IntN(4) {
			out = append(out, one(list))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	object := func() string {
		var out []string
		for _, m := range []string{`"name": ` + one(texts), `"score": ` + one(numbers)} {
			if r.IntN(8) > 0 {
				out = append(out, m)
			}
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	var objects []string
	for range r.IntN(4) {
		objects = append(objects, object())
	}
	var out []string
	for _, m := range []string{`"k": ` + one(texts), `"i": ` + choose(r, "0", "1", "5", "-1", "42", one(numbers)), `"f": ` + one(numbers), `"d": ` + choose(r, "1.5", "99.99", "-3", one(numbers)), `"b": ` + choose(r, "true", "false"),
		`"t": ` + array(texts), `"n": ` + array([]string{"0", "1", "5", "42"}), `"o": ` + choose(r, "["+strings.Join(objects, ", ")+"]", "["+strings.Join(objects, ", ")+"]", object())} {
		if r.IntN(8) > 0 {
			out = append(out, m)
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func jsonFeature(r *rand.Rand) feature {
	fields := []string{"doc->'$.k' KEYWORD", "doc->'$.i' BIGINT", "doc->'$.f' DOUBLE", "doc->'$.d' DECIMAL(8,2)", "doc->'$.b' BOOL", "(CAST(doc->'$.t' AS CHAR(20) ARRAY))", "(CAST(doc->'$.n' AS " + choose(r, "SIGNED", "SIGNED", "UNSIGNED", "DOUBLE", "DECIMAL(8,2)") + " ARRAY))",
		"(CAST(doc->'$.o[*].name' AS CHAR(12) ARRAY))", "(CAST(doc->'$.o[*].score' AS DOUBLE ARRAY))"}
	f := feature{cols: []string{"doc"}, defs: []string{"doc JSON"}, cond: jsonCond}
	for _, d := range fields {
		if r.IntN(4) > 0 {
			f.fields = append(f.fields, d)
		}
	}
	f.value = func(r *rand.Rand, _ string) string { return quote(document(r)) }
	f.orders = func(r *rand.Rand) string {
		return choose(r, "a.doc->'$.i'", "a.doc->'$.f'", "a.doc->>'$.k'", "a.doc->>'$.k'", "a.doc->'$.d'", "CAST(a.doc->'$.i' AS SIGNED)", jsonValue(r), jsonValue(r), jsonValue(r))
	}
	return f
}

// jsonValue is what fields over paths hold.
func jsonValue(r *rand.Rand) string {
	return choose(r, "JSON_VALUE(a.doc, '$.i' RETURNING SIGNED)", "JSON_VALUE(a.doc, '$.f' RETURNING DOUBLE)", "JSON_VALUE(a.doc, '$.d' RETURNING DECIMAL(8,2))", "JSON_VALUE(a.doc, '$.i' RETURNING UNSIGNED)", "JSON_VALUE(a.doc, '$.b' RETURNING SIGNED)")
}

func jsonCond(r *rand.Rand) string {
	scalar := func() string {
		return choose(r, "'a'", "'A'", "'ab'", "'é'", "''", "'5'", "5", "5.0", "4.5", "0", "-1", "1e3", "0.1", "TRUE", "FALSE", "42", "99.99", "18446744073709551615")
	}
	some := func() string { return quote(pick(r, jsonScalars)) }
	path := "a.doc->'$." + choose(r, "k", "i", "f", "d", "b", "t", "n") + "'"
	switch r.IntN(13) {
	case 9, 10:
		e := "ARRAY_EXTRACT(a.doc->'$." + choose(r, "t", "n", "o[*].name", "o[*].score", "k") + "')"
		switch r.IntN(5) {
		case 0:
			return e + choose(r, " IN (", " NOT IN (") + scalar() + ", " + scalar() + ")"
		case 1:
			return e + choose(r, " BETWEEN ", " NOT BETWEEN ") + choose(r, "0 AND 5", "'a' AND 'b'", "-1 AND 4.5")
		case 2:
			return e + choose(r, " LIKE 'a%'", " NOT LIKE 'a%'", " LIKE '%b'", " LIKE 'a'")
		}
		return e + choose(r, " = ", " = ", " < ", " <= ", " > ", " >= ", " <> ") + scalar()
	case 11, 12:
		return jsonValue(r) + choose(r, " = 5", " > 0", " IS NULL", " <> 1", " BETWEEN 0 AND 5", " IN (1, 5)", " <= 99.99", " = '5'", " < 4.5")
	case 0:
		return scalar() + " MEMBER OF (a.doc->'$." + choose(r, "t", "n", "k") + "')"
	case 1:
		return "JSON_CONTAINS(a.doc->'$." + choose(r, "t", "n") + "', " + choose(r, some(), `'["a", "b"]'`, "'[5, 1]'", "'[]'") + ")"
	case 2:
		return "JSON_OVERLAPS(a.doc->'$." + choose(r, "t", "n") + "', " + choose(r, some(), `'["a", "b"]'`, "'[5, 1]'", "'[]'") + ")"
	case 3:
		return path + choose(r, " IS NULL", " IS NOT NULL", " BETWEEN 0 AND 5")
	case 4:
		return path + " IN (" + scalar() + ", " + scalar() + ")"
	case 5:
		return "a.doc->>'$.k'" + choose(r, " LIKE 'a%'", " = 'a'", " < 'b'", " >= 'A'", " IN ('a', '5')", " <> 'a'", " NOT LIKE '%b'")
	case 6:
		var list []string
		for range 1 + r.IntN(2) {
			list = append(list, choose(r, "jt.name = 'a'", "jt.name LIKE 'a%'", "jt.score > 3", "jt.score = 5", "jt.score BETWEEN 0 AND 5", "jt.name IS NULL", "jt.name IN ('a', 'b')", "jt.name <> 'a'", "NOT jt.score > 3", "jt.score < a.id"))
		}
		return choose(r, "", "", "NOT ") + "EXISTS (SELECT 1 FROM JSON_TABLE(a.doc, '$.o[*]' COLUMNS (name VARCHAR(12) PATH '$.name', score DOUBLE PATH '$.score')) jt WHERE " + strings.Join(list, choose(r, " AND ", " AND ", " OR ")) + ")"
	}
	return path + choose(r, " = ", " < ", " <= ", " > ", " >= ", " <> ", " <=> ") + scalar()
}

// pathFeature are forms of texts and times at paths of a JSON column.
func pathFeature(r *rand.Rand) feature {
	type form struct {
		member, field string
		values        []string
		cond          func(r *rand.Rand) string
		order         string
	}
	spot := func(p [2]string) string { return `"` + p[1] + "," + p[0] + `"` }
	var spots []string
	for _, p := range places {
		spots = append(spots, spot(p))
	}
	times := []string{`"2020-01-01"`, `"2020-01-01 10:00:00"`, `"2020-01-01T10:00:00.5"`, `"2020-02-29 12:34:56.789"`, `"1999-12-31"`, `"2020-01-01 10:00:00+02:00"`, `"2020-01-01 10:00:00Z"`, "20200101", "20200229123456", `"n/a"`, `""`, "5", "true", "{}", `"2020-02-30"`}
	told := []string{`"2020-01-01"`, `"20200101"`, `"2020-02-30"`, `"n/a"`, "1577836800", "20200101", `"1577836800"`, `" 2020-01-01"`, "true", "[1]"}
	const parse = "PARSE_DATETIME(a.pd->>'$.told', 'yyyy-MM-dd', 'yyyyMMdd', 'epoch_second')"
	value := func(m, typ string) string { return "JSON_VALUE(a.pd, '$." + m + "' RETURNING " + typ + ")" }
	ofTime := func(m, typ string) form {
		return form{m, "pd->'$." + m + "' " + typ, times, func(r *rand.Rand) string { return timeCond(r, value(m, typ)) }, value(m, typ)}
	}
	p := pick(r, places)
	forms := []form{ofTime("on", "DATE"), ofTime("at", "DATETIME"), ofTime("at3", "DATETIME(3)"), ofTime("at6", "DATETIME(6)"),
		{"told", "pd->'$.told' DATE FORMAT ('yyyy-MM-dd', 'yyyyMMdd', 'epoch_second')", told, func(r *rand.Rand) string { return timeCond(r, parse) }, parse},
		{"ip", "pd->'$.ip' IP", []string{`"10.0.0.1"`, `"10.0.0.255"`, `"::1"`, `"FE80::1"`, `"n/a"`, `""`, "5", `"10.0.0.256"`, "{}"}, func(r *rand.Rand) string { return ipCond(r, "a.pd->>'$.ip'") }, "INET6_ATON(a.pd->>'$.ip')"},
		{"pos", "pd->'$.pos' GEO_POINT", append(spots, `"n/a"`, `"91,0"`, "5", `[1, 2]`, `" 48.1 , 11.5"`), func(r *rand.Rand) string { return placeCond(r, "GEO_POINT(a.pd->>'$.pos')", "0") },
			"ST_Distance_Sphere(GEO_POINT(a.pd->>'$.pos'), POINT(" + p[0] + ", " + p[1] + "))"}}
	words := form{"w", "pd->'$.w' TEXT" + choose(r, "", " ANALYZER 'fuzzy'", " ANALYZER 'english'", " ANALYZER 'max_word'", " ANALYZER 'keyword'"), nil, func(r *rand.Rand) string { return wordsCond(r, "a.pd->>'$.w'") }, "LENGTH(a.pd->>'$.w')"}
	f := feature{cols: []string{"pd"}, defs: []string{"pd JSON"}}
	for _, o := range forms {
		if r.IntN(3) > 0 {
			f.fields = append(f.fields, o.field)
		}
	}
	if r.IntN(3) > 0 {
		forms, f.fields = append(forms, words), append(f.fields, words.field)
		if r.IntN(2) == 0 {
			f.fields = append(f.fields, "pd->'$.w' KEYWORD")
		}
	}
	f.value = func(r *rand.Rand, _ string) string {
		var out []string
		for _, o := range forms {
			switch n := r.IntN(12); {
			case n == 0:
			case n == 1:
				out = append(out, `"`+o.member+`": null`)
			case o.values == nil:
				v := `"` + strings.NewReplacer(`"`, "", "\n", " ").Replace(text(r)) + `"`
				out = append(out, `"w": `+choose(r, v, v, v, v, v, "5", `["red"]`))
			default:
				out = append(out, `"`+o.member+`": `+pick(r, o.values))
			}
		}
		return quote("{" + strings.Join(out, ", ") + "}")
	}
	f.cond = func(r *rand.Rand) string { return pick(r, forms).cond(r) }
	f.orders = func(r *rand.Rand) string { return pick(r, forms).order }
	return f
}

func ipFeature(*rand.Rand) feature {
	return feature{cols: []string{"ip"}, defs: []string{"ip VARCHAR(60)"}, fields: []string{"ip IP"},
		value: func(r *rand.Rand, _ string) string {
			return quote(choose(r, "10.0.0.1", "10.0.0.2", "10.0.0.255", "10.1.0.0", "192.168.1.1", "::1", "fe80::1", "FE80::1", "::ffff:10.0.0.1", "n/a", "", "10.0.0.256", "255.255.255.255", "0.0.0.0"))
		},
		cond:   func(r *rand.Rand) string { return ipCond(r, "a.ip") },
		orders: func(r *rand.Rand) string { return choose(r, "INET6_ATON(a.ip)", "HEX(INET6_ATON(a.ip))") },
	}
}

func ipCond(r *rand.Rand, ref string) string {
	ip := func() string {
		return "INET6_ATON(" + quote(choose(r, "10.0.0.1", "10.0.0.255", "0.0.0.0", "10.255.255.255", "::1", "fe80::1", "ffff::", "x")) + ")"
	}
	switch r.IntN(4) {
	case 0:
		return "INET6_ATON(" + ref + ")" + choose(r, " BETWEEN ", " NOT BETWEEN ") + ip() + " AND " + ip()
	case 1:
		return "INET6_ATON(" + ref + ")" + choose(r, " IS NULL", " IS NOT NULL", " IN ("+ip()+", "+ip()+")")
	case 2:
		return choose(r, "HEX(INET6_ATON("+ref+")) LIKE '0A%'", "LENGTH(INET6_ATON("+ref+")) = 4", ref+" = '10.0.0.1'", ref+" IS NULL")
	}
	return "INET6_ATON(" + ref + ")" + choose(r, " = ", " < ", " >= ", " <> ", " <=> ") + ip()
}

// timeCond compares a time.
func timeCond(r *rand.Rand, e string) string {
	at := func() string {
		return choose(r, "'2020-01-01'", "'2020-01-01 00:00:00'", "TIMESTAMP'2000-01-01 00:00:00'", "DATE'2020-02-29'", "'1970-01-01'", "'9999-12-31'", "20200101")
	}
	switch r.IntN(4) {
	case 0:
		return e + choose(r, " BETWEEN ", " NOT BETWEEN ") + at() + " AND " + at()
	case 1:
		return e + choose(r, " IS NULL", " IS NOT NULL", " IN ("+at()+", "+at()+")")
	case 2:
		return choose(r, "YEAR("+e+")", "MONTH("+e+")", "DATEDIFF("+e+", '2020-01-01')") + choose(r, " = 2020", " > 1", " <> 0")
	}
	return e + choose(r, " = ", " < ", " >= ", " <> ", " <=> ") + at()
}

func timeFeature(*rand.Rand) feature {
	forms := map[string]string{"told": "'yyyy-MM-dd HH:mm:ss', 'yyyyMMdd'", "epoch": "'epoch_second'"}
	return feature{cols: []string{"told", "epoch"}, defs: []string{"told VARCHAR(40)", "epoch BIGINT"},
		fields: []string{"told DATE FORMAT (" + forms["told"] + ")", "epoch DATE FORMAT " + forms["epoch"]},
		value: func(r *rand.Rand, col string) string {
			if col == "epoch" {
				return choose(r, "0", "1", "-1", "1577836800", "1582934400", "946684799", "253402300799", "253402300800", "9223372036854775807")
			}
			return quote(choose(r, "2020-01-01 00:00:00", "20200101", "20200229", "1999-12-31 23:59:59", "2020-01-01 10:00:00", "n/a", "", "2020-02-30 00:00:00", "20200101 "))
		},
		cond: func(r *rand.Rand) string {
			col := choose(r, "told", "epoch")
			return timeCond(r, "PARSE_DATETIME(a."+col+", "+forms[col]+")")
		},
		orders: func(r *rand.Rand) string {
			col := choose(r, "told", "epoch")
			return "PARSE_DATETIME(a." + col + ", " + forms[col] + ")"
		},
	}
}

var places = [][2]string{{"11.5", "48.1"}, {"11.5001", "48.1"}, {"11.6", "48.2"}, {"0", "0"}, {"179.9", "0"}, {"-179.9", "0.1"}, {"180", "0"}, {"151.2", "-33.9"}, {"12", "89.9"}, {"-100", "89.95"}, {"0", "-90"}, {"13.4", "52.5"}, {"2.35", "48.85"}}

// placeCond is a condition for places near to others; e is a point with the given SRID.
func placeCond(r *rand.Rand, e, srid string) string {
	p := pick(r, places)
	at := "ST_SRID(POINT(" + p[0] + ", " + p[1] + "), " + srid + ")"
	far := choose(r, "1", "1000", "20000", "500000", "5000000", "3e7", "0", "-1")
	switch r.IntN(6) {
	case 0:
		return e + choose(r, " IS NULL", " IS NOT NULL")
	case 1:
		if srid == "0" {
			return choose(r, "MBRContains", "MBRIntersects", "ST_Contains", "ST_Intersects") + "(ST_GeomFromText('POLYGON((" + choose(r, "0 0, 20 0, 20 60, 0 60, 0 0", "-180 -90, 180 -90, 180 90, -180 90, -180 -90", "10 45, 15 45, 12 50, 10 45") + "))'), " + e + ")"
		}
		return choose(r, "ST_Within", "MBRWithin", "ST_Intersects") + "(" + e + ", ST_GeomFromText('POLYGON((" + choose(r, "0 0, 0 20, 60 20, 60 0, 0 0", "45 10, 45 15, 50 12, 45 10") + "))', 4326))"
	case 2:
		return far + choose(r, " > ", " >= ") + "ST_Distance_Sphere(" + at + ", " + e + ")"
	case 3:
		return "ST_Distance_Sphere(" + e + ", " + at + ")" + choose(r, " > ", " >= ", " = ", " <> ") + far
	case 4:
		return e + choose(r, " = ", " <> ") + at
	}
	return "ST_Distance_Sphere(" + e + ", " + at + ")" + choose(r, " < ", " <= ") + far
}

func placeFeature(*rand.Rand) feature {
	return feature{cols: []string{"pos"}, defs: []string{"pos VARCHAR(40)"}, fields: []string{"pos GEO_POINT"},
		value: func(r *rand.Rand, _ string) string {
			p := pick(r, places)
			return quote(choose(r, p[1]+","+p[0], p[1]+","+p[0], p[1]+","+p[0], " "+p[1]+" , "+p[0], "91,0", "n/a", ""))
		},
		cond: func(r *rand.Rand) string { return placeCond(r, "GEO_POINT(a.pos)", "0") },
		orders: func(r *rand.Rand) string {
			p := pick(r, places)
			return "ST_Distance_Sphere(GEO_POINT(a.pos), POINT(" + p[0] + ", " + p[1] + "))"
		},
	}
}

func pointFeature(r *rand.Rand) feature {
	srid := choose(r, "0", "4326")
	return feature{cols: []string{"pt"}, defs: []string{"pt POINT" + choose(r, "", " SRID "+srid)}, fields: []string{"pt GEO_POINT"},
		value: func(r *rand.Rand, _ string) string {
			p := pick(r, places)
			return "ST_SRID(POINT(" + p[0] + ", " + p[1] + "), " + srid + ")"
		},
		cond: func(r *rand.Rand) string { return placeCond(r, "a.pt", srid) },
		orders: func(r *rand.Rand) string {
			p := pick(r, places)
			return "ST_Distance_Sphere(a.pt, ST_SRID(POINT(" + p[0] + ", " + p[1] + "), " + srid + "))"
		},
	}
}

func attributeFeature(r *rand.Rand) feature {
	f := feature{cols: []string{"an", "az", "aw"}, fields: []string{choose(r, "an BIGINT", "an DECIMAL(12,2)", "an BIGINT, an DOUBLE"), choose(r, "az", "az KEYWORD"), choose(r, "aw DOUBLE", "aw DECIMAL(20,2)")},
		value: func(r *rand.Rand, col string) string {
			if r.IntN(12) == 0 {
				return choose(r, "'5'", "'x'", "TRUE", "5.5", "7", "1e300", "18446744073709551615", "DATE'2020-01-01'")
			}
			if col == "az" {
				return choose(r, "'red'", "'Red'", "'red '", "'green'", "''", "'é'", "'redder'")
			}
			return choose(r, "0", "1", "5", "-3", "42", "7", "1000")
		}}
	f.cond = func(r *rand.Rand) string {
		num := func() string { return choose(r, "0", "5", "-3", "5.5", "1e3", "7", "'5'", "42") }
		switch r.IntN(5) {
		case 0:
			return "a.az" + choose(r, " = 'red'", " LIKE 'r%'", " IN ('red', 'green')", " > 'green'", " <> 'red'", " IS NULL", " BETWEEN 'a' AND 'r'", " NOT LIKE '%e%'", " = 7")
		case 1:
			return "a." + choose(r, "an", "aw") + choose(r, " IS NULL", " IS NOT NULL", " IN ("+num()+", "+num()+")", " BETWEEN "+num()+" AND "+num())
		}
		return "a." + choose(r, "an", "aw") + choose(r, " = ", " < ", " <= ", " > ", " >= ", " <> ", " <=> ") + num()
	}
	f.orders = func(r *rand.Rand) string { return "a." + choose(r, "an", "aw", "az") }
	return f
}
