package txn

import (
	"bytes"
	"context"
	"slices"

	"github.com/sqlots/sqlots/storage"
)

// overlay reads a buffer laid over a base. Its scans see the writes made before
// they were opened.
type overlay struct {
	buf  *Buffer
	base storage.Reader
}

// over lays buf over base; an empty buffer hides nothing.
func over(buf *Buffer, base storage.Reader) storage.Reader {
	if buf == nil || buf.Len() == 0 {
		return base
	}
	return overlay{buf, base}
}

// Get implements storage.Reader.
func (o overlay) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	return getOver(ctx, o.buf, o.base, key, dst)
}

// BatchGet implements storage.Reader.
func (o overlay) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	return batchGetOver(ctx, o.buf, o.base, keys, fn)
}

// Scan implements storage.Reader.
func (o overlay) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	return scanOver(ctx, o.buf, o.base, span, opts)
}

// ScanMany implements storage.ManyScanner.
func (o overlay) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	return manyOver(ctx, o, o.buf, o.base, spans, opts)
}

// manyOver scans spans of base with the buffer laid over it, which is what all reads:
// together where base can do that and nothing in the spans is buffered.
func manyOver(ctx context.Context, all storage.Reader, buf *Buffer, base storage.Reader, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	if many, ok := base.(storage.ManyScanner); ok && !buf.writesIn(spans) {
		return many.ScanMany(ctx, spans, opts)
	}
	return storage.ScanEach(all, spans, opts), nil
}

// writesIn reports whether there are writes in one of some spans.
func (b *Buffer) writesIn(spans []storage.Span) bool {
	if b.Len() == 0 {
		return false
	}
	state := b.freeze()
	return slices.ContainsFunc(spans, func(s storage.Span) bool { return newCursor(state, s.Start, s.End, false).valid })
}

// getOver reads key from the buffer, else from base.
func getOver(ctx context.Context, buf *Buffer, base storage.Reader, key, dst []byte) ([]byte, error) {
	if buf.Len() > 0 {
		if e, ok := buf.find(key); ok {
			if v := e.value(); v != nil {
				return append(dst, v...), nil
			}
			return dst, storage.ErrNotFound
		}
	}
	return base.Get(ctx, key, dst)
}

// batchGetOver reads keys from the buffer, and from base those that the buffer does not
// have.
func batchGetOver(ctx context.Context, buf *Buffer, base storage.Reader, keys [][]byte,
	fn func(i int, value []byte) error) error {
	if buf.Len() == 0 {
		return base.BatchGet(ctx, keys, fn)
	}
	var missing [][]byte
	var index []int
	own := make(map[int]entry)
	for i, key := range keys {
		if e, ok := buf.find(key); ok {
			own[i] = e
			continue
		}
		missing = append(missing, key)
		index = append(index, i)
	}
	if len(own) == 0 {
		return base.BatchGet(ctx, keys, fn)
	}
	next := 0
	emitOwn := func(until int) error {
		for ; next < until; next++ {
			if err := fn(next, own[next].value()); err != nil {
				return err
			}
		}
		return nil
	}
	if len(missing) > 0 {
		err := base.BatchGet(ctx, missing, func(j int, value []byte) error {
			if err := emitOwn(index[j]); err != nil {
				return err
			}
			next++
			return fn(index[j], value)
		})
		if err != nil {
			return err
		}
	}
	return emitOwn(len(keys))
}

// scanOver opens a scan of base with the buffer laid over it. Without buffered
// writes in the span the scanner of base itself is returned.
func scanOver(ctx context.Context, buf *Buffer, base storage.Reader, span storage.Span,
	opts storage.ScanOptions) (storage.Scanner, error) {
	if buf.Len() == 0 {
		return base.Scan(ctx, span, opts)
	}
	span = UserSpan(span)
	cur := newCursor(buf.freeze(), span.Start, span.End, opts.Reverse)
	inner, err := base.Scan(ctx, span, opts)
	if err != nil || !cur.valid {
		return inner, err
	}
	return &mergeScanner{inner: inner, cur: cur, keyOnly: opts.KeyOnly, reverse: opts.Reverse}, nil
}

// mergeScanner lays buffered writes over the stream of an engine.
type mergeScanner struct {
	inner   storage.Scanner
	cur     *cursor
	keyOnly bool
	reverse bool

	innerDone bool
	// An engine pair that was taken from the stream while the caller stopped at
	// a buffered pair before it.
	pending            bool
	pendKey, pendValue []byte
	steps              int
}

// before reports whether the buffered entry comes before or at key, and whether
// it is at key.
func (s *mergeScanner) before(key []byte) (before, same bool) {
	c := bytes.Compare(s.cur.cur.key(), key)
	if s.reverse {
		c = -c
	}
	return c <= 0, c == 0
}

// emitCur delivers the buffered entry, unless it is a deletion, and advances.
func (s *mergeScanner) emitCur(fn func(key, value []byte) bool) bool {
	e := s.cur.cur
	s.cur.next()
	v := e.value()
	if v == nil {
		return true
	}
	if s.keyOnly {
		v = nil
	}
	return fn(e.key(), v)
}

// merge delivers all that comes up to and with the engine's pair. It returns
// whether the caller wants more and whether the pair has been dealt with.
func (s *mergeScanner) merge(key, value []byte, fn func(key, value []byte) bool) (more, used bool) {
	for s.cur.valid {
		before, same := s.before(key)
		if !before {
			break
		}
		if !s.emitCur(fn) {
			return false, same
		}
		if same {
			return true, true
		}
	}
	return fn(key, value), true
}

// Visit implements storage.Scanner.
func (s *mergeScanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	if s.pending {
		value := s.pendValue
		if s.keyOnly {
			value = nil
		}
		more, used := s.merge(s.pendKey, value, fn)
		s.pending = !used
		if !more {
			return false, nil
		}
	}
	if !s.innerDone {
		stopped := false
		done, err := s.inner.Visit(ctx, func(key, value []byte) bool {
			if !s.cur.valid {
				stopped = !fn(key, value)
				return !stopped
			}
			more, used := s.merge(key, value, fn)
			if !used {
				s.pending = true
				s.pendKey = append(s.pendKey[:0], key...)
				s.pendValue = append(s.pendValue[:0], value...)
			}
			stopped = !more
			return more
		})
		if err != nil || stopped {
			s.innerDone = done
			return false, err
		}
		s.innerDone = done
		if !done {
			return false, nil
		}
	}
	return s.tail(ctx, fn)
}

// tail delivers the buffered entries after the engine's last pair.
func (s *mergeScanner) tail(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	for s.cur.valid {
		if s.steps++; s.steps%256 == 0 && ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if !s.emitCur(fn) {
			return false, nil
		}
	}
	return true, nil
}

// Close implements storage.Scanner.
func (s *mergeScanner) Close() error { return s.inner.Close() }

// latestView is a snapshot under the buffer.
type latestView struct {
	storage.Reader
	s storage.Snapshot
}

// Seq implements storage.Snapshot.
func (v latestView) Seq() uint64 { return v.s.Seq() }

// Settled implements storage.Snapshot.
func (v latestView) Settled(ctx context.Context) (uint64, error) { return v.s.Settled(ctx) }

// ScanMany implements storage.ManyScanner.
func (v latestView) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	return storage.ScanMany(ctx, v.Reader, spans, opts)
}

// Close implements storage.Snapshot.
func (v latestView) Close() error { return v.s.Close() }

// latestReader reads the latest state plus own writes.
type latestReader struct{ t *Txn }

var _ storage.Reader = (*latestReader)(nil)

// Get implements storage.Reader.
func (r *latestReader) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := r.t.usable(); err != nil {
		return dst, err
	}
	return getOver(ctx, &r.t.buf, r.t.committed(), key, dst)
}

// BatchGet implements storage.Reader.
func (r *latestReader) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	if err := r.t.usable(); err != nil {
		return err
	}
	return batchGetOver(ctx, &r.t.buf, r.t.committed(), keys, fn)
}

// Scan implements storage.Reader.
func (r *latestReader) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if err := r.t.usable(); err != nil {
		return nil, err
	}
	return scanOver(ctx, &r.t.buf, r.t.committed(), span, opts)
}

// ScanMany implements storage.ManyScanner.
func (r *latestReader) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	if err := r.t.usable(); err != nil {
		return nil, err
	}
	return manyOver(ctx, r, &r.t.buf, r.t.committed(), spans, opts)
}

// committed is the latest committed state. Keys whose locks are held on other machines are
// not read again.
func (t *Txn) committed() storage.Reader {
	if t.remote == nil {
		return t.m.engine.Latest()
	}
	return heldReader{t.m.engine.Latest(), t.remote}
}

// heldReader reads the latest committed state of a transaction with locks on other machines.
type heldReader struct {
	storage.Reader
	remote Remote
}

// Get implements storage.Reader.
func (r heldReader) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	value, ok := r.remote.Known(key)
	switch {
	case !ok:
		return r.Reader.Get(ctx, key, dst)
	case ctx.Err() != nil:
		return dst, context.Cause(ctx)
	case value == nil:
		return dst, storage.ErrNotFound
	}
	return append(dst, value...), nil
}

// BatchGet implements storage.Reader.
func (r heldReader) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	values := make([][]byte, len(keys))
	var missing [][]byte
	var index []int
	for i, key := range keys {
		var ok bool
		if values[i], ok = r.remote.Known(key); !ok {
			missing, index = append(missing, key), append(index, i)
		}
	}
	if len(missing) == len(keys) {
		return r.Reader.BatchGet(ctx, keys, fn)
	}
	err := r.Reader.BatchGet(ctx, missing, func(j int, value []byte) error {
		values[index[j]] = bytes.Clone(value)
		return nil
	})
	for i := 0; i < len(keys) && err == nil; i++ {
		err = fn(i, values[i])
	}
	return err
}

// ScanMany implements storage.ManyScanner.
func (r heldReader) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	return storage.ScanMany(ctx, r.Reader, spans, opts)
}
