//go:build !unix

package server

import "time"

// processTime is not known.
func processTime() (time.Duration, bool) { return 0, false }
