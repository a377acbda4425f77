package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/value"
)

// DuplicateError is the violation of a unique key.
type DuplicateError struct {
	Table *schema.Table
	// Index is the key, nil for the primary key.
	Index *schema.Index
	// Columns and Values are the key's own columns (positions) and the new
	// row's values in them, cut to prefixes.
	Columns []int
	Values  []value.Datum
	exists  *storage.KeyExistsError // nil where the caller knows the row
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate entry '%s' for key '%s.%s'", e.Entry(nil), e.Table.Name, e.KeyName())
}

// KeyName is the name of the key as MySQL says it.
func (e *DuplicateError) KeyName() string {
	if e.Index == nil {
		return "PRIMARY"
	}
	return e.Index.Name
}

// Is makes errors.Is(err, storage.ErrKeyExists) true.
func (e *DuplicateError) Is(target error) bool { return target == storage.ErrKeyExists }

// Entry is the values joined by '-'. text appends the text of a value of type
// t; nil prints numbers in their stored form.
func (e *DuplicateError) Entry(text func(dst []byte, t schema.Type, d value.Datum) []byte) string {
	var out []byte
	for i, d := range e.Values {
		if i > 0 {
			out = append(out, '-')
		}
		switch {
		case d.IsNull():
			out = append(out, "NULL"...)
		case text != nil:
			out = text(out, e.Table.Columns[e.Columns[i]].Type, d)
		default:
			out = append(out, plainText(d)...)
		}
	}
	return string(out)
}

func plainText(d value.Datum) string {
	switch d.Kind() {
	case value.KindInt:
		return fmt.Sprint(d.Int())
	case value.KindUint:
		return fmt.Sprint(d.Uint())
	case value.KindFloat:
		return fmt.Sprint(d.Float())
	case value.KindDecimal:
		return d.Decimal().String()
	case value.KindTime:
		return d.Time().String()
	case value.KindDuration:
		return d.Duration().String()
	}
	return strings.ToValidUTF8(d.Str(), "?")
}

func (c *Codec) duplicate(x *Index, row []value.Datum) *DuplicateError {
	e := &DuplicateError{Table: c.Table}
	parts := c.Key[len(c.Key)-len(c.Table.DeclaredKey()):]
	if x != nil {
		e.Index, parts = x.Desc, x.Parts[:x.Own]
	}
	for i := range parts {
		p := &parts[i]
		d := row[p.Pos]
		if d.Kind() == value.KindBytes {
			d = value.Bytes(bytes.Clone(p.cut(d.Bytes())))
		}
		e.Columns, e.Values = append(e.Columns, p.Pos), append(e.Values, d)
	}
	return e
}

// Conflict is a stored row that conflicts with a new one. Its key is locked.
type Conflict struct {
	// Index is the violated unique index, nil for the primary key.
	Index *schema.Index
	Key   []byte
	Row   []value.Datum
}

// Writer changes the rows of one table in one transaction, with all that
// belongs to them. It belongs to the transaction's goroutine. The rows that
// callers pass are not kept.
type Writer struct {
	c    *Codec
	txn  storage.Txn
	caps storage.Caps
	b    rowenc.Builder
	rd   *RowReader
	// viewRd reads rows of the transaction's view; nil until it is needed.
	viewRd *RowReader
	// viewRows are values of rows in the view that were read together, nil for no row.
	viewRows map[string][]byte
	buf      []byte
	new      image
	old      image
	// logs is what changes leave next to the rows; nil for nothing.
	logs *logs
	// ahead may hold the versions of rows; nil without.
	ahead  *storage.Ahead
	limits Limits
	// longKeys are the parts of the primary key whose values may be longer than
	// limits says.
	longKeys []*Part
	// first is the memory that a writer of one small row needs.
	first struct {
		row     [320]byte
		entries [4]entryAt
		ids     [16]uint16
		ends    [16]uint32
		data    [128]byte
	}
}

// NewWriter makes a writer. caps are the store's.
func (c *Codec) NewWriter(txn storage.Txn, caps storage.Caps) *Writer {
	w := &Writer{c: c, txn: txn, caps: caps}
	w.new.buf, w.new.entries = w.first.row[:0], w.first.entries[:0]
	w.b.Use(w.first.ids[:0], w.first.ends[:0], w.first.data[:0])
	if c.Table.IsLogged() {
		w.logs = &logs{}
	}
	return w
}

// Limits are those of one writer, in bytes, in addition to those of the store;
// 0 for none.
type Limits struct {
	// KeyColumn bounds the values in columns of the primary key, Key an encoded
	// key, of a row or of an index, Value a value that has a cell of its own.
	KeyColumn, Key, Value int
}

// Limit sets limits for the rows that are written from now on. Keys that rows
// have already are not affected.
func (w *Writer) Limit(l Limits) {
	w.limits = l
	if l.KeyColumn <= 0 {
		return
	}
	for i := range w.c.Key {
		p := &w.c.Key[i]
		if t := &w.c.Table.Columns[p.Pos].Type; p.Kind == value.KindBytes && t.Len*4 > l.KeyColumn {
			w.longKeys = append(w.longKeys, p)
		}
	}
}

// checkNewKey tests the columns of a primary key that comes to be.
func (w *Writer) checkNewKey(row []value.Datum) error {
	for _, p := range w.longKeys {
		if n := len(p.cut(row[p.Pos].Bytes())); n > w.limits.KeyColumn {
			return &storage.LimitError{Class: storage.ErrKeyTooLarge, Size: int64(n), Limit: int64(w.limits.KeyColumn), Setting: "sqlots_max_key_column_size"}
		}
	}
	return nil
}

// image is what is stored for a row: offsets into buf.
type image struct {
	buf     []byte
	key     int // end of the row's key, which starts buf
	val     int // end of the row's value
	entries []entryAt
	attrs   rowenc.Attributes
}

type entryAt struct {
	x              *Index
	start, val, at int // start of key, start of value, end of value
	unique         bool
	building       bool // it is not written, its change is noted
}

func (m *image) hasEntry(key []byte) bool {
	return slices.ContainsFunc(m.entries, func(e entryAt) bool { return bytes.Equal(m.buf[e.start:e.val], key) })
}
func (m *image) rowKey() []byte             { return m.buf[:m.key:m.key] }
func (m *image) rowValue() []byte           { return m.buf[m.key:m.val:m.val] }
func (m *image) entryKey(e *entryAt) []byte { return m.buf[e.start:e.val:e.val] }
func (m *image) entryVal(e *entryAt) []byte { return m.buf[e.val:e.at:e.at] }
func (m *image) reset()                     { m.buf, m.entries = m.buf[:0], m.entries[:0] }

// find is the entry of x with a key, or nil. The entries of an index are contiguous, in
// the order of their keys.
func (m *image) find(x *Index, key []byte) *entryAt {
	for i := range m.entries {
		if m.entries[i].x != x {
			continue
		}
		own := m.entries[i:]
		if x.array >= 0 {
			own = own[sort.Search(len(own), func(i int) bool { return own[i].x != x || bytes.Compare(m.entryKey(&own[i]), key) >= 0 }):]
		}
		if len(own) > 0 && own[0].x == x && bytes.Equal(m.entryKey(&own[0]), key) {
			return &own[0]
		}
		return nil
	}
	return nil
}

// hasNullKey reports NULL in a column of the primary key.
func (c *Codec) hasNullKey(row []value.Datum) bool {
	return slices.ContainsFunc(c.Key, func(p Part) bool { return row[p.Pos].IsNull() })
}

// encode fills m with the row and, of the indexes that want says, the entries.
func (w *Writer) encode(m *image, row []value.Datum, withValue bool, want func(x *Index) bool) error {
	if w.c.hasNullKey(row) {
		return fmt.Errorf("table %s: NULL in the primary key", w.c.Table.Name)
	}
	m.reset()
	m.buf = w.c.AppendKey(m.buf, row)
	m.key = len(m.buf)
	m.attrs = w.c.attributesOf(row)
	if withValue {
		m.buf = w.c.appendRow(m.buf, &w.b, row, m.attrs.Block)
	}
	m.val = len(m.buf)
	for _, x := range w.c.ordered {
		switch {
		case !want(x):
		case x.array >= 0:
			err := x.Each(row, func(row []value.Datum) error {
				w.encodeEntry(m, x, row)
				return nil
			})
			if err != nil {
				return err
			}
		case x.holds(row):
			w.encodeEntry(m, x, row)
		}
	}
	return nil
}

func (w *Writer) encodeEntry(m *image, x *Index, row []value.Datum) {
	e := entryAt{x: x, start: len(m.buf), building: x.IsBuilding()}
	e.unique = !e.building && x.IsUniqueEntry(row)
	m.buf, e.val = x.AppendEntry(m.buf, &w.b, m.buf[:m.key], row)
	e.at = len(m.buf)
	m.entries = append(m.entries, e)
}

// check tests the sizes of all that would be written, before anything is.
// old is the row that is there, nil for none: limits do not hold for what stays.
func (w *Writer) check(m *image, old, row []value.Datum) error {
	hasCell := false
	for pos := range w.c.Columns {
		if w.c.isCell(pos, row[pos]) {
			hasCell = true
			if n := len(row[pos].Bytes()); n > w.caps.MaxValue {
				return &storage.LimitError{Class: storage.ErrValueTooLarge, Size: int64(n), Limit: int64(w.caps.MaxValue)}
			} else if l := w.limits.Value; l > 0 && n > l && (old == nil || !identical(old[pos], row[pos])) {
				return &storage.LimitError{Class: storage.ErrValueTooLarge, Size: int64(n), Limit: int64(l), Setting: "sqlots_max_value_size"}
			}
		}
	}
	key := m.key
	if hasCell {
		key += cellSuffixLen
	}
	if w.logs != nil && w.c.Table.KeepsVersions() {
		key = m.key + historySuffixLen
	}
	if err := w.checkPair(key, m.val-m.key); err != nil {
		return err
	}
	if w.isLong(m.key) && (old == nil || !bytes.Equal(w.old.rowKey(), m.rowKey())) {
		return w.longKey(m.key)
	}
	if err := w.checkAttributes(m); err != nil {
		return err
	}
	for i := range m.entries {
		e := &m.entries[i]
		if e.building {
			continue // the build fails, not the writer
		}
		if err := w.checkPair(e.val-e.start, e.at-e.val); err != nil {
			return err
		}
		if size := e.val - e.start; w.isLong(size) && (old == nil || !w.old.hasEntry(m.entryKey(e))) {
			return w.longKey(size)
		}
	}
	return nil
}

func (w *Writer) checkPair(key, val int) error {
	if key > w.caps.MaxKey {
		return &storage.LimitError{Class: storage.ErrKeyTooLarge, Size: int64(key), Limit: int64(w.caps.MaxKey)}
	}
	if val > w.caps.MaxValue {
		return &storage.LimitError{Class: storage.ErrValueTooLarge, Size: int64(val), Limit: int64(w.caps.MaxValue)}
	}
	return nil
}

// isLong reports whether a key is longer than the limits of the writer say.
func (w *Writer) isLong(key int) bool { return w.limits.Key > 0 && key > w.limits.Key }

func (w *Writer) longKey(key int) error {
	return &storage.LimitError{Class: storage.ErrKeyTooLarge, Size: int64(key), Limit: int64(w.limits.Key), Setting: "sqlots_max_key_size"}
}

func always(*Index) bool { return true }

// maxRaces bounds how often an insertion starts again because the row that was
// in its way vanished.
const maxRaces = 100

// Insert adds a row. When a unique key is violated nothing is written and the
// conflict, with the stored row under lock, is returned.
func (w *Writer) Insert(ctx context.Context, row []value.Datum) (*Conflict, error) {
	if err := w.encode(&w.new, row, true, always); err != nil {
		return nil, err
	}
	if err := w.check(&w.new, nil, row); err != nil {
		return nil, err
	}
	if err := w.checkNewKey(row); err != nil {
		return nil, err
	}
	for range maxRaces {
		conflict, again, err := w.insertUnique(ctx)
		if err != nil || conflict != nil {
			return conflict, err
		}
		if !again {
			return nil, w.insertRest(ctx, row)
		}
	}
	return nil, fmt.Errorf("inserting into %s: %w", w.c.Table.Name, storage.ErrConflict)
}

// reserve locks a new row and its unique entries together, where each lock by itself
// would wait for another machine.
func (w *Writer) reserve(ctx context.Context, m *image) error {
	if !w.caps.Remote {
		return nil
	}
	keys := [][]byte{m.rowKey()}
	for i := range m.entries {
		if e := &m.entries[i]; e.unique {
			keys = append(keys, m.entryKey(e))
		}
	}
	if len(keys) == 1 {
		return nil
	}
	return w.txn.Reserve(ctx, keys)
}

// AppendLocks appends the keys that Insert of a row locks: that of the row and those of
// its unique entries. It appends none of a row that Insert refuses for a key.
func (w *Writer) AppendLocks(keys [][]byte, row []value.Datum) [][]byte {
	m := &w.new
	if w.encode(m, row, false, func(x *Index) bool { return x.Desc.Unique }) != nil || m.key > w.caps.MaxKey {
		return keys
	}
	n := len(keys)
	keys = append(keys, bytes.Clone(m.rowKey()))
	for i := range m.entries {
		e := &m.entries[i]
		if !e.unique {
			continue
		}
		key := m.entryKey(e)
		if len(key) > w.caps.MaxKey {
			return keys[:n]
		}
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}

// AppendUpdateLocks appends the keys that Update of a row locks: those of the row and of its
// unique entries, as far as they are new.
func (w *Writer) AppendUpdateLocks(keys [][]byte, old, row []value.Datum) [][]byte {
	unique := func(x *Index) bool { return x.Desc.Unique }
	if w.encode(&w.old, old, false, unique) != nil || w.encode(&w.new, row, false, unique) != nil || w.new.key > w.caps.MaxKey {
		return keys
	}
	if !bytes.Equal(w.old.rowKey(), w.new.rowKey()) {
		keys = append(keys, bytes.Clone(w.new.rowKey()))
	}
	for i := range w.new.entries {
		e := &w.new.entries[i]
		if key := w.new.entryKey(e); e.unique && len(key) <= w.caps.MaxKey && w.old.find(e.x, key) == nil {
			keys = append(keys, bytes.Clone(key))
		}
	}
	return keys
}

// insertUnique writes the row and its unique entries, or nothing.
func (w *Writer) insertUnique(ctx context.Context) (_ *Conflict, again bool, err error) {
	m := &w.new
	if err := w.reserve(ctx, m); err != nil {
		return nil, false, err
	}
	err = w.txn.Insert(ctx, m.rowKey(), m.rowValue())
	if exists, ok := errors.AsType[*storage.KeyExistsError](err); ok {
		row, err := w.decode(ctx, m.rowKey(), exists.Value)
		return &Conflict{Key: bytes.Clone(m.rowKey()), Row: row}, false, err
	}
	if err != nil {
		return nil, false, err
	}
	for i := range m.entries {
		e := &m.entries[i]
		if !e.unique {
			continue
		}
		err := w.txn.Insert(ctx, m.entryKey(e), m.entryVal(e))
		if err == nil {
			continue
		}
		// What this row has written so far was absent before.
		if uerr := w.undo(ctx, m.rowKey(), i); uerr != nil {
			return nil, false, errors.Join(err, uerr)
		}
		exists, ok := errors.AsType[*storage.KeyExistsError](err)
		if !ok {
			return nil, false, err
		}
		conflict, err := w.conflictOf(ctx, e.x, exists)
		return conflict, conflict == nil, err
	}
	return nil, false, nil
}

// undo removes the row's key (nil: none was written) and the first unique
// entries, which Txn.Insert wrote.
func (w *Writer) undo(ctx context.Context, key []byte, entries int) error {
	if key != nil {
		if err := w.txn.Delete(ctx, key); err != nil {
			return err
		}
	}
	for i := range w.new.entries[:entries] {
		e := &w.new.entries[i]
		if !e.unique {
			continue
		}
		if key == nil && w.old.find(e.x, w.new.entryKey(e)) != nil {
			continue // was not inserted by Update
		}
		if err := w.txn.Delete(ctx, w.new.entryKey(e)); err != nil {
			return err
		}
	}
	return nil
}

// conflictOf locks and reads the row of a unique entry; nil when it vanished.
func (w *Writer) conflictOf(ctx context.Context, x *Index, e *storage.KeyExistsError) (*Conflict, error) {
	key, err := x.AppendRowKey(nil, e.Key, e.Value)
	if err != nil {
		return nil, err
	}
	locked, err := w.txn.Lock(ctx, [][]byte{key}, storage.LockOptions{})
	if err != nil {
		return nil, err
	}
	if locked[0].Value == nil {
		// The other transaction was deleting it, and has ended now.
		if _, err := w.txn.Latest().Get(ctx, e.Key, nil); err == nil {
			return nil, x.corrupt(e.Key, fmt.Errorf("%w: no row", storage.ErrCorruption))
		}
		return nil, nil
	}
	row, err := w.decode(ctx, key, locked[0].Value)
	if err != nil {
		return nil, err
	}
	var m image
	if err := w.encode(&m, row, false, func(y *Index) bool { return y == x }); err != nil {
		return nil, err
	}
	if m.find(x, e.Key) == nil {
		return nil, nil // it has another value by now
	}
	return &Conflict{Index: x.Desc, Key: key, Row: row}, nil
}

func (w *Writer) decode(ctx context.Context, key, val []byte) ([]value.Datum, error) {
	if w.rd == nil {
		w.rd = w.c.NewRowReader()
	}
	row := make([]value.Datum, len(w.c.Columns))
	if err := w.rd.Fetch(ctx, w.txn.Latest(), bytes.Clone(key), val, row); err != nil {
		return nil, err
	}
	return row, nil
}

// insertRest writes the cells and the entries that need no check.
func (w *Writer) insertRest(ctx context.Context, row []value.Datum) error {
	m := &w.new
	w.raise(false)
	if err := w.align(ctx, m.rowKey(), nil); err != nil {
		return err
	}
	if err := w.putCells(ctx, row, nil); err != nil {
		return err
	}
	if err := w.putAttributes(ctx, nil); err != nil {
		return err
	}
	for i := range m.entries {
		if e := &m.entries[i]; !e.unique {
			if err := w.putEntry(ctx, e); err != nil {
				return err
			}
		}
	}
	if w.logs != nil {
		return w.logInsert(ctx, row)
	}
	return nil
}

// putCells writes the cells of a row whose image is w.new, except those that
// old, a row of the same key, has with the same value.
func (w *Writer) putCells(ctx context.Context, row, old []value.Datum) error {
	if !w.c.hasCell {
		return nil
	}
	for pos := range w.c.Columns {
		if !w.c.isCell(pos, row[pos]) || old != nil && w.c.isCell(pos, old[pos]) && bytes.Equal(old[pos].Bytes(), row[pos].Bytes()) {
			continue
		}
		w.buf = w.c.AppendCellKey(w.buf[:0], w.new.rowKey(), pos)
		if err := w.txn.Put(ctx, w.buf, row[pos].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// dropCells removes the cells of a row whose image is w.old, except those that
// row, of the same key, has too.
func (w *Writer) dropCells(ctx context.Context, old, row []value.Datum) error {
	if !w.c.hasCell {
		return nil
	}
	for pos := range w.c.Columns {
		if !w.c.isCell(pos, old[pos]) || row != nil && w.c.isCell(pos, row[pos]) {
			continue
		}
		w.buf = w.c.AppendCellKey(w.buf[:0], w.old.rowKey(), pos)
		if err := w.txn.Delete(ctx, w.buf); err != nil {
			return err
		}
	}
	return nil
}

// identical reports whether two values are stored as the same bytes.
func identical(a, b value.Datum) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.KindNull:
		return true
	case value.KindBytes, value.KindJSON:
		return bytes.Equal(a.Bytes(), b.Bytes())
	case value.KindDecimal:
		x, y := a.Decimal(), b.Decimal()
		return x.Scale() == y.Scale() && x.Cmp(y) == 0
	}
	return a.Bits() == b.Bits()
}

// Update changes a stored row, which the caller has locked: old is exactly
// what is stored. A *DuplicateError means that nothing was written.
func (w *Writer) Update(ctx context.Context, old, row []value.Datum) error {
	changed := make([]bool, len(row))
	any := false
	for i := range row {
		changed[i] = !identical(old[i], row[i])
		any = any || changed[i]
	}
	if !any {
		return nil
	}
	keyChanged := false
	for i := range w.c.Key {
		keyChanged = keyChanged || changed[w.c.Key[i].Pos]
	}
	touched := func(x *Index) bool {
		for pos, c := range changed {
			if c && x.uses[pos] {
				return true
			}
		}
		return keyChanged
	}
	if err := w.encode(&w.old, old, false, touched); err != nil {
		return err
	}
	if err := w.encode(&w.new, row, true, touched); err != nil {
		return err
	}
	if err := w.check(&w.new, old, row); err != nil {
		return err
	}
	if keyChanged {
		if err := w.checkNewKey(row); err != nil {
			return err
		}
	}
	// Values that collate equal have the same key.
	moved := keyChanged && !bytes.Equal(w.old.rowKey(), w.new.rowKey())
	if err := w.updateUnique(ctx, row, moved); err != nil {
		return err
	}
	return w.updateRest(ctx, old, row, moved)
}

// updateUnique inserts the unique keys that are new, or nothing.
func (w *Writer) updateUnique(ctx context.Context, row []value.Datum, moved bool) error {
	m := &w.new
	var key []byte
	if moved {
		if err := w.txn.Insert(ctx, m.rowKey(), m.rowValue()); err != nil {
			return w.asDuplicate(err, nil, row)
		}
		key = m.rowKey()
	}
	for i := range m.entries {
		e := &m.entries[i]
		if !e.unique {
			continue
		}
		if w.old.find(e.x, m.entryKey(e)) != nil {
			continue
		}
		if err := w.txn.Insert(ctx, m.entryKey(e), m.entryVal(e)); err != nil {
			if uerr := w.undoUpdate(ctx, key, i); uerr != nil {
				return errors.Join(err, uerr)
			}
			return w.asDuplicate(err, e.x, row)
		}
	}
	return nil
}

func (w *Writer) undoUpdate(ctx context.Context, key []byte, entries int) error {
	if key != nil {
		if err := w.txn.Delete(ctx, key); err != nil {
			return err
		}
	}
	return w.undo(ctx, nil, entries)
}

func (w *Writer) asDuplicate(err error, x *Index, row []value.Datum) error {
	if exists, ok := errors.AsType[*storage.KeyExistsError](err); ok {
		dup := w.c.duplicate(x, row)
		dup.exists = exists
		return dup
	}
	return err
}

// Standing locks and reads the row that conflicted with an Update; nil when
// it vanished.
func (w *Writer) Standing(ctx context.Context, dup *DuplicateError) (*Conflict, error) {
	e := dup.exists
	if dup.Index != nil {
		return w.conflictOf(ctx, w.c.Index(dup.Index.ID), e)
	}
	locked, err := w.txn.Lock(ctx, [][]byte{e.Key}, storage.LockOptions{})
	if err != nil || locked[0].Value == nil {
		return nil, err
	}
	row, err := w.decode(ctx, e.Key, locked[0].Value)
	return &Conflict{Key: bytes.Clone(e.Key), Row: row}, err
}

// Duplicate is the error of a conflict for the new row.
func (w *Writer) Duplicate(conflict *Conflict, row []value.Datum) *DuplicateError {
	if conflict.Index == nil {
		return w.c.duplicate(nil, row)
	}
	return w.c.duplicate(w.c.Index(conflict.Index.ID), row)
}

// updateRest writes all that needs no check and removes what is gone.
func (w *Writer) updateRest(ctx context.Context, old, row []value.Datum, moved bool) error {
	m := &w.new
	w.raise(moved)
	if err := w.align(ctx, w.old.rowKey(), old); err != nil {
		return err
	}
	if moved {
		if err := w.align(ctx, m.rowKey(), nil); err != nil {
			return err
		}
		if err := w.txn.Delete(ctx, w.old.rowKey()); err != nil {
			return err
		}
		if err := errors.Join(w.dropCells(ctx, old, nil), w.dropAttributes(ctx, nil)); err != nil {
			return err
		}
		if err := errors.Join(w.putCells(ctx, row, nil), w.putAttributes(ctx, nil)); err != nil {
			return err
		}
	} else {
		if err := w.txn.Put(ctx, m.rowKey(), m.rowValue()); err != nil {
			return err
		}
		if err := errors.Join(w.dropCells(ctx, old, row), w.dropAttributes(ctx, m)); err != nil {
			return err
		}
		if err := errors.Join(w.putCells(ctx, row, old), w.putAttributes(ctx, &w.old)); err != nil {
			return err
		}
	}
	for i := range w.old.entries {
		o := &w.old.entries[i]
		if m.find(o.x, w.old.entryKey(o)) != nil {
			continue
		}
		if err := w.deleteEntry(ctx, o); err != nil {
			return err
		}
	}
	for i := range m.entries {
		e := &m.entries[i]
		o := w.old.find(e.x, m.entryKey(e))
		if e.unique && o == nil || o != nil && bytes.Equal(w.old.entryVal(o), m.entryVal(e)) {
			continue // inserted already, or unchanged
		}
		if err := w.putEntry(ctx, e); err != nil {
			return err
		}
	}
	if w.logs != nil {
		return w.logUpdate(ctx, old, row, moved)
	}
	return nil
}

// Delete removes a stored row, which the caller has locked: old is exactly
// what is stored.
func (w *Writer) Delete(ctx context.Context, old []value.Datum) error {
	if err := w.encode(&w.old, old, false, always); err != nil {
		return err
	}
	w.raise(true)
	if err := w.align(ctx, w.old.rowKey(), old); err != nil {
		return err
	}
	if err := w.txn.Delete(ctx, w.old.rowKey()); err != nil {
		return err
	}
	if err := errors.Join(w.dropCells(ctx, old, nil), w.dropAttributes(ctx, nil)); err != nil {
		return err
	}
	for i := range w.old.entries {
		if err := w.deleteEntry(ctx, &w.old.entries[i]); err != nil {
			return err
		}
	}
	if w.logs != nil {
		return w.logDelete(ctx, old)
	}
	return nil
}

// putEntry writes an entry of w.new.
func (w *Writer) putEntry(ctx context.Context, e *entryAt) error {
	if e.building {
		return w.noteChange(ctx, e.x, w.new.entryKey(e), w.new.rowKey())
	}
	return w.txn.Put(ctx, w.new.entryKey(e), w.new.entryVal(e))
}

// deleteEntry removes an entry of w.old.
func (w *Writer) deleteEntry(ctx context.Context, e *entryAt) error {
	if e.building {
		return w.noteChange(ctx, e.x, w.old.entryKey(e), w.old.rowKey())
	}
	return w.txn.Delete(ctx, w.old.entryKey(e))
}

// Duplicate is the error of a row whose entry in a unique index exists for
// another row.
func (x *Index) Duplicate(row []value.Datum) *DuplicateError { return x.codec.duplicate(x, row) }
