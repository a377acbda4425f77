package invariants

import (
	"errors"
	"fmt"
)

// ErrViolated is what errors of Violated match: a bug of the program, not of
// the statement or the data.
var ErrViolated = errors.New("invariant violated")

// Violated reports a broken promise. It panics in a build with checks and
// returns an error that matches ErrViolated otherwise.
func Violated(format string, args ...any) error {
	err := fmt.Errorf("%w: %s", ErrViolated, fmt.Sprintf(format, args...))
	if Enabled {
		panic(err)
	}
	return err
}
