package session

import (
	"crypto/tls"
	_ "embed"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

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
func (e *introspection) GlobalStatus() []infoschema.Variable {
	return sortedStatus(e.globalStatus())
}

// globalStatus is SHOW GLOBAL STATUS by name.
func (e *introspection) globalStatus() map[string]string {
	c := &e.counters
	up := int64(time.Since(e.started).Seconds())
	numbers := map[string]int64{
		"Uptime": up, "Uptime_since_flush_status": up, "Questions": c.questions.Load(), "Queries": c.questions.Load(),
		"Com_select": c.selects.Load(), "Com_insert": c.inserts.Load(), "Com_update": c.updates.Load(), "Com_delete": c.deletes.Load(),
		"Connections": c.connections.Load(), "Threads_connected": int64(e.processes.Len()), "Threads_created": c.connections.Load(),
		"Slow_queries":           c.slow.Load(),
		"Sqlots_plan_cache_hits": c.planHits.Load(), "Sqlots_plan_cache_misses": c.planMisses.Load(),
		"Sqlots_rows_sent": c.rowsSent.Load(), "Sqlots_errors": c.errors.Load(), "Sqlots_memory_used": e.memory.Used(),
		"Threads_running": 0,
	}
	numbers["Created_tmp_disk_tables"], numbers["Sort_merge_passes"] = e.spilled.Tables.Load(), e.spilled.Merges.Load()
	if e.spill != nil {
		numbers["Created_tmp_files"], numbers["Sqlots_spilled_bytes"] = e.spill.Total()
	}
	for _, p := range e.processes.List() {
		if p.Command != "Sleep" {
			numbers["Threads_running"]++
		}
	}
	for n, v := range e.store.Metrics() {
		numbers["Sqlots_storage_"+n] = v
	}
	out := make(map[string]string, len(numbers)+len(idleStatus()))
	for n, v := range idleStatus() {
		out[n] = v
	}
	for n, v := range numbers {
		out[n] = fmt.Sprint(v)
	}
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

// Status implements infoschema.Session: the server's numbers, and what is the
// connection's own.
func (s *introspected) Status() []infoschema.Variable {
	m := (*introspection)(s.engine).globalStatus()
	if t := s.info.TLS; t != nil {
		m["Ssl_cipher"] = tls.CipherSuiteName(t.CipherSuite)
		m["Ssl_cipher_list"] = m["Ssl_cipher"]
		m["Ssl_version"] = strings.Replace(tls.VersionName(t.Version), " ", "v", 1)
	}
	m["Prepared_stmt_count"] = fmt.Sprint(len(s.prepared) + len(s.named))
	return sortedStatus(m)
}
