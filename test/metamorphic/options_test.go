package metamorphic

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
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
	cluster  bool // the store is in a TiKV cluster, which outlives the server
	killed   bool // the server is a process, and a crash is a SIGKILL
	restarts bool // a crash is a restart
	tune     func(*pebblekv.Options)
	memory   int64
	settings []string
	protocol protocol
	hint     func(indexes []string, n int) string // after tables, n counts queries
	bulk     bool                                 // loads are sorted runs
	job      bool                                 // the job removes expired rows
	beside   bool                                 // indexes are built during changes
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
		{name: "disk, packed images at once, parameters, restarts, job", onDisk: true, restarts: true, job: true, tune: func(o *pebblekv.Options) { o.EagerImages, o.PackImages = true, true }, protocol: parameters},
		{name: "disk, no filters, no operators, any index, builds beside", onDisk: true, tune: func(o *pebblekv.Options) { o.FilterBytes, o.ImageBytes = -1, -1 }, settings: []string{operators}, hint: force, beside: true, bulk: true},
		{name: "cluster, restarts", cluster: true, restarts: true, beside: true},
		{name: "disk, kills", onDisk: true, killed: true, bulk: true, beside: true},
		{name: "disk, kills, spilling, parameters, job", onDisk: true, killed: true, job: true, settings: []string{"SET sqlots_spill_over = 500"}, protocol: parameters},
	}
}

// host runs the server of an option set.
type host struct {
	t      *testing.T
	o      *options
	dir    string
	store  tikvtest.Stores // nil without
	server *server.Server
	child  *childserver.Child
	addr   string
}

func newHost(t *testing.T, o *options) *host {
	h := &host{t: t, o: o}
	if o.onDisk {
		h.dir = t.TempDir()
	}
	if o.cluster {
		var err error
		if h.store, err = tikvtest.Open(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.store.Close)
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
	cfg := h.o.config(h.dir)
	if h.store != nil {
		store, err := h.store.Join(context.Background(), "histories")
		if err != nil {
			h.t.Fatalf("%s: %v", h.o.name, err)
		}
		cfg.MemoryStore = func() storage.Store { return store }
	}
	s, err := server.Start(context.Background(), cfg)
	if err != nil {
		h.t.Fatalf("%s: starting: %v", h.o.name, err)
	}
	h.server, h.addr = s, s.Addr()
}

func (h *host) stop() {
	if h.child != nil {
		h.child.Kill()
		h.child = nil
	}
	if h.server != nil {
		if err := h.server.Stop(10 * time.Second); err != nil {
			h.t.Errorf("%s: stopping: %v", h.o.name, err)
		}
		h.server = nil
	}
}

func TestMain(m *testing.M) {
	childserver.Main(func(arg string) server.Config {
		set, dir, _ := strings.Cut(arg, "|")
		for _, o := range sets() {
			if o.name == set {
				return o.config(dir)
			}
		}
		panic("no option set " + set)
	})
	os.Exit(m.Run())
}

func (h *host) startChild() {
	h.t.Helper()
	h.child = childserver.Start(h.t, h.o.name+"|"+h.dir)
	h.addr = h.child.Addr
}
