package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
)

var (
	shared  = storage.LockOptions{Mode: storage.LockShared}
	noWait  = storage.LockOptions{Wait: storage.WaitError}
	skip    = storage.LockOptions{Wait: storage.WaitSkip}
	sNoWait = storage.LockOptions{Mode: storage.LockShared, Wait: storage.WaitError}
)

// lockLater locks key on another goroutine and returns once the request waits.
func lockLater(t *testing.T, s storage.Store, x storage.Txn, opts storage.LockOptions, key string) <-chan error {
	t.Helper()
	n := waiters(s)
	done := make(chan error, 1)
	go func() {
		_, err := locks(t, x, opts, key)
		done <- err
	}()
	eventually(t, "the request waits", func() bool { return waiters(s) == n+1 })
	return done
}

func granted(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(patience):
		t.Fatal("the lock was not granted")
	}
}

func waiting(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	default:
	}
}

func testLockValues(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"}, kv{"b", "1"})
	x := begin(t, s)
	wantValue(t, x, "a", "1")
	write(t, s, kv{"a", "2"})
	put(t, x, kv{"b", "own"}, kv{"d", ""})
	got, err := locks(t, x, storage.LockOptions{}, "a", "b", "c", "d", "a")
	must(t, err)
	want := []string{"2", "own", "", "", "2"}
	for i, l := range got {
		if string(l.Value) != want[i] || l.Skipped || (want[i] == "") != (l.Value == nil) {
			t.Fatalf("lock %d found %q, want %q", i, l.Value, want[i])
		}
	}
	got[0].Value[0] = 'x' // belongs to the caller
	wantValue(t, s.Latest(), "a", "2")
	one, err := locks(t, x, storage.LockOptions{}, "a")
	must(t, err)
	if string(one[0].Value) != "2" {
		t.Fatalf("%q", one[0].Value)
	}
	none, err := x.Lock(bg, nil, storage.LockOptions{})
	if err != nil || len(none) != 0 {
		t.Fatal(none, err)
	}
}

func testLockBlocks(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	x, y := begin(t, s), begin(t, s)
	mustLock(t, x, "a")
	mustLock(t, x, "a") // again is fine
	found := make(chan string, 1)
	go func() {
		got, err := locks(t, y, storage.LockOptions{}, "a")
		if err != nil {
			found <- err.Error()
			return
		}
		found <- string(got[0].Value)
	}()
	eventually(t, "y waits", func() bool { return waiters(s) == 1 })
	put(t, x, kv{"a", "2"})
	commit(t, x)
	if got := <-found; got != "2" {
		t.Fatalf("found %q under the lock; locks must be released after the commit is visible", got)
	}
	y.Rollback()
	if n := len(s.Locks()); n != 0 {
		t.Fatalf("%d locks left", n)
	}
}

func testLockShared(t *testing.T, s storage.Store) {
	x, y, z, w := begin(t, s), begin(t, s), begin(t, s), begin(t, s)
	for _, r := range []storage.Txn{x, y} {
		_, err := locks(t, r, shared, "a")
		must(t, err)
	}
	_, err := locks(t, z, noWait, "a")
	wantErr(t, err, storage.ErrNoWait)
	zd := lockLater(t, s, z, storage.LockOptions{}, "a")
	// A reader does not overtake the waiting writer.
	_, err = locks(t, w, sNoWait, "a")
	wantErr(t, err, storage.ErrNoWait)
	wd := lockLater(t, s, w, shared, "a")
	// A holder is not stopped by the queue.
	_, err = locks(t, x, shared, "a")
	must(t, err)
	x.Rollback()
	waiting(t, zd)
	y.Rollback()
	granted(t, zd)
	waiting(t, wd)
	_, err = locks(t, z, shared, "a") // weaker than what it holds
	must(t, err)
	z.Rollback()
	granted(t, wd)
}

// testLockNotShared: where locks cannot be shared, a shared one is exclusive.
func testLockNotShared(t *testing.T, s storage.Store) {
	x, y := begin(t, s), begin(t, s)
	_, err := locks(t, x, shared, "a")
	must(t, err)
	for _, opts := range []storage.LockOptions{noWait, sNoWait} {
		_, err = locks(t, y, opts, "a")
		wantErr(t, err, storage.ErrNoWait)
	}
	mustLock(t, x, "a") // it has that already
	yd := lockLater(t, s, y, shared, "a")
	x.Rollback()
	granted(t, yd)
}

func testLockPolicies(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"}, kv{"b", "2"}, kv{"c", "3"})
	x, y := begin(t, s), begin(t, s)
	mustLock(t, x, "b")
	_, err := locks(t, y, noWait, "a", "b")
	wantErr(t, err, storage.ErrNoWait)
	got, err := locks(t, y, skip, "a", "b", "c")
	must(t, err)
	if got[0].Skipped || string(got[0].Value) != "1" || !got[1].Skipped || got[1].Value != nil ||
		got[2].Skipped || string(got[2].Value) != "3" {
		t.Fatalf("%+v", got)
	}
	got, err = locks(t, y, skip, "b")
	must(t, err)
	if !got[0].Skipped {
		t.Fatal("not skipped")
	}
	put(t, y, kv{"a", "9"}) // the transaction goes on
	commit(t, y)
}

func testLockTimeout(t *testing.T, s storage.Store) {
	x := begin(t, s)
	y := beginOpts(t, s, storage.TxnOptions{LockTimeout: 10 * time.Millisecond})
	mustLock(t, x, "a")
	_, err := locks(t, y, storage.LockOptions{}, "a")
	wantErr(t, err, storage.ErrLockTimeout)
	z := begin(t, s)
	_, err = locks(t, z, storage.LockOptions{Timeout: 10 * time.Millisecond}, "a")
	wantErr(t, err, storage.ErrLockTimeout)
	if waiters(s) != 0 {
		t.Fatal("a waiter stayed in the queue")
	}
	put(t, y, kv{"b", "1"}) // the transaction goes on
	commit(t, y)
}

// testLockGivenUp: a writer that gives up lets the readers after it through.
func testLockGivenUp(t *testing.T, s storage.Store) {
	r1, z, r2 := begin(t, s), begin(t, s), begin(t, s)
	_, err := locks(t, r1, shared, "s")
	must(t, err)
	ctx, cancel := context.WithCancel(bg)
	wd := make(chan error, 1)
	go func() {
		_, err := z.Lock(ctx, [][]byte{[]byte("s")}, storage.LockOptions{})
		wd <- err
	}()
	eventually(t, "z waits", func() bool { return waiters(s) == 1 })
	rd := lockLater(t, s, r2, shared, "s")
	cancel()
	wantErr(t, <-wd, context.Canceled)
	granted(t, rd)
}

func testLockCancel(t *testing.T, s storage.Store) {
	x, y := begin(t, s), begin(t, s)
	mustLock(t, x, "a")
	why := errors.New("killed")
	ctx, cancel := context.WithCancelCause(bg)
	done := make(chan error, 2)
	go func() {
		_, err := y.Lock(ctx, [][]byte{[]byte("a")}, storage.LockOptions{})
		done <- err
	}()
	eventually(t, "y waits", func() bool { return waiters(s) == 1 })
	cancel(why)
	wantErr(t, <-done, why)
	z := begin(t, s)
	ctx, cancel = context.WithCancelCause(bg)
	go func() { done <- z.Insert(ctx, []byte("a"), []byte("1")) }()
	eventually(t, "z waits", func() bool { return waiters(s) == 1 })
	cancel(why)
	wantErr(t, <-done, why)
	if z.Dirty() {
		t.Fatal("a cancelled insert wrote")
	}
}

func testLockUpgrade(t *testing.T, s storage.Store) {
	x, y, z := begin(t, s), begin(t, s), begin(t, s)
	_, err := locks(t, x, shared, "a")
	must(t, err)
	mustLock(t, x, "a") // alone: at once
	_, err = locks(t, y, sNoWait, "a")
	wantErr(t, err, storage.ErrNoWait)
	x.Rollback()

	_, err = locks(t, y, shared, "a")
	must(t, err)
	_, err = locks(t, z, shared, "a")
	must(t, err)
	w := begin(t, s)
	wd := lockLater(t, s, w, storage.LockOptions{}, "a")
	// The upgrade goes before w, or both would wait for each other.
	yd := lockLater(t, s, y, storage.LockOptions{}, "a")
	_, err = locks(t, z, noWait, "a")
	wantErr(t, err, storage.ErrNoWait)
	z.Rollback()
	granted(t, yd)
	waiting(t, wd)
	y.Rollback()
	granted(t, wd)
}

func testLockFIFO(t *testing.T, s storage.Store) {
	x := begin(t, s)
	mustLock(t, x, "a")
	order := make(chan int, 8)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range 8 {
		y := begin(t, s)
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, err := y.Lock(bg, [][]byte{[]byte("a")}, storage.LockOptions{}); err != nil {
				order <- -1
				return
			}
			order <- i
			y.Rollback()
		}()
		eventually(t, "it waits", func() bool { return waiters(s) == i+1 })
	}
	x.Rollback()
	for i := range 8 {
		if got := <-order; got != i {
			t.Fatalf("place %d went to %d", i, got)
		}
	}
}

func testLockSavepoint(t *testing.T, s storage.Store) {
	x, y := begin(t, s), begin(t, s)
	sp := x.Savepoint()
	mustLock(t, x, "a")
	must(t, x.Insert(bg, []byte("b"), []byte("1")))
	must(t, x.RollbackTo(sp))
	for _, k := range []string{"a", "b"} {
		_, err := locks(t, y, noWait, k)
		wantErr(t, err, storage.ErrNoWait)
	}
}

func testLockInfo(t *testing.T, s storage.Store) {
	x, y, z := begin(t, s), begin(t, s), begin(t, s)
	mustLock(t, x, "b")
	_, err := locks(t, x, shared, "a")
	must(t, err)
	_, err = locks(t, y, shared, "a")
	must(t, err)
	done := lockLater(t, s, z, storage.LockOptions{}, "b")
	got := s.Locks()
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	a, b := got[0], got[1]
	slices.Sort(a.Holders)
	if string(a.Key) != "a" || a.Mode != storage.LockShared || !slices.Equal(a.Holders, []uint64{x.ID(), y.ID()}) || len(a.Waiters) != 0 {
		t.Fatalf("%+v", a)
	}
	if string(b.Key) != "b" || b.Mode != storage.LockExclusive || !slices.Equal(b.Holders, []uint64{x.ID()}) || !slices.Equal(b.Waiters, []uint64{z.ID()}) {
		t.Fatalf("%+v", b)
	}
	x.Rollback()
	granted(t, done)
}

// victims runs the last request of a cycle and returns the victims.
func victims(t *testing.T, xs []storage.Txn, dones []<-chan error) []int {
	t.Helper()
	var lost []int
	for range dones {
		found := false
		for end := time.Now().Add(patience); !found; {
			for i, d := range dones {
				if d == nil {
					continue
				}
				select {
				case err := <-d:
					found = true
					dones[i] = nil
					if errors.Is(err, storage.ErrDeadlock) {
						lost = append(lost, i)
						wantErr(t, xs[i].Put(bg, []byte("q"), []byte("1")), storage.ErrDeadlock)
						_, err := xs[i].Get(bg, []byte("q"), nil)
						wantErr(t, err, storage.ErrDeadlock)
					} else {
						must(t, err)
					}
					xs[i].Rollback()
				default:
				}
				if found {
					break
				}
			}
			if !found {
				if time.Now().After(end) {
					t.Fatal("the deadlock was not resolved")
				}
				time.Sleep(time.Millisecond)
			}
		}
	}
	return lost
}

func testDeadlock(t *testing.T, s storage.Store) {
	// The one with less work loses, whoever closes the cycle.
	for _, heavy := range []int{0, 1} {
		xs := []storage.Txn{begin(t, s), begin(t, s)}
		mustLock(t, xs[0], "a")
		mustLock(t, xs[1], "b")
		for i := range 10 {
			must(t, xs[heavy].Put(bg, []byte(key(i)), []byte("1")))
		}
		d0 := lockLater(t, s, xs[0], storage.LockOptions{}, "b")
		d1 := make(chan error, 1)
		go func() {
			_, err := locks(t, xs[1], storage.LockOptions{}, "a")
			d1 <- err
		}()
		lost := victims(t, xs, []<-chan error{d0, d1})
		if !slices.Equal(lost, []int{1 - heavy}) {
			t.Fatalf("heavy %d, victims %v", heavy, lost)
		}
	}
	// With equal work the one that closes the cycle loses, older or not.
	for _, last := range []int{0, 1} {
		xs := []storage.Txn{begin(t, s), begin(t, s)}
		mustLock(t, xs[0], "a")
		mustLock(t, xs[1], "b")
		own := []string{"a", "b"}
		first := lockLater(t, s, xs[1-last], storage.LockOptions{}, own[last])
		_, err := locks(t, xs[last], storage.LockOptions{}, own[1-last])
		wantErr(t, err, storage.ErrDeadlock)
		xs[last].Rollback()
		granted(t, first)
		xs[1-last].Rollback()
	}
	// A commit of the victim fails and frees its locks.
	x, y := begin(t, s), begin(t, s)
	for i := range 10 {
		must(t, x.Put(bg, []byte(key(i)), []byte("1")))
	}
	mustLock(t, x, "a")
	mustLock(t, y, "b")
	d := lockLater(t, s, x, storage.LockOptions{}, "b")
	_, err := locks(t, y, storage.LockOptions{}, "a")
	wantErr(t, err, storage.ErrDeadlock)
	_, err = y.Commit(bg)
	wantErr(t, err, storage.ErrDeadlock)
	granted(t, d)
}

// testDeadlockTwo: one of two that wait for each other loses, whichever it is.
func testDeadlockTwo(t *testing.T, s storage.Store) {
	xs := []storage.Txn{begin(t, s), begin(t, s)}
	mustLock(t, xs[0], "a")
	mustLock(t, xs[1], "b")
	d0 := lockLater(t, s, xs[0], storage.LockOptions{}, "b")
	d1 := make(chan error, 1)
	go func() {
		_, err := locks(t, xs[1], storage.LockOptions{}, "a")
		d1 <- err
	}()
	if lost := victims(t, xs, []<-chan error{d0, d1}); len(lost) != 1 {
		t.Fatalf("victims %v", lost)
	}
}

func testDeadlockUpgrade(t *testing.T, s storage.Store) {
	xs := []storage.Txn{begin(t, s), begin(t, s)}
	for _, x := range xs {
		_, err := locks(t, x, shared, "a")
		must(t, err)
	}
	d0 := lockLater(t, s, xs[0], storage.LockOptions{}, "a")
	d1 := make(chan error, 1)
	go func() {
		_, err := locks(t, xs[1], storage.LockOptions{}, "a")
		d1 <- err
	}()
	// Equal work: the younger loses.
	if lost := victims(t, xs, []<-chan error{d0, d1}); !slices.Equal(lost, []int{1}) {
		t.Fatalf("victims %v", lost)
	}
}

// endAfter ends a transaction when a request of it has its outcome, which it passes on.
func endAfter(x storage.Txn, done <-chan error) <-chan error {
	ended := make(chan error, 1)
	go func() {
		err := <-done
		x.Rollback()
		ended <- err
	}()
	return ended
}

func testDeadlockThree(t *testing.T, s storage.Store) {
	xs := []storage.Txn{begin(t, s), begin(t, s), begin(t, s)}
	for i, x := range xs {
		mustLock(t, x, fmt.Sprint(i))
	}
	d0 := lockLater(t, s, xs[0], storage.LockOptions{}, "1")
	// A bystander in the same queue is no part of the cycle.
	by := begin(t, s)
	byd := lockLater(t, s, by, storage.LockOptions{}, "1")
	if !s.Caps().FairLocks { // it may come before one of the cycle
		byd = endAfter(by, byd)
	}
	d1 := lockLater(t, s, xs[1], storage.LockOptions{}, "2")
	d2 := make(chan error, 1)
	go func() {
		_, err := locks(t, xs[2], storage.LockOptions{}, "0")
		d2 <- err
	}()
	if lost := victims(t, xs, []<-chan error{d0, d1, d2}); len(lost) != 1 {
		t.Fatalf("victims %v", lost)
	}
	granted(t, byd)
}
