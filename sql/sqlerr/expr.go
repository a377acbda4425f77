package sqlerr

// The constructors of errors that expressions raise.

// IllegalCollationMix: 1267.
func IllegalCollationMix(a, coerceA, b, coerceB, operation string) *Error {
	return New(1267, "HY000", "Illegal mix of collations (%s,%s) and (%s,%s) for operation '%s'", a, coerceA, b, coerceB, operation)
}

// IllegalCollationMixN: 1271, of more than two operands.
func IllegalCollationMixN(operation string) *Error {
	return New(1271, "HY000", "Illegal mix of collations for operation '%s'", operation)
}

// WrongValue: 1525 of a constant that cannot be compared with a date or time;
// kind is DATE, DATETIME, TIMESTAMP or TIME.
func WrongValue(kind, val string) *Error {
	return New(1525, "HY000", "Incorrect %s value: '%s'", kind, val)
}

// WrongValueForType: 1411, of STR_TO_DATE, DATE_ADD and the like.
func WrongValueForType(kind, val, function string) *Error {
	return New(1411, "HY000", "Incorrect %s value: '%s' for function %s", kind, val, function)
}

// PacketOverflow: 1301, the warning of a string function whose result is
// longer than max_allowed_packet and therefore NULL.
func PacketOverflow(function string, limit int) *Error {
	return New(1301, "HY000", "Result of %s() was larger than max_allowed_packet (%d) - truncated", function, limit)
}

// LogarithmArgument: 3020.
func LogarithmArgument() *Error { return New(3020, "2201E", "Invalid argument for logarithm") }

// InvalidJSONDocument: 3146, an argument that is no JSON and no text.
func InvalidJSONDocument(arg int, function string) *Error {
	return New(3146, "22032", "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.", arg, function)
}

// InvalidJSONCharset: 3144, JSON from a binary string.
func InvalidJSONCharset(charset string) *Error {
	return New(3144, "22032", "Cannot create a JSON value from a string with CHARACTER SET '%s'.", charset)
}

// JSONWildcard: 3149, a path with wildcards where one place is meant.
func JSONWildcard() *Error {
	return New(3149, "42000", "In this situation, path expressions may not contain the * and ** tokens or an array range.")
}

// JSONNullKey: 3158, NULL as a member name.
func JSONNullKey() *Error {
	return New(3158, "22032", "JSON documents may not contain NULL member names.")
}

// JSONOneOrAll: 3154.
func JSONOneOrAll(function string) *Error {
	return New(3154, "42000", "The oneOrAll argument to %s may take these values: 'one' or 'all'.", function)
}

// JSONVacuousPath: 3153, the path '$' where a part of the document is meant.
func JSONVacuousPath() *Error {
	return New(3153, "42000", "The path expression '$' is not allowed in this context.")
}

// JSONBadArrayCell: 3165, an insertion path that does not end in an array cell.
func JSONBadArrayCell() *Error {
	return New(3165, "42000", "A path expression is not a path to a cell in an array.")
}

// RegexpSyntax: 3692; the message is the engine's.
func RegexpSyntax(message string) *Error {
	return New(3692, "HY000", "Incorrect description of a regular expression: %s", message)
}

// RegexpIllegalArgument: 3685.
func RegexpIllegalArgument() *Error {
	return New(3685, "HY000", "Illegal argument to a regular expression.")
}

// RegexpIndex: 3686, a position outside of the subject.
func RegexpIndex() *Error {
	return New(3686, "HY000", "Index out of bounds in regular expression search.")
}

// RegexpTimeout: 3699.
func RegexpTimeout() *Error {
	return New(3699, "HY000", "Timeout exceeded in regular expression match.")
}

// RegexpCharset: 3995, a regular expression over binary strings.
func RegexpCharset(a, b, function string) *Error {
	return New(3995, "HY000", "Character set '%s' cannot be used in conjunction with '%s' in call to %s.", a, b, function)
}

// WrongStringForFunction: 1411 of a text that a function cannot take.
func WrongStringForFunction(val, function string) *Error {
	return New(1411, "HY000", "Incorrect string value: '%s' for function %s", val, function)
}

// UnknownLocale: 1649.
func UnknownLocale(name string) *Error { return New(1649, "HY000", "Unknown locale: '%s'", name) }
