package tikvkv_test

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

// callsOf are the calls of a kind.
func callsOf(s *tikvkv.Store, kind string) metrics.Calls {
	for _, c := range s.Cluster().Calls {
		if c.Kind == kind {
			return c
		}
	}
	return metrics.Calls{}
}

// TestCallCounts: calls are counted with their times; those that are lost, and answers that
// send the client elsewhere, by reason.
func TestCallCounts(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	c := cluster(t)
	s, n := open(t, c, tikvkv.Options{})
	write(t, s, "k", "v")
	for range 10 {
		value(t, s.Latest(), "k")
	}
	get := callsOf(s, "Get")
	if get.Times.Count != 10 || get.Times.Sum <= 0 || len(get.Errors) > 0 {
		t.Errorf("10 reads are %d calls in %v with errors %v", get.Times.Count, get.Times.Sum, get.Errors)
	}
	if w := callsOf(s, "Commit"); w.Times.Count != 1 {
		t.Errorf("a commit is %d calls", w.Times.Count)
	}
	lost, busy := 2, 1
	n.Intercept(func(r *tikvrpc.Request, serve func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		switch {
		case r.Type != tikvrpc.CmdGet:
		case lost > 0:
			lost--
			return nil, io.ErrUnexpectedEOF
		case busy > 0:
			busy--
			return &tikvrpc.Response{Resp: &kvrpcpb.GetResponse{RegionError: &errorpb.Error{ServerIsBusy: &errorpb.ServerIsBusy{}}}}, nil
		}
		return serve()
	})
	value(t, s.Latest(), "k")
	get = callsOf(s, "Get")
	if get.Times.Count != 12 || get.Errors[metrics.NoAnswer] != 2 || get.Errors["server_is_busy"] != 1 {
		t.Errorf("%d answers, errors %v", get.Times.Count, get.Errors)
	}
}

// TestClusterMetrics: /metrics has the calls and the lease, which ends when the cluster does
// not answer.
func TestClusterMetrics(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	n := cluster(t).Node()
	kv, err := n.Connect()
	must(t, err)
	store, err := tikvkv.Join(bg, kv, "metrics", tikvkv.Node{}, tikvkv.Options{}.WithLease(time.Second, 100*time.Millisecond))
	must(t, err)
	s := servertest.Open(t, server.Config{InMemory: true, Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0", Memory: 256 << 20, MemoryStore: func() storage.Store { return store }})
	t.Cleanup(func() { _ = s.Stop(5 * time.Second) }) // it may be cut off
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/?multiStatements=true")
	must(t, err)
	defer db.Close()
	exec(t, db, "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1); SELECT * FROM d.t WHERE id = 1")
	sample := func(name string) float64 {
		t.Helper()
		resp, err := http.Get("http://" + s.MetricsAddr() + "/metrics")
		must(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s is not there", name)
		}
		v, err := strconv.ParseFloat(string(m[1]), 64)
		must(t, err)
		return v
	}
	for _, kind := range []string{"Get", "Commit", "Prewrite", "PessimisticLock"} {
		if v := sample(`sqlots_cluster_call_duration_seconds_count{call="` + kind + `"}`); v < 1 {
			t.Errorf("%v calls of %s", v, kind)
		}
	}
	if v := sample("sqlots_cluster_lease_seconds"); v < 0.1 || v > 1 {
		t.Errorf("the lease lasts %v seconds", v)
	}
	if v := sample("sqlots_cluster_commits_unknown_total"); v != 0 {
		t.Errorf("%v unknown commits", v)
	}
	n.Cut(true)
	ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond)
	defer cancel()
	if _, err := db.ExecContext(ctx, "SELECT * FROM d.t WHERE id = 1"); err == nil {
		t.Error("a read of a cluster that does not answer")
	}
	for end := time.Now().Add(20 * time.Second); sample("sqlots_cluster_lease_seconds") > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the lease goes on")
		}
	}
	resp, err := http.Get("http://" + s.MetricsAddr() + "/metrics")
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	if !strings.Contains(string(text), `,reason="no_answer"}`) {
		t.Error("lost calls are not counted")
	}
}
