// Package loaddata is LOAD DATA, SELECT … INTO OUTFILE and INTO DUMPFILE.
//
// The lines of a file are the rows of a virtual table from which an INSERT is made
// (Run). A large file goes into the store as sorted runs
// (statement.ChangeInBulk); where that meets a duplicate key, all is done again row
// by row, as a small file is from the start. A reader (loadread.go) splits fields
// ahead of the executor.
//
// Files of the server are read and written only within secure_file_priv.
package loaddata
