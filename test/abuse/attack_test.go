package abuse

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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

// attack runs a on connections of its own.
func (v *victim) attack(a attack) outcome {
	conns, runs := max(a.conns, 1), a.runs
	if runs == 0 {
		runs = 500 * time.Millisecond
	}
	db, admin := v.connect("abuse"), v.connect("")
	defer db.Close()
	out := outcome{errs: map[string]int{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range conns {
		wg.Go(func() {
			o, err := v.one(db, admin, a, runs)
			mu.Lock()
			defer mu.Unlock()
			out.slow = max(out.slow, o.slow)
			out.killed += o.killed
			if err != nil {
				out.errs[shortError(err)]++
			}
		})
	}
	wg.Wait()
	return out
}

func shortError(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("%d %.60s", e.Number, e.Message)
	}
	return fmt.Sprintf("%.90s", err.Error())
}

// one runs an attack on one connection.
func (v *victim) one(db, admin *sql.DB, a attack, runs time.Duration) (o outcome, err error) {
	ctx := v.t.Context()
	conn, err := db.Conn(ctx)
	if err != nil {
		return o, fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	var id int64
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return o, fmt.Errorf("connecting: %w", err)
	}
	killed, slow := v.killAfter(id, admin, runs, func() {
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
// connection until it has: slow is the time from the first KILL to the end.
func (v *victim) killAfter(id int64, admin *sql.DB, runs time.Duration, task func()) (killed bool, slow time.Duration) {
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
