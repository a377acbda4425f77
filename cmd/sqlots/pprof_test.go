package main

import (
	"io"
	"log/slog"
	"testing"
)

// Profiles are served on loopback addresses only.
func TestPprofAddress(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "127.0.0.1", "example.com:0"} {
		if stop, err := servePprof(addr, log); err == nil {
			stop()
			t.Errorf("%s was taken", addr)
		}
	}
	stop, err := servePprof("127.0.0.1:0", log)
	if err != nil {
		t.Fatal(err)
	}
	stop()
}
