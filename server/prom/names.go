package prom

import "github.com/prometheus/client_golang/prometheus"

// Metric is the definition of a metric.
type Metric struct {
	Name, Help string
	// Kind is "counter", "gauge" or "histogram".
	Kind   string
	Labels []string
	desc   *prometheus.Desc
	kind   prometheus.ValueType
}

var defined []*Metric

// Metrics are the definitions of all metrics, except those of the Go runtime and the
// process.
func Metrics() []*Metric { return defined }

func define(kind, name, help string, labels []string) *Metric {
	m := &Metric{Name: "sqlots_" + name, Help: help, Kind: kind, Labels: labels, kind: prometheus.GaugeValue}
	if kind == "counter" {
		m.kind = prometheus.CounterValue
	}
	m.desc = prometheus.NewDesc(m.Name, help, labels, nil)
	defined = append(defined, m)
	return m
}

func counter(name, help string, labels ...string) *Metric {
	return define("counter", name, help, labels)
}

func gauge(name, help string, labels ...string) *Metric { return define("gauge", name, help, labels) }

func histogram(name, help string, labels ...string) *Metric {
	return define("histogram", name, help, labels)
}

// The metrics of the server.
var (
	buildInfo = gauge("build_info", "1, with the version of the server, its revision and that of Go.", "version", "revision", "go")
	startTime = gauge("start_time_seconds", "When the server started, in seconds since 1970.")
	ready     = gauge("ready", "Whether the server takes clients and their writes, as /readyz says.")
	scrape    = gauge("scrape_duration_seconds", "How long it took to collect these metrics.")
)

// Those of connections.
var (
	connections        = gauge("connections", "Connections that are logged in, by what they do: running, idle, idle_in_transaction.", "state")
	connectionsMax     = gauge("connections_max", "Most connections at a time, max_connections.")
	connectionsTotal   = counter("connections_total", "Clients that have connected, whether or not they logged in.")
	connectionsRefused = counter("connections_refused_total", "Clients that have not logged in: full, denied, unfinished, not_accepted, internal.", "reason")
	connectionsAborted = counter("connections_aborted_total", "Clients that were logged in and ended without a word.")
	tlsHandshakes      = counter("tls_handshakes_total", "Handshakes of TLS: made, failed.", "outcome")
	bytesReceived      = counter("received_bytes_total", "Bytes that clients have sent, without compression and TLS.")
	bytesSent          = counter("sent_bytes_total", "Bytes that clients were sent, without compression and TLS.")
	prepared           = gauge("prepared_statements", "Prepared statements of all connections.")
)

// Those of statements.
var (
	statements        = counter("statements_total", "Statements that have ended, by kind: the Com_ variables of MySQL without Com_.", "command")
	statementErrors   = counter("statement_errors_total", "Statements that have ended with an error, by class.", "class")
	statementDuration = histogram("statement_duration_seconds", "How long statements took, by kind. Empty with --performance-schema=false.", "command")
	slowStatements    = counter("slow_statements_total", "Statements that took longer than long_query_time.")
	rowsSent          = counter("rows_sent_total", "Rows that clients were sent.")
	rowsExamined      = counter("rows_examined_total", "Rows and entries of indexes that statements have read.")
	rowsWritten       = counter("rows_written_total", "Rows that statements have written: insert, update, delete.", "op")
	accessPaths       = counter("access_paths_total", "How statements have read tables: point, range, index, search, full_scan.", "path")
	sortRows          = counter("sorted_rows_total", "Rows that statements have sorted.")
	planCacheHits     = counter("plan_cache_hits_total", "Statements whose plan was cached.")
	planCacheMisses   = counter("plan_cache_misses_total", "Statements whose plan was not cached.")
	openTables        = gauge("open_tables", "Tables whose definition is prepared for reads and writes.")
	digests           = gauge("digests", "Normalised statements that are counted apart.")
)

// Those of transactions and locks.
var (
	transactions      = counter("transactions_total", "Transactions that have ended: commit, rollback.", "outcome")
	transactionsOpen  = gauge("transactions_open", "Transactions that are open, without those of single statements.")
	transactionOldest = gauge("transaction_oldest_seconds", "How long the oldest of them has been open, 0 for none.")
	lockWaits         = counter("lock_waits_total", "Requests of row locks that had to wait.")
	lockWaitSeconds   = counter("lock_wait_seconds_total", "How long requests of row locks have waited.")
	lockWaiting       = gauge("lock_waiting", "Requests of row locks that wait.")
	deadlocks         = counter("deadlocks_total", "Transactions that were rolled back to end a deadlock.")
	tableLockWaits    = counter("table_lock_waits_total", "Statements that have waited for a metadata lock.")
)

// Those of memory.
var (
	memory       = gauge("memory_bytes", "What is counted of the memory: statements, values, transactions, block_cache, write_buffers, scan_cache, filters, search.", "part")
	memoryLimit  = gauge("memory_limit_bytes", "The part of the memory that statements, values and transactions may hold each, and that of the block cache.", "part")
	memoryBudget = gauge("memory_budget_bytes", "The budget of the server, --memory.")
	spilledBytes = counter("spilled_bytes_total", "Bytes that statements have written to temporary files.")
	tempFiles    = counter("temp_files_total", "Temporary files that statements have made.")
	tempBytes    = gauge("temp_file_bytes", "Bytes of temporary files.")
)

// Those of the store.
var (
	storageBytes     = gauge("storage_bytes", "Bytes on disk: tables, values, wal, search, all.", "kind")
	diskFree         = gauge("disk_free_bytes", "Free bytes of the file system of the data directory.")
	diskReserve      = gauge("disk_reserve_bytes", "Free bytes below which writes are refused.")
	writesRefused    = gauge("writes_refused", "1 while writes are refused: the disk is full, or has failed.")
	damagedFiles     = gauge("damaged_files", "Files of the store in which damage was found since the start.")
	commits          = counter("commits_total", "Commits of the store, of statements and of the server itself.")
	commitSync       = histogram("commit_sync_seconds", "How long syncs of the log took. Commits at the same time share one.")
	cacheHits        = counter("block_cache_hits_total", "Blocks that were in the cache.")
	cacheMisses      = counter("block_cache_misses_total", "Blocks that were read from files.")
	fileReads        = counter("storage_reads_total", "Reads of files of tables and values.")
	fileReadBytes    = counter("storage_read_bytes_total", "Bytes of these reads.")
	fileWrites       = counter("storage_writes_total", "Writes of files of the store.")
	fileWriteBytes   = counter("storage_write_bytes_total", "Bytes of these writes.")
	walBytes         = counter("wal_written_bytes_total", "Bytes that were written to the log.")
	flushes          = counter("flushes_total", "Write buffers that were written to tables.")
	flushedBytes     = counter("flushed_bytes_total", "Bytes of these tables.")
	compactions      = counter("compactions_total", "Compactions that have ended.")
	compactedBytes   = counter("compacted_bytes_total", "Bytes that compactions have written.")
	compactionFailed = counter("compactions_failed_total", "Compactions that have failed.")
	compactionDebt   = gauge("compaction_debt_bytes", "About how many bytes compactions still have to write.")
	writeStalls      = counter("write_stalls_total", "How often writes had to wait for flushes or compactions.")
	writeStallTime   = counter("write_stall_seconds_total", "How long writes had to wait for them.")
	readAmp          = gauge("read_amplification", "Files that a read of one key may have to look into.")
	l0Sublevels      = gauge("l0_sublevels", "Layers of tables that are not compacted yet.")
	openFiles        = gauge("storage_open_files", "Files of tables and values that are open.")
)

// Those of a store in a cluster (--store).
var (
	clusterCalls   = histogram("cluster_call_duration_seconds", "How long calls of the cluster took that were answered, by kind; TSO are timestamps. Only with --store.", "call")
	clusterErrors  = counter("cluster_call_errors_total", "Calls that were lost or timed out (no_answer), and answers that say to come again or go elsewhere, by reason: not_leader, epoch_not_match, server_is_busy and others. The server does so. Only with --store.", "call", "reason")
	clusterLease   = gauge("cluster_lease_seconds", "How long the store belongs to this server unless it renews that, which it does each second: about 20. 0 when it has lost the store. Only with --store.")
	clusterUnknown = counter("cluster_commits_unknown_total", "Commits whose outcome the cluster did not say (error 1180). Only with --store.")
)

// Those of search indexes, change logs and work in the background.
var (
	searchLag       = gauge("search_lag_seconds", "About how long the first change that an index does not have has waited.", "database", "table", "index")
	searchDocuments = gauge("search_documents", "Rows of a search index.", "database", "table", "index")
	searchSegments  = gauge("search_segments", "Segments of a search index.", "database", "table", "index")
	searchRejected  = gauge("search_rejected", "Rows of which a field of the index could not take the value.", "database", "table", "index")
	searchState     = gauge("search_state", "1 for the state of a search index: building, ready, failed.", "database", "table", "index", "state")
	streamBytes     = gauge("stream_bytes", "About the bytes of a change log.", "database", "table")
	consumerLag     = gauge("consumer_lag_seconds", "How long ago the first record was committed that a consumer has not confirmed.", "consumer", "database", "table")
	consumerBehind  = gauge("consumer_behind", "1 for a consumer of which records were removed that it has not confirmed.", "consumer", "database", "table")
	jobsRunning     = gauge("jobs_running", "Work in the background that is being done.", "kind")
	jobFailures     = counter("job_failures_total", "Turns of work in the background that have failed.", "kind")
	jobSuccess      = gauge("job_last_success_timestamp_seconds", "When such work last ended well, 0 for never since the start.", "kind")
	ttlRemoved      = counter("ttl_rows_removed_total", "Expired rows that were removed.")
	backupSuccess   = gauge("backup_last_success_timestamp_seconds", "When a backup last ended well, 0 for never since the start.")
	backupFailures  = gauge("backup_failures", "Backups of the last 200 that have failed.")
	backupRunning   = gauge("backup_running", "Whether a backup is being made.")
)
