package server_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// moment is a table at a time: its rows by key, and how often each row had
// changed by then.
type moment struct {
	at      string
	rows    map[string]int
	changes map[string]int
}

// The rows at any moment are those that were there, by every way to read them;
// or the answer is that they are not known, where rows changed too often.
func TestVersionsAgainstModel(t *testing.T) {
	testflag.Normal(t)
	t.Run("memory", func(t *testing.T) { testVersions(t, func(*server.Config) {}) })
	t.Run("disk", func(t *testing.T) {
		dir := t.TempDir()
		testVersions(t, func(c *server.Config) { c.InMemory, c.DataDir, c.Durability = false, dir, 2 })
	})
}

func testVersions(t *testing.T, change func(*server.Config)) {
	_, dsn := startServer(t, change)
	c := dial(t, dsn)
	const versions = 4
	c.exec(fmt.Sprintf(`CREATE TABLE t (a VARCHAR(8) COLLATE utf8mb4_0900_bin, b BIGINT, v INT, PRIMARY KEY (a, b DESC), KEY (v)) SECONDARY_ENGINE_ATTRIBUTE='{"max_versions": %d}'`, versions))
	r := rand.New(rand.NewPCG(3, 9))
	var keys []string
	for _, a := range []string{"''", "'a'", "'a\\0'", "'a\\0b'", "'b'", "'~~'"} {
		for _, b := range []string{"-9223372036854775808", "-1", "0", "9223372036854775807"} {
			keys = append(keys, a+", "+b)
		}
	}
	now := moment{rows: map[string]int{}, changes: map[string]int{}}
	var past []moment
	for range 150 {
		changed := map[string]bool{}
		c.exec("BEGIN")
		for range 1 + r.IntN(3) {
			key, v := keys[r.IntN(len(keys))], r.IntN(100)
			_, there := now.rows[key]
			where := fmt.Sprintf(" WHERE (a, b) = (%s)", key)
			switch {
			case !there:
				c.exec(fmt.Sprintf("INSERT INTO t VALUES (%s, %d)", key, v))
				now.rows[key] = v
			case r.IntN(3) == 0:
				c.exec("DELETE FROM t" + where)
				delete(now.rows, key)
			case r.IntN(4) == 0:
				to := keys[r.IntN(len(keys))]
				if _, taken := now.rows[to]; taken {
					continue
				}
				parts := strings.Split(to, ", ")
				c.exec(fmt.Sprintf("UPDATE t SET a = %s, b = %s%s", parts[0], parts[1], where))
				now.rows[to] = now.rows[key]
				delete(now.rows, key)
				changed[to] = true
			default:
				c.exec(fmt.Sprintf("UPDATE t SET v = %d%s", 1000+v, where))
				now.rows[key] = 1000 + v
			}
			changed[key] = true
		}
		c.exec("COMMIT")
		for key := range changed {
			now.changes[key]++
		}
		at, err := c.query("SELECT NOW(6)")
		if err != nil {
			t.Fatal(err)
		}
		past = append(past, moment{at, maps.Clone(now.rows), maps.Clone(now.changes)})
		time.Sleep(50 * time.Microsecond)
	}
	unknown := 0
	for range 600 {
		m := past[r.IntN(len(past))]
		if r.IntN(2) == 0 {
			m = past[len(past)-1-r.IntN(20)]
		}
		key := keys[r.IntN(len(keys))]
		first := strings.Split(key, ", ")[0]
		where, match := "", func(string) bool { return true }
		switch r.IntN(5) {
		case 0:
			where, match = fmt.Sprintf(" WHERE (a, b) = (%s)", key), func(k string) bool { return k == key }
		case 1:
			where, match = " WHERE a = "+first, func(k string) bool { return strings.HasPrefix(k, first+",") }
		case 2:
			where, match = " WHERE a > "+first, func(k string) bool { return slices.Index(keys, k)/4 > slices.Index(keys, key)/4 }
		case 3:
			where, match = fmt.Sprintf(" WHERE a = %s AND b <= 0", first), func(k string) bool {
				return strings.HasPrefix(k, first+",") && !strings.HasSuffix(k, "775807")
			}
		}
		var want []string
		known := true
		for _, k := range keys {
			if !match(k) {
				continue
			}
			known = known && now.changes[k]-m.changes[k] < versions
			if v, ok := m.rows[k]; ok {
				want = append(want, fmt.Sprint(v))
			}
		}
		slices.Sort(want)
		order := [...]string{"", " ORDER BY a, b DESC", " ORDER BY a DESC, b"}[r.IntN(3)]
		got, err := c.query(fmt.Sprintf("SELECT v FROM t AS OF TIMESTAMP '%s'%s%s", m.at, where, order))
		if errorNumber(err) == 8135 && !known {
			unknown++
			continue
		}
		if err != nil {
			t.Fatalf("at %s%s: %v", m.at, where, err)
		}
		list := strings.Split(got, "|")
		if got == "" {
			list = nil
		}
		slices.Sort(list)
		if fmt.Sprint(list) != fmt.Sprint(want) {
			t.Fatalf("at %s%s%s: %v, want %v (known: %v)", m.at, where, order, list, want, known)
		}
	}
	if unknown == 0 || unknown > 500 {
		t.Errorf("%d of 600 answers were not known: that tests little", unknown)
	}
	// No row has more versions than there may be.
	c.rows("0", fmt.Sprintf("SELECT COUNT(*) FROM (SELECT a, b FROM versions('t') GROUP BY a, b HAVING COUNT(*) > %d) x", versions))
}
