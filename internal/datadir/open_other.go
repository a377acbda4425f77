//go:build !unix

package datadir

import "io/fs"

const noFollow = 0

// linked reports whether a file may have several names.
func linked(fs.FileInfo) bool { return true }
