package tikvkv_test

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
	"github.com/sqlots/sqlots/tool/smoke"
)

// TestCuts: all calls of a server fail from one moment on, as after kill -9, and a new
// server goes on with the store. No transfer that was acknowledged is lost, none is half
// there, indexes have what their tables have, and the change log has each change once.
func TestCuts(t *testing.T) {
	testflag.Long(t) // calls of client-go that are cut off take up to 40 seconds
	c := &cutServers{t: t, cluster: cluster(t), bank: &smoke.Bank{Database: "d"}}
	rng := rand.New(rand.NewPCG(testflag.Seed(1), 0))
	c.serve(func(db *sql.DB, _ *tikvtest.Node) { must(t, c.bank.Create(bg, db)) })
	cuts := testflag.Rounds(1, 1, 1)
	for range cuts {
		c.serve(func(db *sql.DB, n *tikvtest.Node) {
			c.check(db)
			c.work(db, func() {
				time.Sleep(time.Duration(20+rng.IntN(300)) * time.Millisecond)
				n.Cut(true)
			})
		})
	}
	c.serve(func(db *sql.DB, _ *tikvtest.Node) { c.check(db) })
	s := c.bank.Stats()
	t.Logf("%d cuts: %d transfers acknowledged, %d refused, %d unknown", cuts, s.Acknowledged, s.Refused, s.Unknown)
}

const cutWorkers = 6

// cutServers are the servers of TestCuts, one after the other.
type cutServers struct {
	t       *testing.T
	cluster *tikvtest.Cluster
	bank    *smoke.Bank
}

// serve runs a server on the store, with which fn works.
func (c *cutServers) serve(fn func(db *sql.DB, n *tikvtest.Node)) {
	n := c.cluster.Node()
	kv, err := n.Connect()
	must(c.t, err)
	store, err := tikvkv.Join(bg, kv, "bank", tikvkv.Node{}, tikvkv.Options{}.WithLease(400*time.Millisecond, 40*time.Millisecond))
	must(c.t, err)
	s, err := server.Start(bg, server.Config{InMemory: true, Listen: "127.0.0.1:0", Memory: 128 << 20, MemoryStore: func() storage.Store { return store }})
	must(c.t, err)
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/")
	must(c.t, err)
	fn(db, n)
	_ = db.Close()    // its connections may be broken
	_ = s.Stop(0)     // it cannot say goodbye
	_ = store.Close() // the server has closed it, if it got that far
}

// work makes transfers until stop has cut the server off.
func (c *cutServers) work(db *sql.DB, stop func()) {
	ctx, cancel := context.WithCancel(bg)
	var all sync.WaitGroup
	all.Go(func() { c.bank.Run(ctx, db, cutWorkers) })
	stop()
	time.Sleep(50 * time.Millisecond)
	cancel()
	all.Wait()
}

// check compares all that the store has.
func (c *cutServers) check(db *sql.DB) {
	c.t.Helper()
	findings, err := c.bank.Check(bg, db)
	must(c.t, err)
	for _, f := range findings {
		c.t.Error(f)
	}
	if len(findings) > 0 {
		c.t.FailNow()
	}
}
