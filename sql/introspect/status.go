package introspect

import (
	_ "embed"
	"maps"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/infoschema"
)

// statusNames are the status variables of MySQL 8.4 (Server Status Variable
// Reference) with the value of a server that did nothing yet: "name value" by
// line, "name" alone for an empty one. Those that sqlots counts get their
// numbers from globalStatus.
//
//go:embed status.txt
var statusNames string

var idleStatus = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(statusNames), "\n") {
		name, v, _ := strings.Cut(line, " ")
		out[name] = v
	}
	return out
})

// GlobalStatus implements infoschema.Server.
func (e *Server) GlobalStatus() []infoschema.Variable {
	return sortedStatus(e.globalStatus())
}

// globalStatus is SHOW GLOBAL STATUS by name.
func (e *Server) globalStatus() map[string]string {
	m := e.engine.Metrics
	most, mostAt := m.MaxUsed()
	out := maps.Clone(idleStatus())
	addNumbers(out, m.Global())
	numbers := map[string]int64{
		"Uptime": int64(time.Since(e.engine.Started).Seconds()), "Uptime_since_flush_status": int64(time.Since(m.Flushed()).Seconds()),
		"Connections": m.Connections.Load(), "Threads_connected": int64(e.engine.Processes.Len()), "Threads_created": m.Connections.Load(),
		"Max_used_connections": int64(most), "Aborted_clients": m.AbortedClients.Load(), "Aborted_connects": m.AbortedConnects.Load(),
		"Connection_errors_max_connections": m.RefusedConnections.Load(), "Flush_commands": m.FlushCommands.Load(),
		"Performance_schema_digest_lost": m.Digests.Lost(),
		"Sqlots_memory_used":             e.engine.Memory.Used() + e.engine.Writes.Used(),
		"Threads_running":                0,
	}
	if e.engine.Spill != nil {
		numbers["Created_tmp_files"], numbers["Sqlots_spilled_bytes"] = e.engine.Spill.Total()
	}
	for _, p := range e.engine.Processes.List() {
		if p.Command != "Sleep" {
			numbers["Threads_running"]++
		}
	}
	for n, v := range e.engine.Store.Metrics() {
		numbers["Sqlots_storage_"+n] = v
	}
	for n, v := range numbers {
		out[n] = strconv.FormatInt(v, 10)
	}
	if !mostAt.IsZero() {
		out["Max_used_connections_time"] = mostAt.Format(time.DateTime)
	}
	return out
}

// addNumbers adds the counters and the kinds of statements to status variables.
func addNumbers(to map[string]string, n *metrics.Numbers) {
	_ = n.Variables(func(name string, v uint64) error {
		to[name] = strconv.FormatUint(v, 10)
		return nil
	})
}

// SessionStatus are the status variables that a session has for itself, by name.
func SessionStatus(n *metrics.Numbers) map[string]string {
	out := map[string]string{}
	addNumbers(out, n)
	return out
}

func sortedStatus(m map[string]string) []infoschema.Variable {
	out := make([]infoschema.Variable, 0, len(m))
	for n, v := range m {
		out = append(out, infoschema.Variable{Name: n, Value: v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
