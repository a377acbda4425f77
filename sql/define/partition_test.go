package define

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
)

// TestNumberPartitions empties and splits partitions many times: numbers ascend, and none
// is used twice while it is noted as removed.
func TestNumberPartitions(t *testing.T) {
	r := rand.New(rand.NewPCG(testflag.Seed(1), 0))
	for range testflag.Rounds(20, 100, 1000) {
		p := &schema.Partitioning{Kind: schema.PartitionRange, Partitions: make([]schema.Partition, 3)}
		RenumberPartitions(p)
		copies := 0
		for range 200 {
			at := r.IntN(len(p.Partitions))
			n := 1 // TRUNCATE
			if r.IntN(3) == 0 {
				n = 1 + r.IntN(3)
			}
			to := min(at+1+r.IntN(2), len(p.Partitions))
			if n == 1 && r.IntN(2) == 0 {
				to = at + 1
			}
			more := make([]schema.Partition, n)
			old := slices.Clone(p.Partitions[at:to])
			fits := NumberPartitions(p, more, at, to)
			p.Partitions = slices.Concat(p.Partitions[:at], more, p.Partitions[to:])
			p.Removed = nil
			if fits {
				for i := range old {
					p.Removed = append(p.Removed, old[i].Number)
				}
			} else {
				RenumberPartitions(p)
				copies++
			}
			numbers := p.Numbers()
			for i, n := range numbers {
				if n <= 0 || i > 0 && n <= numbers[i-1] || slices.Contains(p.Removed, n) {
					t.Fatalf("numbers %v, removed %v", numbers, p.Removed)
				}
			}
		}
		if copies > 60 {
			t.Errorf("%d copies", copies)
		}
	}
	// The same partition, emptied every hour for a hundred years.
	p := &schema.Partitioning{Kind: schema.PartitionRange, Partitions: make([]schema.Partition, 3)}
	RenumberPartitions(p)
	for range 100 * 365 * 24 {
		p.Removed = []int64{p.Partitions[1].Number}
		if !NumberPartitions(p, p.Partitions[1:2], 1, 2) {
			t.Fatal("no number is left")
		}
	}
}
