package infoschema

import "slices"

type plugin struct{ name, kind, description string }

// plugins are the parts of MySQL that clients look for.
var plugins = []plugin{
	{"mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"},
	{"caching_sha2_password", "AUTHENTICATION", "Caching sha2 authentication"},
	{"sqlots", "STORAGE ENGINE", "Wide-column store"},
	{"InnoDB", "STORAGE ENGINE", "Another name of sqlots"},
}

// serverTables describe the running server.
func serverTables() []*table {
	variable := "VARIABLE_NAME s64, VARIABLE_VALUE s2048?"
	return []*table{
		newTable(infoDB, "ENGINES", "ENGINE s64, SUPPORT s8, COMMENT s80, TRANSACTIONS s3?, XA s3?, SAVEPOINTS s3?", engines),
		newTable(infoDB, "PLUGINS", "PLUGIN_NAME s64, PLUGIN_VERSION s20, PLUGIN_STATUS s10, PLUGIN_TYPE s80, PLUGIN_TYPE_VERSION s20, PLUGIN_LIBRARY s64?, PLUGIN_LIBRARY_VERSION s20?, PLUGIN_AUTHOR s64?, PLUGIN_DESCRIPTION s65535?, PLUGIN_LICENSE s80?, LOAD_OPTION s64", pluginRows),
		newTable(infoDB, "PROCESSLIST", "ID u, USER s32, HOST s261, DB n64?, COMMAND s16, TIME i, STATE s64?, INFO s65535?", func(q *query) error { return processRows(q, true) }),
		newTable(infoDB, "GLOBAL_VARIABLES", variable, globalVariables),
		newTable(infoDB, "SESSION_VARIABLES", variable, sessionVariables),
		newTable(infoDB, "GLOBAL_STATUS", variable, globalStatus),
		newTable(infoDB, "SESSION_STATUS", variable, sessionStatus),
		newTable(infoDB, "KEYWORDS", "WORD s128?, RESERVED i?", keywords),
		ofServer(newTable(infoDB, "INNODB_TRX", "trx_id u, trx_state s13, trx_started d, trx_requested_lock_id s105?, trx_wait_started d?, trx_weight u, trx_mysql_thread_id u, trx_query s1024?, trx_operation_state s64?, trx_tables_in_use u, trx_tables_locked u, trx_lock_structs u, trx_lock_memory_bytes u, trx_rows_locked u, trx_rows_modified u, trx_concurrency_tickets u, trx_isolation_level s16, trx_unique_checks i, trx_foreign_key_checks i, trx_last_foreign_key_error s256?, trx_adaptive_hash_latched i, trx_adaptive_hash_timeout u, trx_is_read_only i, trx_autocommit_non_locking i, trx_schedule_weight u?", transactions)),
	}
}

func pluginRows(q *query) error {
	for _, p := range plugins {
		if err := q.emit(p.name, "1.0", "ACTIVE", p.kind, "1.0", nil, nil, "sqlots", p.description, "Apache-2.0", "FORCE"); err != nil {
			return err
		}
	}
	return nil
}

func globalVariables(q *query) error  { return emitVariables(q, q.server.GlobalVariables()) }
func sessionVariables(q *query) error { return emitVariables(q, q.sess.Variables()) }
func globalStatus(q *query) error     { return emitVariables(q, q.server.GlobalStatus()) }
func sessionStatus(q *query) error    { return emitVariables(q, q.status()) }

// status is SHOW SESSION STATUS: the server's numbers, with the connection's own in
// their place.
func (q *query) status() []Variable {
	own := q.sess.Status()
	list := slices.Clone(q.server.GlobalStatus())
	for i := range list {
		if v, ok := own[list[i].Name]; ok {
			list[i].Value = v
		}
	}
	return list
}

// emptyTables are tables of MySQL that describe what sqlots does not have.
func emptyTables() []*table {
	return []*table{
		newTable(infoDB, "VIEWS", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, VIEW_DEFINITION t?, CHECK_OPTION e:NONE|LOCAL|CASCADED?, IS_UPDATABLE e:NO|YES?, DEFINER s288?, SECURITY_TYPE s7?, CHARACTER_SET_CLIENT s64, COLLATION_CONNECTION s64", viewRows),
		newTable(infoDB, "VIEW_TABLE_USAGE", "VIEW_CATALOG n64, VIEW_SCHEMA n64, VIEW_NAME n64, TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64", nil),
		newTable(infoDB, "VIEW_ROUTINE_USAGE", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, SPECIFIC_CATALOG n64, SPECIFIC_SCHEMA n64, SPECIFIC_NAME s64", nil),
		newTable(infoDB, "ROUTINES", "SPECIFIC_NAME s64, ROUTINE_CATALOG n64, ROUTINE_SCHEMA n64, ROUTINE_NAME s64, ROUTINE_TYPE e:FUNCTION|PROCEDURE, DATA_TYPE t?, CHARACTER_MAXIMUM_LENGTH i?, CHARACTER_OCTET_LENGTH i?, NUMERIC_PRECISION u?, NUMERIC_SCALE u?, DATETIME_PRECISION u?, CHARACTER_SET_NAME s64?, COLLATION_NAME s64?, DTD_IDENTIFIER t?, ROUTINE_BODY s8, ROUTINE_DEFINITION t?, EXTERNAL_NAME s1?, EXTERNAL_LANGUAGE s64, PARAMETER_STYLE s3, IS_DETERMINISTIC s3, SQL_DATA_ACCESS e:CONTAINS SQL|NO SQL|READS SQL DATA|MODIFIES SQL DATA, SQL_PATH s1?, SECURITY_TYPE e:DEFAULT|INVOKER|DEFINER, CREATED d, LAST_ALTERED d, SQL_MODE s520, ROUTINE_COMMENT t, DEFINER s288, CHARACTER_SET_CLIENT s64, COLLATION_CONNECTION s64, DATABASE_COLLATION s64", nil),
		newTable(infoDB, "PARAMETERS", "SPECIFIC_CATALOG n64, SPECIFIC_SCHEMA n64, SPECIFIC_NAME s64, ORDINAL_POSITION u, PARAMETER_MODE s5?, PARAMETER_NAME s64?, DATA_TYPE t?, CHARACTER_MAXIMUM_LENGTH i?, CHARACTER_OCTET_LENGTH i?, NUMERIC_PRECISION u?, NUMERIC_SCALE i?, DATETIME_PRECISION u?, CHARACTER_SET_NAME s64?, COLLATION_NAME s64?, DTD_IDENTIFIER t, ROUTINE_TYPE e:FUNCTION|PROCEDURE", nil),
		newTable(infoDB, "TRIGGERS", "TRIGGER_CATALOG n64, TRIGGER_SCHEMA n64, TRIGGER_NAME s64, EVENT_MANIPULATION e:INSERT|UPDATE|DELETE, EVENT_OBJECT_CATALOG n64, EVENT_OBJECT_SCHEMA n64, EVENT_OBJECT_TABLE n64, ACTION_ORDER u, ACTION_CONDITION s1?, ACTION_STATEMENT t, ACTION_ORIENTATION s3, ACTION_TIMING e:BEFORE|AFTER, ACTION_REFERENCE_OLD_TABLE s1?, ACTION_REFERENCE_NEW_TABLE s1?, ACTION_REFERENCE_OLD_ROW s3, ACTION_REFERENCE_NEW_ROW s3, CREATED d?, SQL_MODE s520, DEFINER s288, CHARACTER_SET_CLIENT s64, COLLATION_CONNECTION s64, DATABASE_COLLATION s64", nil),
		newTable(infoDB, "EVENTS", "EVENT_CATALOG n64, EVENT_SCHEMA n64, EVENT_NAME s64, DEFINER s288, TIME_ZONE s64, EVENT_BODY s3, EVENT_DEFINITION t, EVENT_TYPE s9, EXECUTE_AT d?, INTERVAL_VALUE s256?, INTERVAL_FIELD s18?, SQL_MODE s520, STARTS d?, ENDS d?, STATUS s21, ON_COMPLETION s12, CREATED d, LAST_ALTERED d, LAST_EXECUTED d?, EVENT_COMMENT s2048, ORIGINATOR u, CHARACTER_SET_CLIENT s64, COLLATION_CONNECTION s64, DATABASE_COLLATION s64", nil),
		newTable(infoDB, "PARTITIONS", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, PARTITION_NAME s64?, SUBPARTITION_NAME s64?, PARTITION_ORDINAL_POSITION u?, SUBPARTITION_ORDINAL_POSITION u?, PARTITION_METHOD s13?, SUBPARTITION_METHOD s13?, PARTITION_EXPRESSION s2048?, SUBPARTITION_EXPRESSION s2048?, PARTITION_DESCRIPTION t?, TABLE_ROWS u?, AVG_ROW_LENGTH u?, DATA_LENGTH u?, MAX_DATA_LENGTH u?, INDEX_LENGTH u?, DATA_FREE u?, CREATE_TIME d, UPDATE_TIME d?, CHECK_TIME d?, CHECKSUM i?, PARTITION_COMMENT t, NODEGROUP s256?, TABLESPACE_NAME s268?", partitions),
		ofServer(newTable(infoDB, "FILES", "FILE_ID i?, FILE_NAME t?, FILE_TYPE s256?, TABLESPACE_NAME s268, TABLE_CATALOG s0, TABLE_SCHEMA s1?, TABLE_NAME s1?, LOGFILE_GROUP_NAME s256?, LOGFILE_GROUP_NUMBER i?, ENGINE s64, FULLTEXT_KEYS s1?, DELETED_ROWS s1?, UPDATE_COUNT s1?, FREE_EXTENTS i?, TOTAL_EXTENTS i?, EXTENT_SIZE i?, INITIAL_SIZE i?, MAXIMUM_SIZE i?, AUTOEXTEND_SIZE i?, CREATION_TIME s1?, LAST_UPDATE_TIME s1?, LAST_ACCESS_TIME s1?, RECOVER_TIME s1?, TRANSACTION_COUNTER s1?, VERSION i?, ROW_FORMAT s256?, TABLE_ROWS s1?, AVG_ROW_LENGTH s1?, DATA_LENGTH s1?, MAX_DATA_LENGTH s1?, INDEX_LENGTH s1?, DATA_FREE i?, CREATE_TIME s1?, UPDATE_TIME s1?, CHECK_TIME s1?, CHECKSUM s1?, STATUS s256?, EXTRA s256?", nil)),
		newTable(infoDB, "TABLESPACES", "TABLESPACE_NAME s64, ENGINE s64, TABLESPACE_TYPE s64?, LOGFILE_GROUP_NAME s64?, EXTENT_SIZE u?, AUTOEXTEND_SIZE u?, MAXIMUM_SIZE u?, NODEGROUP_ID u?, TABLESPACE_COMMENT s2048?", nil),
		newTable(infoDB, "TABLESPACES_EXTENSIONS", "TABLESPACE_NAME s268, ENGINE_ATTRIBUTE j?", nil),
		newTable(infoDB, "COLUMN_STATISTICS", "SCHEMA_NAME n64, TABLE_NAME n64, COLUMN_NAME s64, HISTOGRAM j", nil),
		newTable(infoDB, "OPTIMIZER_TRACE", "QUERY s65535, TRACE s65535, MISSING_BYTES_BEYOND_MAX_MEM_SIZE i, INSUFFICIENT_PRIVILEGES i", nil),
		newTable(infoDB, "PROFILING", "QUERY_ID i, SEQ i, STATE s30, DURATION f, CPU_USER f?, CPU_SYSTEM f?, CONTEXT_VOLUNTARY i?, CONTEXT_INVOLUNTARY i?, BLOCK_OPS_IN i?, BLOCK_OPS_OUT i?, MESSAGES_SENT i?, MESSAGES_RECEIVED i?, PAGE_FAULTS_MAJOR i?, PAGE_FAULTS_MINOR i?, SWAPS i?, SOURCE_FUNCTION s30?, SOURCE_FILE s20?, SOURCE_LINE i?", nil),
		newTable(infoDB, "RESOURCE_GROUPS", "RESOURCE_GROUP_NAME s64, RESOURCE_GROUP_TYPE e:SYSTEM|USER, RESOURCE_GROUP_ENABLED i, VCPU_IDS t?, THREAD_PRIORITY i", nil),
		newTable(infoDB, "ST_GEOMETRY_COLUMNS", "TABLE_CATALOG n64, TABLE_SCHEMA n64, TABLE_NAME n64, COLUMN_NAME s64?, SRS_NAME s80?, SRS_ID u?, GEOMETRY_TYPE_NAME t?", geometryColumns),
		newTable(infoDB, "ST_SPATIAL_REFERENCE_SYSTEMS", "SRS_NAME s80, SRS_ID u, ORGANIZATION s256?, ORGANIZATION_COORDSYS_ID u?, DEFINITION s4096, DESCRIPTION s2048?", referenceSystems),
		newTable(infoDB, "ST_UNITS_OF_MEASURE", "UNIT_NAME s255?, UNIT_TYPE s7?, CONVERSION_FACTOR f?, DESCRIPTION s255?", lengthUnits),
	}
}
