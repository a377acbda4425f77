// Package mysqlwire speaks the server side of the MySQL client/server
// protocol: packets, handshake, authentication, commands, text and binary
// result sets. The engine is a Backend and its Sessions.
//
// A Server accepts connections; each has one goroutine, which reads a command,
// calls the session and writes the answer. Answers are built in one buffer,
// taken from a pool when a command begins and given back when the connection
// falls idle, and leave with one write, or with one write per 32 KiB while
// rows stream. Rows are encoded straight from column vectors; the encoded
// column definitions are kept with the Header, which a plan keeps in turn.
//
// Each listener has an entrance (crowd.go), where a bounded number of connections
// wait until they have logged in; then they take a seat (seats.go), of which there
// are max_connections. Failed logins are counted by address and user
// (failures.go), and make later attempts wait.
//
// One monitor goroutine per Server looks after all connections: it cancels
// what runs for a client that has gone, and closes connections that exceed
// wait_timeout or net_write_timeout. A command pays for that with an atomic
// store per phase, not with timers or wake-ups.
//
// # Invariants
//
//	I1  A command has exactly one final answer: an OK, an end of rows without
//	    More, or an error (COM_STMT_CLOSE, COM_STMT_SEND_LONG_DATA and COM_QUIT
//	    have none).
//	I2  Nothing read from a client is trusted: each length is checked against
//	    what is there, memory grows with bytes received and not with lengths
//	    announced, and a malformed command is answered with 1835.
//	I3  After a broken framing (sequence, oversized packet) the connection is
//	    closed, after the error has been sent.
//	I4  A session's method never runs twice at a time, and never after Close.
//	I5  Text from a client is copied before a session sees it; the bytes of
//	    statement parameters are valid during Execute only.
//	I6  What a client that cannot log in sees is the same whether or not there is
//	    such an account. Before a login, the costly checks of passwords take turns,
//	    and memory is bounded by the number of connections.
//
// The package converts no character sets: text passes as UTF-8 in both
// directions and the session refuses other client character sets. It knows
// neither replication commands nor X protocol nor zstd compression.
package mysqlwire
