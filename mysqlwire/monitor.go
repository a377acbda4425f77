package mysqlwire

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
)

// phase is what a connection's goroutine is doing.
type phase uint8

const (
	phaseHandshake phase = iota // bounded by the socket's own deadline
	phaseIdle                   // waits for a command
	phaseReading                // waits for the rest of a packet
	phaseBusy                   // runs a command
	phaseWriting                // waits for the client to take bytes
)

// tick is the monitor's period. A command that lasts longer than one to two
// ticks is watched for its client's disappearance.
const tick = 20 * time.Millisecond

// phaseWord is a phase with the tick of its beginning. A connection stores it
// with one atomic store; the monitor is its only reader.
type phaseWord struct{ v atomic.Uint64 }

func (w *phaseWord) set(p phase, now uint64) { w.v.Store(now<<3 | uint64(p)) }

func (w *phaseWord) get() (phase, uint64) {
	v := w.v.Load()
	return phase(v & 7), v >> 3
}

// ticks converts seconds to ticks, 0 and less to "never".
func ticks(seconds int) uint64 {
	if seconds <= 0 || seconds > math.MaxInt32 {
		return math.MaxUint64
	}
	return uint64(time.Duration(seconds) * time.Second / tick)
}

// monitor looks at each connection once per tick. It runs while there are
// connections.
type monitor struct{ done chan struct{} }

func startMonitor(s *Server) *monitor {
	m := &monitor{done: make(chan struct{})}
	go guard.Do(s.cfg.Logger, "looking after connections", func() { m.run(s) })
	return m
}

func (m *monitor) stop() { close(m.done) }

func (m *monitor) run(s *Server) {
	t := time.NewTicker(tick)
	defer t.Stop()
	var watch []*conn
	for {
		select {
		case <-m.done:
			return
		case <-t.C:
		}
		now := s.clock.Add(1)
		watch = watch[:0]
		s.mu.Lock()
		for c := range s.conns {
			if c.due(now) {
				watch = append(watch, c)
			}
		}
		s.mu.Unlock()
		for i, c := range watch {
			c.inspect(now)
			watch[i] = nil
		}
	}
}

// due reports whether the connection has been in its phase for long enough to be looked
// at.
func (c *conn) due(now uint64) bool {
	p, since := c.state.get()
	age := now - since
	switch p {
	case phaseIdle:
		return age > c.waitTicks.Load()
	case phaseReading:
		return age > c.readTicks
	case phaseWriting:
		return age > c.writeTicks.Load()
	case phaseBusy:
		// Long commands are looked at less often.
		return age >= 2 && (age < 50 || age&3 == 0)
	}
	return false
}

// inspect acts on a connection that is due.
func (c *conn) inspect(now uint64) {
	p, since := c.state.get()
	age := now - since
	switch p {
	case phaseIdle:
		if age > c.waitTicks.Load() {
			_ = c.raw.Close()
		}
	case phaseReading:
		if age > c.readTicks {
			c.cancel(errClientGone)
			_ = c.raw.Close()
		}
	case phaseWriting:
		if age > c.writeTicks.Load() {
			c.cancel(errClientGone)
			_ = c.raw.Close()
		}
	case phaseBusy:
		if age >= 2 && peerClosed(c.raw) {
			c.cancel(errClientGone)
		}
	}
}
