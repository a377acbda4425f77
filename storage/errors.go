package storage

import (
	"errors"
	"fmt"
)

// Errors are classes: a layer above tests them with errors.Is and never reads
// their text.
var (
	// ErrNotFound: the key is absent.
	ErrNotFound = errors.New("key not found")
	// ErrKeyExists: Insert found the key (see KeyExistsError).
	ErrKeyExists = errors.New("key exists")
	// ErrConflict: the transaction lost against another one and must be run
	// again from its start.
	ErrConflict = errors.New("transaction conflict")
	// ErrLockTimeout: a lock was not granted in time. The transaction goes on.
	ErrLockTimeout = errors.New("lock wait timeout")
	// ErrNoWait: a lock is held, and the lock request had WaitError.
	ErrNoWait = errors.New("lock not available")
	// ErrDeadlock: the transaction was chosen as the victim of a deadlock; only
	// Rollback may follow.
	ErrDeadlock = errors.New("deadlock")
	// ErrLockTableFull: the locks of open transactions take all the memory that they may
	// have; only Rollback may follow.
	ErrLockTableFull = errors.New("lock table is full")
	// ErrUnavailable: the store cannot serve the request now.
	ErrUnavailable = errors.New("store unavailable")
	// ErrUnreachable is the ErrUnavailable of a store on other machines, which do not
	// answer, or no longer know this one. Nothing was written.
	ErrUnreachable = fmt.Errorf("cluster: %w", ErrUnavailable)
	// ErrUndetermined: the outcome of a commit is unknown. It is never retried.
	ErrUndetermined = errors.New("commit outcome undetermined")
	// ErrSnapshotTooOld: the snapshot's data is gone.
	ErrSnapshotTooOld = errors.New("snapshot too old")
	// ErrKeyTooLarge, ErrValueTooLarge, ErrTxnTooLarge: a limit of Caps.
	ErrKeyTooLarge   = errors.New("key too large")
	ErrValueTooLarge = errors.New("value too large")
	ErrTxnTooLarge   = errors.New("transaction too large")
	// ErrDiskFull: there is no space left; the store reads but does not write.
	ErrDiskFull = errors.New("disk full")
	// ErrReadOnly: a write in a read-only transaction.
	ErrReadOnly = errors.New("read-only transaction")
	// ErrCorruption: stored data fails its checks; the message says where.
	ErrCorruption = errors.New("corruption")
	// ErrClosed: the store or transaction has ended.
	ErrClosed = errors.New("closed")
	// ErrLocked: another process holds the directory.
	ErrLocked = errors.New("directory is locked by another process")
	// ErrFormat: the directory was written in a format that this program does
	// not know.
	ErrFormat = errors.New("unknown format version")
	// ErrNoFiles: the store is in memory only.
	ErrNoFiles = errors.New("an in-memory store has no files")
	// ErrEmptyValue: Put of an empty value.
	ErrEmptyValue = errors.New("empty value")
	// ErrReservedKey: a write to a key that belongs to the engine: the empty
	// key, or the single byte 00.
	ErrReservedKey = errors.New("reserved key")
	// ErrStamp: the holes of a stamped write are outside of its key or value.
	ErrStamp = errors.New("stamp outside of the pair")
	// ErrKeyOrder: the keys of a bulk load do not ascend strictly.
	ErrKeyOrder = errors.New("keys are not in ascending order")
)

// KeyExistsError is the ErrKeyExists of one key.
type KeyExistsError struct {
	Key []byte
	// Value is what the key holds (the latest value).
	Value []byte
}

// Error implements error.
func (e *KeyExistsError) Error() string { return fmt.Sprintf("key %x exists", e.Key) }

// Is makes errors.Is(err, ErrKeyExists) true.
func (e *KeyExistsError) Is(target error) bool { return target == ErrKeyExists }

// LimitError is one of the too-large errors with its numbers, in bytes.
type LimitError struct {
	Class error
	Size  int64
	Limit int64
	// Setting is the name of the limit where it can be set for each writer, ""
	// for those of the store.
	Setting string
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: %d bytes, limit %d", e.Class, e.Size, e.Limit)
}

// Unwrap gives the class.
func (e *LimitError) Unwrap() error { return e.Class }
