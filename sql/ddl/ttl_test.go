package ddl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

// engines open a store, again when it has been closed.
var engines = map[string]func(t *testing.T) (open func() storage.Store){
	"memkv": func(*testing.T) func() storage.Store {
		store := memkv.New(memkv.Options{})
		return func() storage.Store { return store }
	},
	"pebblekv": func(t *testing.T) func() storage.Store {
		dir := t.TempDir()
		var last *pebblekv.Store
		t.Cleanup(func() { _ = last.Close() })
		return func() storage.Store {
			if last != nil {
				_ = last.Close() // the server has crashed
			}
			var err error
			if last, err = pebblekv.Open(pebblekv.Options{Dir: dir, CacheBytes: 8 << 20, MemTableBytes: 1 << 20}); err != nil {
				t.Fatal(err)
			}
			return last
		}
	},
}

// expiring is a server with a table t of ten rows that expire within an hour of
// the returned time, and ten that do not, with different values of a.
func expiring(t *testing.T, store storage.Store) (*server, time.Time) {
	t.Helper()
	s := &server{t: t, store: store, pool: parser.NewPool(), mode: types.DefaultSQLMode}
	s.open()
	s.must("CREATE DATABASE d")
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, at DATETIME) TTL = at + INTERVAL 1 HOUR")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 20 {
		when := "NULL"
		if i%2 == 0 {
			when = at.Format(time.DateTime)
		}
		s.insert("t", fmt.Sprintf("%d,%d,%s", i, i, when))
	}
	return s, at
}

// TestExpireDuringBuild: a row that expires while a unique index is built makes
// way for one that is written then, at whatever step.
func TestExpireDuringBuild(t *testing.T) {
	steps := []string{"building", "backfill chunk", "filled", "merged"}
	done := map[string]bool{}
	for n := 0; ; n++ {
		s, at := expiring(t, memkv.New(memkv.Options{}))
		s.r.now = func() time.Time { return at }
		left, changed := n, false
		s.r.step = func(name string) {
			if left--; left >= 0 || changed || !slices.Contains(steps, name) {
				return
			}
			changed, done[name] = true, true
			s.r.now = func() time.Time { return at.Add(2 * time.Hour) }
			for i := range 10 {
				s.insert("t", fmt.Sprintf("%d,%d,NULL", 100+i, 2*i))
			}
		}
		s.must("ALTER TABLE t ADD UNIQUE KEY ua (a), COMMENT 'new'")
		if !changed {
			break
		}
		if rows := s.rows("t"); strings.Count(rows, ";") != 19 || !strings.HasPrefix(rows, "1,1,NULL;3,3,NULL") {
			t.Errorf("change at step %d leaves %s", n, rows)
		}
		s.wantClean()
	}
	if len(done) != len(steps) {
		t.Errorf("rows were changed at %v", done)
	}
}

// TestCrashesExpired: a server that dies while expired rows make way finds all
// rows that live, and the change can be made or goes on.
func TestCrashesExpired(t *testing.T) {
	testflag.Normal(t)
	for name, engine := range engines {
		for _, sql := range []string{
			"ALTER TABLE t ADD UNIQUE KEY ua (a)",
			"ALTER TABLE t ADD UNIQUE KEY ua (a), MODIFY id BIGINT UNSIGNED",
			"ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a)",
		} {
			t.Run(name+"/"+sql, func(t *testing.T) {
				for n, crashed := 0, true; crashed; n++ {
					crashed = crashExpired(t, engine(t), sql, n)
				}
			})
		}
	}
}

func crashExpired(t *testing.T, open func() storage.Store, sql string, n int) (crashed bool) {
	t.Helper()
	s, _ := expiring(t, open())
	for i := range 10 {
		s.insert("t", fmt.Sprintf("%d,%d,NULL", 100+i, 2*i))
	}
	crashed = s.runUntil(sql, n)
	s.store = open()
	s.resume(noCrash)
	s.wantClean()
	after := s.describe("t")
	if !strings.Contains(after, "`ua`") && !strings.Contains(after, "PRIMARY KEY (`a`)") {
		s.must(sql)
		after = s.describe("t")
		s.wantClean()
	}
	rows := after[strings.LastIndexByte(after, '\n')+1:]
	if strings.Count(rows, ";") != 19 || strings.Contains(rows, "2026") {
		t.Errorf("crash at step %d leaves\n%s", n, after)
	}
	return crashed
}
