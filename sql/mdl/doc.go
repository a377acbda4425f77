// Package mdl holds metadata locks: transactions share the tables that they
// use until they end, and a schema change takes a table alone.
//
// Requests for one table are served in order, so that a waiting schema change
// is not starved by new transactions; an owner that already shares a table is
// never queued after a waiter. A waiter gives up at its timeout, which also
// resolves cycles with row locks.
package mdl
