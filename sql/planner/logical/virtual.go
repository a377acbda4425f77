package logical

// VirtualTable is a table that the server makes up: its name as written, its
// columns (Name, T and Null are read) and the handle for Virtual.
type VirtualTable struct {
	Name string
	Cols []Column
	Key  any
	// Truncates: TRUNCATE TABLE begins its sums again from zero.
	Truncates bool
}

// ShowDatabase is the database under which the tables of SHOW statements are
// found:
//
//	name             args                    columns (those of MySQL 8.4)
//	databases                                Database
//	tables           db, "full" or ""        Tables_in_<db> [, Table_type]
//	columns          db, table, "full" or "" Field, Type, [Collation,] Null, Key, Default, Extra [, Privileges, Comment]
//	index            db, table               Table, Non_unique, Key_name, …, Expression
//	create_table     db, table               Table, Create Table
//	create_view      db, view                View, Create View, character_set_client, collation_connection
//	create_database  db, "if not exists"|""  Database, Create Database
//	create_user      user, host              CREATE USER for user@host
//	variables        "session" or "global"   Variable_name, Value
//	status           "session" or "global"   Variable_name, Value
//	warnings, errors                         Level, Code, Message
//	count_warnings                           @@session.warning_count
//	count_errors                             @@session.error_count
//	processlist      "full" or ""            Id, User, Host, db, Command, Time, State, Info
//	engines                                  Engine, Support, Comment, Transactions, XA, Savepoints
//	engine_status    engine, "status"|…      Type, Name, Status
//	character_set                            Charset, Description, Default collation, Maxlen
//	collation                                Collation, Charset, Id, Default, Compiled, Sortlen, Pad_attribute
//	table_status     db                      Name, Engine, Version, …, Comment
//	grants           user, host              Grants for user@host
//	privileges                               Privilege, Context, Comment
//	plugins                                  Name, Status, Type, Library, License
//	open_tables      db                      Database, Table, In_use, Name_locked
//	triggers         db                      Trigger, Event, Table, …
//	events           db                      Db, Name, Definer, …
//	procedure_status, function_status        Db, Name, Type, …
//	profiles                                 Query_ID, Duration, Query
//
//	profile                                  Status, Duration
//	binary_logs, binary_log_status, binlog_events, relaylog_events, replicas, replica_status
//
// user and host are "" for the current account. LIKE and WHERE are filters
// over these columns that bind adds.
const ShowDatabase = "show"
