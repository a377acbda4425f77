package write

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// maxRetries bounds how often a conflict may cause a retry of one row.
const maxRetries = 10_000

// writer changes one table.
type writer struct {
	*table.Writer
	codec  *decode.Table
	zone   decode.Zone
	stamps []int // positions of TIMESTAMP columns
	auto   int   // position of the AUTO_INCREMENT column, or -1
	row    []value.Datum
	old    []value.Datum
	seen   []value.Datum
	rd     *table.RowReader
	// virtual computes the virtual columns of rows in the session's zone; nil
	// until it is needed.
	virtual *derive.Reader
	// keyed computes the virtual columns that index entries need; nil until an
	// action of a foreign key writes a row.
	keyed func(row []value.Datum) error
	// written are the writes so far, accesses a sample of them.
	written  Written
	accesses metrics.Accesses
}

// Written counts the rows that a statement inserted, changed and removed in a table, or
// tried to.
type Written struct{ Inserted, Updated, Deleted uint64 }

// note notes a write of a row, in its stored form, if it is chosen.
func (w *writer) note(row []value.Datum) {
	if w.accesses.Next() {
		w.accesses.Note(w.codec.AppendKey(nil, row), true)
	}
}

// Wrote calls fn with each table that the statement has written.
func (s *Sink) Wrote(fn func(t *schema.Table, w Written)) {
	for t, w := range s.writers {
		if w.written != (Written{}) {
			fn(t, w.written)
		}
	}
}

func (s *Sink) writer(t *schema.Table) (*writer, error) {
	if w := s.writers[t]; w != nil {
		return w, nil
	}
	if s.env.Txn == nil {
		return nil, sqlerr.Internal("a change outside of a transaction")
	}
	k, err := s.env.Codecs.Table(t)
	if err != nil {
		return nil, err
	}
	w := &writer{Writer: k.NewWriter(s.env.Txn, s.env.Store.Caps()), codec: k, zone: decode.NewZone(s.env.Loc)}
	w.auto = slices.IndexFunc(t.Columns, func(c schema.Column) bool { return c.AutoIncrement })
	w.Limit(s.env.Limits)
	if s.ahead == nil && s.Remote() {
		s.ahead = storage.NewAhead(s.env.Txn.Committed())
	}
	w.ReadAhead(s.ahead)
	s.env.Watch(&w.accesses, t)
	if !w.zone.UTC {
		for i := range t.Columns {
			if t.Columns[i].Type.ID == schema.TypeTimestamp {
				w.stamps = append(w.stamps, i)
			}
		}
	}
	if s.writers == nil {
		s.writers = map[*schema.Table]*writer{}
	}
	s.writers[t] = w
	return w, nil
}

// stored converts a row of the session to its stored form.
func (w *writer) stored(row []value.Datum, buf *[]value.Datum) []value.Datum {
	if len(w.stamps) == 0 {
		return row
	}
	out := append((*buf)[:0], row...)
	*buf = out
	for _, pos := range w.stamps {
		if d := out[pos]; !d.IsNull() {
			out[pos] = value.TimeOf(w.zone.Stored(d.Time()))
		}
	}
	return out
}

// local converts a stored row in place. Virtual columns are computed again:
// some depend on the zone.
func (w *writer) local(row []value.Datum) error {
	w.localTimes(row)
	if w.codec.Virtual == nil {
		return nil
	}
	if w.virtual == nil {
		w.virtual = w.codec.Exprs.NewReader(w.zone.Env.Loc)
	}
	return w.virtual.Row(row)
}

// localTimes is local for the columns that are stored.
func (w *writer) localTimes(row []value.Datum) {
	for _, pos := range w.stamps {
		if d := row[pos]; !d.IsNull() {
			row[pos] = value.TimeOf(w.zone.Local(d.Time()))
		}
	}
}

// Remote implements exec.Sink.
func (s *Sink) Remote() bool { return s.env.Store.Caps().Remote }

// Insert implements exec.Sink.
func (s *Sink) Insert(ctx context.Context, t *schema.Table, row []value.Datum, conflict exec.ConflictFunc) error {
	w, err := s.writer(t)
	if err != nil {
		return err
	}
	row = w.stored(row, &w.row)
	for range maxRetries {
		c, err := s.insertRow(ctx, w, row)
		if err != nil || c == nil {
			return err
		}
		gone, err := s.expired(w, c.Row)
		if err != nil {
			return err
		}
		if gone {
			if err := s.deleteRow(ctx, w, c.Row, chain{}); err != nil {
				return err
			}
			continue
		}
		if conflict == nil {
			return w.duplicate(w.Duplicate(c, row))
		}
		if len(w.stamps) > 0 {
			// The callback may change rows through this writer and its buffers.
			row = slices.Clone(row)
		}
		if err := w.local(c.Row); err != nil {
			return err
		}
		action, err := conflict(c.Index, c.Row)
		switch {
		case err != nil:
			return err
		case action == exec.ConflictFail:
			return w.duplicate(w.Duplicate(c, row))
		case action != exec.ConflictRetry:
			return nil
		}
	}
	return sqlerr.Internal("inserting into %s meets the same conflict again and again", t.Name)
}

// duplicate is error 1062.
func (w *writer) duplicate(e *table.DuplicateError) error {
	for i, d := range e.Values {
		if e.Table.Columns[e.Columns[i]].Type.ID == schema.TypeTimestamp && !d.IsNull() {
			e.Values[i] = value.TimeOf(w.zone.Local(d.Time()))
		}
	}
	return DuplicateEntry(e)
}

// DuplicateEntry is a duplicate as error 1062.
func DuplicateEntry(e *table.DuplicateError) error {
	return sqlerr.DuplicateEntry(e.Entry(types.AppendText), e.Table.Name+"."+e.KeyName())
}

// Update implements exec.Sink.
func (s *Sink) Update(ctx context.Context, t *schema.Table, old, row []value.Datum) error {
	w, err := s.writer(t)
	if err != nil {
		return err
	}
	was, err := w.exact(ctx, s.env.Txn, old)
	if err != nil {
		return err
	}
	now := w.stored(row, &w.row)
	for _, pos := range w.stamps {
		if !old[pos].IsNull() && !row[pos].IsNull() && old[pos].Time() == row[pos].Time() {
			now[pos] = was[pos]
		}
	}
	err = s.updateRow(ctx, w, was, now, nil, chain{})
	if dup, ok := errors.AsType[*table.DuplicateError](err); ok {
		return w.duplicate(dup)
	}
	if err != nil || w.auto < 0 {
		return err
	}
	return s.updatedAuto(ctx, t, w, old[w.auto], row)
}

// updatedAuto makes later numbers of the AUTO_INCREMENT column greater than a value
// that an UPDATE gave it, as InnoDB does since 8.0.
func (s *Sink) updatedAuto(ctx context.Context, t *schema.Table, w *writer, old value.Datum, row []value.Datum) error {
	v := exec.AutoValue(row[w.auto])
	if v <= exec.AutoValue(old) {
		return nil
	}
	if t.AutoInKey() > 0 {
		return w.RaiseInKey(ctx, w.stored(row, &w.row), v)
	}
	return s.BumpAutoIncrement(ctx, t, v)
}

// Delete implements exec.Sink.
func (s *Sink) Delete(ctx context.Context, t *schema.Table, old []value.Datum) error {
	w, err := s.writer(t)
	if err != nil {
		return err
	}
	was, err := w.exact(ctx, s.env.Txn, old)
	if err != nil {
		return err
	}
	return s.deleteRow(ctx, w, was, chain{})
}

// Current implements exec.Sink.
func (s *Sink) Current(ctx context.Context, t *schema.Table, row []value.Datum) ([]value.Datum, bool, error) {
	w, err := s.writer(t)
	if err != nil {
		return nil, false, err
	}
	key := w.codec.AppendKey(nil, w.stored(row, &w.row))
	out, err := w.read(ctx, s.env.Txn.Latest(), key)
	return out, out != nil, err
}

// read is the row of a key as the session sees it; nil if none exists.
func (w *writer) read(ctx context.Context, kv storage.Reader, key []byte) ([]value.Datum, error) {
	val, err := kv.Get(ctx, key, nil)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if w.rd == nil {
		w.rd = w.codec.NewRowReader()
	}
	row := make([]value.Datum, len(w.codec.Table.Columns))
	if err := w.rd.Fetch(ctx, kv, key, val, row); err != nil {
		return nil, err
	}
	if err := w.local(row); err != nil {
		return nil, err
	}
	for i := range row {
		row[i] = row[i].Clone()
	}
	return row, nil
}

// exact is old exactly as stored. A TIMESTAMP in an hour that clocks show twice
// does not say which of both it is: then the stored row is read.
func (w *writer) exact(ctx context.Context, txn storage.Txn, old []value.Datum) ([]value.Datum, error) {
	was := w.stored(old, &w.old)
	inKey := map[int][]value.Time{}
	ambiguous := false
	for _, pos := range w.stamps {
		if old[pos].IsNull() {
			continue
		}
		if more := w.zone.Others(old[pos].Time()); len(more) > 0 {
			ambiguous = true
			if w.codec.Columns[pos].KeyPart >= 0 {
				inKey[pos] = append([]value.Time{was[pos].Time()}, more...)
			}
		}
	}
	if !ambiguous {
		return was, nil
	}
	return w.findExact(ctx, txn, old, was, inKey)
}

// findExact tries the ways to read the TIMESTAMPs of the primary key until it
// finds the row that shows as old.
func (w *writer) findExact(ctx context.Context, txn storage.Txn, old, was []value.Datum, inKey map[int][]value.Time) ([]value.Datum, error) {
	var found []value.Datum
	if w.rd == nil {
		w.rd = w.codec.NewRowReader()
	}
	try := append([]value.Datum(nil), was...)
	var positions []int
	for pos := range inKey {
		positions = append(positions, pos)
	}
	var visit func(i int) error
	visit = func(i int) error {
		if i < len(positions) {
			for _, t := range inKey[positions[i]] {
				try[positions[i]] = value.TimeOf(t)
				if err := visit(i + 1); err != nil || found != nil {
					return err
				}
			}
			return nil
		}
		key := w.codec.AppendKey(nil, try)
		val, err := txn.Latest().Get(ctx, key, nil)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		row := make([]value.Datum, len(was))
		if err := w.rd.Fetch(ctx, txn.Latest(), key, val, row); err != nil {
			return err
		}
		if len(inKey) > 0 {
			ok, err := w.shows(row, old)
			if !ok || err != nil {
				return err
			}
		}
		found = row
		return nil
	}
	if err := visit(0); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, sqlerr.Internal("a row of %s to be changed is not there", w.codec.Table.Name)
	}
	return found, nil
}

// shows reports whether a stored row looks like old in the session's zone. Rows whose
// keys show the same time differ in other columns, or it does not matter which is changed
// first.
func (w *writer) shows(row, old []value.Datum) (bool, error) {
	seen := slices.Clone(row)
	if err := w.local(seen); err != nil {
		return false, err
	}
	for i := range seen {
		t := w.codec.Table.Columns[i].Type
		if seen[i].IsNull() != old[i].IsNull() || !seen[i].IsNull() && !bytes.Equal(types.AppendText(nil, t, seen[i]), types.AppendText(nil, t, old[i])) {
			return false, nil
		}
	}
	return true, nil
}

// TableExprs implements exec.Sink.
func (s *Sink) TableExprs(t *schema.Table) (*derive.Exprs, error) {
	if !t.HasExprs() {
		return nil, nil
	}
	k, err := s.env.Codecs.Table(t)
	if err != nil {
		return nil, err
	}
	return k.Exprs, nil
}

// NextInKey implements exec.Sink.
func (s *Sink) NextInKey(ctx context.Context, t *schema.Table, row []value.Datum) (uint64, error) {
	w, err := s.writer(t)
	if err != nil {
		return 0, err
	}
	v, err := w.NextInKey(ctx, w.stored(row, &w.row))
	if errors.Is(err, table.ErrSequenceExhausted) {
		return 0, sqlerr.AutoIncrementFailed()
	}
	return v, err
}

// RaiseInKey implements exec.Sink.
func (s *Sink) RaiseInKey(ctx context.Context, t *schema.Table, row []value.Datum, v uint64) error {
	w, err := s.writer(t)
	if err != nil {
		return err
	}
	return w.RaiseInKey(ctx, w.stored(row, &w.row), v)
}

// NextAutoIncrement implements exec.Sink.
func (s *Sink) NextAutoIncrement(ctx context.Context, t *schema.Table, n int) (uint64, error) {
	if s.env.Sequences == nil {
		return 0, sqlerr.Internal("no sequences here")
	}
	v, err := s.env.Sequences.Next(ctx, t, table.AutoIncrement, n)
	if errors.Is(err, table.ErrSequenceExhausted) {
		return 0, sqlerr.AutoIncrementFailed()
	}
	return v, err
}

// BumpAutoIncrement implements exec.Sink.
func (s *Sink) BumpAutoIncrement(ctx context.Context, t *schema.Table, v uint64) error {
	if s.env.Sequences == nil {
		return sqlerr.Internal("no sequences here")
	}
	return s.env.Sequences.Bump(ctx, t, table.AutoIncrement, v)
}

// NextHiddenKey implements exec.Sink.
func (s *Sink) NextHiddenKey(ctx context.Context, t *schema.Table) (int64, error) {
	if s.env.Sequences == nil {
		return 0, sqlerr.Internal("no sequences here")
	}
	v, err := s.env.Sequences.Next(ctx, t, table.HiddenKey, 1)
	return int64(v), err
}
