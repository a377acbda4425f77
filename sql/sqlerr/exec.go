package sqlerr

// The constructors of errors that the executor raises.

// CutByGroupConcat: 1260, a warning; row counts from 1.
func CutByGroupConcat(row int) *Error {
	return newError(1260, "HY000", "Row %d was cut by GROUP_CONCAT()", row)
}

// AutoIncrementFailed: 1467, the column's type has no further value.
func AutoIncrementFailed() *Error {
	return newError(1467, "HY000", "Failed to read auto-increment value from storage engine")
}

// RowOverLimit is 1118 for a row that the store does not take, in bytes.
func RowOverLimit(limit, size int64) *Error {
	return newError(1118, "42000", "Row size too large. The maximum row size for the used table type is %d bytes, this row needs %d. Change some columns to TEXT or BLOBs", limit, size)
}

// InvalidUseOfNull: 1138, NULL in a column that ALTER TABLE makes NOT NULL.
func InvalidUseOfNull() *Error { return newError(1138, "22004", "Invalid use of NULL value") }

// TooManyRows: 1172, SELECT … INTO of more than one row.
func TooManyRows() *Error {
	return newError(1172, "42000", "Result consisted of more than one row")
}

// CrashedOnUsage: 1194; damage says what was found.
func CrashedOnUsage(damage string) *Error {
	return newError(1194, "HY000", "Table is marked as crashed and should be repaired: %s; restore a backup", damage)
}

// NoData: 1329, the warning of SELECT … INTO without a row.
func NoData() *Error {
	return newError(1329, "02000", "No data - zero rows fetched, selected, or processed")
}

// TooManyPrepared: 1461.
func TooManyPrepared(max int) *Error {
	return newError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", max)
}
