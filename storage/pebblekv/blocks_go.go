//go:build !cgo

package pebblekv

// BlocksInHeap says whether blocks and write buffers are in Go's heap. With cgo
// Pebble takes them from the C library.
const BlocksInHeap = true

func freeBlockBytes() int64 { return 0 }

func trimBlocks() {}
