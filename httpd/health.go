package httpd

import (
	"net/http"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") }

// readyz says whether to send clients here, and why not.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	b := s.open.Load()
	var reasons []string
	switch {
	case s.draining.Load():
		reasons = []string{"stopping"}
	case b == nil:
		reasons = []string{"starting"}
	default:
		reasons = b.NotReady()
	}
	if len(reasons) == 0 {
		writeText(w, http.StatusOK, "ready\n")
		return
	}
	w.Header().Set("Retry-After", "1")
	writeText(w, http.StatusServiceUnavailable, strings.Join(reasons, "\n")+"\n")
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// metrics are for this machine, if so configured, and for accounts that may see what others
// do.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Metrics == nil {
		writeProblem(w, http.StatusNotFound, "this server has no metrics")
		return
	}
	if s.cfg.LocalMetrics && fromHere(r) {
		s.cfg.Metrics.ServeHTTP(w, r)
		return
	}
	s.watched(w, r, s.cfg.Metrics)
}

// history is the last hour of what the server counts.
func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	if s.cfg.History == nil {
		writeProblem(w, http.StatusNotFound, "this server keeps no history")
		return
	}
	s.watched(w, r, s.cfg.History)
}

// watched answers by next, for an account that may watch.
func (s *Server) watched(w http.ResponseWriter, r *http.Request, next http.Handler) {
	b, ok := s.backend(w)
	if !ok {
		return
	}
	id, ok := s.identify(w, r, b)
	if !ok {
		return
	}
	if !b.MayWatch(&id.account) {
		writeError(w, r, sqlerr.PrivilegeNeeded("PROCESS"))
		return
	}
	next.ServeHTTP(w, r)
}

// backend is what the server is, unless it is starting or stopping: then it has answered.
func (s *Server) backend(w http.ResponseWriter) (*Backend, bool) {
	b := s.open.Load()
	switch {
	case b == nil:
		w.Header().Set("Retry-After", "1")
		writeProblem(w, http.StatusServiceUnavailable, "the server is starting")
		return nil, false
	case s.draining.Load():
		writeError(w, nil, sqlerr.ServerShutdown())
		return nil, false
	}
	return b, true
}
