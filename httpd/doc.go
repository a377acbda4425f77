// Package httpd answers HTTP: SQL under /v1, the health of the server, and what the
// server adds to it, such as metrics and a console.
//
// A request is a session like that of any client: the wire gives it an account and a
// seat (mysqlwire.Guest), and its results are written by a mysqlwire.ResultWriter
// (result.go) that encodes batches of columns (encode.go) in one of four formats.
// So privileges, limits, KILL, the process list and the logs need nothing of their own.
//
// # Invariants
//
//	I1  A request without the right account learns nothing and changes nothing; no
//	    body of one is read.
//	I2  A response that is cut can be told from a complete one: its last chunk is
//	    missing, and NDJSON has no line "end".
//	I3  Memory does not grow with a result, nor with a body of /v1/load. Other bodies are
//	    counted in the memory of the server.
//	I4  A statement ends when its client goes, also while it waits for the client.
//	I5  A panic ends the request and its session, not the server.
//
// openapi.json describes the interface; a test compares it with the routes.
package httpd
