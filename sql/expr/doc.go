// Package expr holds bound scalar expressions and evaluates them.
//
// # Model
//
// An Expr is an immutable tree with types; plans share it between sessions.
// All state of an evaluation lives in a Ctx that belongs to one goroutine:
// parameters, session values, warnings and scratch vectors. The same tree is
// evaluated over a batch (Eval, EvalFilter) or over one row of datums
// (EvalRow); both paths give the same values, errors and warnings, and a test
// holds them together.
//
// Constructors (NewFunc, NewCast, NewAgg, …) infer the result type as MySQL
// does and insert the conversions that arguments need, so that at run time
// every argument already has the kind that its function takes.
//
// Eval lends scratch vectors that the caller gives back with Ctx.Release;
// a column of the input is returned itself and is not to be written to. Values
// that functions make live in the Ctx's arena, which the loops over rows take
// back after each row.
//
// A part of an expression that is the same for all rows is evaluated once a
// batch, and warns once a statement and not once a row. In EvalFilter a NULL
// ends a conjunction for its row: operands after it are not evaluated.
//
// Calls have a kernel over whole vectors where everyday columns meet them: arithmetic,
// comparisons, control flow, parts and sums of dates, casts between numbers and times.
// A kernel takes the values that can neither fail nor warn, and leaves a row, or a batch,
// with others to the row form. Kernels may compute null and unselected positions, whose
// values are undefined. Errors and warnings come in the order of the rows; TestKernelsAgainstRows
// holds a new kernel to that.
//
// Comparisons leave columns bare where they can: literals take the column's
// type, and integers of either sign and width compare without casts. CmpTypeOf
// and LikeCollation report how a call compares.
//
// Not here: accumulators of aggregates and window functions (Agg and Window are
// data), names
// and clauses (the binder's), the algorithms of geometries (geo).
//
// # Invariants
//
//	I1  Type() is fixed at construction; every value of the expression is NULL
//	    or of kind types.KindOf(Type()).
//	I2  AND, OR, CASE, IF, COALESCE and IFNULL evaluate a branch only for the
//	    rows that need it: an error in a branch that is not taken is none.
//	I3  A function that is not deterministic (RAND, UUID, …) is marked and
//	    never folded.
package expr
