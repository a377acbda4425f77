// Package planner turns a bound statement into a physical plan: rewrite rules,
// then access paths, join order and operators by cost.
//
// Plan is its only entry. The phases live in sub-packages: bind (before this
// one), logical, rewrite, access, cost and physical. This package walks the
// logical plan and builds the physical one bottom-up; what a node wants of its
// input (columns, an order, a number of rows) goes down as a request, what it
// gets (layout, order, estimates) comes up as a rel.
//
// # Invariants
//
//	I1  A plan holds for all values of its parameters: their values at planning
//	    time decide costs only.
//	I2  A limit is requested of an input only if the consumer stops after that many
//	    of its rows; nodes that drop or join rows do not pass it on. A rel is
//	    ordered only if its rows come in the order of the request.
//	I3  Each condition of a join is checked exactly once, in every order of the
//	    joins.
//	I4  With any rules and operators switched off (Rules, Operators) a statement
//	    gives the same rows; package plantest tests that.
package planner
