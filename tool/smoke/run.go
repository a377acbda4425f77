package smoke

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Options shape a run.
type Options struct {
	// For is how long transfers are made; they end with the context, too.
	For time.Duration
	// Turn is how long one server makes them: then it stops, and a new one, which has
	// nothing but the store, is checked and goes on.
	Turn time.Duration
	// Workers are the connections that make transfers.
	Workers int
	// Patience is how long a server may take to start, and a check to be made, while the
	// store does not answer.
	Patience time.Duration
	// Start starts a server on the store, with an empty directory. The user of the
	// address is root.
	Start func(ctx context.Context) (addr string, stop func(), err error)
	// Out gets a line a second, and the findings.
	Out io.Writer
}

// ErrLost is the error of a run in which the store has lost something, or has what it
// should not have.
var ErrLost = errors.New("the store is not what it should be")

// runner is a run.
type runner struct {
	Options
	bank  *Bank
	began time.Time
	lost  bool
}

// Run makes transfers and checks them. It fails with ErrLost when a check finds something.
func Run(ctx context.Context, o Options) error {
	r := &runner{Options: o, bank: &Bank{Database: "sqlots_smoke"}, began: time.Now()}
	var work context.Context // begins when the first server is there
	cancel := func() {}
	defer func() { cancel() }()
	before := func(db *sql.DB) error {
		work, cancel = context.WithTimeout(ctx, o.For)
		return r.bank.Create(ctx, db)
	}
	for work == nil || work.Err() == nil && !r.lost {
		if err := r.serve(ctx, func(db *sql.DB) error {
			if err := before(db); err != nil {
				return err
			}
			return r.turn(work, db)
		}); err != nil {
			return err
		}
		before = r.check
	}
	// The last check also comes after an interrupt.
	return r.serve(context.WithoutCancel(ctx), r.end)
}

// serve runs a server, with which fn works.
func (r *runner) serve(ctx context.Context, fn func(db *sql.DB) error) error {
	var addr string
	var stop func()
	err := r.retry(ctx, func() (err error) {
		addr, stop, err = r.Start(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer stop()
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr, config.Logger = "root", "tcp", addr, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return fn(db)
}

// retry calls fn until it succeeds, or the patience is over.
func (r *runner) retry(ctx context.Context, fn func() error) error {
	until := time.Now().Add(r.Patience)
	for {
		err := fn()
		if err == nil || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		r.say("%v; trying again", err)
		pause(ctx, time.Second)
	}
}

func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.Out, "%6.0f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// turn makes transfers on one server, and says every second how they go.
func (r *runner) turn(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, r.Turn)
	defer cancel()
	db.SetMaxIdleConns(r.Workers)
	var all sync.WaitGroup
	all.Go(func() { r.bank.Run(ctx, db, r.Workers) })
	for before := r.bank.Stats(); ctx.Err() == nil; {
		pause(ctx, time.Second)
		findings, err := r.bank.CheckSum(ctx, db)
		r.found(findings)
		now := r.bank.Stats()
		line := fmt.Sprintf("%d transfers acknowledged, %d refused, %d unknown", now.Acknowledged-before.Acknowledged, now.Refused-before.Refused, now.Unknown-before.Unknown)
		if err != nil && ctx.Err() == nil {
			line += "; the money could not be counted: " + textOf(err)
		}
		r.say("%s", line)
		before = now
	}
	all.Wait()
	return nil
}

// check compares all that the store has with what was acknowledged.
func (r *runner) check(db *sql.DB) error {
	ctx := context.Background()
	err := r.retry(ctx, func() error {
		findings, err := r.bank.Check(ctx, db)
		r.found(findings)
		return err
	})
	if err != nil {
		return fmt.Errorf("the check could not be made: %w", err)
	}
	if !r.lost {
		r.say("a new server has all of %d acknowledged transfers", r.bank.Stats().Acknowledged)
	}
	return nil
}

func (r *runner) found(findings []string) {
	for _, f := range findings {
		r.lost = true
		r.say("FOUND: %s", f)
	}
}

// end checks for the last time, and removes the database unless something was found.
func (r *runner) end(db *sql.DB) error {
	if err := r.check(db); err != nil {
		return err
	}
	s := r.bank.Stats()
	fmt.Fprintf(r.Out, "\n%d transfers acknowledged, %d refused, %d unknown; the longest time without one was %.1f s\n", s.Acknowledged, s.Refused, s.Unknown, s.Longest.Seconds())
	if len(s.Errors) > 0 {
		var list []string
		for _, text := range slices.Sorted(maps.Keys(s.Errors)) {
			list = append(list, fmt.Sprintf("%s: %d", text, s.Errors[text]))
		}
		fmt.Fprintf(r.Out, "what clients saw: %s\n", strings.Join(list, ", "))
	}
	if r.lost {
		fmt.Fprintf(r.Out, "LOST: see FOUND above. The database %s stays.\n", r.bank.Database)
		return ErrLost
	}
	fmt.Fprintln(r.Out, "nothing was lost")
	_, err := db.Exec("DROP DATABASE " + r.bank.Database)
	return err
}
