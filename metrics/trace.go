package metrics

import (
	"context"
	"time"
)

// Trace is a statement that has ended, as a [Tracer] sees it.
type Trace struct {
	*Event
	// Connection is whose it was.
	Connection uint64
	// Parent is the trace that the request of the client belongs to, as the header
	// traceparent of W3C has it; "" for none. The text may name another one.
	Parent string
	// Parsed and Planned are when these steps ended; zero for one that was not.
	Parsed, Planned time.Time
}

// Tracer is given the statements that have ended. It may be called concurrently, must not
// block, and keeps neither t nor its event.
type Tracer interface {
	Trace(t *Trace)
}

type parentKey struct{}

// WithParent is the context of a request that belongs to a trace.
func WithParent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, parentKey{}, traceparent)
}

// ParentOf is the trace of WithParent, "" for none.
func ParentOf(ctx context.Context) string {
	s, _ := ctx.Value(parentKey{}).(string)
	return s
}
