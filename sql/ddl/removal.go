package ddl

import (
	"context"
	"errors"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/storage"
)

// The data that a change leaves is removed by a job in the background. It may take long,
// and the statement has succeeded before: KILL ends the statement, not the removal.

// Turn does a unit of work of a job, which KILL of the job ends.
type Turn func(ctx context.Context, work func(ctx context.Context) error) error

const (
	// removalPatience is how long a statement waits for the removal of what it leaves.
	removalPatience = 5 * time.Second
	// removalPause and longestPause bound the pause after a turn that failed.
	removalPause = time.Second
	longestPause = time.Minute
	// removalLock is how long a job waits for a table before it lets others pass.
	removalLock = time.Second
	// firstRemover is below the owners of the locks of all jobs.
	firstRemover = 1 << 62
)

// removal is a job that has the locks of its change.
type removal struct {
	c    *change
	name string
	work func(ctx context.Context, c *change) error
}

// leave has a job do the work, with the locks that c holds. It returns when the job has
// ended, when ctx is done, or after removalPatience.
func (c *change) leave(ctx context.Context, name string, work func(ctx context.Context, c *change) error) {
	job := c.r.remover()
	c.handOver(job)
	timer := time.NewTimer(removalPatience)
	defer timer.Stop()
	select {
	case <-c.r.begin(removal{job, name, work}):
	case <-ctx.Done():
	case <-timer.C:
	case <-c.r.running.Done():
	}
}

// remover is a change without a session.
func (r *Runner) remover() *change {
	return r.change(&Env{Owner: mdl.Owner(firstRemover + r.removers.Add(1)), LockTimeout: removalLock})
}

// handOver gives all locks to another change. A session that has the table by LOCK TABLES,
// too, waits for that one before it goes on with it.
func (c *change) handOver(to *change) {
	for _, key := range c.held {
		c.r.Locks.HandOver(c.env.Owner, to.env.Owner, key)
	}
	to.held, c.held = c.held, nil
}

// begin starts a removal, which goes on until it succeeds or the server stops.
func (r *Runner) begin(m removal) (ended <-chan struct{}) {
	done := make(chan struct{})
	r.start(m.name, func(ctx context.Context, turn Turn) {
		defer close(done)
		defer m.c.release()
		r.repeat(ctx, m.name, turn, func(ctx context.Context) error { return m.work(storage.FreeingSpace(ctx), m.c) })
	})
	return done
}

// start runs a job.
func (r *Runner) start(name string, run func(ctx context.Context, turn Turn)) {
	if r.Start != nil {
		r.Start(name, run)
		return
	}
	turn := func(ctx context.Context, work func(ctx context.Context) error) error {
		err := guard.Run(func() error { return work(ctx) })
		guard.Log(r.Log, name, err)
		return err
	}
	r.background.Go(func() { guard.Do(r.Log, name, func() { run(r.running, turn) }) })
}

// repeat does the work in turns until one succeeds.
func (r *Runner) repeat(ctx context.Context, name string, turn Turn, work func(ctx context.Context) error) {
	for pause := removalPause; ; pause = min(2*pause, longestPause) {
		err := turn(ctx, work)
		if err == nil || ctx.Err() != nil || errors.Is(err, storage.ErrClosed) {
			return
		}
		r.Log.Error(name, "event", "job.failed", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// lockBetween is lock for one key, which lets others pass while it waits.
func (c *change) lockBetween(ctx context.Context, key string) error {
	for {
		if err := c.lock(ctx, key); !errors.Is(err, mdl.ErrTimeout) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(removalPause):
		}
	}
}

// ContinueRemovals starts the removals that Resume has found.
func (r *Runner) ContinueRemovals() {
	list := r.removals
	r.removals = nil
	for _, m := range list {
		r.begin(m)
	}
}
