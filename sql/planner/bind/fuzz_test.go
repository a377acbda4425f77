package bind

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// FuzzBind: no text makes parsing or binding panic; errors are MySQL's.
func FuzzBind(f *testing.F) {
	files, _ := filepath.Glob("testdata/*")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			f.Add(line)
		}
	}
	c := newTestCatalog()
	p := parser.New()
	for _, sql := range []string{"CREATE TABLE t (id BIGINT PRIMARY KEY, a INT, b VARCHAR(20), c DECIMAL(10,2), d DATETIME)", "CREATE TABLE u (id BIGINT NOT NULL, t_id BIGINT, name VARCHAR(30) NOT NULL, UNIQUE KEY (name))"} {
		st, err := bindText(testEnv(c), sql)
		if err != nil {
			f.Fatal(err)
		}
		c.add(st.(*logical.CreateTable).Table)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		env := testEnv(c)
		st, err := p.Parse(sql, env.Mode)
		if err == nil {
			_, err = Bind(env, st)
		}
		var e *sqlerr.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("not a MySQL error: %v", err)
		}
	})
}
