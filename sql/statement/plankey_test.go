package statement

import (
	"context"
	"testing"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/value"
)

// schemaOnly are commands that change the schema and nothing else.
type schemaOnly struct{ Commands }

func (schemaOnly) Run(ctx context.Context, s *Statement, stmt logical.Statement, _ []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	if _, err := s.Engine.DDL.Run(ctx, stmt, s.DDLEnv()); err != nil {
		return err
	}
	return s.OK(w, mysqlwire.OK{}, more)
}

// sink drops results.
type sink struct{ mysqlwire.ResultWriter }

func (sink) Header(*mysqlwire.Header) error { return nil }
func (sink) Batch(*vec.Batch) error         { return nil }
func (sink) OK(mysqlwire.OK) error          { return nil }
func (sink) End(mysqlwire.End) error        { return nil }

// testStatement is that of a connection to an engine of its own.
func testStatement(t *testing.T) *Statement {
	t.Helper()
	store := memkv.New(memkv.Options{})
	t.Cleanup(func() { store.Close() })
	e, err := engine.New(t.Context(), engine.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	s := Open(NewShared(e, schemaOnly{}), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	t.Cleanup(s.End)
	return s
}

// mustRun runs a statement by its template, or else by its text.
func (s *Statement) mustRun(t *testing.T, text string) {
	t.Helper()
	s.BeginEvent(time.Now())
	handled, err := s.QueryTemplate(t.Context(), text, sink{})
	if !handled {
		err = s.RunText(t.Context(), text, false, sink{})
	}
	if err = s.Ended(text, err, sink{}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// TestPlanAge: plans of a session with a time of its own are kept and used as
// those of others, and age by the clock.
func TestPlanAge(t *testing.T) {
	for _, timestamp := range []string{"DEFAULT", "100000", "32536771199"} {
		s := testStatement(t)
		for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, KEY (a))", "SET timestamp = " + timestamp} {
			s.mustRun(t, q)
		}
		s.mustRun(t, "SELECT id FROM d.t WHERE a = 1")
		before := s.Engine.Metrics.Global().Counter(metrics.PlanCacheHits)
		s.mustRun(t, "SELECT id FROM d.t WHERE a = 2")
		if got := s.Engine.Metrics.Global().Counter(metrics.PlanCacheHits) - before; got != 1 {
			t.Errorf("timestamp %s: %d plans of the cache used, want 1", timestamp, got)
		}
		for i := range s.Shared.Plans.shards {
			for _, c := range s.Shared.Plans.shards[i].plans {
				if age := time.Since(c.made); age < 0 || age > time.Hour {
					t.Errorf("timestamp %s: a plan has the age %s", timestamp, age)
				}
			}
		}
	}
}

// TestPlanKeyParallelism: plans for other numbers of workers are other plans.
func TestPlanKeyParallelism(t *testing.T) {
	s := testStatement(t)
	seen := map[string]int{}
	for n := 1; n <= 1024; n++ {
		s.Vars.Parallelism = n
		key := string(s.planKey(nil, []byte("SELECT 1")))
		if seen[key] != 0 {
			t.Fatalf("%d and %d workers share plans", seen[key], n)
		}
		seen[key] = n
	}
}
