// Package privileges has tests of accounts, roles and grants as clients see them.
//
// TestModel makes a random history of accounts and grants, and compares what
// connections may do with a model: a list of facts that is walked. It shares no code with
// sql/priv.
//
// TestAccountsComeBack reads SHOW CREATE USER and SHOW GRANTS of random accounts, runs
// what it read on an empty server and compares the two.
package privileges
