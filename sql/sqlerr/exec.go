package sqlerr

// The constructors of errors that the executor raises.

// CutByGroupConcat: 1260, a warning; row counts from 1.
func CutByGroupConcat(row int) *Error {
	return New(1260, "HY000", "Row %d was cut by GROUP_CONCAT()", row)
}

// AutoIncrementFailed: 1467, the column's type has no further value.
func AutoIncrementFailed() *Error {
	return New(1467, "HY000", "Failed to read auto-increment value from storage engine")
}
