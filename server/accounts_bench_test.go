package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/priv"
)

// The sizes of BenchmarkAccounts.
const (
	manyAccounts = 10_000
	grantsOfEach = 100
)

// BenchmarkAccounts is what a login, a GRANT, a REVOKE and a refusal cost where there are
// 10,000 accounts with privileges on 100 tables each, with all that a commit needs to be on
// disk. What a grant takes of memory is BenchmarkMemory of sql/priv.
func BenchmarkAccounts(b *testing.B) {
	dir := b.TempDir()
	s, dsn := startServer(b, func(c *server.Config) { c.InMemory, c.DataDir, c.Durability = false, dir, 1 })
	c := dial(b, dsn)
	c.exec("CREATE TABLE t0 (a INT PRIMARY KEY)")
	c.exec("CREATE TABLE t1 (a INT PRIMARY KEY)")
	var names []string
	for i := range manyAccounts {
		names = append(names, fmt.Sprintf("account%d", i))
	}
	for i := 0; i < len(names); i += 1000 {
		c.exec("CREATE USER " + strings.Join(names[i:i+1000], ", "))
	}
	// As GRANT does it, and in one change: a million statements would take an hour.
	err := s.Engine().Catalog.Change(context.Background(), func(ch *catalog.Change) error {
		for _, name := range names {
			g := ch.Grants(priv.Name{User: name, Host: "%"}).Clone()
			for k := range grantsOfEach {
				g.AddTable(priv.Table{DB: "t", Name: fmt.Sprint("t", k), Mask: priv.Select | priv.Insert, By: "root@localhost", At: 1_764_000_000})
			}
			ch.PutGrants(g)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("login", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i++
			dial(b, strings.Replace(dsn, "root@", fmt.Sprintf("account%d@", i*7919%manyAccounts), 1)).close()
		}
	})
	b.Run("login of root", func(b *testing.B) {
		for b.Loop() {
			dial(b, dsn).close()
		}
	})
	for _, statement := range []string{"GRANT DELETE ON t.t1 TO account%d", "REVOKE DELETE ON t.t1 FROM account%d", "GRANT SELECT (a) ON t.t1 TO account%d", "ALTER USER account%d ACCOUNT UNLOCK"} {
		words := strings.Fields(statement)
		b.Run(words[0]+words[1], func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				c.exec(fmt.Sprintf(statement, i*7919%manyAccounts))
			}
		})
	}
	a := dial(b, strings.Replace(dsn, "root@", "account77@", 1))
	b.Run("allowed", func(b *testing.B) {
		for b.Loop() {
			a.exec("SELECT a FROM t0 WHERE a = 1")
		}
	})
	b.Run("refused", func(b *testing.B) {
		for b.Loop() {
			a.fails(1142, "DELETE FROM t0 WHERE a = 1")
		}
	})
}
