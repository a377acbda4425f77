package write

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// maxCascade is the depth at which InnoDB gives up: no action writes a row
// there.
const maxCascade = 15

// chain is what a cascade has been through.
type chain struct {
	depth int
	// updated are the tables that it updates: an action that comes back to one
	// of them is refused.
	updated []*schema.Table
	// leaving are the rows that are being deleted on the way here. InnoDB still
	// finds them as children.
	leaving *leaving
}

type leaving struct {
	table *schema.Table
	row   []value.Datum
	up    *leaving
}

// guarded runs a write that foreign keys may refuse after it was made. Where
// the statement goes on (IGNORE), it is undone then, with all that it brought
// about; otherwise the statement is.
func (s *Sink) guarded(write func() error) error {
	if !s.env.Undo {
		return write()
	}
	txn := s.env.Txn
	sp := txn.Savepoint()
	if err := write(); err != nil {
		// If this fails the transaction is lost, and its next use reports that.
		_ = txn.RollbackTo(sp)
		return err
	}
	txn.Release(sp)
	return nil
}

// sees reports that errors may name the table.
func (s *Sink) sees(db, table string) bool { return s.env.Sees == nil || s.env.Sees(db, table) }

// noParent is the error of a child without its parent: 1452, or 1216 where the account
// may not know of one of the tables.
func (s *Sink) noParent(r *schema.Reference) error {
	if s.sees(r.Child.Database, r.Child.Name) && s.sees(r.Key.Database, r.Key.Table) {
		return sqlerr.NoReferencedRow(r.Child.ForeignKeyText(r.Key))
	}
	return sqlerr.NoReferencedRowHidden()
}

// hasChildren is the error of a parent that children refer to: 1451, or 1217 where the
// account may not know of one of the tables.
func (s *Sink) hasChildren(r *schema.Reference) error {
	if s.sees(r.Child.Database, r.Child.Name) && s.sees(r.Key.Database, r.Key.Table) {
		return sqlerr.RowIsReferenced(r.Child.ForeignKeyText(r.Key))
	}
	return sqlerr.RowIsReferencedHidden()
}

func (s *Sink) outOf(t *schema.Table) []*schema.Reference {
	if s.env.Keys == nil {
		return nil
	}
	return s.env.Keys.Out[t.ID]
}

func (s *Sink) into(t *schema.Table) []*schema.Reference {
	if s.env.Keys == nil {
		return nil
	}
	return s.env.Keys.In[t.ID]
}

// insertRow writes a new row and keeps foreign keys.
func (s *Sink) insertRow(ctx context.Context, w *writer, row []value.Datum) (c *table.Conflict, err error) {
	w.written.Inserted++
	w.note(row)
	out := s.outOf(w.codec.Table)
	if len(out) == 0 {
		return w.Writer.Insert(ctx, row)
	}
	err = s.guarded(func() error {
		if c, err = w.Writer.Insert(ctx, row); err != nil || c != nil {
			return err
		}
		for _, r := range out {
			if err := s.checkParent(ctx, r, row); err != nil {
				return err
			}
		}
		return nil
	})
	return c, err
}

// updateRow writes the new form of a stored row and keeps foreign keys.
func (s *Sink) updateRow(ctx context.Context, w *writer, was, now []value.Datum, by *schema.Reference, c chain) error {
	w.written.Updated++
	w.note(was)
	t := w.codec.Table
	out, in := s.outOf(t), s.into(t)
	if len(out) == 0 && len(in) == 0 {
		return s.overwrite(ctx, w, was, now, c)
	}
	s.verified = nil
	return s.guarded(func() error {
		changed := func(r *schema.Reference) bool {
			return !sameAt(was, now, r.ParentColumns) && !hasNullAt(was, r.ParentColumns)
		}
		for _, r := range in {
			if changed(r) && c.restricts(r) {
				if err := s.refuseChildren(ctx, r, was, c); err != nil {
					return err
				}
			}
		}
		if err := s.overwrite(ctx, w, was, now, c); err != nil {
			return err
		}
		for _, r := range in {
			if changed(r) && !c.restricts(r) {
				if err := s.keyChanged(ctx, r, was, now, c); err != nil {
					return err
				}
			}
		}
		// A row whose key changes is a new one to InnoDB.
		moved := !sameKey(t, was, now)
		for _, r := range out {
			if r != by && (moved || !sameAt(was, now, r.ChildColumns)) {
				if err := s.checkParent(ctx, r, now); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// deleteRow removes a stored row and keeps foreign keys.
func (s *Sink) deleteRow(ctx context.Context, w *writer, was []value.Datum, c chain) error {
	w.written.Deleted++
	w.note(was)
	in := s.into(w.codec.Table)
	if len(in) == 0 {
		return w.Writer.Delete(ctx, was)
	}
	s.verified = nil
	return s.guarded(func() error {
		if err := w.Writer.Delete(ctx, was); err != nil {
			return err
		}
		for _, r := range in {
			if hasNullAt(was, r.ParentColumns) {
				continue
			}
			if err := s.parentGone(ctx, r, was, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// sameAt reports whether two rows have the same bytes in some columns.
func sameAt(a, b []value.Datum, columns []int) bool {
	for _, i := range columns {
		if !exec.SameDatum(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameKey(t *schema.Table, a, b []value.Datum) bool {
	for _, p := range t.PrimaryKey {
		if i := t.ColumnIndex(p.Column); !exec.SameDatum(a[i], b[i]) {
			return false
		}
	}
	return true
}

func hasNullAt(row []value.Datum, columns []int) bool {
	for _, i := range columns {
		if row[i].IsNull() {
			return true
		}
	}
	return false
}

// checkParent locks the row that a child row refers to, shared, until the
// transaction ends. No other transaction can remove it while the child is not
// committed, and one that is removing it is waited for.
func (s *Sink) checkParent(ctx context.Context, r *schema.Reference, row []value.Datum) error {
	if hasNullAt(row, r.ChildColumns) {
		return nil
	}
	if r.Parent == nil {
		return s.noParent(r)
	}
	k, key, err := s.parentKey(r, row)
	if err != nil || s.verified[string(key)] {
		return err
	}
	lock := s.lockParent
	if r.Loose {
		lock = s.lockAnyParent
	}
	found, err := lock(ctx, k, r, key)
	switch {
	case err != nil:
		return err
	case !found:
		return s.noParent(r)
	}
	if s.verified == nil || len(s.verified) >= maxVerified {
		s.verified = map[string]bool{}
	}
	s.verified[string(key)] = true
	return nil
}

// parentKey is the key of the row that a child row refers to, or what the keys of such rows
// begin with, in the index of the parent. No column of it is NULL.
func (s *Sink) parentKey(r *schema.Reference, row []value.Datum) (*decode.Table, []byte, error) {
	k, err := s.env.Codecs.Table(r.Parent)
	if err != nil {
		return nil, nil, err
	}
	parent := make([]value.Datum, len(r.Parent.Columns))
	for i, at := range r.ChildColumns {
		parent[r.ParentColumns[i]] = row[at]
	}
	if r.Loose {
		return k, k.AppendKeyStart(nil, r.ParentIndex, len(r.ParentColumns), parent), nil
	}
	return k, k.AppendUniqueKey(nil, r.ParentIndex, parent), nil
}

// childStart is what the keys of the rows that refer to a parent begin with, in the index of
// the child.
func childStart(k *decode.Table, r *schema.Reference, parent []value.Datum) []byte {
	child := make([]value.Datum, len(r.Child.Columns))
	for i, at := range r.ParentColumns {
		child[r.ChildColumns[i]] = parent[at]
	}
	return k.AppendKeyStart(nil, r.ChildIndex, len(r.ChildColumns), child)
}

// maxVerified bounds the parent keys that a statement remembers.
const maxVerified = 4096

// lockParent locks the row of a key of the primary key or of a unique index.
func (s *Sink) lockParent(ctx context.Context, k *decode.Table, r *schema.Reference, key []byte) (bool, error) {
	shared := storage.LockOptions{Mode: storage.LockShared}
	for range maxRetries {
		locked, err := s.env.Txn.Lock(ctx, [][]byte{key}, shared)
		if err != nil || locked[0].Value == nil {
			return false, err
		}
		if r.ParentIndex == nil {
			return true, nil
		}
		x := k.Index(r.ParentIndex.ID)
		rowKey, err := x.AppendRowKey(nil, key, locked[0].Value)
		if err != nil {
			return false, err
		}
		if locked, err = s.env.Txn.Lock(ctx, [][]byte{rowKey}, shared); err != nil {
			return false, err
		}
		// The entry may be another row's by now. Where it was locked on other machines it
		// is not, and this takes no call.
		val, err := s.env.Txn.Latest().Get(ctx, key, nil)
		if errors.Is(err, storage.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		again, err := x.AppendRowKey(nil, key, val)
		if err != nil {
			return false, err
		}
		if locked[0].Value != nil && bytes.Equal(again, rowKey) {
			return true, nil
		}
	}
	return false, sqlerr.Internal("a referenced row of %s moves again and again", r.Parent.Name)
}

// firstParents are enough unless others remove rows at this moment.
const firstParents = 16

// lockAnyParent locks one of the rows whose key begins with start.
func (s *Sink) lockAnyParent(ctx context.Context, k *decode.Table, r *schema.Reference, start []byte) (found bool, err error) {
	for _, limit := range []int{firstParents, 0} {
		if limit == 0 {
			s.ahead.Forget()
		}
		err = s.matching(ctx, k, r.ParentIndex, start, matchOptions{Mode: storage.LockShared, Limit: limit, Parts: len(r.ParentColumns)}, func([]value.Datum) (bool, error) {
			found = true
			return false, nil
		})
		if found || err != nil {
			break
		}
	}
	return found, err
}

// children finds the rows that refer to a key of the parent, locks them and gives
// each to fn with its values under its lock. Those that have expired go. c is
// what led to them, themselves included.
func (s *Sink) children(ctx context.Context, r *schema.Reference, parent []value.Datum, o matchOptions, c chain, fn func(w *writer, row []value.Datum) (more bool, err error)) error {
	w, err := s.writer(r.Child)
	if err != nil {
		return err
	}
	hides := s.hides(r.Child)
	if hides {
		o.Mode = storage.LockExclusive
	}
	o.Parts = len(r.ChildColumns)
	start := childStart(w.codec, r, parent)
	return s.matching(ctx, w.codec, r.ChildIndex, start, o, func(row []value.Datum) (bool, error) {
		if hasNullAt(row, r.ChildColumns) {
			return true, nil
		}
		if hides {
			gone, err := s.expired(w, row)
			if err != nil {
				return false, err
			}
			if gone {
				if c.depth >= maxCascade {
					return false, sqlerr.ForeignKeyDepth(maxCascade)
				}
				return true, s.deleteRow(ctx, w, row, chain{depth: c.depth})
			}
		}
		return fn(w, row)
	})
}

type matchOptions struct {
	Mode storage.LockMode
	// Parts is how many parts of the key the start has.
	Parts int
	// Limit bounds the rows, 0 for all.
	Limit int
	// Ahead, when set, is called with keys before their rows are locked.
	Ahead func(ctx context.Context, keys [][]byte) error
}

// matching finds the rows whose keys in an index, or of their own (nil), begin
// with start, locks them and gives each to fn with its values under its lock.
func (s *Sink) matching(ctx context.Context, k *decode.Table, of *schema.Index, start []byte, o matchOptions, fn func(row []value.Datum) (more bool, err error)) error {
	var x *table.Index
	if of != nil {
		x = k.Index(of.ID)
	}
	few, rest, err := s.rowKeys(ctx, x, start, o.Limit)
	defer rest.Close()
	rd := k.NewEntryReader()
	for keys := few; err == nil && len(keys) > 0; {
		if o.Ahead != nil {
			if err := o.Ahead(ctx, keys); err != nil {
				return err
			}
		}
		for _, key := range keys {
			locked, err := s.env.Txn.Lock(ctx, [][]byte{key}, storage.LockOptions{Mode: o.Mode})
			if err != nil {
				return err
			}
			if locked[0].Value == nil {
				continue
			}
			row := make([]value.Datum, len(k.Columns))
			if err := rd.Fetch(ctx, s.env.Txn.Latest(), key, locked[0].Value, row); err != nil {
				return err
			}
			if !bytes.Equal(start, k.AppendKeyStart(nil, of, o.Parts, row)) {
				continue
			}
			for i := range row {
				row[i] = row[i].Clone()
			}
			if more, err := fn(row); err != nil || !more {
				return err
			}
		}
		if rest == nil {
			break
		}
		keys, err = rest.Next(restRows)
	}
	return err
}

// fewRows is how many keys of rows are kept without a list.
const fewRows = 64

// restRows is how many of the list are taken at once.
const restRows = 1024

// rowKeys are the keys of the rows whose entry in x (nil: whose key) begins
// with start, in the latest state: the first few, and a list of the others, nil
// for none, which the caller closes. No more than limit, if it is not 0.
func (s *Sink) rowKeys(ctx context.Context, x *table.Index, start []byte, limit int) (few [][]byte, rest *exec.KeyList, err error) {
	scan, err := s.latest().Scan(ctx, prefixSpan(start), storage.ScanOptions{KeyOnly: x == nil, Limit: limit})
	if err != nil {
		return nil, nil, err
	}
	defer scan.Close()
	var bad error
	var buf []byte
	n := 0
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		if buf = append(buf[:0], key...); x != nil {
			if buf, bad = x.AppendRowKey(buf[:0], key, val); bad != nil {
				return false
			}
		}
		switch {
		case len(few) < fewRows:
			few = append(few, bytes.Clone(buf))
		case rest == nil:
			rest = exec.NewKeyList(s.env.KeyEnv(), "rows of a foreign key")
			fallthrough
		default:
			bad = rest.Add([][]byte{buf})
		}
		n++
		return bad == nil && n != limit
	})
	return few, rest, errors.Join(err, bad)
}

// writing are the options for children that are changed with their parent, which now is nil
// where it goes.
func (s *Sink) writing(r *schema.Reference, was, now []value.Datum, c chain) matchOptions {
	return matchOptions{Mode: storage.LockExclusive, Ahead: func(ctx context.Context, keys [][]byte) error {
		w, err := s.writer(r.Child)
		if err != nil {
			return err
		}
		return s.prepareFamily(ctx, r, w, was, now, c.depth-1, keys)
	}}
}

// refuseChildren is RESTRICT: 1451 if a row refers to the key. A row that
// refers to itself does too, as in InnoDB.
func (s *Sink) refuseChildren(ctx context.Context, r *schema.Reference, was []value.Datum, c chain) error {
	if r.Child.ID == r.Parent.ID && s.refersTo(r, was, was) {
		return s.hasChildren(r)
	}
	c.depth++
	return s.children(ctx, r, was, matchOptions{Mode: storage.LockShared}, c, func(*writer, []value.Datum) (bool, error) {
		return false, s.hasChildren(r)
	})
}

// refersTo compares the child's side of one row with the parent's side of
// another, by collation.
func (s *Sink) refersTo(r *schema.Reference, child, parent []value.Datum) bool {
	k, err := s.env.Codecs.Table(r.Parent)
	if err != nil || hasNullAt(child, r.ChildColumns) {
		return false
	}
	parts := k.Key
	if r.ParentIndex != nil {
		parts = k.Index(r.ParentIndex.ID).Parts
	}
	parts = parts[:len(r.ParentColumns)]
	other := make([]value.Datum, len(parent))
	for i, at := range r.ParentColumns {
		other[at] = child[r.ChildColumns[i]]
	}
	return bytes.Equal(table.AppendParts(nil, parts, parent), table.AppendParts(nil, parts, other))
}

// refersBack reports whether a row that is being deleted refers to the last of
// them.
func (s *Sink) refersBack(r *schema.Reference, last *leaving) bool {
	for l := last; l != nil; l = l.up {
		if l.table.ID == r.Child.ID && s.refersTo(r, l.row, last.row) {
			return true
		}
	}
	return false
}

// parentGone does what ON DELETE says.
func (s *Sink) parentGone(ctx context.Context, r *schema.Reference, was []value.Datum, c chain) error {
	if !r.Key.OnDelete.Writes() {
		return s.refuseChildren(ctx, r, was, c)
	}
	c.depth++
	c.leaving = &leaving{r.Parent, was, c.leaving}
	if c.depth >= maxCascade && s.refersBack(r, c.leaving) {
		return sqlerr.ForeignKeyDepth(maxCascade)
	}
	return s.children(ctx, r, was, s.writing(r, was, nil, c), c, func(w *writer, row []value.Datum) (bool, error) {
		if c.depth >= maxCascade {
			return false, sqlerr.ForeignKeyDepth(maxCascade)
		}
		if r.Key.OnDelete == schema.ActionCascade {
			return true, s.deleteRow(ctx, w, row, c)
		}
		return true, s.updateChild(ctx, r, w, row, nil, c)
	})
}

// restricts reports whether a changed key of a parent refuses its children. So
// does an action that comes back to a table which the statement or the cascade
// updates.
func (c *chain) restricts(r *schema.Reference) bool {
	return !r.Key.OnUpdate.Writes() || r.Child.ID == r.Parent.ID ||
		slices.ContainsFunc(c.updated, func(t *schema.Table) bool { return t.ID == r.Child.ID })
}

// keyChanged does what ON UPDATE says.
func (s *Sink) keyChanged(ctx context.Context, r *schema.Reference, was, now []value.Datum, c chain) error {
	c.depth++
	c.updated = append(c.updated[:len(c.updated):len(c.updated)], r.Parent)
	var with []value.Datum
	if r.Key.OnUpdate == schema.ActionCascade {
		with = now
	}
	return s.children(ctx, r, was, s.writing(r, was, now, c), c, func(w *writer, row []value.Datum) (bool, error) {
		if c.depth >= maxCascade {
			return false, sqlerr.ForeignKeyDepth(maxCascade)
		}
		return true, s.updateChild(ctx, r, w, row, with, c)
	})
}

// updateChild gives a child the new key of its parent; NULL when parent is nil.
func (s *Sink) updateChild(ctx context.Context, r *schema.Reference, w *writer, row, parent []value.Datum, c chain) error {
	next, err := w.childOf(r, row, parent)
	if err != nil {
		return err
	}
	err = s.updateRow(ctx, w, row, next, r, c)
	if dup, ok := errors.AsType[*table.DuplicateError](err); ok {
		if entry := dup.Entry(types.AppendText); s.sees(dup.Table.Database, dup.Table.Name) {
			return sqlerr.ForeignKeyDuplicate(r.Parent.Name, entry, dup.Table.Name, dup.KeyName())
		} else {
			return sqlerr.ForeignKeyDuplicateHidden(r.Parent.Name, entry)
		}
	}
	return err
}

// childOf is a child with the key of a parent; nil for NULL.
func (w *writer) childOf(r *schema.Reference, row, parent []value.Datum) ([]value.Datum, error) {
	next := append([]value.Datum(nil), row...)
	for i, at := range r.ChildColumns {
		next[at] = value.Null
		if parent != nil {
			next[at] = parent[r.ParentColumns[i]]
		}
	}
	if w.codec.Keyed == nil {
		return next, nil
	}
	if w.keyed == nil {
		w.keyed = w.codec.Keyed()
	}
	return next, w.keyed(next)
}
