package metamorphic

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

var (
	stepsFlag = flag.Int("meta.steps", 80, "steps of a history")
	onlyFlag  = flag.String("meta.only", "", "option sets whose name contains this; all if empty")
	forFlag   = flag.Duration("meta.for", 0, "go on for so long, whatever -rounds says")
	maxFlag   = flag.Int("meta.max", 3, "failures after which to stop")
)

func TestHistories(t *testing.T) {
	var players []*player
	for i, o := range sets() {
		if i == 0 || strings.Contains(o.name, *onlyFlag) && i%testflag.InShort(3, 1) == 0 {
			players = append(players, &player{host: newHost(t, &o)})
		}
	}
	end, failed, rounds, steps := time.Now().Add(*forFlag), 0, 0, 0
	for seed := testflag.Seed(1); rounds < testflag.Rounds(1, 1, 2) || time.Now().Before(end); seed++ {
		history := newHistory(seed, *stepsFlag)
		rounds, steps = rounds+1, steps+len(history)
		want := players[0].play(history)
		for _, p := range players[1:] {
			if d := difference(want, p.play(history)); d < 0 {
				continue
			}
			failed++
			report(t, seed, players[0], p, history)
			if failed >= *maxFlag {
				t.Fatalf("stopped after %d failures", failed)
			}
		}
		if t.Failed() && failed == 0 {
			return
		}
	}
	t.Logf("%d histories, %d steps, %d option sets", rounds, steps, len(players))
}

// difference is the first step with another outcome, or one that is broken everywhere,
// or -1.
func difference(want, got []string) int {
	for i := range want {
		if want[i] != got[i] || strings.HasPrefix(got[i], "broken") || strings.Contains(got[i], "|error|") {
			return i
		}
	}
	return -1
}

// long are texts that were made long.
var long = regexp.MustCompile("x{100,}|(yz){100,}")

// report reduces a history and prints what is left.
func report(t *testing.T, seed uint64, base, p *player, history []step) {
	t.Helper()
	whole := func(rest []step) []step { return append(history[:1:1], rest...) }
	reduced := whole(reduce(history[1:], func(rest []step) bool {
		return difference(base.play(whole(rest)), p.play(whole(rest))) >= 0
	}))
	want, got := base.play(reduced), p.play(reduced)
	var out strings.Builder
	for i, s := range reduced {
		fmt.Fprintf(&out, "%s\n", s.String())
		if want[i] != got[i] {
			fmt.Fprintf(&out, "  -- %s: %s\n  -- %s: %s\n", base.o.name, want[i], p.o.name, got[i])
		}
	}
	if n := len(reduced); want[n] != got[n] {
		fmt.Fprintf(&out, "  -- at the end: %s", firstDifference(want[n], got[n]))
	}
	t.Errorf("seed %d, %s (%d of %d steps):\n%s", seed, p.o.name, len(reduced), len(history), long.ReplaceAllString(out.String(), "x…"))
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	what := ""
	for i := range min(len(x), len(y)) {
		if strings.HasSuffix(x[i], ":") {
			what = x[i]
		}
		if x[i] != y[i] {
			return fmt.Sprintf("%s\n  %s\n  %s\n", what, x[i], y[i])
		}
	}
	return "one has more"
}

// String is the step as a statement.
func (s *step) String() string {
	text := strings.ReplaceAll(s.text, literal, "")
	parts := strings.Split(text, hint)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ""
	}
	text = strings.Join(parts, "")
	switch s.kind {
	case crash:
		return "-- crash"
	case load:
		var rows []string
		for _, r := range s.rows {
			rows = append(rows, "("+strings.ReplaceAll(strings.Join(r, ", "), literal, "")+")")
		}
		return "-- load: INSERT IGNORE INTO " + s.table + " (" + s.columns + ") VALUES " + strings.Join(rows, ", ") + ";"
	case expire:
		return "-- expired rows are removed"
	case build:
		return text + "; -- during: " + strings.NewReplacer(literal, "", hint, "").Replace(strings.Join(s.during, "; "))
	}
	return text + ";"
}

func TestReduce(t *testing.T) {
	var steps []step
	for i := range 100 {
		steps = append(steps, step{text: fmt.Sprint(i)})
	}
	tries := 0
	got := reduce(steps, func(s []step) bool {
		tries++
		found := 0
		for _, x := range s {
			if x.text == "17" || x.text == "18" || x.text == "93" {
				found++
			}
		}
		return found == 3
	})
	if len(got) != 3 || tries > 150 {
		t.Errorf("%d steps are left after %d tries", len(got), tries)
	}
}
