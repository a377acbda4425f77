package sqlerr

import (
	"fmt"
	"strings"
)

// Error is a MySQL error or warning.
type Error struct {
	Number  uint16
	State   string // SQLSTATE, five characters
	Message string
}

// Error implements error in the form of the mysql shell.
func (e *Error) Error() string {
	return fmt.Sprintf("ERROR %d (%s): %s", e.Number, e.State, e.Message)
}

// longArg is more of a value than is ever shown.
const longArg = 64 << 10

// newError makes an error from its parts, for the constructors of this package.
func newError(number uint16, state, format string, args ...any) *Error {
	for i, a := range args {
		if s, ok := a.(string); ok && len(s) > longArg {
			args[i] = s[:longArg]
		}
	}
	return &Error{Number: number, State: state, Message: fmt.Sprintf(format, args...)}
}

// Is matches errors of the same number, so that errors.Is works with a value
// made by any constructor.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Number == e.Number
}

// Level is the severity of a diagnostic in SHOW WARNINGS.
type Level uint8

// Levels.
const (
	LevelNote Level = iota
	LevelWarning
	LevelError
)

// String is the name that SHOW WARNINGS prints.
func (l Level) String() string { return [...]string{"Note", "Warning", "Error"}[l] }

// Warning is an entry of the diagnostics area.
type Warning struct {
	Level Level
	Err   *Error
}

// WithNear is a Parse error that shows another part of the text; other errors stay. near
// is called with what is shown so far.
func WithNear(err error, near func(shown string) string) error {
	e, ok := err.(*Error)
	if !ok || e.Number != 1064 {
		return err
	}
	message, rest, ok := strings.Cut(e.Message, " near '")
	end := strings.LastIndex(rest, "' at line ")
	if !ok || end < 0 {
		return err
	}
	out := *e
	out.Message = message + " near '" + near(rest[:end]) + rest[end:]
	return &out
}
