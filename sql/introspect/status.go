package introspect

import (
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
func (e *Server) GlobalStatus() []infoschema.Variable {
	return sortedStatus(e.globalStatus())
}

// globalStatus is SHOW GLOBAL STATUS by name.
func (e *Server) globalStatus() map[string]string {
	c := &e.engine.Counters
	up := int64(time.Since(e.engine.Started).Seconds())
	numbers := map[string]int64{
		"Uptime": up, "Uptime_since_flush_status": up, "Questions": c.Questions.Load(), "Queries": c.Questions.Load(),
		"Com_select": c.Selects.Load(), "Com_insert": c.Inserts.Load(), "Com_update": c.Updates.Load(), "Com_delete": c.Deletes.Load(),
		"Connections": c.Connections.Load(), "Threads_connected": int64(e.engine.Processes.Len()), "Threads_created": c.Connections.Load(),
		"Slow_queries":           c.Slow.Load(),
		"Sqlots_plan_cache_hits": c.PlanHits.Load(), "Sqlots_plan_cache_misses": c.PlanMisses.Load(),
		"Sqlots_rows_sent": c.RowsSent.Load(), "Sqlots_errors": c.Errors.Load(), "Sqlots_memory_used": e.engine.Memory.Used() + e.engine.Writes.Used(),
		"Threads_running": 0,
	}
	log := e.engine.Audit
	numbers["Sqlots_audit_log_events"], numbers["Sqlots_audit_log_events_lost"], numbers["Sqlots_audit_log_current_size"] = log.Events(), log.Lost(), log.Size()
	numbers["Created_tmp_disk_tables"], numbers["Sort_merge_passes"] = e.engine.Spilled.Tables.Load(), e.engine.Spilled.Merges.Load()
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
