// Package exec runs physical plans: it builds a tree of operators from a plan
// and pulls batches of column vectors through it; changes go to a Sink.
//
// # Model
//
// Build makes one operator of each node; RunQuery pulls the root and hands its
// batches out, RunChange computes the rows of INSERT, UPDATE and DELETE and
// writes them. Leaves are opened through Source, which the storage side
// implements. Operators that keep rows keep them in a rowStore (dense columns
// in chunks) and find them by tables of 64-bit words or of encoded keys.
//
// One statement is one goroutine, except where a node asks for more: parallel
// aggregation and exchange run copies of a pipeline over the partitions of its
// scan, each with a forked expr.Ctx.
//
// # Invariants
//
//	I1  An operator that returned an error or the end has only Close left;
//	    Close waits for every goroutine that the operator started.
//	I2  Everything that grows with the number of rows is accounted in the
//	    query's Tracker before it is used further, so that a query fails with
//	    3170 instead of the server with a lack of memory.
//	I3  Long loops look at the context at least once a batch; the error is the
//	    context's cause.
//	I4  Probing joins, filters, projections, distinct and limits keep the order
//	    of their (left) input.
//
// It does not plan, lock or commit: the session does the former and sets
// savepoints around changes, the Source and the Sink lock. Operators do not
// spill yet; Tracker.OnPressure is the place from which they will.
package exec
