package sqlerr

// The constructors of errors that name resolution and DDL raise.

// MixOfGroupFuncs: 1140, an aggregated query without GROUP BY; position counts
// from 1, clause is "SELECT list" or "ORDER BY".
func MixOfGroupFuncs(position int, clause, column string) *Error {
	return New(1140, "42000", "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; this is incompatible with sql_mode=only_full_group_by", position, clause, column)
}

// OrderNotInSelect: 3065, DISTINCT with an ORDER BY that is not selected.
func OrderNotInSelect(position int, column string) *Error {
	return New(3065, "HY000", "Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' which is not in SELECT list; this is incompatible with DISTINCT", position, column)
}

// UnknownTableInField: 1051 of t.* for a t that is not in FROM.
func UnknownTableInField(name string) *Error {
	return New(1051, "42S02", "Unknown table '%s'", name)
}

// NoTablesUsed: 1096, * without FROM.
func NoTablesUsed() *Error { return New(1096, "HY000", "No tables used") }

// IncorrectColumnSpecifier: 1063.
func IncorrectColumnSpecifier(column string) *Error {
	return New(1063, "42000", "Incorrect column specifier for column '%s'", column)
}

// InvalidOnUpdate: 1294.
func InvalidOnUpdate(column string) *Error {
	return New(1294, "HY000", "Invalid ON UPDATE clause for '%s' column", column)
}

// DuplicatedValueInType: 1291; kind is ENUM or SET.
func DuplicatedValueInType(column, val, kind string) *Error {
	return New(1291, "HY000", "Column '%s' has duplicated value '%s' in %s", column, val, kind)
}

// InvalidDisplayWidth: 1439.
func InvalidDisplayWidth(column string, max int) *Error {
	return New(1439, "42000", "Display width out of range for column '%s' (max = %d)", column, max)
}

// InvalidSizeOfType: 3013, BIT(0) and the like.
func InvalidSizeOfType(column string) *Error {
	return New(3013, "HY000", "Invalid size for column '%s'.", column)
}

// IllegalSetValue: 1367, a comma in a member of SET.
func IllegalSetValue(kind, val string) *Error {
	return New(1367, "22007", "Illegal %s '%s' value found during parsing", kind, val)
}

// TooManyValuesInSet: 1097.
func TooManyValuesInSet(column string) *Error {
	return New(1097, "HY000", "Too many strings for column %s and SET", column)
}

// WrongNameForIndex: 1280.
func WrongNameForIndex(name string) *Error {
	return New(1280, "42000", "Incorrect index name '%s'", name)
}

// CommentTooLong: 1629 of a column, 1628 of a table, 1688 of an index.
func CommentTooLong(number uint16, what, name string, max int) *Error {
	return New(number, "HY000", "Comment for %s '%s' is too long (max = %d)", what, name, max)
}

// PrefixZero: 1391, a key part of length 0.
func PrefixZero(column string) *Error {
	return New(1391, "HY000", "Key part '%s' length cannot be 0", column)
}

// ViewInvalid: 1347, something that is not of the type that is asked for.
func ViewInvalid(db, name, want string) *Error {
	return New(1347, "HY000", "'%s.%s' is not %s", db, name, want)
}

// WrongSchemaOfDefault: 3770, a default expression with a function that is
// not allowed there.
func WrongSchemaOfDefault(column, function string) *Error {
	return New(3770, "HY000", "Default value expression of column '%s' contains a disallowed function: %s.", column, function)
}

// UpdateTableUsed: 1093.
func UpdateTableUsed(table string) *Error {
	return New(1093, "HY000", "You can't specify target table '%s' for update in FROM clause", table)
}

// NonUpdatableTable: 1288.
func NonUpdatableTable(table, operation string) *Error {
	return New(1288, "HY000", "The target table %s of the %s is not updatable", table, operation)
}

// WrongNumberOfColumnsInSelectInto: 1222.
func WrongNumberOfColumnsInSelectInto() *Error {
	return New(1222, "21000", "The used SELECT statements have a different number of columns")
}

// DerivedColumnList: 1353.
func DerivedColumnList() *Error {
	return New(1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
}

// UnknownStorageEngine: 1286.
func UnknownStorageEngine(name string) *Error {
	return New(1286, "42000", "Unknown storage engine '%s'", name)
}

// InvalidJSONAttribute: 3981.
func InvalidJSONAttribute(text string) *Error {
	return New(3981, "HY000", "Invalid value for attribute SECONDARY_ENGINE_ATTRIBUTE: %s", text)
}

// WrongKeyColumn: 1167.
func WrongKeyColumn(column string) *Error {
	return New(1167, "42000", "The used storage engine can't index column '%s'", column)
}

// AccessDeniedForSchema: 1044 of a write to a virtual database.
func AccessDeniedForSchema(db string) *Error {
	return New(1044, "42000", "Access denied for user to database '%s'", db)
}

// UnresolvedLockTable: 3568.
func UnresolvedLockTable(name string) *Error {
	return New(3568, "HY000", "Unresolved table name '%s' in locking clause.", name)
}

// InvalidCharacterString: 1300, a literal that is no text of its character set.
func InvalidCharacterString(charset, val string) *Error {
	return New(1300, "HY000", "Invalid %s character string: '%s'", charset, val)
}
