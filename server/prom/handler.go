package prom

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/introspect"
)

// Build says what program runs.
type Build struct{ Version, Revision, Go string }

// Source is what the metrics are read from.
type Source struct {
	Engine *engine.Engine
	// MaxConnections is max_connections.
	MaxConnections func() int
	// Memory is the budget of the server, in bytes.
	Memory int64
}

// Handler answers /metrics. Before Open it has those of the process only.
type Handler struct {
	http.Handler
	build    Build
	started  time.Time
	notReady func() []string
	source   atomic.Pointer[opened]
}

// opened is a source with what is kept between scrapes.
type opened struct {
	Source
	server  *introspect.Server
	streams streamCache
}

// maxScrapes is how many scrapes run at a time; further ones get 503.
const maxScrapes = 4

// New makes a handler. notReady are the reasons why /readyz would say no.
func New(b Build, notReady func() []string, log *slog.Logger) *Handler {
	h := &Handler{build: b, started: time.Now(), notReady: notReady}
	registry := prometheus.NewRegistry()
	registry.MustRegister(h, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	h.Handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: errorLog{log}, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, EnableOpenMetrics: true,
	})
	return h
}

// Open adds the metrics of a server.
func (h *Handler) Open(s Source) {
	h.source.Store(&opened{Source: s, server: introspect.New(s.Engine)})
}

// Close takes them away again.
func (h *Handler) Close() { h.source.Store(nil) }

// errorLog is promhttp.Logger.
type errorLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l errorLog) Println(v ...any) { l.log.Error("metrics", "error", fmt.Sprint(v...)) }
