package parser

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/types"
)

// blocksOf are the hints of a statement's query blocks, outer ones first.
type blocksOf struct{ out []string }

func (v *blocksOf) Enter(n ast.Node) (ast.Node, bool) {
	for _, h := range BlockHints(n) {
		v.out = append(v.out, fmt.Sprintf("%s%v%v", h, h.Tables, h.Indexes))
	}
	return n, false
}

func (v *blocksOf) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func TestHints(t *testing.T) {
	for _, c := range []struct {
		sql  string
		mode types.SQLMode
		want string
	}{
		{sql: "SELECT /*+ JOIN_ORDER(@q a, `b c`) BKA(t@r) */ 1", want: "JOIN_ORDER(@`q` `a`,`b c`)[{a } {b c }][]; BKA(`t`@`r` )[{t r}][]"},
		{sql: "SELECT /*+MERGE()*/ 1", want: "MERGE( )[][]"},
		{sql: "SELECT /*+MERGE(d)*/ 1", want: "MERGE(`d` )[{d }][]"},
		{sql: "SELECT /*+BKA()*/ 1", want: ""}, // no room, and no effect
		{sql: "SELECT /*+\n INDEX(t\n i,j) */ 1", want: "INDEX(`t`  `i`, `j`)[{t }][i j]"},
		{sql: `SELECT /*+ BKA("t") */ 1`, mode: types.ModeANSIQuotes, want: "BKA(`t` )[{t }][]"},
		{sql: `SELECT /*+ BKA("t") */ 1`, want: "1064"},
		{sql: "SELECT /*+ SET_VAR(a=16M) SET_VAR(b='x''y') SEMIJOIN(@s firstmatch, LOOSESCAN) */ 1",
			want: "SET_VAR(a=16M) [][]; SET_VAR(b='x'y') [][]; SEMIJOIN(@`s` FIRSTMATCH, LOOSESCAN)[][]"},
		{sql: "INSERT /*+ QB_NAME(i) */ INTO t SELECT /*+ NO_INDEX(u) */ a FROM (SELECT /*+ NO_MERGE(v) */ a FROM v) u",
			want: "QB_NAME(`i`)[][]; NO_INDEX(`u`)[{u }][]; NO_MERGE(`v` )[{v }][]"},
		{sql: "SELECT /* no hint */ 1 /*+ BKA(t) BNL(t) */", want: ""},
		{sql: "SELECT '/*+ BKA(t) BNL(t) */'", want: ""},
		{sql: "SELECT /*+ HASH_AGG() FORCE_INDEX(t i) */ 1", want: "1064"}, // TiDB's
		{sql: "SELECT /*+ MAX_EXECUTION_TIME(99) NO_SUBQUERY() */ 1", want: "1064"},
		{sql: "SELECT /*+ BKA(`t) */ 1", want: "1064"},
	} {
		st, err := New().Parse(c.sql, c.mode)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		v := &blocksOf{}
		st.Node.Accept(v)
		got := strings.Join(v.out, "; ")
		for _, w := range st.Warnings {
			got += fmt.Sprint(w.Number)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestHintNoise: no comment of hints makes a statement fail, whatever is in it.
func TestHintNoise(t *testing.T) {
	words := []string{"BKA", "(", ")", "(", ")", ",", "t", "@q", "@", "`x`", "`", "'", "\"", "SET_VAR", "=", "12", "9K", "99999999999999999999", "MERGE", "INDEX", "NO_", "\n", " ", "é", "\x00", "QB_NAME", "SEMIJOIN", "FIRSTMATCH", "/", "*", "\\"}
	p := New()
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		var b strings.Builder
		for range r.Intn(12) {
			b.WriteString(words[r.Intn(len(words))])
			if r.Intn(2) == 0 {
				b.WriteByte(' ')
			}
		}
		body := strings.ReplaceAll(b.String(), "*/", "")
		sql := "SELECT /*+" + body + "*/ a FROM t"
		if _, err := p.Parse(sql, 0); err != nil {
			t.Fatalf("%q: %v", sql, err)
		}
	}
}
