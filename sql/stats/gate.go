package stats

import "context"

// gate lets one goroutine through at a time. Others can give up waiting.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// tryEnter enters if the gate is free.
func (g gate) tryEnter() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

// enter waits until the gate is free; false: ctx ended first.
func (g gate) enter(ctx context.Context) bool {
	if g.tryEnter() {
		return true
	}
	select {
	case g <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave ends what enter or tryEnter began.
func (g gate) leave() { <-g }
