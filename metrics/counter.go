package metrics

// Counter is a number of a session that only grows. Most are status variables.
type Counter uint8

// The counters; counterNames has their variables.
const (
	// What the summary tables of statements have.
	RowsExamined Counter = iota
	CreatedTmpDiskTables
	CreatedTmpTables
	SelectFullJoin
	SelectFullRangeJoin
	SelectRange
	SelectRangeCheck
	SelectScan
	SortMergePasses
	SortRange
	SortRows
	SortScan

	// What else a statement does.
	HandlerDelete
	HandlerReadFirst
	HandlerReadKey
	HandlerReadLast
	HandlerReadNext
	HandlerReadPrev
	HandlerReadRnd
	HandlerReadRndNext
	HandlerUpdate
	HandlerWrite
	// How tables were read: by whole keys, ranges of the primary key or of an index, a
	// search index, or as a whole.
	ReadsByPoint
	ReadsByRange
	ReadsByIndex
	ReadsBySearch
	ReadsOfAll

	// What a session does.
	BytesReceived
	BytesSent
	HandlerCommit
	HandlerRollback
	HandlerSavepoint
	HandlerSavepointRollback
	MaxExecutionTimeExceeded
	MaxExecutionTimeSet
	Questions
	Queries
	SlowQueries
	TableLocksWaited
	PlanCacheHits
	PlanCacheMisses
	RowsSent
	RowsAffected
	StatementErrors
	NumCounters
)

const (
	numSummed = SortScan + 1
	numWork   = ReadsOfAll + 1
)

var counterNames = [NumCounters]string{
	BytesReceived: "Bytes_received", BytesSent: "Bytes_sent",
	CreatedTmpDiskTables: "Created_tmp_disk_tables", CreatedTmpTables: "Created_tmp_tables",
	HandlerCommit: "Handler_commit", HandlerDelete: "Handler_delete",
	HandlerReadFirst: "Handler_read_first", HandlerReadKey: "Handler_read_key", HandlerReadLast: "Handler_read_last",
	HandlerReadNext: "Handler_read_next", HandlerReadPrev: "Handler_read_prev",
	HandlerReadRnd: "Handler_read_rnd", HandlerReadRndNext: "Handler_read_rnd_next",
	HandlerRollback: "Handler_rollback", HandlerSavepoint: "Handler_savepoint", HandlerSavepointRollback: "Handler_savepoint_rollback",
	HandlerUpdate: "Handler_update", HandlerWrite: "Handler_write",
	MaxExecutionTimeExceeded: "Max_execution_time_exceeded", MaxExecutionTimeSet: "Max_execution_time_set",
	Questions: "Questions", Queries: "Queries",
	SelectFullJoin: "Select_full_join", SelectFullRangeJoin: "Select_full_range_join", SelectRange: "Select_range",
	SelectRangeCheck: "Select_range_check", SelectScan: "Select_scan",
	SlowQueries: "Slow_queries", SortMergePasses: "Sort_merge_passes", SortRange: "Sort_range", SortRows: "Sort_rows", SortScan: "Sort_scan",
	TableLocksWaited: "Table_locks_waited",
	PlanCacheHits:    "Sqlots_plan_cache_hits", PlanCacheMisses: "Sqlots_plan_cache_misses",
	RowsSent: "Sqlots_rows_sent", RowsExamined: "Sqlots_rows_examined", RowsAffected: "Sqlots_rows_affected", StatementErrors: "Sqlots_errors",
	ReadsByPoint: "Sqlots_reads_by_point", ReadsByRange: "Sqlots_reads_by_range", ReadsByIndex: "Sqlots_reads_by_index",
	ReadsBySearch: "Sqlots_reads_by_search", ReadsOfAll: "Sqlots_reads_of_all",
}

// Variable is the status variable that shows c.
func (c Counter) Variable() string { return counterNames[c] }
