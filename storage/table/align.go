package table

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Marks record up to which commit the rows of a table may have changed: a view
// that is not older needs no aligning. All writers of a table share them.
type Marks struct {
	// changed is of all changes, removed of those that left a key without a row.
	changed, removed storage.Watermark
	ground           newGround // where there is no history
}

// raise notes that the transaction changes rows.
func (w *Writer) raise(removes bool) {
	if m := w.c.Marks; m != nil {
		w.txn.Raise(&m.changed)
		if removes {
			w.txn.Raise(&m.removed)
		}
	}
}

// isAligned reports whether the view of the transaction cannot have another row
// at a key than there is, or shows none of the row's cells and entries.
func (w *Writer) isAligned(key []byte, old []value.Datum) bool {
	if !w.c.hasCell && w.c.attrs < 0 && len(w.c.Indexes) == 0 {
		return true
	}
	view, seq := w.txn.View()
	switch m := w.c.Marks; {
	case view == nil:
		return true
	case old == nil:
		return m != nil && seq >= m.removed.Seq()
	case m != nil && seq >= m.changed.Seq():
		return true
	}
	return w.txn.Wrote(key) // it was aligned then
}

// align makes the transaction's view show the present row at key, which is locked and
// about to be changed. If others changed it after the view was taken, the view still
// has their old entries, and neither the new ones nor the new cells. Together with the
// row that this transaction writes, reads by an index would find it where it is not and
// miss it where it is. old is nil without a row.
func (w *Writer) align(ctx context.Context, key []byte, old []value.Datum) error {
	if w.isAligned(key, old) {
		return nil
	}
	isPublic := func(x *Index) bool { return x.Desc.State == schema.IndexPublic }
	seen, is := &image{}, &image{}
	row, err := w.viewed(ctx, key)
	if err != nil || row == nil && old == nil {
		return err
	}
	if row != nil {
		if err := w.encode(seen, row, false, isPublic); err != nil {
			return err
		}
	}
	if old != nil {
		if err := w.encode(is, old, false, isPublic); err != nil {
			return err
		}
	}
	for i := range seen.entries {
		e := &seen.entries[i]
		if is.find(e.x, seen.entryKey(e)) == nil {
			if err := w.hide(ctx, key, e, seen.entryKey(e)); err != nil {
				return err
			}
		}
	}
	for i := range is.entries {
		e := &is.entries[i]
		s := seen.find(e.x, is.entryKey(e))
		if s != nil && bytes.Equal(seen.entryVal(s), is.entryVal(e)) {
			continue
		}
		if err := w.txn.Show(is.entryKey(e), is.entryVal(e)); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	return w.showCells(key, old, row, is, seen)
}

// ReadView reads together what changes of rows, which are locked, will compare with the
// view: was are the present rows, now the new ones at keys of their own. It forgets what it
// read before. What the transaction writes changes entries and cells in the view, but no
// rows.
func (w *Writer) ReadView(ctx context.Context, was, now [][]value.Datum) error {
	w.viewRows = nil
	view, _ := w.txn.View()
	if view == nil {
		return nil
	}
	var keys [][]byte
	add := func(row, old []value.Datum) {
		if w.c.hasNullKey(row) {
			return // it is refused
		}
		if key := w.c.AppendKey(nil, row); len(key) <= w.caps.MaxKey && !w.isAligned(key, old) {
			keys = append(keys, key)
		}
	}
	for _, row := range was {
		add(row, row)
	}
	for i, row := range now {
		if was == nil || !bytes.Equal(w.c.AppendKey(nil, was[i]), w.c.AppendKey(nil, row)) {
			add(row, nil)
		}
	}
	if len(keys) < 2 {
		return nil
	}
	slices.SortFunc(keys, bytes.Compare)
	w.viewRows = make(map[string][]byte, len(keys))
	for _, key := range keys {
		w.viewRows[string(key)] = nil
	}
	return view.BatchGet(ctx, keys, func(i int, val []byte) error {
		w.viewRows[string(keys[i])] = bytes.Clone(val)
		return nil
	})
}

// viewedValue is the value at the key of a row in the view: storage.ErrNotFound.
func (w *Writer) viewedValue(ctx context.Context, view storage.Reader, key []byte) ([]byte, error) {
	val, ok := w.viewRows[string(key)]
	switch {
	case !ok:
		return view.Get(ctx, key, nil)
	case val == nil:
		return nil, storage.ErrNotFound
	}
	return val, nil
}

// viewed is the row at key in the view, nil for none.
func (w *Writer) viewed(ctx context.Context, key []byte) ([]value.Datum, error) {
	view, _ := w.txn.View()
	val, err := w.viewedValue(ctx, view, key)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if w.viewRd == nil {
		w.viewRd = w.c.NewEntryReader()
	}
	row := make([]value.Datum, len(w.c.Columns))
	return row, w.viewRd.Fetch(ctx, view, bytes.Clone(key), val, row)
}

// hide removes an entry of the row at key from the view. The key of a unique
// entry may be that of another row by now.
func (w *Writer) hide(ctx context.Context, key []byte, e *entryAt, entry []byte) error {
	if e.unique {
		view, _ := w.txn.View()
		val, err := view.Get(ctx, entry, nil)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		row, err := e.x.AppendRowKey(nil, entry, val)
		if err != nil || !bytes.Equal(row, key) {
			return err
		}
	}
	return w.txn.Show(entry, nil)
}

// showCells has the view show the cells of old, except those that row, nil or
// the view's row of the same key, has alike. is and seen are their images.
func (w *Writer) showCells(key []byte, old, row []value.Datum, is, seen *image) error {
	for pos := range w.c.Columns {
		if !w.c.isCell(pos, old[pos]) || row != nil && w.c.isCell(pos, row[pos]) && bytes.Equal(row[pos].Bytes(), old[pos].Bytes()) {
			continue
		}
		w.buf = w.c.AppendCellKey(w.buf[:0], key, pos)
		if err := w.txn.Show(w.buf, old[pos].Bytes()); err != nil {
			return err
		}
	}
	have := seen.attrs.Cells
	for _, cell := range is.attrs.Cells {
		var found bool
		if have, found = seekCell(have, cell.Suffix); found && bytes.Equal(have[0].Value, cell.Value) {
			continue
		}
		w.buf = w.c.appendAttributeKey(w.buf[:0], key, cell.Suffix)
		if err := w.txn.Show(w.buf, cell.Value); err != nil {
			return err
		}
	}
	return nil
}
