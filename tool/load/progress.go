package load

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// progress reports how far a load is: a line that is written over on a terminal, one
// every ten seconds elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	total    int64 // bytes of all files; 0 when unknown
	read     atomic.Int64
	rows     atomic.Int64
	rejected atomic.Int64
	start    time.Time
	stop     chan struct{}
	stopped  sync.WaitGroup
}

func newProgress(w io.Writer, files []string, quiet bool) *progress {
	p := &progress{w: w, start: time.Now(), stop: make(chan struct{})}
	if quiet {
		return p
	}
	for _, name := range files {
		st, err := os.Stat(name)
		if err != nil || !st.Mode().IsRegular() {
			p.total = 0
			break
		}
		p.total += st.Size()
	}
	every := 10 * time.Second
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal, every = true, 200*time.Millisecond
	}
	p.stopped.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.print()
			}
		}
	})
	return p
}

func (p *progress) add(rows int64, rejected int) {
	p.rows.Add(rows)
	p.rejected.Add(int64(rejected))
}

func (p *progress) print() {
	line := p.line(time.Since(p.start))
	if p.terminal {
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		return
	}
	_, _ = fmt.Fprintln(p.w, line)
}

const mib = 1 << 20

func (p *progress) line(elapsed time.Duration) string {
	read, rows, seconds := p.read.Load(), p.rows.Load(), elapsed.Seconds()
	s := fmt.Sprintf("%.1f MiB", float64(read)/mib)
	if p.total > 0 {
		part := float64(read) / float64(p.total)
		s = fmt.Sprintf("%3.0f %%  %.1f of %.1f MiB", 100*part, float64(read)/mib, float64(p.total)/mib)
		if part > 0 && part < 1 {
			s += fmt.Sprintf("  ETA %s", time.Duration(seconds/part*(1-part)*float64(time.Second)).Round(time.Second))
		}
	}
	s += fmt.Sprintf("  %d rows  %.1f MiB/s  %.0f rows/s", rows, float64(read)/mib/seconds, float64(rows)/seconds)
	if n := p.rejected.Load(); n > 0 {
		s += fmt.Sprintf("  %d rejected", n)
	}
	return s
}

func (p *progress) end() {
	close(p.stop)
	p.stopped.Wait()
	if p.terminal {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
