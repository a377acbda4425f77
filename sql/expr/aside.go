package expr

import (
	"runtime"

	"github.com/sqlots/sqlots/internal/guard"
)

// longAnalysis is the length in bytes from which on a text is analysed aside.
const longAnalysis = 128 << 10

// running bounds the tasks aside, those included whose statements have ended.
var running = make(chan struct{}, max(runtime.GOMAXPROCS(0), 2))

// aside waits for a task that cannot be interrupted. When the statement ends it is left
// alone: it goes on by itself, so it may use nothing that belongs to the statement, such as
// the bytes of arguments.
func (c *Ctx) aside(task func() error) error {
	ctx := c.context()
	select {
	case running <- struct{}{}:
	case <-ctx.Done():
		return contextError(ctx)
	}
	done := make(chan error, 1)
	go func() {
		done <- guard.Run(func() error {
			defer func() { <-running }()
			return task()
		})
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return contextError(ctx)
	}
}
