package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/command"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestScoresOfEachStatement: a score is made of the figures that the index has when the
// statement runs, also when its plan comes from the cache.
func TestScoresOfEachStatement(t *testing.T) {
	e, err := engine.New(t.Context(), engine.Config{Store: memkv.New(memkv.Options{}), SearchDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	shared := statement.NewShared(e, command.Runner{})
	open := func(id uint64) *Session {
		s, err := New(t.Context(), shared, mysqlwire.ConnInfo{ID: id, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	s, w := open(1), &sink{}
	s.mustQuery(t, "CREATE DATABASE d", w)
	s.mustQuery(t, "USE d", w)
	s.mustQuery(t, "CREATE TABLE t (id INT PRIMARY KEY, a TEXT, FULLTEXT KEY (a))", w)
	insert := func(from, to int, text string) {
		t.Helper()
		var rows []string
		for i := from; i < to; i++ {
			rows = append(rows, fmt.Sprintf("(%d,'%s')", i, text))
		}
		s.mustQuery(t, "INSERT INTO t VALUES "+strings.Join(rows, ","), w)
		tab, _ := e.Catalog.Snapshot().Table("d", "t")
		if err := e.Search.Index(tab, tab.Search[0].ID).CatchUp(t.Context(), search.Moment{Seq: e.Store.Seq(), Settled: e.Store.Seq()}); err != nil {
			t.Fatal(err)
		}
	}
	score := "SELECT MATCH (a) AGAINST ('red') FROM t WHERE MATCH (a) AGAINST ('red') LIMIT 1"
	insert(0, 1, "red wine")
	insert(1, 2, "blue sky")
	before := s.rowsOf(t, score)
	insert(2, 100, "green grass")
	other := open(2)
	other.mustQuery(t, "USE d", w)
	want := other.rowsOf(t, score)
	if got := s.rowsOf(t, score); got != want || got == before {
		t.Errorf("the score is %s, in a new session %s, and was %s with fewer rows", got, want, before)
	}
}
