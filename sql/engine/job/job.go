package job

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Job is work in the background.
type Job struct {
	log    *slog.Logger
	failed func(name string)

	mu     sync.Mutex
	info   Info
	cancel context.CancelCauseFunc // of the turn, nil between turns
}

// Info describes a job.
type Info struct {
	ID      uint64
	Name    string
	Started time.Time
	// Running is when the turn began that runs, zero between turns.
	Running time.Time
	// Turns are those that have begun, Failed those that ended with an error.
	Turns, Failed uint64
	// Succeeded is when the last turn without an error ended, zero for none.
	Succeeded time.Time
	// Error is that of the last turn that failed.
	Error string
}

// Turn does a unit of work. A panic in it is an error, which is logged with its
// stack. Turns of one job do not overlap.
func (j *Job) Turn(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j.begin(cancel)
	err := guard.Run(func() error { return work(ctx) })
	guard.Log(j.log, j.info.Name, err)
	j.end(err)
	return err
}

func (j *Job) begin(cancel context.CancelCauseFunc) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancel = cancel
	j.info.Turns++
	j.info.Running = time.Now()
}

func (j *Job) end(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancel, j.info.Running = nil, time.Time{}
	if err != nil {
		j.info.Failed++
		j.info.Error = err.Error()
		j.failed(j.info.Name)
		return
	}
	j.info.Succeeded = time.Now()
}

func (j *Job) kill() {
	j.mu.Lock()
	cancel := j.cancel
	j.mu.Unlock()
	if cancel != nil {
		cancel(sqlerr.QueryInterrupted())
	}
}

func (j *Job) describe() Info {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.info
}
