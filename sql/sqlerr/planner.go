package sqlerr

// TooManyTables is 1116: a join of more tables than the planner orders.
func TooManyTables(max int) *Error {
	return newError(1116, "HY000", "Too many tables; MySQL can only use %d tables in a join", max)
}

// RecursiveRequiresUnion is 3573: a CTE that reads itself and is no union.
func RecursiveRequiresUnion(name string) *Error {
	return newError(3573, "HY000", "Recursive Common Table Expression '%s' should contain a UNION", name)
}

// RecursiveRequiresNonrecursiveFirst is 3574.
func RecursiveRequiresNonrecursiveFirst(name string) *Error {
	return newError(3574, "HY000", "Recursive Common Table Expression '%s' should have one or more non-recursive query blocks followed by one or more recursive ones", name)
}

// RecursiveForbidsAggregation is 3575.
func RecursiveForbidsAggregation(name string) *Error {
	return newError(3575, "HY000", "Recursive Common Table Expression '%s' can contain neither aggregation nor window functions in recursive query block", name)
}

// RecursiveForbiddenJoinOrder is 3576.
func RecursiveForbiddenJoinOrder(name string) *Error {
	return newError(3576, "HY000", "In recursive query block of Recursive Common Table Expression '%s', the recursive table must neither be in the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints", name)
}

// RecursiveRequiresSingleReference is 3577.
func RecursiveRequiresSingleReference(name string) *Error {
	return newError(3577, "HY000", "In recursive query block of Recursive Common Table Expression '%s', the recursive table must be referenced only once, and not in any subquery", name)
}

// MaxRecursionDepth is 3636: cte_max_recursion_depth is not enough.
func MaxRecursionDepth(iterations uint64) *Error {
	return newError(3636, "HY000", "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value.", iterations)
}

// ConflictingHint is 3126: an optimizer hint, as written, that another one
// contradicts.
func ConflictingHint(hint string) *Error {
	return newError(3126, "HY000", "Hint %s is ignored as conflicting/duplicated", hint)
}

// UnknownQueryBlock is 3127.
func UnknownQueryBlock(name, hint string) *Error {
	return newError(3127, "HY000", "Query block name `%s` is not found for %s hint", name, hint)
}

// NotHintVariable is 3637.
func NotHintVariable(name string) *Error {
	return newError(3637, "HY000", "Variable '%s' cannot be set using SET_VAR hint.", name)
}
