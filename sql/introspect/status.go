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
	out := maps.Clone(idleStatus())
	all := m.Global()
	addNumbers(out, all)
	most, mostAt := m.MaxUsed()
	c := &m.Connections
	numbers := map[string]int64{
		"Uptime": int64(time.Since(e.engine.Started).Seconds()), "Uptime_since_flush_status": int64(time.Since(m.Flushed()).Seconds()),
		"Connections": c.Attempts.Load(), "Threads_connected": int64(e.engine.Processes.Len()), "Threads_created": c.Attempts.Load(),
		"Threads_running": e.engine.Processes.Sum().Running, "Max_used_connections": int64(most),
		"Aborted_clients": c.Aborted.Load(), "Aborted_connects": c.Denied.Load() + c.Unfinished.Load() + c.Internal.Load(),
		"Connection_errors_max_connections": c.Full.Load(), "Connection_errors_accept": c.NotAccepted.Load(), "Connection_errors_internal": c.Internal.Load(),
		"Ssl_accepts": c.TLSBegun.Load(), "Ssl_finished_accepts": c.TLSMade.Load(),
		"Flush_commands": m.FlushCommands.Load(), "Prepared_stmt_count": m.Prepared(), "Performance_schema_digest_lost": m.Digests.Lost(),
		"Table_locks_immediate": e.engine.Locks.Immediate(),
		"Open_tables":           e.engine.Codecs.Len(), "Open_table_definitions": e.engine.Codecs.Len(),
		"Opened_tables": e.engine.Codecs.Opened(), "Opened_table_definitions": e.engine.Codecs.Opened(), "Table_open_cache_misses": e.engine.Codecs.Opened(),
		"Sqlots_memory_used":  e.engine.Memory.Used() + e.engine.Writes.Used(),
		"Sqlots_memory_limit": e.engine.Memory.Limit(),
	}
	log := e.engine.Audit
	numbers["Sqlots_audit_log_events"], numbers["Sqlots_audit_log_events_lost"], numbers["Sqlots_audit_log_current_size"] = log.Events(), log.Lost(), log.Size()
	addRows(numbers, all)
	if e.engine.Spill != nil {
		numbers["Created_tmp_files"], numbers["Sqlots_spilled_bytes"] = e.engine.Spill.Total()
	}
	store := e.engine.Store.Metrics()
	addStore(numbers, store)
	for n, v := range store {
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

// addRows adds what InnoDB counts of rows.
func addRows(to map[string]int64, all *metrics.Numbers) {
	to["Innodb_rows_read"] = int64(all.Counter(metrics.RowsExamined))
	to["Innodb_rows_inserted"] = int64(all.Counter(metrics.HandlerWrite))
	to["Innodb_rows_updated"] = int64(all.Counter(metrics.HandlerUpdate))
	to["Innodb_rows_deleted"] = int64(all.Counter(metrics.HandlerDelete))
}

// pageSize is Innodb_page_size, in which the cache of blocks is shown.
const pageSize = 16 << 10

// addStore adds what InnoDB counts of locks, its buffer pool, files and log. The pool is
// the cache of blocks, to which the write buffers belong: they are its dirty pages.
func addStore(to, store map[string]int64) {
	to["Innodb_row_lock_waits"], to["Innodb_row_lock_current_waits"] = store["lock_waits"], store["lock_waiting"]
	to["Innodb_row_lock_time"], to["Innodb_row_lock_time_max"] = store["lock_wait_usecs"]/1000, store["lock_wait_max_usecs"]/1000
	if n := store["lock_waits"]; n > 0 {
		to["Innodb_row_lock_time_avg"] = to["Innodb_row_lock_time"] / n
	}
	dirty, clean := store["memtable_bytes"], store["block_cache_bytes"]
	total := store["block_cache_capacity"] / pageSize
	data := min((dirty+clean+pageSize-1)/pageSize, total)
	to["Innodb_buffer_pool_pages_total"], to["Innodb_buffer_pool_pages_data"], to["Innodb_buffer_pool_pages_free"] = total, data, total-data
	to["Innodb_buffer_pool_pages_dirty"], to["Innodb_buffer_pool_pages_flushed"] = min(dirty/pageSize, data), store["flushed_bytes"]/pageSize
	to["Innodb_buffer_pool_bytes_data"], to["Innodb_buffer_pool_bytes_dirty"] = dirty+clean, dirty
	to["Innodb_buffer_pool_read_requests"], to["Innodb_buffer_pool_reads"] = store["block_cache_hits"]+store["block_cache_misses"], store["block_cache_misses"]
	to["Innodb_buffer_pool_write_requests"], to["Innodb_buffer_pool_wait_free"] = store["commits"], store["write_stalls"]
	to["Innodb_pages_read"], to["Innodb_pages_written"] = store["read_bytes"]/pageSize, (store["flushed_bytes"]+store["compacted_bytes"])/pageSize
	to["Innodb_pages_created"] = store["flushed_bytes"] / pageSize
	to["Innodb_data_reads"], to["Innodb_data_read"] = store["reads"], store["read_bytes"]
	to["Innodb_data_writes"], to["Innodb_data_written"], to["Innodb_data_fsyncs"] = store["writes"], store["write_bytes"], store["syncs"]
	to["Innodb_os_log_written"], to["Innodb_os_log_fsyncs"] = store["wal_written_bytes"], store["wal_syncs"]
	to["Innodb_log_writes"], to["Innodb_log_write_requests"], to["Innodb_log_waits"] = store["wal_writes"], store["commits"], store["write_stalls"]
	to["Innodb_num_open_files"], to["Open_files"] = store["open_files"], store["open_files"]
}

// addNumbers adds the counters and the kinds of statements to status variables.
func addNumbers(to map[string]string, n *metrics.Numbers) {
	_ = n.Variables(func(name string, v uint64) error {
		to[name] = strconv.FormatUint(v, 10)
		return nil
	})
	// A plan that is cached has its tables open.
	to["Table_open_cache_hits"] = to[metrics.PlanCacheHits.Variable()]
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
