package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/storage"
)

var bg = context.Background()

// faultFS fails the writes and syncs that hook chooses.
type faultFS struct {
	vfs.FS
	hook  atomic.Pointer[func(op, name string) error]
	avail atomic.Uint64 // free bytes, 0 for unknown
}

func (f *faultFS) set(hook func(op, name string) error) {
	if hook == nil {
		f.hook.Store(nil)
		return
	}
	f.hook.Store(&hook)
}

func (f *faultFS) check(op, name string) error {
	if h := f.hook.Load(); h != nil {
		return (*h)(op, name)
	}
	return nil
}

func (f *faultFS) wrap(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f, name: name}, nil
}

func (f *faultFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.check("create", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name, c)
	return f.wrap(name, file, err)
}

func (f *faultFS) ReuseForWrite(o, n string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.check("create", n); err != nil {
		return nil, err
	}
	file, err := f.FS.ReuseForWrite(o, n, c)
	return f.wrap(n, file, err)
}

func (f *faultFS) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	if n := f.avail.Load(); n != 0 {
		return vfs.DiskUsage{AvailBytes: n, TotalBytes: 1 << 40}, nil
	}
	return vfs.DiskUsage{}, errors.ErrUnsupported
}

type faultFile struct {
	vfs.File
	fs   *faultFS
	name string
}

func (f *faultFile) Write(p []byte) (int, error) {
	if err := f.fs.check("write", f.name); err != nil {
		n := min(1, len(p)) // a torn write
		_, _ = f.File.Write(p[:n])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultFile) Sync() error {
	if err := f.fs.check("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) SyncData() error {
	if err := f.fs.check("sync", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}

func openAt(t testing.TB, dfs vfs.FS) *Store {
	t.Helper()
	s, err := Open(Options{
		Dir: "store", FS: dfs, CacheBytes: 8 << 20, MemTableBytes: 256 << 10, DiskReserveBytes: 1000,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func tryPut(s *Store, d storage.Durability, value []byte, keys ...string) (uint64, error) {
	x, err := s.Begin(bg, storage.TxnOptions{Durability: d})
	if err != nil {
		return 0, err
	}
	defer x.Rollback()
	for _, k := range keys {
		if err := x.Put(bg, []byte(k), value); err != nil {
			return 0, err
		}
	}
	return x.Commit(bg)
}

func mustPut(t testing.TB, s *Store, keys ...string) uint64 {
	t.Helper()
	seq, err := tryPut(s, storage.DurabilitySync, []byte("v"), keys...)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func has(t testing.TB, s *Store, key string) bool {
	t.Helper()
	_, err := s.Latest().Get(bg, []byte(key), nil)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func TestReopen(t *testing.T) {
	dfs := vfs.NewMem()
	s := openAt(t, dfs)
	seq := mustPut(t, s, "a", "b")
	_, err := Open(Options{Dir: "store", FS: dfs})
	wantErr(t, err, storage.ErrLocked)
	closeStore(t, s)
	s = openAt(t, dfs)
	if s.Seq() != seq || !has(t, s, "a") {
		t.Fatalf("sequence %d, want %d", s.Seq(), seq)
	}
	if got := mustPut(t, s, "c"); got != seq+1 {
		t.Fatalf("sequence %d after %d", got, seq)
	}
	closeStore(t, s)
}

func TestFormat(t *testing.T) {
	dfs := vfs.NewMem()
	closeStore(t, openAt(t, dfs))
	f, err := dfs.Create("store/FORMAT", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("sqlots-kv 99\n"))
	_ = f.Close()
	_, err = Open(Options{Dir: "store", FS: dfs})
	wantErr(t, err, storage.ErrFormat)
	_ = dfs.Remove("store/FORMAT")
	_, err = Open(Options{Dir: "store", FS: dfs})
	wantErr(t, err, storage.ErrFormat)
	// The failed openings left no lock.
	if err := writeFormat(dfs, "store"); err != nil {
		t.Fatal(err)
	}
	closeStore(t, openAt(t, dfs))
}

func TestBulkLeftovers(t *testing.T) {
	dfs := vfs.NewCrashableMem()
	s := openAt(t, dfs)
	bl, err := s.BulkLoad(bg)
	if err != nil {
		t.Fatal(err)
	}
	if err := bl.Add([]byte("a"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	clone := dfs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: seeded(1)})
	names, _ := clone.List("store/bulk")
	if len(names) != 1 {
		t.Fatalf("the test has lost its point: %v", names)
	}
	s2 := openAt(t, clone)
	if names, _ := clone.List("store/bulk"); len(names) != 0 {
		t.Fatalf("left: %v", names)
	}
	closeStore(t, s2)
	if err := bl.Abort(); err != nil {
		t.Fatal(err)
	}
	if names, _ := dfs.List("store/bulk"); len(names) != 0 {
		t.Fatalf("left after abort: %v", names)
	}
	closeStore(t, s)
}

func TestCheckpoint(t *testing.T) {
	dfs := vfs.NewMem()
	s := openAt(t, dfs)
	seq := mustPut(t, s, "a")
	if _, err := tryPut(s, storage.DurabilityNone, []byte("v"), "b"); err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint("copy"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, s.Checkpoint("copy"), fs.ErrExist)
	mustPut(t, s, "c")
	c, err := Open(Options{Dir: "copy", FS: dfs})
	if err != nil {
		t.Fatal(err)
	}
	if c.Seq() != seq+1 || !has(t, c, "a") || !has(t, c, "b") || has(t, c, "c") {
		t.Fatalf("the copy is at %d", c.Seq())
	}
	closeStore(t, c)
	closeStore(t, s)
}

// TestLogFailure: commits whose log write or sync fails are undetermined, later
// ones unavailable, reads go on, and opening again recovers what was
// acknowledged.
func TestLogFailure(t *testing.T) {
	for _, op := range []string{"write", "sync", "create"} {
		t.Run(op, func(t *testing.T) {
			mem := vfs.NewMem()
			dfs := &faultFS{FS: mem}
			s := openAt(t, dfs)
			mustPut(t, s, "a")
			eio := errors.New("i/o error")
			dfs.set(func(o, name string) error {
				if o == op && strings.HasSuffix(name, ".log") {
					return eio
				}
				return nil
			})
			// A created log is met when the write buffer is full.
			val := bytes.Repeat([]byte("x"), 40<<10)
			var err error
			for i := 0; i < 100 && err == nil; i++ {
				_, err = tryPut(s, storage.DurabilitySync, val, "b"+string(rune('a'+i)))
			}
			wantErr(t, err, storage.ErrUndetermined)
			dfs.set(nil) // the disk comes back, but what it holds is unknown
			_, err = tryPut(s, storage.DurabilitySync, []byte("v"), "c")
			wantErr(t, err, storage.ErrUnavailable)
			err = s.Discard(bg, storage.Span{})
			wantErr(t, err, storage.ErrUnavailable)
			_, err = s.BulkLoad(bg)
			wantErr(t, err, storage.ErrUnavailable)
			if !has(t, s, "a") || has(t, s, "c") || s.Metrics()["frozen"] != 1 {
				t.Fatal("reads after the failure")
			}
			if s.Close() == nil {
				t.Fatal("Close hides the failure")
			}
			s = openAt(t, mem)
			if !has(t, s, "a") || has(t, s, "c") {
				t.Fatal("state after recovery")
			}
			mustPut(t, s, "d")
			closeStore(t, s)
		})
	}
}

// TestManifestFailure: a manifest that cannot be written stops writes, not the
// process.
func TestManifestFailure(t *testing.T) {
	mem := vfs.NewMem()
	dfs := &faultFS{FS: mem}
	s := openAt(t, dfs)
	mustPut(t, s, "a", "b")
	dfs.set(func(op, name string) error {
		if op != "create" && strings.Contains(name, "MANIFEST") {
			return errors.New("i/o error")
		}
		return nil
	})
	if _, err := s.db.AsyncFlush(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); s.disk.frozen() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the failure went unnoticed")
		}
	}
	_, err := tryPut(s, storage.DurabilitySync, []byte("v"), "c")
	wantErr(t, err, storage.ErrUnavailable)
	if !has(t, s, "a") {
		t.Fatal("reads stopped")
	}
	dfs.set(nil)
	_ = s.Close()
	s = openAt(t, mem)
	if !has(t, s, "a") || !has(t, s, "b") {
		t.Fatal("state after recovery")
	}
	closeStore(t, s)
}

// TestOpenCannotWrite: a store whose log cannot be brought into tables is not
// opened; the error is that of the file system, with the file. Open does not wait
// for better times, and the next one finds everything.
func TestOpenCannotWrite(t *testing.T) {
	testflag.Normal(t)
	for _, failure := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		for _, op := range []string{"create", "write", "sync"} {
			for _, kind := range []string{".sst", ".blob", "MANIFEST-", ".log"} {
				t.Run(fmt.Sprintf("%v/%s/%s", failure, op, kind), func(t *testing.T) {
					mem := vfs.NewCrashableMem()
					s := openAt(t, mem)
					mustPut(t, s, "a")
					if _, err := tryPut(s, storage.DurabilitySync, bytes.Repeat([]byte("x"), 5000), "b"); err != nil {
						t.Fatal(err)
					}
					left := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: seeded(1)})
					closeStore(t, s)
					dfs := &faultFS{FS: left}
					var log testutil.Buffer
					met := atomic.Bool{}
					dfs.set(func(o, name string) error {
						if o != op || !strings.Contains(name, kind) {
							return nil
						}
						met.Store(true)
						return &fs.PathError{Op: op, Path: name, Err: failure}
					})
					done := make(chan error, 1)
					go func() {
						s, err := Open(Options{Dir: "store", FS: dfs, CacheBytes: 8 << 20, Logger: slog.New(slog.NewTextHandler(&log, nil))})
						if err == nil {
							err = s.Close()
						}
						done <- err
					}()
					select {
					case err := <-done:
						if !met.Load() && err == nil {
							t.Skip("it is not done")
						}
						if !errors.Is(err, failure) || !strings.Contains(err.Error(), kind) {
							t.Errorf("error %v", err)
						}
						if failure == syscall.ENOSPC {
							wantErr(t, err, storage.ErrDiskFull)
						}
					case <-time.After(20 * time.Second):
						t.Fatalf("it hangs\n%.2000s", log.String())
					}
					if strings.Contains(log.String(), "stack trace") {
						t.Errorf("the log has stack traces: %.2000s", log.String())
					}
					dfs.set(nil)
					s = openAt(t, dfs)
					defer closeStore(t, s)
					if !has(t, s, "a") || !has(t, s, "b") {
						t.Error("lost")
					}
				})
			}
		}
	}
}

func TestDiskReserve(t *testing.T) {
	dfs := &faultFS{FS: vfs.NewMem()}
	dfs.avail.Store(1 << 30)
	s := openAt(t, dfs)
	defer closeStore(t, s)
	mustPut(t, s, "a")
	bl, err := s.BulkLoad(bg)
	if err != nil {
		t.Fatal(err)
	}
	dfs.avail.Store(999)
	s.checkSpace()
	_, err = tryPut(s, storage.DurabilitySync, []byte("v"), "b")
	wantErr(t, err, storage.ErrDiskFull)
	wantErr(t, bl.Add([]byte("x"), []byte("v")), storage.ErrDiskFull)
	_, err = s.BulkLoad(bg)
	wantErr(t, err, storage.ErrDiskFull)
	err = s.Discard(bg, storage.Span{})
	wantErr(t, err, storage.ErrDiskFull)
	if !has(t, s, "a") || has(t, s, "b") {
		t.Fatal("reads on a full disk")
	}
	// What frees space may use the reserve, but not its last quarter, and not
	// once a write has found no space.
	freeing := storage.FreeingSpace(bg)
	remove := func() error {
		err := s.Discard(freeing, storage.Span{Start: []byte("c"), End: []byte("d")})
		return err
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	dfs.avail.Store(249)
	s.checkSpace()
	wantErr(t, remove(), storage.ErrDiskFull)
	dfs.avail.Store(999)
	s.checkSpace()
	s.disk.noteError("writing", syscall.ENOSPC)
	wantErr(t, remove(), storage.ErrDiskFull)
	dfs.avail.Store(1001) // not enough to start again
	s.checkSpace()
	_, err = tryPut(s, storage.DurabilitySync, []byte("v"), "b")
	wantErr(t, err, storage.ErrDiskFull)
	dfs.avail.Store(1 << 20)
	s.checkSpace()
	mustPut(t, s, "b")
}

// TestDiskFullInFlight: a commit whose log write finds no space waits for it,
// while new ones are refused.
func TestDiskFullInFlight(t *testing.T) {
	dfs := &faultFS{FS: vfs.NewMem()}
	s := openAt(t, dfs)
	defer closeStore(t, s)
	dfs.set(func(op, name string) error {
		if op == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	done := make(chan error, 1)
	go func() {
		_, err := tryPut(s, storage.DurabilitySync, []byte("v"), "a")
		done <- err
	}()
	for end := time.Now().Add(20 * time.Second); !s.disk.full.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the full disk went unnoticed")
		}
	}
	_, err := tryPut(s, storage.DurabilitySync, []byte("v"), "b")
	wantErr(t, err, storage.ErrDiskFull)
	s.checkSpace()
	if !s.disk.full.Load() {
		t.Fatal("the probe did not fail")
	}
	dfs.set(nil)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.checkSpace()
	mustPut(t, s, "b")
}

// TestDiskFullClose: Close does not wait for space.
func TestDiskFullClose(t *testing.T) {
	mem := vfs.NewMem()
	dfs := &faultFS{FS: mem}
	s := openAt(t, dfs)
	mustPut(t, s, "a")
	dfs.set(func(op, _ string) error {
		if op == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	done := make(chan error, 1)
	go func() {
		_, err := tryPut(s, storage.DurabilitySync, []byte("v"), "b")
		done <- err
	}()
	for !s.disk.full.Load() {
		time.Sleep(time.Millisecond)
	}
	if s.Close() == nil {
		t.Fatal("Close hides the failure")
	}
	wantErr(t, <-done, storage.ErrUndetermined)
	s = openAt(t, mem)
	if !has(t, s, "a") {
		t.Fatal("lost")
	}
	closeStore(t, s)
}

func TestCorruption(t *testing.T) {
	dfs := vfs.NewMem()
	s := openAt(t, dfs)
	for i := range 50 {
		if _, err := tryPut(s, storage.DurabilitySync, bytes.Repeat([]byte{byte(i)}, 500), "k"+string(rune('0'+i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	names, _ := dfs.List("store/kv")
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		f, err := dfs.OpenReadWrite("store/kv/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("damage"), 100); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	s = openAtOrCorrupt(t, dfs)
	if s == nil {
		return
	}
	defer s.Close()
	_, err := s.Latest().Get(bg, []byte("k0"), nil)
	wantErr(t, err, storage.ErrCorruption)
	sc, err := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sc.Visit(bg, func(_, _ []byte) bool { return true })
	wantErr(t, err, storage.ErrCorruption)
	_ = sc.Close()
	wantErr(t, s.Latest().BatchGet(bg, [][]byte{[]byte("k0"), []byte("k1")}, func(int, []byte) error { return nil }), storage.ErrCorruption)
}

// openAtOrCorrupt opens a damaged store; nil when opening says so.
func openAtOrCorrupt(t *testing.T, dfs vfs.FS) *Store {
	s, err := Open(Options{Dir: "store", FS: dfs, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		wantErr(t, err, storage.ErrCorruption)
		return nil
	}
	return s
}

// ack is a commit as its writer knows it.
type ack struct {
	seq  uint64
	keys [3]string
	sync bool
}

// TestCrash lets writers of all durabilities run, copies the files as a crash
// would leave them, and opens the copy: it must be the state after exactly the
// first n commits, n being the recovered sequence, and contain every commit
// that was acknowledged as synced before the crash.
func TestCrash(t *testing.T) {
	for _, percent := range []int{0, 30, 100} {
		for seed := range uint64(4) {
			crash(t, percent, seed)
		}
	}
}

func crash(t *testing.T, percent int, seed uint64) {
	t.Helper()
	dfs := vfs.NewCrashableMem()
	s := openAt(t, dfs)
	var mu sync.Mutex
	var acks []ack
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				d := storage.Durability(rng.IntN(3))
				a := ack{sync: d == storage.DurabilitySync}
				for j := range a.keys {
					a.keys[j] = string(rune('a'+w)) + string(rune('A'+j)) + time.Duration(i).String()
				}
				seq, err := tryPut(s, d, bytes.Repeat([]byte("v"), 1+rng.IntN(3000)), a.keys[:]...)
				if err != nil {
					t.Error(err)
					return
				}
				a.seq = seq
				mu.Lock()
				acks = append(acks, a)
				mu.Unlock()
			}
		}()
	}
	for n := 0; n < 150; {
		mu.Lock()
		n = len(acks)
		mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	mu.Lock()
	known := len(acks)
	mu.Unlock()
	clone := dfs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: seeded(seed)})
	close(stop)
	wg.Wait()
	closeStore(t, s)

	r := openAt(t, clone)
	defer closeStore(t, r)
	for i, a := range acks {
		for _, k := range a.keys {
			if got := has(t, r, k); got != (a.seq <= r.Seq()) {
				t.Fatalf("percent %d seed %d: commit %d in state %d: %v", percent, seed, a.seq, r.Seq(), got)
			}
		}
		if i < known && a.sync && a.seq > r.Seq() {
			t.Fatalf("percent %d seed %d: the acknowledged commit %d is lost, the state is %d", percent, seed, a.seq, r.Seq())
		}
	}
	mustPut(t, r, "again")
}

// TestCrashWrite: a store whose commits did not require a sync opens after any part of
// what was written has reached the disk, in any order, at the state after its first n
// commits.
func TestCrashWrite(t *testing.T) {
	dfs := vfs.NewCrashableMem()
	s := openAt(t, dfs)
	defer closeStore(t, s)
	mustPut(t, s, "synced")
	var keys []string
	var seqs []uint64
	put := func(d storage.Durability) {
		key := fmt.Sprintf("k%05d", len(keys))
		seq, err := tryPut(s, d, bytes.Repeat([]byte("v"), 3000), key)
		if err != nil {
			t.Fatal(err)
		}
		keys, seqs = append(keys, key), append(seqs, seq)
	}
	rng := seeded(1)
	for round := range uint64(40) {
		if round%8 == 7 {
			put(storage.DurabilitySync)
		}
		for range 1 + rng.IntN(40) {
			put(storage.DurabilityWrite)
		}
		r := openAt(t, dfs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: seeded(round)}))
		for i, key := range keys {
			if got := has(t, r, key); got != (seqs[i] <= r.Seq()) {
				t.Fatalf("round %d: commit %d in state %d: %v", round, seqs[i], r.Seq(), got)
			}
		}
		closeStore(t, r)
	}
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 99)) }

// TestDurabilityWrite: what was committed with DurabilityWrite survives the end
// of the process (all that the operating system has), and after a while, or a
// later sync, the loss of power.
func TestDurabilityWrite(t *testing.T) {
	dfs := vfs.NewCrashableMem()
	s := openAt(t, dfs)
	defer closeStore(t, s)
	if _, err := tryPut(s, storage.DurabilityWrite, []byte("v"), "a"); err != nil {
		t.Fatal(err)
	}
	r := openAt(t, dfs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: seeded(1)}))
	if !has(t, r, "a") {
		t.Fatal("the operating system did not have it")
	}
	closeStore(t, r)
	s.syncLog()
	r = openAt(t, dfs.CrashClone(vfs.CrashCloneCfg{}))
	if !has(t, r, "a") {
		t.Fatal("not synced by the watch")
	}
	closeStore(t, r)
}

// TestSync: commits of any durability survive the loss of power when Sync has
// returned.
func TestSync(t *testing.T) {
	dfs := vfs.NewCrashableMem()
	s := openAt(t, dfs)
	defer closeStore(t, s)
	for i := range uint64(60) {
		key := fmt.Sprintf("k%d", i)
		seq, err := tryPut(s, storage.Durability(i%3), []byte("v"), key)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Sync(bg, seq); err != nil {
			t.Fatal(err)
		}
		r := openAt(t, dfs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: int(i % 2 * 50), RNG: seeded(i)}))
		if !has(t, r, key) || r.Seq() < seq {
			t.Fatalf("commit %d is lost, the state is %d", seq, r.Seq())
		}
		closeStore(t, r)
	}
}

// TestCrashBulk: a finished bulk load survives, an unfinished one is not there.
func TestCrashBulk(t *testing.T) {
	for _, percent := range []int{0, 100} {
		dfs := vfs.NewCrashableMem()
		s := openAt(t, dfs)
		mustPut(t, s, "a", "k500")
		bl, err := s.BulkLoad(bg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 900 {
			if err := bl.Add([]byte("k"+string(rune('a'+i/26/26))+string(rune('a'+i/26%26))+string(rune('a'+i%26))), []byte("v")); err != nil {
				t.Fatal(err)
			}
		}
		cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: seeded(1)}
		before := dfs.CrashClone(cfg)
		seq, err := bl.Finish(bg)
		if err != nil {
			t.Fatal(err)
		}
		after := dfs.CrashClone(cfg)
		r := openAt(t, before)
		if r.Seq() != seq-1 || has(t, r, "kaaa") || !has(t, r, "a") {
			t.Fatalf("before: %d", r.Seq())
		}
		closeStore(t, r)
		r = openAt(t, after)
		if r.Seq() != seq || !has(t, r, "kaaa") || !has(t, r, "kbaa") || !has(t, r, "a") {
			t.Fatalf("percent %d, after: %d, want %d", percent, r.Seq(), seq)
		}
		mustPut(t, r, "b")
		closeStore(t, r)
		closeStore(t, s)
	}
}

// TestCrashDiscard: an acknowledged range deletion survives.
func TestCrashDiscard(t *testing.T) {
	dfs := vfs.NewCrashableMem()
	s := openAt(t, dfs)
	mustPut(t, s, "a", "b", "c")
	err := s.Discard(bg, storage.Span{Start: []byte("b")})
	if err != nil {
		t.Fatal(err)
	}
	seq := s.Seq()
	r := openAt(t, dfs.CrashClone(vfs.CrashCloneCfg{}))
	if r.Seq() != seq || !has(t, r, "a") || has(t, r, "b") || has(t, r, "c") {
		t.Fatal("state after the crash")
	}
	closeStore(t, r)
	closeStore(t, s)
}

// TestLargeValuesAndCompaction reads separated values back.
func TestLargeValuesAndCompaction(t *testing.T) {
	s := openAt(t, vfs.NewMem())
	defer closeStore(t, s)
	for i := range 200 {
		if _, err := tryPut(s, storage.DurabilityNone, bytes.Repeat([]byte{byte(i)}, 5000), "k"+string(rune('A'+i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Compact(bg, []byte("a"), []byte("z"), false); err != nil {
		t.Fatal(err)
	}
	if s.Metrics()["blob_bytes"] == 0 {
		t.Fatal("values were not separated")
	}
	for i := range 200 {
		v, err := s.Latest().Get(bg, []byte("k"+string(rune('A'+i))), nil)
		if err != nil || len(v) != 5000 || v[0] != byte(i) {
			t.Fatal(i, len(v), err)
		}
	}
}

var _ pebble.Logger = logger{}

// TestLogBytes: whichever way the records of a log take to the disk, their bytes are
// there in order, followed by zeros.
func TestLogBytes(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	d := newDisk(vfs.Default, dir, slog.New(slog.NewTextHandler(io.Discard, nil)))
	rng := seeded(3)
	name := ""
	for round := range testflag.Rounds(2, 8, 20) {
		var f vfs.File
		var err error
		next := filepath.Join(dir, fmt.Sprintf("%06d.log", round))
		if name == "" || rng.IntN(3) == 0 {
			f, err = d.Create(next, vfs.WriteCategoryUnspecified)
		} else {
			f, err = d.ReuseForWrite(name, next, vfs.WriteCategoryUnspecified)
		}
		if err != nil {
			t.Fatal(err)
		}
		old, err := os.ReadFile(next)
		if err != nil {
			t.Fatal(err)
		}
		name = next
		if err := f.Preallocate(0, 4<<20); err != nil {
			t.Fatal(err)
		}
		var want []byte
		wanted, longest := 1, []int{100, 5000, 400_000}[round%3]
		d.syncWanted.Store(1)
		for i := range 1 + rng.IntN(200) {
			if round%4 == 3 && i == 50 {
				d.syncWanted.Store(0)
				wanted = 0
			}
			p := make([]byte, 1+rng.IntN(longest))
			for i := range p {
				p[i] = byte(1 + rng.IntN(4))
			}
			want = append(want, p...)
			if n, err := f.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			if wanted == 0 || rng.IntN(3) == 0 {
				if err := f.SyncData(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < len(want) || !bytes.Equal(got[:len(want)], want) {
			t.Fatalf("round %d: %d bytes differ from the %d written", round, len(got), len(want))
		}
		for i, b := range got[len(want):] {
			if at := len(want) + i; b != 0 && (at >= len(old) || old[at] != b) {
				t.Fatalf("round %d: byte %d behind the end is %d", round, i, b)
			}
		}
	}
}
