package metamorphic

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

// protocol is how statements are sent.
type protocol uint8

const (
	asText     protocol = iota
	prepared            // without parameters
	parameters          // literals are parameters, statements are kept
)

// options is an option set.
type options struct {
	name     string
	onDisk   bool
	killed   bool // the server is a process, and a crash is a SIGKILL
	restarts bool // a crash is a restart
	tune     func(*pebblekv.Options)
	memory   int64
	settings []string
	protocol protocol
	hint     func(indexes []string, n int) string // behind tables, n counts queries
	bulk     bool                                 // loads are sorted runs
	job      bool                                 // the job removes expired rows
	beside   bool                                 // indexes are built beside changes
	noStats  bool
}

func force(indexes []string, n int) string {
	return " FORCE INDEX (" + indexes[n%len(indexes)] + ")"
}

func scan([]string, int) string { return " USE INDEX ()" }

// sets are all option sets; the first is what the others are compared with.
func sets() []options {
	off := "SET sqlots_disabled_rules = '" + strings.Join(planner.Rules(), ",") + "'"
	operators := "SET sqlots_disabled_rules = '" + strings.Join(planner.Operators(), ",") + "'"
	return []options{
		{name: "memory"},
		{name: "memory, parameters, any index", protocol: parameters, hint: force},
		{name: "memory, batches of 1, scans, no statistics", settings: []string{"SET sqlots_batch_size = 1"}, hint: scan, noStats: true},
		{name: "memory, batches of 3, spilling, prepared", settings: []string{"SET sqlots_batch_size = 3", "SET sqlots_spill_over = 500"}, protocol: prepared},
		{name: "memory, no rules, bulk loads, builds beside", settings: []string{off}, bulk: true, beside: true},
		{name: "disk, small memtables, restarts", onDisk: true, restarts: true, memory: 24 << 20, tune: func(o *pebblekv.Options) { o.MemTableBytes, o.ImageBytes, o.ValueSeparationBytes = 64<<10, -1, 100 }},
		{name: "disk, images at once, batches of 3, bulk loads", onDisk: true, tune: func(o *pebblekv.Options) { o.EagerImages = true }, settings: []string{"SET sqlots_batch_size = 3"}, bulk: true},
		{name: "disk, images at once, parameters, restarts, job", onDisk: true, restarts: true, job: true, tune: func(o *pebblekv.Options) { o.EagerImages = true }, protocol: parameters},
		{name: "disk, no filters, no operators, any index, builds beside", onDisk: true, tune: func(o *pebblekv.Options) { o.FilterBytes, o.ImageBytes = -1, -1 }, settings: []string{operators}, hint: force, beside: true, bulk: true},
		{name: "disk, kills", onDisk: true, killed: true, bulk: true, beside: true},
		{name: "disk, kills, spilling, parameters, job", onDisk: true, killed: true, job: true, settings: []string{"SET sqlots_spill_over = 500"}, protocol: parameters},
	}
}

// host runs the server of an option set.
type host struct {
	t      *testing.T
	o      *options
	dir    string
	server *server.Server
	child  *exec.Cmd
	addr   string
}

func newHost(t *testing.T, o *options) *host {
	h := &host{t: t, o: o}
	if o.onDisk {
		h.dir = t.TempDir()
	}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (o *options) config(dir string) server.Config {
	c := server.Config{InMemory: !o.onDisk, DataDir: dir, Listen: "127.0.0.1:0", Memory: 128 << 20, Tune: o.tune, CheckPlans: true}
	if o.memory > 0 {
		c.Memory = o.memory
	}
	return c
}

func (h *host) start() {
	h.t.Helper()
	if h.o.killed {
		h.startChild()
		return
	}
	s, err := server.Start(context.Background(), h.o.config(h.dir))
	if err != nil {
		h.t.Fatalf("%s: starting: %v", h.o.name, err)
	}
	h.server, h.addr = s, s.Addr()
}

func (h *host) stop() {
	if h.child != nil {
		_ = h.child.Process.Kill()
		_ = h.child.Wait()
		h.child = nil
	}
	if h.server != nil {
		if err := h.server.Stop(10 * time.Second); err != nil {
			h.t.Errorf("%s: stopping: %v", h.o.name, err)
		}
		h.server = nil
	}
}

// childSet and childDir make the test binary the server of an option set.
const (
	childSet = "SQLOTS_METAMORPHIC_SET"
	childDir = "SQLOTS_METAMORPHIC_DIR"
)

func TestMain(m *testing.M) {
	for _, o := range sets() {
		if o.name == os.Getenv(childSet) {
			serve(&o)
		}
	}
	os.Exit(m.Run())
}

func serve(o *options) {
	c := o.config(os.Getenv(childDir))
	c.Durability, c.Log = 1, slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := server.Start(context.Background(), c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting:", err)
		os.Exit(1)
	}
	fmt.Println("READY", s.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
	os.Exit(3)
}

func (h *host) startChild() {
	h.t.Helper()
	h.child = exec.Command(os.Args[0])
	h.child.Env = append(os.Environ(), childSet+"="+h.o.name, childDir+"="+h.dir)
	var log strings.Builder
	h.child.Stderr = &log
	_, err := h.child.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := h.child.StdoutPipe()
	if err == nil {
		err = h.child.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = h.child.Wait()
		h.t.Fatalf("%s: the server did not start: %v\n%s", h.o.name, err, log.String())
	}
	h.addr = strings.TrimSpace(strings.TrimPrefix(line, "READY "))
}
