package sqlerr

// The constructors of the protocol, by number.

// ClientAuthTooOld: 1251, the client knows no plugin that the account needs.
func ClientAuthTooOld() *Error {
	return newError(1251, "08004", "Client does not support authentication protocol requested by server; consider upgrading MySQL client")
}

// NotInPreparedProtocol: 1295.
func NotInPreparedProtocol() *Error {
	return newError(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
}

// NoOpenCursor: 1421.
func NoOpenCursor(id uint32) *Error {
	return newError(1421, "HY000", "The statement (%d) has no open cursor.", id)
}

// MalformedPacket: 1835.
func MalformedPacket() *Error { return newError(1835, "HY000", "Malformed communication packet.") }

// AccountLocked: 3118.
func AccountLocked(user, host string) *Error {
	return newError(3118, "HY000", "Access denied for user '%s'@'%s'. Account is locked.", user, host)
}

// LocalInfileDisabled: 3948.
func LocalInfileDisabled() *Error {
	return newError(3948, "42000", "Loading local data is disabled; this must be enabled on both the client and server sides")
}
