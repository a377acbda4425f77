package txn

import (
	"bytes"
	"context"

	"github.com/sqlots/sqlots/storage"
)

// Locking implements storage.Txn.
func (t *Txn) Locking(wait storage.WaitPolicy) storage.Reader {
	return &lockingReader{latestReader: latestReader{t}, wait: wait}
}

// lockingReader locks what it reads before it reads the latest state of it: what it
// gives is what others leave as it is until the transaction ends.
type lockingReader struct {
	latestReader
	wait storage.WaitPolicy
	// watch, when set, only notes what is read.
	watch *watch
}

// lock comes before spans are read, which it may keep.
func (r *lockingReader) lock(ctx context.Context, spans ...storage.Span) error {
	if r.watch != nil {
		return r.watch.note(ctx, spans)
	}
	return r.t.lockRanges(ctx, spans, r.wait)
}

// only is the span of one key.
func only(key []byte) storage.Span {
	k := append(append(make([]byte, 0, 2*len(key)+1), key...), key...)
	k = append(k, 0)
	return storage.Span{Start: k[:len(key):len(key)], End: k[len(key):]}
}

// Get implements storage.Reader.
func (r *lockingReader) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := r.lock(ctx, only(key)); err != nil {
		return dst, err
	}
	return r.latestReader.Get(ctx, key, dst)
}

// BatchGet implements storage.Reader.
func (r *lockingReader) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	spans := make([]storage.Span, len(keys))
	for i, key := range keys {
		spans[i] = only(key)
	}
	if err := r.lock(ctx, spans...); err != nil {
		return err
	}
	return r.latestReader.BatchGet(ctx, keys, fn)
}

// Scan implements storage.Reader.
func (r *lockingReader) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if opts.Limit > 0 {
		return &lockingScanner{r: r, rest: UserSpan(span), opts: opts, size: opts.Limit}, nil
	}
	if err := r.lockSpan(ctx, span); err != nil {
		return nil, err
	}
	return r.latestReader.Scan(ctx, span, opts)
}

// ScanMany implements storage.ManyScanner. With a limit the spans are locked as far as they
// are read.
func (r *lockingReader) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	if opts.Limit > 0 {
		return storage.ScanEach(r, spans, opts), nil
	}
	own := make([]storage.Span, 0, len(spans))
	for _, span := range spans {
		if span, some := ownSpan(span); some {
			own = append(own, span)
		}
	}
	if err := r.lock(ctx, own...); err != nil {
		return nil, err
	}
	return r.latestReader.ScanMany(ctx, spans, opts)
}

// lockSpan is lock for a span of the caller.
func (r *lockingReader) lockSpan(ctx context.Context, span storage.Span) error {
	span, some := ownSpan(span)
	if !some {
		return nil
	}
	return r.lock(ctx, span)
}

// maxPiece is the number of pairs from which a scan locks all that is left of it.
const maxPiece = 4096

// lockingScanner locks and reads its span piece by piece, since its consumer is going
// to stop. It looks for the end of a piece, locks it, and reads what it then holds.
type lockingScanner struct {
	r    *lockingReader
	rest storage.Span // not locked yet
	all  bool         // nothing is left
	opts storage.ScanOptions
	size int // of the next piece, in pairs
	in   storage.Scanner
}

// Visit implements storage.Scanner.
func (s *lockingScanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	for {
		if s.in == nil {
			if s.all {
				return true, nil
			}
			if err := s.open(ctx); err != nil {
				return false, err
			}
		}
		done, err := s.in.Visit(ctx, fn)
		if err != nil || !done {
			return false, err
		}
		if err := s.Close(); err != nil {
			return false, err
		}
	}
}

// open opens the next piece.
func (s *lockingScanner) open(ctx context.Context) error {
	piece := s.rest
	s.all = true
	if s.size < maxPiece {
		last, err := s.look(ctx)
		if err != nil {
			return err
		}
		s.all = last == nil
		switch {
		case last == nil:
		case s.opts.Reverse:
			piece.Start, s.rest.End = last, last
		default:
			piece.End = append(last, 0)
			s.rest.Start = piece.End
		}
	}
	if err := s.r.lockSpan(ctx, piece); err != nil {
		return err
	}
	s.size *= 4
	var err error
	s.in, err = s.r.latestReader.Scan(ctx, piece, s.opts)
	return err
}

// look returns the last key of the next piece; nil where all that is left is smaller
// than a piece.
func (s *lockingScanner) look(ctx context.Context) (last []byte, err error) {
	scan, err := s.r.latestReader.Scan(ctx, s.rest, storage.ScanOptions{Reverse: s.opts.Reverse, KeyOnly: true, Limit: s.size})
	if err != nil {
		return nil, err
	}
	n := 0
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		if n++; n == s.size {
			last = bytes.Clone(key)
		}
		return n < s.size
	})
	if cerr := scan.Close(); err == nil {
		err = cerr
	}
	return last, err
}

// Close implements storage.Scanner.
func (s *lockingScanner) Close() error {
	if s.in == nil {
		return nil
	}
	in := s.in
	s.in = nil
	return in.Close()
}
