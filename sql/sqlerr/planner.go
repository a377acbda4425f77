package sqlerr

// TooManyTables is 1116: a join of more tables than the planner orders.
func TooManyTables(max int) *Error {
	return New(1116, "HY000", "Too many tables; MySQL can only use %d tables in a join", max)
}
