// Package querylog writes MySQL's slow query log and general query log: to
// files in MySQL's format, which mysqldumpslow and pt-query-digest read, and to
// the last lines that the tables mysql.slow_log and mysql.general_log show.
//
// Log and Note decide nothing: the caller knows whether a statement is slow.
// Passwords in statements are replaced by <secret>.
//
// A file that cannot be opened or written is reported to the server's log once,
// and the statements go on. Files are opened for appending, and again after
// Reopen, so that they can be renamed meanwhile.
package querylog
