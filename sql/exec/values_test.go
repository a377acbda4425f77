package exec

import (
	"runtime"
	"testing"
	"time"
)

// TestBatchRoom: batches become smaller when others hold large ones, and grow again after a
// collection.
func TestBatchRoom(t *testing.T) {
	v := NewValues(NewTracker("values", 80<<20))
	full := v.BatchRoom()
	if full != 2<<20 {
		t.Errorf("%d bytes for the first batch", full)
	}
	var held [][]byte
	total := 0
	for range 1000 {
		b := make([]byte, v.BatchRoom())
		v.HoldBatch(b)
		held = append(held, b)
		total += len(b)
	}
	if total > 32<<20+1000*MinBatch {
		t.Errorf("1,000 batches have %d bytes", total)
	}
	if last := len(held[999]); last != MinBatch {
		t.Errorf("%d bytes for the last batch", last)
	}
	runtime.KeepAlive(held)
	held = nil
	for range 1000 {
		runtime.GC()
		if v.BatchRoom() == full {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d bytes after they are gone", v.BatchRoom())
}

// TestSmallValues: when operators have filled the memory, small values fit a little beyond
// the limit, within that of their connection; no others do.
func TestSmallValues(t *testing.T) {
	const limit, few = 32 << 20, small - 1
	v := NewValues(NewTracker("values", limit))
	v.t.Hold(limit)
	held := v.Child("connection", limit/64)
	if err := v.Grow(held, small, "texts"); err == nil {
		t.Error("a larger value fitted")
	}
	for held.Used()+few <= limit/64 {
		if err := v.Grow(held, few, "prepared statements"); err != nil {
			t.Fatalf("with %d bytes held: %v", held.Used(), err)
		}
	}
	if err := v.Grow(held, few, "prepared statements"); err == nil {
		t.Error("a connection held more than its limit")
	}
	var err error
	for err == nil {
		err = v.Grow(v.Child("connection", limit/64), few, "prepared statements")
	}
	if beyond := v.Used() - limit; beyond > limit/smallShare || beyond < limit/smallShare-few {
		t.Errorf("%d bytes beyond the limit", beyond)
	}
}

// TestCollections: memory that a collection may free is requested again after one; what
// is beyond the limit of a connection, or of all values, is not.
func TestCollections(t *testing.T) {
	const limit, own = 32 << 20, 1 << 20
	v := NewValues(NewTracker("values", limit))
	held := v.Child("connection", own)
	for _, c := range []struct {
		t *Tracker
		n int64
	}{{held, own + 1}, {v.t, limit + 1}} {
		if err := v.Grow(c.t, c.n, "texts"); err == nil || v.started.Load() != 0 {
			t.Errorf("%d bytes: %v after %d collections", c.n, err, v.started.Load())
		}
	}
	if err := v.Grow(held, own-small, "texts"); err != nil {
		t.Fatal(err)
	}
	if err := v.Grow(held, small+1, "texts"); err == nil || v.started.Load() != 0 {
		t.Errorf("beyond the connection's limit: %v after %d collections", err, v.started.Load())
	}
	v.t.Hold(limit - own)
	if err := v.Reserve(small); err == nil || v.started.Load() != collections {
		t.Errorf("memory that is full: %v after %d collections", err, v.started.Load())
	}
	before := v.started.Load()
	if err := v.Grow(held, small, "texts"); err == nil || v.started.Load() != before+collections {
		t.Errorf("memory that is full, within the connection's limit: %v after %d collections", err, v.started.Load()-before)
	}
}

// TestFixedAfterValues: what cannot be spilled is refused only after the values that no one
// has any more are collected.
func TestFixedAfterValues(t *testing.T) {
	const limit = 16 << 20
	root := NewTracker("server", limit)
	values := NewValues(root)
	a := &account{t: root.Child("statements", limit), operator: "list"}
	defer a.close()
	if err := values.Reserve(limit / 2); err != nil {
		t.Fatal(err)
	}
	values.Keep(make([]byte, limit/2)) // and let go of it
	if err := a.to(limit - limit/4); err != nil {
		t.Errorf("with a value that is gone: %v", err)
	}
	kept := make([]byte, limit/8)
	if err := values.Reserve(limit / 8); err != nil {
		t.Fatal(err)
	}
	values.Keep(kept)
	if err := a.to(limit); err == nil {
		t.Error("with a value that is there")
	}
	runtime.KeepAlive(kept)
}
