package servertest

import (
	"testing"
	"time"

	"github.com/sqlots/sqlots/server"
)

// stopTimeout is how long statements may run on when a test ends.
const stopTimeout = 10 * time.Second

// Open starts a server that the test stops. It listens on a free port of loopback
// unless cfg says where, and keeps its data in memory unless cfg has a directory for
// them.
func Open(t testing.TB, cfg server.Config) *server.Server {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	cfg.InMemory = cfg.InMemory || cfg.DataDir == ""
	s, err := server.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal("starting a server:", err)
	}
	return s
}

// Start is Open for a server that runs until the test ends.
func Start(t testing.TB, cfg server.Config) *server.Server {
	t.Helper()
	s := Open(t, cfg)
	t.Cleanup(func() {
		if err := s.Stop(stopTimeout); err != nil {
			t.Error("stopping a server:", err)
		}
	})
	return s
}

// DSN is the data source name of root at a server, without a database.
func DSN(s *server.Server) string { return "root@tcp(" + s.Addr() + ")/" }
