//go:build !invariants

package invariants

// Enabled reports whether the checks are compiled in.
const Enabled = false

// Violated does nothing in this build.
func Violated(string, ...any) {}
