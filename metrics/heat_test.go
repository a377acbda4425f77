package metrics

import (
	"encoding/binary"
	"testing"
	"time"
)

func numbered(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// cutsTo are n-1 cuts of the numbers below end.
func cutsTo(end, n int) (out [][]byte) {
	for i := 1; i < n; i++ {
		out = append(out, numbered(end*i/n))
	}
	return out
}

// heatAt is a Heat with a clock that the test sets.
func heatAt(now *time.Time) *Heat { return &Heat{now: func() time.Time { return *now }} }

// TestSampler: one access in 1,024 is chosen, however they are divided among samplers,
// and also where the same two rows are read in turns.
func TestSampler(t *testing.T) {
	const n = 1 << 21
	for _, life := range []int{1, 3, 1000, n} {
		chosen := [2]int{}
		var s Sampler
		for i := range n {
			if i%life == 0 {
				s = Sampler{}
			}
			if s.Next() {
				chosen[i&1]++
			}
		}
		for i, c := range chosen { // 1,024 expected, with a standard deviation of 32
			if c < 1024-6*32 || c > 1024+6*32 {
				t.Errorf("a sampler for each %d accesses: %d of %d accesses at place %d chosen", life, c, n/2, i)
			}
		}
	}
}

// TestAccesses: keys in lists are chosen as single ones are.
func TestAccesses(t *testing.T) {
	now := time.Unix(600_000, 0)
	h := heatAt(&now)
	var a Accesses
	a.Of(h, 7)
	keys := make([][]byte, 700)
	for i := range keys {
		keys[i] = numbered(i)
	}
	a.Keys(keys, true) // the table is not known
	for range 3000 {
		a.Keys(keys, true)
	}
	h.Note(7, numbered(0), false)
	h.Choose(7, cutsTo(700, 7))
	for range 3000 {
		a.Keys(keys, true)
	}
	_, list := h.Last(7)
	for r, n := range list[0].Writes { // 293 expected, and those of the first keys
		if n < 200 || n > 500 {
			t.Errorf("range %d: %d samples", r, n)
		}
	}
	(&Accesses{}).Keys(keys, false)
}

// TestHeat: accesses are in their range and minute, also those from before the ranges
// were known; minutes are forgotten after an hour.
func TestHeat(t *testing.T) {
	start := time.Unix(600_000, 0)
	now := start
	h := heatAt(&now)
	h.Note(1, numbered(5), false)
	h.Note(1, numbered(99), true)
	now = now.Add(time.Minute)
	if due := h.Due(); len(due) != 1 || due[0] != 1 {
		t.Fatalf("due: %v", due)
	}
	h.Choose(1, cutsTo(100, 10))
	h.Note(2, numbered(1), true)
	h.Choose(2, nil)
	if due := h.Due(); len(due) != 1 || due[0] != 2 {
		t.Fatalf("a single range, of rows that were not committed: %v", due)
	}
	delete(h.tables, 2)
	if due := h.Due(); len(due) != 0 {
		t.Fatalf("due: %v", due)
	}
	h.Note(1, numbered(10), false) // the first of the second range
	h.Note(1, numbered(9), false)
	cuts, list := h.Last(1)
	if len(cuts) != 9 || len(list) != 2 || !list[0].Start.Equal(start) || list[0].Reads[0] != 1 || list[0].Writes[9] != 1 || list[1].Reads[0] != 1 || list[1].Reads[1] != 1 {
		t.Fatalf("%v", list)
	}
	now = start.Add(59*time.Minute + 59*time.Second)
	if _, list := h.Last(1); len(list) != 2 {
		t.Errorf("after 59 minutes: %v", list)
	}
	now = start.Add(60 * time.Minute)
	if _, list := h.Last(1); len(list) != 1 {
		t.Errorf("after 60 minutes: %v", list)
	}
	h.Note(1, numbered(9), false) // takes the place of the first minute
	if _, list := h.Last(1); len(list) != 2 || list[1].Reads[0] != 1 || list[1].Writes[9] != 0 {
		t.Errorf("%v", list)
	}
	h.Keep(func(uint64) bool { return false })
	if _, list := h.Last(1); list != nil {
		t.Errorf("kept: %v", list)
	}
}

// TestHeatGrows: a table that has grown at its end gets new ranges, without losing what
// was counted; one that has not keeps its own.
func TestHeatGrows(t *testing.T) {
	now := time.Unix(600_000, 0)
	h := heatAt(&now)
	h.Note(1, numbered(5), true)
	h.Choose(1, cutsTo(100, 10))
	for i := range 1000 {
		h.Note(1, numbered(i), true)
	}
	total := func() (n uint32) {
		_, list := h.Last(1)
		for _, m := range list {
			for _, w := range m.Writes {
				n += w
			}
		}
		return n
	}
	h.Choose(1, cutsTo(108, 10))
	if cuts, _ := h.Cuts(1); string(cuts[8]) != string(numbered(90)) {
		t.Error("new ranges for a table of the same size")
	}
	now = now.Add(2 * time.Minute)
	if len(h.Due()) != 0 {
		t.Error("ranges of a table that is not used are due")
	}
	h.Note(1, numbered(5), true)
	if len(h.Due()) != 1 {
		t.Error("ranges are not due")
	}
	h.Choose(1, cutsTo(1000, 10))
	if cuts, list := h.Last(1); string(cuts[0]) != string(numbered(100)) || list[0].Writes[0] != 91+91 || list[0].Writes[9] != 91 {
		t.Errorf("%x %v", cuts, list)
	}
	if n := total(); n != 1002 {
		t.Errorf("%d samples of 1002", n)
	}
	h.Choose(1, cutsTo(1000, 200))
	if cuts, _ := h.Cuts(1); len(cuts) != HeatRanges-1 || total() != 1002 {
		t.Errorf("%d cuts, %d samples", len(cuts), total())
	}
}

// TestHeatBounds: of many tables those that were used last are kept.
func TestHeatBounds(t *testing.T) {
	now := time.Unix(600_000, 0)
	h := heatAt(&now)
	for i := range 3 * heatTables {
		for range 2 * heatKeys {
			h.Note(uint64(i), numbered(i), false)
		}
		now = now.Add(time.Second)
	}
	due := h.Due()
	if len(due) != heatTables || due[0] != 2*heatTables {
		t.Errorf("%d tables from %d", len(due), due[0])
	}
	if n := len(h.tables[due[0]].early); n != heatKeys {
		t.Errorf("%d keys", n)
	}
	off := &Heat{off: true}
	off.Note(1, numbered(1), false)
	if len(off.Due()) != 0 {
		t.Error("it is off")
	}
}

// BenchmarkSampler is what an access costs: one in 1,024 is noted.
func BenchmarkSampler(b *testing.B) {
	var h Heat
	h.Note(1, numbered(1), false)
	h.Choose(1, cutsTo(1000, 64))
	var a Accesses
	a.Of(&h, 1)
	key := numbered(500)
	for b.Loop() {
		if a.Next() {
			a.Note(key, false)
		}
	}
}

// BenchmarkNote is what one that is noted costs.
func BenchmarkNote(b *testing.B) {
	var h Heat
	h.Note(1, numbered(1), false)
	h.Choose(1, cutsTo(1000, 64))
	key := numbered(500)
	for b.Loop() {
		h.Note(1, key, false)
	}
}
