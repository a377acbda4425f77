package sqlerr

// The constructors of errors of LOAD DATA, by number.

// LoadedBefore: 1105, the note of a load whose token is known.
func LoadedBefore(token string) *Error {
	return newError(1105, "HY000", "Loaded before: '%s'", token)
}

// TooFewRecords: 1261, a line with fewer fields than columns; row counts from 1.
func TooFewRecords(row int) *Error {
	return newError(1261, "01000", "Row %d doesn't contain data for all columns", row)
}

// TooManyRecords: 1262, a line with more fields than columns; row counts from 1.
func TooManyRecords(row int) *Error {
	return newError(1262, "01000", "Row %d was truncated; it contained more data than there were input columns", row)
}

// LineLeftOut is e as the warning for a line that sqlots_load_rejects let the load
// leave out.
func LineLeftOut(line int, e *Error) *Error {
	return newError(e.Number, e.State, "Line %d left out: %s", line, e.Message)
}

// TooManyRejects is e as the error of a load that left out max lines before.
func TooManyRejects(line int, e *Error, max int) *Error {
	return newError(e.Number, e.State, "Line %d: %s (sqlots_load_rejects = %d)", line, e.Message, max)
}

// InvalidJSONLine: 3140 of a line that is no object of JSON with known columns.
func InvalidJSONLine(line int, reason string) *Error {
	return newError(3140, "22032", "Line %d: %s", line, reason)
}
