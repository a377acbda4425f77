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
// Window functions run over a partition at a time, a column each; aggregates
// over frames slide (slider) and cost the same whatever the frames are. ROLLUP
// keeps the open group of each level.
//
// One statement is one goroutine, except where a node requires more: parallel
// aggregation and exchange run copies of a pipeline over the partitions of its
// scan, each with a forked expr.Ctx. What the joins of a pipeline build is read
// once before and shared (sharedJoins); sets of DISTINCT values are put together
// after (dedup.merge).
//
// # Invariants
//
//	I1  An operator that returned an error or the end has only Close left;
//	    Close waits for every goroutine that the operator started.
//	I2  Everything that grows with the number of rows is accounted in the
//	    query's Tracker before it is used further. When a limit is reached, the
//	    account that can spill and holds most gives way; only where none can,
//	    the query fails with 3170, instead of the server with a lack of memory.
//	I3  Long loops look at the context at least once a batch; the error is the
//	    context's cause.
//	I4  Probing joins, filters, projections, distinct and limits keep the order
//	    of their (left) input.
//
//	I5  An operator that spills gives the same rows as in memory, to the last
//	    digit; in the same order where the plan relies on one (comesOrdered).
//
// # Spilling
//
// An account requests room. When memory is short, the operator itself spills, or
// a bigger one does: at once if it belongs to the same goroutine, and so waits
// in a Next of its own or has returned from it, else at its next look. Sorts
// write sorted runs and merge them. Joins, aggregations, DISTINCT and set
// operations cut rows into partitions by a hash of the key, and a partition
// that is still too large again. A window's partition is read from disk at the
// few places of its frames; the rows of a subquery are a sorted set of
// keys. See sorter, joinSpill, grouping, dedup, setOp, rowBuffer, bigPartition
// and diskSet; package spill has the files.
//
// It does not plan, lock or commit: the session does the former and sets
// savepoints around changes, the Source and the Sink lock.
package exec
