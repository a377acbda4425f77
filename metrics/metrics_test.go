package metrics_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/metrics"
)

// TestHistogram: every duration is in the bucket whose bounds are around it, and
// quantiles are at most a sixteenth above the true ones.
func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range metrics.NumBuckets {
		low, high := metrics.BucketBounds(i)
		if next, _ := metrics.BucketBounds(i + 1); high != next || low >= high {
			t.Fatalf("bucket %d is from %d to %d, the next from %d", i, low, high, next)
		}
	}
	var h metrics.Histogram
	var all []time.Duration
	for range 100_000 {
		d := time.Duration(1<<r.IntN(41) + r.Int64N(1<<r.IntN(41)))
		all = append(all, d)
		one := metrics.Histogram{}
		one.Add(d)
		one.Buckets(func(i int, n uint64) bool {
			if low, high := metrics.BucketBounds(i); n > 0 && (d < low || d >= high) && i < metrics.NumBuckets-1 {
				t.Fatalf("%d is in the bucket from %d to %d", d, low, high)
			}
			return true
		})
		h.Merge(&one)
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.5, 0.95, 0.99, 0.999, 1} {
		want := all[max(int(q*float64(len(all)))-1, 0)]
		if got := h.Quantile(q); got < want || float64(got) > max(float64(want)*17/16+1, 2048) {
			t.Errorf("quantile %g is %s, not %s", q, got, want)
		}
	}
	if h.Count != uint64(len(all)) {
		t.Errorf("%d durations of %d", h.Count, len(all))
	}
}

// TestSums: what sessions record at the same time is in all sums, while they are open
// and after.
func TestSums(t *testing.T) {
	s := metrics.NewServer(metrics.Config{Digests: 3, Accounts: 2})
	const sessions, statements = 8, 1000
	digests := []string{"a", "b", "c", "d", "e"}
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			x := s.Open(uint64(i), string(rune('u'+i%3)), "h")
			for j := range statements {
				text := digests[j%len(digests)]
				e := metrics.Event{Command: metrics.CommandOf("select"), Digest: s.Digests.Get("", text, text), Start: time.Now(), Duration: time.Millisecond, Sent: 2, Text: strings.Repeat("x", 2000)}
				e.Work[metrics.RowsExamined] = 3
				if j%10 == 0 {
					e.Errno = 1062
				}
				x.Record(&e)
				if e.ID != uint64(j+1) {
					t.Errorf("event %d has the number %d", j+1, e.ID)
				}
			}
			if h := x.History(); len(h) != metrics.HistoryLength || h[0].ID != statements-metrics.HistoryLength+1 || len(h[0].Text) != metrics.MaxText {
				t.Errorf("the history has %d events from %d on", len(h), h[0].ID)
			}
			if i%2 == 0 {
				x.Close()
				x.Close()
			}
		})
	}
	wg.Wait()
	const all = sessions * statements
	check := func(what string, n *metrics.Numbers, want uint64) {
		t.Helper()
		totals, times := n.Totals(metrics.CommandOf("select"))
		if got := []uint64{n.Started(metrics.CommandOf("select")), n.Counter(metrics.Questions), n.Counter(metrics.RowsSent) / 2, n.Counter(metrics.RowsExamined) / 3, n.Counter(metrics.StatementErrors) * 10, totals.Count, times.Count, totals.Of(metrics.RowsExamined) / 3}; slices.ContainsFunc(got, func(x uint64) bool { return x != want }) {
			t.Errorf("%s: %d, not %d", what, got, want)
		}
	}
	check("global", s.Global(), all)
	var total metrics.Totals
	var lost uint64
	for _, d := range s.Digests.List() {
		n := d.Numbers()
		total.Merge(&n.Totals)
		if d.Hash == "" {
			lost = n.Totals.Count
		}
	}
	if total.Count != all || lost != all*2/5 || s.Digests.Lost() != int64(lost) {
		t.Errorf("%d executions of all digests, %d (%d) of those without a place", total.Count, lost, s.Digests.Lost())
	}
	var count, open, ever uint64
	list := s.Accounts()
	for _, a := range list {
		count += s.Of(a).Counter(metrics.Questions)
		open += uint64(a.Open)
		ever += uint64(a.Total)
	}
	if count != all || open != sessions/2 || ever != sessions || len(list) != 3 {
		t.Errorf("%d accounts with %d statements, %d of %d sessions are open", len(list), count, open, ever)
	}
	s.FlushStatus()
	check("global after FLUSH STATUS", s.Global(), all)
	for _, x := range s.Sessions() {
		if n := x.Numbers().Counter(metrics.Questions); n != 0 {
			t.Errorf("a session has %d statements after FLUSH STATUS", n)
		}
	}
	old := s.Digests.Get("", "a", "a")
	s.Digests.Reset()
	s.ResetStatements()
	if totals, _ := s.Global().Totals(metrics.CommandOf("select")); totals.Count != 0 || s.Global().Started(metrics.CommandOf("select")) != all || !old.Gone() || len(s.Digests.List()) != 1 {
		t.Error("something is left of the statements, or too little of the status variables")
	}
}

// TestCommands: kinds and counters have one variable each.
func TestCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range metrics.Commands() {
		if c.Variable() != "" && (metrics.CommandOf(c.String()) != c || seen[c.Variable()]) {
			t.Errorf("%s", c)
		}
		seen[c.Variable()] = true
	}
	for c := range metrics.NumCounters {
		if c.Variable() == "" || seen[c.Variable()] {
			t.Errorf("counter %d is %q", c, c.Variable())
		}
		seen[c.Variable()] = true
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, digest := range []bool{false, true} {
		b.Run(map[bool]string{false: "without digest", true: "with digest"}[digest], func(b *testing.B) {
			s := metrics.NewServer(metrics.Config{})
			x := s.Open(1, "u", "h")
			e := metrics.Event{Command: metrics.CommandOf("select"), Start: time.Now(), Duration: 30 * time.Microsecond, Text: "SELECT 1"}
			if digest {
				e.Digest = s.Digests.Get("", "h", "SELECT ?")
			}
			b.ReportAllocs()
			for b.Loop() {
				x.Record(&e)
			}
		})
	}
}
