package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// checkRows is how many documents are compared at a time.
const checkRows = 2000

// Check compares the documents of an index with the rows of a snapshot, and all
// checksums of its files; wrong is called with what is wrong, and with the key of
// a row if it is about one. It gives the number of documents that were compared;
// not those of rows that were changed meanwhile. ErrUnavailable: the index is not
// ready, which is not wrong.
func (m *Manager) Check(ctx context.Context, kv storage.Snapshot, t *schema.Table, d *schema.SearchIndex, wrong func(key []byte, text string)) (docs int64, err error) {
	x := m.lookUp(t, d)
	if x == nil || !x.holds(d) {
		return 0, ErrUnavailable
	}
	at, err := MomentOf(ctx, kv)
	if err != nil {
		return 0, err
	}
	v, err := x.View(ctx, at, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	x.mu.Lock()
	files := x.seg
	x.mu.Unlock()
	if files == nil {
		return 0, ErrUnavailable
	}
	c := checker{rows: m.cfg.Rows, kv: kv, table: t, index: d, snap: v.Snapshot, changed: v.Changed, wrong: wrong}
	return c.run(ctx, files)
}

// maxVerified is how many documents Verify compares.
const maxVerified = 1000

// Verify is a check of invariant I1 for one view, where the index is small: kv is
// what the statement reads. The error says what is wrong.
func (m *Manager) Verify(ctx context.Context, kv storage.Reader, t *schema.Table, d *schema.SearchIndex, v *View) (err error) {
	x := m.lookUp(t, d)
	if x == nil || v.Docs() > maxVerified || !x.holds(d) {
		return nil
	}
	x.mu.Lock()
	files := x.seg
	x.mu.Unlock()
	if files == nil {
		return nil
	}
	c := checker{rows: m.cfg.Rows, kv: kv, table: t, index: d, snap: v.Snapshot, changed: v.Changed,
		wrong: func(key []byte, text string) { err = errors.Join(err, fmt.Errorf("row %x: %s", key, text)) }}
	failed := seg.Guard(func() error {
		for _, s := range c.snap.Segments() {
			if err := c.segment(ctx, files, s); err != nil {
				return err
			}
		}
		return c.missing(ctx)
	})
	if failed != nil { // that shows in the statement itself
		return nil
	}
	return err
}

// CheckFiles is Check of an index that no Manager has open. Opening completes
// what was being written, as a Manager does.
func CheckFiles(ctx context.Context, cfg Config, kv storage.Snapshot, t *schema.Table, d *schema.SearchIndex, wrong func(key []byte, text string)) (docs int64, err error) {
	dir := filepath.Join(cfg.Dir, dirName(t, d))
	if _, err := os.Stat(dir); err != nil {
		return 0, fmt.Errorf("%w: it has no files yet", ErrUnavailable)
	}
	form, err := cfg.Rows.Schema(t, d)
	if err != nil {
		return 0, err
	}
	files, err := seg.Open(dir, form, seg.Options{})
	if errors.Is(err, seg.ErrDamaged) {
		wrong(nil, err.Error())
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := files.Close(); e != nil && !errors.Is(e, seg.ErrDamaged) {
			err = errors.Join(err, e)
		}
	}()
	snap, err := files.Snapshot()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	low, high := bounds(snap)
	at := kv.Seq()
	switch {
	case low == 0 || snap.Value(valueBuilt) == nil:
		return 0, fmt.Errorf("%w: it is not built to its end", ErrUnavailable)
	case high > at:
		return 0, fmt.Errorf("%w: its files are ahead of the store", ErrUnavailable)
	case t.Stream == nil:
		return 0, ErrUnavailable
	}
	mark, err := stream.Mark(ctx, kv, t.Stream.ID)
	if err != nil {
		return 0, err
	}
	if mark > low {
		return 0, fmt.Errorf("%w: its files are too old", ErrUnavailable)
	}
	c := checker{rows: cfg.Rows, kv: kv, table: t, index: d, snap: snap, wrong: wrong}
	if c.changed, _, _, err = changedKeys(ctx, kv, t.Stream.ID, low, at, 0); err != nil {
		return 0, err
	}
	return c.run(ctx, files)
}

// checker compares documents and rows.
type checker struct {
	rows    Rows
	kv      storage.Reader
	table   *schema.Table
	index   *schema.SearchIndex
	snap    *seg.Snapshot
	changed [][]byte // rows of which the documents say nothing
	wrong   func(key []byte, text string)
	docs    int64
}

func (c *checker) run(ctx context.Context, files *seg.Index) (int64, error) {
	err := seg.Guard(func() error {
		if err := files.Verify(ctx); err != nil {
			return err
		}
		for _, s := range c.snap.Segments() {
			if err := c.segment(ctx, files, s); err != nil {
				return err
			}
		}
		return c.missing(ctx)
	})
	if errors.Is(err, seg.ErrDamaged) {
		c.wrong(nil, err.Error())
		err = nil
	}
	return c.docs, err
}

func (c *checker) isChanged(id []byte) bool {
	_, ok := slices.BinarySearchFunc(c.changed, id, bytes.Compare)
	return ok
}

// fields are those of the files, also those that no column has.
func (c *checker) fields() (ids []seg.FieldID, err error) {
	form, err := c.rows.Schema(c.table, c.index)
	for _, f := range form.Fields {
		if f.ID == rejectedField && c.index.KeptFiles(c.table) != "" {
			continue // there may be marks of dropped fields
		}
		ids = append(ids, f.ID)
	}
	return ids, err
}

func (c *checker) fieldName(id seg.FieldID) string {
	for i := range c.index.Fields {
		f := &c.index.Fields[i]
		col := c.table.Column(f.Column)
		member, ok := memberName(f, id)
		if ok && col != nil {
			if g := col.Generated; g != nil && col.Hidden {
				return g.Expr
			}
			return col.Name + strings.TrimPrefix(f.Path, "$") + member
		}
	}
	return fmt.Sprint("number ", id)
}

// memberName is the way to a field within f, if it is there.
func memberName(f *schema.SearchField, id seg.FieldID) (string, bool) {
	if seg.FieldID(f.ID) == id {
		return "", true
	}
	for i := range f.Sub {
		if name, ok := memberName(&f.Sub[i], id); ok {
			return "." + f.Sub[i].Name + name, true
		}
	}
	return "", false
}

// segment compares the documents of a segment with what their rows give.
func (c *checker) segment(ctx context.Context, files *seg.Index, s *seg.Segment) error {
	roots, _ := s.Roots()
	ids, err := c.fields()
	if err != nil {
		return err
	}
	have := make([][]uint64, len(ids))
	for i, id := range ids {
		if have[i], err = s.Digests(id); err != nil {
			return err
		}
	}
	type document struct {
		id  []byte
		doc uint32
	}
	var list []document
	compare := func() error { // some of the list
		keys := make([][]byte, len(list))
		for i := range list {
			keys[i] = list[i].id
		}
		b := files.NewBatch()
		n, err := c.rows.Add(ctx, c.kv, c.table, c.index, keys, b)
		if err != nil {
			return err
		}
		fresh, err := b.Segment()
		if err != nil {
			return err
		}
		want := make([][]uint64, len(ids))
		for i := range ids {
			if fresh == nil {
				break
			}
			if want[i], err = fresh.Digests(ids[i]); err != nil {
				return err
			}
		}
		for _, l := range list[:n] {
			at, ok := uint32(0), false
			if fresh != nil {
				at, ok = fresh.Find(l.id)
			}
			if !ok {
				c.wrong(l.id, "a document without a row")
				continue
			}
			for i := range ids {
				if have[i][l.doc] != want[i][at] {
					c.wrong(l.id, fmt.Sprintf("the document has another value than the row in field %s", c.fieldName(ids[i])))
				}
			}
		}
		c.docs += int64(n)
		list = list[n:]
		return nil
	}
	flush := func() error {
		slices.SortFunc(list, func(a, b document) int { return bytes.Compare(a.id, b.id) })
		for len(list) > 0 {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			if err := compare(); err != nil {
				return err
			}
		}
		return nil
	}
	for doc := range uint32(s.Docs()) {
		if roots[doc>>6]&(1<<(doc&63)) == 0 {
			continue
		}
		id := s.IDOf(doc)
		if c.isChanged(id) {
			continue
		}
		list = append(list, document{bytes.Clone(id), doc})
		if len(list) == checkRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return flush()
}

// missing finds rows without a document, or with two.
func (c *checker) missing(ctx context.Context) error {
	prefix := table.TablePrefix(nil, c.table.ID, schema.PrimaryIndexID)
	scan, err := c.kv.Scan(ctx, table.IndexSpan(c.table.ID, schema.PrimaryIndexID), storage.ScanOptions{KeyOnly: true, Cold: true})
	if err != nil {
		return err
	}
	for done := false; !done && err == nil; {
		done, err = scan.Visit(ctx, func(key, _ []byte) bool {
			id := key[len(prefix):]
			if c.isChanged(id) {
				return true
			}
			n := 0
			for _, s := range c.snap.Segments() {
				if _, ok := s.Find(id); ok {
					n++
				}
			}
			switch {
			case n == 0:
				c.wrong(id, "a row without a document")
			case n > 1:
				c.wrong(id, "a row with several documents")
			}
			return true
		})
	}
	return errors.Join(err, scan.Close())
}
