package sqlerr

// The constructors of errors that expressions raise.

// IllegalCollationMix: 1267.
func IllegalCollationMix(a, coerceA, b, coerceB, operation string) *Error {
	return newError(1267, "HY000", "Illegal mix of collations (%s,%s) and (%s,%s) for operation '%s'", a, coerceA, b, coerceB, operation)
}

// IllegalCollationMixN: 1271, of more than two operands.
func IllegalCollationMixN(operation string) *Error {
	return newError(1271, "HY000", "Illegal mix of collations for operation '%s'", operation)
}

// WrongValue: 1525 of a constant that cannot be compared with a date or time;
// kind is DATE, DATETIME, TIMESTAMP or TIME.
func WrongValue(kind, val string) *Error {
	return newError(1525, "HY000", "Incorrect %s value: '%s'", kind, val)
}

// WrongValueForType: 1411, of STR_TO_DATE, DATE_ADD and the like.
func WrongValueForType(kind, val, function string) *Error {
	return newError(1411, "HY000", "Incorrect %s value: '%s' for function %s", kind, val, function)
}

// PacketOverflow: 1301, the warning of a string function whose result is
// longer than max_allowed_packet and therefore NULL.
func PacketOverflow(function string, limit int64) *Error {
	return newError(1301, "HY000", "Result of %s() was larger than max_allowed_packet (%d) - truncated", function, limit)
}

// LogarithmArgument: 3020.
func LogarithmArgument() *Error { return newError(3020, "2201E", "Invalid argument for logarithm") }

// InvalidJSONDocument: 3146, an argument that is no JSON and no text.
func InvalidJSONDocument(arg int, function string) *Error {
	return newError(3146, "22032", "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.", arg, function)
}

// InvalidJSONCharset: 3144, JSON from a binary string.
func InvalidJSONCharset(charset string) *Error {
	return newError(3144, "22032", "Cannot create a JSON value from a string with CHARACTER SET '%s'.", charset)
}

// JSONWildcard: 3149, a path with wildcards where one place is meant.
func JSONWildcard() *Error {
	return newError(3149, "42000", "In this situation, path expressions may not contain the * and ** tokens or an array range.")
}

// JSONNullKey: 3158, NULL as a member name.
func JSONNullKey() *Error {
	return newError(3158, "22032", "JSON documents may not contain NULL member names.")
}

// JSONOneOrAll: 3154.
func JSONOneOrAll(function string) *Error {
	return newError(3154, "42000", "The oneOrAll argument to %s may take these values: 'one' or 'all'.", function)
}

// JSONVacuousPath: 3153, the path '$' where a part of the document is meant.
func JSONVacuousPath() *Error {
	return newError(3153, "42000", "The path expression '$' is not allowed in this context.")
}

// JSONBadArrayCell: 3165, an insertion path that does not end in an array cell.
func JSONBadArrayCell() *Error {
	return newError(3165, "42000", "A path expression is not a path to a cell in an array.")
}

// RegexpSyntax: 3688, at a character of the pattern that counts from 1.
func RegexpSyntax(char int) *Error {
	return newError(3688, "HY000", "Syntax error in regular expression on line 1, character %d.", char)
}

// RegexpEscape: 3689.
func RegexpEscape() *Error {
	return newError(3689, "HY000", "Unrecognized escape sequence in regular expression.")
}

// RegexpParenthesis: 3691.
func RegexpParenthesis() *Error {
	return newError(3691, "HY000", "Mismatched parenthesis in regular expression.")
}

// RegexpInterval: 3692.
func RegexpInterval() *Error {
	return newError(3692, "HY000", "Incorrect description of a {min,max} interval.")
}

// RegexpMaxLessThanMin: 3693.
func RegexpMaxLessThanMin() *Error {
	return newError(3693, "HY000", "The maximum is less than the minimum in a {min,max} interval.")
}

// RegexpBackReference: 3694.
func RegexpBackReference() *Error {
	return newError(3694, "HY000", "Invalid back-reference in regular expression.")
}

// RegexpBracket: 3696.
func RegexpBracket() *Error {
	return newError(3696, "HY000", "The regular expression contains an unclosed bracket expression.")
}

// RegexpTooBig: 3700.
func RegexpTooBig() *Error {
	return newError(3700, "HY000", "Pattern exceeds limits on size or complexity.")
}

// RegexpRange: 3697.
func RegexpRange() *Error {
	return newError(3697, "HY000", "The regular expression contains an [x-y] character range where x comes after y.")
}

// RegexpGroupName: 3887.
func RegexpGroupName() *Error {
	return newError(3887, "HY000", "A capture group has an invalid name.")
}

// RegexpIllegalArgument: 3685.
func RegexpIllegalArgument() *Error {
	return newError(3685, "HY000", "Illegal argument to a regular expression.")
}

// RegexpIndex: 3686, a position outside of the subject.
func RegexpIndex() *Error {
	return newError(3686, "HY000", "Index out of bounds in regular expression search.")
}

// RegexpTimeout: 3699.
func RegexpTimeout() *Error {
	return newError(3699, "HY000", "Timeout exceeded in regular expression match.")
}

// RegexpCharset: 3995, a regular expression over binary strings.
func RegexpCharset(a, b, function string) *Error {
	return newError(3995, "HY000", "Character set '%s' cannot be used in conjunction with '%s' in call to %s.", a, b, function)
}

// WrongStringForFunction: 1411 of a text that a function cannot take.
func WrongStringForFunction(val, function string) *Error {
	return newError(1411, "HY000", "Incorrect string value: '%s' for function %s", val, function)
}

// UnknownLocale: 1649.
func UnknownLocale(name string) *Error { return newError(1649, "HY000", "Unknown locale: '%s'", name) }

// AESInvalidIV: 1882, an initialisation vector of fewer bytes than a block.
func AESInvalidIV(function string, size int) *Error {
	return newError(1882, "HY000", "The initialization vector supplied to %s is too short. Must be at least %d bytes long", function, size)
}

// AESInvalidKDF: 3235.
func AESInvalidKDF(function string) *Error {
	return newError(3235, "HY000", "KDF method name is not valid. Please use hkdf or pbkdf2_hmac method name (%s)", function)
}

// AESInvalidIterations: 3236.
func AESInvalidIterations(function string, lo, hi int) *Error {
	return newError(3236, "HY000", "For KDF method pbkdf2_hmac iterations value less than %d or more than %d, due to security reasons. Please use iterations value in between (%s)", lo, hi, function)
}

// AESInvalidKDFOption: 3238, salt or info that is NULL or too long.
func AESInvalidKDFOption(function string, size int) *Error {
	return newError(3238, "HY000", "KDF option size is invalid, please provide valid size < %d bytes and not NULL (%s)", size, function)
}

// OptionIgnored: 1618, the warning of an argument that has no effect.
func OptionIgnored(option string) *Error {
	return newError(1618, "HY000", "<%s> option ignored", option)
}

// ZlibDataError: 1259, a text that COMPRESS did not make.
func ZlibDataError() *Error { return newError(1259, "HY000", "ZLIB: Input data corrupted") }

// ZlibTooBig: 1256.
func ZlibTooBig(limit int64) *Error {
	return newError(1256, "HY000", "Uncompressed data size too large; the maximum size is %d (probably, length of uncompressed data was corrupted)", limit)
}

// BitOperandSize: 3513, binary strings of different length under & | ^.
func BitOperandSize() *Error {
	return newError(3513, "HY000", "Binary operands of bitwise operators must be of equal length")
}

// BitAggregateSize: 3514.
func BitAggregateSize(max int) *Error {
	return newError(3514, "HY000", "Aggregate bitwise functions cannot accept arguments longer than %d bytes; consider using the SUBSTRING() function", max)
}

// MissingJSONValue: 3966, of JSON_VALUE with ERROR ON EMPTY.
func MissingJSONValue(function string) *Error {
	return newError(3966, "22035", "No value was found by '%s' on the specified path.", function)
}

// MultipleJSONValues: 3967, of JSON_VALUE with ERROR ON ERROR.
func MultipleJSONValues(function string) *Error {
	return newError(3967, "22034", "More than one value was found by '%s' on the specified path.", function)
}

// InvalidJSONType: 3853, an argument whose JSON type is another one.
func InvalidJSONType(arg int, function, want string) *Error {
	return newError(3853, "22032", "Invalid JSON type in argument %d to function %s; an %s is required.", arg, function, want)
}

// InvalidJSONCast: 3156, a JSON value that is none of a type; row counts from 1.
func InvalidJSONCast(target, column string, row int) *Error {
	return newError(3156, "22018", "Invalid JSON value for CAST to %s from column %s at row %d", target, column, row)
}

// InvalidJSONCastOperand is 3156 for an operand that is no column.
func InvalidJSONCastOperand(target string) *Error {
	return newError(3156, "22018", "Invalid JSON value for CAST to %s", target)
}

// JSONDocumentTooDeep: 3157.
func JSONDocumentTooDeep() *Error {
	return newError(3157, "22032", "The JSON document exceeds the maximum depth.")
}

// InvalidCast: 3954, an operand of AT TIME ZONE that is no TIMESTAMP.
func InvalidCast(from, to string) *Error {
	return newError(3954, "HY000", "Cannot cast value to %s.", to)
}

// UnknownTimeZone: 1298.
func UnknownTimeZone(name string) *Error {
	return newError(1298, "HY000", "Unknown or incorrect time zone: '%s'", name)
}

// DigestArgument: 3676, a text without a statement digest.
func DigestArgument(cause error) *Error {
	message := cause.Error()
	if e, ok := cause.(*Error); ok {
		message = e.Message
	}
	return newError(3676, "HY000", "Could not parse argument to digest function: \"%s\".", message)
}

// MissingJSONTableValue: 3665, ERROR ON EMPTY of a column of JSON_TABLE.
func MissingJSONTableValue(column string) *Error {
	return newError(3665, "22035", "Missing value for JSON_TABLE column '%s'", column)
}

// WrongJSONTableValue: 3666, an array or object in a scalar column.
func WrongJSONTableValue(column string) *Error {
	return newError(3666, "2203F", "Can't store an array or an object in the scalar JSON_TABLE column '%s'", column)
}

// TableFunctionMustHaveAlias: 3667.
func TableFunctionMustHaveAlias() *Error {
	return newError(3667, "42000", "Every table function must have an alias")
}

// JSONTableOutOfRange: 3669, ERROR ON ERROR of a column of JSON_TABLE.
func JSONTableOutOfRange(column string) *Error {
	return newError(3669, "22003", "Value is out of range for JSON_TABLE's column '%s'", column)
}

// TooManyNestedPaths: 3670.
func TooManyNestedPaths(max int, table string) *Error {
	return newError(3670, "42000", "More than supported %d NESTED PATHs were found in JSON_TABLE '%s'", max, table)
}
