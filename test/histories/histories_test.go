package histories

import (
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// runLength is the number of transactions of a run.
func runLength() int {
	if *txns > 0 {
		return *txns
	}
	return testflag.Rounds(1_000, 2_000, 12_000)
}

// TestHistories looks for answers that no order of the transactions explains.
func TestHistories(t *testing.T) {
	startSpinning(t, *spinning)
	play(t, plan{txns: runLength(), settings: settings{Dir: t.TempDir(), Memory: *memory << 20, Fault: *fault, Rate: *faultRate, Pauses: *pauses}})
}

// TestIdleFiles: search indexes close their files between any two queries.
func TestIdleFiles(t *testing.T) {
	testflag.Normal(t)
	play(t, plan{txns: testflag.Rounds(500, 1_000, 3_000), settings: settings{Dir: t.TempDir(), Memory: *memory << 20, Idle: time.Millisecond}})
}

// TestCluster: the store is in a TiKV cluster.
func TestCluster(t *testing.T) {
	play(t, plan{txns: testflag.Rounds(300, 500, 3_000), settings: settings{Dir: t.TempDir(), Memory: *memory << 20, Cluster: true}})
}

// TestPauses: commits, reads and updates of search indexes pause between any two of
// their steps.
func TestPauses(t *testing.T) {
	play(t, plan{txns: testflag.Rounds(500, 1_000, 3_000), settings: settings{Dir: t.TempDir(), Memory: *memory << 20, Pauses: 0.1}})
}

// TestFaults proves that a run finds faults of search indexes.
func TestFaults(t *testing.T) {
	testflag.Normal(t)
	for name, s := range map[string]settings{
		"a changed row is not looked at": {Fault: "changed", Rate: 0.01},
		"a view ends one commit early":   {Fault: "at", Rate: 0.01},
	} {
		t.Run(name, func(t *testing.T) {
			s.Dir, s.Memory = t.TempDir(), *memory<<20
			if r := play(t, plan{txns: 20_000, settings: s, expected: true}); r.findings == 0 {
				t.Error("it was not found")
			}
		})
	}
}
