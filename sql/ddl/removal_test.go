package ddl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/mdl"
)

// held is a server whose removals wait at a step until they are let go.
type held struct {
	*server
	at    string
	came  chan struct{} // a removal is there
	letGo chan struct{}
	jobs  sync.WaitGroup

	mu     sync.Mutex
	names  []string
	cancel context.CancelCauseFunc // of the turn
}

func holdRemovals(t *testing.T, at string) *held {
	h := &held{server: newServer(t), at: at, came: make(chan struct{}, 100), letGo: make(chan struct{})}
	h.r.Start = func(name string, run func(ctx context.Context, turn Turn)) {
		h.mu.Lock()
		h.names = append(h.names, name)
		h.mu.Unlock()
		h.jobs.Go(func() { run(context.Background(), h.turn) })
	}
	t.Cleanup(h.jobs.Wait)
	return h
}

// hold has the removals from now on wait.
func (h *held) hold() {
	h.r.step = func(name string) {
		if name == h.at {
			h.came <- struct{}{}
			<-h.letGo
		}
	}
}

func (h *held) turn(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.mu.Lock()
	h.cancel = cancel
	h.mu.Unlock()
	return work(ctx)
}

// execKilled runs a statement that is killed when its removal waits.
func (h *held) execKilled(sql string) error {
	h.t.Helper()
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	go func() {
		<-h.came
		kill()
	}()
	_, err := h.execCtx(ctx, h.env(), sql)
	return err
}

// other is the environment of another session, which does not wait long.
func (h *held) other() Env {
	e := h.env()
	e.Owner, e.LockTimeout = 7, 10*time.Millisecond
	return e
}

func TestRemovalGoesOnAfterKill(t *testing.T) {
	for _, c := range []struct {
		keys, sql, at string
		alone         bool // the removal has the table alone
	}{
		{"", "ALTER TABLE t DROP PARTITION p1", "before job end", true},
		{", KEY kb (b)", "ALTER TABLE t DROP PARTITION p1", "removed rows", false},
		{", UNIQUE KEY ub (b, id)", "ALTER TABLE t DROP PARTITION p1", "removed rows", true},
		{", KEY kb (b)", "ALTER TABLE t TRUNCATE PARTITION p1", "removed rows", false},
		{", KEY kb (b)", "ALTER TABLE t DROP KEY kb", "before delete", false},
		{"", "ALTER TABLE t ENGINE = InnoDB", "before delete", false},
		{"", "TRUNCATE TABLE t", "before delete", false},
		{"", "DROP TABLE t", "before delete", false},
		{"", "DROP DATABASE d", "before delete", false},
	} {
		t.Run(c.sql+c.keys, func(t *testing.T) {
			h := holdRemovals(t, c.at)
			h.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT" + c.keys + ") PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN (10), PARTITION p2 VALUES LESS THAN MAXVALUE)")
			for i := range 20 {
				h.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
			}
			h.hold()
			if err := h.execKilled(c.sql); err != nil {
				t.Fatalf("the statement, which has succeeded: %v", err)
			}
			if table, ok := h.cat.Snapshot().Table("d", "t"); ok && strings.Contains(c.sql, "PARTITION") {
				if len(table.Partitioning.Removed) != 1 {
					t.Errorf("removed partitions before the end: %v", table.Partitioning.Removed)
				}
				_, err := h.execIn(h.other(), "ALTER TABLE t COMMENT = 'x'")
				if !errors.Is(err, mdl.ErrTimeout) {
					t.Errorf("another change meanwhile: %v", err)
				}
				err = h.locks.Shared(context.Background(), 7, mdl.Key("d", "t"), 10*time.Millisecond)
				if errors.Is(err, mdl.ErrTimeout) != c.alone {
					t.Errorf("a reader meanwhile: %v", err)
				}
				h.locks.ReleaseShared(7, mdl.Key("d", "t"))
			}
			close(h.letGo)
			h.jobs.Wait()
			if _, ok := h.cat.Snapshot().Database("d"); !ok {
				h.must("CREATE DATABASE d")
			}
			if _, ok := h.cat.Snapshot().Table("d", "t"); ok {
				if p := h.table("t").Partitioning; len(p.Removed) > 0 {
					t.Errorf("removed partitions after the end: %v", p.Removed)
				}
				if _, err := h.execIn(h.other(), "ALTER TABLE t COMMENT = 'x'"); err != nil {
					t.Errorf("another change afterwards: %v", err)
				}
			}
			h.wantClean()
		})
	}
}

// TestRemovalIsRepeated: a turn that is killed leaves nothing undone.
func TestRemovalIsRepeated(t *testing.T) {
	testflag.Normal(t)
	h := holdRemovals(t, "removed rows")
	h.must("CREATE TABLE t (id INT PRIMARY KEY, b INT, KEY kb (b)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN MAXVALUE)")
	for i := range 20 {
		h.insert("t", fmt.Sprintf("%d,%d", i, 100-i))
	}
	h.hold()
	if err := h.execKilled("ALTER TABLE t DROP PARTITION p0"); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.cancel(errors.New("killed"))
	names := fmt.Sprint(h.names)
	h.mu.Unlock()
	close(h.letGo)
	h.jobs.Wait()
	if names != "[removing partitions of d.t]" {
		t.Errorf("jobs: %s", names)
	}
	if p := h.table("t").Partitioning; len(p.Removed) > 0 {
		t.Errorf("removed partitions: %v", p.Removed)
	}
	h.wantClean()
}

// TestRemovalUnderLockTables: a session that has locked the table waits for the end with its
// next statement.
func TestRemovalUnderLockTables(t *testing.T) {
	h := holdRemovals(t, "removed rows")
	h.must("CREATE TABLE t (id INT PRIMARY KEY, b INT, UNIQUE KEY kb (b, id)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN MAXVALUE)")
	h.insert("t", "1,1")
	ctx, self, key := context.Background(), h.env().Owner, mdl.Key("d", "t")
	if err := h.locks.Exclusive(ctx, self, key, time.Second); err != nil {
		t.Fatal(err)
	}
	h.hold()
	if err := h.execKilled("ALTER TABLE t DROP PARTITION p0"); err != nil {
		t.Fatal(err)
	}
	for _, o := range []mdl.Owner{self, 7} {
		if err := h.locks.Shared(ctx, o, key, 10*time.Millisecond); !errors.Is(err, mdl.ErrTimeout) {
			t.Errorf("session %d meanwhile: %v", o, err)
		}
	}
	close(h.letGo)
	h.jobs.Wait()
	if p := h.table("t").Partitioning; len(p.Removed) > 0 {
		t.Errorf("removed partitions: %v", p.Removed)
	}
	if err := h.locks.Shared(ctx, 7, key, 10*time.Millisecond); !errors.Is(err, mdl.ErrTimeout) {
		t.Errorf("another session under LOCK TABLES: %v", err)
	}
	if err := h.locks.Shared(ctx, self, key, 10*time.Millisecond); err != nil {
		t.Errorf("the session afterwards: %v", err)
	}
	h.locks.ReleaseShared(self, key)
	for _, l := range h.locks.List() {
		if l.Owner != self || mdl.ChangesSchema(l.Key) {
			t.Errorf("a lock is left: %+v", l)
		}
	}
}
