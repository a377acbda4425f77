package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
)

// slowLogs reads logs in small pieces, with time in between for their writers.
type slowLogs struct{ vfs.FS }

func (f slowLogs) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.Open(name, opts...)
	if err == nil && strings.HasSuffix(name, ".log") {
		return slowFile{file}, nil
	}
	return file, err
}

type slowFile struct{ vfs.File }

func (f slowFile) Read(p []byte) (int, error) {
	time.Sleep(100 * time.Microsecond)
	return f.File.Read(p[:min(len(p), 4<<10)])
}

// TestCheckpointUnderLoad copies a store whose logs are written faster than the
// copy reads them: the copy is the state after some commit, which is not before
// those that were acknowledged when it began.
func TestCheckpointUnderLoad(t *testing.T) {
	testflag.Normal(t)
	for name, make := range map[string]func(t *testing.T) (vfs.FS, string){
		"memory": func(*testing.T) (vfs.FS, string) { return vfs.NewMem(), "" },
		"disk":   func(t *testing.T) (vfs.FS, string) { return vfs.Default, t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			dfs, root := make(t)
			checkpointUnderLoad(t, slowLogs{dfs}, root)
		})
	}
}

func checkpointUnderLoad(t *testing.T, dfs vfs.FS, root string) {
	opts := Options{Dir: dfs.PathJoin(root, "store"), FS: dfs, CacheBytes: 8 << 20, MemTableBytes: 1 << 20, DiskReserveBytes: -1}
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var stop atomic.Bool
	var acked atomic.Uint64
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; !stop.Load(); i++ {
				// Two keys of one commit, one number.
				seq, err := tryPut(s, storage.Durability(w%3), fmt.Appendf(bytes.Repeat([]byte("x"), i%3000), "%d", i), fmt.Sprintf("a%d", w), fmt.Sprintf("z%d", w))
				if err != nil {
					t.Error(err)
					return
				}
				for {
					was := acked.Load()
					if seq <= was || acked.CompareAndSwap(was, seq) {
						break
					}
				}
			}
		}()
	}
	for i := range testflag.Rounds(1, 2, 4) {
		least := acked.Load()
		dir := dfs.PathJoin(root, fmt.Sprint("copy", i))
		if err := s.Checkpoint(dir); err != nil {
			t.Fatal(err)
		}
		o := opts
		o.Dir = dir
		c, err := Open(o)
		if err != nil {
			t.Fatalf("copy %d: %v", i, err)
		}
		if c.Seq() < least {
			t.Fatalf("copy %d is at %d, %d were acknowledged", i, c.Seq(), least)
		}
		for w := range 4 {
			a, aerr := c.Latest().Get(context.Background(), fmt.Appendf(nil, "a%d", w), nil)
			z, zerr := c.Latest().Get(context.Background(), fmt.Appendf(nil, "z%d", w), nil)
			if !bytes.Equal(a, z) || (aerr == nil) != (zerr == nil) {
				t.Fatalf("copy %d has half of a commit", i)
			}
		}
		closeStore(t, c)
		if err := dfs.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	wg.Wait()
	closeStore(t, s)
}

// TestLogOfReader: a log that is being written ends where its writer was when it
// was opened.
func TestLogOfReader(t *testing.T) {
	for name, dfs := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": vfs.Default} {
		t.Run(name, func(t *testing.T) {
			dir := "db"
			if name == "disk" {
				dir = t.TempDir()
			} else if err := dfs.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			d := newDisk(dfs, dir, slog.New(slog.DiscardHandler))
			f, err := d.Create(d.PathJoin(dir, "000007.log"), vfs.WriteCategoryUnspecified)
			if err != nil {
				t.Fatal(err)
			}
			write := func(text string) {
				if _, err := f.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Preallocate(0, 1<<20); err != nil {
				t.Fatal(err)
			}
			write("before")
			r, err := d.Open(d.PathJoin(dir, "000007.log"))
			if err != nil {
				t.Fatal(err)
			}
			write("behind")
			if got, err := io.ReadAll(r); string(got) != "before" || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
			if err := errors.Join(r.Close(), f.Close()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestCheckpointFailure: a copy that cannot be written stops nothing but the
// copy, whatever file it is that fails.
func TestCheckpointFailure(t *testing.T) {
	dfs := &faultFS{FS: vfs.NewMem()}
	s := openAt(t, dfs)
	defer closeStore(t, s)
	mustPut(t, s, "a")
	var names []string
	dfs.set(func(op, name string) error {
		if strings.HasPrefix(name, "copy") {
			names = append(names, op+" "+name)
		}
		return nil
	})
	if err := s.Checkpoint("copy"); err != nil || len(names) < 8 {
		t.Fatal(err, names)
	}
	for i, step := range names {
		for _, fault := range []error{errors.New("i/o error"), syscall.ENOSPC} {
			seen := 0
			dfs.set(func(_, name string) error {
				if strings.HasPrefix(name, "copy") {
					if seen++; seen == i+1 {
						return fault
					}
				}
				return nil
			})
			dir := fmt.Sprint("copy", i, fault == syscall.ENOSPC)
			if err := s.Checkpoint(dir); err == nil && !strings.HasPrefix(step, "sync") {
				t.Fatalf("%s: no error", step)
			}
			dfs.set(nil)
			s.checkSpace()
			mustPut(t, s, dir)
		}
	}
}
