package pebblekv

import (
	"bytes"
	"context"
	"errors"
	flags "flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
)

var everyCall = flags.Bool("every-call", false, "TestEveryCall fails each call, not one in some dozens")

// errOnce is the failure of one call.
var errOnce = fmt.Errorf("injected: %w", syscall.EIO)

// failOnce counts the calls of a file system and fails the one with number at.
type failOnce struct {
	at, calls atomic.Int64
	failed    atomic.Pointer[string]
}

// String implements errorfs.Injector.
func (f *failOnce) String() string { return "fail once" }

// MaybeError implements errorfs.Injector.
func (f *failOnce) MaybeError(op errorfs.Op) error {
	if f.calls.Add(1) != f.at.Load() {
		return nil
	}
	what := fmt.Sprintf("call %d, kind %d of %s", f.at.Load(), op.Kind, op.Path)
	f.failed.Store(&what)
	return errOnce
}

// history is a store under test with what it should hold.
type history struct {
	t    *testing.T
	s    *Store
	rng  *rand.Rand
	want map[string]string
	// maybe is the state if the operation that failed last has taken place all
	// the same; nil when nothing is open.
	maybe map[string]string
	// durable is what a crash must leave: the state of the last commit that was
	// acknowledged as synced.
	durable map[string]string
	during  string // what failed
}

func (h *history) fatalf(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s: %s", h.during, fmt.Sprintf(format, args...))
}

// done takes the outcome of a change to next over; false: nothing more can be
// written.
func (h *history) done(next map[string]string, err error) bool {
	h.t.Helper()
	switch {
	case err == nil:
		h.want, h.durable = next, next
	case errors.Is(err, storage.ErrUndetermined):
		h.maybe = next
		return false
	case errors.Is(err, storage.ErrUnavailable):
		return false
	case errors.Is(err, storage.ErrCorruption) || errors.Is(err, storage.ErrNotFound):
		h.fatalf("an i/o error shows as %v", err)
	}
	return true
}

func (h *history) commit(n int, remove bool) bool {
	h.t.Helper()
	next := maps.Clone(h.want)
	x, err := h.s.Begin(bg, storage.TxnOptions{})
	if err != nil {
		return h.done(next, err)
	}
	defer x.Rollback()
	for range n {
		key := fmt.Sprintf("k%03d", h.rng.IntN(60))
		if remove {
			err = x.Delete(bg, []byte(key))
			delete(next, key)
		} else {
			val := strings.Repeat(string(rune('a'+h.rng.IntN(26))), 1+h.rng.IntN(6000))
			err = x.Put(bg, []byte(key), []byte(val))
			next[key] = val
		}
		if err != nil {
			h.fatalf("writing to a transaction: %v", err)
		}
	}
	_, err = x.Commit(bg)
	return h.done(next, err)
}

func (h *history) deleteRange(from, to string) bool {
	h.t.Helper()
	next := maps.Clone(h.want)
	maps.DeleteFunc(next, func(k, _ string) bool { return k >= from && k < to })
	err := h.s.Discard(bg, storage.Span{Start: []byte(from), End: []byte(to)})
	return h.done(next, err)
}

func (h *history) bulk(prefix string) bool {
	h.t.Helper()
	next := maps.Clone(h.want)
	err := func() error {
		b, err := h.s.BulkLoad(bg)
		if err != nil {
			return err
		}
		defer func() { _ = b.Abort() }()
		for i := range 40 {
			key, val := fmt.Sprintf("%s%03d", prefix, i), strings.Repeat("b", 100*i+1)
			if err := b.Add([]byte(key), []byte(val)); err != nil {
				return err
			}
			next[key] = val
		}
		_, err = b.Finish(bg)
		return err
	}()
	return h.done(next, err)
}

// read compares all that is there with what should be. An error is no wrong
// answer, unless it says that the data is damaged, or comes again.
func (h *history) read(s *Store) {
	h.t.Helper()
	var got map[string]string
	var err error
	for range 2 {
		if got, err = contents(s); err == nil {
			break
		}
		if errors.Is(err, storage.ErrCorruption) || errors.Is(err, storage.ErrNotFound) {
			h.fatalf("an i/o error shows as %v", err)
		}
	}
	if err != nil {
		h.fatalf("reading fails again: %v", err)
	}
	switch {
	case maps.Equal(got, h.want):
	case h.maybe != nil && maps.Equal(got, h.maybe):
	default:
		h.fatalf("wrong answer: %s", differences(got, h.want))
	}
}

// contents reads a store by a scan, which single reads must agree with.
func contents(s *Store) (map[string]string, error) {
	got := map[string]string{}
	sc, err := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{})
	if err != nil {
		return nil, err
	}
	_, err = sc.Visit(bg, func(k, v []byte) bool {
		got[string(k)] = string(v)
		return true
	})
	if err = errors.Join(err, sc.Close()); err != nil {
		return nil, err
	}
	for _, k := range []string{"k001", "k017", "k059", "m020", "z"} {
		v, err := s.Latest().Get(bg, []byte(k), nil)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		if want, there := got[k]; there != (err == nil) || string(v) != want {
			return nil, fmt.Errorf("%w: %s differs between Get and Scan", storage.ErrCorruption, k)
		}
	}
	return got, nil
}

func differences(got, want map[string]string) string {
	var out []string
	for k, v := range want {
		if g, ok := got[k]; !ok || g != v {
			out = append(out, fmt.Sprintf("%s (%d bytes, want %d)", k, len(g), len(v)))
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			out = append(out, k+" too many")
		}
	}
	slices.Sort(out)
	return strings.Join(out[:min(len(out), 8)], ", ")
}

// work is the load: commits, deletions, a bulk load, flushes, compactions, a
// checkpoint, and reads between them.
func (h *history) work(checkpoint string) {
	h.t.Helper()
	for round := range 4 {
		ok := true
		for range 12 {
			ok = ok && h.commit(1+h.rng.IntN(3), h.rng.IntN(5) == 0)
		}
		ok = ok && h.bulk(string(rune('m'+round)))
		h.flush()
		h.read(h.s)
		ok = ok && h.deleteRange("k010", "k020") && h.commit(3, false)
		h.compact()
		if round == 2 {
			_ = h.s.Checkpoint(checkpoint)
		}
		h.read(h.s)
		if !ok {
			return
		}
	}
}

// flush empties the write buffer, unless the files are frozen: then Pebble tries
// for ever.
func (h *history) flush() {
	flushed, err := h.s.db.AsyncFlush()
	for err == nil && h.s.disk.frozen() == nil {
		select {
		case <-flushed:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func (h *history) compact() {
	ctx, cancel := context.WithCancel(bg)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.s.db.Compact(ctx, []byte("a"), []byte("zz"), false) // tried again by itself
	}()
	for {
		select {
		case <-done:
			cancel()
			return
		case <-time.After(time.Millisecond):
			if h.s.disk.frozen() != nil {
				cancel()
			}
		}
	}
}

// open opens the store. An opening that failed leaves the directory as it was:
// the next one works.
func (h *history) open(dfs vfs.FS) {
	h.t.Helper()
	var err error
	for range 2 {
		h.s, err = Open(Options{Dir: "store", FS: dfs, CacheBytes: 8 << 20, MemTableBytes: 256 << 10, DiskReserveBytes: 1000, ImageBytes: -1, Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			return
		}
		if errors.Is(err, storage.ErrCorruption) || errors.Is(err, storage.ErrFormat) || !errors.Is(err, errOnce) {
			h.fatalf("an i/o error at opening shows as %v", err)
		}
	}
	h.fatalf("opening fails again: %v", err)
}

// TestEveryCall runs a load whose calls of the file system fail once each: no
// answer is wrong, what was acknowledged is there after opening again, also
// after a loss of power, and nothing of what was refused; the store goes on.
func TestEveryCall(t *testing.T) {
	testflag.Normal(t)
	total := runFailing(t, 0)
	stride := int64(1)
	if !*everyCall {
		stride = max(1, total/int64(testflag.Pick(0, 15, 40)))
	}
	first := 1 + rand.Int64N(stride)
	t.Logf("%d calls, every %d. from %d on", total, stride, first)
	began, runs := time.Now(), 0
	for at := first; at <= total; at += stride {
		runFailing(t, at)
		runs++
	}
	t.Logf("%d runs in %v", runs, time.Since(began).Round(time.Millisecond))
}

// runFailing runs the load with the failure of one call, none if at is 0, and
// returns the number of calls.
func runFailing(t *testing.T, at int64) int64 {
	t.Helper()
	mem := vfs.NewCrashableMem()
	fail := &failOnce{}
	fail.at.Store(at)
	h := &history{t: t, rng: rand.New(rand.NewPCG(7, 7)), want: map[string]string{}, durable: map[string]string{}, during: fmt.Sprintf("call %d", at)}
	dfs := errorfs.Wrap(mem, fail)
	h.open(dfs)
	h.work("copy")
	frozen := h.s.disk.frozen()
	crashed := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 30, RNG: seeded(uint64(at))})
	_ = h.s.Close() // it may be the call that fails
	if what := fail.failed.Load(); what != nil {
		h.during = *what
	}
	if frozen == nil && h.maybe != nil {
		h.fatalf("a commit is undetermined, but the store goes on")
	}
	for name, files := range map[string]vfs.FS{"closed": mem, "crashed": crashed} {
		again := &history{t: t, rng: h.rng, want: h.want, maybe: h.maybe, durable: h.durable, during: h.during + ", " + name}
		again.open(files)
		again.read(again.s)
		if damaged := verified(t, again.s); damaged != "" {
			again.fatalf("damaged: %s", damaged)
		}
		got, err := contents(again.s)
		if err != nil {
			again.fatalf("%v", err)
		}
		again.want, again.maybe = got, nil
		again.work("copy2")
		closeStore(t, again.s)
	}
	return fail.calls.Load()
}

func verified(t *testing.T, s *Store) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Verify(bg, func(d Damage) { fmt.Fprintln(&out, d) }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
