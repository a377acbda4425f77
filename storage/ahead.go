package storage

import (
	"bytes"
	"context"
	"errors"
)

// aheadBytes bounds what an Ahead holds.
const aheadBytes = 8 << 20

// Ahead reads a store, and holds spans that were read together before they are scanned:
// scans of just these spans take no call. Who reads ahead sees to it that nothing relevant
// changes there until the scan. It belongs to one goroutine. A nil Ahead holds nothing.
type Ahead struct {
	Reader
	spans map[string]*aheadSpan
	bytes int
}

// aheadSpan are the pairs of a span.
type aheadSpan struct {
	end   []byte
	pairs []aheadPair
}

type aheadPair struct{ key, value []byte }

// NewAhead reads what base has.
func NewAhead(base Reader) *Ahead { return &Ahead{Reader: base} }

// Forget drops the spans.
func (a *Ahead) Forget() {
	if a != nil {
		a.spans, a.bytes = nil, 0
	}
}

// Full reports that nothing more fits.
func (a *Ahead) Full() bool { return a.bytes >= aheadBytes }

// Has reports whether a span was read.
func (a *Ahead) Has(span Span) bool {
	if a == nil {
		return false
	}
	s := a.spans[string(span.Start)]
	return s != nil && bytes.Equal(s.end, span.End)
}

// Read reads the spans that it does not hold. It ends early, and leaves the rest to their
// scans, after so many pairs or when it is full.
func (a *Ahead) Read(ctx context.Context, spans []Span, pairs int) error {
	var want []Span
	for _, span := range spans {
		if !a.Has(span) {
			want = append(want, span)
		}
	}
	if len(want) == 0 {
		return nil
	}
	scan, err := ScanMany(ctx, a.Reader, want, ScanOptions{})
	if err != nil {
		return err
	}
	list := make([]aheadSpan, 1, len(want))
	done, err := scan.Visit(ctx, func(i int, key, value []byte) bool {
		for len(list) <= i {
			list = append(list, aheadSpan{})
		}
		list[i].pairs = append(list[i].pairs, aheadPair{bytes.Clone(key), bytes.Clone(value)})
		a.bytes += len(key) + len(value)
		pairs--
		return pairs > 0 && a.bytes < aheadBytes
	})
	if err := errors.Join(err, scan.Close()); err != nil {
		return err
	}
	a.keep(want, list, done)
	return nil
}

// keep holds the spans that were read to their ends.
func (a *Ahead) keep(spans []Span, list []aheadSpan, done bool) {
	if a.spans == nil {
		a.spans = make(map[string]*aheadSpan, len(spans))
	}
	if !done {
		spans, list = spans[:len(list)-1], list[:len(list)-1]
	}
	for i, span := range spans {
		s := &aheadSpan{end: span.End}
		if i < len(list) {
			s.pairs = list[i].pairs
		}
		a.spans[string(span.Start)] = s
	}
}

// Scan implements Reader.
func (a *Ahead) Scan(ctx context.Context, span Span, opts ScanOptions) (Scanner, error) {
	if opts.Reverse || !a.Has(span) {
		return a.Reader.Scan(ctx, span, opts)
	}
	return &aheadScanner{pairs: a.spans[string(span.Start)].pairs, keyOnly: opts.KeyOnly}, nil
}

// ScanMany implements ManyScanner.
func (a *Ahead) ScanMany(ctx context.Context, spans []Span, opts ScanOptions) (SpansScanner, error) {
	return ScanMany(ctx, a.Reader, spans, opts)
}

// aheadScanner is a scan of pairs that are there.
type aheadScanner struct {
	pairs   []aheadPair
	keyOnly bool
}

// Visit implements Scanner.
func (s *aheadScanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	for len(s.pairs) > 0 {
		p := s.pairs[0]
		s.pairs = s.pairs[1:]
		if s.keyOnly {
			p.value = nil
		}
		if !fn(p.key, p.value) {
			return false, nil
		}
	}
	return true, nil
}

// Close implements Scanner.
func (s *aheadScanner) Close() error {
	s.pairs = nil
	return nil
}
