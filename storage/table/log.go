package table

import (
	"bytes"
	"context"

	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// logs is what a Writer of a table with a stream, or with versions, keeps.
type logs struct {
	app           stream.Appender
	before, after []byte
	versions      versions
}

// Silent makes the writer leave no records and no versions: its rows are those
// of another table in a new form.
func (w *Writer) Silent() { w.logs = nil }

// AppendImage appends the value of a row with all values in it, also those that
// have cells.
func (c *Codec) AppendImage(dst []byte, b *rowenc.Builder, row []value.Datum) []byte {
	b.Reset()
	for _, pos := range c.stored {
		if d := row[pos]; !d.IsNull() || c.Columns[pos].explicitNull() {
			b.Datum(c.Columns[pos].ID, d)
		}
	}
	return b.Append(dst)
}

func (w *Writer) logInsert(ctx context.Context, row []value.Datum) error {
	key := w.new.rowKey()[prefixLen:]
	if w.c.Table.KeepsVersions() {
		if err := w.keepVersion(ctx, key, nil); err != nil {
			return err
		}
	}
	if w.c.Table.Stream == nil {
		return nil
	}
	l := w.logs
	l.after = w.c.AppendImage(l.after[:0], &w.b, row)
	return w.append(&stream.Record{Kind: stream.Insert, Key: key, After: l.after})
}

func (w *Writer) logUpdate(ctx context.Context, old, row []value.Datum, moved bool) error {
	l, oldKey, key := w.logs, w.old.rowKey()[prefixLen:], w.new.rowKey()[prefixLen:]
	l.before = w.c.AppendImage(l.before[:0], &w.b, old)
	if w.c.Table.KeepsVersions() {
		if err := w.keepVersion(ctx, oldKey, l.before); err != nil {
			return err
		}
		if moved {
			if err := w.keepVersion(ctx, key, nil); err != nil {
				return err
			}
		}
	}
	if w.c.Table.Stream == nil {
		return nil
	}
	l.after = w.c.AppendImage(l.after[:0], &w.b, row)
	r := stream.Record{Kind: stream.Update, Key: key, Before: l.before, After: l.after}
	if !bytes.Equal(oldKey, key) {
		r.OldKey = oldKey
	}
	return w.append(&r)
}

func (w *Writer) logDelete(ctx context.Context, old []value.Datum) error {
	l, key := w.logs, w.old.rowKey()[prefixLen:]
	l.before = w.c.AppendImage(l.before[:0], &w.b, old)
	if w.c.Table.KeepsVersions() {
		if err := w.keepVersion(ctx, key, l.before); err != nil {
			return err
		}
	}
	if w.c.Table.Stream == nil {
		return nil
	}
	return w.append(&stream.Record{Kind: stream.Delete, Key: key, Before: l.before})
}

func (w *Writer) append(r *stream.Record) error {
	r.Version = w.c.Table.Version
	return w.logs.app.Append(w.txn, w.c.Table.Stream.ID, r)
}
