package server

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/storage"
)

// processors has the process use one processor while it does little but commit for one
// session.
//
// When a goroutine becomes ready, the runtime wakes a thread for a processor without work,
// as there may be more to do. With one commit at a time there is not: the connection's
// goroutine, the log's and the connection's again follow each other, and the threads that
// look for work take their time, and that of a client on the same machine.
type processors struct {
	useOne func(one bool)

	one   bool // in use
	calm  int  // steps that were calm, one after the other
	pause int  // steps until the next change to one processor
	last  processorsSample
}

// processorsSample is what was done until a time.
type processorsSample struct {
	at      time.Duration // since some time
	cpu     time.Duration // of the process, by all threads
	commits uint64
}

const (
	processorsStep = 20 * time.Millisecond
	// calmSteps is after how many calm steps one processor is used.
	calmSteps = 4
	// calmCommits is from how many commits a step can be calm.
	calmCommits = 20
	// calmStatements is how many statements of the session a commit may have: what reads
	// is slower with one processor.
	calmStatements = 2
	// pauseSteps is for how many steps all processors are used at least: a change stops
	// all threads for some ten microseconds, and what sync.Pool keeps is lost.
	pauseSteps = 10
)

// watch adjusts the processors until ctx ends; then all are used.
func (p *processors) watch(ctx context.Context, store storage.Store, numbers *metrics.Server) {
	defer p.useOne(false)
	tick := time.NewTicker(processorsStep)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			cpu, ok := processTime()
			if !ok {
				return
			}
			p.adjust(processorsSample{at: time.Since(began), cpu: cpu, commits: store.Commits()}, numbers.Busy)
		}
	}
}

// adjust looks at what was done since the last call. busy gives the sessions that have ended
// statements since its own last call, and how many; it is called where the rest is calm.
func (p *processors) adjust(s processorsSample, busy func() (sessions int, statements uint64)) {
	commits, took, cpu := s.commits-p.last.commits, s.at-p.last.at, s.cpu-p.last.cpu
	p.last = s
	if p.one {
		took = took * 9 / 10
	}
	calm := commits >= calmCommits && cpu <= took
	if calm {
		sessions, statements := busy()
		calm = sessions == 1 && statements <= calmStatements*commits
	}
	p.pause = max(p.pause-1, 0)
	if !calm {
		p.calm = 0
		if p.one {
			p.one, p.pause = false, pauseSteps
			p.useOne(false)
		}
		return
	}
	if p.calm++; p.calm >= calmSteps && p.pause == 0 && !p.one {
		p.one = true
		p.useOne(true)
	}
}
