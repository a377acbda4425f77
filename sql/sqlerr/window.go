package sqlerr

// The constructors of errors about windows, grouping sets and GROUPING().
// Source: MySQL 8.4 error message reference.

// WindowUndefined: 3579.
func WindowUndefined(name string) *Error {
	return newError(3579, "HY000", "Window name '%s' is not defined.", name)
}

// WindowCircularity: 3580.
func WindowCircularity() *Error {
	return newError(3580, "HY000", "There is a circularity in the window dependency graph.")
}

// WindowChildPartition: 3581.
func WindowChildPartition() *Error {
	return newError(3581, "HY000", "A window which depends on another cannot define partitioning.")
}

// WindowInheritFrame: 3582.
func WindowInheritFrame(name string) *Error {
	return newError(3582, "HY000", "Window '%s' has a frame definition, so cannot be referenced by another window.", name)
}

// WindowRedefineOrder: 3583.
func WindowRedefineOrder(child, parent string) *Error {
	return newError(3583, "HY000", "Window '%s' cannot inherit '%s' since both contain an ORDER BY clause.", child, parent)
}

// WindowFrameStart: 3584.
func WindowFrameStart(name string) *Error {
	return newError(3584, "HY000", "Window '%s': frame start cannot be UNBOUNDED FOLLOWING.", name)
}

// WindowFrameEnd: 3585.
func WindowFrameEnd(name string) *Error {
	return newError(3585, "HY000", "Window '%s': frame end cannot be UNBOUNDED PRECEDING.", name)
}

// WindowFrameIllegal: 3586.
func WindowFrameIllegal(name string) *Error {
	return newError(3586, "HY000", "Window '%s': frame start or end is negative, NULL or of non-integral type", name)
}

// WindowRangeOrderType: 3587.
func WindowRangeOrderType(name string) *Error {
	return newError(3587, "HY000", "Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type", name)
}

// WindowRangeTemporal: 3588.
func WindowRangeTemporal(name string) *Error {
	return newError(3588, "HY000", "Window '%s' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.", name)
}

// WindowRangeNumeric: 3589.
func WindowRangeNumeric(name string) *Error {
	return newError(3589, "HY000", "Window '%s' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.", name)
}

// WindowBoundNotConstant: 3590.
func WindowBoundNotConstant(name string) *Error {
	return newError(3590, "HY000", "Window '%s' has a non-constant frame bound.", name)
}

// WindowDuplicate: 3591.
func WindowDuplicate(name string) *Error {
	return newError(3591, "HY000", "Window '%s' is defined twice.", name)
}

// WindowPosition: 3592, ORDER BY 1 in a window.
func WindowPosition(name string) *Error {
	return newError(3592, "HY000", "Window '%s': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression.", name)
}

// WindowFunctionUse: 3593; the message ends as MySQL's does.
func WindowFunctionUse(function string) *Error {
	return newError(3593, "HY000", "You cannot use the window function '%s' in this context.'", function)
}

// WindowAliasUse: 3594; the message ends as MySQL's does.
func WindowAliasUse(alias string) *Error {
	return newError(3594, "HY000", "You cannot use the alias '%s' of an expression containing a window function in this context.'", alias)
}

// WindowNested: 3595.
func WindowNested(name string) *Error {
	return newError(3595, "HY000", "You cannot nest a window function in the specification of window '%s'.", name)
}

// WindowRowsInterval: 3596.
func WindowRowsInterval(name string) *Error {
	return newError(3596, "HY000", "Window '%s': INTERVAL can only be used with RANGE frames.", name)
}

// GroupingNotInGroupBy: 3602; argument counts from 1.
func GroupingNotInGroupBy(argument int) *Error {
	return newError(3602, "HY000", "Argument #%d of GROUPING function is not in GROUP BY", argument)
}

// TooManyArguments: 3601.
func TooManyArguments(function string, n, max int) *Error {
	return newError(3601, "HY000", "Too many arguments for function %s: %d; maximum allowed is %d", function, n, max)
}
