package abuse

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// attack is statements that several connections run at once.
type attack struct {
	name  string
	conns int
	// before runs once on each connection.
	before []string
	text   string
	// runs is how long it may run before it is killed, half a second if 0.
	runs time.Duration
}

// outcome is what became of an attack.
type outcome struct {
	errs   map[string]int
	killed int
	slow   time.Duration // the longest time from KILL to the end
}

// attack runs a on connections of its own, in a process of its own: attackers are other
// machines in life, and are not to take the processors of the server and of the other
// client.
func (v *victim) attack(a attack) outcome {
	v.t.Helper()
	var in bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(order{Addr: v.c.Addr, Conns: max(a.conns, 1), Before: a.before, Text: a.text, Runs: a.runs}); err != nil {
		v.t.Fatal(err)
	}
	cmd := exec.CommandContext(v.t.Context(), "nice", "-n", "19", os.Args[0])
	cmd.Env = append(os.Environ(), attackerVariable+"=1")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("%s: the attacker: %v", a.name, err)
	}
	var r report
	if err := gob.NewDecoder(bytes.NewReader(out)).Decode(&r); err != nil {
		v.t.Fatalf("%s: the attacker has written %q", a.name, out)
	}
	return outcome{errs: r.Errs, killed: r.Killed, slow: r.Slow}
}

// attackerVariable is set in the environment of a process that attacks.
const attackerVariable = "SQLOTS_ATTACKER"

// order is what an attacker reads, report what it writes, both as gob: texts are any bytes.
type order struct {
	Addr   string
	Conns  int
	Before []string
	Text   string
	Runs   time.Duration
}

type report struct {
	Errs   map[string]int
	Killed int
	Slow   time.Duration
}

// attackAsOrdered is the life of an attacker.
func attackAsOrdered() error {
	var o order
	if err := gob.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	db, err := open(o.Addr, "abuse")
	if err != nil {
		return err
	}
	admin, err := open(o.Addr, "")
	if err != nil {
		return err
	}
	a := attack{before: o.Before, text: o.Text}
	runs := o.Runs
	if runs == 0 {
		runs = 500 * time.Millisecond
	}
	out := report{Errs: map[string]int{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range o.Conns {
		wg.Go(func() {
			o, err := one(context.Background(), db, admin, a, runs)
			mu.Lock()
			defer mu.Unlock()
			out.Slow = max(out.Slow, o.slow)
			out.Killed += o.killed
			if err != nil {
				out.Errs[shortError(err)]++
			}
		})
	}
	wg.Wait()
	return gob.NewEncoder(os.Stdout).Encode(out)
}

func shortError(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("%d %.60s", e.Number, e.Message)
	}
	return fmt.Sprintf("%.90s", err.Error())
}

// one runs an attack on one connection.
func one(ctx context.Context, db, admin *sql.DB, a attack, runs time.Duration) (o outcome, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return o, fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	var id int64
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return o, fmt.Errorf("connecting: %w", err)
	}
	killed, slow := killAfter(id, admin, runs, func() {
		for _, text := range append(append([]string{}, a.before...), a.text) {
			if err = drain(ctx, conn, text); err != nil {
				break
			}
		}
	})
	if killed {
		o.killed, o.slow = 1, slow
	}
	return o, err
}

// killAfter calls task and, if it has not returned after runs, sends KILL QUERY for a
// connection until it has: slow is the time from the first KILL to the end. A statement
// that is still on its way is not killed.
func killAfter(id int64, admin *sql.DB, runs time.Duration, task func()) (killed bool, slow time.Duration) {
	ended, watched := make(chan struct{}), make(chan time.Time, 1)
	go func() {
		timer := time.NewTimer(runs)
		defer timer.Stop()
		select {
		case <-ended:
			watched <- time.Time{}
			return
		case <-timer.C:
		}
		for onItsWay(id, admin) {
			select {
			case <-ended:
				watched <- time.Time{}
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		first := time.Now()
		defer func() { watched <- first }()
		for {
			_, _ = admin.ExecContext(context.Background(), fmt.Sprint("KILL QUERY ", id))
			select {
			case <-ended:
				return
			case <-time.After(50 * time.Millisecond): // the next of several statements
			}
		}
	}()
	task()
	end := time.Now()
	close(ended)
	if first := <-watched; !first.IsZero() {
		return true, end.Sub(first)
	}
	return false, 0
}

// onItsWay reports that a connection runs no statement.
func onItsWay(id int64, admin *sql.DB) bool {
	var command string
	err := admin.QueryRowContext(context.Background(), fmt.Sprint("SELECT COMMAND FROM information_schema.PROCESSLIST WHERE ID = ", id)).Scan(&command)
	return err == nil && command == "Sleep"
}

// drain runs a statement and reads its rows away.
func drain(ctx context.Context, conn *sql.Conn, text string) error {
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		for rows.Next() {
		}
		if !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

// check runs an attack and looks at the invariants.
func (v *victim) check(t *testing.T, a attack) {
	t.Helper()
	v.report()
	o := v.attack(a)
	peak, p99, err := v.report()
	t.Logf("%-40s peak %4d MiB, others %7.1f ms, killed %d, after %6.1f ms, %v", a.name, peak>>20, float64(p99.Microseconds())/1000, o.killed, float64(o.slow.Microseconds())/1000, o.errs)
	if err != nil {
		t.Errorf("%s: %v", a.name, err)
	}
	if peak > mostResident() {
		t.Errorf("%s: %d MiB are resident", a.name, peak>>20)
	}
	if o.slow > mostKill() {
		t.Errorf("%s: it ended %v after KILL", a.name, o.slow)
	}
	if p99 > mostOther() {
		t.Errorf("%s: others took %v", a.name, p99)
	}
	for e := range o.errs {
		if isFault(e) {
			t.Errorf("%s: %s", a.name, e)
		}
	}
	if v.c.Memory("VmRSS") == 0 {
		t.Fatalf("%s: the server has ended\n%s", a.name, tail(v.c.Log.String()))
	}
}

func tail(s string) string { return s[max(0, len(s)-3000):] }
