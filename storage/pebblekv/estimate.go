package pebblekv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sqlots/sqlots/storage"
)

const (
	// minPartBytes is the size below which a piece is not worth a scan of its
	// own.
	minPartBytes = 1 << 20
	// samplePairs is how many pairs EstimateSize reads if the tables on disk give no
	// estimate.
	samplePairs = 512
	// cutsPerPart is how many places for a cut are looked at for each piece.
	cutsPerPart = 8
)

// EstimateSize implements storage.Store. What is in the write buffers only is
// underestimated.
func (s *Store) EstimateSize(_ context.Context, span storage.Span) (int64, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.exit()
	span, err := s.closeSpan(span)
	if err != nil {
		return 0, err
	}
	return s.estimate(span)
}

// estimate is EstimateSize of a closed span.
func (s *Store) estimate(span storage.Span) (int64, error) {
	if bytes.Compare(span.Start, span.End) >= 0 {
		return 0, nil
	}
	onDisk, err := s.db.EstimateDiskUsage(span.Start, span.End)
	if err != nil {
		return 0, mapError(err)
	}
	if onDisk >= minPartBytes {
		return int64(onDisk), nil
	}
	sample, _, err := s.sample(span)
	if errors.Is(err, storage.ErrCorruption) {
		err = nil // the size of the files is known
	}
	return max(int64(onDisk), sample), err
}

// errSpared: there is damage in a group, which was read lately.
var errSpared = fmt.Errorf("%w: the group has damage", storage.ErrCorruption)

// sample is the size of the first pairs of span, and whether they were all.
func (s *Store) sample(span storage.Span) (size int64, all bool, err error) {
	if s.damaged.spares(span) {
		return 0, false, errSpared
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: span.Start, UpperBound: span.End})
	if err != nil {
		return 0, false, mapError(err)
	}
	n := 0
	ok := it.First()
	for ; ok && n < samplePairs; ok = it.Next() {
		lv := it.LazyValue()
		size += int64(len(it.Key()) + lv.Len())
		n++
	}
	return size, !ok, s.metIn(span, it.Close())
}

// metIn gives an error of reading a span for an estimate its class, and notes
// damage.
func (s *Store) metIn(span storage.Span, err error) error {
	if g, ok := groupOfSpan(span); ok && err != nil {
		s.damaged.met(g, err)
	}
	return mapError(err)
}

// Partitions implements storage.Store. Places for cuts are the borders of the
// tables on disk and keys at even distances between the first and last key;
// each is weighed by the space before it.
func (s *Store) Partitions(_ context.Context, span storage.Span, n int) []storage.Span {
	whole := []storage.Span{span}
	if n <= 1 || s.enter() != nil {
		return whole
	}
	defer s.exit()
	closed, err := s.closeSpan(span)
	if err != nil || bytes.Compare(closed.Start, closed.End) >= 0 {
		return whole
	}
	cuts, err := s.cuts(closed, n)
	if err != nil || len(cuts) == 0 {
		return whole
	}
	sizes, total := s.weigh(closed, cuts)
	if total < minPartBytes {
		// Little on disk; the write buffers may hold more than one scan's worth.
		_, all, err := s.sample(closed)
		if err != nil || all {
			return whole
		}
	} else {
		n = int(min(uint64(n), (total+minPartBytes-1)/minPartBytes))
	}
	return cutSpan(span, cuts, sizes, n)
}

// cuts are keys inside span, ascending, at which it may be cut. Where there is
// damage only the borders of tables are taken.
func (s *Store) cuts(span storage.Span, n int) ([][]byte, error) {
	tables, err := s.db.SSTables(pebble.WithKeyRangeFilter(span.Start, span.End))
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for _, level := range tables {
		for i := range level {
			keys = append(keys, level[i].Smallest.UserKey)
		}
	}
	first, last := span.Start, span.End
	if !s.damaged.spares(span) {
		var found [][]byte
		first, last, found, err = s.seekCuts(span, n)
		if errors.Is(err, storage.ErrCorruption) {
			first, last, err = span.Start, span.End, nil
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, found...)
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	return slices.DeleteFunc(keys, func(k []byte) bool {
		return bytes.Compare(k, first) <= 0 || bytes.Compare(k, last) > 0
	}), nil
}

// seekCuts finds the first and the last key of span, and keys between them.
func (s *Store) seekCuts(span storage.Span, n int) (first, last []byte, keys [][]byte, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: span.Start, UpperBound: span.End})
	if err != nil {
		return nil, nil, nil, mapError(err)
	}
	if it.First() {
		first = bytes.Clone(it.Key())
	}
	if it.Error() == nil && it.Last() {
		last = bytes.Clone(it.Key())
	}
	for _, key := range interpolate(first, last, n*cutsPerPart) {
		if it.Error() != nil {
			break
		}
		if it.SeekGE(key) {
			keys = append(keys, bytes.Clone(it.Key()))
		}
	}
	return first, last, keys, s.metIn(span, it.Close())
}

// interpolate gives n keys at even distances between first and last, by the eight bytes
// after their common prefix.
func interpolate(first, last []byte, n int) [][]byte {
	p := 0
	for p < len(first) && p < len(last) && first[p] == last[p] {
		p++
	}
	lo, hi := word(first[p:]), word(last[p:])
	if hi <= lo {
		return nil
	}
	step := (hi - lo) / uint64(n+1)
	if step == 0 {
		step = 1
	}
	var out [][]byte
	for i, x := 0, lo+step; i < n && x < hi && x > lo; i, x = i+1, x+step {
		out = append(out, binary.BigEndian.AppendUint64(bytes.Clone(first[:p]), x))
	}
	return out
}

// word is the number in the first eight bytes of b.
func word(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.BigEndian.Uint64(w[:])
}

// weigh returns the space of each piece between the cuts. Every piece weighs at
// least 1, for what is not on disk yet.
func (s *Store) weigh(span storage.Span, cuts [][]byte) (sizes []uint64, total uint64) {
	start := span.Start
	for i := 0; i <= len(cuts); i++ {
		end := span.End
		if i < len(cuts) {
			end = cuts[i]
		}
		size, err := s.db.EstimateDiskUsage(start, end)
		if err != nil {
			size = 0
		}
		sizes = append(sizes, size+1)
		total += size
		start = end
	}
	return sizes, total
}

// cutSpan joins neighbouring pieces into at most n of about equal size.
func cutSpan(span storage.Span, cuts [][]byte, sizes []uint64, n int) []storage.Span {
	var total, sum uint64
	for _, size := range sizes {
		total += size
	}
	var out []storage.Span
	start := span.Start
	for i, cut := range cuts {
		sum += sizes[i]
		if len(out) < n-1 && sum*uint64(n) >= total*uint64(len(out)+1) {
			out = append(out, storage.Span{Start: start, End: cut})
			start = cut
		}
	}
	return append(out, storage.Span{Start: start, End: span.End})
}
