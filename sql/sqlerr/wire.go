package sqlerr

// The constructors of the protocol, by number.

// HostNotAllowed: 1130.
func HostNotAllowed(host string) *Error {
	return New(1130, "HY000", "Host '%s' is not allowed to connect to this MySQL server", host)
}

// ClientAuthTooOld: 1251, the client knows no plugin that the account needs.
func ClientAuthTooOld() *Error {
	return New(1251, "08004", "Client does not support authentication protocol requested by server; consider upgrading MySQL client")
}

// NotInPreparedProtocol: 1295.
func NotInPreparedProtocol() *Error {
	return New(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
}

// NoOpenCursor: 1421.
func NoOpenCursor(id uint32) *Error {
	return New(1421, "HY000", "The statement (%d) has no open cursor.", id)
}

// MalformedPacket: 1835.
func MalformedPacket() *Error { return New(1835, "HY000", "Malformed communication packet.") }

// AccountLocked: 3118.
func AccountLocked(user, host string) *Error {
	return New(3118, "HY000", "Access denied for user '%s'@'%s'. Account is locked.", user, host)
}

// LocalInfileDisabled: 3948.
func LocalInfileDisabled() *Error {
	return New(3948, "42000", "Loading local data is disabled; this must be enabled on both the client and server sides")
}
