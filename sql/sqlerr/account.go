package sqlerr

// The constructors of errors about accounts, by number.

// DatabaseAccessDenied: 1044; host is that of the account.
func DatabaseAccessDenied(user, host, db string) *Error {
	return newError(1044, "42000", "Access denied for user '%s'@'%s' to database '%s'", user, host, db)
}

// NotThreadOwner: 1095, KILL of another account's connection.
func NotThreadOwner(id uint64) *Error {
	return newError(1095, "HY000", "You are not owner of thread %d", id)
}

// NoSuchUser: 1133, SET PASSWORD for an account that does not exist.
func NoSuchUser() *Error {
	return newError(1133, "42000", "Can't find any matching row in the user table")
}

// NoSuchGrant: 1141, SHOW GRANTS for an account that does not exist.
func NoSuchGrant(user, host string) *Error {
	return newError(1141, "42000", "There is no such grant defined for user '%s' on host '%s'", user, host)
}

// TableAccessDenied: 1142; command is the list of privileges, host that of the client.
func TableAccessDenied(command, user, host, table string) *Error {
	return newError(1142, "42000", "%s command denied to user '%s'@'%s' for table '%s'", command, user, host, table)
}

// ColumnAccessDenied: 1143.
func ColumnAccessDenied(command, user, host, column, table string) *Error {
	return newError(1143, "42000", "%s command denied to user '%s'@'%s' for column '%s' in table '%s'", command, user, host, column, table)
}

// IllegalGrant: 1144, a privilege that the level does not have.
func IllegalGrant() *Error {
	return newError(1144, "42000", "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used")
}

// NoSuchTableGrant: 1147.
func NoSuchTableGrant(user, host, table string) *Error {
	return newError(1147, "42000", "There is no such grant defined for user '%s' on host '%s' on table '%s'", user, host, table)
}

// TooManyUserConnections: 1203.
func TooManyUserConnections(user string) *Error {
	return newError(1203, "42000", "User %s already has more than 'max_user_connections' active connections", user)
}

// PrivilegeNeeded: 1227.
func PrivilegeNeeded(privilege string) *Error {
	return newError(1227, "42000", "Access denied; you need (at least one of) the %s privilege(s) for this operation", privilege)
}

// CannotRevokeAll: 1269, REVOKE ALL of an account that does not exist.
func CannotRevokeAll() *Error {
	return newError(1269, "HY000", "Can't revoke all privileges for one or more of the requested users")
}

// ViewNoExplain: 1345, EXPLAIN of a view whose tables the account may not read.
func ViewNoExplain() *Error {
	return newError(1345, "HY000", "EXPLAIN/SHOW can not be issued; lacking privileges for underlying table")
}

// ProcedureAccessDenied: 1370; name is qualified.
func ProcedureAccessDenied(command, user, host, name string) *Error {
	return newError(1370, "42000", "%s command denied to user '%s'@'%s' for routine '%s'", command, user, host, name)
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

// NoSuchDefiner: 1449, a view whose definer does not exist.
func NoSuchDefiner(user, host string) *Error {
	return newError(1449, "HY000", "The user specified as a definer ('%s'@'%s') does not exist", user, host)
}

// UserNameTooLong: 1470.
func UserNameTooLong(name string, max int) *Error {
	return newError(1470, "HY000", "String '%.70s' is too long for user name (should be no longer than %d)", name, max)
}

// HostNameTooLong: 1470.
func HostNameTooLong(name string, max int) *Error {
	return newError(1470, "HY000", "String '%.70s' is too long for host name (should be no longer than %d)", name, max)
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

// UnknownAuthID: 3523; the name is of an account or role.
func UnknownAuthID(user, host string) *Error {
	return newError(3523, "HY000", "Unknown authorization ID `%s`@`%s`", user, host)
}

// RoleNotGranted: 3530; both are names in backquotes.
func RoleNotGranted(role, account string) *Error {
	return newError(3530, "HY000", "%s is not granted to %s", role, account)
}

// IllegalPrivilegeLevel: 3619, a dynamic privilege that is not ON *.*.
func IllegalPrivilegeLevel(privilege string) *Error {
	return newError(3619, "HY000", "Illegal privilege level specified for %s", privilege)
}

// MandatoryRole: 3628; role is a name in backquotes.
func MandatoryRole(role string) *Error {
	return newError(3628, "HY000", "The role %s is a mandatory role and can't be revoked or dropped. The restriction can be lifted by excluding the role identifier from the global variable mandatory_roles.", role)
}

// SystemPrivilegeToMandatoryRole: 3897.
func SystemPrivilegeToMandatoryRole(user, host, privilege string) *Error {
	return newError(3897, "HY000", "AuthId `%s`@`%s` is set as mandatory_roles. Cannot grant the '%s' privilege.", user, host, privilege)
}

// GrantAsLevel: 3835, GRANT … AS other than ON *.*.
func GrantAsLevel() *Error {
	return newError(3835, "HY000", "GRANT ... AS is currently supported only for global privileges.")
}

// GrantAsDenied: 3836, an account or role of GRANT … AS that cannot be used.
func GrantAsDenied() *Error {
	return newError(3836, "HY000", "Either some of the authorization IDs in the AS clause are invalid or the current user lacks privileges to execute the statement.")
}

// TLSSetup: 3888, ALTER INSTANCE RELOAD TLS failed.
func TLSSetup(err error) *Error {
	return newError(3888, "HY000", "Failed to set up SSL because of the following SSL library error: %v", err)
}

// UnknownDynamicPrivilege: 3929.
func UnknownDynamicPrivilege(name string) *Error {
	return newError(3929, "HY000", "Dynamic privilege '%s' is not registered with the server.", name)
}

// ReferencedAsDefiner: 4005, the warning of an account that views have as their definer;
// users is a quoted name, object is "a view".
func ReferencedAsDefiner(user, object string) *Error {
	return newError(4005, "HY000", "User %s is referenced as a definer account in %s.", user, object)
}

// CannotChangeDefiner: 4006, ReferencedAsDefiner where the account may not leave views
// without a definer, or give them one.
func CannotChangeDefiner(operation, user, object string) *Error {
	return newError(4006, "HY000", "Operation %s failed for %s as it is referenced as a definer account in %s.", operation, user, object)
}

// RoleCircle: 4027; both are names in backquotes.
func RoleCircle(account, role string) *Error {
	return newError(4027, "HY000", "User account %s is directly or indirectly granted to the role %s. The GRANT would create a loop", account, role)
}
