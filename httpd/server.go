package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
)

// Config configures a Server.
type Config struct {
	// TLS serves HTTPS with the certificates that it gives at each connection; nil: HTTP.
	TLS func() *tls.Config
	// Hosts are the names by which clients may reach the server, in addition to addresses
	// and localhost.
	Hosts []string
	// SessionIdle is how long a session of POST /v1/session is kept without a request, 60 s
	// if 0.
	SessionIdle time.Duration
	// Metrics answers GET /metrics; nil: 404.
	Metrics http.Handler
	// LocalMetrics lets clients of this machine read metrics without an account.
	LocalMetrics bool
	// History answers GET /v1/history, for those who may watch; nil: 404.
	History http.Handler
	// Console answers / and /console/…; nil: a page that names the API. It may replace the
	// header Content-Security-Policy.
	Console http.Handler
	Logger  *slog.Logger
}

// Backend is what the server is when it has started.
type Backend struct {
	// Wire has the accounts, the limits and the sessions.
	Wire *mysqlwire.Server
	// Memory counts bodies of requests.
	Memory mysqlwire.Memory
	// MaxPacket is the most bytes of a statement.
	MaxPacket func() int
	// NotReady are reasons not to send clients here; none if the server is ready.
	NotReady func() []string
	// MayWatch reports whether an account may read metrics.
	MayWatch func(a *mysqlwire.Account) bool
}

const (
	maxHeaderBytes = 32 << 10
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	readTimeout    = 30 * time.Second // between bytes of a body
	writeTimeout   = 60 * time.Second // for small answers
	maxConnections = 4096
	maxStreams     = 1000 // queries and loads at once
	forceAfter     = 2 * time.Second
)

// Server answers HTTP. Its methods may be called concurrently.
type Server struct {
	cfg      Config
	hosts    map[string]bool
	http     http.Server
	open     atomic.Pointer[Backend]
	draining atomic.Bool
	streams  chan struct{}
	requests sync.WaitGroup
	running  running
	sessions sessions
	logins   logins
	handler  http.Handler
}

// New makes a server, which answers that it is starting until Open.
func New(cfg Config) *Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.SessionIdle == 0 {
		cfg.SessionIdle = time.Minute
	}
	s := &Server{cfg: cfg, hosts: map[string]bool{"localhost": true}, streams: make(chan struct{}, maxStreams)}
	for _, h := range cfg.Hosts {
		s.hosts[strings.ToLower(strings.TrimSuffix(h, "."))] = true
	}
	s.handler = s.guarded(s.routes())
	s.http = http.Server{
		Handler: s.handler, MaxHeaderBytes: maxHeaderBytes, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug), Protocols: &http.Protocols{},
	}
	s.http.Protocols.SetHTTP1(true)
	return s
}

// route is an answer to a method and a path, as in http.ServeMux.
type route struct {
	pattern string
	handle  http.HandlerFunc
}

// list is all routes, without those of the console.
func (s *Server) list() []route {
	return []route{
		{"GET /healthz", s.healthz},
		{"GET /readyz", s.readyz},
		{"GET /metrics", s.metrics},
		{"GET /v1/history", s.history},
		{"GET /v1/openapi.json", s.openapi},
		{"POST /v1/login", s.login},
		{"POST /v1/logout", s.logout},
		{"POST /v1/query", s.query},
		{"DELETE /v1/query/{id}", s.cancelQuery},
		{"POST /v1/load", s.load},
		{"PUT /v1/load", s.load}, // curl -T
		{"POST /v1/session", s.openSession},
		{"DELETE /v1/session/{id}", s.closeSession},
	}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.list() {
		mux.HandleFunc(r.pattern, r.handle)
	}
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, http.StatusNotFound, "no such path or method: see /v1/openapi.json")
	})
	if s.cfg.Console != nil {
		mux.Handle("/console/", s.cfg.Console)
		mux.Handle("/{$}", s.cfg.Console)
	} else {
		mux.HandleFunc("GET /{$}", plainPage)
	}
	return mux
}

const page = `sqlots

POST /v1/query           run SQL: curl -u root: --data-binary 'SELECT 1' http://HOST/v1/query
POST /v1/load            load CSV, TSV or JSON lines into a table
GET  /v1/openapi.json    all of the interface
GET  /healthz, /readyz   health
`

func plainPage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(strings.ReplaceAll(page, "HOST", r.Host)))
}

// guarded is what precedes each request: headers, the host, other origins, and the
// panics of what follows.
func (s *Server) guarded(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		defer s.requests.Done()
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "")
		h.Set("Cache-Control", "no-store")
		// A handler that streams sets deadlines of its own.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
		if !s.knows(r.Host) {
			writeProblem(w, http.StatusMisdirectedRequest, "this host name is not served: use an address, or start the server with --http-host NAME")
			return
		}
		if err := crossOrigin.Check(r); err != nil {
			writeProblem(w, http.StatusForbidden, "requests from pages of other origins are refused")
			return
		}
		err := guard.Run(func() error { next.ServeHTTP(w, r); return nil })
		var p *guard.Panic
		if errors.As(err, &p) {
			if p.Value == http.ErrAbortHandler { //nolint:errorlint // it is thrown as such
				panic(http.ErrAbortHandler)
			}
			guard.Log(s.cfg.Logger, "answering "+r.Method+" "+r.URL.Path, err)
			panic(http.ErrAbortHandler)
		}
	})
}

// knows reports whether a Host header may be that of a client that meant this server: a
// name of another site that leads here would let pages of that site in.
func (s *Server) knows(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return s.hosts[strings.ToLower(strings.TrimSuffix(host, "."))]
}

// Serve accepts connections until Shutdown, and closes l. Errors are those of accepting.
func (s *Server) Serve(l net.Listener) error {
	l = &limited{Listener: l}
	if s.cfg.TLS != nil {
		l = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if c := s.cfg.TLS(); c != nil {
				return c, nil
			}
			return nil, errors.New("the server has no certificate")
		}})
	}
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return nil
}

// limited closes connections that are too many.
type limited struct {
	net.Listener
	n atomic.Int64
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.n.Add(1) <= maxConnections {
			return &limitedConn{Conn: c, l: l}, nil
		}
		l.n.Add(-1)
		_ = c.Close()
	}
}

type limitedConn struct {
	net.Conn
	l    *limited
	once sync.Once
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.once.Do(func() { c.l.n.Add(-1) })
	return c.Conn.Close()
}

// Open lets clients in.
func (s *Server) Open(b Backend) { s.open.Store(&b) }

// Shutdown stops accepting and closes idle sessions. It lets requests end until ctx does;
// what runs then has to be cancelled by the shutdown of the wire, and is cut off soon after.
// It returns when no request is left.
func (s *Server) Shutdown(ctx context.Context) {
	s.draining.Store(true)
	s.sessions.closeIdle()
	if s.http.Shutdown(ctx) != nil {
		force, cancel := context.WithTimeout(context.Background(), forceAfter)
		defer cancel()
		if s.http.Shutdown(force) != nil {
			_ = s.http.Close()
		}
	}
	s.requests.Wait()
	s.sessions.closeIdle()
}
