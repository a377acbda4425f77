package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
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
func put(t testing.TB, s storage.Store, d *schema.Table, from, to int) {
	t.Helper()
	w := &world{TB: t, store: s, table: d}
	for i := from; i < to; i++ {
		w.change(map[uint64]uint64{uint64(i): uint64(i) + 1})
	}
}

func awaitDocs(t testing.TB, m *Manager, d *schema.Table, docs int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := m.Wait(ctx, d.ID, []schema.IndexID{2}, func(string) {}); err != nil {
		t.Fatalf("%v: %+v", err, m.Infos())
	}
	x := m.Index(d, 2)
	if x == nil {
		t.Fatal("no index")
	}
	v, err := x.View(ctx, settledAt(m.cfg.Store.Seq()), nil)
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
	t.Parallel()
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
	t.Parallel()
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

// TestGenerations: the next generation of an index is built while this one serves,
// and takes its place with its files.
func TestGenerations(t *testing.T) {
	t.Parallel()
	s := memkv.New(memkv.Options{})
	defer s.Close()
	d, dir := wordsTable(1), t.TempDir()
	put(t, s, d, 0, 5)
	rows := &words{}
	m := New(Config{Store: s, Dir: dir, Rows: rows})
	defer func() { m.Close() }()
	m.Update([]*schema.Table{d})
	awaitDocs(t, m, d, 5)

	with := d.Clone()
	with.Columns = append(with.Columns, schema.Column{ID: 2, Name: "e"})
	next := with.Search[0].Clone()
	next.Fields = append(next.Fields, schema.SearchField{ID: 2, Column: 2})
	with.Search[0].Next = &next
	swapped := with.Clone()
	swapped.Search[0] = swapped.Search[0].Next.Clone()

	gate := make(chan struct{})
	rows.mu.Lock()
	rows.before = func(x *schema.SearchIndex) {
		if len(x.Fields) == 2 {
			<-gate
		}
	}
	rows.mu.Unlock()
	m.Update([]*schema.Table{with})
	old := m.Index(with, 2)
	if old == nil || old != m.Index(d, 2) {
		t.Fatal("the old generation does not serve")
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	if err := m.Wait(ctx, d.ID, []schema.IndexID{2}, func(string) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for the next generation: %v", err)
	}
	stop()
	states := map[bool]State{}
	for _, i := range m.Infos() {
		states[i.Next] = i.State
	}
	if len(states) != 2 || states[false] != Ready || states[true] != Building {
		t.Error(states)
	}
	put(t, s, d, 5, 7)
	close(gate)
	if err := m.Wait(t.Context(), d.ID, []schema.IndexID{2}, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if m.Index(with, 2) != old {
		t.Error("the next generation serves before its time")
	}
	n := len(rows.asked())
	m.Update([]*schema.Table{swapped})
	awaitDocs(t, m, swapped, 7)
	if m.Index(swapped, 2) == old {
		t.Error("the old generation serves")
	}
	if m.Index(with, 2) != nil && m.Index(with, 2) == m.Index(swapped, 2) {
		t.Error("a plan for the old fields gets the new generation")
	}
	if got := len(rows.asked()); got > n+2 {
		t.Errorf("%d rows were read: built twice", got-n)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err == nil && len(list) == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatal(list, err)
		}
	}
}

// TestPassingFailure: those who wait for an index go on waiting while building it fails
// now and then, and get the error when it fails for good.
func TestPassingFailure(t *testing.T) {
	t.Parallel()
	s := memkv.New(memkv.Options{})
	defer s.Close()
	d := wordsTable(1)
	put(t, s, d, 0, 5)
	var failures atomic.Int64
	rows := &words{fail: func() error {
		if failures.Add(-1) >= 0 {
			return errors.New("no luck")
		}
		return nil
	}}
	m := New(Config{Store: s, Dir: t.TempDir(), Rows: rows})
	m.retry = time.Millisecond
	defer m.Close()
	failures.Store(maxFailures - 1)
	m.Update([]*schema.Table{d})
	awaitDocs(t, m, d, 5)
	failures.Store(1 << 30)
	other := wordsTable(2)
	m.Update([]*schema.Table{d, other})
	err := m.Wait(t.Context(), other.ID, []schema.IndexID{2}, func(string) {})
	if err == nil || err.Error() != "search index s cannot be built: no luck" {
		t.Error(err)
	}
	failures.Store(0)
	for m.Wait(t.Context(), other.ID, []schema.IndexID{2}, func(string) {}) != nil {
		time.Sleep(time.Millisecond)
	}
	awaitDocs(t, m, other, 0)
}

// TestDirName: a descriptor that was read again has the files that it had.
func TestDirName(t *testing.T) {
	table := &schema.Table{ID: 7, Columns: []schema.Column{{ID: 1, Type: schema.Type{ID: schema.TypeBigInt}}}}
	made := schema.SearchIndex{ID: 2, Fields: []schema.SearchField{{ID: 1, Column: 1, Options: []schema.SearchOption{}, Formats: []string{}}}}
	b, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	var read schema.SearchIndex
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	if a, b := dirName(table, &made), dirName(table, &read); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if read.Fields[0].Many = true; dirName(table, &made) == dirName(table, &read) {
		t.Error("other fields have the same files")
	}
}
