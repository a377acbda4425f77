package write

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Where the store is on other machines, a call for each lock and each look of each row
// would make a change of many rows wait as often. So the locks that the rows need are taken
// together before the first is written, and what the writes look for is read together, level
// by level: rows, their parents and children, the children of these. The writes are the same
// with and without that: they find what they need at hand, or get it by themselves.

// maxAhead bounds the rows of a level, and the pairs that are read for it.
const maxAhead = 4096

// changes are changes of rows of one table, in their stored form. One of was and now is nil
// for inserts and removals.
type changes struct {
	w        *writer
	was, now [][]value.Datum
	replaces bool              // rows with which new ones conflict are removed
	by       *schema.Reference // that brings them about; nil for the statement
	depth    int
}

// Reserve implements exec.Sink.
func (s *Sink) Reserve(ctx context.Context, t *schema.Table, old, rows [][]value.Datum, replaces bool) error {
	if !s.Remote() {
		return nil
	}
	w, err := s.writer(t)
	if err != nil {
		return err
	}
	s.ahead.Forget()
	s.prepared = map[string]bool{}
	return s.prepare(ctx, &changes{w: w, was: w.storedRows(old), now: w.storedRows(rows), replaces: replaces})
}

// storedRows are rows in their stored form.
func (w *writer) storedRows(rows [][]value.Datum) [][]value.Datum {
	if len(w.stamps) == 0 || rows == nil {
		return rows
	}
	out := make([][]value.Datum, len(rows))
	for i, row := range rows {
		var buf []value.Datum
		out[i] = w.stored(row, &buf)
	}
	return out
}

// latest is the latest state of what was read ahead, and of all else.
func (s *Sink) latest() storage.Reader {
	if s.ahead == nil {
		return s.env.Txn.Latest()
	}
	return s.env.Txn.Over(s.ahead)
}

func prefixSpan(start []byte) storage.Span {
	return storage.Span{Start: start, End: keyenc.PrefixEnd(start)}
}

// prepare has the locks and looks of changes ahead of them.
func (s *Sink) prepare(ctx context.Context, c *changes) error {
	if len(c.was) == 0 && len(c.now) == 0 {
		return nil
	}
	if err := s.prepareRows(ctx, c); err != nil {
		return err
	}
	for _, r := range s.into(c.w.codec.Table) {
		if err := s.prepareChildren(ctx, c, r); err != nil {
			return err
		}
	}
	return nil
}

// prepareRows locks what the rows themselves need and reads their versions, and what the view
// has of them.
func (s *Sink) prepareRows(ctx context.Context, c *changes) error {
	parents, err := s.parentsOf(c)
	if err != nil {
		return err
	}
	keys := parents.keys
	for i, row := range c.now {
		if c.was == nil {
			keys = c.w.AppendLocks(keys, row)
		} else {
			keys = c.w.AppendUpdateLocks(keys, c.was[i], row)
		}
	}
	if err := s.env.Txn.Reserve(ctx, keys); err != nil {
		return err
	}
	if err := s.prepareStanding(ctx, c, keys[len(parents.keys):]); err != nil {
		return err
	}
	if err := s.prepareParents(ctx, parents); err != nil {
		return err
	}
	if err := c.w.ReadView(ctx, c.was, c.now); err != nil {
		return err
	}
	return s.ahead.Read(ctx, s.versionsOf(ctx, c), maxAhead)
}

// prepareStanding locks the rows that have unique entries of new ones; keys are locked.
// Where these rows, and those that have the new ones' keys, are replaced, it reads which
// children refer to them.
func (s *Sink) prepareStanding(ctx context.Context, c *changes, keys [][]byte) error {
	if c.was != nil {
		return nil
	}
	var entries []parentEntry
	var rows [][]byte
	for _, key := range keys {
		if x := c.w.codec.IndexOf(key); x != nil {
			entries = append(entries, parentEntry{x, key})
		} else {
			rows = append(rows, key)
		}
	}
	more, err := s.rowsOf(ctx, entries)
	if err != nil {
		return err
	}
	if err := s.env.Txn.Reserve(ctx, more); err != nil {
		return err
	}
	if !c.replaces {
		return nil
	}
	return s.readStanding(ctx, c.w, append(rows, more...))
}

// readStanding reads which children refer to rows that are locked.
func (s *Sink) readStanding(ctx context.Context, w *writer, keys [][]byte) error {
	into := s.into(w.codec.Table)
	if len(into) == 0 || len(keys) == 0 {
		return nil
	}
	locked, err := s.env.Txn.Lock(ctx, keys, storage.LockOptions{})
	if err != nil {
		return err
	}
	var spans []storage.Span
	seen := map[string]bool{} // a row may have the key and the entry of a new one
	rd, row := w.codec.NewEntryReader(), make([]value.Datum, len(w.codec.Columns))
	for i, key := range keys {
		if locked[i].Value == nil {
			continue
		}
		if err := rd.Fetch(ctx, s.env.Txn.Latest(), key, locked[i].Value, row); err != nil {
			return err
		}
		for _, r := range into {
			if hasNullAt(row, r.ParentColumns) {
				continue
			}
			child, err := s.writer(r.Child)
			if err != nil {
				return err
			}
			if span := prefixSpan(childStart(child.codec, r, row)); !seen[string(span.Start)] {
				seen[string(span.Start)] = true
				spans = append(spans, span)
			}
		}
	}
	return s.ahead.Read(ctx, spans, maxAhead)
}

// versionsOf are the spans of the versions of the rows.
func (s *Sink) versionsOf(ctx context.Context, c *changes) (spans []storage.Span) {
	if c.was == nil {
		return c.w.AppendNewVersions(ctx, nil, c.now)
	}
	for i, was := range c.was {
		spans = c.w.AppendVersions(spans, was)
		if c.now != nil && !sameKey(c.w.codec.Table, was, c.now[i]) {
			spans = c.w.AppendVersions(spans, c.now[i])
		}
	}
	return spans
}

// parents are the parents that rows refer to: by keys, of which some are entries of unique
// indexes, and by what keys of them begin with.
type parents struct {
	keys    [][]byte
	entries []parentEntry
	loose   []looseParent
}

type parentEntry struct {
	x   *table.Index
	key []byte
}

type looseParent struct {
	x     *table.Index // nil for the primary key
	start []byte
}

// parentsOf are the parents that the new rows refer to.
func (s *Sink) parentsOf(c *changes) (p parents, err error) {
	done := map[string]bool{}
	for _, r := range s.outOf(c.w.codec.Table) {
		for i, row := range c.now {
			if r == c.by || r.Parent == nil || hasNullAt(row, r.ChildColumns) || c.was != nil && !s.refersAnew(c, i, r) {
				continue
			}
			k, key, err := s.parentKey(r, row)
			if err != nil {
				return p, err
			}
			if s.verified[string(key)] || done[string(key)] || len(key) > s.env.Store.Caps().MaxKey {
				continue
			}
			done[string(key)] = true
			p.add(k, r, key)
		}
	}
	return p, nil
}

// refersAnew reports whether an update has its row look for a parent.
func (s *Sink) refersAnew(c *changes, i int, r *schema.Reference) bool {
	return !sameAt(c.was[i], c.now[i], r.ChildColumns) || !sameKey(c.w.codec.Table, c.was[i], c.now[i])
}

func (p *parents) add(k *decode.Table, r *schema.Reference, key []byte) {
	var x *table.Index
	if r.ParentIndex != nil {
		x = k.Index(r.ParentIndex.ID)
	}
	if r.Loose {
		p.loose = append(p.loose, looseParent{x, key})
		return
	}
	p.keys = append(p.keys, key)
	if x != nil {
		p.entries = append(p.entries, parentEntry{x, key})
	}
}

// prepareParents locks the rows of the entries that are locked, and a row for each beginning
// of keys.
func (s *Sink) prepareParents(ctx context.Context, p parents) error {
	keys, err := s.rowsOf(ctx, p.entries)
	if err != nil {
		return err
	}
	spans := make([]storage.Span, len(p.loose))
	for i, l := range p.loose {
		spans[i] = prefixSpan(l.start)
	}
	if err := s.ahead.Read(ctx, spans, firstParents*maxAhead); err != nil {
		return err
	}
	for i, l := range p.loose {
		if !s.ahead.Has(spans[i]) {
			break
		}
		few, rest, err := s.rowKeys(ctx, l.x, l.start, 1)
		rest.Close()
		if err != nil {
			return err
		}
		keys = append(keys, few...)
	}
	return s.env.Txn.Reserve(ctx, keys)
}

// rowsOf are the keys of the rows of entries that are locked.
func (s *Sink) rowsOf(ctx context.Context, entries []parentEntry) (keys [][]byte, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	list := make([][]byte, len(entries))
	for i, e := range entries {
		list[i] = e.key
	}
	locked, err := s.env.Txn.Lock(ctx, list, storage.LockOptions{Mode: storage.LockShared})
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		if locked[i].Value == nil {
			continue
		}
		key, err := e.x.AppendRowKey(nil, e.key, locked[i].Value)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// prepareChildren reads which rows refer to those that are changed. Where the foreign key
// changes them, that is prepared too.
func (s *Sink) prepareChildren(ctx context.Context, c *changes, r *schema.Reference) error {
	parents := c.losing(r)
	if len(parents) == 0 || c.depth >= maxCascade {
		return nil
	}
	w, err := s.writer(r.Child)
	if err != nil {
		return err
	}
	spans := make([]storage.Span, len(parents))
	for i, at := range parents {
		spans[i] = prefixSpan(childStart(w.codec, r, c.was[at]))
	}
	if err := s.ahead.Read(ctx, spans, maxAhead); err != nil || !c.writes(r) {
		return err
	}
	f := s.family(r, w, c)
	for i, at := range parents {
		if err := f.add(ctx, spans[i], at); err != nil {
			return err
		}
	}
	return f.prepare(ctx)
}

// losing are the numbers of the rows whose children lose their parent.
func (c *changes) losing(r *schema.Reference) (list []int) {
	for i, was := range c.was {
		if !hasNullAt(was, r.ParentColumns) && (c.now == nil || !sameAt(was, c.now[i], r.ParentColumns)) {
			list = append(list, i)
		}
	}
	return list
}

// writes reports whether a foreign key changes the children.
func (c *changes) writes(r *schema.Reference) bool {
	if c.now == nil {
		return r.Key.OnDelete.Writes()
	}
	return r.Key.OnUpdate.Writes() && r.Child.ID != r.Parent.ID
}

// family are the children of rows that are changed.
type family struct {
	s       *Sink
	r       *schema.Reference
	w       *writer
	of      *changes
	keys    [][]byte
	parents []int // of the keys
	next    changes
}

func (s *Sink) family(r *schema.Reference, w *writer, of *changes) family {
	return family{s: s, r: r, w: w, of: of, next: changes{w: w, by: r, depth: of.depth + 1}}
}

// prepareFamily prepares some of the children of one row.
func (s *Sink) prepareFamily(ctx context.Context, r *schema.Reference, w *writer, was, now []value.Datum, depth int, keys [][]byte) error {
	if s.ahead == nil || len(keys) < 2 {
		return nil
	}
	of := &changes{was: [][]value.Datum{was}, depth: depth}
	if now != nil {
		of.now = [][]value.Datum{now}
	}
	if s.prepared == nil || s.ahead.Full() || len(s.prepared) > 2*maxAhead {
		s.ahead.Forget()
		s.prepared = map[string]bool{}
	}
	f := s.family(r, w, of)
	f.note(keys, 0)
	return f.prepare(ctx)
}

// prepare prepares the changes of the children that were noted.
func (f *family) prepare(ctx context.Context) error {
	if err := f.read(ctx); err != nil {
		return err
	}
	return f.s.prepare(ctx, &f.next)
}

// add notes the children in a span, if that was read.
func (f *family) add(ctx context.Context, span storage.Span, parent int) error {
	if !f.s.ahead.Has(span) {
		return nil
	}
	var x *table.Index
	if f.r.ChildIndex != nil {
		x = f.w.codec.Index(f.r.ChildIndex.ID)
	}
	few, rest, err := f.s.rowKeys(ctx, x, span.Start, maxAhead)
	rest.Close()
	f.note(few, parent)
	return err
}

// note notes the keys of children that no one has prepared.
func (f *family) note(keys [][]byte, parent int) {
	for _, key := range keys {
		if len(f.keys) < maxAhead && !f.s.prepared[string(key)] {
			f.s.prepared[string(key)] = true
			f.keys, f.parents = append(f.keys, key), append(f.parents, parent)
		}
	}
}

// read locks the children, and makes their changes.
func (f *family) read(ctx context.Context) error {
	if len(f.keys) == 0 {
		return nil
	}
	locked, err := f.s.env.Txn.Lock(ctx, f.keys, storage.LockOptions{})
	if err != nil {
		return err
	}
	rd := f.w.codec.NewEntryReader()
	for i, key := range f.keys {
		if locked[i].Value == nil {
			continue
		}
		row := make([]value.Datum, len(f.w.codec.Columns))
		if err := rd.Fetch(ctx, f.s.env.Txn.Latest(), key, locked[i].Value, row); err != nil {
			return err
		}
		if err := f.change(row, f.of.was[f.parents[i]], f.parents[i]); err != nil {
			return err
		}
	}
	return nil
}

// change notes the change of a child, if it still refers to the parent.
func (f *family) change(row, parent []value.Datum, at int) error {
	if hasNullAt(row, f.r.ChildColumns) || !f.s.refersTo(f.r, row, parent) {
		return nil
	}
	for i := range row {
		row[i] = row[i].Clone()
	}
	f.next.was = append(f.next.was, row)
	action := f.r.Key.OnDelete
	if f.of.now != nil {
		action = f.r.Key.OnUpdate
	}
	if action == schema.ActionCascade && f.of.now == nil {
		return nil
	}
	var with []value.Datum
	if action == schema.ActionCascade {
		with = f.of.now[at]
	}
	now, err := f.w.childOf(f.r, row, with)
	f.next.now = append(f.next.now, now)
	return err
}
