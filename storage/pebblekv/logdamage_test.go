package pebblekv

import (
	"bufio"
	"bytes"
	"errors"
	flags "flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/storage"
)

var logDamages = flags.Int("damages", 0, "how many damages of logs TestLogDamage tries; 0 for as many as the length of the run asks for")

// storeChild names the variable of a child process's environment with the store that it
// writes.
const storeChild = "SQLOTS_STORE_CHILD"

func TestMain(m *testing.M) {
	if arg, ok := os.LookupEnv(storeChild); ok {
		if err := writeUntilKilled(strings.Fields(arg)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flags.Parse()
	testflag.Main(m)
}

// load is how the logs of a test come to be.
type load struct {
	name       string
	durability storage.Durability
	stuck      bool // nothing is flushed, so that there are several logs
	clean      bool // the store is closed, not killed
	reboot     bool // the operating system was started again since
}

var loads = []load{
	{name: "synced", durability: storage.DurabilitySync},
	{name: "synced, several logs", durability: storage.DurabilitySync, stuck: true},
	{name: "synced, closed", durability: storage.DurabilitySync, clean: true},
	{name: "synced, another boot", durability: storage.DurabilitySync, reboot: true},
	{name: "synced, several logs, another boot", durability: storage.DurabilitySync, stuck: true, reboot: true},
	{name: "written", durability: storage.DurabilityWrite},
	{name: "written, several logs", durability: storage.DurabilityWrite, stuck: true},
	{name: "written, closed", durability: storage.DurabilityWrite, clean: true},
	{name: "written, closed, another boot", durability: storage.DurabilityWrite, clean: true, reboot: true},
	{name: "neither", durability: storage.DurabilityNone},
	{name: "neither, closed", durability: storage.DurabilityNone, clean: true},
}

// writeUntilKilled is the child: it commits, says of each commit that was
// acknowledged its key and sequence, and closes the store when its input ends.
func writeUntilKilled(arg []string) error {
	dir, stuck := arg[0], arg[2] == "true"
	d, err := strconv.Atoi(arg[1])
	if err != nil {
		return err
	}
	dfs := &faultFS{FS: vfs.Default}
	s, err := Open(diskOptions(dir, dfs, slog.DiscardHandler))
	if err != nil {
		return err
	}
	if stuck {
		dfs.set(func(op, name string) error {
			if op == "create" && strings.HasSuffix(name, ".sst") {
				return errors.New("stuck")
			}
			return nil
		})
	}
	for i := 0; i < 80 && !stuck; i++ { // the logs that follow are used again
		if _, err := tryPut(s, storage.DurabilitySync, make([]byte, 30<<10), fmt.Sprint("large", i)); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rng := seeded(uint64(w))
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprintf("%d-%06d", w, i)
				seq, err := tryPut(s, storage.Durability(d), bytes.Repeat([]byte{byte(i)}, 1+rng.IntN(600)), key)
				mu.Lock()
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
				} else {
					fmt.Println(key, seq)
				}
				mu.Unlock()
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(stop)
	wg.Wait()
	dfs.set(nil)
	return s.Close()
}

func diskOptions(dir string, dfs vfs.FS, log slog.Handler) Options {
	return Options{Dir: dir, FS: dfs, CacheBytes: 8 << 20, MemTableBytes: 512 << 10, DiskReserveBytes: -1, ImageBytes: -1, FilterBytes: -1, Logger: slog.New(log)}
}

// makeLogs runs a child until it has made some commits. It returns those that
// were acknowledged, by their sequence.
func makeLogs(t *testing.T, dir string, l load) map[uint64]string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %v", storeChild, dir, l.durability, l.stuck))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := map[uint64]string{}
	most := 400
	if l.stuck || l.durability == storage.DurabilityNone {
		most = 4000
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		key, text, _ := strings.Cut(lines.Text(), " ")
		seq, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(lines.Text(), err)
		}
		acked[seq] = key
		switch {
		case len(acked) != most:
		case l.clean:
			_ = in.Close()
		default:
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); l.clean && err != nil {
		t.Fatal(err)
	}
	return acked
}

// damaged is a store whose files are damaged again and again.
type damaged struct {
	t     *testing.T
	from  string
	state *logState
	acked map[uint64]string
	must  uint64 // the commits up to it must be there, or the start be refused
	n     int
}

// copyStore copies a store.
func (d *damaged) copyStore() string {
	d.t.Helper()
	d.n++
	to := filepath.Join(filepath.Dir(d.from), fmt.Sprintf("copy%d", d.n))
	if err := os.CopyFS(to, os.DirFS(d.from)); err != nil {
		d.t.Fatal(err)
	}
	return to
}

// newDamaged makes a store whose logs have something. What it must have is what they have
// up to the lengths that LOGS says.
func newDamaged(t *testing.T, l load) *damaged {
	t.Helper()
	for {
		if d := tryDamaged(t, l); len(d.state.logs) > 0 {
			return d
		}
		t.Log("the process was killed when it had just begun with a new log")
	}
}

// tryDamaged is newDamaged, but that there may be no log of which LOGS says anything.
func tryDamaged(t *testing.T, l load) *damaged {
	t.Helper()
	d := &damaged{t: t, from: filepath.Join(t.TempDir(), "store")}
	d.acked = makeLogs(t, d.from, l)
	if l.reboot {
		bootAgain(t, d.from)
	}
	var err error
	if d.state, err = findLogs(vfs.Default, d.from); err != nil {
		t.Fatal(err)
	}
	if l.stuck && len(d.state.logs) < 2 {
		t.Fatalf("%d logs", len(d.state.logs))
	}
	to := d.copyStore()
	for _, f := range d.state.logs {
		if err := os.Truncate(filepath.Join(to, kvDir, filepath.Base(f.path)), f.need); err != nil {
			t.Fatal(err)
		}
	}
	_, keys, err := d.open(to, false)
	if err != nil {
		t.Fatal("a log that ends where LOGS says: ", err)
	}
	d.must = uint64(len(keys))
	d.state.logs = slices.DeleteFunc(d.state.logs, func(f logFile) bool { return f.need == 0 }) // no record of it is promised
	for seq := range d.acked {
		if (l.clean || l.durability != storage.DurabilityNone) && seq > d.must {
			t.Fatalf("commit %d was acknowledged; LOGS promises %d", seq, d.must)
		}
	}
	if d.must < uint64(len(d.acked))/10 {
		t.Fatalf("only %d commits", d.must)
	}
	return d
}

// bootAgain has LOGS be of another boot.
func bootAgain(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, tailsFile)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(b); at += tailsSlot {
		if x, ok := decodeTails(b[at : at+tailsSlot]); ok {
			x.boot[3] ^= 1
			x.encode(b[at:at])
		}
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// open opens a store, and reads and removes it. It returns its log and its keys.
func (d *damaged) open(dir string, accept bool) (string, map[string]bool, error) {
	d.t.Helper()
	log := &testutil.Buffer{}
	o := diskOptions(dir, vfs.Default, slog.NewTextHandler(log, nil))
	o.AcceptLogDamage = accept
	s, err := Open(o)
	if err != nil {
		d.remove(dir)
		return log.String(), nil, err
	}
	keys := map[string]bool{}
	sc, err := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := sc.Visit(bg, func(k, _ []byte) bool { keys[string(k)] = true; return true }); err != nil {
		d.t.Fatal(err)
	}
	_ = sc.Close()
	if s.Seq() != uint64(len(keys)) {
		d.t.Fatalf("%d commits in state %d", len(keys), s.Seq())
	}
	closeStore(d.t, s)
	if !accept {
		d.remove(dir)
	}
	return log.String(), keys, nil
}

func (d *damaged) remove(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		d.t.Fatal(err)
	}
}

// missing counts the commits that must be there and are not.
func (d *damaged) missing(keys map[string]bool) int {
	n := 0
	for seq, key := range d.acked {
		if seq <= d.must && !keys[key] {
			n++
		}
	}
	return max(n, int(d.must)-len(keys))
}

// logDamage is one kind of damage to a file; used bytes of it are of records. It
// returns what it did.
type logDamage func(rng *rand.Rand, b []byte, used int) ([]byte, string)

// somewhere is mostly in the last block of what is used.
func somewhere(rng *rand.Rand, used int) int {
	if rng.IntN(3) > 0 {
		return max(0, used-1-rng.IntN(min(used, logBlock)))
	}
	return rng.IntN(used)
}

// move copies a part of the file to another place of it.
func move(size int) logDamage {
	return func(rng *rand.Rand, b []byte, used int) ([]byte, string) {
		from, to := rng.IntN(used)/size*size, somewhere(rng, used)/size*size
		copy(b[to:min(to+size, len(b))], bytes.Clone(b[from:min(from+size, len(b))]))
		return b, fmt.Sprintf("%d bytes of offset %d at %d", size, from, to)
	}
}

var damageKinds = []logDamage{
	func(rng *rand.Rand, b []byte, used int) ([]byte, string) {
		at := somewhere(rng, used)
		b[at] ^= 1 << rng.IntN(8)
		return b, fmt.Sprintf("a bit of byte %d", at)
	},
	func(rng *rand.Rand, b []byte, used int) ([]byte, string) {
		at := somewhere(rng, used) / 512 * 512
		clear(b[at:min(at+512, len(b))])
		return b, fmt.Sprintf("zeros at %d", at)
	},
	func(rng *rand.Rand, b []byte, used int) ([]byte, string) {
		at := somewhere(rng, used) / 512 * 512
		for i := at; i < min(at+512, len(b)); i++ {
			b[i] = byte(rng.Uint32())
		}
		return b, fmt.Sprintf("random bytes at %d", at)
	},
	move(512), move(4096), move(32 << 10),
	func(rng *rand.Rand, b []byte, used int) ([]byte, string) {
		at := somewhere(rng, used)
		return b[:at], fmt.Sprintf("cut to %d", at)
	},
	func(rng *rand.Rand, b []byte, used int) ([]byte, string) {
		at := somewhere(rng, used)
		clear(b[at:])
		return b, fmt.Sprintf("nothing from %d on", at)
	},
	func(*rand.Rand, []byte, int) ([]byte, string) { return nil, "deleted" },
}

// TestLogDamage damages logs at random, after the process was killed and after
// the store was closed. Each time the start is refused with the file and the
// place, or every commit is there that was acknowledged.
func TestLogDamage(t *testing.T) {
	testflag.Normal(t)
	damages := *logDamages
	if damages == 0 {
		damages = testflag.Pick(0, 20, 100)
	}
	for i, l := range loads {
		t.Run(l.name, func(t *testing.T) {
			d := newDamaged(t, l)
			rng := seeded(uint64(i))
			refused, whole := 0, 0
			for range (damages + len(loads) - 1) / len(loads) {
				f := d.state.logs[rng.IntN(len(d.state.logs))]
				if d.damageOnce(rng, f) {
					refused++
				} else {
					whole++
				}
			}
			t.Logf("%d logs, %d commits; refused: %d, nothing was missing: %d", len(d.state.logs), d.must, refused, whole)
			if refused == 0 {
				t.Error("no damage was found")
			}
		})
	}
}

// damageOnce damages one log of a copy and opens that; true if it is refused.
func (d *damaged) damageOnce(rng *rand.Rand, f logFile) bool {
	d.t.Helper()
	dir := d.copyStore()
	name := filepath.Join(dir, kvDir, filepath.Base(f.path))
	b, err := os.ReadFile(name)
	if err != nil {
		d.t.Fatal(err)
	}
	b, what := damageKinds[rng.IntN(len(damageKinds))](rng, b, int(f.need))
	what = fmt.Sprintf("%s of %d used bytes: %s", filepath.Base(f.path), f.need, what)
	if b == nil {
		err = os.Remove(name)
	} else {
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	_, keys, err := d.open(dir, false)
	if err == nil {
		if n := d.missing(keys); n > 0 {
			d.t.Errorf("%s: %d of %d commits are missing without a word", what, n, d.must)
		}
		return false
	}
	if !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "offset") {
		d.t.Errorf("%s: the error is %v", what, err)
	}
	return true
}

// TestTornLog cuts the newest log after what LOGS demands: the store opens, and says
// what it leaves out if there is something.
func TestTornLog(t *testing.T) {
	d := newDamaged(t, loads[0])
	f := d.state.logs[len(d.state.logs)-1]
	dir := d.copyStore()
	// The beginning of a record that was never acknowledged.
	name := filepath.Join(dir, kvDir, filepath.Base(f.path))
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	end := int(f.scan.stop)
	const torn = 100
	if end+torn > end/logBlock*logBlock+logBlock {
		t.Skip("a block ends there")
	}
	copy(b[end:], b[:torn]) // the header of the first chunk, and too little after it
	b[end+4], b[end+5] = torn, 0
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := CheckLogs(diskOptions(dir, vfs.Default, slog.DiscardHandler))
	list := r.LeftOut
	if err != nil || r.Unsure != "" || len(list) != 1 || list[0].Err != nil || list[0].File != name || list[0].Offset != int64(end) {
		t.Fatalf("%+v, %v", list, err)
	}
	log, keys, err := d.open(dir, false)
	if err != nil || d.missing(keys) > 0 {
		t.Fatal(err)
	}
	if !strings.Contains(log, "an unfinished write") || !strings.Contains(log, fmt.Sprintf("offset=%d bytes=%d", end, list[0].Bytes)) {
		t.Fatalf("the log says %s", log)
	}
	if log, _, _ := d.open(d.copyStore(), false); strings.Contains(log, "unfinished") {
		t.Fatalf("nothing is left out, and the log says %s", log)
	}
}

// TestAcceptLogDamage: a forced start keeps the logs, leaves out the end of the damaged
// one and those after it, and says so. After that nothing is wrong.
func TestAcceptLogDamage(t *testing.T) {
	testflag.Normal(t)
	for _, l := range []load{loads[1], loads[0], loads[5]} {
		t.Run(l.name, func(t *testing.T) {
			d := newDamaged(t, l)
			f := d.state.logs[len(d.state.logs)/2]
			for _, kind := range []string{"flip", "cut", "delete"} {
				dir := d.copyStore()
				name := filepath.Join(dir, kvDir, filepath.Base(f.path))
				before := breakLog(t, name, kind, f.need/2)
				r, err := CheckLogs(diskOptions(dir, vfs.Default, slog.DiscardHandler))
				list := r.LeftOut
				if err != nil || len(list) == 0 || list[0].Err == nil || list[0].Bytes < f.need/3 {
					t.Fatalf("%s: %+v, %v", kind, list, err)
				}
				log, keys, err := d.open(dir, true)
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				if len(keys) == 0 && f.number == d.state.logs[0].number && kind != "delete" || uint64(len(keys)) >= d.must {
					t.Fatalf("%s: %d commits of %d", kind, len(keys), d.must)
				}
				if !strings.Contains(log, fmt.Sprintf("file=%s offset=%d bytes=%d", name, list[0].Offset, list[0].Bytes)) {
					t.Fatalf("%s: the log says %s", kind, log)
				}
				kept, err := os.ReadFile(filepath.Join(dir, asideDir, "1", filepath.Base(name)))
				if kind == "delete" && !errors.Is(err, fs.ErrNotExist) || kind != "delete" && !bytes.Equal(kept, before) {
					t.Fatalf("%s: the log was not kept: %v", kind, err)
				}
				log, again, err := d.open(dir, false)
				if err != nil || len(again) != len(keys) || strings.Contains(log, "WARN") {
					t.Fatalf("%s: %d commits of %d, %v\n%s", kind, len(again), len(keys), err, log)
				}
			}
		})
	}
}

// breakLog damages a log at an offset, and returns what it is then.
func breakLog(t *testing.T, name, kind string, at int64) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	switch kind {
	case "flip":
		b[at] ^= 4
	case "cut":
		b = b[:at]
	case "delete":
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		return nil
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLogsFile: a store opens with all commits whatever becomes of LOGS alone. A
// missing or damaged one is said; an older one is as good.
func TestLogsFile(t *testing.T) {
	testflag.Normal(t)
	d := newDamaged(t, loads[1])
	lost := 0
	for i, change := range []func(b []byte) []byte{
		func([]byte) []byte { return nil },
		func([]byte) []byte { return []byte{} },
		func(b []byte) []byte { return b[:100] },
		func(b []byte) []byte { return make([]byte, len(b)) },
		func(b []byte) []byte { b[20] ^= 1; b[tailsSlot+20] ^= 1; return b },
		func(b []byte) []byte { b[20] ^= 1; return b },
		func(b []byte) []byte { b[tailsSlot+60] ^= 1; return b },
		func(b []byte) []byte { clear(b[tailsSlot:]); return b },
		func(b []byte) []byte { clear(b[:tailsSlot]); return b },
	} {
		dir := d.copyStore()
		name := filepath.Join(dir, tailsFile)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if b = change(b); b == nil {
			err = os.Remove(name)
		} else {
			err = os.WriteFile(name, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		log, keys, err := d.open(dir, false)
		if err != nil || d.missing(keys) > 0 {
			t.Fatal(i, err)
		}
		if strings.Contains(log, "no file "+tailsFile) {
			lost++
		}
	}
	if lost != 5 {
		t.Errorf("a warning of %d changes", lost)
	}
}

// TestNoLogs: without LOGS a log need not be there to be missed, as long as no other
// is there.
func TestNoLogs(t *testing.T) {
	testflag.Normal(t)
	for _, l := range loads[:3] {
		d := newDamaged(t, l)
		dir := d.copyStore()
		for _, f := range d.state.logs {
			if err := os.Remove(filepath.Join(dir, kvDir, filepath.Base(f.path))); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(filepath.Join(dir, tailsFile)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.open(dir, false); !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), ".log") {
			t.Fatalf("%s: %v", l.name, err)
		}
		if _, keys, err := d.open(dir, true); err != nil || d.missing(keys) == 0 {
			t.Fatalf("%s: %d keys, %v", l.name, len(keys), err)
		}
		if _, _, err := d.open(dir, false); err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
	}
}

// TestMovedLog: without LOGS a newest log is missed whose records are in the file of an
// older log, which the manifest no longer needs.
func TestMovedLog(t *testing.T) {
	testflag.Normal(t)
	d := newDamaged(t, loads[0])
	newest := filepath.Base(d.state.logs[len(d.state.logs)-1].path)
	for _, swap := range []bool{true, false} {
		dir := d.copyStore()
		kv := filepath.Join(dir, kvDir)
		logs, err := filepath.Glob(filepath.Join(kv, "*.log"))
		if err != nil || len(logs) < 2 || filepath.Base(logs[0]) == newest {
			t.Fatal(logs, err)
		}
		older, own := logs[0], filepath.Join(kv, newest)
		err = errors.Join(os.Remove(filepath.Join(dir, tailsFile)), os.Rename(older, older+".tmp"), os.Rename(own, older))
		if swap {
			err = errors.Join(err, os.Rename(older+".tmp", own))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.open(dir, false); !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), newest) {
			t.Fatal(swap, err)
		}
	}
}

// TestOldLogsFile: a LOGS from any time before does not keep a store from being
// opened, though its logs are gone or used again. It is said where the manifest shows it.
func TestOldLogsFile(t *testing.T) {
	mem := vfs.NewMem()
	var old [][]byte
	s := openAt(t, mem)
	value := make([]byte, 20<<10)
	for i := range 150 {
		if _, err := tryPut(s, storage.Durability(i%3), value, fmt.Sprintf("k%03d", i)); err != nil {
			t.Fatal(err)
		}
		if i%20 == 19 {
			old = append(old, memFile(t, mem, "store/"+tailsFile))
		}
		if i%70 == 69 {
			closeStore(t, s)
			s = openAt(t, mem)
		}
	}
	seq := s.Seq()
	closeStore(t, s)
	for i, b := range old {
		f, err := mem.OpenReadWrite("store/"+tailsFile, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if r, err := CheckLogs(Options{Dir: "store", FS: mem}); err != nil || !strings.Contains(r.Unsure, "older than the manifest") {
			t.Fatalf("%d: %q, %v", i, r.Unsure, err)
		}
		s := openAt(t, mem)
		if s.Seq() != seq {
			t.Fatalf("%d: state %d, want %d", i, s.Seq(), seq)
		}
		closeStore(t, s)
	}
}

func memFile(t *testing.T, dfs vfs.FS, name string) []byte {
	t.Helper()
	f, err := dfs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTails: a slot is read as it was written, and no other bytes are.
func TestTails(t *testing.T) {
	want := tails{generation: 7, boot: boot{1, 2}, seq: 9, manifest: tail{number: 3, synced: 1 << 40}}
	want.log(12).written = 100
	want.log(5).synced = 50
	want.log(12).synced = 60
	want.log(12).sum, want.log(12).syncedSum = 1<<31, 77
	b := want.encode(nil)
	got, ok := decodeTails(b)
	if !ok || fmt.Sprint(got) != fmt.Sprint(want) || got.logs[0].number != 5 {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if _, ok := decodeTails(bad); ok {
			t.Errorf("byte %d may change", i)
		}
		if _, ok := decodeTails(b[:i]); ok {
			t.Errorf("%d bytes are enough", i)
		}
	}
	for n := range uint64(1000) {
		want.log(n)
	}
	b = want.encode(nil)
	got, ok = decodeTails(b)
	if !ok || len(b) > tailsSlot || !slices.Equal(got.logs, want.logs[1000-tailsMost:]) {
		t.Fatal(len(b), len(got.logs))
	}
}

// TestCheckpointLogs: a copy has a LOGS of its own, and a log that is damaged on
// disk, though not in memory, is not copied as if it were whole.
func TestCheckpointLogs(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(diskOptions(filepath.Join(dir, "store"), vfs.Default, slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	for i := range 200 {
		mustPut(t, s, fmt.Sprintf("k%d", i))
	}
	if err := s.Checkpoint(filepath.Join(dir, "copy")); err != nil {
		t.Fatal(err)
	}
	st, err := findLogs(vfs.Default, filepath.Join(dir, "copy"))
	if err != nil || !st.known || st.said.manifest.number == 0 || len(st.logs) != 1 || st.logs[0].need == 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := os.Truncate(st.logs[0].path, st.logs[0].need-1); err != nil {
		t.Fatal(err)
	}
	_, err = Open(diskOptions(filepath.Join(dir, "copy"), vfs.Default, slog.DiscardHandler))
	wantErr(t, err, storage.ErrCorruption)
	logs, _ := filepath.Glob(filepath.Join(dir, "store", kvDir, "*.log"))
	if len(logs) != 1 {
		t.Fatal(logs)
	}
	f, err := os.OpenFile(logs[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flipAt := func() {
		const at = 1000 // the last blocks are written again
		b := make([]byte, 1)
		if _, err := f.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
	}
	flipAt()
	wantErr(t, s.Checkpoint(filepath.Join(dir, "copy2")), storage.ErrCorruption)
	flipAt()
	if err := s.Checkpoint(filepath.Join(dir, "copy3")); err != nil {
		t.Fatal(err)
	}
}

// TestManifestCut: a manifest that lost its last records is named.
func TestManifestCut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(diskOptions(dir, vfs.Default, slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "a")
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	m, err := readManifest(vfs.Default, filepath.Join(dir, kvDir))
	if err != nil || m.end == 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	b, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	for end := range b {
		if end%7 != 0 && end < len(b)-40 {
			continue
		}
		if err := os.WriteFile(m.path, b[:end], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Open(diskOptions(dir, vfs.Default, slog.DiscardHandler))
		wantErr(t, err, storage.ErrCorruption)
		if !strings.Contains(err.Error(), m.path) {
			t.Fatalf("cut to %d bytes: %v", end, err)
		}
	}
}

// TestDamagedOptions: a file of options that cannot be read does not keep a store
// from being opened.
func TestDamagedOptions(t *testing.T) {
	mem := vfs.NewMem()
	s := openAt(t, mem)
	mustPut(t, s, "a")
	closeStore(t, s)
	names, err := mem.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "OPTIONS-") {
			continue
		}
		f, err := mem.OpenReadWrite("store/kv/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("\n\x01\x02 = nothing\n"), 30); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	for range 2 {
		s = openAt(t, mem)
		if !has(t, s, "a") {
			t.Fatal("lost")
		}
		closeStore(t, s)
	}
}

// TestReadOnly: a directory that cannot be written is not called locked.
func TestReadOnly(t *testing.T) {
	for _, cause := range []error{syscall.EROFS, syscall.EACCES, syscall.EIO} {
		if err := lockError("d", &fs.PathError{Op: "open", Path: "d/LOCK", Err: cause}); errors.Is(err, storage.ErrLocked) || !errors.Is(err, cause) {
			t.Errorf("%v: %v", cause, err)
		}
	}
	if err := lockError("d", syscall.EAGAIN); !errors.Is(err, storage.ErrLocked) {
		t.Error(err)
	}
}
