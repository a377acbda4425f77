package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// words are Rows of a table of numbers: a row is eight bytes, and so is its key.
type words struct {
	mu   sync.Mutex
	keys [][]byte      // all that were requested
	gate chan struct{} // each Add takes one, unless nil
	hold chan struct{} // closed when an Add waits for ever
	// rejects: the field cannot take numbers that 5 divides.
	rejects bool

	before func(x *schema.SearchIndex) // of Add
	fail   func() error
}

func (w *words) Schema(*schema.Table, *schema.SearchIndex) (seg.Schema, error) {
	if w.rejects {
		return seg.Schema{Fields: []seg.Field{{ID: 1, Kind: seg.KindWord}, {ID: 2, Kind: seg.KindWord}, Marks()}}, nil
	}
	return seg.Schema{Fields: []seg.Field{{ID: 1, Kind: seg.KindWord}}}, nil
}

func (w *words) Add(ctx context.Context, kv storage.Reader, t *schema.Table, x *schema.SearchIndex, keys [][]byte, b *seg.Batch) (int, error) {
	w.mu.Lock()
	before, fail := w.before, w.fail
	w.mu.Unlock()
	if before != nil {
		before(x)
	}
	if fail != nil {
		if err := fail(); err != nil {
			return 0, err
		}
	}
	if w.gate != nil {
		select {
		case <-w.gate:
		default:
			close(w.hold)
			<-ctx.Done()
			return 0, ctx.Err()
		}
	}
	w.mu.Lock()
	w.keys = append(w.keys, keys...)
	w.mu.Unlock()
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
		if n := binary.BigEndian.Uint64(val); !w.rejects || n%5 != 0 {
			b.Word(1, int64(n))
		} else {
			Reject(b, []Mark{{Field: 1}})
		}
		return nil
	})
}

func (w *words) asked() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.keys)
}

func rowKey(t *schema.Table, id []byte) []byte {
	return append(table.TablePrefix(nil, t.ID, schema.PrimaryIndexID), id...)
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// world is a store with a table and its search index.
type world struct {
	testing.TB
	store storage.Store
	dir   string
	table *schema.Table
	rows  *words
	m     *Manager
	steps step.Hook
}

func newWorld(t testing.TB, store storage.Store) *world {
	return &world{TB: t, store: store, dir: t.TempDir(), rows: &words{}, table: &schema.Table{
		ID: 7, Database: "d", Name: "t",
		Columns: []schema.Column{{ID: 1, Name: "v"}},
		Stream:  &schema.Stream{ID: 3, Internal: true},
		Search:  []schema.SearchIndex{{ID: 2, Name: "s", Fields: []schema.SearchField{{ID: 1, Column: 1}}}},
	}}
}

// eachStore runs a test over both stores.
func eachStore(t *testing.T, fn func(w *world)) {
	t.Run("memkv", func(t *testing.T) {
		s := memkv.New(memkv.Options{})
		defer s.Close()
		fn(newWorld(t, s))
	})
	t.Run("pebblekv", func(t *testing.T) {
		testflag.Normal(t)
		s, err := pebblekv.Open(pebblekv.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		fn(newWorld(t, s))
	})
}

func (w *world) start() {
	w.m = New(Config{Store: w.store, Dir: w.dir, Rows: w.rows, Steps: w.steps})
	w.m.Update([]*schema.Table{w.table})
}

func (w *world) restart() {
	w.m.Close()
	w.start()
}

func (w *world) index() *Index { return w.m.find(w.table.ID, 2) }

// change puts rows (value > 0) or deletes them (0), in one commit.
func (w *world) change(rows map[uint64]uint64) {
	w.Helper()
	if err := w.tryChange(rows); err != nil {
		w.Fatal(err)
	}
}

func (w *world) tryChange(rows map[uint64]uint64) error {
	txn, err := w.store.Begin(context.Background(), storage.TxnOptions{})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	var a stream.Appender
	for id, v := range rows {
		k := number(id)
		r := &stream.Record{Kind: stream.Update, Version: 1, Key: k, Before: []byte{1}, After: []byte{1}}
		if v == 0 {
			r.Kind, r.After = stream.Delete, nil
			err = txn.Delete(context.Background(), rowKey(w.table, k))
		} else {
			err = txn.Put(context.Background(), rowKey(w.table, k), number(v))
		}
		if err == nil {
			err = a.Append(txn, w.table.Stream.ID, r)
		}
		if err != nil {
			return err
		}
	}
	_, err = txn.Commit(context.Background())
	return err
}

func (w *world) fill(n uint64) {
	rows := map[uint64]uint64{}
	for i := range n {
		rows[i] = i*3 + 1
	}
	w.change(rows)
}

func (w *world) trim(upTo uint64) {
	w.Helper()
	if err := stream.Trim(context.Background(), w.store, w.table.Stream.ID, upTo, 1); err != nil {
		w.Fatal(err)
	}
}

func (w *world) snapshot() storage.Snapshot {
	w.Helper()
	s, err := w.store.Snapshot(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// compare checks I1 for a state of the store: documents, with changed rows from
// the store, are the rows.
func (w *world) compare(x *Index, at storage.Snapshot) error {
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
	if err := v.Except([]Mark{{Field: 1}}); err != nil {
		return err
	}
	got := map[string]uint64{}
	for _, s := range v.Segments() {
		col, err := s.Words(1)
		if err != nil {
			return err
		}
		live, _ := s.Live()
		for d := range uint32(s.Docs()) {
			if live[d>>6]&(1<<(d&63)) == 0 {
				continue
			}
			id := string(s.IDOf(d))
			if _, twice := got[id]; twice {
				return fmt.Errorf("document %x is there twice", id)
			}
			if col.IsNull(d) {
				if _, marked := slices.BinarySearchFunc(v.Changed, []byte(id), bytes.Compare); !marked {
					return fmt.Errorf("document %x has no value", id)
				}
				continue
			}
			var val [1]int64
			col.Gather([]uint32{d}, val[:])
			got[id] = uint64(val[0])
		}
	}
	if !slices.IsSortedFunc(v.Changed, bytes.Compare) {
		return errors.New("changed keys are not in order")
	}
	for _, id := range v.Changed {
		delete(got, string(id))
		err := at.BatchGet(ctx, [][]byte{rowKey(w.table, id)}, func(_ int, val []byte) error {
			if val != nil {
				got[string(id)] = binary.BigEndian.Uint64(val)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	scan, err := at.Scan(ctx, table.IndexSpan(w.table.ID, schema.PrimaryIndexID), storage.ScanOptions{})
	if err != nil {
		return err
	}
	defer scan.Close()
	prefix, n := len(rowKey(w.table, nil)), 0
	for done := false; !done; {
		done, err = scan.Visit(ctx, func(key, val []byte) bool {
			n++
			id := string(key[prefix:])
			if v, ok := got[id]; !ok || v != binary.BigEndian.Uint64(val) {
				err = fmt.Errorf("row %x is %x, by the index %x %v (%d changed)", id, val, v, ok, len(got))
				return false
			}
			return true
		})
		if err != nil {
			return err
		}
		if w.Failed() {
			return nil
		}
	}
	if n != len(got) {
		return fmt.Errorf("%d rows, %d documents", n, len(got))
	}
	return nil
}

// exact waits until the index serves and compares it with the newest state.
func (w *world) exact() {
	w.Helper()
	w.eventually("the index serves and is exact", func() error {
		x := w.m.Index(w.table, 2)
		if x == nil {
			return errors.New("not ready")
		}
		s := w.snapshot()
		defer s.Close()
		err := w.compare(x, s)
		if err != nil && !errors.Is(err, ErrUnavailable) && !errors.Is(err, seg.ErrDamaged) {
			w.Fatal(err)
		}
		return err
	})
}

// caughtUp waits until nothing is left to be looked at.
func (w *world) caughtUp() {
	w.Helper()
	w.eventually("the index has caught up", func() error {
		if i := w.index().Info(); i.State != Ready || i.Low < w.store.Seq() {
			return fmt.Errorf("%v at %d, the store at %d", i.State, i.Low, w.store.Seq())
		}
		return nil
	})
}

func (w *world) eventually(what string, fn func() error) {
	w.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := fn()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s: %v", what, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func TestBuildInSlices(t *testing.T) {
	t.Parallel()
	eachStore(t, func(w *world) {
		w.fill(3*buildRows + 17)
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		if n := len(w.rows.asked()); n != 3*buildRows+17 {
			w.Errorf("%d rows were read", n)
		}
		if i := w.index().Info(); i.Docs != 3*buildRows+17 {
			w.Errorf("%d documents", i.Docs)
		}
		w.change(map[uint64]uint64{1: 0, 2: 99, 1 << 40: 5})
		w.exact()
		w.caughtUp()
		w.exact()
		if i := w.index().Info(); i.Docs != 3*buildRows+17 {
			w.Errorf("%d documents", i.Docs)
		}
		w.restart()
		w.exact()
		if n := len(w.rows.asked()); n > 3*buildRows+17+6 {
			w.Errorf("%d rows were read: built twice", n)
		}
	})
}

// TestViews compares views of held and of new states with the store, while writers
// change rows, the index is built and the change log drops what no index needs.
func TestViews(t *testing.T) {
	testflag.Normal(t)
	eachStore(t, testViews)
	t.Run("far", func(t *testing.T) {
		s := errkv.NewFar(errkv.FarOptions{Delay: 3 * time.Millisecond, Lag: 10 * time.Millisecond})
		defer s.Close()
		testViews(newWorld(t, s))
	})
}

func testViews(w *world) {
	const ids = 600
	seed := uint64(time.Now().UnixNano())
	w.Logf("seed %d", seed)
	w.fill(ids)
	w.start()
	defer func() { w.m.Close() }()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, g))
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(r.IntN(2000)) * time.Microsecond):
				}
				rows := map[uint64]uint64{}
				for range 1 + r.IntN(20) {
					rows[r.Uint64N(ids*2)] = r.Uint64N(4) * r.Uint64N(1000)
				}
				if err := w.tryChange(rows); err != nil {
					w.Errorf("writing: %v", err)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 99))
	var held []storage.Snapshot
	views, unavailable := 0, 0
	for end := time.Now().Add(testflag.Pick(time.Second, time.Second, 3*time.Second)); time.Now().Before(end) && !w.Failed(); {
		if len(held) < 5 || r.IntN(4) == 0 {
			held = append(held, w.snapshot())
		}
		if len(held) > 8 {
			i := r.IntN(len(held))
			held[i].Close()
			held = slices.Delete(held, i, i+1)
		}
		if r.IntN(20) == 0 { // after the oldest state that is held
			floor, _ := w.m.Floor(w.table.Stream.ID)
			oldest, err := held[0].Settled(w.Context())
			if err != nil {
				w.Fatal(err)
			}
			w.trim(min(floor, oldest))
		}
		x := w.m.Index(w.table, 2)
		if x == nil {
			continue
		}
		views++
		if err := w.compare(x, held[r.IntN(len(held))]); errors.Is(err, ErrUnavailable) {
			unavailable++
		} else if err != nil {
			w.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	for _, s := range held {
		s.Close()
	}
	w.Logf("%d views, %d unavailable", views, unavailable)
	if views-unavailable < 10 {
		w.Error("that tests nothing")
	}
	w.exact()
	w.eventually("it says that it has all", func() error {
		if i := w.index().Info(); i.Lag > 0 || i.Behind > time.Second {
			return fmt.Errorf("%d commits, %v behind", i.Lag, i.Behind)
		}
		return nil
	})
}

// TestFloor: the records after the floor are enough to go on after a restart.
func TestFloor(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	eachStore(t, func(w *world) {
		w.fill(100)
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		for i := range uint64(20) {
			w.change(map[uint64]uint64{i: i + 1000})
			floor, ok := w.m.Floor(w.table.Stream.ID)
			if !ok {
				w.Fatal("no floor")
			}
			if x := w.index(); floor > x.seg.Durable() {
				w.Fatalf("the floor is %d, durable is %d", floor, x.seg.Durable())
			}
			w.trim(floor)
			if i%5 == 4 {
				n := len(w.rows.asked())
				w.restart()
				w.exact()
				if got := len(w.rows.asked()) - n; got > 20 {
					w.Fatalf("%d rows were read after a restart", got)
				}
			}
		}
		if _, ok := w.m.Floor(99); ok {
			w.Error("another change log has a floor")
		}
	})
}

// TestRecordsGone: an index whose records are gone is built again, once.
func TestRecordsGone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(w *world) {
		w.fill(100)
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		w.m.Close()
		w.change(map[uint64]uint64{1: 0, 2: 77})
		w.trim(w.store.Seq())
		n := len(w.rows.asked())
		w.start()
		w.exact()
		time.Sleep(50 * time.Millisecond)
		w.caughtUp()
		if got := len(w.rows.asked()) - n; got != 99 {
			w.Errorf("%d rows were read", got)
		}
	})
}

// TestOlderStore: files that are ahead of the store are not read.
func TestOlderStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memkv.New(memkv.Options{}))
	w.fill(100)
	w.change(map[uint64]uint64{1: 5})
	w.start()
	w.exact()
	w.caughtUp()
	w.m.Close()
	w.store.Close()
	w.store = memkv.New(memkv.Options{})
	defer w.store.Close()
	w.change(map[uint64]uint64{3: 4})
	w.start()
	defer func() { w.m.Close() }()
	w.exact()
	w.caughtUp()
	if i := w.index().Info(); i.Docs != 1 {
		t.Errorf("%d documents", i.Docs)
	}
}

// TestResumedBuild: a build resumes after the last durable slice.
func TestResumedBuild(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	eachStore(t, func(w *world) {
		w.fill(5 * buildRows)
		w.rows.gate, w.rows.hold = make(chan struct{}, 2), make(chan struct{})
		w.rows.gate <- struct{}{}
		w.rows.gate <- struct{}{}
		w.start()
		defer func() { w.m.Close() }()
		<-w.rows.hold
		if w.m.Index(w.table, 2) != nil {
			w.Error("an unfinished index serves")
		}
		w.change(map[uint64]uint64{5: 0, 4*buildRows + 1: 0})
		w.m.Close()
		w.rows.gate = nil
		first := w.rows.asked()
		w.trim(func() uint64 { f, _ := w.m.Floor(w.table.Stream.ID); return f }())
		w.start()
		w.exact()
		again := w.rows.asked()[len(first):]
		if len(first) != 2*buildRows || len(again) > 3*buildRows+2 {
			w.Errorf("%d rows, then %d", len(first), len(again))
		}
		if bytes.Compare(again[0], first[len(first)-1]) <= 0 {
			w.Errorf("the second part begins at %x, the first ended at %x", again[0], first[len(first)-1])
		}
	})
}

// TestCloseEndsAll: nothing runs on, whatever was under way.
func TestCloseEndsAll(t *testing.T) {
	testflag.Normal(t)
	w := newWorld(t, memkv.New(memkv.Options{}))
	w.fill(3 * buildRows)
	before := runtime.NumGoroutine()
	for i := range 8 {
		w.start()
		go w.m.Update([]*schema.Table{w.table}) // a change of the schema comes at any time
		time.Sleep(time.Duration(i*i) * time.Millisecond)
		w.m.Close()
		w.m.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
	w.store.Close()
}
