package damage

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/testflag"
)

var keep = flag.String("damage.keep", "", "directory for a copy of each directory with which TestRandom fails, as it is when it was damaged")

// TestRandom damages a file or two of a directory, in a way and at a place that the
// seed chooses; in some rounds while a server runs.
func TestRandom(t *testing.T) {
	testflag.Normal(t)
	seed := testflag.AnySeed(t)
	rounds := testflag.Rounds(1, 2, 70)
	states := makeStates(t)
	for n := seed; n < seed+uint64(rounds); n++ {
		t.Run(fmt.Sprintf("seed=%d", n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(n, 1))
			s := states[rng.IntN(len(states))]
			dir := t.TempDir()
			copyDir(t, dir, s.dir)
			r := &round{t: t, state: s, dir: dir, rng: rng}
			kept := filepath.Join(*keep, fmt.Sprint(n))
			live := rng.IntN(3) == 0
			spoil := func() {
				d := &damager{rng: rng, dir: dir, older: s.older, files: filesOf(t, dir)}
				if live { // files of search indexes are mapped, and checked when they are opened
					maps.DeleteFunc(d.files, func(kind string, _ []string) bool { return kind == "zap" || kind == "bolt" })
				}
				for range 1 + rng.IntN(6)/5 {
					d.choose(t, &r.bad)
				}
				t.Logf("%s: %s", s.name, strings.Join(r.bad.what, "; "))
				if *keep != "" {
					copyDir(t, kept, dir)
				}
			}
			if live {
				t.Log("while a server runs")
				r.serve(spoil)
			} else {
				spoil()
			}
			r.run()
			if *keep != "" && !t.Failed() {
				_ = os.RemoveAll(kept) // one too many
			}
		})
	}
}

// round is a damaged directory under test.
type round struct {
	t     *testing.T
	state *state
	dir   string
	bad   damaged
	rng   *rand.Rand
	extra int  // rows of the table extra that were added
	met   bool // an error has named the damage
}

// run starts a server on the directory, twice, and has it checked: before, or after.
func (r *round) run() {
	first := r.rng.IntN(2) == 0
	clean := true
	if first {
		clean = r.check()
	}
	for range 2 {
		if !r.serve(nil) {
			break
		}
	}
	if !first {
		clean = r.check()
	}
	if r.met && clean {
		r.t.Errorf("the check found nothing")
	}
}

// names reports whether a text has the name of a damaged file.
func (r *round) names(text string) bool {
	for _, name := range r.bad.names {
		if strings.HasPrefix(name, "marker.") { // one that is gone is named by its beginning
			name = strings.Join(strings.SplitN(name, ".", 3)[:2], ".")
		}
		// A segment in the place of another contradicts root.bolt.
		if strings.Contains(text, name) || strings.HasSuffix(name, ".zap") && strings.Contains(text, "root.bolt") {
			return true
		}
	}
	return false
}

// unknown reports whether the end of a log and LOGS are both damaged: what was lost
// cannot be known then.
func (r *round) unknown() bool {
	isLog := func(name string) bool { return strings.HasSuffix(name, ".log") }
	return slices.ContainsFunc(r.bad.names, isLog) && slices.Contains(r.bad.names, "LOGS")
}

// isOlder reports whether a file was replaced by an older one. LOGS of the same manifest
// cannot be known to be that, as after a loss of power.
func (r *round) isOlder(name string) bool {
	return slices.ContainsFunc(r.bad.what, func(what string) bool { return strings.HasPrefix(what, name+": older copy") })
}

// check looks at the directory as "sqlots check" does; true if it found nothing.
func (r *round) check() bool {
	text, ok := checked(r.t, r.dir)
	r.noPanic(text)
	if !ok && !r.names(text) {
		r.t.Errorf("the check does not name the file:\n%.3000s", text)
	}
	r.t.Logf("check %v: %.1000s", ok, r.short(text))
	return ok
}

func (r *round) short(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, r.dir, "DIR"))
}

func (r *round) noPanic(text string) {
	if strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") {
		r.t.Errorf("a panic:\n%.5000s", text)
	}
}

// serve starts a server, compares its answers, has it write, and ends it; spoil is
// called among the queries. It is false where the server does not start.
func (r *round) serve(spoil func()) bool {
	began := time.Now()
	child, err := childserver.Try(r.t, r.dir)
	if took := time.Since(began); took > bound {
		r.t.Errorf("the start took %v", took)
	}
	if err != nil {
		r.noPanic(err.Error())
		r.met = true
		if !r.names(err.Error()) {
			r.t.Errorf("the start does not name the file: %v", err)
		}
		r.t.Logf("refused: %s", r.short(err.Error()))
		return false
	}
	c := connect(r.t, child)
	if r.unknown() && (strings.Contains(child.Log.String(), "LOGS") || r.isOlder("LOGS")) {
		r.t.Log("the end of a log and what says where it was are damaged, and the start says what can be known of it")
		_ = c.Close() // nothing is open
		child.Kill()
		return false
	}
	for pass := range 2 { // reads that are repeated have images made
		if pass == 1 && spoil != nil {
			spoil()
		}
		for _, i := range r.rng.Perm(len(queries)) {
			got, err := c.ask(queries[i].text)
			if err == nil && got != r.state.want[i] {
				r.t.Errorf("%s: %q, want %q\n%.3000s", queries[i].text, got, r.state.want[i], child.Log)
			}
			r.allowed(c, queries[i].text, err)
		}
	}
	r.write(c)
	if got, err := c.ask("SELECT COUNT(*) FROM f.extra"); err == nil && got != fmt.Sprint(r.state.extra+r.extra) {
		r.t.Errorf("extra has %s rows, want %d", got, r.state.extra+r.extra)
	} else {
		r.allowed(c, "extra", err)
	}
	if err := c.Ping(); err != nil {
		r.t.Errorf("the server has ended: %v\n%.5000s", err, child.Log)
	}
	_ = c.Close() // nothing is open
	if r.rng.IntN(2) == 0 {
		child.Kill()
	} else if err := child.Stop(); err != nil {
		r.t.Errorf("the server did not stop: %v\n%.5000s", err, child.Log)
	}
	r.noPanic(child.Log.String())
	return true
}

// allowed looks at an error of a statement: it is damage, and names the file.
func (r *round) allowed(c *client, query string, err error) {
	if err == nil {
		return
	}
	r.met = true
	var number *mysql.MySQLError
	switch log := c.child.Log.String(); {
	case !errors.As(err, &number) || number.Number != 1194:
		r.t.Errorf("%s: %v\n%.5000s", query, err, log)
	case !r.names(err.Error()) && !r.names(log):
		r.t.Errorf("%s: the file is not named: %v\n%.3000s", query, err, log)
	}
}

// write changes rows and takes that back, and adds a row for good.
func (r *round) write(c *client) {
	for _, change := range []string{
		"UPDATE f.loaded SET k = k + 1 WHERE id < 500", "UPDATE f.large SET v = CONCAT(v, 'x') WHERE id < 50",
		"UPDATE f.changed SET n = n + 1 WHERE id > 100 ORDER BY n DESC", "INSERT INTO f.searched VALUES (1000, 1, 'word1')", "DELETE FROM f.logged",
	} {
		r.statement(c, "START TRANSACTION")
		r.statement(c, change)
		r.statement(c, "ROLLBACK")
	}
	if r.statement(c, fmt.Sprintf("INSERT INTO f.extra VALUES (%d)", r.state.extra+r.extra)) {
		r.extra++
	}
}

func (r *round) statement(c *client, text string) bool {
	_, err := c.Exec(text)
	r.allowed(c, text, err)
	return err == nil
}
