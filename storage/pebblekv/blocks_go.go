//go:build !cgo

package pebblekv

// BlocksInHeap says whether blocks and write buffers are in Go's heap. With cgo
// Pebble takes them from the C library.
const BlocksInHeap = true

func settleBlocks() {}
