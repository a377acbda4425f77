package mdl

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

const long = time.Minute

func TestSharedAndExclusive(t *testing.T) {
	var l Locks
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.Shared(ctx, 1, "t", long))
	must(l.Shared(ctx, 2, "t", long))
	if err := l.Exclusive(ctx, 3, "t", time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Fatalf("got %v, want a timeout", err)
	}
	got := make(chan error, 1)
	go func() { got <- l.Exclusive(ctx, 3, "t", long) }()
	waitFor(t, func() bool { return l.waiting("t") == 1 })
	// A new sharer waits for the exclusive request, an old one does not.
	must(l.Shared(ctx, 1, "t", long))
	if err := l.Shared(ctx, 4, "t", time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Fatalf("got %v, want a timeout", err)
	}
	l.ReleaseShared(1, "t")
	l.ReleaseShared(1, "t")
	l.ReleaseShared(2, "t")
	must(<-got)
	must(l.Shared(ctx, 3, "t", long)) // the holder may share with itself
	l.ReleaseShared(3, "t")
	l.ReleaseExclusive(3, "t")
	if len(l.tables) != 0 {
		t.Fatalf("entries are left: %v", l.tables)
	}
}

func TestUpgradeOfTheOnlySharer(t *testing.T) {
	var l Locks
	ctx := context.Background()
	if err := l.Shared(ctx, 1, "t", long); err != nil {
		t.Fatal(err)
	}
	if err := l.Exclusive(ctx, 1, "t", long); err != nil {
		t.Fatal(err)
	}
	if err := l.Shared(ctx, 2, "t", time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Fatalf("got %v, want a timeout", err)
	}
}

func TestCancelledWaiterLeaves(t *testing.T) {
	var l Locks
	if err := l.Exclusive(context.Background(), 1, "t", long); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("killed")
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan error, 1)
	go func() { got <- l.Shared(ctx, 2, "t", long) }()
	waitFor(t, func() bool { return l.waiting("t") == 1 })
	cancel(cause)
	if err := <-got; !errors.Is(err, cause) {
		t.Fatalf("got %v, want the cause", err)
	}
	if l.waiting("t") != 0 {
		t.Fatal("the waiter is still in the queue")
	}
}

func (l *Locks) waiting(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.tables[key]; e != nil {
		return len(e.queue)
	}
	return 0
}

func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline:
			t.Fatal("the condition did not come true")
		case <-tick.C:
		}
	}
}

func TestHandOver(t *testing.T) {
	var l Locks
	ctx := context.Background()
	mustNot := func(what string, o Owner) {
		t.Helper()
		if err := l.Shared(ctx, o, "a", time.Millisecond); !errors.Is(err, ErrTimeout) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must := func(what string, o Owner) {
		t.Helper()
		if err := l.Exclusive(ctx, o, "a", time.Millisecond); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		l.ReleaseExclusive(o, "a")
	}
	l.HandOver(1, 2, "a")
	must("a lock that no one had", 3)
	if err := l.Exclusive(ctx, 1, "a", time.Second); err != nil {
		t.Fatal(err)
	}
	l.HandOver(1, 2, "a")
	mustNot("the owner before", 1)
	l.ReleaseExclusive(1, "a") // not its own any more
	mustNot("the owner before", 1)
	l.ReleaseExclusive(2, "a")
	must("after all", 3)
}

// TestHandOverOfOne: who has two locks and gives one has the other one afterwards.
func TestHandOverOfOne(t *testing.T) {
	for _, gives := range []string{"after", "meanwhile"} {
		var l Locks
		ctx := context.Background()
		for range 2 {
			if err := l.Exclusive(ctx, 1, "a", time.Second); err != nil {
				t.Fatal(err)
			}
		}
		l.HandOver(1, 2, "a")
		if got := fmt.Sprint(l.List()); got != "[{a 2 3 false} {a 1 3 false}]" {
			t.Errorf("locks: %s", got)
		}
		got := make(chan Owner, 2)
		for i, o := range []Owner{3, 1} {
			go func() {
				if err := l.Shared(ctx, o, "a", time.Minute); err != nil {
					t.Error(err)
				}
				got <- o
			}()
			waitFor(t, func() bool { return len(l.List()) == 3+i })
		}
		if gives == "meanwhile" {
			l.ReleaseExclusive(1, "a")
			l.ReleaseExclusive(2, "a")
			<-got
			<-got
			l.ReleaseShared(1, "a")
			l.ReleaseShared(3, "a")
		} else {
			l.ReleaseExclusive(2, "a")
			if o := <-got; o != 1 {
				t.Errorf("%d has the lock", o)
			}
			l.ReleaseShared(1, "a")
			l.ReleaseExclusive(1, "a")
			<-got
			l.ReleaseShared(3, "a")
		}
		if got := l.List(); len(got) > 0 {
			t.Errorf("locks: %v", got)
		}
	}
}
