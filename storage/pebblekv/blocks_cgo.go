//go:build cgo

package pebblekv

/*
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
static void oneArena(void) { mallopt(M_ARENA_MAX, 1); }
#else
static void oneArena(void) {}
#endif
*/
import "C"

// BlocksInHeap says whether blocks and write buffers are in Go's heap. With cgo
// Pebble takes them from the C library.
const BlocksInHeap = false

// settleBlocks is called before the first block. The arenas of the GNU library,
// one for each thread, would hold as much again in holes.
func settleBlocks() { C.oneArena() }
