//go:build !linux

package pebblekv

import "errors"

func extend(_ uintptr, _, _ int64) error { return errors.ErrUnsupported }

func cut(_ uintptr, _ int64) {}

func beginDirect(_ uintptr) error { return errors.ErrUnsupported }

func endDirect(_ uintptr, _ int64) error { return errors.ErrUnsupported }

func writeAt(_ uintptr, _ []byte, _ int64) error { return errors.ErrUnsupported }

// bootID is not known here: only what was synced is demanded after a crash.
func bootID() boot { return boot{} }

func notDirect(_ error) bool { return true }

// mapFile is the memory of the first bytes of a file, nil where that cannot be.
func mapFile(uintptr, int) []byte { return nil }

// unmapFile ends the use of what mapFile has returned.
func unmapFile([]byte) error { return nil }
