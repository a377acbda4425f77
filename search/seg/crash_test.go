package seg

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

const crashDir = "SEG_CRASH_DIR"

// crashBatch is the n-th batch of the history that the writer and the model
// both know.
func crashBatch(n uint64, put func(id string, d *doc)) {
	r := rand.New(rand.NewPCG(n, 7))
	for range 1 + r.IntN(40) {
		id := fmt.Sprintf("row%d", r.IntN(500))
		if r.IntN(4) == 0 {
			put(id, nil)
		} else {
			put(id, randomDoc(r, 0))
		}
	}
}

// TestCrashWriter is the process that TestCrash kills.
func TestCrashWriter(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("runs as a child of TestCrash")
	}
	ix, err := Open(dir, testSchema(), Options{
		PersistEvery: 3 * time.Millisecond, SegmentsPerTier: 3,
		OnDurable: func(c uint64) { fmt.Printf("durable %d\n", c) },
	})
	if err != nil {
		fmt.Printf("open: %v\n", err)
		os.Exit(3)
	}
	s := must(ix.Snapshot())
	n := s.Checkpoint()
	s.Close()
	for {
		n++
		b := ix.NewBatch()
		b.Checkpoint(n)
		b.Set("n", []byte(strconv.FormatUint(n, 10)))
		crashBatch(n, func(id string, d *doc) {
			if d == nil {
				b.Delete([]byte(id))
				return
			}
			b.Upsert([]byte(id))
			d.put(b)
		})
		if err := ix.Apply(b); err != nil {
			fmt.Printf("apply: %v\n", err)
			os.Exit(3)
		}
		if n%16 == 0 {
			if err := ix.Merge(context.Background()); err != nil {
				fmt.Printf("merge: %v\n", err)
				os.Exit(3)
			}
		}
	}
}

// TestCrash kills a writer at random moments. Opened again, the index is what
// its checkpoint says, and not older than what was durable.
func TestCrash(t *testing.T) {
	if os.Getenv(crashDir) != "" {
		t.Skip("is the child")
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 3))
	model := map[string]*doc{}
	at := uint64(0)
	for i := range crashes() {
		durable := runAndKill(t, dir, time.Duration(20+r.IntN(400))*time.Millisecond)
		ix, err := Open(dir, testSchema(), Options{PersistEvery: time.Millisecond})
		if err != nil {
			t.Fatalf("after crash %d: %v", i, err)
		}
		s := must(ix.Snapshot())
		c, value := s.Checkpoint(), string(s.Value("n"))
		s.Close()
		if c < durable || c < at {
			t.Fatalf("after crash %d: checkpoint %d, but %d was durable, and %d before", i, c, durable, at)
		}
		if c > 0 && value != strconv.FormatUint(c, 10) {
			t.Fatalf("after crash %d: value %q of checkpoint %d", i, value, c)
		}
		for ; at < c; at++ {
			crashBatch(at+1, func(id string, d *doc) {
				if d == nil {
					delete(model, id)
				} else {
					model[id] = d
				}
			})
		}
		compareIndex(t, ix, model, r)
		if err := ix.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d crashes, checkpoint %d, %d documents", crashes(), at, len(model))
}

// runAndKill runs the writer for a while and gives the checkpoint that it
// reported as durable last.
func runAndKill(t *testing.T, dir string, d time.Duration) uint64 {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashWriter$")
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(d, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	var durable uint64
	for sc := bufio.NewScanner(out); sc.Scan(); {
		var n uint64
		if _, err := fmt.Sscanf(sc.Text(), "durable %d", &n); err == nil {
			durable = n
		} else {
			t.Errorf("writer: %s", sc.Text())
		}
	}
	_ = cmd.Wait()
	return durable
}

// TestCrashAtBirth kills a writer while it makes a new index: what is there can
// be opened.
func TestCrashAtBirth(t *testing.T) {
	if os.Getenv(crashDir) != "" {
		t.Skip("is the child")
	}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 4))
	for i := range 2 * crashes() {
		dir := t.TempDir()
		runAndKill(t, dir, time.Duration(r.IntN(60_000))*time.Microsecond)
		ix, err := Open(dir, testSchema(), Options{PersistEvery: time.Millisecond})
		if err != nil {
			t.Fatalf("after crash %d: %v", i, err)
		}
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// crashes is how often TestCrash kills the writer.
func crashes() int { return testflag.Rounds(1, 3, 8) }
