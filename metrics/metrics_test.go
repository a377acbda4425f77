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

// TestBelow: cumulative counts over bounds that are not those of buckets.
func TestBelow(t *testing.T) {
	var h metrics.Histogram
	bounds := []time.Duration{time.Microsecond, time.Millisecond, 25 * time.Millisecond, time.Second, time.Hour}
	for _, d := range []time.Duration{0, 900, 500 * time.Microsecond, 990 * time.Microsecond, 1100 * time.Microsecond, 20 * time.Millisecond, 2 * time.Second, 24 * time.Hour} {
		h.Add(d)
	}
	if got, want := h.Below(bounds), []uint64{2, 4, 6, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if got := new(metrics.Histogram).Below(bounds[:2]); !slices.Equal(got, []uint64{0, 0}) {
		t.Errorf("%v of nothing", got)
	}
}

// TestClasses: errors have the class of what their client has to do.
func TestClasses(t *testing.T) {
	for number, want := range map[uint16]string{1064: "syntax", 1062: "constraint", 1213: "lock", 3170: "memory", 1021: "disk", 1194: "disk", 1045: "access", 1142: "access", 3024: "interrupted", 1053: "interrupted", 1105: "internal", 9999: "other"} {
		if got := metrics.ClassOf(number).String(); got != want {
			t.Errorf("%d is of class %s, not %s", number, got, want)
		}
	}
}

// TestBusy: each statement counts for one call.
func TestBusy(t *testing.T) {
	s := metrics.NewServer(metrics.Config{})
	a, b := s.Open(1, "a", "h"), s.Open(2, "b", "h")
	check := func(sessions int, statements uint64) {
		t.Helper()
		if x, n := s.Busy(); x != sessions || n != statements {
			t.Errorf("%d sessions, %d statements, want %d and %d", x, n, sessions, statements)
		}
	}
	check(0, 0)
	for range 3 {
		a.Record(&metrics.Event{})
	}
	check(1, 3)
	check(0, 0)
	a.Record(&metrics.Event{})
	b.Record(&metrics.Event{})
	check(2, 2)
	a.Record(&metrics.Event{})
	b.Record(&metrics.Event{})
	s.FlushStatus()
	s.ResetHistory()
	b.Close()
	check(1, 1)
}
