package sqlerr

// The constructors of errors about locks and transactions, by number.

// TableNotLockedForWrite: 1099.
func TableNotLockedForWrite(table string) *Error {
	return newError(1099, "HY000", "Table '%s' was locked with a READ lock and can't be updated", table)
}

// TableNotLocked: 1100.
func TableNotLocked(table string) *Error {
	return newError(1100, "HY000", "Table '%s' was not locked with LOCK TABLES", table)
}

// CommitOutcomeUnknown: 1180, the connection to the store broke during a commit.
func CommitOutcomeUnknown() *Error {
	return newError(1180, "HY000", "Got error 168 - 'the outcome of the commit is unknown' during COMMIT")
}

// LockOrActiveTransaction: 1192.
func LockOrActiveTransaction() *Error {
	return newError(1192, "HY000", "Can't execute the given command because you have active locked tables or an active transaction")
}

// CannotChangeTransactionCharacteristics: 1568.
func CannotChangeTransactionCharacteristics() *Error {
	return newError(1568, "25001", "Transaction characteristics can't be changed while a transaction is in progress")
}

// UserLockWrongName: 3057; of NULL name is "NULL".
func UserLockWrongName(name string) *Error {
	return newError(3057, "42000", "Incorrect user-level lock name '%s'.", name)
}

// UserLockDeadlock: 3058.
func UserLockDeadlock() *Error {
	return newError(3058, "HY000", "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting lock acquisition.")
}
