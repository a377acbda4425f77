package httpd

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// queryHeader names a query, in a request and in the response.
const queryHeader = "X-Sqlots-Query-Id"

const maxQueryID = 64 // bytes

type queryKey struct {
	owner accountName
	id    string
}

// query is one that runs.
type query struct {
	key    queryKey
	guest  *mysqlwire.Guest
	cancel context.CancelCauseFunc
}

// running are the queries and loads that run. The zero value is empty.
type running struct {
	mu sync.Mutex
	m  map[queryKey]*query
}

// add is false where a query of the account with the id runs.
func (l *running) add(q *query) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m[q.key] != nil {
		return false
	}
	if l.m == nil {
		l.m = map[queryKey]*query{}
	}
	l.m[q.key] = q
	return true
}

func (l *running) remove(q *query) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.m, q.key)
}

// cancel ends the query of an account, false if none exists.
func (l *running) cancel(k queryKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.m[k]
	if q != nil {
		q.cancel(sqlerr.QueryInterrupted())
	}
	return q != nil
}

// cancelGuest ends what a guest runs.
func (l *running) cancelGuest(g *mysqlwire.Guest, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.m {
		if q.guest == g {
			q.cancel(cause)
		}
	}
}

// named are the connections of all queries with an id.
func (l *running) named(id string) (list []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, q := range l.m {
		if k.id == id {
			list = append(list, q.guest.ID)
		}
	}
	return list
}

// cancelQuery is DELETE /v1/query/{id}. Queries of other accounts are cancelled by KILL,
// which knows who may; who may not does not learn that they exist.
func (s *Server) cancelQuery(w http.ResponseWriter, r *http.Request) {
	b, ok := s.backend(w)
	if !ok {
		return
	}
	id, ok := s.identify(w, r, b)
	if !ok {
		return
	}
	name := r.PathValue("id")
	if s.running.cancel(queryKey{id.name(), name}) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	done := false
	if list := s.running.named(name); len(list) > 0 {
		g, err := s.enter(r.Context(), b, r, id, "", "", func() {})
		if err != nil {
			writeError(w, r, mysqlwire.ErrorOf(r.Context(), err))
			return
		}
		defer g.Close()
		for _, conn := range list {
			done = g.Query(r.Context(), "KILL QUERY "+strconv.FormatUint(conn, 10), &quiet{}) == nil || done
		}
	}
	if !done {
		writeProblem(w, http.StatusNotFound, "no such query runs")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
