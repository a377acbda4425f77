package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// plan says how long each measurement takes.
type plan struct {
	duration, warmup time.Duration
	ops              int64 // if > 0: stop after so many operations instead
}

// measurement is the outcome of one workload over some connections.
type measurement struct {
	Target   string  `json:"target"`
	Workload string  `json:"workload"`
	Conns    int     `json:"conns"`
	Round    int     `json:"round"`
	Ops      int64   `json:"ops"`
	Rows     int64   `json:"rows"`
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"ops_per_second"`
	MeanUs   float64 `json:"mean_us"`
	P50Us    int64   `json:"p50_us"`
	P99Us    int64   `json:"p99_us"`
	MaxUs    int64   `json:"max_us"`
	Errors   int64   `json:"errors"`
	// FirstError is one of them.
	FirstError string `json:"first_error,omitempty"`
	// ServerCPU and ClientCPU are microseconds for each operation; the
	// server's is 0 when its process is not known.
	ServerCPU float64 `json:"server_cpu_us_per_op,omitempty"`
	ClientCPU float64 `json:"client_cpu_us_per_op"`
}

// measure runs one workload on a target. The error is non-nil when a
// connection broke; errors of single operations are counted.
func measure(ctx context.Context, t *target, w *world, wl *workload, conns int, p plan, st *state) (m measurement, err error) {
	workers := make([]*worker, conns)
	defer func() {
		for _, k := range workers {
			if k != nil {
				_ = k.cl.close()
			}
		}
	}()
	for i := range workers {
		cl, err := dial(ctx, t)
		if err != nil {
			return m, err
		}
		workers[i] = &worker{
			w: w, wl: wl, cl: cl, rnd: newRandom(w.Seed, wl.name, i),
			nextRow: &st.nextRow, pristine: st.pristine && !wl.writes,
		}
		if err := errors.Join(cl.setDeadline(time.Now().Add(p.warmup+p.duration+2*maxLatency)), workers[i].prepare()); err != nil {
			return m, err
		}
	}
	if p.warmup > 0 {
		if err := runWorkers(ctx, workers, p.warmup, nil); err != nil {
			return m, err
		}
	}
	for _, k := range workers {
		k.hist, k.errors, k.err = newHistogram(), 0, nil
	}
	var budget *atomic.Int64
	if p.ops > 0 {
		budget = &atomic.Int64{}
		budget.Store(p.ops)
		p.duration = 24 * time.Hour
	}
	server0, _ := processCPU(t.pid)
	client0, _ := processCPU(os.Getpid())
	start := time.Now()
	if err := runWorkers(ctx, workers, p.duration, budget); err != nil {
		return m, err
	}
	elapsed := time.Since(start)
	server1, known := processCPU(t.pid)
	client1, _ := processCPU(os.Getpid())
	if !known {
		server1, server0 = 0, 0
	}
	m = summarise(workers, elapsed, server1-server0, client1-client0)
	m.Target, m.Workload, m.Conns = t.name, wl.name, conns
	return m, nil
}

// runWorkers lets all workers go at once and waits for them; the first error
// is returned.
func runWorkers(ctx context.Context, workers []*worker, d time.Duration, budget *atomic.Int64) error {
	var wg sync.WaitGroup
	errs := make([]error, len(workers))
	end := time.Now().Add(d)
	for i, k := range workers {
		wg.Go(func() { errs[i] = k.runUntil(ctx, end, budget) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func summarise(workers []*worker, elapsed, serverCPU, clientCPU time.Duration) measurement {
	total := newHistogram()
	var m measurement
	for _, k := range workers {
		total.Merge(k.hist)
		m.Ops += k.ops
		m.Rows += k.rows
		m.Errors += k.errors
		if m.FirstError == "" && k.err != nil {
			m.FirstError = k.err.Error()
		}
	}
	m.Seconds = elapsed.Seconds()
	m.Rate = float64(m.Ops) / m.Seconds
	m.MeanUs = total.Mean()
	m.P50Us, m.P99Us, m.MaxUs = total.ValueAtQuantile(50), total.ValueAtQuantile(99), total.Max()
	if m.Ops > 0 {
		m.ServerCPU = float64(serverCPU.Microseconds()) / float64(m.Ops)
		m.ClientCPU = float64(clientCPU.Microseconds()) / float64(m.Ops)
	}
	return m
}

// state is what the bench knows about the table of one target.
type state struct {
	pristine bool
	nextRow  atomic.Int64
}

// newState looks at the table: whether it is as loaded, and where inserts
// continue.
func newState(ctx context.Context, t *target, w *world) (*state, error) {
	st := &state{}
	var err error
	if st.pristine, err = pristine(ctx, t, w.dataset); err != nil {
		return nil, fmt.Errorf("target %s: %w", t.name, err)
	}
	var last int64
	if err := t.db.QueryRowContext(ctx, "SELECT MAX(start) FROM calls").Scan(&last); err != nil {
		return nil, fmt.Errorf("target %s: finding the last row: %w", t.name, err)
	}
	st.nextRow.Store(max(w.Rows, last-firstStart+1))
	return st, nil
}
