package guard

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	if err := Run(func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
	err := Run(func() error { panic(io.ErrUnexpectedEOF) })
	var p *Panic
	if !errors.As(err, &p) || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(string(p.Stack), "TestRun") {
		t.Errorf("%v", err)
	}
	none := []int{}
	if err := Run(func() error { none[len(none)]++; return nil }); err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Error(err)
	}
}

func TestDo(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewTextHandler(&b, nil))
	Do(log, "quiet", func() {})
	if b.Len() > 0 {
		t.Error(b.String())
	}
	Do(log, "loud", func() { panic("no") })
	for _, want := range []string{"task=loud", "panic=no", "guard_test.go"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, b.String())
		}
	}
}
