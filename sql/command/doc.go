// Package command runs the statements that are neither queries, changes of rows
// nor control of the connection: changes of the schema, accounts, ANALYZE, CHECK
// and CHECKSUM TABLE, BACKUP, KILL, FLUSH, and CALL of the procedures of change
// logs. It implements statement.Commands. ContinueBuilds goes on with index builds
// that an earlier run of the server has left.
//
// A change of the schema commits the open transaction before it begins, and again
// when it is done (MySQL manual, Statements That Cause an Implicit Commit).
package command
