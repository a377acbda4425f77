package kvread

import (
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
)

// walker brings the pairs of spans or of points, one after the other.
type walker struct {
	reader storage.Reader
	// view is what reader reads, of a locking read that finds its rows by more
	// than one read: a row that moves meanwhile would be met twice, or never.
	// The operator closes it; nil for none.
	view storage.Snapshot
	// watched: reader keeps others from changing what it reads.
	watched bool
	spans   []storage.Span
	keys    [][]byte   // points, when spans is nil
	merge   *mergeWalk // instead of both; nil for none
	opts    storage.ScanOptions
	many    bool // spans are read together
	next    int
	scan    storage.Scanner
	buf     []byte
	count   exec.Counters
	// visit counts the pairs and passes them on.
	visit func(key, val []byte) bool
}

// reverse turns the spans and points round for a backward walk.
func (w *walker) reverse() {
	if w.opts.Reverse {
		w.spans, w.keys = slices.Clone(w.spans), slices.Clone(w.keys)
		slices.Reverse(w.spans)
		slices.Reverse(w.keys)
	}
}

// init sets what gets the pairs.
func (w *walker) init(fn func(key, val []byte) bool) {
	w.visit = func(key, val []byte) bool {
		w.count.Pairs++
		w.count.Bytes += int64(len(key) + len(val))
		return fn(key, val)
	}
}

func (w *walker) done() bool {
	if w.merge != nil {
		return w.merge.ended
	}
	return w.scan == nil && w.next >= max(len(w.spans), len(w.keys))
}

// fill brings pairs to fn until it returns false or all have been brought. Of
// points at most max are read.
func (w *walker) fill(ctx context.Context, max int) error {
	if w.keys != nil {
		return w.fillPoints(ctx, max)
	}
	if w.merge != nil {
		return w.merge.fill(ctx, w)
	}
	for {
		if w.scan == nil {
			if w.next == len(w.spans) {
				return nil
			}
			if err := w.seek(ctx); err != nil {
				return err
			}
		}
		done, err := w.scan.Visit(ctx, w.visit)
		if err != nil {
			return err
		}
		if !done {
			return nil
		}
		scan := w.scan
		w.scan = nil
		if err := scan.Close(); err != nil {
			return err
		}
	}
}

// seek opens the scan of the next span, or of all that are left.
func (w *walker) seek(ctx context.Context) error {
	n := 1
	if w.many {
		n = len(w.spans) - w.next
	}
	if n == 1 {
		scan, err := w.reader.Scan(ctx, w.spans[w.next], w.opts)
		if err != nil {
			return err
		}
		w.scan = scan
	} else {
		scan, err := storage.ScanMany(ctx, w.reader, w.spans[w.next:], w.opts)
		if err != nil {
			return err
		}
		w.scan = storage.OneScanner{SpansScanner: scan}
	}
	w.next += n
	w.count.Seeks += int64(n)
	return nil
}

func (w *walker) fillPoints(ctx context.Context, max int) error {
	keys := w.keys[w.next:]
	keys = keys[:min(len(keys), max)]
	if len(keys) == 1 {
		w.next++
		w.count.Seeks++
		val, err := w.reader.Get(ctx, keys[0], w.buf[:0])
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		w.buf = val
		w.visit(keys[0], val)
		return nil
	}
	taken := 0
	err := w.reader.BatchGet(ctx, keys, func(i int, val []byte) error {
		taken = i + 1
		if val != nil && !w.visit(keys[i], val) {
			return decode.ErrFull
		}
		return nil
	})
	w.next += taken
	w.count.Seeks += int64(taken)
	if errors.Is(err, decode.ErrFull) {
		return nil
	}
	return err
}

// closeView ends the view that is not needed any more.
func (w *walker) closeView() error {
	if w.view == nil {
		return nil
	}
	view := w.view
	w.view = nil
	return view.Close()
}

func (w *walker) close() error {
	if w.merge != nil {
		return w.merge.close()
	}
	if w.scan == nil {
		return nil
	}
	scan := w.scan
	w.scan, w.next = nil, max(len(w.spans), len(w.keys))
	return scan.Close()
}
