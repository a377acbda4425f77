package procs

import (
	"runtime"
	"sync/atomic"
)

// given is 0 until Give.
var given atomic.Int64

// Number is how many processors the process may use.
func Number() int {
	if n := given.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// Give has the process use n processors.
func Give(n int) {
	given.Store(int64(n))
	runtime.GOMAXPROCS(n)
}

// UseOne has the process use one processor for a while, or all of those that it may use.
// All goroutines stop for some ten microseconds.
func UseOne(one bool) {
	n := Number()
	given.CompareAndSwap(0, int64(n))
	if one {
		n = 1
	}
	runtime.GOMAXPROCS(n)
}
