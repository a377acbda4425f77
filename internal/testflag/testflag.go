package testflag

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of random tests; 0 for the test's own")
	rounds = flag.Int("rounds", 0, "rounds of random tests; 0 for as many as the length of the run asks for")
	long   = flag.Bool("long", false, "run the long form of tests")
	update = flag.Bool("update", false, "write expected results again")
	whole  = flag.Bool("recorded", false, "compare all recorded results, whatever the length of the run")
)

// Seed is -seed, or else own.
func Seed(own uint64) uint64 {
	if *seed != 0 {
		return *seed
	}
	return own
}

// AnySeed is -seed, or else one of the time, which is logged.
func AnySeed(t testing.TB) uint64 {
	t.Helper()
	n := Seed(uint64(time.Now().UnixNano()))
	t.Logf("-seed %d", n)
	return n
}

// Rounds is -rounds, or else Pick.
func Rounds(short, normal, long int) int {
	if *rounds != 0 {
		return *rounds
	}
	return Pick(short, normal, long)
}

// Pick chooses by the length of the run: -short, neither, -long.
func Pick[T any](short, normal, longest T) T {
	switch {
	case *long:
		return longest
	case testing.Short():
		return short
	}
	return normal
}

// PickRecorded is Pick for recorded results: with -recorded all are compared, and -update
// writes them whole.
func PickRecorded[T any](short, normal, longest T) T {
	if *update || *whole {
		return longest
	}
	return Pick(short, normal, longest)
}

// InShort is short with -short, and normal otherwise, also with -update: recorded results
// are written whole. It is for tests without a long form.
func InShort[T any](short, normal T) T {
	if testing.Short() && !*long && !*update {
		return short
	}
	return normal
}

// Share says which cases of a long list a test takes: each short-th, normal-th or
// longest-th, by the length of the run, from one that the seed chooses.
func Share(t testing.TB, short, normal, longest uint64) func(i int) bool {
	t.Helper()
	every := Pick(short, normal, longest)
	first := AnySeed(t) % every
	return func(i int) bool { return uint64(i)%every == first }
}

// Normal skips a test with -short.
func Normal(t testing.TB) {
	t.Helper()
	if testing.Short() && !*long {
		t.Skip("not with -short")
	}
}

// Long skips a test without -long.
func Long(t testing.TB) {
	t.Helper()
	if !*long {
		t.Skip("only with -long")
	}
}

// Update reports -update: expected results are written, not compared.
func Update() bool { return *update }

// MainWaits is Main for a package whose parallel tests wait most of their time: atOnce of
// them run at once, or as many as there are processors, if -parallel does not say otherwise.
func MainWaits(m *testing.M, atOnce int) {
	if err := flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err) // the testing package has no such flag any more
	}
	Main(m)
}

// Main runs the tests of a package after CollectSeldom.
func Main(m *testing.M) {
	CollectSeldom()
	os.Exit(m.Run())
}

// CollectSeldom is for packages that allocate much and hold little: collecting garbage
// less often takes a quarter from their time. Not for those whose tests run servers in
// child processes, which are to have the memory of real ones.
func CollectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
