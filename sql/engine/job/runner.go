package job

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// FirstID is below the ids of all jobs and above those of all connections.
const FirstID = 1 << 60

// Runner runs jobs. Its methods may be called concurrently.
type Runner struct {
	log  *slog.Logger
	ctx  context.Context
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	last    uint64
	stopped bool
	jobs    map[uint64]*Job

	failedMu sync.Mutex
	failed   map[string]int64 // turns that failed by the name of the job, also of those that are gone
}

// New makes a runner without jobs.
func New(log *slog.Logger) *Runner {
	r := &Runner{log: log, jobs: map[uint64]*Job{}, last: FirstID, failed: map[string]int64{}}
	r.ctx, r.stop = context.WithCancelCause(context.Background())
	return r
}

// Start runs a job in a goroutine of its own until run returns. run has to return
// soon after its context is done. After Stop it is not called.
func (r *Runner) Start(name string, run func(ctx context.Context, j *Job)) {
	j := r.add(name)
	if j == nil {
		return
	}
	r.wg.Go(func() {
		guard.Do(r.log, name, func() {
			defer r.remove(j)
			run(r.ctx, j)
		})
	})
}

// Every starts a job that does a turn in each period, the first after one. An
// error is logged.
func (r *Runner) Every(name string, period time.Duration, turn func(ctx context.Context, now time.Time) error) {
	r.Start(name, func(ctx context.Context, j *Job) {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				err := j.Turn(ctx, func(ctx context.Context) error { return turn(ctx, now) })
				if err != nil && ctx.Err() == nil {
					r.log.Error(name, "event", "job.failed", "error", err)
				}
			}
		}
	})
}

// Run is a job of one turn in the goroutine of the caller, such as a backup.
func (r *Runner) Run(ctx context.Context, name string, turn func(ctx context.Context) error) error {
	j := r.add(name)
	if j == nil {
		return sqlerr.ServerShutdown()
	}
	defer r.remove(j)
	return j.Turn(ctx, turn)
}

// Stop ends all jobs and waits for them.
func (r *Runner) Stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.stop(sqlerr.ServerShutdown())
	r.wg.Wait()
}

// Kill ends the turn of a job with error 1317; false if there is no such job.
func (r *Runner) Kill(id uint64) bool {
	r.mu.Lock()
	j := r.jobs[id]
	r.mu.Unlock()
	if j != nil {
		j.kill()
	}
	return j != nil
}

// maxFailed bounds the names whose failures are kept.
const maxFailed = 1000

func (r *Runner) noteFailure(name string) {
	r.failedMu.Lock()
	defer r.failedMu.Unlock()
	if _, ok := r.failed[name]; !ok && len(r.failed) >= maxFailed {
		name = ""
	}
	r.failed[name]++
}

// Failures are how many turns have failed since the start, by the kind of the name of
// their job.
func (r *Runner) Failures(kind func(name string) string) map[string]int64 {
	out := map[string]int64{}
	r.failedMu.Lock()
	defer r.failedMu.Unlock()
	for name, n := range r.failed {
		out[kind(name)] += n
	}
	return out
}

// List describes the jobs in the order in which they began.
func (r *Runner) List() []Info {
	r.mu.Lock()
	list := make([]*Job, 0, len(r.jobs))
	for _, j := range r.jobs {
		list = append(list, j)
	}
	r.mu.Unlock()
	out := make([]Info, len(list))
	for i, j := range list {
		out[i] = j.describe()
	}
	slices.SortFunc(out, func(a, b Info) int { return int(a.ID) - int(b.ID) })
	return out
}

func (r *Runner) add(name string) *Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	r.last++
	j := &Job{log: r.log, failed: r.noteFailure, info: Info{ID: r.last, Name: name, Started: time.Now()}}
	r.jobs[j.info.ID] = j
	return j
}

func (r *Runner) remove(j *Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, j.info.ID)
}
