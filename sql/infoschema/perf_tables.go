package infoschema

import "strings"

// The columns that the summary tables of performance_schema share. Those of waits,
// stages, transactions and files are empty: sqlots does not measure them.

// timers are COUNT_x and the sums of its times; what is "STAR" for all
// together, whose times are called _WAIT.
func timers(what string) string {
	unit := what
	if what == "STAR" {
		unit = "WAIT"
	}
	out := "COUNT_" + what + " u"
	for _, fn := range []string{"SUM", "MIN", "AVG", "MAX"} {
		out += ", " + fn + "_TIMER_" + unit + " u"
	}
	return out
}

func timersOf(kinds ...string) string {
	var out []string
	for _, k := range kinds {
		out = append(out, timers(k))
	}
	return strings.Join(out, ", ")
}

// unsigned makes columns of counters.
func unsigned(names string) string {
	return strings.Join(strings.Fields(names), " u, ") + " u"
}

var (
	fileCounters = timers("STAR") + ", " + timers("READ") + ", SUM_NUMBER_OF_BYTES_READ i, " + timers("WRITE") +
		", SUM_NUMBER_OF_BYTES_WRITE i, " + timers("MISC")

	statementCounters = timers("STAR") + ", " + unsigned(`SUM_LOCK_TIME SUM_ERRORS SUM_WARNINGS SUM_ROWS_AFFECTED SUM_ROWS_SENT
		SUM_ROWS_EXAMINED SUM_CREATED_TMP_DISK_TABLES SUM_CREATED_TMP_TABLES SUM_SELECT_FULL_JOIN SUM_SELECT_FULL_RANGE_JOIN
		SUM_SELECT_RANGE SUM_SELECT_RANGE_CHECK SUM_SELECT_SCAN SUM_SORT_MERGE_PASSES SUM_SORT_RANGE SUM_SORT_ROWS SUM_SORT_SCAN
		SUM_NO_INDEX_USED SUM_NO_GOOD_INDEX_USED SUM_CPU_TIME MAX_CONTROLLED_MEMORY MAX_TOTAL_MEMORY COUNT_SECONDARY`)

	statementEvent = "THREAD_ID u, EVENT_ID u, END_EVENT_ID u?, EVENT_NAME s128, SOURCE s64?, TIMER_START u?, TIMER_END u?, TIMER_WAIT u?, " +
		"LOCK_TIME u, SQL_TEXT t?, DIGEST s64?, DIGEST_TEXT t?, CURRENT_SCHEMA s64?, OBJECT_TYPE s64?, OBJECT_SCHEMA s64?, OBJECT_NAME s64?, " +
		"OBJECT_INSTANCE_BEGIN u?, MYSQL_ERRNO i?, RETURNED_SQLSTATE s5?, MESSAGE_TEXT s128?, " +
		unsigned(`ERRORS WARNINGS ROWS_AFFECTED ROWS_SENT ROWS_EXAMINED CREATED_TMP_DISK_TABLES CREATED_TMP_TABLES SELECT_FULL_JOIN
		SELECT_FULL_RANGE_JOIN SELECT_RANGE SELECT_RANGE_CHECK SELECT_SCAN SORT_MERGE_PASSES SORT_RANGE SORT_ROWS SORT_SCAN
		NO_INDEX_USED NO_GOOD_INDEX_USED`) + ", NESTING_EVENT_ID u?, " +
		"NESTING_EVENT_TYPE e:TRANSACTION|STATEMENT|STAGE|WAIT?, NESTING_EVENT_LEVEL i?, STATEMENT_ID u?, CPU_TIME u, " +
		"MAX_CONTROLLED_MEMORY u, MAX_TOTAL_MEMORY u, EXECUTION_ENGINE e:PRIMARY|SECONDARY?"

	waitEvent = "THREAD_ID u, EVENT_ID u, END_EVENT_ID u?, EVENT_NAME s128, SOURCE s64?, TIMER_START u?, TIMER_END u?, TIMER_WAIT u?, " +
		"SPINS u?, OBJECT_SCHEMA s64?, OBJECT_NAME s512?, INDEX_NAME s64?, OBJECT_TYPE s64?, OBJECT_INSTANCE_BEGIN u, NESTING_EVENT_ID u?, " +
		"NESTING_EVENT_TYPE e:TRANSACTION|STATEMENT|STAGE|WAIT?, OPERATION s32, NUMBER_OF_BYTES i?, FLAGS u?"

	stageEvent = "THREAD_ID u, EVENT_ID u, END_EVENT_ID u?, EVENT_NAME s128, SOURCE s64?, TIMER_START u?, TIMER_END u?, TIMER_WAIT u?, " +
		"WORK_COMPLETED u?, WORK_ESTIMATED u?, NESTING_EVENT_ID u?, NESTING_EVENT_TYPE e:TRANSACTION|STATEMENT|STAGE|WAIT?"

	transactionEvent = "THREAD_ID u, EVENT_ID u, END_EVENT_ID u?, EVENT_NAME s128, STATE e:ACTIVE|COMMITTED|ROLLED BACK?, TRX_ID u?, GTID s90?, " +
		"XID_FORMAT_ID i?, XID_GTRID s130?, XID_BQUAL s130?, XA_STATE s64?, SOURCE s64?, TIMER_START u?, TIMER_END u?, TIMER_WAIT u?, " +
		"ACCESS_MODE e:READ ONLY|READ WRITE?, ISOLATION_LEVEL s64?, AUTOCOMMIT e:YES|NO, NUMBER_OF_SAVEPOINTS u?, " +
		"NUMBER_OF_ROLLBACK_TO_SAVEPOINT u?, NUMBER_OF_RELEASE_SAVEPOINT u?, OBJECT_INSTANCE_BEGIN u?, NESTING_EVENT_ID u?, " +
		"NESTING_EVENT_TYPE e:TRANSACTION|STATEMENT|STAGE|WAIT?"

	memoryCounters = "COUNT_ALLOC u, COUNT_FREE u, SUM_NUMBER_OF_BYTES_ALLOC u, SUM_NUMBER_OF_BYTES_FREE u, LOW_COUNT_USED i, " +
		"CURRENT_COUNT_USED i, HIGH_COUNT_USED i, LOW_NUMBER_OF_BYTES_USED i, CURRENT_NUMBER_OF_BYTES_USED i, HIGH_NUMBER_OF_BYTES_USED i"

	errorCounters = "ERROR_NUMBER i?, ERROR_NAME s64?, SQL_STATE s5?, SUM_ERROR_RAISED u, SUM_ERROR_HANDLED u, FIRST_SEEN d?, LAST_SEEN d?"
)

// instrumentTables are the tables of what performance_schema measures.
func instrumentTables() []*table {
	object := "OBJECT_TYPE s64?, OBJECT_SCHEMA n64?, OBJECT_NAME n64?, "
	specs := map[string]string{
		"events_statements_summary_by_digest": "SCHEMA_NAME n64?, DIGEST s64?, DIGEST_TEXT t?, " + statementCounters +
			", FIRST_SEEN d6, LAST_SEEN d6, QUANTILE_95 u, QUANTILE_99 u, QUANTILE_999 u, QUERY_SAMPLE_TEXT t?, QUERY_SAMPLE_SEEN d6, QUERY_SAMPLE_TIMER_WAIT u",
		"events_statements_histogram_global":        "BUCKET_NUMBER u, BUCKET_TIMER_LOW u, BUCKET_TIMER_HIGH u, COUNT_BUCKET u, COUNT_BUCKET_AND_LOWER u, BUCKET_QUANTILE f",
		"events_statements_histogram_by_digest":     "SCHEMA_NAME n64?, DIGEST s64?, BUCKET_NUMBER u, BUCKET_TIMER_LOW u, BUCKET_TIMER_HIGH u, COUNT_BUCKET u, COUNT_BUCKET_AND_LOWER u, BUCKET_QUANTILE f",
		"events_statements_summary_by_program":      "OBJECT_TYPE e:EVENT|FUNCTION|PROCEDURE|TABLE|TRIGGER, OBJECT_SCHEMA s64, OBJECT_NAME s64, " + timers("STAR"),
		"file_summary_by_event_name":                "EVENT_NAME s128, " + fileCounters,
		"file_summary_by_instance":                  "FILE_NAME s512, EVENT_NAME s128, OBJECT_INSTANCE_BEGIN u, " + fileCounters,
		"file_instances":                            "FILE_NAME s512, EVENT_NAME s128, OPEN_COUNT u",
		"table_io_waits_summary_by_table":           object + timersOf("STAR", "READ", "WRITE", "FETCH", "INSERT", "UPDATE", "DELETE"),
		"table_io_waits_summary_by_index_usage":     object + "INDEX_NAME s64?, " + timersOf("STAR", "READ", "WRITE", "FETCH", "INSERT", "UPDATE", "DELETE"),
		"table_lock_waits_summary_by_table":         object + timersOf("STAR", "READ", "WRITE", "READ_NORMAL", "READ_WITH_SHARED_LOCKS", "READ_HIGH_PRIORITY", "READ_NO_INSERT", "READ_EXTERNAL", "WRITE_ALLOW_WRITE", "WRITE_CONCURRENT_INSERT", "WRITE_LOW_PRIORITY", "WRITE_NORMAL", "WRITE_EXTERNAL"),
		"table_handles":                             "OBJECT_TYPE s64, OBJECT_SCHEMA n64, OBJECT_NAME n64, OBJECT_INSTANCE_BEGIN u, OWNER_THREAD_ID u?, OWNER_EVENT_ID u?, INTERNAL_LOCK s64?, EXTERNAL_LOCK s64?",
		"objects_summary_global_by_type":            object + timers("STAR"),
		"events_errors_summary_global_by_error":     errorCounters,
		"events_errors_summary_by_user_by_error":    "USER s32?, " + errorCounters,
		"events_errors_summary_by_host_by_error":    "HOST s255?, " + errorCounters,
		"events_errors_summary_by_thread_by_error":  "THREAD_ID u?, " + errorCounters,
		"events_errors_summary_by_account_by_error": "USER s32?, HOST s255?, " + errorCounters,
		"error_log":                                            "LOGGED d6, THREAD_ID u?, PRIO e:System|Error|Warning|Note, ERROR_CODE s10?, SUBSYSTEM s7?, DATA t",
		"socket_instances":                                     "EVENT_NAME s128, OBJECT_INSTANCE_BEGIN u, THREAD_ID u?, SOCKET_ID i, IP s64, PORT i, STATE e:IDLE|ACTIVE",
		"setup_meters":                                         "NAME s63, FREQUENCY u, ENABLED e:YES|NO, DESCRIPTION s1023?",
		"host_cache":                                           "IP s64, HOST s255?, HOST_VALIDATED e:YES|NO, SUM_CONNECT_ERRORS i, COUNT_HOST_BLOCKED_ERRORS i, FIRST_SEEN d, LAST_SEEN d",
		"prepared_statements_instances":                        "OBJECT_INSTANCE_BEGIN u, STATEMENT_ID u, STATEMENT_NAME s64?, SQL_TEXT t, OWNER_THREAD_ID u, OWNER_EVENT_ID u, OWNER_OBJECT_TYPE s64?, OWNER_OBJECT_SCHEMA s64?, OWNER_OBJECT_NAME s64?, EXECUTION_ENGINE e:PRIMARY|SECONDARY?, TIMER_PREPARE u, COUNT_REPREPARE u, " + strings.ReplaceAll(timers("STAR"), "COUNT_STAR", "COUNT_EXECUTE"),
		"replication_group_member_stats":                       "CHANNEL_NAME s64, VIEW_ID s60, MEMBER_ID s36, COUNT_TRANSACTIONS_IN_QUEUE u, COUNT_TRANSACTIONS_CHECKED u, COUNT_CONFLICTS_DETECTED u, COUNT_TRANSACTIONS_ROWS_VALIDATING u, TRANSACTIONS_COMMITTED_ALL_MEMBERS t, LAST_CONFLICT_FREE_TRANSACTION t, COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE u, COUNT_TRANSACTIONS_REMOTE_APPLIED u, COUNT_TRANSACTIONS_LOCAL_PROPOSED u, COUNT_TRANSACTIONS_LOCAL_ROLLBACK u",
		"replication_connection_configuration":                 "CHANNEL_NAME s64, HOST s255, PORT i, USER s32, NETWORK_INTERFACE s60, AUTO_POSITION e:0|1, SSL_ALLOWED e:YES|NO|IGNORED, SSL_CA_FILE s512, SSL_CA_PATH s512, SSL_CERTIFICATE s512, SSL_CIPHER s512, SSL_KEY s512, SSL_VERIFY_SERVER_CERTIFICATE e:YES|NO, SSL_CRL_FILE s255, SSL_CRL_PATH s255, CONNECTION_RETRY_INTERVAL i, CONNECTION_RETRY_COUNT u, HEARTBEAT_INTERVAL f, TLS_VERSION s255, PUBLIC_KEY_PATH s512, GET_PUBLIC_KEY e:YES|NO, NETWORK_NAMESPACE s64, COMPRESSION_ALGORITHM s64, ZSTD_COMPRESSION_LEVEL i, TLS_CIPHERSUITES t?, SOURCE_CONNECTION_AUTO_FAILOVER s1, GTID_ONLY s1",
		"replication_connection_status":                        "CHANNEL_NAME s64, GROUP_NAME s36, SOURCE_UUID s36, THREAD_ID u?, SERVICE_STATE e:ON|OFF|CONNECTING, COUNT_RECEIVED_HEARTBEATS u, LAST_HEARTBEAT_TIMESTAMP d, RECEIVED_TRANSACTION_SET t, LAST_ERROR_NUMBER i, LAST_ERROR_MESSAGE s1024, LAST_ERROR_TIMESTAMP d, LAST_QUEUED_TRANSACTION s90, LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP d, LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP d, LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP d, LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP d, QUEUEING_TRANSACTION s90, QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP d, QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP d, QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP d",
		"replication_applier_configuration":                    "CHANNEL_NAME s64, DESIRED_DELAY i, PRIVILEGE_CHECKS_USER t?, REQUIRE_ROW_FORMAT e:YES|NO, REQUIRE_TABLE_PRIMARY_KEY_CHECK e:STREAM|ON|OFF|GENERATE, ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE e:OFF|LOCAL|UUID, ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE t?",
		"replication_applier_status":                           "CHANNEL_NAME s64, SERVICE_STATE e:ON|OFF, REMAINING_DELAY u?, COUNT_TRANSACTIONS_RETRIES u",
		"replication_applier_status_by_coordinator":            "CHANNEL_NAME s64, THREAD_ID u?, SERVICE_STATE e:ON|OFF, LAST_ERROR_NUMBER i, LAST_ERROR_MESSAGE s1024, LAST_ERROR_TIMESTAMP d, LAST_PROCESSED_TRANSACTION s90, LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP d, LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP d, LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP d, LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP d, PROCESSING_TRANSACTION s90, PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP d, PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP d, PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP d",
		"replication_applier_status_by_worker":                 "CHANNEL_NAME s64, WORKER_ID u, THREAD_ID u?, SERVICE_STATE e:ON|OFF, LAST_ERROR_NUMBER i, LAST_ERROR_MESSAGE s1024, LAST_ERROR_TIMESTAMP d, LAST_APPLIED_TRANSACTION s90, LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP d, LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP d, LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP d, LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP d, APPLYING_TRANSACTION s90, APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP d, APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP d, APPLYING_TRANSACTION_START_APPLY_TIMESTAMP d, LAST_APPLIED_TRANSACTION_RETRIES_COUNT u, LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER i?, LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE s1024?, LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP d, APPLYING_TRANSACTION_RETRIES_COUNT u, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER i?, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE s1024?, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP d",
		"replication_applier_filters":                          "CHANNEL_NAME s64, FILTER_NAME s64, FILTER_RULE t, CONFIGURED_BY s64, ACTIVE_SINCE d, COUNTER u",
		"replication_applier_global_filters":                   "FILTER_NAME s64, FILTER_RULE t, CONFIGURED_BY s64, ACTIVE_SINCE d",
		"replication_asynchronous_connection_failover":         "CHANNEL_NAME s64, HOST s255, PORT i, NETWORK_NAMESPACE s64, WEIGHT u, MANAGED_NAME s64",
		"replication_asynchronous_connection_failover_managed": "CHANNEL_NAME s64, MANAGED_NAME s64, MANAGED_TYPE s64, CONFIGURATION j?",
		"binary_log_transaction_compression_stats":             "LOG_TYPE e:BINARY|RELAY, COMPRESSION_TYPE s64, TRANSACTION_COUNTER u, COMPRESSED_BYTES_COUNTER u, UNCOMPRESSED_BYTES_COUNTER u, COMPRESSION_PERCENTAGE i",
		"clone_status":                                         "ID i?, PID i?, STATE s16?, BEGIN_TIME d?, END_TIME d?, SOURCE s512?, DESTINATION s512?, ERROR_NO i?, ERROR_MESSAGE s512?, BINLOG_FILE s512?, BINLOG_POSITION i?, GTID_EXECUTED s4096?",
		"clone_progress":                                       "ID i?, STAGE s32?, STATE s16?, BEGIN_TIME d?, END_TIME d?, THREADS i?, ESTIMATE i?, DATA i?, NETWORK i?, DATA_SPEED i?, NETWORK_SPEED i?",
		"tls_channel_status":                                   "CHANNEL s128, PROPERTY s128, VALUE s2048",
		"keyring_component_status":                             "STATUS_KEY s256, STATUS_VALUE s1024",
		"user_defined_functions":                               "UDF_NAME s64, UDF_RETURN_TYPE s20, UDF_TYPE s20, UDF_LIBRARY s1024?, UDF_USAGE_COUNT i?",
		"innodb_redo_log_files":                                "FILE_ID i, FILE_NAME s2000, START_LSN i, END_LSN i, SIZE_IN_BYTES i, IS_FULL i, CONSUMER_LEVEL i",
	}
	for kind, spec := range map[string]string{"statements": statementEvent, "waits": waitEvent, "stages": stageEvent, "transactions": transactionEvent} {
		for _, when := range []string{"current", "history", "history_long"} {
			specs["events_"+kind+"_"+when] = spec
		}
	}
	transactionCounters := timersOf("STAR", "READ_WRITE", "READ_ONLY")
	for by, key := range map[string]string{
		"global": "", "by_account": "USER s32?, HOST s255?, ", "by_user": "USER s32?, ", "by_host": "HOST s255?, ", "by_thread": "THREAD_ID u, ",
	} {
		for kind, counters := range map[string]string{"events_statements": statementCounters, "events_waits": timers("STAR"),
			"events_stages": timers("STAR"), "events_transactions": transactionCounters, "memory": memoryCounters} {
			specs[kind+"_summary_"+by+"_by_event_name"] = key + "EVENT_NAME s128, " + counters
		}
	}
	var out []*table
	for name, spec := range specs {
		out = append(out, measured(newTable(performanceDB, name, spec, instrumentRows[name]), resets[name]))
	}
	return out
}
