package sqlerr

// The constructors, by number.

// DatabaseExists: 1007.
func DatabaseExists(db string) *Error {
	return newError(1007, "HY000", "Can't create database '%s'; database exists", db)
}

// NoSuchDatabaseToDrop: 1008.
func NoSuchDatabaseToDrop(db string) *Error {
	return newError(1008, "HY000", "Can't drop database '%s'; database doesn't exist", db)
}

// DiskFull: 1021; what is the file or store.
func DiskFull(what string) *Error {
	return newError(1021, "HY000", "Disk full (%s); waiting for someone to free some space... (errno: 28 \"No space left on device\")", what)
}

// EngineError: 1030 with the system's error number and what happened.
func EngineError(number int, what string) *Error {
	return newError(1030, "HY000", "Got error %d - '%s' from storage engine", number, what)
}

// noConnection is HA_ERR_NO_CONNECTION, the number that engines on other machines give.
const noConnection = 157

// NoConnectionToStore: 1030, the machines of the store do not answer; what says why.
func NoConnectionToStore(what string) *Error {
	return EngineError(noConnection, "Could not connect to storage engine: "+what)
}

// TooManyConnections: 1040.
func TooManyConnections() *Error { return newError(1040, "08004", "Too many connections") }

// TooManyConnectionsFrom: 1040, one address has its share of all connections.
func TooManyConnectionsFrom(host string) *Error {
	return newError(1040, "08004", "Too many connections from '%s'", host)
}

// HandshakeError: 1043.
func HandshakeError() *Error { return newError(1043, "08S01", "Bad handshake") }

// AccessDenied: 1045; password: the client sent one.
func AccessDenied(user, host string, password bool) *Error {
	using := "NO"
	if password {
		using = "YES"
	}
	return newError(1045, "28000", "Access denied for user '%s'@'%s' (using password: %s)", user, host, using)
}

// NoDatabaseSelected: 1046.
func NoDatabaseSelected() *Error { return newError(1046, "3D000", "No database selected") }

// UnknownCommand: 1047.
func UnknownCommand() *Error { return newError(1047, "08S01", "Unknown command") }

// ColumnCannotBeNull: 1048.
func ColumnCannotBeNull(column string) *Error {
	return newError(1048, "23000", "Column '%s' cannot be null", column)
}

// UnknownDatabase: 1049.
func UnknownDatabase(db string) *Error { return newError(1049, "42000", "Unknown database '%s'", db) }

// TableExists: 1050.
func TableExists(table string) *Error {
	return newError(1050, "42S01", "Table '%s' already exists", table)
}

// UnknownTable: 1051, of DROP TABLE, and of t.* for a t that is not in FROM; name is
// qualified.
func UnknownTable(name string) *Error { return newError(1051, "42S02", "Unknown table '%s'", name) }

// IllegalReference: 1247, an alias of the select list that may not be used here, and why.
func IllegalReference(name, why string) *Error {
	return newError(1247, "42S22", "Reference '%s' not supported (%s)", name, why)
}

// AmbiguousColumn: 1052; clause is "field list", "where clause" and so on.
func AmbiguousColumn(column, clause string) *Error {
	return newError(1052, "23000", "Column '%s' in %s is ambiguous", column, clause)
}

// ServerShutdown: 1053.
func ServerShutdown() *Error { return newError(1053, "08S01", "Server shutdown in progress") }

// ReadOnlyMode: 1836, for writes to a store that takes none until a restart. Of
// 1053 drivers believe that another try helps.
func ReadOnlyMode() *Error { return newError(1836, "HY000", "Running in read-only mode") }

// UnknownColumn: 1054.
func UnknownColumn(column, clause string) *Error {
	return newError(1054, "42S22", "Unknown column '%s' in '%s'", column, clause)
}

// NotInGroupBy: 1055, only_full_group_by; position counts from 1.
func NotInGroupBy(position int, clause, column string) *Error {
	return newError(1055, "42000", "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%s' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by", position, clause, column)
}

// CannotGroupOn: 1056.
func CannotGroupOn(name string) *Error { return newError(1056, "42000", "Can't group on '%s'", name) }

// IdentifierTooLong: 1059.
func IdentifierTooLong(name string) *Error {
	return newError(1059, "42000", "Identifier name '%s' is too long", name)
}

// DuplicateColumn: 1060.
func DuplicateColumn(column string) *Error {
	return newError(1060, "42S21", "Duplicate column name '%s'", column)
}

// DuplicateKeyName: 1061.
func DuplicateKeyName(name string) *Error {
	return newError(1061, "42000", "Duplicate key name '%s'", name)
}

// DuplicateEntry: 1062; entry is the key's values joined with '-', key is
// table.index.
func DuplicateEntry(entry, key string) *Error {
	return newError(1062, "23000", "Duplicate entry '%s' for key '%s'", entry, key)
}

// Parse: 1064; near is the rest of the text from the error on.
func Parse(message, near string, line int) *Error {
	if message == "" {
		message = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use"
	}
	return newError(1064, "42000", "%s near '%s' at line %d", message, near, line)
}

// EmptyQuery: 1065.
func EmptyQuery() *Error { return newError(1065, "42000", "Query was empty") }

// NotUniqueTable: 1066.
func NotUniqueTable(name string) *Error {
	return newError(1066, "42000", "Not unique table/alias: '%s'", name)
}

// NoTableOption: 1031.
func NoTableOption(table string) *Error {
	return newError(1031, "HY000", "Table storage engine for '%s' doesn't have this option", table)
}

// OrderIgnored: 1105, a warning.
func OrderIgnored(table string) *Error {
	return newError(1105, "HY000", "ORDER BY ignored as there is a user-defined clustered index in the table '%s'", table)
}

// DuplicateIndex: 1831.
func DuplicateIndex(name, db, table string) *Error {
	return newError(1831, "HY000", "Duplicate index '%s' defined on the table '%s.%s'. This is deprecated and will be disallowed in a future release.", name, db, table)
}

// RowSizeTooLarge: 1118.
func RowSizeTooLarge(limit int) *Error {
	return newError(1118, "42000", "Row size too large. The maximum row size for the used table type, not counting BLOBs, is %d. This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs", limit)
}

// InvalidDefault: 1067.
func InvalidDefault(column string) *Error {
	return newError(1067, "42000", "Invalid default value for '%s'", column)
}

// MultiplePrimaryKeys: 1068.
func MultiplePrimaryKeys() *Error { return newError(1068, "42000", "Multiple primary key defined") }

// TooManyKeys: 1069.
func TooManyKeys(max int) *Error {
	return newError(1069, "42000", "Too many keys specified; max %d keys allowed", max)
}

// TooManyKeyParts: 1070.
func TooManyKeyParts(max int) *Error {
	return newError(1070, "42000", "Too many key parts specified; max %d parts allowed", max)
}

// KeyTooLong: 1071, in bytes.
func KeyTooLong(max int) *Error {
	return newError(1071, "42000", "Specified key was too long; max key length is %d bytes", max)
}

// KeyOverLimit is 1071 by a setting.
func KeyOverLimit(max int, setting string) *Error {
	return newError(1071, "42000", "Specified key was too long; max key length is %d bytes (%s)", max, setting)
}

// KeyColumnMissing: 1072.
func KeyColumnMissing(column string) *Error {
	return newError(1072, "42000", "Key column '%s' doesn't exist in table", column)
}

// BlobKeyNeedsLength: 1170.
func BlobKeyNeedsLength(column string) *Error {
	return newError(1170, "42000", "BLOB/TEXT column '%s' used in key specification without a key length", column)
}

// JSONKey: 3152.
func JSONKey(column string) *Error {
	return newError(3152, "42000", "JSON column '%s' supports indexing only via generated columns on a specified JSON path.", column)
}

// ColumnTooLong: 1074.
func ColumnTooLong(column string, max int) *Error {
	return newError(1074, "42000", "Column length too big for column '%s' (max = %d); use BLOB or TEXT instead", column, max)
}

// WrongAutoKey: 1075.
func WrongAutoKey() *Error {
	return newError(1075, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key")
}

// WrongPrefixKey: 1089.
func WrongPrefixKey() *Error {
	return newError(1089, "HY000", "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the storage engine doesn't support unique prefix keys")
}

// CannotRemoveAllFields: 1090.
func CannotRemoveAllFields() *Error {
	return newError(1090, "42000", "You can't delete all columns with ALTER TABLE; use DROP TABLE instead")
}

// CannotDropFieldOrKey: 1091.
func CannotDropFieldOrKey(name string) *Error {
	return newError(1091, "42000", "Can't DROP '%s'; check that column/key exists", name)
}

// NoSuchThread: 1094.
func NoSuchThread(id uint64) *Error { return newError(1094, "HY000", "Unknown thread id: %d", id) }

// BlobCantHaveDefault: 1101.
func BlobCantHaveDefault(column string) *Error {
	return newError(1101, "42000", "BLOB, TEXT, GEOMETRY or JSON column '%s' can't have a default value", column)
}

// WrongDatabaseName: 1102.
func WrongDatabaseName(name string) *Error {
	return newError(1102, "42000", "Incorrect database name '%s'", name)
}

// WrongTableName: 1103.
func WrongTableName(name string) *Error {
	return newError(1103, "42000", "Incorrect table name '%s'", name)
}

// Unknown: 1105, for what has no number of its own.
func Unknown(format string, args ...any) *Error { return newError(1105, "HY000", format, args...) }

// FieldSpecifiedTwice: 1110.
func FieldSpecifiedTwice(column string) *Error {
	return newError(1110, "42000", "Column '%s' specified twice", column)
}

// InvalidGroupFunctionUse: 1111.
func InvalidGroupFunctionUse() *Error {
	return newError(1111, "HY000", "Invalid use of group function")
}

// TableMustHaveVisibleColumn: 4028.
func TableMustHaveVisibleColumn() *Error {
	return newError(4028, "HY000", "A table must have at least one visible column.")
}

// TableMustHaveColumns: 1113.
func TableMustHaveColumns() *Error {
	return newError(1113, "42000", "A table must have at least 1 column")
}

// TableFull: 1114; of a temporary table name is the directory of its file.
func TableFull(name string) *Error {
	return newError(1114, "HY000", "The table '%s' is full", name)
}

// UnknownCharset: 1115.
func UnknownCharset(name string) *Error {
	return newError(1115, "42000", "Unknown character set: '%s'", name)
}

// TooManyColumns: 1117.
func TooManyColumns() *Error { return newError(1117, "HY000", "Too many columns") }

// TooManyAttributes is 1117 for a row.
func TooManyAttributes(limit int) *Error {
	return newError(1117, "HY000", "Too many columns: a row has at most %d attributes (sqlots_max_attributes)", limit)
}

// AttributeTooLarge is 1118 for a value of an attribute.
func AttributeTooLarge(name string, limit int) *Error {
	return newError(1118, "42000", "Row size too large. The maximum size of a value is %d bytes (sqlots_max_attribute_size), attribute '%s' has more", limit, name)
}

// ValueOverLimit is 1118 for a value of a column, by a setting.
func ValueOverLimit(max int, setting string, size int64) *Error {
	return newError(1118, "42000", "Row size too large. The maximum size of a value is %d bytes (%s), this one has %d", max, setting, size)
}

// WrongValueCount: 1136; row counts from 1.
func WrongValueCount(row int) *Error {
	return newError(1136, "21S01", "Column count doesn't match value count at row %d", row)
}

// ValuesWithoutColumns: 3942.
func ValuesWithoutColumns() *Error {
	return newError(3942, "HY000", "Each row of a VALUES clause must have at least one column, unless when used as source in an INSERT statement.")
}

// ValuesWithDefault: 3943.
func ValuesWithDefault() *Error {
	return newError(3943, "HY000", "A VALUES clause cannot use DEFAULT values, unless used as a source in an INSERT statement.")
}

// NoSuchTable: 1146.
func NoSuchTable(db, table string) *Error {
	return newError(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
}

// PacketTooLarge: 1153.
func PacketTooLarge() *Error {
	return newError(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")
}

// PacketsOutOfOrder: 1156.
func PacketsOutOfOrder() *Error { return newError(1156, "08S01", "Got packets out of order") }

// WrongColumnName: 1166.
func WrongColumnName(name string) *Error {
	return newError(1166, "42000", "Incorrect column name '%s'", name)
}

// PrimaryCantHaveNull: 1171.
func PrimaryCantHaveNull() *Error {
	return newError(1171, "42000", "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead")
}

// KeyDoesNotExist: 1176.
func KeyDoesNotExist(key, table string) *Error {
	return newError(1176, "42000", "Key '%s' doesn't exist in table '%s'", key, table)
}

// UnknownSystemVariable: 1193.
func UnknownSystemVariable(name string) *Error {
	return newError(1193, "HY000", "Unknown system variable '%s'", name)
}

// TransactionTooLarge: 1197, in the words of multi-statement transactions
// that need more than their limit.
func TransactionTooLarge(size, limit int64) *Error {
	return newError(1197, "HY000", "Multi-statement transaction required more than 'sqlots_max_transaction_size' bytes of storage; increase this variable and try again (%d bytes, limit %d)", size, limit)
}

// LockWaitTimeout: 1205.
func LockWaitTimeout() *Error {
	return newError(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")
}

// WrongArguments: 1210.
func WrongArguments(what string) *Error {
	return newError(1210, "HY000", "Incorrect arguments to %s", what)
}

// WrongArgumentsReason is 1210 with the reason.
func WrongArgumentsReason(what, reason string) *Error {
	return newError(1210, "HY000", "Incorrect arguments to %s: %s", what, reason)
}

// LockTableFull: 1206.
func LockTableFull() *Error {
	return newError(1206, "HY000", "The total number of locks exceeds the lock table size")
}

// RemovedSpaces: warning 1466.
func RemovedSpaces(name string) *Error {
	return newError(1466, "HY000", "Leading spaces are removed from name '%s'", name)
}

// NameBecomesEmpty: warning 1474.
func NameBecomesEmpty(name string) *Error {
	return newError(1474, "HY000", "Name '%s' has become ''", name)
}

// Deadlock: 1213.
func Deadlock() *Error {
	return newError(1213, "40001", "Deadlock found when trying to get lock; try restarting transaction")
}

// AlterNotSupported: 1845, as in "LOCK=NONE is not supported for this operation".
func AlterNotSupported(what, try string) *Error {
	return newError(1845, "0A000", "%s is not supported for this operation. Try %s.", what, try)
}

// AlterNotSupportedReason: 1846.
func AlterNotSupportedReason(what, reason, try string) *Error {
	return newError(1846, "0A000", "%s is not supported. Reason: %s. Try %s.", what, reason, try)
}

// WrongUsage: 1221, as in "Incorrect usage of UNION and ORDER BY".
func WrongUsage(a, b string) *Error {
	return newError(1221, "HY000", "Incorrect usage of %s and %s", a, b)
}

// WrongNumberOfSelectColumns: 1222.
func WrongNumberOfSelectColumns() *Error {
	return newError(1222, "21000", "The used SELECT statements have a different number of columns")
}

// LocalVariable: 1228.
func LocalVariable(name string) *Error {
	return newError(1228, "HY000", "Variable '%s' is a SESSION variable and can't be used with SET GLOBAL", name)
}

// GlobalVariable: 1229.
func GlobalVariable(name string) *Error {
	return newError(1229, "HY000", "Variable '%s' is a GLOBAL variable and should be set with SET GLOBAL", name)
}

// WrongValueForVariable: 1231.
func WrongValueForVariable(name, val string) *Error {
	return newError(1231, "42000", "Variable '%s' can't be set to the value of '%s'", name, val)
}

// WrongTypeForVariable: 1232.
func WrongTypeForVariable(name string) *Error {
	return newError(1232, "42000", "Incorrect argument type to variable '%s'", name)
}

// NotSupported: 1235; what names the construct.
func NotSupported(what string) *Error {
	return newError(1235, "42000", "This version of sqlots doesn't yet support '%s'", what)
}

// ReadOnlyVariable: 1238.
func ReadOnlyVariable(name string) *Error {
	return newError(1238, "HY000", "Variable '%s' is a read only variable", name)
}

// WrongScopeOfVariable: 1238, @@GLOBAL or @@SESSION of a variable that has only the
// other scope.
func WrongScopeOfVariable(name, scope string) *Error {
	return newError(1238, "HY000", "Variable '%s' is a %s variable", name, scope)
}

// OperandColumns: 1241.
func OperandColumns(n int) *Error {
	return newError(1241, "21000", "Operand should contain %d column(s)", n)
}

// LateralJoinType: 3668.
func LateralJoinType(alias string) *Error {
	return newError(3668, "HY000", "INNER or LEFT JOIN must be used for LATERAL references made by '%s'", alias)
}

// SubqueryMoreThanOneRow: 1242.
func SubqueryMoreThanOneRow() *Error {
	return newError(1242, "21000", "Subquery returns more than 1 row")
}

// UnknownStatementHandler: 1243.
func UnknownStatementHandler(handle, where string) *Error {
	return newError(1243, "HY000", "Unknown prepared statement handler (%s) given to %s", handle, where)
}

// DerivedMustHaveAlias: 1248.
func DerivedMustHaveAlias() *Error {
	return newError(1248, "42000", "Every derived table must have its own alias")
}

// DataTruncatedForColumn: 1265, a warning and in strict mode an error.
func DataTruncatedForColumn(column string, row int) *Error {
	return newError(1265, "01000", "Data truncated for column '%s' at row %d", column, row)
}

// OutOfRange: 1264.
func OutOfRange(column string, row int) *Error {
	return newError(1264, "22003", "Out of range value for column '%s' at row %d", column, row)
}

// UnknownCollation: 1273.
func UnknownCollation(name string) *Error {
	return newError(1273, "HY000", "Unknown collation: '%s'", name)
}

// CollationCharsetMismatch: 1253.
func CollationCharsetMismatch(collation, charset string) *Error {
	return newError(1253, "42000", "COLLATION '%s' is not valid for CHARACTER SET '%s'", collation, charset)
}

// TruncatedWrongValue: 1292; kind is INTEGER, DOUBLE, DECIMAL, datetime, …
func TruncatedWrongValue(kind, val string) *Error {
	return newError(1292, "22007", "Truncated incorrect %s value: '%s'", kind, val)
}

// IncorrectTemporal: 1292 of a date or time value that is none; kind is
// DATE, DATETIME or TIME.
func IncorrectTemporal(kind, val string) *Error {
	return newError(1292, "22007", "Incorrect %s value: '%s'", kind, val)
}

// IncorrectTemporalForColumn: 1292 on storing; kind is date, datetime, time.
func IncorrectTemporalForColumn(kind, val, column string, row int) *Error {
	return newError(1292, "22007", "Incorrect %s value: '%s' for column '%s' at row %d", kind, val, column, row)
}

// QueryInterrupted: 1317.
func QueryInterrupted() *Error { return newError(1317, "70100", "Query execution was interrupted") }

// NoDefaultForField: 1364.
func NoDefaultForField(column string) *Error {
	return newError(1364, "HY000", "Field '%s' doesn't have a default value", column)
}

// DivisionByZero: 1365.
func DivisionByZero() *Error { return newError(1365, "22012", "Division by 0") }

// IncorrectValueForColumn: 1366; kind is integer, decimal, double, string, …
func IncorrectValueForColumn(kind, val, column string, row int) *Error {
	return newError(1366, "HY000", "Incorrect %s value: '%s' for column '%s' at row %d", kind, val, column, row)
}

// DataTooLong: 1406.
func DataTooLong(column string, row int) *Error {
	return newError(1406, "22001", "Data too long for column '%s' at row %d", column, row)
}

// PrecisionTooBig: 1426 with the limits of DECIMAL and fractional seconds.
func PrecisionTooBig(precision int, column string, max int) *Error {
	return newError(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is %d.", precision, column, max)
}

// ScaleTooBig: 1425.
func ScaleTooBig(scale int, column string, max int) *Error {
	return newError(1425, "42000", "Too big scale %d specified for column '%s'. Maximum is %d.", scale, column, max)
}

// MBiggerThanD: 1427.
func MBiggerThanD(column string) *Error {
	return newError(1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').", column)
}

// DatetimeOverflow: 1441.
func DatetimeOverflow(function string) *Error {
	return newError(1441, "22008", "Datetime function: %s field overflow", function)
}

// WrongParamCount: 1582.
func WrongParamCount(function string) *Error {
	return newError(1582, "42000", "Incorrect parameter count in the call to native function '%s'", function)
}

// FunctionDoesNotExist: 1305; name is db.function.
func FunctionDoesNotExist(name string) *Error {
	return ProgramDoesNotExist("FUNCTION", name)
}

// SavepointDoesNotExist: 1305.
func SavepointDoesNotExist(name string) *Error {
	return ProgramDoesNotExist("SAVEPOINT", name)
}

// ValueOutOfRange: 1690; kind is BIGINT, BIGINT UNSIGNED, DOUBLE, …, expr the
// expression's text.
func ValueOutOfRange(kind, expr string) *Error {
	return newError(1690, "22003", "%s value is out of range in '%s'", kind, expr)
}

// TableChanged: 1412, a schema change overtook the statement or its read view.
func TableChanged() *Error {
	return newError(1412, "HY000", "Table definition has changed, please retry transaction")
}

// ReadOnlyTransaction: 1792.
func ReadOnlyTransaction() *Error {
	return newError(1792, "25006", "Cannot execute statement in a READ ONLY transaction.")
}

// Bug: 1105, a panic while a statement ran. The log has what happened and
// where; the client does not need it.
func Bug() *Error { return newError(1105, "HY000", "a bug, described in the server's log") }

// Internal: 1815, a bug of ours.
func Internal(format string, args ...any) *Error {
	return newError(1815, "HY000", "Internal error: "+format, args...)
}

// QueryTimeout: 3024.
func QueryTimeout() *Error {
	return newError(3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded")
}

// InvalidJSON: 3140 on storing into a JSON column.
func InvalidJSON(message string, pos int, column string) *Error {
	return newError(3140, "22032", "Invalid JSON text: \"%s\" at position %d in value for column '%s'.", message, pos, column)
}

// InvalidJSONArgument: 3141.
func InvalidJSONArgument(arg int, function, message string, pos int) *Error {
	return newError(3141, "22032", "Invalid JSON text in argument %d to function %s: \"%s\" at position %d.", arg, function, message, pos)
}

// InvalidJSONPath: 3143.
func InvalidJSONPath(pos int) *Error {
	return newError(3143, "42000", "Invalid JSON path expression. The error is around character position %d.", pos)
}

// LockNoWait: 3572.
func LockNoWait() *Error {
	return newError(3572, "HY000", "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")
}

// UnresolvedHintName: 3128, the warning of an optimizer hint about what is not
// there, a quoted name.
func UnresolvedHintName(name, hint string) *Error {
	return newError(3128, "HY000", "Unresolved name %s for %s hint", name, hint)
}

// QueryMemoryExceeded: 3170 with the limit, the error of a query that needs
// more memory than its limit and cannot go on without.
func QueryMemoryExceeded(limit int64, operator string) *Error {
	return newError(3170, "HY000", "Memory capacity of %d bytes for '%s' exceeded. Raise sqlots_query_memory_limit or make the query smaller.", limit, operator)
}

// ServerMemoryExceeded: 3170 with the limit, the error of what needs more memory than is
// left to all statements together.
func ServerMemoryExceeded(limit int64, what string) *Error {
	return newError(3170, "HY000", "Memory capacity of %d bytes for '%s' exceeded. Start the server with more --memory, try again later or make it smaller.", limit, what)
}
