package seg

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrDamaged is what every error about a file of an index that does not hold
// what was written is (errors.Is). The index must be built again.
var ErrDamaged = errors.New("search index damaged")

// ErrClosed is the error of calls on an index that is closed.
var ErrClosed = errors.New("search index closed")

// DamagedError names the file and what is wrong with it.
type DamagedError struct {
	File   string // the name in the index's directory
	Detail string
}

// Error names the file.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%v: file %s: %s", ErrDamaged, e.File, e.Detail)
}

// Is makes the error an ErrDamaged.
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

func damaged(file, format string, args ...any) error {
	return &DamagedError{File: filepath.Base(file), Detail: fmt.Sprintf(format, args...)}
}
