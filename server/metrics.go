package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/server/prom"
	"github.com/sqlots/sqlots/sql/expr"
)

// Build says what program runs. The revision is empty where the program was built without
// one.
func Build() prom.Build {
	b := prom.Build{Version: expr.ServerVersion, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, x := range info.Settings {
			switch {
			case x.Key == "vcs.revision":
				b.Revision = x.Value + b.Revision
			case x.Key == "vcs.modified" && x.Value == "true":
				b.Revision += "+"
			}
		}
	}
	return b
}

// connectionCounter is mysqlwire.Counter.
type connectionCounter metrics.Connections

// Count implements mysqlwire.Counter.
func (c *connectionCounter) Count(e mysqlwire.ConnEvent) {
	switch e {
	case mysqlwire.ConnAttempt:
		c.Attempts.Add(1)
	case mysqlwire.ConnFull:
		c.Full.Add(1)
	case mysqlwire.ConnDenied:
		c.Denied.Add(1)
	case mysqlwire.ConnUnfinished:
		c.Unfinished.Add(1)
	case mysqlwire.ConnAborted:
		c.Aborted.Add(1)
	case mysqlwire.ConnInternal:
		c.Internal.Add(1)
	case mysqlwire.ConnNotAccepted:
		c.NotAccepted.Add(1)
	case mysqlwire.TLSBegun:
		c.TLSBegun.Add(1)
	case mysqlwire.TLSMade:
		c.TLSMade.Add(1)
	}
}

// Metrics answers /metrics.
func (s *Server) Metrics() http.Handler { return s.metrics }

// MetricsAddr is the address of Config.MetricsListen, which the configuration must name.
func (s *Server) MetricsAddr() string { return s.watchListener.Addr().String() }

// Bounds of the clients that read metrics.
const (
	metricsHeader  = 10 * time.Second
	metricsRequest = 30 * time.Second
)

// listenMetrics answers /metrics, /healthz and /readyz, first that the server is starting.
func (s *Server) listenMetrics() error {
	address := s.cfg.MetricsListen
	if address == "" {
		return nil
	}
	if !isLoopback(address) {
		return fmt.Errorf("--metrics: %s is no loopback address; metrics are served without an account, and to this machine only", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening for metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answerText(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.readyz)
	s.watch = &http.Server{Handler: mux, ReadHeaderTimeout: metricsHeader, ReadTimeout: metricsRequest, WriteTimeout: metricsRequest, MaxHeaderBytes: 16 << 10}
	s.watchListener = l
	s.serve(l, func(l net.Listener) error {
		if err := s.watch.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}

// readyz says whether to send clients here, and why not.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	reasons := s.NotReady()
	if len(reasons) == 0 {
		answerText(w, http.StatusOK, "ready")
		return
	}
	w.Header().Set("Retry-After", "1")
	answerText(w, http.StatusServiceUnavailable, strings.Join(reasons, "\n"))
}

func answerText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // a client that has gone
}

// stopMetrics ends the listener for metrics. It is idempotent.
func (s *Server) stopMetrics() {
	if s.watch != nil {
		_ = s.watch.Close()
	}
}
