package stats

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/value"
)

// estimates are calls of all that reads the store.
var estimates = []struct {
	name string
	call func(ctx context.Context, e *Estimator, t *schema.Table) float64
}{
	{"rows", func(ctx context.Context, e *Estimator, t *schema.Table) float64 { return e.TableRows(ctx, t) }},
	{"distinct", func(ctx context.Context, e *Estimator, t *schema.Table) float64 {
		return e.Distinct(ctx, t, []schema.ColumnID{2})
	}},
	{"analyzed", func(ctx context.Context, e *Estimator, t *schema.Table) float64 {
		return e.Distinct(ctx, t, []schema.ColumnID{3})
	}},
	{"span", func(ctx context.Context, e *Estimator, t *schema.Table) float64 {
		n, _ := e.SpanRows(ctx, t, nil, []ranges.Span{{Low: []value.Datum{value.Int(2000)}}})
		return n
	}},
	{"sample", func(ctx context.Context, e *Estimator, t *schema.Table) float64 {
		x := e.Sample(ctx, t)
		if x == nil {
			return 0
		}
		return float64(len(x.Rows))
	}},
}

// TestCancelledEstimates ends each estimate at each of its calls of a store that does
// not answer. The next one is as if it had not been.
func TestCancelledEstimates(t *testing.T) {
	testflag.Normal(t)
	store := errkv.Wrap(memkv.New(memkv.Options{}))
	tab := newTable()
	fill(t, store, tab, 0, 5000, 300)
	if err := New(store, decode.NewCodecs(nil)).Analyze(t.Context(), tab); err != nil {
		t.Fatal(err)
	}
	for _, c := range estimates {
		for _, op := range []errkv.Op{errkv.OpGet, errkv.OpScan, errkv.OpVisit} {
			store.Reset()
			want := c.call(t.Context(), New(store, decode.NewCodecs(nil)), tab)
			calls := store.Calls(op)
			for n := int64(1); n <= calls; n++ {
				e := New(store, decode.NewCodecs(nil))
				store.Stall(op, n)
				ctx, cancel := context.WithCancelCause(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					c.call(ctx, e, tab)
				}()
				for store.Stalled() == 0 {
					runtime.Gosched()
				}
				cancel(errors.New("killed"))
				<-done
				store.Reset()
				if got := c.call(t.Context(), e, tab); got != want {
					t.Fatalf("%s after call %d of operation %d was cut short: %v, want %v", c.name, n, op, got, want)
				}
			}
		}
	}
}

// TestCancelledRecount: the changes since a count stay counted when the next one is cut
// short.
func TestCancelledRecount(t *testing.T) {
	store := errkv.Wrap(memkv.New(memkv.Options{}))
	e := New(store, decode.NewCodecs(nil))
	tab := newTable()
	fill(t, store, tab, 0, 1000, 10)
	within(t, "first", e.TableRows(t.Context(), tab), 1000, 0)
	fill(t, store, tab, 1000, 4000, 10)
	e.Changed(tab, 3000)
	store.Stall(errkv.OpVisit, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.TableRows(ctx, tab)
	store.Reset()
	within(t, "second", e.TableRows(t.Context(), tab), 4000, 0)
}

// TestCancelledLeader: statements that wait for a count go on by themselves when the one
// that counts is cut short, or give up with their own contexts.
func TestCancelledLeader(t *testing.T) {
	store := errkv.Wrap(memkv.New(memkv.Options{}))
	tab := newTable()
	fill(t, store, tab, 0, 5000, 300)
	for _, c := range estimates[:2] {
		e := New(store, decode.NewCodecs(nil))
		want := c.call(t.Context(), New(store, decode.NewCodecs(nil)), tab)
		store.Stall(errkv.OpVisit, 1)
		ctx, cancel := context.WithCancel(t.Context())
		var leader, impatient, others sync.WaitGroup
		leader.Go(func() { c.call(ctx, e, tab) })
		for store.Stalled() == 0 {
			runtime.Gosched()
		}
		short, stop := context.WithCancel(t.Context())
		impatient.Go(func() { c.call(short, e, tab) })
		for range 4 {
			others.Go(func() {
				if got := c.call(t.Context(), e, tab); got != want {
					t.Errorf("%s: %v, want %v", c.name, got, want)
				}
			})
		}
		stop()
		impatient.Wait() // while the leader still counts
		if store.Stalled() != 1 {
			t.Errorf("%s: %d calls wait", c.name, store.Stalled())
		}
		cancel()
		leader.Wait()
		store.Reset()
		others.Wait()
	}
}
