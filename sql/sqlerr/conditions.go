package sqlerr

import (
	"errors"
	"slices"
	"strings"
)

// The conditions that other packages test for. All but IsTransient look at the first
// *Error that err wraps, and are false without one.

// IsUnknownColumn reports UnknownColumn.
func IsUnknownColumn(err error) bool { return is(err, 1054) }

// IsEmptyQuery reports EmptyQuery.
func IsEmptyQuery(err error) bool { return is(err, 1065) }

// IsEngineError reports EngineError.
func IsEngineError(err error) bool { return is(err, 1030) }

// IsCommitOutcomeUnknown reports CommitOutcomeUnknown.
func IsCommitOutcomeUnknown(err error) bool { return is(err, 1180) }

// IsCrashedOnUsage reports CrashedOnUsage.
func IsCrashedOnUsage(err error) bool { return is(err, 1194) }

// EndsTransaction reports errors after which the transaction is rolled back: Deadlock and
// LockTableFull.
func EndsTransaction(err error) bool { return is(err, 1206, 1213) }

// IsLockConflict reports errors of a statement that did not get its locks: a deadlock
// or the end of innodb_lock_wait_timeout.
func IsLockConflict(err error) bool { return is(err, 1205, 1213) }

// IsNoSuchTable reports 1146.
func IsNoSuchTable(err error) bool { return is(err, 1146) }

// IsNotSupported reports 1235.
func IsNotSupported(err error) bool { return is(err, 1235) }

// IsOutOfRange reports OutOfRange.
func IsOutOfRange(err error) bool { return is(err, 1264) }

// IsNonUpdatableTable reports NonUpdatableTable.
func IsNonUpdatableTable(err error) bool { return is(err, 1288) }

// IsQueryInterrupted reports QueryInterrupted.
func IsQueryInterrupted(err error) bool { return is(err, 1317) }

// IsDataTooLong reports DataTooLong.
func IsDataTooLong(err error) bool { return is(err, 1406) }

// IsInvalidJSONDocument reports InvalidJSONDocument.
func IsInvalidJSONDocument(err error) bool { return is(err, 3146) }

// IsInvalidView reports the errors by which binding the text of a view says that what
// it reads does not exist any more.
func IsInvalidView(err error) bool {
	return is(err, 1046, 1049, 1054, 1060, 1064, 1109, 1146, 1305, 1353)
}

// IsIgnorable reports the errors for which UPDATE IGNORE and DELETE IGNORE leave out a
// row: a duplicate key, a violated constraint.
func IsIgnorable(err error) bool { return is(err, 1062, 1451, 1452, 1526, 1748, 1761, 3819) }

// IsOfRow reports the errors of a value or a row, not of the statement: SQLSTATE
// classes 22 (data) and 23 (constraints), and some that MySQL has put elsewhere.
func IsOfRow(err error) bool {
	if is(err, 1071, 1118, 1261, 1262, 1265, 1364, 1366, 1367, 1411, 1526, 1748, 3819, 3903, 3904, 3906, 3907) {
		return true
	}
	var e *Error
	return errors.As(err, &e) && (strings.HasPrefix(e.State, "22") || strings.HasPrefix(e.State, "23"))
}

// IsPacketTooLarge reports 1153.
func IsPacketTooLarge(err error) bool { return is(err, 1153) }

// IsRegexpTimeout reports 3699.
func IsRegexpTimeout(err error) bool { return is(err, 3699) }

// IsQueryMemoryExceeded reports 3170.
func IsQueryMemoryExceeded(err error) bool { return is(err, 3170) }

// IsTransient reports whether a client that gets an error with this number may succeed
// with the same statement at another time.
func IsTransient(number uint16) bool {
	return slices.Contains([]uint16{1040, 1053, 1205, 1213, 1412, 3572}, number)
}

func is(err error, numbers ...uint16) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(numbers, e.Number)
}
