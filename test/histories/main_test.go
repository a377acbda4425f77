package histories

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

var (
	txns        = flag.Int("histories.txns", 0, "transactions of TestHistories, 0 for as many as the length of the run asks for")
	connections = flag.Int("histories.connections", 32, "connections at a time")
	spinning    = flag.Int("histories.spin", 0, "processes that do nothing but keep the machine busy")
	levels      = flag.String("histories.level", "all", "isolation level: rc, rr, s or all")
	flush       = flag.Int("histories.flush", -1, "innodb_flush_log_at_trx_commit, -1 for one after another")
	memory      = flag.Int64("histories.memory", 256, "memory of the server in MiB")
	epochTxns   = flag.Int("histories.epoch", 4_000, "transactions that are checked together")
	enough      = flag.Int("histories.findings", 1, "the findings after which a run ends")
	calm        = flag.Bool("histories.calm", false, "no KILL QUERY, no changes of the schema")
	fault       = flag.String("histories.fault", "", "a fault for TestHistories: changed or at")
	faultRate   = flag.Float64("histories.rate", 1e-4, "how often it happens")
	pauses      = flag.Float64("histories.pauses", 0, "probability of pauses of up to 2 ms at the steps of commits and reads, for TestHistories")
)

// settings are those of a server.
type settings struct {
	Dir    string
	Memory int64
	// Fault happens with the probability Rate.
	Fault string
	Rate  float64
	Idle  time.Duration
	// Pauses is the probability of a pause at each step of commits, reads and
	// updates of search indexes, as on a machine that takes the processor away.
	Pauses float64
	// Cluster: the store is in a TiKV cluster of the server's process.
	Cluster bool
}

func (s settings) config() server.Config {
	c := server.Config{DataDir: s.Dir, Memory: s.Memory, SearchKnobs: s.knobs(), Steps: s.steps()}
	if s.Cluster {
		c.InMemory, c.MemoryStore = true, cluster
	}
	return c
}

// cluster opens a store in a cluster that ends with the process.
func cluster() storage.Store {
	c, err := tikvtest.Open()
	if err != nil {
		log.Fatal(err)
	}
	s, err := c.Join(context.Background(), "histories")
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// mergeAfter has search indexes merge their files in each short pause of the writers.
const mergeAfter = 5 * time.Millisecond

// longestPause bounds a pause.
const longestPause = 2 * time.Millisecond

func (s settings) steps() step.Hook {
	if s.Pauses == 0 {
		return nil
	}
	return func(step.Point) {
		if rand.Float64() < s.Pauses {
			time.Sleep(rand.N(longestPause))
		}
	}
}

// knobs plants the fault.
func (s settings) knobs() search.Knobs {
	k := search.Knobs{Idle: s.Idle, MergeAfter: mergeAfter}
	switch s.Fault {
	case "":
	case "changed": // a changed row is not looked at
		k.Changed = func(keys [][]byte) (out [][]byte) {
			for _, key := range keys {
				if rand.Float64() >= s.Rate {
					out = append(out, key)
				}
			}
			return out
		}
	case "at": // the last commit is not looked at
		k.At = func(seq uint64) uint64 {
			if rand.Float64() < s.Rate {
				seq--
			}
			return seq
		}
	default:
		log.Fatalf("unknown fault %q", s.Fault)
	}
	return k
}

func (s settings) start(t *testing.T) *childserver.Child {
	arg, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return childserver.Start(t, string(arg))
}

// spinVariable makes a process of this binary one that spins.
const spinVariable = "SQLOTS_HISTORIES_SPIN"

func TestMain(m *testing.M) {
	childserver.Main(func(arg string) server.Config {
		var s settings
		if err := json.Unmarshal([]byte(arg), &s); err != nil {
			log.Fatal(err)
		}
		return s.config()
	})
	if os.Getenv(spinVariable) != "" {
		spin()
	}
	os.Exit(m.Run())
}

// spin uses a processor until the parent is gone.
func spin() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for n := uint64(1); ; n++ {
		if n == 0 {
			os.Exit(1)
		}
	}
}

// startSpinning begins processes that end with the test, or with this process.
func startSpinning(t *testing.T, n int) {
	for range n {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), spinVariable+"=1")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait()
		})
	}
}
