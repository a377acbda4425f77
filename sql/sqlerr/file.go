package sqlerr

// The constructors of errors about files of the server, by number. Numbers below
// 1000 are MySQL's global errors, which its programs and its server share.

// CantCreateFile: 1.
func CantCreateFile(path string) *Error {
	return newError(1, "HY000", "Can't create/write to file '%s' (OS errno 13 - Permission denied)", path)
}

// ErrorOnWrite: 3.
func ErrorOnWrite(path string, cause error) *Error {
	return newError(3, "HY000", "Error writing file '%s' (%v)", path, cause)
}

// CantStatFile: 13.
func CantStatFile(path string) *Error {
	return newError(13, "HY000", "Can't get stat of '%s' (OS errno 2 - No such file or directory)", path)
}

// FileNotFound: 29, a file that cannot be opened.
func FileNotFound(path string) *Error {
	return newError(29, "HY000", "File '%s' not found (OS errno 13 - Permission denied)", path)
}

// TextFileNotReadable: 85, a path that is no regular file.
func TextFileNotReadable(path string) *Error {
	return newError(85, "HY000", "The file '%s' must be in the database directory or be readable by all", path)
}

// WrongFieldTerminators: 1083.
func WrongFieldTerminators() *Error {
	return newError(1083, "42000", "Field separator argument is not what is expected; check the manual")
}

// FileExists: 1086.
func FileExists(path string) *Error {
	return newError(1086, "HY000", "File '%s' already exists", path)
}

// OptionPreventsStatement: 1290; option is written as on a command line.
func OptionPreventsStatement(option string) *Error {
	return newError(1290, "HY000", "The MySQL server is running with the %s option so it cannot execute this statement", option)
}

// BackupFailed: 8124 (TiDB's number).
func BackupFailed(cause error) *Error {
	return newError(8124, "HY000", "Backup failed: %v", cause)
}
