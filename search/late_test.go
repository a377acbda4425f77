package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/stream"
)

// lists are Rows of a table of lists of numbers: a row that is older than a column has
// a shorter list, and missing(column) instead.
type lists struct{}

func missing(column int) int64 { return int64(-column) }

func numberAt(val []byte, column int) int64 {
	if at := 8 * (column - 1); at < len(val) {
		return int64(binary.BigEndian.Uint64(val[at:]))
	}
	return missing(column)
}

func (*lists) Schema(_ *schema.Table, x *schema.SearchIndex) (out seg.Schema, _ error) {
	for _, f := range x.Fields {
		one := seg.Field{ID: seg.FieldID(f.ID), Kind: seg.KindWord, Unsorted: true}
		if f.Late {
			one.Missing = &seg.Value{Word: missing(int(f.ID))}
		}
		out.Fields = append(out.Fields, one)
	}
	return out, nil
}

func (*lists) Add(ctx context.Context, kv storage.Reader, t *schema.Table, x *schema.SearchIndex, keys [][]byte, b *seg.Batch) (int, error) {
	keys = keys[:min(len(keys), 50)] // as if rows were large
	full := make([][]byte, len(keys))
	for i := range keys {
		full[i] = rowKey(t, keys[i])
	}
	return len(keys), kv.BatchGet(ctx, full, func(i int, val []byte) error {
		if val == nil {
			b.Delete(keys[i])
			return nil
		}
		b.Upsert(keys[i])
		for _, f := range x.Fields {
			b.Word(seg.FieldID(f.ID), numberAt(val, int(f.ID)))
		}
		return nil
	})
}

// TestLateFields adds fields to an index without a build, while rows are written that
// have them at once: no document is made of such a row without its value, and no
// statement reads files that were opened without the field.
func TestLateFields(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.table.Search[0].Form = schema.FormColumnar
	rows := &lists{}
	begin := func() *Manager {
		m := New(Config{Store: store, Dir: w.dir, Rows: rows})
		m.Update([]*schema.Table{w.table})
		return m
	}
	var columns atomic.Int64
	columns.Store(1)
	const ids = 300
	write := func(r *rand.Rand) error {
		txn, err := store.Begin(t.Context(), storage.TxnOptions{})
		if err != nil {
			return err
		}
		defer txn.Rollback()
		var a stream.Appender
		for range 1 + r.IntN(20) {
			k := number(r.Uint64N(ids))
			var val []byte
			for range columns.Load() {
				val = append(val, number(r.Uint64N(1000))...)
			}
			err = errors.Join(err, txn.Put(t.Context(), rowKey(w.table, k), val), a.Append(txn, w.table.Stream.ID, &stream.Record{Kind: stream.Update, Version: 1, Key: k, Before: []byte{1}, After: []byte{1}}))
		}
		if err != nil {
			return err
		}
		_, err = txn.Commit(t.Context())
		return err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		if err := write(r); err != nil {
			t.Fatal(err)
		}
	}
	m := begin()
	defer func() { m.Close() }()
	var ddl sync.RWMutex // as metadata locks: no row is written while columns change
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		r := rand.New(rand.NewPCG(3, 4))
		for {
			select {
			case <-stop:
				return
			default:
			}
			ddl.RLock()
			err := write(r)
			ddl.RUnlock()
			if err != nil {
				t.Errorf("writing: %v", err)
				return
			}
		}
	})
	check := func() error {
		x := m.Index(w.table, 2)
		if x == nil {
			return errors.New("not ready")
		}
		s := w.snapshot()
		defer s.Close()
		return compareLists(x, s, w.table)
	}
	served := 0
	for column := 2; column <= testflag.Pick(5, 6, 9) && !t.Failed(); column++ {
		ddl.Lock()
		next := w.table.Clone()
		next.Columns = append(next.Columns, schema.Column{ID: schema.ColumnID(column), Name: fmt.Sprint("c", column)})
		x := &next.Search[0]
		x.Files = &schema.SearchFiles{Name: m.Files(w.table, &w.table.Search[0]), Table: next.ID}
		x.Fields = append(x.Fields, schema.SearchField{ID: uint16(column), Column: schema.ColumnID(column), Plain: true, Late: true})
		w.table = next
		m.Update([]*schema.Table{next})
		columns.Store(int64(column))
		ddl.Unlock()
		for range 20 {
			if err := check(); err == nil {
				served++
			} else if !errors.Is(err, ErrUnavailable) && err.Error() != "not ready" {
				t.Fatalf("column %d: %v", column, err)
			}
		}
		w.eventually("the index serves", check)
		if column == 5 { // a restart between the change and the next documents
			m.Close()
			m = begin()
		}
	}
	close(stop)
	wg.Wait()
	w.eventually("the index serves", check)
	m.Close()
	m = begin()
	w.eventually("the index serves", check)
	s := w.snapshot()
	defer s.Close()
	if _, err := m.Check(t.Context(), s, w.table, &w.table.Search[0], func(key []byte, text string) { t.Errorf("%x: %s", key, text) }); err != nil {
		t.Error(err)
	}
	t.Logf("%d views right after a change", served)
}

// compareLists compares the documents of a view with rows.
func compareLists(x *Index, at storage.Snapshot, t *schema.Table) error {
	ctx := context.Background()
	moment, err := MomentOf(ctx, at)
	if err != nil {
		return err
	}
	v, err := x.View(ctx, moment, nil)
	if err != nil {
		return err
	}
	defer v.Close()
	for _, s := range v.Segments() {
		live, _ := s.Live()
		for d := range uint32(s.Docs()) {
			id := s.IDOf(d)
			if _, changed := slices.BinarySearchFunc(v.Changed, id, slices.Compare); changed || live[d>>6]>>(d&63)&1 == 0 {
				continue
			}
			val, err := at.Get(ctx, rowKey(t, id), nil)
			if err != nil {
				return fmt.Errorf("row %x: %w", id, err)
			}
			for _, f := range t.Search[0].Fields {
				w, err := s.Words(seg.FieldID(f.ID))
				if err != nil {
					return err
				}
				if got, ok := w.Get(d); !ok || got != numberAt(val, int(f.ID)) {
					return fmt.Errorf("row %x has %d in column %d, its document %d %v", id, numberAt(val, int(f.ID)), f.ID, got, ok)
				}
			}
		}
	}
	return nil
}
