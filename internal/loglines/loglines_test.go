package loglines

import (
	"fmt"
	"log/slog"
	"testing"
)

func TestLines(t *testing.T) {
	h := New(slog.DiscardHandler)
	log := slog.New(h).With("part", "x").WithGroup("g")
	log.Debug("not kept")
	for i := range Most + 10 {
		log.Warn("line", "n", i)
	}
	got := h.Lines()
	if len(got) != Most {
		t.Fatalf("%d lines", len(got))
	}
	for i, l := range got {
		if want := fmt.Sprintf("line, part: x, g.n: %d", i+10); l.Text != want || l.Level != slog.LevelWarn {
			t.Fatalf("got %+v, want %q", l, want)
		}
	}
}
