package server_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage/errkv"
)

// planned is a statement whose plan takes row counts, counts of different values and
// of ranges, and samples; %[1]s is its table.
const planned = "SELECT COUNT(*) FROM %[1]s x JOIN %[1]s y ON x.v = y.id WHERE x.pad LIKE '%%7%%' AND y.w > 3 AND x.w BETWEEN 3 AND 9"

// stalledPlanning is a server whose store does not answer when a test wants it to,
// and a table in it; copies have the same rows, and no estimates yet.
type stalledPlanning struct {
	t      *testing.T
	store  *errkv.Store
	dsn    string
	other  *client
	copies int
}

func newStalledPlanning(t *testing.T) *stalledPlanning {
	store, dsn := startFaulty(t, io.Discard)
	s := &stalledPlanning{t: t, store: store, dsn: dsn + "t", other: dial(t, dsn)}
	t.Cleanup(store.Reset)
	s.other.exec("CREATE DATABASE t")
	s.other.exec("USE t")
	s.other.exec("CREATE TABLE a (id INT PRIMARY KEY, v INT, w INT, pad VARCHAR(100), KEY(v), KEY(w, v))")
	var rows []string
	for i := range 2500 {
		rows = append(rows, fmt.Sprintf("(%d,%d,%d,'x%dy')", i, i%377, i%301, i))
	}
	s.other.exec("INSERT INTO a VALUES " + strings.Join(rows, ","))
	return s
}

// table is a new table of which nothing is known yet.
func (s *stalledPlanning) table() string {
	s.copies++
	name := fmt.Sprintf("a%04d", s.copies)
	s.other.exec("CREATE TABLE " + name + " LIKE a")
	s.other.exec("INSERT INTO " + name + " SELECT * FROM a")
	return name
}

// plan is that of the statement, with the name of table a.
func (s *stalledPlanning) plan(table string) string {
	s.t.Helper()
	got, err := s.other.query("EXPLAIN FORMAT=TREE " + fmt.Sprintf(planned, table))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.ReplaceAll(got, table, "a")
}

// rows are those of the statement.
func (s *stalledPlanning) rows(table string) string {
	s.t.Helper()
	got, err := s.other.query(fmt.Sprintf(planned, table))
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// stall starts the statement, whose n-th visit of a scan waits; nil if it ended before
// that.
func (s *stalledPlanning) stall(c *client, table string, n int64) *pending {
	s.t.Helper()
	s.store.Stall(errkv.OpVisit, n)
	p := c.start(s.other, fmt.Sprintf(planned, table))
	eventually(s.t, func() bool { return s.store.Stalled() > 0 || len(p.done) > 0 })
	if s.store.Stalled() == 0 {
		s.store.Reset()
		return nil
	}
	return p
}

// stallWithin is stall with a max_execution_time. It is doubled until the statement
// comes to that visit within it, for busy machines.
func (s *stalledPlanning) stallWithin(c *client, n int64) (*pending, string) {
	s.t.Helper()
	for limit := 200; limit < 60_000; limit *= 2 {
		c.exec(fmt.Sprintf("SET max_execution_time = %d", limit))
		table := s.table()
		if p := s.stall(c, table, n); p != nil {
			return p, table
		}
	}
	return nil, ""
}

// soon is how long a statement may run on after its end was requested; it is far more
// than it takes, for busy machines.
const soon = 5 * time.Second

// ends waits for the end of a statement with an error.
func (s *stalledPlanning) ends(p *pending, number uint16) {
	p.c.t.Helper()
	start := time.Now()
	select {
	case err := <-p.done:
		p.c.wantError(err, number, p.query)
		p.c.t.Logf("ended after %v", time.Since(start))
	case <-time.After(soon):
		s.store.Reset()
		p.c.t.Fatalf("%s: runs on", clip(p.query))
	}
}

// TestPlanningIsInterrupted ends statements in all stages of their planning, while the
// store does not answer. The same statement has the right plan then.
func TestPlanningIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newStalledPlanning(t)
	want, rows := s.plan("a"), s.rows("a")
	visits := s.store.Calls(errkv.OpVisit)
	s.plan(s.table())
	visits = s.store.Calls(errkv.OpVisit) - visits
	killed := func(c *client, n int64) (*pending, string) {
		table := s.table()
		p := s.stall(c, table, n)
		if p != nil {
			s.other.exec(fmt.Sprintf("KILL QUERY %d", c.id))
		}
		return p, table
	}
	for _, end := range []struct {
		name   string
		number uint16
		of     func(c *client, n int64) (*pending, string) // the statement in its n-th visit, and its table
	}{
		{"kill", 1317, killed},
		{"time", 3024, s.stallWithin},
	} {
		t.Run(end.name, func(t *testing.T) {
			if end.name == "time" {
				testflag.Normal(t)
			}
			stages := 0
			for n := int64(1); n < visits; n += 1 + n/2 {
				c := dial(t, s.dsn)
				p, table := end.of(c, n)
				if p == nil {
					t.Fatalf("visit %d of %d did not wait", n, visits)
				}
				s.ends(p, end.number)
				s.store.Reset()
				if got := s.plan(table); got != want {
					t.Fatalf("the plan after visit %d waited:\n%s\nwant:\n%s", n, got, want)
				}
				c.exec("SET max_execution_time = 0")
				c.rows(rows, fmt.Sprintf(planned, table))
				c.close()
				stages++
			}
			if stages < 5 {
				t.Errorf("only %d stages", stages)
			}
		})
	}
}

// TestPlanningOfOthers: a statement that waits for what another one counts goes on when
// that one is killed, and can be killed itself meanwhile.
func TestPlanningOfOthers(t *testing.T) {
	s := newStalledPlanning(t)
	want, rows := s.plan("a"), s.rows("a")
	table := s.table()
	first, second, third := dial(t, s.dsn), dial(t, s.dsn), dial(t, s.dsn)
	p := s.stall(first, table, 1)
	q := second.start(s.other, fmt.Sprintf(planned, table))
	r := third.start(s.other, fmt.Sprintf(planned, table))
	s.other.exec(fmt.Sprintf("KILL QUERY %d", second.id))
	s.ends(q, 1317)
	s.other.exec(fmt.Sprintf("KILL QUERY %d", first.id))
	s.ends(p, 1317)
	eventually(t, func() bool { return s.store.Stalled() > 0 }) // the third one counts now
	s.store.Reset()
	r.ok()
	if r.rows != rows {
		t.Errorf("rows %s, want %s", r.rows, rows)
	}
	if got := s.plan(table); got != want {
		t.Errorf("plan:\n%s\nwant:\n%s", got, want)
	}
}

// TestPlanningEndsWithItsClient: planning for a client that is gone ends.
func TestPlanningEndsWithItsClient(t *testing.T) {
	s := newStalledPlanning(t)
	c, table := dial(t, s.dsn), s.table()
	s.store.Stall(errkv.OpVisit, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		rows, err := c.c.QueryContext(ctx, fmt.Sprintf(planned, table))
		if err == nil {
			rows.Close()
		}
		done <- err
	}()
	eventually(t, func() bool { return s.store.Stalled() > 0 })
	cancel() // the driver closes the connection
	<-done
	eventually(t, func() bool { return s.store.Stalled() == 0 })
}
