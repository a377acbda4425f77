// Package job runs the work that a server does in the background: removal of
// expired rows, retention of change logs and versions, continued index builds,
// backups, the loops of search indexes.
//
// A Runner starts, lists and stops jobs. A job does its work in turns: a turn has
// a beginning and an end, can be killed, and is counted. A job that loops goes on
// after a turn that failed.
//
//   - I1. A panic in a job is an error of its turn, or of the job; it never ends
//     the process.
//   - I2. After Stop no job runs.
//   - I3. Kill ends a turn, never a job: a loop that must not stop cannot be
//     stopped by it.
//
// Jobs have ids beyond those of connections, so that KILL finds them.
package job
