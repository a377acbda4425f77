package exec

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Values counts large values in a tracker: those that functions make, packets, texts
// of statements. They have many owners, so what counts is whether the garbage
// collector still has them. When the tracker is full, the collector runs before a
// value is refused.
//
// It may be used by many goroutines.
type Values struct {
	t *Tracker
	// batches are the bytes of the large batches of rows that the garbage collector still
	// has. They are not counted in t, which refuses: a scan makes its batches smaller.
	batches atomic.Int64

	mu      sync.Mutex    // one collection at a time
	started atomic.Uint64 // collections that have begun
}

// NewValues counts in t.
func NewValues(t *Tracker) *Values {
	v := &Values{t: t}
	t.values = v
	return v
}

// Cleanups run in a goroutine of the runtime after a collection.
const (
	collections = 2
	cleanupTime = 10 * time.Millisecond
	cleanupStep = time.Millisecond / 2
)

// Reserve takes n bytes, or fails with 3170.
func (v *Values) Reserve(n int64) error { return v.Grow(v.t, n, "values") }

// Grow is Tracker.Grow for a tracker below that of v, once more after a collection if
// it fails.
func (v *Values) Grow(t *Tracker, n int64, what string) error {
	err := v.tryGrow(t, n, what)
	if err == nil || t.Used()+n > t.Limit() && t != v.t || n > v.t.Limit() {
		return err
	}
	return v.again(err, func() error { return v.tryGrow(t, n, what) })
}

// again calls take, which has failed for want of memory, after collections.
func (v *Values) again(err error, take func() error) error {
	for range collections {
		v.collect()
		for end := time.Now().Add(cleanupTime); ; {
			if err = take(); err == nil || !sqlerr.IsQueryMemoryExceeded(err) {
				return err
			}
			if time.Now().After(end) {
				break
			}
			time.Sleep(cleanupStep)
		}
	}
	return err
}

// A part of the memory is kept for what is small, so that large values of some do not
// end the everyday statements of others. Operators that spill hold memory beyond the limit
// until they have done so: what is small does not wait for them, and may be as
// much beyond the limit.
const (
	small      = 32 << 10
	smallShare = 8
)

func (v *Values) tryGrow(t *Tracker, n int64, what string) error {
	limit := v.t.Limit()
	if n >= small && v.t.Used()+n > limit-limit/smallShare {
		return sqlerr.ServerMemoryExceeded(limit-limit/smallShare, what)
	}
	err := t.Grow(n, what)
	if err == nil || n >= small || t.limit > 0 && t.Used()+n > t.limit {
		return err
	}
	if limit == 0 || v.t.Used()+n > limit+limit/smallShare {
		return err
	}
	t.force(n)
	return nil
}

// collect runs the garbage collector, unless a collection that has begun since the
// call is over when it is its turn.
func (v *Values) collect() {
	next := v.started.Load() + 1
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.started.Load() < next {
		v.started.Add(1)
		runtime.GC()
	}
}

// Collect runs the garbage collector, and waits for a moment for its cleanups.
func (v *Values) Collect() {
	v.collect()
	time.Sleep(cleanupTime / 2)
}

// Child is a tracker below that of v. It must be closed.
func (v *Values) Child(name string, limit int64) *Tracker { return v.t.Child(name, limit) }

// Limit is the most bytes of all values.
func (v *Values) Limit() int64 { return v.t.Limit() }

// Used is what values and all else take that is counted with them.
func (v *Values) Used() int64 { return v.t.Used() }

// Release gives n reserved bytes back.
func (v *Values) Release(n int64) { v.t.Shrink(n) }

// Keep turns a reservation of len(b) bytes into one that ends when the garbage
// collector frees b.
func (v *Values) Keep(b []byte) {
	if len(b) > 0 {
		v.KeepAs(b, int64(len(b)))
	}
}

// KeepAs is Keep of a reservation of n bytes, which other bytes take that are freed at
// about the same time. b is not empty.
func (v *Values) KeepAs(b []byte, n int64) {
	runtime.AddCleanup(unsafe.SliceData(b), v.t.Shrink, n)
}

// A batch of rows has from MinBatch to MaxBatch bytes of long values, and a part of what is
// left for all batches, which is batchShare of the limit of values. So batches that slow
// clients keep, however many, come to little more than that.
const (
	MinBatch = 64 << 10
	MaxBatch = 4 << 20

	batchPart  = 16
	batchShare = 2.0 / 5
)

// BatchRoom is how many bytes a batch of rows may have now.
func (v *Values) BatchRoom() int {
	left := int64(batchShare*float64(v.t.Limit())) - v.batches.Load()
	return int(min(max(left/batchPart, MinBatch), MaxBatch))
}

// HoldBatch counts b as memory of a batch until the garbage collector frees it.
func (v *Values) HoldBatch(b []byte) {
	if len(b) > 0 {
		v.batches.Add(int64(len(b)))
		runtime.AddCleanup(unsafe.SliceData(b), v.dropBatch, int64(len(b)))
	}
}

func (v *Values) dropBatch(n int64) { v.batches.Add(-n) }

// Copy is a copy of b that counts until the garbage collector frees it: 3170.
func (v *Values) Copy(b []byte) ([]byte, error) {
	if err := v.Reserve(int64(len(b))); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(b)), b...)
	v.Keep(out)
	return out, nil
}
