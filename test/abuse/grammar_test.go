package abuse

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestGrammar runs statements made by the rules of the parser's grammar, over a few small
// tables: no statement may be answered by a fault, or leave a table whose entries differ
// from its rows. The changed scripts of TestScripts are nearer to what is meant; these have
// every form that can be parsed.
//
//	go test ./test/abuse -run TestGrammar -timeout 2h -args -rounds 1000 -seed 7
func TestGrammar(t *testing.T) {
	testflag.Normal(t)
	g := readGrammar(t)
	seed := testflag.Seed(1)
	v := startWith(t, settings{Memory: budget, CheckPlans: true})
	admin := v.connect("")
	for i := range testflag.Rounds(1, 6, 40) {
		rnd := rand.New(rand.NewPCG(seed+uint64(i), 12))
		s := &script{v: v, t: t, admin: admin, rnd: rnd, name: fmt.Sprintf("-rounds 1 -seed %d", seed+uint64(i))}
		s.made(g)
		t.Logf("%s: %d statements answered, %d refused", s.name, s.answered, s.refused)
	}
}

// grammarTables are what the statements are about.
var grammarTables = []string{
	"CREATE TABLE t1 (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b VARCHAR(20), c DECIMAL(10,2) DEFAULT 1, d DATETIME(3), j JSON, KEY ka (a), UNIQUE KEY kb (b, c))",
	"CREATE TABLE t2 (id INT, a INT NOT NULL DEFAULT 2, b VARCHAR(20), e ENUM('x', 'y'), g INT AS (a + 1), PRIMARY KEY (id, a), KEY kb (b), SEARCH INDEX sx (a, b, e)) PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN MAXVALUE)",
	"CREATE TABLE t3 (a INT, b TEXT, f DOUBLE, y YEAR, p POINT, FULLTEXT KEY ft (b), COLUMNAR INDEX cx (*))",
	"CREATE VIEW v1 AS SELECT id, a, b FROM t1 WHERE a > 0",
	"INSERT INTO t1 VALUES (1, 1, 'a', 1.5, '2024-01-01', '{\"a\": 1}'), (2, 2, 'b', NULL, NULL, '[1, 2]'), (3, NULL, 'x', 0, '2024-02-29 01:02:03.5', NULL)",
	"INSERT INTO t2 (id, a, b, e) VALUES (1, 1, 'a', 'x'), (2, 3, 'b', NULL), (3, 7, NULL, 'y')",
	"INSERT INTO t3 VALUES (1, 'one word', 1e0, 2024, NULL), (2, 'two words', NULL, NULL, NULL), (NULL, NULL, -1, 1999, NULL)",
}

const (
	grammarStatements = 120 // of a round
	grammarSession    = 20  // of a session, whose settings and transaction end then
)

// made runs a round of statements.
func (s *script) made(g *grammar) {
	s.conns = map[string]*session{}
	s.v.exec(s.admin, "CREATE DATABASE IF NOT EXISTS scripts")
	s.v.report()
	db := s.v.connect("")
	defer db.Close()
	for _, text := range grammarTables {
		s.statement(db, "default", text)
	}
	for i := range grammarStatements {
		if i%grammarSession == grammarSession-1 {
			for at, c := range s.conns {
				_ = c.conn.Raw(func(any) error { return driver.ErrBadConn })
				_ = c.conn.Close()
				delete(s.conns, at)
			}
			s.v.exec(s.admin, "CREATE DATABASE IF NOT EXISTS scripts")
		}
		if text := g.statement(s.rnd); isHarmless(text) {
			s.statement(db, "default", text)
		}
	}
	for _, c := range s.conns {
		_ = c.conn.Close()
	}
	db.Close()
	s.check()
}

// grammar is the rules of a grammar for yacc.
type grammar struct {
	rules map[string][][]string // symbols of the alternatives of a rule
	depth map[string]int        // least depth of what a rule makes
	texts map[string]string     // of tokens
}

// readGrammar reads the grammar of the parser's module.
func readGrammar(t *testing.T) *grammar {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/pingcap/tidb/pkg/parser").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "parser.y"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(text), "\n%%\n", 3)
	if len(parts) < 2 {
		t.Fatal("no rules in the grammar")
	}
	g := &grammar{rules: map[string][][]string{}, depth: map[string]int{}, texts: map[string]string{}}
	for _, m := range regexp.MustCompile(`(?m)^\t([a-z]\w*)\s+"([^"]+)"$`).FindAllStringSubmatch(parts[0], -1) {
		g.texts[m[1]] = m[2]
	}
	g.read(parts[1])
	g.measure()
	if n := g.depth["Statement"]; len(g.rules) < 500 || n == 0 || n > 20 {
		t.Fatalf("%d rules, the least depth of a statement is %d", len(g.rules), n)
	}
	return g
}

var grammarToken = regexp.MustCompile(`(?s)^(?:/\*.*?\*/|//[^\n]*|%prec\s+\S+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|\w+|.)`)

// read reads the rules. Actions are left out.
func (g *grammar) read(text string) {
	rule, last := "", ""
	var symbols []string
	end := func() {
		if rule != "" {
			g.rules[rule] = append(g.rules[rule], symbols)
		}
		symbols = nil
	}
	for text != "" {
		if text[0] == '{' {
			text = text[actionEnd(text):]
			continue
		}
		tok := grammarToken.FindString(text)
		text = text[len(tok):]
		switch {
		case strings.HasPrefix(tok, "/*"), strings.HasPrefix(tok, "//"), strings.HasPrefix(tok, "%"), strings.TrimSpace(tok) == "", tok == ";":
		case tok == ":": // the symbol before it begins a rule
			if n := len(symbols); n > 0 {
				symbols = symbols[:n-1]
			}
			end()
			rule = last
		case tok == "|":
			end()
		default:
			symbols = append(symbols, tok)
			last = tok
		}
	}
	end()
}

// actionEnd is the length of the Go block that text begins with.
func actionEnd(text string) int {
	open := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			for i++; text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
		case '/':
			if strings.HasPrefix(text[i:], "//") {
				i += strings.IndexByte(text[i:], '\n')
			}
		}
	}
	return len(text)
}

// measure finds the least depths.
func (g *grammar) measure() {
	for changed := true; changed; {
		changed = false
		for name, list := range g.rules {
			for _, symbols := range list {
				if n := g.depthOf(symbols); n > 0 && (g.depth[name] == 0 || n < g.depth[name]) {
					g.depth[name], changed = n, true
				}
			}
		}
	}
}

// depthOf is the least depth of an alternative, 0 while it is not known.
func (g *grammar) depthOf(symbols []string) int {
	out := 1
	for _, s := range symbols {
		if g.rules[s] != nil && fixed[s] == nil {
			if g.depth[s] == 0 {
				return 0
			}
			out = max(out, 1+g.depth[s])
		}
	}
	return out
}

// fixed are texts of symbols that have to mean something.
var fixed = map[string][]string{
	"TableName":                         {"t1", "t2", "t3", "v1", "t1", "t2", "t3", "n1", "scripts.t1"},
	"ColumnName":                        {"a", "b", "a", "b", "id", "c", "d", "j", "e", "t1.a", "t2.b", "n"},
	"SimpleIdent":                       {"a", "b", "a", "b", "id", "c", "d", "j", "e", "t1.a", "t2.b", "f"},
	"Identifier":                        {"a", "b", "x1", "p0", "ka", "kb", "n1", "id"},
	"identifier":                        {"a", "b", "x1", "ABS", "CONCAT", "COALESCE", "JSON_EXTRACT", "n1"},
	"IndexName":                         {"ka", "kb", "x1", "sx"},
	"DBName":                            {"scripts", "n2"},
	"StringLit":                         {"'a'", "'1'", "'2024-01-01'", "'{\"a\": [1, 2]}'", "'$.a'", "''"},
	"string literal":                    {"'a'", "'1'", "'2024-01-01'", "'{\"a\": [1, 2]}'", "'$.a'", "''"},
	"integer literal":                   {"0", "1", "2", "3", "10", "255"},
	"decimal literal":                   {"1.5", "0.25", "10.0"},
	"floating-point literal":            {"1e0", "2.5e3"},
	"hexadecimal literal":               {"0x41", "X'00ff'"},
	"bit literal":                       {"b'101'"},
	"identifier with single leading at": {"@v", "@w"},
	"identifier with double leading at": {"@@sql_mode", "@@session.autocommit"},
	"UNDERSCORE_CHARSET":                {"_utf8mb4", "_latin1", "_binary"},
	"?":                                 {"1", "'a'", "NULL"},
	"an optimizer hint":                 {"/*+ NO_INDEX_MERGE() */", "/*+ JOIN_ORDER(t2, t1) */", "/*+ INDEX(t1 ka) NO_INDEX(t2) */", "/*+ SKIP_SCAN(t1 kb) */", "/*+ SEMIJOIN(MATERIALIZATION) */", "/*+ SUBQUERY(INTOEXISTS) */", "/*+ QB_NAME(x1) NO_MERGE(@x1 t1) */", "/*+ MERGE_JOIN(t1) */", "/*+ SET_VAR(sql_mode = '') */", "/*+ MAX_EXECUTION_TIME(1000) */", "/*+ NO_HASH_JOIN(t1, t2) JOIN_FIXED_ORDER() */", "/*+ ORDER_INDEX(t1 kb) GROUP_INDEX(t1 ka) */"},
	"CharsetName":                       {"utf8mb4", "latin1", "binary", "utf8mb3"},
	"CollationName":                     {"utf8mb4_bin", "utf8mb4_general_ci", "latin1_swedish_ci", "utf8mb4_0900_ai_ci"},
	"Username":                          {"'u'@'%'", "'w'@'localhost'"},
	"Rolename":                          {"'r'@'%'"},
	"EngineName":                        {"InnoDB"},
	"not2":                              {"NOT"},
	"pipesAsOr":                         {"OR"},
	"a special token never used by parser, used by lexer to indicate error": {"a"},
}

// plainForms are made in three of five cases, as what the rules make is mostly refused.
var plainForms = map[string][]string{
	"Expression":           {"a", "b", "id", "t1.a", "1", "'a'", "NULL", "a + 1", "a > 1", "b = 'a'", "COUNT(*)", "MAX(a)", "SUM(a) OVER ()", "(SELECT MAX(a) FROM t2)", "@v", "id IN (1, 2)", "CONCAT(a, b)"},
	"BoolPri":              {"a", "a = 1", "b > 'a'", "id <=> NULL", "a = ANY (SELECT id FROM t2)"},
	"PredicateExpr":        {"a", "id IN (1, 2, 3)", "a BETWEEN 1 AND 2", "b LIKE 'a%'"},
	"BitExpr":              {"a", "id", "b", "1", "'a'", "a + 1", "id * 2", "NULL"},
	"SimpleExpr":           {"a", "id", "b", "j", "1", "'a'", "-1", "NULL", "(a)", "COUNT(DISTINCT a)", "MIN(b)"},
	"SubSelect":            {"(SELECT 1)", "(SELECT a FROM t2)", "(SELECT id, a FROM t1)", "(TABLE t3)", "(VALUES ROW(1))", "(SELECT MAX(a) FROM t2 WHERE t2.id = t1.id)"},
	"SelectStmtFieldList":  {"*", "a", "id, a", "COUNT(*)", "a, b", "t1.*", "a, SUM(id)"},
	"TableRefsClause":      {"t1", "t2", "t3", "v1", "t1 JOIN t2 USING (id)", "t1 LEFT JOIN t2 ON t1.a = t2.id", "t1, t2", "(SELECT 1 AS a) AS x1"},
	"WithClause":           {"WITH x1 AS (SELECT 1 AS a)", "WITH RECURSIVE x1 (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x1 WHERE a < 5)"},
	"TableElementListOpt":  {"", "(a INT, b VARCHAR(10), id INT)", "(id INT PRIMARY KEY, a INT, KEY ka (a))"},
	"InsertValues":         {"VALUES (4, 5, 'c', 1, NULL, NULL)", "(id, a) VALUES (1, 2)", "SELECT * FROM t1", "(a) VALUES (1), (DEFAULT)", "VALUES ROW(1)", "SET a = 1"},
	"AlterTableSpec":       {"ADD COLUMN z INT", "DROP COLUMN z", "ADD INDEX x1 (a)", "DROP INDEX x1", "RENAME TO n1", "MODIFY a BIGINT", "ENGINE = InnoDB"},
	"Type":                 {"INT", "VARCHAR(10)", "JSON", "DATETIME(3)", "DECIMAL(10, 2)", "TEXT"},
	"OrderByOptional":      {"", "ORDER BY a", "ORDER BY 1 DESC, b"},
	"SelectStmtLimitOpt":   {"", "LIMIT 2", "LIMIT 1 OFFSET 1"},
	"SelectStmtGroup":      {"GROUP BY a", "GROUP BY 1", "GROUP BY a, b WITH ROLLUP"},
	"SelectLockOpt":        {"", "FOR UPDATE", "LOCK IN SHARE MODE"},
	"WindowSpec":           {"()", "(ORDER BY a)", "(PARTITION BY a ORDER BY id)"},
	"VariableAssignment":   {"@v = 1", "sql_mode = ''", "@w = a", "autocommit = 1"},
	"SelectStmtIntoOption": {"", ""},
}

// often are the rules that are begun with, besides Statement.
var often = []string{"SelectStmt", "SetOprStmt", "SelectStmtWithClause", "SelectStmt", "InsertIntoStmt", "ReplaceIntoStmt", "UpdateStmt", "DeleteFromStmt", "CreateTableStmt", "AlterTableStmt", "CreateIndexStmt", "CreateViewStmt", "ExplainStmt", "ShowStmt", "SubSelect", "DoStmt", "SetStmt"}

// statement makes one.
func (g *grammar) statement(rnd *rand.Rand) string {
	start := "Statement"
	if rnd.IntN(6) > 0 {
		start = often[rnd.IntN(len(often))]
	}
	m := &making{g: g, rnd: rnd, left: 10 + rnd.IntN(90)}
	m.make(start, 60)
	return m.out.String()
}

// making is a statement that is made.
type making struct {
	g    *grammar
	rnd  *rand.Rand
	out  strings.Builder
	left int // tokens, after which it ends as soon as it can
}

func (m *making) make(symbol string, depth int) {
	if text, ok := strings.CutPrefix(symbol, `"`); ok {
		m.token(strings.TrimSuffix(text, `"`))
		return
	}
	list := m.g.rules[symbol]
	switch {
	case fixed[symbol] != nil || symbol[0] == '\'':
		m.token(strings.Trim(symbol, "'"))
		return
	case plainForms[symbol] != nil && m.rnd.IntN(5) < 3:
		m.token(plainForms[symbol][m.rnd.IntN(len(plainForms[symbol]))])
		return
	case list == nil && m.g.texts[symbol] != "":
		m.token(m.g.texts[symbol])
		return
	case list == nil:
		m.token(strings.TrimPrefix(symbol, "builtin"))
		return
	}
	symbols := list[m.rnd.IntN(len(list))]
	if i := slices.IndexFunc(list, func(x []string) bool { return len(x) == 0 }); i >= 0 && m.rnd.IntN(5) < 3 {
		symbols = list[i]
	}
	if depth--; m.left < 0 || m.g.depthOf(symbols) > depth {
		best := slices.MinFunc(list, func(a, b []string) int { return m.g.least(a) - m.g.least(b) })
		some := slices.DeleteFunc(slices.Clone(list), func(x []string) bool { return m.g.least(x) > m.g.least(best) })
		symbols = some[m.rnd.IntN(len(some))]
	}
	for _, s := range symbols {
		m.make(s, depth)
	}
}

// least is the least depth of an alternative, a large number where it has no end.
func (g *grammar) least(symbols []string) int {
	if n := g.depthOf(symbols); n > 0 {
		return n
	}
	return 1 << 20
}

// token writes the text of a token. Names of functions are next to their parentheses.
func (m *making) token(text string) {
	if list := fixed[text]; list != nil {
		text = list[m.rnd.IntN(len(list))]
	}
	m.left--
	if text == "" {
		return
	}
	before := m.out.String()
	if before != "" && (text != "(" || !unicode.IsLetter(rune(before[len(before)-1]))) {
		m.out.WriteByte(' ')
	}
	m.out.WriteString(text)
}
