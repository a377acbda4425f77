// Package memkv is the storage engine that keeps everything in memory, in one
// copy-on-write B-tree.
//
// # Model
//
// The committed state is a persistent tree; a snapshot is a copy of its root.
// A commit changes the tree under one mutex. Transactions come from package
// txn. It is the simple reference against which the other engines are tested,
// and it serves tests and temporary databases.
//
// # Invariants
//
//	I1  A tree that a reader holds is never changed.
//	I2  Entries of the tree are immutable.
//
// Nothing is durable: Durability is ignored and Close forgets all.
package memkv
