package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/sqlots/sqlots/console"
	"github.com/sqlots/sqlots/httpd"
	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/introspect"
	"github.com/sqlots/sqlots/sql/priv"
)

// HTTPConfig configures HTTP.
type HTTPConfig struct {
	// Listen is the TCP address, "" for no HTTP. With a certificate it is HTTPS.
	Listen string
	// Hosts are the names of the server, in addition to addresses and localhost.
	Hosts []string
	// Insecure allows an address that others reach without TLS.
	Insecure bool
	// SessionIdle is how long a session is kept without a request, 0 for a minute.
	SessionIdle time.Duration
	// Metrics answers /metrics; nil for none.
	Metrics http.Handler
	// Console serves the web console, and keeps a history for it.
	Console bool
}

// checkHTTP refuses an address where passwords could be read on their way.
func checkHTTP(cfg Config) error {
	h := cfg.HTTP
	if h.Listen == "" || isLoopback(h.Listen) || cfg.TLSCert != "" || h.Insecure {
		return nil
	}
	return fmt.Errorf("--http: passwords would reach %s without TLS; start with --tls-cert and --tls-key, listen on a loopback address, such as 127.0.0.1:4080, or allow it with --http-insecure", h.Listen)
}

// listenHTTP answers HTTP, first that the server is starting.
func (s *Server) listenHTTP(c *tls.Config) error {
	h := s.cfg.HTTP
	if h.Listen == "" {
		return nil
	}
	l, err := net.Listen("tcp", h.Listen)
	if err != nil {
		return fmt.Errorf("listening for HTTP: %w", err)
	}
	if h.Metrics == nil {
		h.Metrics = s.metrics
	}
	cfg := httpd.Config{Hosts: h.Hosts, SessionIdle: h.SessionIdle, Metrics: h.Metrics, LocalMetrics: !s.cfg.RequireRootPassword, Logger: s.cfg.Log}
	if h.Console {
		s.history = console.NewHistory()
		cfg.Console, cfg.History = console.Handler(), s.history
	}
	if c != nil {
		s.httpTLS.Store(c)
		cfg.TLS = s.httpTLS.Load
	}
	s.http, s.httpListener = httpd.New(cfg), l
	s.serve(l, s.http.Serve)
	return nil
}

// openHTTP lets clients of HTTP in.
func (s *Server) openHTTP() {
	if s.http == nil {
		return
	}
	if s.history != nil {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		s.endHistory = func() { cancel(); <-done }
		go func() {
			defer close(done)
			guard.Do(s.cfg.Log, "keeping the history of numbers", func() { s.history.Run(ctx, s.watchedStatus) })
		}()
	}
	s.http.Open(httpd.Backend{
		Wire: s.wire, Memory: s.engine.Values, NotReady: s.NotReady,
		MaxPacket: func() int { return int(s.engine.Globals.Value("max_allowed_packet").Bits()) },
		MayWatch: func(a *mysqlwire.Account) bool {
			p := s.engine.Catalog.Snapshot().Privileges()
			name := priv.Name{User: a.User, Host: a.Host}
			return a.Open || p.Set(name, p.DefaultRoles(name)).Has(priv.Process, 0)
		},
	})
}

// watchedStatus is SHOW GLOBAL STATUS with what only the history shows.
func (s *Server) watchedStatus() map[string]string {
	x := introspect.New(s.engine)
	m := map[string]string{}
	for _, v := range x.GlobalStatus() {
		m[v.Name] = v.Value
	}
	if list := x.SearchIndexes(); len(list) > 0 {
		lag := time.Duration(0)
		for _, i := range list {
			lag = max(lag, i.Behind)
		}
		m["Sqlots_search_lag_ms"] = strconv.FormatInt(lag.Milliseconds(), 10)
	}
	return m
}

// HTTPAddr is the address of HTTP, which the configuration must name.
func (s *Server) HTTPAddr() string { return s.httpListener.Addr().String() }

// stopHTTP begins to stop HTTP, next to the wire, and returns what waits for it.
func (s *Server) stopHTTP(ctx context.Context) (wait func()) {
	if s.http == nil {
		return func() {}
	}
	if s.endHistory != nil {
		s.endHistory()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		guard.Do(s.cfg.Log, "stopping HTTP", func() { s.http.Shutdown(ctx) })
	}()
	return func() { <-done }
}
