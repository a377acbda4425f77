// Package spill keeps rows in temporary files: what the executor's operators
// spilled when a query reaches its memory limit.
//
// # Model
//
// A Disk is a directory with a budget of bytes and of open files. A File is an
// append-only temporary file of checksummed, compressed pieces; it has no name
// where the system allows to remove an open file. Rows is a sequence of rows
// in a File: batches of column vectors are appended, then read forward again,
// as often as wanted, from any row on. Many Rows share one File; it is closed
// with the last of them.
//
// # Block
//
// A block is some rows. Its body is stored in pieces of up to 256 KiB, most in
// one: rows of any size are written through small buffers, and the statement can
// be ended after each piece. Where the pieces are is kept in memory.
//
//	offset size
//	0      4    bytes of the piece, as stored (little endian, as all numbers)
//	4      4    bytes of the piece, decompressed
//	8      4    CRC-32C of the bytes above and of the piece
//	12          a part of the body: compressed by S2, or plain where that does
//	            not make it shorter (both sizes are equal then)
//
// The body is a batch by columns: the number of rows (4 bytes), then for each
// column a byte (1: a null bitmap of (rows+7)/8 bytes follows) and the values:
//
//	words     the least value (8 bytes), a width w of 0 to 8 bytes, then for
//	          each row its distance from the least in w bytes
//	floats    8 bytes each
//	decimals  a byte: 1 for one scale and coefficients of 64 bits (the scale in
//	          a byte, then words), 0 for the general form: each with its scale
//	          in a byte and its coefficient, either 16 bytes, or for those of
//	          more bits 128 added to the scale, sign, length and magnitude
//	bytes     the lengths as words, then all bytes
//
// # Invariants
//
//	I1  A piece that does not have its checksum is error 1030, never rows.
//	I2  Errors of the file system are errors of MySQL: 1021 when the disk is
//	    full, 1114 beyond the budget, 1030 for all others.
//	I3  Files go with the process: what a crash leaves under its name is
//	    removed by Open.
//
// It does not decide who spills and when: that is the executor's.
package spill
