package tpch

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// from makes the golden answers again, with a server that is not sqlots.
var from = flag.String("answers-from", "", "address of a server to take the golden answers from")

const (
	goldenFile  = "testdata/answers"
	goldenScale = 0.01
)

// The 22 queries have the answers that MariaDB gave, whatever path they take.
func TestAnswers(t *testing.T) {
	testflag.Normal(t) // loads data
	dsn := *from
	if dsn == "" {
		s := servertest.Start(t, server.Config{})
		dsn = servertest.DSN(s)
	}
	db, err := open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	c := &command{scale: scale{factor: goldenScale}, stdout: io.Discard}
	if err := c.load(t.Context(), "A", db); err != nil {
		t.Fatal(err)
	}
	if *from != "" {
		if err := os.WriteFile(goldenFile, []byte(answers(t, db)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, road := range []struct{ name, set string }{
		{"default", "SET sqlots_batch_size = DEFAULT"},
		{"small batches, one part", "SET sqlots_batch_size = 7, sqlots_parallelism = 1"},
		{"parts", "SET sqlots_parallelism = 4"},
		{"put aside early", "SET sqlots_spill_over = 20000"},
		{"little memory", "SET sqlots_query_memory_limit = 1500000"},
	} {
		t.Run(road.name, func(t *testing.T) {
			mine, err := open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = mine.Close() }()
			mine.SetMaxOpenConns(1)
			if _, err := mine.ExecContext(t.Context(), road.set); err != nil {
				t.Fatal(err)
			}
			got, want := strings.Split(answers(t, mine), "\n\n"), strings.Split(string(want), "\n\n")
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("got:\n%s\nwant:\n%s", clipped(got[i]), clipped(want[i]))
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d answers, want %d", len(got), len(want))
			}
		})
	}
}

func clipped(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return s
}

// answers are the rows of all queries as text.
func answers(t *testing.T, db *sql.DB) string {
	var b strings.Builder
	for i, q := range queries {
		rows, err := rowsOf(context.WithoutCancel(t.Context()), db, q)
		if err != nil {
			t.Errorf("query %d: %v", i+1, err)
		}
		fmt.Fprintf(&b, "query %d\n%s\n\n", i+1, strings.Join(rows, "\n"))
	}
	return b.String()
}
