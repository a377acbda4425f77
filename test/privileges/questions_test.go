package privileges

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// question is a statement with what it needs.
type question struct {
	text string // with {} for a number, which is ? where it is prepared
	// needs are in the order in which a refusal names the first that is missing.
	needs []need
	then  string // the error of who may
	// rows is what the statement answers; nil: anything.
	rows func(a *actor) string
	// noPrepare and noExplain: the statement runs as text alone.
	noPrepare, noExplain bool
	// own: what it means depends on the session, or changes it.
	own bool
}

func needColumns(db, table, privilege string, columns ...string) []need {
	out := []need{{kind: "some", db: db, table: table, privileges: []string{privilege}}}
	for _, c := range columns {
		out = append(out, need{kind: "column", db: db, table: table, column: c, privileges: []string{privilege}})
	}
	return out
}

// readColumns is what is needed of columns alone, where the statement needs another
// privilege on the table as a whole.
func readColumns(db, table string, columns ...string) []need {
	return needColumns(db, table, "SELECT", columns...)[1:]
}

func needTable(db, table string, privileges ...string) need {
	return need{kind: "whole", db: db, table: table, privileges: privileges}
}

func needGlobal(privileges ...string) []need { return []need{{kind: "global", privileges: privileges}} }

// kinds are the kinds of questions. None changes what another one answers.
var kinds = map[string]func(h *history) question{
	"columns": func(h *history) question {
		db, list := h.name(), h.someColumns("t1")
		return question{text: "SELECT " + strings.Join(list, ", ") + " FROM " + db.q + ".t1", needs: needColumns(db.n, "t1", "SELECT", list...)}
	},
	"where": func(h *history) question {
		db, list, w, o := h.name(), h.someColumns("t1"), pick(h, columnsOf["t1"]), pick(h, columnsOf["t1"])
		return question{text: "SELECT " + strings.Join(list, ", ") + " FROM " + db.q + ".t1 WHERE " + w + " > {} ORDER BY " + o,
			needs: needColumns(db.n, "t1", "SELECT", append(append(list, w), o)...)}
	},
	"star": func(h *history) question {
		db := h.name()
		n := needColumns(db.n, "t1", "SELECT", columnsOf["t1"]...)
		for i := range n {
			n[i].star = true
		}
		return question{text: "SELECT * FROM " + db.q + ".t1", needs: n}
	},
	"count": func(h *history) question {
		db := h.name()
		return question{text: "SELECT COUNT(*) FROM " + db.q + ".t1", needs: needColumns(db.n, "t1", "SELECT"), rows: func(*actor) string { return "3" }}
	},
	"point": func(h *history) question {
		db, c := h.name(), pick(h, columnsOf["t1"])
		return question{text: "SELECT " + c + " FROM " + db.q + ".t1 WHERE id = {}", needs: needColumns(db.n, "t1", "SELECT", c, "id")}
	},
	"page": func(h *history) question {
		db, c := h.name(), pick(h, columnsOf["t1"])
		return question{text: "SELECT id, " + c + " FROM " + db.q + ".t1 WHERE id > {} ORDER BY id LIMIT 2", needs: needColumns(db.n, "t1", "SELECT", "id", c)}
	},
	"index": func(h *history) question {
		db := h.name()
		return question{text: "SELECT id FROM " + db.q + ".t1 WHERE a = {}", needs: needColumns(db.n, "t1", "SELECT", "id", "a")}
	},
	"join": func(h *history) question {
		db, other, c, d := h.name(), h.name(), pick(h, columnsOf["t1"]), pick(h, columnsOf["t2"])
		return question{text: fmt.Sprintf("SELECT t1.%s, t2.%s FROM %s.t1 JOIN %s.t2 ON t1.a = t2.x WHERE t1.b < {}", c, d, db.q, other.q),
			needs: slices.Concat(needColumns(db.n, "t1", "SELECT", c), needColumns(other.n, "t2", "SELECT", d), needColumns(db.n, "t1", "SELECT", "b", "a"),
				needColumns(other.n, "t2", "SELECT", "x"))}
	},
	"subquery": func(h *history) question {
		db, other, c := h.name(), h.name(), pick(h, columnsOf["t1"])
		return question{text: fmt.Sprintf("SELECT %s FROM %s.t1 WHERE id IN (SELECT x FROM %s.t2)", c, db.q, other.q),
			needs: slices.Concat(needColumns(db.n, "t1", "SELECT", c, "id"), needColumns(other.n, "t2", "SELECT", "x"))}
	},
	"union": func(h *history) question {
		db, other, c := h.name(), h.name(), pick(h, columnsOf["t1"])
		return question{text: fmt.Sprintf("SELECT %s FROM %s.t1 UNION SELECT y FROM %s.t2", c, db.q, other.q),
			needs: slices.Concat(needColumns(db.n, "t1", "SELECT", c), needColumns(other.n, "t2", "SELECT", "y"))}
	},
	"with": func(h *history) question {
		db, c := h.name(), pick(h, columnsOf["t1"])
		return question{text: fmt.Sprintf("WITH w AS (SELECT %s FROM %s.t1) SELECT COUNT(*) FROM w", c, db.q), needs: needColumns(db.n, "t1", "SELECT", c)}
	},
	"for update": func(h *history) question {
		db := h.name()
		return question{text: "SELECT id FROM " + db.q + ".t1 WHERE id = {} FOR UPDATE",
			needs: append(needColumns(db.n, "t1", "SELECT", "id"), need{kind: "locks", db: db.n, table: "t1"})}
	},
	"view": func(h *history) question {
		v, c := pick(h, h.views), pick(h, []string{"id", "a"})
		return question{text: fmt.Sprintf("SELECT %s FROM `%s`.%s WHERE id = {}", c, v.db, v.name), needs: v.read(c, "id")}
	},
	"view join": func(h *history) question {
		v, w := pick(h, h.views), pick(h, h.views)
		return question{text: fmt.Sprintf("SELECT x.id FROM `%s`.%s x, `%s`.%s y WHERE y.a = x.a", v.db, v.name, w.db, w.name),
			needs: slices.Concat(v.read("id"), w.read("a"), v.read("a"))}
	},
	"insert": func(h *history) question {
		db, list := h.name(), h.someColumns("t1")
		if !slices.Contains(list, "id") {
			list = append(list, "id")
		}
		return question{text: "INSERT IGNORE INTO " + db.q + ".t1 (" + strings.Join(list, ", ") + ") VALUES (1" + strings.Repeat(", 1", len(list)-1) + ")",
			needs: needColumns(db.n, "t1", "INSERT", list...)}
	},
	"upsert": func(h *history) question {
		db, c, v := h.name(), pick(h, []string{"a", "b"}), pick(h, []string{"a", "b", "c"})
		return question{text: fmt.Sprintf("INSERT INTO %s.t1 (id) VALUES (1) ON DUPLICATE KEY UPDATE %s = %s", db.q, c, v),
			needs: slices.Concat([]need{{kind: "some", db: db.n, table: "t1", privileges: []string{"INSERT", "UPDATE"}}}, needColumns(db.n, "t1", "INSERT", "id")[1:],
				needColumns(db.n, "t1", "UPDATE", c)[1:], readColumns(db.n, "t1", v))}
	},
	"insert select": func(h *history) question {
		db, c := h.name(), pick(h, columnsOf["t1"])
		return question{text: fmt.Sprintf("INSERT INTO %s.e SELECT %s FROM %s.t1 WHERE id > 100", db.q, c, db.q),
			needs: slices.Concat(needColumns(db.n, "e", "INSERT", "id"), needColumns(db.n, "t1", "SELECT", c, "id"))}
	},
	"replace": func(h *history) question {
		db := h.name()
		return question{text: "REPLACE INTO " + db.q + ".t2 VALUES (1, 1, 1)",
			needs: append(needColumns(db.n, "t2", "INSERT", "id", "x", "y")[1:], need{kind: "some", db: db.n, table: "t2", privileges: []string{"INSERT", "DELETE"}})}
	},
	"update": func(h *history) question {
		db, c, v, w := h.name(), pick(h, []string{"a", "b", "c"}), pick(h, columnsOf["t1"]), pick(h, columnsOf["t1"])
		return question{text: fmt.Sprintf("UPDATE %s.t1 SET %s = %s WHERE %s = {} + 100", db.q, c, v, w),
			needs: slices.Concat(needColumns(db.n, "t1", "UPDATE"), readColumns(db.n, "t1", w), needColumns(db.n, "t1", "UPDATE", c), readColumns(db.n, "t1", v))}
	},
	"update all": func(h *history) question {
		db, c := h.name(), pick(h, []string{"a", "b", "c"})
		return question{text: fmt.Sprintf("UPDATE %s.t1 SET %s = 1 LIMIT 0", db.q, c), needs: needColumns(db.n, "t1", "UPDATE", c)}
	},
	"update join": func(h *history) question {
		db, other := h.name(), h.name()
		return question{text: fmt.Sprintf("UPDATE %s.t1 JOIN %s.t2 ON t1.id = t2.id SET t1.a = t2.y WHERE t2.x = {} + 100", db.q, other.q),
			needs: slices.Concat([]need{{kind: "either", db: db.n, table: "t1", privileges: []string{"SELECT", "UPDATE"}}}, needColumns(other.n, "t2", "SELECT", "x"),
				readColumns(db.n, "t1", "id"), readColumns(other.n, "t2", "id"), needColumns(db.n, "t1", "UPDATE", "a")[1:], readColumns(other.n, "t2", "y"))}
	},
	"delete": func(h *history) question {
		db, w := h.name(), pick(h, columnsOf["t1"])
		return question{text: "DELETE FROM " + db.q + ".t1 WHERE " + w + " = {} + 100",
			needs: append([]need{needTable(db.n, "t1", "DELETE")}, readColumns(db.n, "t1", w)...)}
	},
	"delete all": func(h *history) question {
		db := h.name()
		return question{text: "DELETE FROM " + db.q + ".e", needs: []need{needTable(db.n, "e", "DELETE")}}
	},
	"update view": func(h *history) question {
		v := h.views[h.rng.IntN(4)]
		return question{text: fmt.Sprintf("UPDATE `%s`.%s SET a = {} WHERE id = 100", v.db, v.name),
			needs: slices.Concat(needColumns(v.db, v.name, "UPDATE"), v.read("id")[1:], needColumns(v.db, v.name, "UPDATE", "a"), []need{{kind: "body", body: v, column: "a", privileges: []string{"UPDATE"}}})}
	},
	"delete view": func(h *history) question {
		v := h.views[h.rng.IntN(4)]
		return question{text: fmt.Sprintf("DELETE FROM `%s`.%s WHERE id = {} + 100", v.db, v.name),
			needs: slices.Concat([]need{needTable(v.db, v.name, "DELETE")}, v.read("id")[1:], []need{{kind: "body", body: v, privileges: []string{"DELETE"}}})}
	},
	"create": func(h *history) question {
		db := h.name()
		return question{text: "CREATE TABLE IF NOT EXISTS " + db.q + ".e (id INT PRIMARY KEY)", needs: []need{needTable(db.n, "e", "CREATE")}, noExplain: true}
	},
	"create select": func(h *history) question {
		db := h.name()
		return question{text: "CREATE TABLE " + db.q + ".e SELECT x FROM " + db.q + ".t2", then: "1050", noExplain: true,
			needs: append([]need{needTable(db.n, "e", "INSERT", "CREATE")}, needColumns(db.n, "t2", "SELECT", "x")...)}
	},
	"drop": func(h *history) question {
		db := h.name()
		return question{text: "DROP TABLE " + db.q + ".missing", needs: []need{needTable(db.n, "missing", "DROP")}, then: "1051", noExplain: true}
	},
	"alter": func(h *history) question {
		db := h.name()
		return question{text: "ALTER TABLE " + db.q + ".t1 ADD a INT", needs: []need{needTable(db.n, "t1", "ALTER")}, then: "1060", noExplain: true}
	},
	"create index": func(h *history) question {
		db := h.name()
		return question{text: "CREATE INDEX by_a ON " + db.q + ".t1 (b)", needs: []need{needTable(db.n, "t1", "INDEX")}, then: "1061", noExplain: true}
	},
	"truncate": func(h *history) question {
		db := h.name()
		return question{text: "TRUNCATE " + db.q + ".missing", needs: []need{needTable(db.n, "missing", "DROP")}, then: "1146", noExplain: true}
	},
	"rename": func(h *history) question {
		db := h.name()
		return question{text: "RENAME TABLE " + db.q + ".missing TO " + db.q + ".m2", then: "1146", noExplain: true,
			needs: []need{needTable(db.n, "missing", "DROP", "ALTER"), needTable(db.n, "m2", "INSERT", "CREATE")}}
	},
	"create view": func(h *history) question {
		db := h.name()
		return question{text: "CREATE VIEW " + db.q + ".t1 AS SELECT x FROM " + db.q + ".t2", then: "1050", noExplain: true,
			needs: append([]need{needTable(db.n, "t1", "CREATE VIEW")}, needColumns(db.n, "t2", "SELECT", "x")...)}
	},
	"temporary": func(h *history) question {
		db := h.name()
		return question{text: "CREATE TEMPORARY TABLE " + db.q + ".tmp (id INT, id INT)", then: "1060", noExplain: true,
			needs: []need{{kind: "database", db: db.n, privileges: []string{"CREATE TEMPORARY TABLES"}}}}
	},
	"create database": func(h *history) question {
		db := h.name()
		return question{text: "CREATE DATABASE " + db.q, needs: []need{{kind: "database", db: db.n, privileges: []string{"CREATE"}}}, then: "1007", noExplain: true}
	},
	"show create": func(h *history) question {
		db := h.name()
		return question{text: "SHOW CREATE TABLE " + db.q + ".t1", needs: []need{{kind: "shows", db: db.n, table: "t1"}}, noExplain: true}
	},
	"show columns": func(h *history) question {
		db := h.name()
		return question{text: "SHOW COLUMNS FROM " + db.q + ".t1", needs: []need{{kind: "sees", db: db.n, table: "t1"}}, noExplain: true}
	},
	"show view": func(h *history) question {
		v := pick(h, h.views)
		return question{text: fmt.Sprintf("SHOW CREATE VIEW `%s`.%s", v.db, v.name), noExplain: true,
			needs: []need{{kind: "shows view", db: v.db, table: v.name}, needTable(v.db, v.name, "SHOW VIEW")}}
	},
	"use": func(h *history) question {
		db := h.name()
		return question{text: "USE " + db.q, needs: []need{{kind: "uses", db: db.n}}, noPrepare: true, noExplain: true, own: true}
	},
	"unqualified": func(h *history) question {
		q := question{text: "SELECT a FROM t1 WHERE id = {}", needs: needColumns(h.asker.db, "t1", "SELECT", "a", "id"), noPrepare: true, own: true}
		if h.asker.db == "" {
			q.needs, q.then = nil, "1046"
		}
		return q
	},
	"show tables": func(h *history) question {
		db := h.name()
		return question{text: "SHOW TABLES FROM " + db.q, needs: []need{{kind: "uses", db: db.n}}, noExplain: true, rows: func(a *actor) string { return h.tables(a, db.n) }}
	},
	"tables": func(h *history) question {
		db := h.name()
		return question{text: "SELECT table_name FROM information_schema.tables WHERE table_schema = '" + db.n + "' ORDER BY 1", rows: func(a *actor) string { return h.tables(a, db.n) }}
	},
	"columns of": func(h *history) question {
		db, t := h.name(), pick(h, []string{"t1", "t2"})
		return question{text: "SELECT column_name FROM information_schema.columns WHERE table_schema = '" + db.n + "' AND table_name = '" + t + "' ORDER BY ordinal_position",
			rows: func(a *actor) string {
				var out []string
				for _, c := range columnsOf[t] {
					if a.onColumn(db.n, t, c, ofColumns...) {
						out = append(out, c)
					}
				}
				return strings.Join(out, "|")
			}}
	},
	"databases": func(h *history) question {
		return question{text: "SHOW DATABASES WHERE `Database` IN ('aab', 'aa_b', 'aaxb', 'b', 'mysql')", noExplain: true, rows: func(a *actor) string {
			var out []string
			for _, db := range append(slices.Clone(databases), "mysql") {
				if a.seesDatabase(db) {
					out = append(out, db)
				}
			}
			sort.Strings(out)
			return strings.Join(out, "|")
		}}
	},
	"role": func(*history) question {
		return question{text: "SELECT CURRENT_ROLE()", rows: func(a *actor) string { return roleText(a.active) }}
	},
	"set global": func(*history) question {
		return question{text: "SET GLOBAL max_error_count = 1024", needs: needGlobal("SUPER", "SYSTEM_VARIABLES_ADMIN"), noExplain: true}
	},
	"kill": func(h *history) question {
		other := pick(h, h.sessions)
		return question{text: "KILL QUERY " + other.number, needs: []need{{kind: "owner", table: other.number, of: other.account}}, noExplain: true}
	},
	"accounts": func(*history) question {
		return question{text: "ALTER USER root ACCOUNT UNLOCK", needs: needGlobal("CREATE USER"), then: "1227", noExplain: true}
	},
	"grants": func(*history) question {
		return question{text: "SHOW GRANTS FOR root", needs: needColumns("mysql", "user", "SELECT")[:1], noExplain: true}
	},
	"lock": func(h *history) question {
		db := h.name()
		return question{text: "LOCK TABLES " + db.q + ".e READ", noPrepare: true, noExplain: true,
			needs: []need{{kind: "database", db: db.n, privileges: []string{"LOCK TABLES"}}, needTable(db.n, "e", "SELECT", "LOCK TABLES")}}
	},
}

var kindNames = slices.Sorted(maps.Keys(kinds))

// read is what reading columns of a view needs.
func (v *view) read(columns ...string) []need {
	return append(needColumns(v.db, v.name, "SELECT", columns...), need{kind: "body", body: v})
}

// named is a database, in backquotes and without.
type named struct{ n, q string }

func (h *history) name() named {
	n := pick(h, databases)
	return named{n, "`" + n + "`"}
}

// someColumns are one to three columns of a table, in a random order.
func (h *history) someColumns(table string) []string {
	list := slices.Clone(columnsOf[table])
	h.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:1+h.rng.IntN(3)]
}

// tables are those of a database that an actor sees.
func (h *history) tables(a *actor, db string) string {
	var out []string
	for _, t := range []string{"e", "t1", "t2"} {
		if a.seesTable(db, t) {
			out = append(out, t)
		}
	}
	for _, v := range h.views {
		if v.db == db && a.seesTable(db, v.name) {
			out = append(out, v.name)
		}
	}
	sort.Strings(out)
	return strings.Join(out, "|")
}

// ask puts one question to a session, in all forms that it has, and gives their number.
func (h *history) ask() int {
	h.t.Helper()
	kind := pick(h, kindNames)
	s := pick(h, h.sessions)
	h.asker = s
	q := kinds[kind](h)
	if kind == "lock" {
		return h.askLock(s, &q)
	}
	a := h.actor(s)
	value := fmt.Sprint(1 + h.rng.IntN(3))
	text := strings.ReplaceAll(q.text, "{}", value)
	switch h.rng.IntN(3) { // a plan that somebody has made before
	case 0:
		if !q.own {
			run(h.root, text)
		}
	case 1:
		if other := pick(h, h.sessions); other != s && !q.own {
			h.actor(other)
			run(other.conn, text)
		}
	}
	if kind == "kill" && q.needs[0].table == s.number {
		q.then = "1317"
	}
	want := a.refusal(q.needs)
	if want == "" {
		want = q.then
	}
	forms := 0
	check := func(form, rows, got string, exact bool) {
		h.t.Helper()
		forms++
		h.asked[form]++
		if h.answers[kind] == nil {
			h.answers[kind] = &[2]int{}
		}
		if want == q.then {
			h.answers[kind][0]++
		} else {
			h.answers[kind][1]++
		}
		text := fmt.Sprintf("%s, %s of %s with %v: %s", kind, form, s.account, s.active, text)
		if !same(got, want) {
			h.fail(text, got, want)
		}
		if exact && want == "" && q.rows != nil {
			if r := q.rows(a); r != rows {
				h.fail(text, rows, r)
			}
		}
	}
	rows, got := run(s.conn, text)
	check("text", rows, got, true)
	if kind == "use" && got == "" {
		s.db = strings.Trim(q.text[len("USE "):], "`")
	}
	if !q.noPrepare {
		rows, got = h.prepared(s, q.text, value)
		check("prepared", rows, got, true)
	}
	if !q.noExplain {
		if want != q.then || want == "" {
			want = a.refusal(append(slices.Clone(q.needs), q.explained()...))
		}
		_, got = run(s.conn, "EXPLAIN "+text)
		check("explain", "", got, false)
	}
	return forms
}

// explained is what EXPLAIN needs in addition: SHOW VIEW on views, and SELECT on what is
// below them.
func (q *question) explained() (out []need) {
	for i := range q.needs {
		if b := q.needs[i].body; b != nil {
			out = append(out, need{kind: "explains", body: b})
		}
	}
	return out
}

// mostPrepared are kept by a session.
const mostPrepared = 60

// prepared runs a statement that the session has prepared, perhaps long ago, or now.
func (h *history) prepared(s *session, text, value string) (rows, refusal string) {
	ctx := context.Background()
	st := s.prepared[text]
	if st == nil {
		var err error
		if st, err = s.conn.PrepareContext(ctx, strings.ReplaceAll(text, "{}", "?")); err != nil {
			return "", errorText(err)
		}
		if len(s.prepared) < mostPrepared || h.rng.IntN(8) == 0 {
			s.prepared[text] = st
		} else {
			defer st.Close()
		}
	}
	var args []any
	if strings.Contains(text, "{}") {
		args = append(args, value)
	}
	return readAll(st.QueryContext(ctx, args...))
}

// askLock: LOCK TABLES, and at once UNLOCK TABLES.
func (h *history) askLock(s *session, q *question) int {
	a := h.actor(s)
	want := a.refusal(q.needs)
	_, got := run(s.conn, q.text)
	if _, refusal := run(s.conn, "UNLOCK TABLES"); refusal != "" {
		h.fail("UNLOCK TABLES", refusal, "")
	}
	if !same(got, want) {
		h.fail(fmt.Sprintf("%s with %v: %s", s.account, s.active, q.text), got, want)
	}
	h.asked["text"]++
	if h.answers["lock"] == nil {
		h.answers["lock"] = &[2]int{}
	}
	if want == "" {
		h.answers["lock"][0]++
	} else {
		h.answers["lock"][1]++
	}
	return 1
}
