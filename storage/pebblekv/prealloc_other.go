//go:build !linux

package pebblekv

import "errors"

func extend(_ uintptr, _, _ int64) error { return errors.ErrUnsupported }
