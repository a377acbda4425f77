package search

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
)

func wordsTable(id schema.TableID) *schema.Table {
	return &schema.Table{ID: id, Database: "d", Name: fmt.Sprint("t", id), Stream: &schema.Stream{ID: schema.StreamID(id) + 100},
		Columns: []schema.Column{{ID: 1, Name: "c", Type: schema.Type{ID: schema.TypeBigInt}}},
		Search:  []schema.SearchIndex{{ID: 2, Name: "s", Fields: []schema.SearchField{{ID: 1, Column: 1}}}}}
}

// put writes rows, one commit each.
func put(t *testing.T, s storage.Store, d *schema.Table, from, to int) {
	t.Helper()
	w := &world{TB: t, store: s, table: d}
	for i := from; i < to; i++ {
		w.change(map[uint64]uint64{uint64(i): uint64(i) + 1})
	}
}

func awaitDocs(t *testing.T, m *Manager, d *schema.Table, docs int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := m.Wait(ctx, d.ID, func(string) {}); err != nil {
		t.Fatalf("%v: %+v", err, m.Infos())
	}
	x := m.Index(d, 2)
	if x == nil {
		t.Fatal("no index")
	}
	v, err := x.View(ctx, m.cfg.Store.Seq(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if got := v.Docs(); got+len(v.Changed) < docs || got > docs {
		t.Fatalf("%d documents and %d changed rows, want %d", got, len(v.Changed), docs)
	}
}

// TestLostCommits: the store has lost its last commits and given their sequences
// again before the files are opened.
func TestLostCommits(t *testing.T) {
	d, dir := wordsTable(1), t.TempDir()
	s := memkv.New(memkv.Options{})
	put(t, s, d, 0, 8)
	m := New(Config{Store: s, Dir: dir, Rows: &words{}})
	m.Update([]*schema.Table{d})
	awaitDocs(t, m, d, 8)
	if err := m.Index(d, 2).seg.Persist(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.Close()
	s.Close()
	s = memkv.New(memkv.Options{})
	defer s.Close()
	put(t, s, d, 0, 5)
	m = New(Config{Store: s, Dir: dir, Rows: &words{}})
	defer m.Close()
	put(t, s, d, 100, 110)
	m.Update([]*schema.Table{d})
	awaitDocs(t, m, d, 15)
}

// TestUpdates: indexes that come and go all the time are those of the last
// Update in the end.
func TestUpdates(t *testing.T) {
	s := memkv.New(memkv.Options{})
	defer s.Close()
	a, b, dir := wordsTable(1), wordsTable(2), t.TempDir()
	put(t, s, a, 0, 3)
	put(t, s, b, 0, 4)
	m := New(Config{Store: s, Dir: dir, Rows: &words{}})
	defer m.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				m.Update([]*schema.Table{a})
				m.Update(nil)
				m.Update([]*schema.Table{b, a})
			}
		})
	}
	wg.Wait()
	m.Update([]*schema.Table{a, b})
	awaitDocs(t, m, a, 3)
	awaitDocs(t, m, b, 4)
	for ; ; time.Sleep(10 * time.Millisecond) {
		m.mu.Lock()
		n, closing := len(m.indexes), len(m.closing)
		m.mu.Unlock()
		if closing == 0 {
			if n != 2 {
				t.Fatalf("%d indexes", n)
			}
			break
		}
	}
	if list, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
}
