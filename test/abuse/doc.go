// Package abuse runs hostile statements against a server that is a process of its
// own, under an address-space limit, together with a client that reads and writes
// rows.
//
// It holds only tests.
//
// # Invariants
//
//	I1  The process lives.
//	I2  Its resident memory stays within its budget and a fifth.
//	I3  A statement ends soon after KILL QUERY.
//	I4  The other client goes on: its rows are right, its statements are answered.
//
// Attackers of TestAttacks are processes of the lowest priority: they are other machines in
// life, and do not take the time of the server and of the other client.
//
// Memory and times are bounded loosely, since machines that run tests are busy: -strict
// holds the memory to I2, and times to 100 ms after KILL and to 250 ms for 99 % of the
// other client's statements.
//
// TestAttacks has one case for each known kind of attack, TestScripts changes the
// statements of testdata/sqllogic at random, TestGrammar makes statements by the rules of
// the parser's grammar, TestFunctions calls every function with
// large arguments of every kind. TestManyConnections, TestConnectStorm and
// TestSlowReaders are about connections, TestCursors, TestHandshakes, TestManyParameters
// and TestEndlessFiles about the protocol; TestLoad measures the memory under a mixed
// load, with -budget only. Normal runs take a part, -long a larger one, and with -strict all:
//
//	go test ./test/abuse -v -args -long -strict
//	go test ./test/abuse -v -run TestAttacks -args -strict -attack REGEXP
package abuse
