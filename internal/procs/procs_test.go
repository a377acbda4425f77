package procs_test

import (
	"runtime"
	"testing"

	"github.com/sqlots/sqlots/internal/procs"
)

// TestNumber: what is in use for a while does not count.
func TestNumber(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer procs.Give(before)
	check := func(number, used int) {
		t.Helper()
		if n, u := procs.Number(), runtime.GOMAXPROCS(0); n != number || u != used {
			t.Errorf("%d of %d processors, want %d of %d", u, n, used, number)
		}
	}
	check(before, before)
	procs.UseOne(true)
	check(before, 1)
	procs.UseOne(false)
	check(before, before)
	procs.Give(before + 3)
	check(before+3, before+3)
	procs.UseOne(true)
	check(before+3, 1)
	procs.Give(before)
	check(before, before)
}
