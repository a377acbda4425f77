package sqlerr

// The numbers of TTL are TiDB's, from which its syntax comes.

// TTLColumnType: 8148.
func TTLColumnType(column string) *Error {
	return newError(8148, "HY000", "Field '%s' is of a not supported type for TTL config, expect DATETIME, DATE or TIMESTAMP", column)
}

// TTLDropColumn: 8149.
func TTLDropColumn(column string) *Error {
	return newError(8149, "HY000", "Cannot drop column '%s': needed by TTL config", column)
}

// TTLOptionWithoutTTL: 8150, TTL_ENABLE or TTL_JOB_INTERVAL of a table without
// TTL.
func TTLOptionWithoutTTL() *Error {
	return newError(8150, "HY000", "Cannot set TTL_ENABLE or TTL_JOB_INTERVAL on a table without TTL config")
}

// TTLOfTemporary: 8151.
func TTLOfTemporary() *Error {
	return newError(8151, "HY000", "Set TTL for temporary table is not allowed")
}

// TTLOfParent: 8152.
func TTLOfParent() *Error {
	return newError(8152, "HY000", "Set TTL for a table referenced by foreign key is not allowed")
}

// TTLJobInterval: 1231.
func TTLJobInterval(text string) *Error { return WrongValueForVariable("TTL_JOB_INTERVAL", text) }

// TTLInterval: 1210.
func TTLInterval(text string) *Error { return WrongArguments("TTL: INTERVAL " + text) }
