//go:build cgo

package pebblekv

/*
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

// It runs before main: threads keep the arena of their first allocation, and
// the threads of Go allocate when they start others.
__attribute__((constructor)) static void oneArena(void) { mallopt(M_ARENA_MAX, 1); }

static size_t freeBytes(void) {
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().fordblks;
#else
	return (unsigned)mallinfo().fordblks;
#endif
}
static void trim(void) { malloc_trim(0); }
#else
static size_t freeBytes(void) { return 0; }
static void trim(void) {}
#endif
*/
import "C"

// BlocksInHeap says whether blocks and write buffers are in Go's heap. With cgo
// Pebble takes them from the C library. The arenas of the GNU library, one for
// each thread, would hold as much again in holes: there is but one.
const BlocksInHeap = false

// freeBlockBytes is what the C library keeps of blocks that were freed.
func freeBlockBytes() int64 { return int64(C.freeBytes()) }

// trimBlocks returns the pages of freed blocks to the system. By itself the GNU
// library does so at the end of its heap only.
func trimBlocks() { C.trim() }
