package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// crash is what a test panics with to stop a statement where it is.
type crash struct{}

// runUntil runs a statement and stops it at its n-th step, as if the process
// had died; false when it has fewer steps.
func (s *server) runUntil(sql string, n int) (crashed bool) {
	s.t.Helper()
	return s.until(n, func() error {
		_, err := s.exec(sql)
		if err != nil {
			if _, ok := errors.AsType[*sqlerr.Error](err); !ok {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

// resume is what a start does: builds go on, until their n-th step.
func (s *server) resume(n int) (crashed bool) {
	s.t.Helper()
	s.open()
	return s.until(n, func() error {
		if err := s.r.Resume(context.Background()); err != nil {
			return err
		}
		s.r.ContinueRemovals()
		for _, b := range s.r.Unfinished() {
			err := b.Continue(context.Background(), s.env())
			if e, ok := errors.AsType[*sqlerr.Error](err); err != nil && (!ok || e.Number != 1062) {
				return err
			}
		}
		return nil
	})
}

const noCrash = 1 << 30

func (s *server) until(n int, do func() error) (crashed bool) {
	s.t.Helper()
	defer func() {
		switch p := recover(); p {
		case nil:
		case crash{}:
			crashed = true
		default:
			panic(p)
		}
	}()
	s.r.step = func(string) {
		if n--; n < 0 {
			panic(crash{})
		}
	}
	if err := do(); err != nil {
		s.t.Fatal(err)
	}
	return false
}

// describe is all that SQL sees of a table.
func (s *server) describe(name string) string {
	s.t.Helper()
	if _, ok := s.cat.Snapshot().Table("d", name); !ok {
		return "none"
	}
	return infoschema.CreateTable(s.table(name)) + "\n" + s.rows(name)
}

func TestCrashes(t *testing.T) {
	for _, sql := range []string{
		"DROP TABLE t",
		"DROP DATABASE d",
		"TRUNCATE TABLE t",
		"ALTER TABLE t ADD KEY ka (a)",
		"ALTER TABLE t ADD UNIQUE KEY ub (b), ADD KEY ka (a) INCLUDE (b)",
		"ALTER TABLE t ADD UNIQUE KEY ua (a)", // fails: duplicates
		"ALTER TABLE t ADD n INT DEFAULT 1, ADD KEY kn (n), DROP KEY kb",
		"ALTER TABLE t ADD n INT DEFAULT 1, ADD UNIQUE KEY ua (a)",
		"ALTER TABLE t DROP KEY kb, ADD KEY kb (b, a)",
		"ALTER TABLE t ADD n INT NOT NULL DEFAULT 5 FIRST, ADD UNIQUE KEY un (n, b), ADD KEY ke ((b + 1)), RENAME COLUMN a TO aa, DROP KEY kb, RENAME TO u",
		"ALTER TABLE t DROP COLUMN a, ADD a VARCHAR(10) DEFAULT 'x', ADD KEY kv (a, b), ADD v INT AS (b * 2) VIRTUAL, ADD KEY vk (v)",
		"ALTER TABLE t ADD c INT, ADD KEY ((c + 1))", // others wait
		"ALTER TABLE t DROP KEY kb",
		"ALTER TABLE t DROP COLUMN b",
		"ALTER TABLE t MODIFY b VARCHAR(20), RENAME TO u",
		"ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (b)",
		"ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a)", // fails
	} {
		t.Run(sql, func(t *testing.T) {
			for n := 0; ; n++ {
				s := newServer(t)
				s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY kb (b))")
				for i := range 20 {
					s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
				}
				before := s.describe("t")
				crashed := s.runUntil(sql, n)
				s.resume(noCrash)
				after, renamed := s.describe("t"), s.describe("u")
				s.wantClean()
				if !crashed {
					return
				}
				// As before, or as the whole statement leaves it.
				if after == before {
					continue
				}
				w := newServer(t)
				w.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY kb (b))")
				for i := range 20 {
					w.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
				}
				w.must(sql)
				if want := w.describe("t"); after != want || renamed != w.describe("u") {
					t.Errorf("crash at step %d leaves\n%s\nwant\n%s", n, after, want)
				}
			}
		})
	}
}

// TestPartitionCrashes: rows of a partition that is dropped are there or not, with all
// their entries.
func TestPartitionCrashes(t *testing.T) {
	fill := func(s *server, keys, options string) {
		s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT" + keys + ")" + options +
			" PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN (10), PARTITION p2 VALUES LESS THAN (15), PARTITION p3 VALUES LESS THAN MAXVALUE)")
		for i := range 20 {
			s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
		}
	}
	for _, keys := range []string{"", ", KEY kb (b)", ", UNIQUE KEY ub (b, id), KEY ka (a)"} {
		for _, sql := range []string{
			"ALTER TABLE t DROP PARTITION p1",
			"ALTER TABLE t DROP PARTITION p0, p3",
			"ALTER TABLE t TRUNCATE PARTITION p1, p2",
			"ALTER TABLE t REORGANIZE PARTITION p1, p2 INTO (PARTITION x VALUES LESS THAN (7), PARTITION y VALUES LESS THAN (15))",
			"ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 3",
			"ALTER TABLE t REMOVE PARTITIONING",
		} {
			w := newServer(t)
			fill(w, keys, "")
			before := w.describe("t")
			w.must(sql)
			want := w.describe("t")
			w.wantClean()
			for n, crashed := 0, true; crashed; n++ {
				s := newServer(t)
				fill(s, keys, "")
				crashed = s.runUntil(sql, n)
				again := s.resume(0)
				s.resume(noCrash)
				if after := s.describe("t"); after != want && (!crashed || after != before) {
					t.Errorf("%s: crash at step %d, again: %v, leaves\n%s\nwant\n%s", sql, n, again, after, want)
				}
				if p := s.table("t").Partitioning; p != nil && len(p.Removed) > 0 {
					t.Errorf("%s: crash at step %d leaves partitions %v", sql, n, p.Removed)
				}
				s.wantClean()
			}
		}
	}
}

// TestCrashesAgain: the server that goes on with a build dies too.
func TestCrashesAgain(t *testing.T) {
	for _, sql := range []string{
		"ALTER TABLE t ADD UNIQUE KEY ub (b), ADD KEY ka (a) INCLUDE (b)",
		"ALTER TABLE t ADD UNIQUE KEY ua (a)",
		"ALTER TABLE t DROP KEY kb, ADD KEY kb (b, a), ALTER a SET DEFAULT 3, ADD UNIQUE KEY ub (b), COMMENT 'new'",
	} {
		for n := 0; ; n++ {
			crashed := true
			for m := 0; crashed; m++ {
				s := newServer(t)
				s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY kb (b))")
				for i := range 20 {
					s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
				}
				if !s.runUntil(sql, n) {
					return
				}
				crashed = s.resume(m)
				s.insert("t", "100,7,1000")
				s.resume(noCrash)
				s.describe("t")
				s.wantClean()
			}
		}
	}
}

// TestEarlierBuilds: a build that an earlier version recorded, without the table in the
// end, goes on; its indexes are there in the end, as after any other.
func TestEarlierBuilds(t *testing.T) {
	const sql = "ALTER TABLE t ADD UNIQUE KEY ub (b), ADD KEY ka (a) INCLUDE (b)"
	continued := 0
	for n, crashed := 0, true; crashed; n++ {
		s := newServer(t)
		s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)")
		for i := range 20 {
			s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
		}
		before := s.describe("t")
		crashed = s.runUntil(sql, n)
		s.open()
		builds, err := s.r.storedBuilds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range builds {
			b.rec.Final, b.rec.Version = nil, 0
			if err := b.put(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		}
		s.resume(noCrash)
		for _, x := range s.table("t").Indexes {
			if x.State != schema.IndexPublic {
				t.Errorf("crash at step %d leaves index %s in state %v", n, x.Name, x.State)
			}
		}
		after := s.describe("t")
		s.wantClean()
		if after == before {
			continue
		}
		if continued += len(builds); !crashed && continued == 0 {
			t.Fatal("no build was continued")
		}
		s.wantTable("t", "`id` int NOT NULL", "`a` int DEFAULT NULL", "`b` int DEFAULT NULL", "PRIMARY KEY (`id`)", "UNIQUE KEY `ub` (`b`)",
			"KEY `ka` (`a`) /*!99999 sqlots SECONDARY_ENGINE_ATTRIBUTE='{\"include\":[\"b\"]}' */")
		s.must("ALTER TABLE t DROP KEY ub, DROP KEY ka")
		if again := s.describe("t"); again != before {
			t.Errorf("without the indexes the table is\n%s\nwant\n%s", again, before)
		}
	}
}

// TestChangeWithoutUnfinished: a change of a table drops the indexes whose build an
// earlier process did not end.
func TestChangeWithoutUnfinished(t *testing.T) {
	left := 0
	for n, crashed := 0, true; crashed; n++ {
		s := newServer(t)
		s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY kb (b))")
		for i := range 20 {
			s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
		}
		crashed = s.runUntil("ALTER TABLE t ADD KEY ka (a)", n)
		s.open()
		if !slices.ContainsFunc(s.table("t").Indexes, func(x schema.Index) bool { return x.State != schema.IndexPublic }) {
			continue
		}
		left++
		s.must("ALTER TABLE t COMMENT = 'x', RENAME KEY kb TO kc")
		if list := s.table("t").Indexes; len(list) != 1 || list[0].Name != "kc" || list[0].State != schema.IndexPublic {
			t.Errorf("crash at step %d leaves %v", n, list)
		}
	}
	if left == 0 {
		t.Error("no crash left an unfinished index")
	}
}

// TestDamagedBuilds: a record of a build that cannot be read ends the start.
func TestDamagedBuilds(t *testing.T) {
	for _, c := range []struct {
		key  []byte
		text string
		bad  bool
	}{
		{buildKey(77), `{"indexes":[5]}`, false},
		{buildKey(77), "{", true},
		{buildKey(77)[:len(buildKey(77))-1], "{}", true},
		{append(buildKey(77), 0), "{}", true},
		{append(buildKey(0)[:len(buildKey(0))-4:len(buildKey(0))-4], 1), "{}", true},
	} {
		s := newServer(t)
		txn, err := s.store.Begin(t.Context(), storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := txn.Put(t.Context(), c.key, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if _, err := txn.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		txn.Rollback()
		builds, err := s.r.storedBuilds(t.Context())
		if errors.Is(err, storage.ErrCorruption) != c.bad || c.bad != (err != nil) || !c.bad && (len(builds) != 1 || builds[0].table != 77) {
			t.Errorf("%x: %s: %d builds, %v", c.key, c.text, len(builds), err)
		}
		s.open()
		if err := s.r.Resume(t.Context()); errors.Is(err, storage.ErrCorruption) != c.bad {
			t.Errorf("%x: %s: a start gives %v", c.key, c.text, err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	for _, sql := range []string{
		"ALTER TABLE t ADD KEY ka (a)",
		"ALTER TABLE t ADD n INT, ADD KEY ka (a)",
		"ALTER TABLE t MODIFY b VARCHAR(20)",
	} {
		s := newServer(t)
		s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY kb (b))")
		for i := range 2500 {
			s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
		}
		before := s.describe("t")
		ctx, cancel := context.WithCancelCause(context.Background())
		s.r.step = func(name string) {
			if name == "backfill chunk" || name == "copied batch" {
				cancel(sqlerr.QueryInterrupted())
			}
		}
		st, err := s.pool.Parse(sql, s.mode)
		if err != nil {
			t.Fatal(err)
		}
		stmt, err := bind.Bind(&bind.Env{Catalog: s.cat.Snapshot(), Database: "d", Mode: s.mode}, st)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.r.Run(ctx, stmt, s.env()); !errors.Is(err, sqlerr.QueryInterrupted()) {
			t.Errorf("%s: %v", sql, err)
		}
		if after := s.describe("t"); after != before {
			t.Errorf("%s: left\n%s", sql, strings.SplitAfter(after, "utf8mb4_0900_ai_ci")[0])
		}
		s.wantClean()
	}
}

// TestWritersDuringBuild lets writers work while indexes are added and
// dropped, and compares entries and rows at the end.
func TestWritersDuringBuild(t *testing.T) {
	testflag.Normal(t)
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)")
	for i := range testflag.Pick(200, 500, 2000) {
		s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%7, i))
	}
	// Without pauses a build follows the writers for seconds.
	pause, least := testflag.Pick(100*time.Microsecond, 100*time.Microsecond, 0), testflag.Pick[int64](2000, 2000, 0)
	var writes atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.write(mdl.Owner(10+g), int64((i*37+g*1500)%4000), int64(i)); err != nil {
					t.Error(err)
					return
				}
				writes.Add(1)
				time.Sleep(pause)
			}
		})
	}
	for n := 0; n < testflag.Rounds(1, 1, 3) || writes.Load() < least && !t.Failed(); n++ {
		s.must("ALTER TABLE t ADD KEY ka (a), ADD UNIQUE KEY uid (id, b)")
		s.rowsUnder(mdl.Owner(1))
		s.must("ALTER TABLE t DROP KEY ka, DROP KEY uid")
	}
	s.must("ALTER TABLE t ADD KEY ka (a) INCLUDE (b)")
	close(stop)
	wg.Wait()
	s.rows("t")
	s.wantClean()
}

// rowsUnder checks the indexes while writers wait.
func (s *server) rowsUnder(o mdl.Owner) {
	key := mdl.Key("d", "t")
	if err := s.locks.Exclusive(context.Background(), o, key, time.Minute); err != nil {
		s.t.Fatal(err)
	}
	defer s.locks.ReleaseExclusive(o, key)
	s.rows("t")
}

// write inserts, updates or deletes one row, as a session does.
func (s *server) write(o mdl.Owner, id, v int64) error {
	ctx := context.Background()
	key := mdl.Key("d", "t")
	if err := s.locks.Shared(ctx, o, key, time.Minute); err != nil {
		return err
	}
	defer s.locks.ReleaseShared(o, key)
	t, _ := s.cat.Snapshot().Table("d", "t")
	codec, err := table.NewCodec(t, decode.AddedDefault)
	if err != nil {
		return err
	}
	for {
		err := writeRow(ctx, s.store, codec, id, v)
		if !errors.Is(err, storage.ErrDeadlock) && !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
}

func writeRow(ctx context.Context, store storage.Store, codec *table.Codec, id, v int64) error {
	txn, err := store.Begin(ctx, storage.TxnOptions{})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	row := []value.Datum{value.Int(id), value.Int(v % 7), value.Int(v)}
	k := codec.AppendKey(nil, row)
	locked, err := txn.Lock(ctx, [][]byte{k}, storage.LockOptions{})
	if err != nil {
		return err
	}
	w := codec.NewWriter(txn, store.Caps())
	if locked[0].Value == nil {
		_, err = w.Insert(ctx, row)
	} else {
		old := make([]value.Datum, len(row))
		if err := codec.NewRowReader().Decode(k, locked[0].Value, old); err != nil {
			return err
		}
		if v%3 == 0 {
			err = w.Delete(ctx, old)
		} else {
			err = w.Update(ctx, old, row)
		}
	}
	if err != nil {
		return err
	}
	_, err = txn.Commit(ctx)
	return err
}

func TestDropWaitsForUsers(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY)")
	key := mdl.Key("d", "t")
	if err := s.locks.Shared(context.Background(), 9, key, time.Second); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	waiting := make(chan struct{}, 100)
	go func() {
		st, err := s.pool.Parse("DROP TABLE t", s.mode)
		if err != nil {
			done <- err
			return
		}
		stmt, err := bind.Bind(&bind.Env{Catalog: s.cat.Snapshot(), Database: "d"}, st)
		if err != nil {
			done <- err
			return
		}
		env := s.env()
		env.SetState = func(state string) { waiting <- struct{}{} }
		_, err = s.r.Run(context.Background(), stmt, env)
		done <- err
	}()
	<-waiting
	s.table("t")
	s.locks.ReleaseShared(9, key)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, ok := s.cat.Snapshot().Table("d", "t"); ok {
		t.Error("the table is still there")
	}
}
