package pebblekv

import (
	"context"
	"runtime"

	"github.com/sqlots/sqlots/storage"
)

// imageScanner implements storage.Scanner on an image and the changes since.
type imageScanner struct {
	store    *Store
	g        group
	im       *image
	from, to place // what is left
	changes  changeWalk
	// stop is the place of the current change: ascending, the first pair not before it;
	// descending, the first one after it.
	stop place
	// rest is the far end of the span while the place for it is only as far
	// away as the limit.
	rest    []byte
	reverse bool
	keyOnly bool
	runs    uint
	read    int64
	buf     []byte // a packed pair
}

func newImageScanner(s *Store, g group, v view, span storage.Span, opts storage.ScanOptions) *imageScanner {
	sc, _ := opts.Reuse.(*imageScanner)
	if sc == nil {
		sc = new(imageScanner)
	}
	*sc = imageScanner{store: s, g: g, im: v.im, reverse: opts.Reverse, keyOnly: opts.KeyOnly, buf: sc.buf,
		changes: newChangeWalk(v.changes, span.Start, span.End, v.im.since, v.seq, opts.Reverse)}
	limit := opts.Limit
	if sc.changes.has {
		limit = 0
	}
	if sc.reverse {
		sc.to = v.im.seek(span.End)
		if row := sc.to.row - limit; limit > 0 && row >= 0 && sc.to.chunk < len(v.im.chunks) && v.im.chunks[sc.to.chunk].compare(row, span.Start) >= 0 {
			sc.from, sc.rest = place{sc.to.chunk, row}, span.Start
		} else {
			sc.from = v.im.seek(span.Start)
		}
	} else {
		sc.from = v.im.seek(span.Start)
		if row := sc.from.row + limit; limit > 0 && sc.from.chunk < len(v.im.chunks) && row < v.im.chunks[sc.from.chunk].rows() && v.im.chunks[sc.from.chunk].compare(row, span.End) < 0 {
			sc.to, sc.rest = place{sc.from.chunk, row}, span.End
		} else {
			sc.to = v.im.seek(span.End)
		}
	}
	sc.place()
	return sc
}

// widen goes on after the limit; false at the end of the span.
func (sc *imageScanner) widen() bool {
	if sc.rest == nil {
		return false
	}
	if sc.reverse {
		sc.from = sc.im.seek(sc.rest)
	} else {
		sc.to = sc.im.seek(sc.rest)
	}
	sc.rest = nil
	sc.place()
	return sc.from != sc.to
}

// place finds the current change among the pairs.
func (sc *imageScanner) place() {
	switch {
	case !sc.changes.has && sc.reverse:
		sc.stop = sc.from
	case !sc.changes.has:
		sc.stop = sc.to
	case sc.reverse:
		sc.stop = sc.im.seek(sc.changes.cur.key())
		if sc.im.at(sc.stop, sc.changes.cur.key()) {
			sc.stop = sc.im.after(sc.stop)
		}
	default:
		sc.stop = sc.im.seekFrom(sc.from, sc.to, sc.changes.cur.key())
	}
}

// Visit implements storage.Scanner.
func (sc *imageScanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if sc.im == nil && (sc.from != sc.to || sc.changes.has) || sc.store.closing.Load() {
			return false, storage.ErrClosed
		}
		if sc.runs++; sc.runs%yieldEvery == 0 {
			runtime.Gosched()
		}
		for budget := checkEvery; budget > 0; {
			if sc.from == sc.to && !sc.changes.has && !sc.widen() {
				return true, nil
			}
			n, more := 1, false
			switch {
			case !sc.reverse && sc.from != sc.stop:
				n, more = sc.forward(fn, budget)
			case sc.reverse && sc.to != sc.stop:
				n, more = sc.backward(fn, budget)
			default:
				more = sc.change(fn)
			}
			if !more {
				return false, nil
			}
			budget -= n
		}
	}
}

// change delivers the current change in place of the pair of its key.
func (sc *imageScanner) change(fn func(key, value []byte) bool) bool {
	key, value := sc.changes.cur.key(), sc.changes.cur.value()
	switch {
	case !sc.reverse && sc.from != sc.to && sc.im.at(sc.from, key):
		sc.from = sc.im.after(sc.from)
	case sc.reverse && sc.to != sc.from:
		if p := sc.im.before(sc.to); sc.im.at(p, key) {
			sc.to = p
		}
	}
	sc.changes.next()
	sc.place()
	if value == nil {
		return true
	}
	sc.read += int64(len(key) + len(value))
	if sc.keyOnly {
		value = nil
	}
	return fn(key, value)
}

// forward delivers up to n pairs of a chunk before stop, and says how many; more
// is false when fn has enough.
func (sc *imageScanner) forward(fn func(key, value []byte) bool, n int) (_ int, more bool) {
	ch := &sc.im.chunks[sc.from.chunk]
	end := ch.rows()
	if sc.from.chunk == sc.stop.chunk {
		end = sc.stop.row
	}
	row := sc.from.row
	end = min(end, row+n)
	if ch.packed != nil {
		for more = true; more && row < end; row++ {
			more = sc.deliver(ch.packed, row, fn)
		}
		n = row - sc.from.row
		if sc.from.row = row; row == ch.rows() {
			sc.from = place{sc.from.chunk + 1, 0}
		}
		return n, more
	}
	start := uint32(0)
	if row > 0 {
		start = ch.ends[2*row-1]
	}
	first := start
	ends, data := ch.ends[2*row:2*end], ch.data
	more = true
	for ; more && len(ends) >= 2; ends = ends[2:] {
		k, v := ends[0], ends[1]
		key, value := data[start:k:k], data[k:v:v]
		start = v
		if sc.keyOnly {
			value = nil
		}
		more = fn(key, value)
		row++
	}
	n = row - sc.from.row
	sc.read += int64(start - first)
	if sc.from.row = row; row == ch.rows() {
		sc.from = place{sc.from.chunk + 1, 0}
	}
	return n, more
}

// backward is forward from the other end.
func (sc *imageScanner) backward(fn func(key, value []byte) bool, n int) (done int, more bool) {
	if sc.to.row == 0 {
		sc.to.chunk--
		sc.to.row = sc.im.chunks[sc.to.chunk].rows()
	}
	ch := &sc.im.chunks[sc.to.chunk]
	start := 0
	if sc.stop.chunk == sc.to.chunk {
		start = sc.stop.row
	}
	start = max(start, sc.to.row-n)
	for sc.to.row > start {
		sc.to.row--
		done++
		i := sc.to.row
		if ch.packed != nil {
			if !sc.deliver(ch.packed, i, fn) {
				return done, false
			}
			continue
		}
		k, v := ch.ends[2*i], ch.ends[2*i+1]
		key, value := ch.key(i), ch.data[k:v:v]
		sc.read += int64(len(key) + len(value))
		if sc.keyOnly {
			value = nil
		}
		if !fn(key[:len(key):len(key)], value) {
			return done, false
		}
	}
	return done, true
}

// deliver delivers a packed pair.
func (sc *imageScanner) deliver(p *packed, row int, fn func(key, value []byte) bool) bool {
	var key, value []byte
	if sc.keyOnly {
		sc.buf = p.key(row, sc.buf)
		key = sc.buf[:len(sc.buf):len(sc.buf)]
	} else {
		key, value, sc.buf = p.pair(row, sc.buf)
	}
	sc.read += int64(len(key) + len(value))
	return fn(key, value)
}

// Lasting implements storage.LastingScanner: images and changes are never
// written to again. Packed pairs are delivered in a buffer.
func (sc *imageScanner) Lasting() bool { return !sc.im.packed }

// Close implements storage.Scanner.
func (sc *imageScanner) Close() error {
	if im := sc.im; im != nil {
		sc.im, sc.changes, sc.rest = nil, changeWalk{}, nil
		im.served.Add(max(sc.read, seekHeat))
		sc.store.renewImage(sc.g, im)
	}
	return nil
}

// at reports whether the pair at p has the key.
func (im *image) at(p place, key []byte) bool {
	return p.chunk < len(im.chunks) && im.chunks[p.chunk].compare(p.row, key) == 0
}

// after is the place that follows p.
func (im *image) after(p place) place {
	if p.row++; p.row == im.chunks[p.chunk].rows() {
		return place{p.chunk + 1, 0}
	}
	return p
}

// before is the place before p, which is not the first.
func (im *image) before(p place) place {
	if p.row == 0 {
		return place{p.chunk - 1, im.chunks[p.chunk-1].rows() - 1}
	}
	return place{p.chunk, p.row - 1}
}

// nearRows is how many pairs are tried before a search begins.
const nearRows = 2

// seekFrom is seek for a key between from and to, probably near from.
func (im *image) seekFrom(from, to place, key []byte) place {
	if from == to {
		return to
	}
	ch := &im.chunks[from.chunk]
	for row := from.row; row < min(from.row+nearRows, ch.rows()); row++ {
		if ch.compare(row, key) >= 0 {
			return place{from.chunk, row}
		}
	}
	if ch.compare(ch.rows()-1, key) < 0 {
		return im.seek(key)
	}
	return im.seekIn(from.chunk, key)
}
