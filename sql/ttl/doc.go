// Package ttl removes expired rows in the background. No statement sees them any
// more: this frees their space.
//
// Start runs the job for all tables that have a TTL, one after the other, each at
// its interval. The keys of expired rows are read from one snapshot; the rows are
// deleted, if they still have expired, in small transactions with pauses. Both go
// the way of every statement (package statement).
package ttl
