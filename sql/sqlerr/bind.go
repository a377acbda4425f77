package sqlerr

// The constructors of errors that name resolution and DDL raise.

// MixOfGroupFuncs: 1140, an aggregated query without GROUP BY; position counts
// from 1, clause is "SELECT list" or "ORDER BY".
func MixOfGroupFuncs(position int, clause, column string) *Error {
	return newError(1140, "42000", "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; this is incompatible with sql_mode=only_full_group_by", position, clause, column)
}

// AggregateOrderForUnion: 3028; position counts from 1.
func AggregateOrderForUnion(position int) *Error {
	return newError(3028, "HY000", "Expression #%d of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT", position)
}

// AggregateOrderNotGrouped: 3029; position counts from 1.
func AggregateOrderNotGrouped(position int) *Error {
	return newError(3029, "HY000", "Expression #%d of ORDER BY contains aggregate function and applies to the result of a non-aggregated query", position)
}

// OrderNotInSelect: 3065, DISTINCT with an ORDER BY that is not selected.
func OrderNotInSelect(position int, column string) *Error {
	return newError(3065, "HY000", "Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' which is not in SELECT list; this is incompatible with DISTINCT", position, column)
}

// NoTablesUsed: 1096, * without FROM.
func NoTablesUsed() *Error { return newError(1096, "HY000", "No tables used") }

// IncorrectColumnSpecifier: 1063.
func IncorrectColumnSpecifier(column string) *Error {
	return newError(1063, "42000", "Incorrect column specifier for column '%s'", column)
}

// InvalidOnUpdate: 1294.
func InvalidOnUpdate(column string) *Error {
	return newError(1294, "HY000", "Invalid ON UPDATE clause for '%s' column", column)
}

// DuplicatedValueInType: 1291; kind is ENUM or SET.
func DuplicatedValueInType(column, val, kind string) *Error {
	return newError(1291, "HY000", "Column '%s' has duplicated value '%s' in %s", column, val, kind)
}

// InvalidDisplayWidth: 1439.
func InvalidDisplayWidth(column string, max int) *Error {
	return newError(1439, "42000", "Display width out of range for column '%s' (max = %d)", column, max)
}

// InvalidSizeOfType: 3013, BIT(0) and the like.
func InvalidSizeOfType(column string) *Error {
	return newError(3013, "HY000", "Invalid size for column '%s'.", column)
}

// IllegalSetValue: 1367, a comma in a member of SET.
func IllegalSetValue(kind, val string) *Error {
	return newError(1367, "22007", "Illegal %s '%s' value found during parsing", kind, val)
}

// TooManyValuesInSet: 1097.
func TooManyValuesInSet(column string) *Error {
	return newError(1097, "HY000", "Too many strings for column %s and SET", column)
}

// WrongNameForIndex: 1280.
func WrongNameForIndex(name string) *Error {
	return newError(1280, "42000", "Incorrect index name '%s'", name)
}

// TableCommentTooLong: 1628.
func TableCommentTooLong(table string, max int) *Error {
	return newError(1628, "HY000", "Comment for table '%s' is too long (max = %d)", table, max)
}

// ColumnCommentTooLong: 1629.
func ColumnCommentTooLong(column string, max int) *Error {
	return newError(1629, "HY000", "Comment for field '%s' is too long (max = %d)", column, max)
}

// IndexCommentTooLong: 1688.
func IndexCommentTooLong(index string, max int) *Error {
	return newError(1688, "HY000", "Comment for index '%s' is too long (max = %d)", index, max)
}

// PrefixZero: 1391, a key part of length 0.
func PrefixZero(column string) *Error {
	return newError(1391, "HY000", "Key part '%s' length cannot be 0", column)
}

// ViewInvalid: 1347, something that is not of the required type.
func ViewInvalid(db, name, want string) *Error {
	return newError(1347, "HY000", "'%s.%s' is not %s", db, name, want)
}

// WrongSchemaOfDefault: 3770, a default expression with a function that is
// not allowed there.
func WrongSchemaOfDefault(column, function string) *Error {
	return newError(3770, "HY000", "Default value expression of column '%s' contains a disallowed function: %s.", column, function)
}

// UpdateTableUsed: 1093.
func UpdateTableUsed(table string) *Error {
	return newError(1093, "HY000", "You can't specify target table '%s' for update in FROM clause", table)
}

// NonUpdatableTable: 1288.
func NonUpdatableTable(table, operation string) *Error {
	return newError(1288, "HY000", "The target table %s of the %s is not updatable", table, operation)
}

// DerivedColumnList: 1353.
func DerivedColumnList() *Error {
	return newError(1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
}

// UnknownStorageEngine: 1286.
func UnknownStorageEngine(name string) *Error {
	return newError(1286, "42000", "Unknown storage engine '%s'", name)
}

// InvalidJSONAttribute: 3981.
func InvalidJSONAttribute(text string) *Error {
	return newError(3981, "HY000", "Invalid value for attribute SECONDARY_ENGINE_ATTRIBUTE: %s", text)
}

// InvalidAttribute: 3981, one attribute in SECONDARY_ENGINE_ATTRIBUTE.
func InvalidAttribute(name, value, want string) *Error {
	return newError(3981, "HY000", "Invalid value for attribute SECONDARY_ENGINE_ATTRIBUTE: %s is %s, not %s", name, value, want)
}

// WrongKeyColumn: 1167.
func WrongKeyColumn(column string) *Error {
	return newError(1167, "42000", "The used storage engine can't index column '%s'", column)
}

// UnresolvedLockTable: 3568.
func UnresolvedLockTable(name string) *Error {
	return newError(3568, "HY000", "Unresolved table name '%s' in locking clause.", name)
}

// InvalidCharacterString: 1300, a literal that is no text of its character set.
func InvalidCharacterString(charset, val string) *Error {
	return newError(1300, "HY000", "Invalid %s character string: '%s'", charset, val)
}

// ViewReferencesInvalid is 1356: what a view reads is not there any more.
func ViewReferencesInvalid(db, name string) *Error {
	return newError(1356, "HY000", "View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them", db, name)
}

// ViewRecursive is 1462.
func ViewRecursive(db, name string) *Error {
	return newError(1462, "HY000", "`%s`.`%s` contains view recursion", db, name)
}

// ViewSelectVariable is 1351.
func ViewSelectVariable() *Error {
	return newError(1351, "HY000", "View's SELECT contains a variable or parameter")
}

// ViewSelectClause is 1350: a clause such as INTO in the SELECT of a view.
func ViewSelectClause(clause string) *Error {
	return newError(1350, "HY000", "View's SELECT contains a '%s' clause", clause)
}

// ViewSelectTemporaryTable is 1352.
func ViewSelectTemporaryTable(name string) *Error {
	return newError(1352, "HY000", "View's SELECT refers to a temporary table '%s'", name)
}

// ViewNonUpdatableCheck is 1368.
func ViewNonUpdatableCheck(db, name string) *Error {
	return newError(1368, "HY000", "CHECK OPTION on non-updatable view '%s.%s'", db, name)
}

// ViewCheckFailed is 1369.
func ViewCheckFailed(db, name string) *Error {
	return newError(1369, "HY000", "CHECK OPTION failed '%s.%s'", db, name)
}

// NonInsertableTable is 1471.
func NonInsertableTable(table, operation string) *Error {
	return newError(1471, "HY000", "The target table %s of the %s is not insertable-into", table, operation)
}

// NonUpdatableColumn is 1348.
func NonUpdatableColumn(column string) *Error {
	return newError(1348, "HY000", "Column '%s' is not updatable", column)
}

// ViewMultiUpdate is 1393: a change of several tables of a join view.
func ViewMultiUpdate(db, view string) *Error {
	return newError(1393, "HY000", "Can not modify more than one base table through a join view '%s.%s'", db, view)
}

// ViewNoInsertFieldList is 1394.
func ViewNoInsertFieldList(db, view string) *Error {
	return newError(1394, "HY000", "Can not insert into join view '%s.%s' without fields list", db, view)
}

// ViewDeleteMerged is 1395.
func ViewDeleteMerged(db, view string) *Error {
	return newError(1395, "HY000", "Can not delete from join view '%s.%s'", db, view)
}

// NoBinaryLogging: 1381.
func NoBinaryLogging() *Error {
	return newError(1381, "HY000", "You are not using binary logging")
}

// NoSuchProgram is the error for a stored program that is not there; kind is
// PROCEDURE, FUNCTION (1305), TRIGGER (1360) or EVENT (1539).
func NoSuchProgram(kind, name string) *Error {
	switch kind {
	case "TRIGGER":
		return TriggerDoesNotExist()
	case "EVENT":
		return newError(1539, "HY000", "Unknown event '%s'", name)
	}
	return ProgramDoesNotExist(kind, name)
}

// NoDefaultForVariable: 1230.
func NoDefaultForVariable(name string) *Error {
	return newError(1230, "42000", "Variable '%s' doesn't have a default value", name)
}

// NotPersistent: 1238, SET PERSIST of a variable that cannot be set.
func NotPersistent(name string) *Error {
	return newError(1238, "HY000", "Variable '%s' is a non persistent read only variable", name)
}

// NotPersisted: 3615.
func NotPersisted(name string) *Error {
	return newError(3615, "HY000", "Variable %s does not exist in persisted config file", name)
}

// ExplainNotRunning: 3012, EXPLAIN FOR CONNECTION where no statement with a
// plan runs.
func ExplainNotRunning() *Error {
	return newError(3012, "HY000", "EXPLAIN FOR CONNECTION command is supported only for SELECT/UPDATE/INSERT/DELETE/REPLACE")
}

// UnknownTableIn: 1109; where is the clause or the database.
func UnknownTableIn(table, where string) *Error {
	return newError(1109, "42S02", "Unknown table '%s' in %s", table, where)
}

// UpdateWithoutKeyInSafeMode: 1175.
func UpdateWithoutKeyInSafeMode() *Error {
	return newError(1175, "HY000", "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column.")
}

// TableNameNotAllowedHere: 1250, a qualified name in a clause of a whole UNION.
func TableNameNotAllowedHere(table, clause string) *Error {
	return newError(1250, "42000", "Table '%s' from one of the SELECTs cannot be used in %s", table, clause)
}

// ProgramDoesNotExist: 1305; kind is PROCEDURE, FUNCTION and the like.
func ProgramDoesNotExist(kind, name string) *Error {
	return newError(1305, "42000", "%s %s does not exist", kind, name)
}

// TriggerDoesNotExist: 1360.
func TriggerDoesNotExist() *Error { return newError(1360, "HY000", "Trigger does not exist") }

// WrongProcedureArguments: 1318, CALL with too few or too many arguments.
func WrongProcedureArguments(procedure string, least, most, got int) *Error {
	return newError(1318, "42000", "Incorrect number of arguments for PROCEDURE %s; expected %d to %d, got %d", procedure, least, most, got)
}

// StackOverrun: 1436, a statement that nests deeper than max levels.
func StackOverrun(max int) *Error {
	return newError(1436, "HY000", "Thread stack overrun: the statement nests deeper than %d levels", max)
}

// ChainTooLong: 1436, a chain of more operators than max, such as 1+1+….
func ChainTooLong(max int) *Error {
	return newError(1436, "HY000", "Thread stack overrun: the statement has a chain of more than %d operators", max)
}

// SelectTooNested: 1473, views and common table expressions that stand for too
// many queries.
func SelectTooNested() *Error {
	return newError(1473, "HY000", "Too high level of nesting for select")
}

// ForbidSchemaChange: 1450, RENAME of a view to another database.
func ForbidSchemaChange(from, to string) *Error {
	return newError(1450, "HY000", "Changing schema from '%s' to '%s' is not allowed.", from, to)
}

// MultiUpdateKeyConflict: 1706, a table under two names whose key changes.
func MultiUpdateKeyConflict(a, b string) *Error {
	return newError(1706, "HY000", "Primary key/partition key update is not allowed since the table is updated both as '%s' and '%s'.", a, b)
}

// UnknownExplainFormat: 1791.
func UnknownExplainFormat(name string) *Error {
	return newError(1791, "HY000", "Unknown EXPLAIN format name: '%s'", name)
}

// InvalidYearLength: 1818.
func InvalidYearLength() *Error {
	return newError(1818, "HY000", "Supports only YEAR or YEAR(4) column.")
}

// LegacySyntaxConverted: 3005, a warning.
func LegacySyntaxConverted(legacy, converted string) *Error {
	return newError(3005, "HY000", "%s is no longer supported. The statement was converted to %s.", legacy, converted)
}

// InvisiblePrimaryKey: 3522.
func InvisiblePrimaryKey() *Error {
	return newError(3522, "HY000", "A primary key index cannot be invisible")
}

// ExplainIntoImplicitFormat: 6006.
func ExplainIntoImplicitFormat() *Error {
	return newError(6006, "HY000", "EXPLAIN INTO does not support implicit FORMAT.")
}

// ExplainIntoFormat: 6007.
func ExplainIntoFormat(format string) *Error {
	return newError(6007, "HY000", "EXPLAIN INTO does not support FORMAT=%s.", format)
}

// WrongPerformanceSchemaUsage is 1683: TRUNCATE of a table of performance_schema that
// shows a state.
func WrongPerformanceSchemaUsage() *Error {
	return newError(1683, "HY000", "Invalid performance_schema usage.")
}
