// Package bench loads a call-record data set into any server that speaks the
// MySQL protocol and measures how fast it answers.
//
// # Model
//
// Row i of the table is a pure function of (seed, sizes, i), see dataset: so
// loading needs no files, a query's parameters are drawn from rows that exist,
// and the right answer of every query is known without a server. A
// target is one server. A workload is a statement with parameters that are
// drawn again for each operation. A measurement runs one workload over some
// connections for some time; its numbers are rate, latency percentiles, and
// the CPU time that server and client spent for one operation.
//
// The client shares the machine with the server, so it must cost little: the
// handshake is done by github.com/go-sql-driver/mysql, then client speaks the
// protocol itself over the same socket with one reused buffer.
//
// # Invariants
//
//	I1  Two targets get the same operations: parameters depend on the seed,
//	    the workload and the connection's number only.
//	I2  An answer with a wrong number of rows, or of a point select with a
//	    wrong row, is an error and is not counted as an operation.
//	I3  Inserts never meet a key that exists: their start times continue after
//	    the greatest one in the table.
//	I4  Before anything is measured, each reading workload's answers are
//	    compared with the truth, as long as the table is unchanged since load.
//
// The package does not start or configure servers, and does not measure over
// TLS or compressed connections.
package bench
