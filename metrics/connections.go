package metrics

import "sync/atomic"

// Connections count what becomes of clients outside of statements.
type Connections struct {
	// Attempts are the clients that have connected, whether or not they logged in.
	Attempts atomic.Int64
	// Aborted are those that have logged in and ended without a word: they were lost,
	// too slow, or had nothing to say for too long.
	Aborted atomic.Int64
	// Full, Denied and Unfinished are those that were refused for want of a place, that
	// were refused for another reason, and that left or were too slow at the login.
	Full, Denied, Unfinished atomic.Int64
	// NotAccepted are failures of the system to accept a client, Internal those of the
	// server.
	NotAccepted, Internal atomic.Int64
	// TLSBegun and TLSMade are handshakes.
	TLSBegun, TLSMade atomic.Int64
}
