package sqlerr

// The constructors of errors about search indexes and their queries, by number.

// TextQuery: 1064, a query of MATCH or TEXT_MATCH that is malformed or too complex.
func TextQuery(message string) *Error { return newError(1064, "42000", "%s", message) }

// TooManySearchFields is 1070 for the fields of a search index.
func TooManySearchFields(max int) *Error {
	return newError(1070, "42000", "Too many fields specified; max %d fields allowed in a search index", max)
}

// TooManyNestedFields is 1070 for the NESTED fields of a search index.
func TooManyNestedFields(max int) *Error {
	return newError(1070, "42000", "Too many NESTED fields specified; max %d allowed in a search index", max)
}

// TooManyNestedMembers is 1070 for the members of a NESTED field.
func TooManyNestedMembers(max int) *Error {
	return newError(1070, "42000", "Too many members specified; max %d members allowed in NESTED", max)
}

// CannotRemoveAllSearchFields is 1090 for ALTER SEARCH INDEX.
func CannotRemoveAllSearchFields() *Error {
	return newError(1090, "42000", "You can't delete all fields with ALTER SEARCH INDEX; use DROP INDEX instead")
}

// FunctionNotDefined: 1128, WITH PARSER with an unknown name.
func FunctionNotDefined(name string) *Error {
	return newError(1128, "HY000", "Function '%s' is not defined", name)
}

// NoFulltextIndex: 1191, MATCH of columns without an index.
func NoFulltextIndex() *Error {
	return newError(1191, "HY000", "Can't find FULLTEXT index matching the column list")
}

// BadFulltextColumn: 1283.
func BadFulltextColumn(column string) *Error {
	return newError(1283, "HY000", "Column '%s' cannot be part of FULLTEXT index", column)
}

// FulltextFunctionalIndex: 3759.
func FulltextFunctionalIndex() *Error {
	return newError(3759, "HY000", "Fulltext functional index is not supported.")
}

// SpatialFunctionalIndex: 3760.
func SpatialFunctionalIndex() *Error {
	return newError(3760, "HY000", "Spatial functional index is not supported.")
}
