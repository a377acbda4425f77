//go:build invariants

package invariants

import (
	"fmt"
	"os"
	"runtime/debug"
)

// Enabled reports whether the checks are compiled in.
const Enabled = true

// Violated ends the process: an invariant does not hold. It does not panic, as
// the goroutines of a server keep their panics.
func Violated(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "invariant violated: "+format+"\n%s", append(args, debug.Stack())...)
	os.Exit(2)
}
