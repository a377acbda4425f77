package sqlerr

// The constructors of errors about accounts, by number.

// NoSuchUser: 1133, SET PASSWORD for an account that does not exist.
func NoSuchUser() *Error {
	return newError(1133, "42000", "Can't find any matching row in the user table")
}

// NoSuchGrant: 1141, SHOW GRANTS for an account that does not exist.
func NoSuchGrant(user, host string) *Error {
	return newError(1141, "42000", "There is no such grant defined for user '%s' on host '%s'", user, host)
}

// TooManyUserConnections: 1203.
func TooManyUserConnections(user string) *Error {
	return newError(1203, "42000", "User %s already has more than 'max_user_connections' active connections", user)
}

// PrivilegeNeeded: 1227.
func PrivilegeNeeded(privilege string) *Error {
	return newError(1227, "42000", "Access denied; you need (at least one of) the %s privilege(s) for this operation", privilege)
}

// GrantHasNoEffect: 1235, the note of GRANT.
func GrantHasNoEffect() *Error {
	return newError(1235, "42000", "GRANT has no effect: every account has all privileges")
}

// UserOperationFailed: 1396; operation is CREATE USER and the like, users are
// quoted names joined with ','.
func UserOperationFailed(operation, users string) *Error {
	return newError(1396, "HY000", "Operation %s failed for %s", operation, users)
}

// CannotCreateUserWithGrant: 1410.
func CannotCreateUserWithGrant() *Error {
	return newError(1410, "42000", "You are not allowed to create a user with GRANT")
}

// PluginNotLoaded: 1524.
func PluginNotLoaded(plugin string) *Error {
	return newError(1524, "HY000", "Plugin '%s' is not loaded", plugin)
}

// PasswordFormat: 1827, a hash that the plugin cannot have made.
func PasswordFormat() *Error {
	return newError(1827, "HY000", "The password hash doesn't have the expected format.")
}

// UserDoesNotExist: 3162, the note of IF EXISTS.
func UserDoesNotExist(user, host string) *Error {
	return newError(3162, "HY000", "Authorization ID '%s'@'%s' does not exist.", user, host)
}

// UserAlreadyExists: 3163, the note of IF NOT EXISTS.
func UserAlreadyExists(user, host string) *Error {
	return newError(3163, "HY000", "Authorization ID '%s'@'%s' already exists.", user, host)
}

// TLSSetup: 3888, ALTER INSTANCE RELOAD TLS failed.
func TLSSetup(err error) *Error {
	return newError(3888, "HY000", "Failed to set up SSL because of the following SSL library error: %v", err)
}
