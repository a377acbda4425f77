package pause

import (
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/step"
)

// patience bounds the wait for a step of a reader: it may take another way, or
// have to wait for a commit that is stopped. A commit comes to all its steps.
const (
	patience = 300 * time.Millisecond
	hang     = 20 * time.Second
)

// gates stop goroutines at steps. The zero value stops none.
type gates struct {
	mu    sync.Mutex
	armed map[step.Point]*gate
}

// gate stops the first goroutine that comes to a step.
type gate struct {
	of      *gates
	at      step.Point
	reached chan struct{}
	open    chan struct{}
	once    sync.Once
}

// hook is called by the server at each step.
func (g *gates) hook(p step.Point) {
	g.mu.Lock()
	stop := g.armed[p]
	delete(g.armed, p)
	g.mu.Unlock()
	if stop != nil {
		close(stop.reached)
		<-stop.open
	}
}

// arm sets a gate, which is opened at the end of the test at the latest.
func (g *gates) arm(t *testing.T, p step.Point) *gate {
	stop := &gate{of: g, at: p, reached: make(chan struct{}), open: make(chan struct{})}
	g.mu.Lock()
	if g.armed == nil {
		g.armed = map[step.Point]*gate{}
	}
	g.armed[p] = stop
	g.mu.Unlock()
	t.Cleanup(stop.release)
	return stop
}

// release lets pass all who are stopped, and those who come later.
func (s *gate) release() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		s.of.mu.Lock()
		if s.of.armed[s.at] == s {
			delete(s.of.armed, s.at)
		}
		s.of.mu.Unlock()
		close(s.open)
	})
}

// wait reports whether somebody is stopped, before done is closed and within a
// time.
func (s *gate) wait(done <-chan struct{}, most time.Duration) bool {
	select {
	case <-s.reached:
		return true
	default:
	}
	select {
	case <-s.reached:
		return true
	case <-done:
	case <-time.After(most):
	}
	return false
}
