package sqlerr

// The constructors of errors about passwords and logins, by number.

// PasswordOfAnonymousUser: 1131.
func PasswordOfAnonymousUser() *Error {
	return newError(1131, "42000", "You are using MySQL as an anonymous user and anonymous users are not allowed to change passwords")
}

// DuplicateOption: 1225, a clause that is written twice.
func DuplicateOption(name string) *Error {
	return newError(1225, "HY000", "Option '%s' used twice in statement", name)
}

// UserLimitReached: 1226; resource is max_user_connections, max_connections_per_hour,
// max_questions or max_updates.
func UserLimitReached(user, resource string, limit int) *Error {
	return newError(1226, "42000", "User '%s' has exceeded the '%s' resource (current value: %d)", user, resource, limit)
}

// MustChangePassword: 1820, a statement that a connection with an expired password may not
// run.
func MustChangePassword() *Error {
	return newError(1820, "HY000", "You must reset your password using ALTER USER statement before executing this statement.")
}

// PasswordExpired: 1862, the login of a client that does not know of expired passwords.
func PasswordExpired() *Error {
	return newError(1862, "HY000", "Your password has expired. To log in you must change it using a client that supports expired passwords.")
}

// AnonymousUserExpires: 3016.
func AnonymousUserExpires() *Error {
	return newError(3016, "HY000", "The password for anonymous user cannot be expired.")
}

// InsecureTransport: 3159, a login without TLS while require_secure_transport is ON.
func InsecureTransport() *Error {
	return newError(3159, "HY000", "Connections using insecure transport are prohibited while --require_secure_transport=ON.")
}

// PasswordUsedBefore: 3638.
func PasswordUsedBefore(user, host string) *Error {
	return newError(3638, "HY000", "Cannot use these credentials for '%s@%s' because they contradict the password history policy", user, host)
}

// EmptyPasswordRetained: 3878, RETAIN CURRENT PASSWORD without one.
func EmptyPasswordRetained(user, host string) *Error {
	return newError(3878, "HY000", "Empty password can not be retained as second password for user '%s'@'%s'.", user, host)
}

// WrongCurrentPassword: 3891, that of REPLACE.
func WrongCurrentPassword() *Error {
	return newError(3891, "HY000", "Incorrect current password. Specify the correct password which has to be replaced.")
}

// CurrentPasswordMissing: 3892, there is no REPLACE, which the account requires.
func CurrentPasswordMissing() *Error {
	return newError(3892, "HY000", "Current password needs to be specified in the REPLACE clause in order to change it.")
}

// CurrentPasswordNotRequired: 3893, REPLACE for another account.
func CurrentPasswordNotRequired() *Error {
	return newError(3893, "HY000", "Do not specify the current password while changing it for other users.")
}

// RetainedOnPluginChange: 3894.
func RetainedOnPluginChange(user, host string) *Error {
	return newError(3894, "HY000", "Current password can not be retained for user '%s'@'%s' because authentication plugin is being changed.", user, host)
}

// RetainedWithEmptyPassword: 3895, RETAIN CURRENT PASSWORD with a new one that is empty.
func RetainedWithEmptyPassword(user, host string) *Error {
	return newError(3895, "HY000", "Current password can not be retained for user '%s'@'%s' because new password is empty.", user, host)
}

// AccountBlocked: 3955, after too many failed logins; the days are numbers, or unlimited.
func AccountBlocked(user, host, days, remaining string, failures int) *Error {
	return newError(3955, "HY000", "Access denied for user '%s'@'%s'. Account is blocked for %s day(s) (%s day(s) remaining) due to %d consecutive failed logins.", user, host, days, remaining, failures)
}

// UserAttributeNotObject: 3982, ATTRIBUTE with something else than a JSON object.
func UserAttributeNotObject() *Error {
	return newError(3982, "HY000", "The user attribute must be a valid JSON object")
}
