package session

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/loaddata"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

func TestMain(m *testing.M) { testflag.Main(m) }

// fkEngine is an engine over either store.
func fkEngine(t *testing.T, kind string) *engine.Engine {
	t.Helper()
	var store storage.Store = memkv.New(memkv.Options{})
	if kind == "pebblekv" {
		p, err := pebblekv.Open(pebblekv.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		store = p
	}
	e, err := engine.New(context.Background(), engine.Config{Store: store, CheckPlans: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func sessionOn(t *testing.T, e *engine.Engine, id uint64) *Session {
	t.Helper()
	s, err := New(context.Background(), sharedOf(t, e), mysqlwire.ConnInfo{ID: id, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func engines(t *testing.T, fn func(t *testing.T, e *engine.Engine)) {
	for _, kind := range []string{"memkv", "pebblekv"}[:testflag.Pick(1, 2, 2)] {
		t.Run(kind, func(t *testing.T) { t.Parallel(); fn(t, fkEngine(t, kind)) })
	}
}

// TestForeignKeyLocks: a parent that an open transaction refers to cannot be
// removed, and one that an open transaction removes cannot be referred to.
func TestForeignKeyLocks(t *testing.T) {
	testflag.Normal(t)
	engines(t, func(t *testing.T, e *engine.Engine) {
		a, b := sessionOn(t, e, 1), sessionOn(t, e, 2)
		for _, q := range []string{
			"CREATE DATABASE d", "CREATE TABLE d.p (id INT PRIMARY KEY, k INT, UNIQUE KEY (k))",
			"CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id))",
			"CREATE TABLE d.u (id INT PRIMARY KEY, k INT, FOREIGN KEY (k) REFERENCES d.p (k))",
			"INSERT INTO d.p VALUES (1,10)",
		} {
			a.mustQuery(t, q, &sink{})
		}
		// Each case has a parent of its own, so that all wait at the same time.
		var wg sync.WaitGroup
		for i, c := range []struct{ first, second string }{
			{"INSERT INTO d.c VALUES (ID,ID)", "DELETE FROM d.p WHERE id=ID"},
			{"INSERT INTO d.u VALUES (ID,KEY)", "DELETE FROM d.p WHERE id=ID"},
			{"INSERT INTO d.u VALUES (ID,KEY)", "UPDATE d.p SET k=OTHER WHERE id=ID"},
			{"DELETE FROM d.p WHERE id=ID", "INSERT INTO d.c VALUES (ID,ID)"},
			{"DELETE FROM d.p WHERE id=ID", "INSERT INTO d.u VALUES (ID,KEY)"},
			{"UPDATE d.p SET k=OTHER WHERE id=ID", "INSERT INTO d.u VALUES (ID,KEY)"},
			{"INSERT INTO d.p VALUES (NEW,OTHER)", "INSERT INTO d.c VALUES (ID,NEW)"},
			{"INSERT INTO d.p VALUES (NEW,OTHER)", "INSERT INTO d.u VALUES (ID,OTHER)"},
		} {
			id := 100 + i
			text := strings.NewReplacer("ID", strconv.Itoa(id), "KEY", strconv.Itoa(10*id), "OTHER", strconv.Itoa(10*id+1), "NEW", strconv.Itoa(10*id))
			a.mustQuery(t, text.Replace("INSERT INTO d.p VALUES (ID,KEY)"), &sink{})
			first, second := sessionOn(t, e, uint64(10*id)), sessionOn(t, e, uint64(10*id+1))
			second.mustQuery(t, "SET innodb_lock_wait_timeout=1", &sink{})
			first.mustQuery(t, "BEGIN", &sink{})
			first.mustQuery(t, text.Replace(c.first), &sink{})
			wg.Go(func() {
				if got := second.errorOf(text.Replace(c.second)); got != 1205 {
					t.Errorf("%s while %s is open: %d, want 1205", c.second, c.first, got)
				}
				first.mustQuery(t, "ROLLBACK", &sink{})
			})
		}
		wg.Wait()
		// Children of one parent do not wait for each other.
		a.mustQuery(t, "BEGIN", &sink{})
		a.mustQuery(t, "INSERT INTO d.c VALUES (1,1)", &sink{})
		b.mustQuery(t, "INSERT INTO d.c VALUES (2,1)", &sink{})
		a.mustQuery(t, "COMMIT", &sink{})
		// Nor does a change of the parent's other columns need its children.
		a.mustQuery(t, "UPDATE d.p SET k=12 WHERE id=1", &sink{})
	})
}

// TestNoOrphans: whatever transactions do at once, no row is left whose parent
// is gone.
func TestNoOrphans(t *testing.T) {
	engines(t, func(t *testing.T, e *engine.Engine) {
		s := sessionOn(t, e, 1)
		for _, q := range []string{
			"CREATE DATABASE d",
			"CREATE TABLE d.p (id INT PRIMARY KEY, k INT NOT NULL, UNIQUE KEY (k))",
			"CREATE TABLE d.restricted (id INT PRIMARY KEY AUTO_INCREMENT, p INT, FOREIGN KEY (p) REFERENCES d.p (id))",
			"CREATE TABLE d.cascaded (id INT PRIMARY KEY AUTO_INCREMENT, k INT, FOREIGN KEY (k) REFERENCES d.p (k) ON DELETE CASCADE ON UPDATE CASCADE)",
			"CREATE TABLE d.emptied (id INT PRIMARY KEY AUTO_INCREMENT, p INT, FOREIGN KEY (p) REFERENCES d.p (id) ON DELETE SET NULL ON UPDATE SET NULL)",
		} {
			s.mustQuery(t, q, &sink{})
		}
		var wg sync.WaitGroup
		stop := time.Now().Add(testflag.Pick(300*time.Millisecond, 1500*time.Millisecond, 1500*time.Millisecond))
		for w := range 4 {
			c := sessionOn(t, e, uint64(w+10))
			c.mustQuery(t, "SET innodb_lock_wait_timeout=1", &sink{})
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewSource(int64(w)))
				for time.Now().Before(stop) {
					workload(t, c, r)
				}
			}()
		}
		wg.Wait()
		for child, on := range map[string]string{"restricted": "c.p=p.id", "cascaded": "c.k=p.k", "emptied": "c.p=p.id"} {
			col := on[2:3]
			q := "SELECT COUNT(*) FROM d." + child + " c LEFT JOIN d.p p ON " + on + " WHERE c." + col + " IS NOT NULL AND p.id IS NULL"
			if got := s.rowsOf(t, q); got != "0" {
				t.Errorf("%s: %s orphans", child, got)
			}
			s.mustCheck(t, "d."+child)
		}
	})
}

// workload is a small random transaction.
func workload(t *testing.T, c *Session, r *rand.Rand) {
	explicit := r.Intn(2) == 0
	if explicit {
		c.mustQuery(t, "BEGIN", &sink{})
	}
	for range 1 + r.Intn(3) {
		id := r.Intn(8)
		q := ""
		switch r.Intn(8) {
		case 0, 1:
			q = fmt.Sprintf("INSERT INTO d.p VALUES (%d,%d)", id, id+100)
		case 2:
			q = fmt.Sprintf("DELETE FROM d.p WHERE id=%d", id)
		case 3:
			q = fmt.Sprintf("UPDATE d.p SET k=%d WHERE id=%d", 100+r.Intn(12), id)
		case 4:
			q = fmt.Sprintf("INSERT INTO d.restricted (p) VALUES (%d)", id)
		case 5:
			q = fmt.Sprintf("INSERT INTO d.cascaded (k) VALUES (%d)", 100+id)
		case 6:
			q = fmt.Sprintf("INSERT INTO d.emptied (p) VALUES (%d)", id)
		case 7:
			q = fmt.Sprintf("DELETE FROM d.restricted WHERE p=%d", id)
		}
		switch n := c.errorOf(q); n {
		case 0, 1062, 1451, 1452, 1205, 1761:
		case 1213:
			return // the transaction is gone
		default:
			t.Errorf("%s: %d", q, n)
		}
	}
	if explicit {
		end := "COMMIT"
		if r.Intn(4) == 0 {
			end = "ROLLBACK"
		}
		c.mustQuery(t, end, &sink{})
	}
}

// TestForeignKeyPlans: a plan that was made before a foreign key came or went is
// not used.
func TestForeignKeyPlans(t *testing.T) {
	testflag.Normal(t)
	s := testSession(t)
	for _, q := range []string{"CREATE DATABASE d", "USE d", "CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1),(2),(3),(4)", "DELETE FROM p WHERE id=4"} {
		s.mustQuery(t, q, &sink{})
	}
	s.mustQuery(t, "CREATE TABLE c (id INT PRIMARY KEY, p INT, CONSTRAINT k FOREIGN KEY (p) REFERENCES p (id))", &sink{})
	s.mustQuery(t, "INSERT INTO c VALUES (1,1),(2,2)", &sink{})
	if got := s.errorOf("DELETE FROM p WHERE id=1"); got != 1451 {
		t.Errorf("new foreign key: %d", got)
	}
	s.mustQuery(t, "SET foreign_key_checks=0", &sink{})
	s.mustQuery(t, "DELETE FROM p WHERE id=1", &sink{})
	s.mustQuery(t, "SET foreign_key_checks=1", &sink{})
	if got := s.errorOf("DELETE FROM p WHERE id=2"); got != 1451 {
		t.Errorf("checks again: %d", got)
	}
	s.mustQuery(t, "ALTER TABLE c DROP FOREIGN KEY k", &sink{})
	s.mustQuery(t, "DELETE FROM p WHERE id=2", &sink{})
	// LOCK TABLES of one side locks what the foreign keys need of the other.
	s.mustQuery(t, "DELETE FROM c", &sink{})
	s.mustQuery(t, "ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE", &sink{})
	s.mustQuery(t, "LOCK TABLES c WRITE", &sink{})
	s.mustQuery(t, "INSERT INTO c VALUES (3,3)", &sink{})
	s.mustQuery(t, "UNLOCK TABLES", &sink{})
	s.mustQuery(t, "LOCK TABLES p WRITE", &sink{})
	s.mustQuery(t, "DELETE FROM p", &sink{})
	s.mustQuery(t, "UNLOCK TABLES", &sink{})
	if got := s.rowsOf(t, "SELECT COUNT(*) FROM c"); got != "0" {
		t.Errorf("children: %s", got)
	}
	// Files do not go past foreign keys, whatever their size.
	var file strings.Builder
	for i := 0; file.Len() < 2*loaddata.BulkFrom; i++ {
		fmt.Fprintf(&file, "%d\t1\n", i)
	}
	if err := s.Query(t.Context(), "LOAD DATA LOCAL INFILE 'x' INTO TABLE c", &sink{file: []byte(file.String())}); err != nil {
		t.Fatal(err)
	}
	if got := s.rowsOf(t, "SELECT COUNT(*) FROM c"); got != "0" {
		t.Errorf("loaded children without parents: %s", got)
	}
}
