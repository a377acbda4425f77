package infoschema

import (
	"time"

	"github.com/sqlots/sqlots/sql/expr"
)

const (
	mysqlDB       = "mysql"
	performanceDB = "performance_schema"
	sysDB         = "sys"
)

// mysqlTables are the tables of the database mysql that clients read, but for those of
// grants.
func mysqlTables() []*table {
	return []*table{
		newTable(mysqlDB, "func", "name s64, ret i, dl s128, type s9", nil),
		newTable(mysqlDB, "plugin", "name s64, dl s128", nil),
		newTable(mysqlDB, "servers", "Server_name s64, Host s255, Db s64, Username s64, Password s64, Port i, Socket s64, Wrapper s64, Owner s64", nil),
		newTable(mysqlDB, "component", "component_id u, component_group_id u, component_urn t", nil),
		newTable(mysqlDB, "time_zone", "Time_zone_id u, Use_leap_seconds s1", nil),
		newTable(mysqlDB, "time_zone_name", "Name s64, Time_zone_id u", nil),
		newTable(mysqlDB, "help_topic", "help_topic_id u, name s64, help_category_id u, description t, example t, url t", nil),
		newTable(mysqlDB, "help_category", "help_category_id u, name s64, parent_category_id u?, url t", nil),
		newTable(mysqlDB, "help_keyword", "help_keyword_id u, name s64", nil),
		newTable(mysqlDB, "general_log", "event_time d, user_host t, thread_id u, server_id u, command_type s64, argument t", generalLog),
		newTable(mysqlDB, "slow_log", "start_time d, user_host t, query_time s16, lock_time s16, rows_sent i, rows_examined i, db s512, last_insert_id i, insert_id i, server_id u, sql_text t, thread_id u", slowLog),
		newTable(mysqlDB, "help_relation", "help_topic_id u, help_keyword_id u", nil),
	}
}

// performanceTables are the tables of performance_schema that clients read.
func performanceTables() []*table {
	variable := "VARIABLE_NAME s64, VARIABLE_VALUE s1024?"
	return []*table{
		newTable(performanceDB, "global_variables", variable, globalVariables),
		newTable(performanceDB, "session_variables", variable, sessionVariables),
		newTable(performanceDB, "global_status", variable, globalStatus),
		newTable(performanceDB, "session_status", variable, sessionStatus),
		newTable(performanceDB, "persisted_variables", variable, persistedVariables),
		newTable(performanceDB, "variables_info", "VARIABLE_NAME s64, VARIABLE_SOURCE s32?, VARIABLE_PATH s1024?, MIN_VALUE s64?, MAX_VALUE s64?, SET_TIME d?, SET_USER s32?, SET_HOST s255?", variablesInfo),
		newTable(performanceDB, "user_variables_by_thread", "THREAD_ID u, VARIABLE_NAME s64, VARIABLE_VALUE t?", nil),
		newTable(performanceDB, "processlist", "ID u, USER s32?, HOST s255?, DB n64?, COMMAND s16?, TIME i?, STATE s64?, INFO t?", func(q *query) error { return processRows(q, true) }),
		newTable(performanceDB, "threads", "THREAD_ID u, NAME s128, TYPE s10, PROCESSLIST_ID u?, PROCESSLIST_USER s32?, PROCESSLIST_HOST s255?, PROCESSLIST_DB n64?, PROCESSLIST_COMMAND s16?, PROCESSLIST_TIME i?, PROCESSLIST_STATE s64?, PROCESSLIST_INFO t?, PARENT_THREAD_ID u?, ROLE s64?, INSTRUMENTED e:YES|NO, HISTORY e:YES|NO, CONNECTION_TYPE s16?, THREAD_OS_ID u?, RESOURCE_GROUP s64?, EXECUTION_ENGINE e:PRIMARY|SECONDARY?, CONTROLLED_MEMORY u, MAX_CONTROLLED_MEMORY u, TOTAL_MEMORY u, MAX_TOTAL_MEMORY u, TELEMETRY_ACTIVE e:YES|NO", threads),
		newTable(performanceDB, "session_account_connect_attrs", "PROCESSLIST_ID u, ATTR_NAME s32, ATTR_VALUE s1024?, ORDINAL_POSITION i?", func(q *query) error { return connectAttributes(q, true) }),
		newTable(performanceDB, "session_connect_attrs", "PROCESSLIST_ID u, ATTR_NAME s32, ATTR_VALUE s1024?, ORDINAL_POSITION i?", func(q *query) error { return connectAttributes(q, false) }),
		newTable(performanceDB, "metadata_locks", "OBJECT_TYPE s64, OBJECT_SCHEMA n64?, OBJECT_NAME n64?, COLUMN_NAME s64?, OBJECT_INSTANCE_BEGIN u, LOCK_TYPE s32, LOCK_DURATION s32, LOCK_STATUS s32, SOURCE s64?, OWNER_THREAD_ID u?, OWNER_EVENT_ID u?", metadataLocks),
		newTable(performanceDB, "data_locks", "ENGINE s32, ENGINE_LOCK_ID s128, ENGINE_TRANSACTION_ID u?, THREAD_ID u?, EVENT_ID u?, OBJECT_SCHEMA n64?, OBJECT_NAME n64?, PARTITION_NAME s64?, SUBPARTITION_NAME s64?, INDEX_NAME s64?, OBJECT_INSTANCE_BEGIN u, LOCK_TYPE s32, LOCK_MODE s32, LOCK_STATUS s32, LOCK_DATA t?", dataLocks),
		newTable(performanceDB, "data_lock_waits", "ENGINE s32, REQUESTING_ENGINE_LOCK_ID s128, REQUESTING_ENGINE_TRANSACTION_ID u?, REQUESTING_THREAD_ID u?, REQUESTING_EVENT_ID u?, REQUESTING_OBJECT_INSTANCE_BEGIN u, BLOCKING_ENGINE_LOCK_ID s128, BLOCKING_ENGINE_TRANSACTION_ID u?, BLOCKING_THREAD_ID u?, BLOCKING_EVENT_ID u?, BLOCKING_OBJECT_INSTANCE_BEGIN u", dataLockWaits),
		newTable(performanceDB, "keyring_keys", "KEY_ID s255, KEY_OWNER s255?, BACKEND_KEY_ID s255?", nil),
		newTable(performanceDB, "log_status", "SERVER_UUID s36, LOCAL t, REPLICATION t, STORAGE_ENGINES t", nil),
		newTable(performanceDB, "replication_group_members", "CHANNEL_NAME s64, MEMBER_ID s36, MEMBER_HOST s255, MEMBER_PORT i?, MEMBER_STATE s64, MEMBER_ROLE s64, MEMBER_VERSION s64, MEMBER_COMMUNICATION_STACK s64", nil),
	}
}

func persistedVariables(q *query) error {
	for _, v := range q.server.VariablesInfo() {
		if !v.Persisted {
			continue
		}
		if err := q.emit(v.Name, v.Value); err != nil {
			return err
		}
	}
	return nil
}

func variablesInfo(q *query) error {
	for _, v := range q.server.VariablesInfo() {
		if err := q.emit(v.Name, v.Source, "", orZero(v.Min), orZero(v.Max), v.SetTime, orNull(v.SetUser), orNull(v.SetHost)); err != nil {
			return err
		}
	}
	return nil
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// connectAttributes are what clients say of themselves; own: those of the account.
func connectAttributes(q *query, own bool) error {
	user, _ := q.sess.Account()
	for _, p := range q.processes() {
		if own && p.User != user {
			continue
		}
		for i, a := range p.Attributes {
			if err := q.emit(p.ID, a[0], a[1], int64(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func threads(q *query) error {
	now := time.Now()
	for _, p := range q.processes() {
		err := q.emit(p.ID, connectionThread, "FOREGROUND", p.ID, p.User, hostText(p.Host), orNull(p.DB), p.Command, int64(now.Sub(p.Since)/time.Second),
			orNull(p.State), orNull(p.Info), nil, nil, "YES", "YES", "TCP/IP", nil, nil, "PRIMARY", uint64(0), uint64(0), uint64(0), uint64(0), "NO")
		if err != nil {
			return err
		}
	}
	return nil
}

// sysTables are the tables of sys that clients read on connecting.
func sysTables() []*table {
	return []*table{
		newTable(sysDB, "version", "sys_version s5, mysql_version s64", func(q *query) error { return q.emit("2.1.3", expr.ServerVersion) }),
		newTable(sysDB, "innodb_lock_waits", lockWaits, innodbLockWaits),
		newTable(sysDB, "x$innodb_lock_waits", lockWaits, innodbLockWaits),
		newTable(sysDB, "sys_config", "variable s128, value s128?, set_time d?, set_by s128?", nil),
	}
}
