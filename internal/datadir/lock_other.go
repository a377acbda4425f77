//go:build !unix

package datadir

import "os"

func lock(*os.File) error { return nil }
