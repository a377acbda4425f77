package kvread

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/storage"
)

// pairs is a reader of sorted keys that counts the scans that are open.
type pairs struct {
	storage.Reader // nil: nothing else is read
	keys           [][]byte
	open, most     int
}

func (p *pairs) Scan(_ context.Context, s storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	sc := &pairScan{of: p}
	for _, k := range p.keys {
		if bytes.Compare(k, s.Start) >= 0 && (s.End == nil || bytes.Compare(k, s.End) < 0) {
			sc.keys = append(sc.keys, k)
		}
	}
	if opts.Reverse {
		slices.Reverse(sc.keys)
	}
	p.open++
	p.most = max(p.most, p.open)
	return sc, nil
}

type pairScan struct {
	of   *pairs
	keys [][]byte
}

func (s *pairScan) Visit(_ context.Context, fn func(key, val []byte) bool) (bool, error) {
	for len(s.keys) > 0 {
		k := s.keys[0]
		s.keys = s.keys[1:]
		if !fn(k, []byte("v")) {
			return false, nil
		}
	}
	return true, nil
}

func (s *pairScan) Close() error {
	if s.of != nil {
		s.of.open--
		s.of = nil
	}
	return nil
}

// TestMergeWalk: pairs of few and of many streams come in order, in parts of any
// size, equal ones in the order of the streams. Many streams are not open at once,
// and their memory is counted.
func TestMergeWalk(t *testing.T) {
	const perStream = 6
	for _, streams := range []int{1, 2, 3, maxOpen - 1, maxOpen, maxOpen + 1, 2*maxOpen + 5} {
		for _, reverse := range []bool{false, true} {
			for _, part := range []int{1, 7, 10_000} {
				t.Run(fmt.Sprintf("%d/%v/%d", streams, reverse, part), func(t *testing.T) {
					testMergeWalk(t, streams, perStream, reverse, part)
				})
			}
		}
	}
}

func testMergeWalk(t *testing.T, streams, perStream int, reverse bool, part int) {
	rd := &pairs{}
	var want []string
	mem := exec.NewTracker("test", 1<<30)
	w := &walker{reader: rd, opts: storage.ScanOptions{Reverse: reverse}, merge: &mergeWalk{mem: mem}}
	for i := range streams {
		prefix := fmt.Sprintf("%04d", i)
		for j := range perStream {
			// Values of neighbours overlap, and the last of a stream is that of all.
			k := fmt.Sprintf("%s%05d", prefix, i/2*3+j)
			if j == perStream-1 {
				k = prefix + "77777"
			}
			rd.keys = append(rd.keys, []byte(k))
			want = append(want, k)
		}
		mid := fmt.Sprintf("%s%05d", prefix, i/2*3+2) // two spans, that meet
		spans := []storage.Span{{Start: []byte(prefix), End: []byte(mid)}, {Start: []byte(mid), End: []byte(prefix + "~")}}
		if err := w.merge.add(len(prefix), spans); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.merge.add(4, nil); err != nil || len(w.merge.streams) != streams {
		t.Errorf("a stream without spans: %v, %d streams", err, len(w.merge.streams))
	}
	slices.SortFunc(want, func(a, b string) int {
		c := bytes.Compare([]byte(a[4:]), []byte(b[4:]))
		if c == 0 {
			c = bytes.Compare([]byte(a), []byte(b))
		}
		if reverse {
			c = -c
		}
		return c
	})
	var got []string
	left := 0
	w.init(func(key, _ []byte) bool {
		got = append(got, string(key))
		left--
		return left > 0
	})
	for !w.done() {
		left = part
		if err := w.fill(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		if left < 0 {
			t.Fatalf("more than %d pairs at once", part)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d pairs %.60v…, want %d %.60v…", len(got), got, len(want), want)
	}
	if rd.open != 0 || rd.most > maxOpen {
		t.Errorf("%d scans are left open, there were %d at once", rd.open, rd.most)
	}
	if w.count.Pairs != int64(len(want)) {
		t.Errorf("%d pairs are counted of %d", w.count.Pairs, len(want))
	}
}

// TestMergeWalkRuns: pairs that follow each other in one stream are read by one scan,
// also where there are many streams.
func TestMergeWalkRuns(t *testing.T) {
	const perStream = 50
	for _, streams := range []int{2, 2 * maxOpen} {
		rd := &pairs{}
		w := &walker{reader: rd, merge: &mergeWalk{mem: exec.NewTracker("test", 1<<30)}}
		for i := range streams {
			prefix := fmt.Sprintf("%04d", i)
			for j := range perStream {
				rd.keys = append(rd.keys, fmt.Appendf(nil, "%s%05d", prefix, i*perStream+j))
			}
			if err := w.merge.add(len(prefix), []storage.Span{{Start: []byte(prefix), End: []byte(prefix + "~")}}); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		w.init(func([]byte, []byte) bool { n++; return true })
		if err := w.fill(t.Context(), 1); err != nil || !w.done() {
			t.Fatal(err)
		}
		if n != streams*perStream || w.count.Pairs != int64(n) {
			t.Errorf("%d streams gave %d pairs, counted as %d", streams, n, w.count.Pairs)
		}
		if most := int64(2 * streams); w.count.Seeks > most {
			t.Errorf("%d streams took %d seeks, want at most %d", streams, w.count.Seeks, most)
		}
	}
}

// TestMergeWalkMemory: beyond the streams that may be open, each is counted with all
// its keys, and one that has no room is refused.
func TestMergeWalkMemory(t *testing.T) {
	mem := exec.NewTracker("test", 1<<20)
	m := &mergeWalk{mem: mem}
	add := func(start, end int) (grown int64) {
		before := mem.Used()
		if err := m.add(1, []storage.Span{{Start: make([]byte, start), End: make([]byte, end)}}); err != nil {
			t.Fatal(err)
		}
		return mem.Used() - before
	}
	for range maxOpen {
		if n := add(5000, 5000); n != 0 {
			t.Fatalf("a stream that is open counts as %d bytes", n)
		}
	}
	if !m.opensAtOnce() {
		t.Error("the streams are not opened at once")
	}
	base := add(0, 0)
	if m.opensAtOnce() {
		t.Error("streams beyond the bound are opened at once")
	}
	if base < 2*headSize {
		t.Errorf("a stream counts as %d bytes", base)
	}
	for _, c := range [][2]int{{1000, 0}, {0, 2000}, {300, 400}} {
		if n, want := add(c[0], c[1]), base+int64(c[0]+c[1]); n != want {
			t.Errorf("a stream of keys of %d and %d bytes counts as %d bytes, want %d", c[0], c[1], n, want)
		}
	}
	n := len(m.streams)
	if err := m.add(1, []storage.Span{{Start: make([]byte, 2<<20)}}); err == nil || len(m.streams) != n {
		t.Errorf("a stream beyond the limit: %v", err)
	}
}
