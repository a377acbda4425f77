// Package metrics counts what a server does: once, for SHOW STATUS,
// performance_schema, sys and /metrics alike.
//
// A [Session] has the numbers of one connection. Its connection records each
// statement as an [Event] when it ends: one uncontended lock, no allocation once
// the kind of statement has been seen. Numbers of all connections are sums over
// the sessions that are open and over the accounts of those that have ended, made
// when somebody reads them, so connections do not write to the same memory.
//
// Shared by sessions are the digests ([Digest]), whose numbers are in a few
// stripes, errors ([Errors]), the use of tables and indexes ([Use]), and which ranges
// of keys are read and written ([Heat]). [Cluster] is what a store on other machines
// counts of its calls.
//
// Names are those of MySQL 8.4: status variables (Server Status Variables,
// manual 7.1.10) and instruments of the Performance Schema (manual 29).
package metrics
