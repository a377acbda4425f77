//go:build !linux

package pebblekv

import "errors"

func extend(_ uintptr, _, _ int64) error { return errors.ErrUnsupported }

func cut(_ uintptr, _ int64) {}

func beginDirect(_ uintptr) error { return errors.ErrUnsupported }

func endDirect(_ uintptr, _ int64) error { return errors.ErrUnsupported }

func writeAt(_ uintptr, _ []byte, _ int64) error { return errors.ErrUnsupported }

func notDirect(_ error) bool { return true }
