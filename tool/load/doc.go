// Package load is the command `sqlots load`: it loads files of CSV, TSV or
// JSON lines, also compressed, into a table.
//
// # Model
//
// All files together are cut at ends of records into pieces. Some connections
// send pieces side by side, each as one LOAD DATA LOCAL INFILE, which the server
// loads as a whole or not at all.
//
// sqlots keeps a token of each piece in the same commit as its rows (variable
// sqlots_load_token), so that a piece whose answer was lost can be sent again,
// and a job that was interrupted resumes with --resume where it stopped. A token
// holds the job's id, which ends in a checksum of everything that decides about
// pieces, and the number of the piece. Rows that cannot be stored are left out
// up to a limit (sqlots_load_rejects); the server keeps their errors with the
// token, and the records go to a file. Another server that speaks MySQL is
// loaded without tokens and rejects.
package load
