package pause

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

var (
	duration = flag.Duration("pause.duration", 0, "how long random schedules are tried; 0 for as long as the run is")
)

// newCourse starts a server with a table.
func newCourse(t *testing.T, seed uint64) *course {
	c := &course{t: t, rnd: rand.New(rand.NewPCG(seed, 0)), flush: 1}
	s := servertest.Start(t, server.Config{DataDir: t.TempDir(), Durability: 1, Memory: 256 << 20, Steps: c.gates.hook,
		Tune: func(o *pebblekv.Options) { o.EagerImages = true }})
	var err error
	if c.db, err = sql.Open("mysql", servertest.DSN(s)); err != nil {
		t.Fatal(err)
	}
	c.exec("CREATE DATABASE p")
	c.db.Close()
	if c.db, err = sql.Open("mysql", "root@tcp("+s.Addr()+")/p"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.db.Close() })
	c.db.SetMaxIdleConns(8)
	c.exec(`CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, g INT NOT NULL, u BIGINT NOT NULL, txt VARCHAR(50) NOT NULL, pad VARCHAR(60) NOT NULL,
		KEY by_v (v DESC), KEY by_g (g) INCLUDE (v), UNIQUE KEY by_u (u), SEARCH INDEX s (v, g, txt TEXT))
		SECONDARY_ENGINE_ATTRIBUTE='{"stream": true, "max_versions": 50}'`)
	c.h.states = []rows{{}}
	c.checkPlans()
	for range 3 {
		if err := c.begin(-1).wait(); err != nil {
			t.Fatal(err)
		}
	}
	c.warm()
	return c
}

// warm reads by all paths, so that images are made while no commit is stopped.
func (c *course) warm() {
	for range 3 {
		for i := range paths {
			if err := c.check(c.db, &paths[i], nil); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// checkPlans makes sure that paths are what they say.
func (c *course) checkPlans() {
	for i := range paths {
		p := &paths[i]
		query := strings.ReplaceAll(p.query, "?", "1")
		var plan string
		if err := c.db.QueryRow("EXPLAIN FORMAT=TREE " + query).Scan(&plan); err != nil {
			c.t.Fatalf("%s: %v", query, err)
		}
		if !strings.Contains(plan, p.plan) || p.plan == "" && strings.Contains(plan, "search:") {
			c.t.Errorf("%s has the plan\n%s", query, plan)
		}
	}
}

// TestCommitSteps stops a commit at each step and reads by all paths one after
// the other: what one has shown the next shows as well.
func TestCommitSteps(t *testing.T) {
	testflag.Normal(t)
	c := newCourse(t, 1)
	for flush := range 3 {
		for _, at := range step.Commits {
			c.exec(fmt.Sprintf("SET GLOBAL innodb_flush_log_at_trx_commit = %d", flush))
			stop := c.gates.arm(t, at)
			commit := c.begin(-1)
			if !stop.wait(commit.done, hang) {
				t.Fatalf("the commit did not come to %s: %v", at, commit.err)
			}
			for _, i := range c.rnd.Perm(len(paths)) {
				for _, p := range []*path{&paths[i], &logPath} {
					if err := c.check(c.db, p, nil); err != nil {
						t.Errorf("flush %d, commit at %s: %v", flush, at, err)
					}
				}
			}
			stop.release()
			if err := commit.wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAsOf stops a commit at each step while rows are read as they were a moment
// ago: when the commit has ended, they are still what they were then.
func TestAsOf(t *testing.T) {
	testflag.Normal(t)
	c := newCourse(t, 2)
	ctx := context.Background()
	conn, err := c.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	asOf := &path{name: "as of", query: "SELECT id, v FROM t AS OF TIMESTAMP @at"}
	for _, at := range step.Commits {
		stop := c.gates.arm(t, at)
		commit := c.begin(-1)
		if !stop.wait(commit.done, hang) {
			t.Fatalf("the commit did not come to %s: %v", at, commit.err)
		}
		if _, err := conn.ExecContext(ctx, "SET @at = NOW(6)"); err != nil {
			t.Fatal(err)
		}
		var before *answer
		read := start(func() (err error) {
			before, err = asOf.read(ctx, conn, c.rnd)
			return err
		})
		select { // it waits for a commit that has its time and cannot be seen
		case <-read.done:
		case <-time.After(patience):
		}
		stop.release()
		for _, j := range []*job{read, commit} {
			if err := j.wait(); err != nil {
				t.Fatal(err)
			}
		}
		after, err := asOf.read(ctx, conn, c.rnd)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(before.rows, after.rows) {
			t.Errorf("commit at %s: the rows as of a time were\n%s\nand are\n%s", at, before, after)
		}
	}
}

// TestRandomSchedules tries random schedules.
func TestRandomSchedules(t *testing.T) {
	c := newCourse(t, testflag.AnySeed(t))
	d := *duration
	if d == 0 {
		d = testflag.Pick(500*time.Millisecond, 4*time.Second, time.Minute)
	}
	failed := 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		s := random(c.rnd)
		if err := c.try(s); err != nil {
			t.Errorf("schedule %d: %s\n%v", c.run, s, err)
			if failed++; failed == 10 || strings.HasSuffix(err.Error(), "hangs") {
				break
			}
		}
	}
	t.Logf("%d schedules; in %d the reader did not come to its step, in %d it waited for a commit", c.run, c.missed, c.blocked)
}
