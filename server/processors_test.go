package server

import (
	"context"
	"testing"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestProcessors: one processor is used after some steps of one session that commits, and all
// at once when there is anything else; what is little and what is much are near the bounds.
func TestProcessors(t *testing.T) {
	type step struct {
		cpu        int // ms
		commits    uint64
		sessions   int
		statements uint64
	}
	calm := step{15, 80, 1, 80}
	for name, other := range map[string]step{
		"idle":                   {0, 0, 0, 0},
		"few commits":            {1, calmCommits - 1, 1, calmCommits - 1},
		"another session":        {15, 80, 2, 80},
		"a session that reads":   {15, 80, 1, 80*calmStatements + 1},
		"work in the background": {21, 80, 1, 80},
		"sessions that ended":    {15, 80, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			one, now, changes := false, processorsSample{}, 0
			p := &processors{useOne: func(x bool) { one, changes = x, changes+1 }}
			do := func(x step) {
				now.at += processorsStep
				now.cpu += time.Duration(x.cpu) * time.Millisecond
				now.commits += x.commits
				p.adjust(now, func() (int, uint64) { return x.sessions, x.statements })
			}
			many := func(x step, n int, want bool) {
				t.Helper()
				for i := range n {
					if do(x); one != want {
						t.Fatalf("step %d: one processor: %t", i, one)
					}
				}
			}
			many(calm, calmSteps-1, false)
			many(calm, 1, true)
			many(step{15, 80, 1, 80 * calmStatements}, 20, true)
			many(other, 20, false)
			many(calm, calmSteps-1, false)
			many(calm, 20, true)
			do(other)
			many(calm, pauseSteps-1, false)
			many(calm, 1, true)
			if changes != 5 {
				t.Errorf("%d changes", changes)
			}
		})
	}
	t.Run("work for one processor", func(t *testing.T) {
		// Threads that look for work count while all are in use.
		one := false
		p := &processors{useOne: func(x bool) { one = x }}
		var now processorsSample
		for i := range calmSteps + 1 {
			now.at, now.cpu, now.commits = now.at+processorsStep, now.cpu+processorsStep, now.commits+80
			if p.adjust(now, func() (int, uint64) { return 1, 80 }); one != (i == calmSteps-1) {
				t.Fatalf("step %d: one processor: %t", i, one)
			}
		}
	})
}

// TestWatchedProcessors: all processors are used when watching ends.
func TestWatchedProcessors(t *testing.T) {
	if _, ok := processTime(); !ok {
		t.Skip("the time of the process is not known here")
	}
	ctx, cancel := context.WithCancel(t.Context())
	last := make(chan bool, 1)
	p := &processors{one: true, useOne: func(one bool) { last <- one }}
	store := memkv.New(memkv.Options{})
	defer store.Close()
	go p.watch(ctx, store, metrics.NewServer(metrics.Config{}))
	if <-last {
		t.Error("one processor for an idle server")
	}
	cancel()
	if <-last {
		t.Error("one processor after the end")
	}
}
