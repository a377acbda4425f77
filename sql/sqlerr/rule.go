package sqlerr

// CheckNotBoolean: 3812.
func CheckNotBoolean(name string) *Error {
	return newError(3812, "HY000", "An expression of non-boolean type specified to a check constraint '%s'.", name)
}

// ColumnCheckReadsOther: 3813, a column's own check that reads another column.
func ColumnCheckReadsOther(name string) *Error {
	return newError(3813, "HY000", "Column check constraint '%s' references other column.", name)
}

// CheckNamedFunction: 3814.
func CheckNamedFunction(name, function string) *Error {
	return newError(3814, "HY000", "An expression of a check constraint '%s' contains disallowed function: %s.", name, function)
}

// CheckFunction: 3815.
func CheckFunction(name string) *Error {
	return newError(3815, "HY000", "An expression of a check constraint '%s' contains disallowed function.", name)
}

// CheckVariables: 3816.
func CheckVariables(name string) *Error {
	return newError(3816, "HY000", "An expression of a check constraint '%s' cannot refer to a user or system variable.", name)
}

// CheckRowValue: 3817.
func CheckRowValue(name string) *Error {
	return newError(3817, "HY000", "Check constraint '%s' cannot refer to a row value.", name)
}

// CheckReadsAutoIncrement: 3818.
func CheckReadsAutoIncrement(name string) *Error {
	return newError(3818, "HY000", "Check constraint '%s' cannot refer to an auto-increment column.", name)
}

// CheckViolated: 3819.
func CheckViolated(name string) *Error {
	return newError(3819, "HY000", "Check constraint '%s' is violated.", name)
}

// CheckUnknownColumn: 3820.
func CheckUnknownColumn(name, column string) *Error {
	return newError(3820, "HY000", "Check constraint '%s' refers to non-existing column '%s'.", name, column)
}

// CheckNotFound: 3821.
func CheckNotFound(name string) *Error {
	return newError(3821, "HY000", "Check constraint '%s' is not found in the table.", name)
}

// CheckDuplicateName: 3822.
func CheckDuplicateName(name string) *Error {
	return newError(3822, "HY000", "Duplicate check constraint name '%s'.", name)
}

// DependentByCheck: 3959.
func DependentByCheck(name, column string) *Error {
	return newError(3959, "HY000", "Check constraint '%s' uses column '%s', hence column cannot be dropped or renamed.", name, column)
}

// ConstraintNotFound: 3940, of DROP and ALTER CONSTRAINT.
func ConstraintNotFound(name string) *Error {
	return newError(3940, "HY000", "Constraint '%s' does not exist.", name)
}

// ConstraintEnforcement: 3941, ENFORCED of a constraint that is no CHECK.
func ConstraintEnforcement(name string) *Error {
	return newError(3941, "HY000", "Altering constraint enforcement is not supported for the constraint '%s'. Enforcement state alter is not supported for the PRIMARY, UNIQUE and FOREIGN KEY type constraints.", name)
}

// GeneratedValueGiven: 3105.
func GeneratedValueGiven(column, table string) *Error {
	return newError(3105, "HY000", "The value specified for generated column '%s' in table '%s' is not allowed.", column, table)
}

// GeneratedAction: 3106.
func GeneratedAction(action string) *Error {
	return newError(3106, "HY000", "'%s' is not supported for generated columns.", action)
}

// GeneratedFunction: 3102.
func GeneratedFunction(column string) *Error {
	return newError(3102, "HY000", "Expression of generated column '%s' contains a disallowed function.", column)
}

// GeneratedNonPrior: 3107.
func GeneratedNonPrior() *Error {
	return newError(3107, "HY000", "Generated column can refer only to generated columns defined prior to it.")
}

// DependentByGenerated: 3108.
func DependentByGenerated(column string) *Error {
	return newError(3108, "HY000", "Column '%s' has a generated column dependency.", column)
}

// GeneratedReadsAutoIncrement: 3109.
func GeneratedReadsAutoIncrement(column string) *Error {
	return newError(3109, "HY000", "Generated column '%s' cannot refer to auto-increment column.", column)
}

// GeneratedNamedFunction: 3763.
func GeneratedNamedFunction(column, function string) *Error {
	return newError(3763, "HY000", "Expression of generated column '%s' contains a disallowed function: %s.", column, function)
}

// GeneratedRowValue: 3764.
func GeneratedRowValue(column string) *Error {
	return newError(3764, "HY000", "Expression of generated column '%s' cannot refer to a row value.", column)
}

// GeneratedVariables: 3765.
func GeneratedVariables(column string) *Error {
	return newError(3765, "HY000", "Expression of generated column '%s' cannot refer user or system variables.", column)
}

// DependentByDefault: 3766.
func DependentByDefault(column, table string) *Error {
	return newError(3766, "HY000", "Column '%s' of table '%s' has a default value expression dependency and cannot be dropped or renamed.", column, table)
}

// DefaultNonPrior: 3767.
func DefaultNonPrior(column string) *Error {
	return newError(3767, "HY000", "Default value expression of column '%s' cannot refer to a column defined after it if that column is a generated column or has an expression as default value.", column)
}

// DefaultReadsAutoIncrement: 3768.
func DefaultReadsAutoIncrement(column string) *Error {
	return newError(3768, "HY000", "Default value expression of column '%s' cannot refer to an auto-increment column.", column)
}

// DefaultFunction: 3769.
func DefaultFunction(column string) *Error {
	return newError(3769, "HY000", "Default value expression of column '%s' contains a disallowed function.", column)
}

// DefaultRowValue: 3771.
func DefaultRowValue(column string) *Error {
	return newError(3771, "HY000", "Default value expression of column '%s' cannot refer to a row value.", column)
}

// DefaultVariables: 3772.
func DefaultVariables(column string) *Error {
	return newError(3772, "HY000", "Default value expression of column '%s' cannot refer user or system variables.", column)
}

// FunctionalIndexOnJSON: 3753.
func FunctionalIndexOnJSON() *Error {
	return newError(3753, "HY000", "Cannot create a functional index on a function that returns a JSON or GEOMETRY value.")
}

// FunctionalIndexAutoIncrement: 3754.
func FunctionalIndexAutoIncrement(index string) *Error {
	return newError(3754, "HY000", "Functional index '%s' cannot refer to an auto-increment column.", index)
}

// FunctionalIndexPrimaryKey: 3756.
func FunctionalIndexPrimaryKey() *Error {
	return newError(3756, "HY000", "The primary key cannot be a functional index.")
}

// FunctionalIndexOnLOB: 3757.
func FunctionalIndexOnLOB() *Error {
	return newError(3757, "HY000", "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST.")
}

// FunctionalIndexFunction: 3758.
func FunctionalIndexFunction(index string) *Error {
	return newError(3758, "HY000", "Expression of functional index '%s' contains a disallowed function.", index)
}

// FunctionalIndexKey: 3761, an expression of a type that is no key.
func FunctionalIndexKey(index string) *Error {
	return newError(3761, "HY000", "The used storage engine cannot index the expression '%s'.", index)
}

// FunctionalIndexOnField: 3762.
func FunctionalIndexOnField() *Error {
	return newError(3762, "HY000", "Functional index on a column is not supported. Consider using a regular index instead.")
}

// InvalidJSONForIndex: 3903, an element that the array of a multi-valued index
// cannot have.
func InvalidJSONForIndex(index string) *Error {
	return newError(3903, "22018", "Invalid JSON value for CAST for functional index '%s'.", index)
}

// JSONOutOfRangeForIndex: 3904.
func JSONOutOfRangeForIndex(index string) *Error {
	return newError(3904, "22003", "Out of range JSON value for CAST for functional index '%s'.", index)
}

// ArrayTooLong: 3906, the elements of one row in a multi-valued index.
func ArrayTooLong(index string, over int) *Error {
	return newError(3906, "HY000", "Exceeded max total length of values per record for multi-valued index '%s' by %d bytes.", index, over)
}

// DataTooLongForIndex: 3907.
func DataTooLongForIndex(index string) *Error {
	return newError(3907, "22001", "Data too long for functional index '%s'.", index)
}

// FunctionalIndexRowValue: 3800.
func FunctionalIndexRowValue(index string) *Error {
	return newError(3800, "HY000", "Expression of functional index '%s' cannot refer to a row value.", index)
}

// DependentByFunctionalIndex: 3837.
func DependentByFunctionalIndex(column string) *Error {
	return newError(3837, "HY000", "Column '%s' has a functional index dependency and cannot be dropped or renamed.", column)
}

// DefaultOfExpression: 3773, DEFAULT(c) of a column whose default is an
// expression.
func DefaultOfExpression() *Error {
	return newError(3773, "HY000", "DEFAULT function cannot be used with default value expressions")
}
