package txn

import (
	"bytes"
	"encoding/binary"

	"github.com/sqlots/sqlots/storage"
)

// Stamped writes are kept in a buffer of their own, with zeros in the holes of their
// keys. A head before each value says where the holes are.
const stampHead = 5

const (
	stampDescending = 1
	noHole          = 0xFFFF
)

// stampHole is the number of bytes that a commit fills in.
const stampHole = 8

func appendStampHead(dst []byte, at storage.Stamp) []byte {
	flags := byte(0)
	if at.Descending {
		flags = stampDescending
	}
	dst = append(dst, flags)
	for _, hole := range [...]int{at.Key, at.Time} {
		if hole < 0 {
			hole = noHole
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(hole))
	}
	return dst
}

func parseStampHead(b []byte) storage.Stamp {
	at := storage.Stamp{Key: int(binary.BigEndian.Uint16(b[1:])), Time: int(binary.BigEndian.Uint16(b[3:])), Descending: b[0]&stampDescending != 0}
	if at.Key == noHole {
		at.Key = -1
	}
	if at.Time == noHole {
		at.Time = -1
	}
	return at
}

// checkStamp returns storage.ErrStamp for holes that do not fit.
func checkStamp(key, value []byte, at storage.Stamp) error {
	if at.Key >= 0 && at.Key+stampHole > len(key) || at.Time >= 0 && at.Time+stampHole > len(value) || max(at.Key, at.Time) >= noHole {
		return storage.ErrStamp
	}
	return nil
}

// putStamped adds a stamped write; the caller has checked the limits.
func (b *Buffer) putStamped(key, value []byte, at storage.Stamp) {
	b.frz = nil
	if b.stamped == nil {
		b.stamped = &Buffer{}
		b.stamped.init()
	}
	s := b.stamped
	head := appendStampHead(make([]byte, 0, stampHead+len(value)), at)
	head = append(head, value...)
	s.set(key, head, s.grow(key, head))
}

// Stamped is the number of stamped writes.
func (b *Buffer) Stamped() int {
	if b.stamped == nil {
		return 0
	}
	return b.stamped.Len()
}

// EachStamped calls fn for the stamped writes until it returns false. The holes
// are not filled; the slices must not be changed.
func (b *Buffer) EachStamped(fn func(key, value []byte, at storage.Stamp) bool) {
	if b.stamped == nil {
		return
	}
	b.stamped.Each(func(key, value []byte) bool {
		return fn(key, value[stampHead:], parseStampHead(value))
	})
}

// Filled is a copy of the buffer in which the stamped writes are ordinary ones, for an
// engine that has their stamp before it commits.
func (b *Buffer) Filled(stamp uint64, micros int64) *Buffer {
	out := &Buffer{}
	out.init()
	b.Each(func(key, value []byte) bool {
		out.set(key, value, out.grow(key, value))
		return true
	})
	b.EachStamped(func(key, value []byte, at storage.Stamp) bool {
		key, value = bytes.Clone(key), bytes.Clone(value)
		Fill(key, value, at, stamp, micros)
		out.set(key, value, out.grow(key, value))
		return true
	})
	return out
}

// Fill fills the holes of a stamped write.
func Fill(key, value []byte, at storage.Stamp, seq uint64, micros int64) {
	if at.Key >= 0 {
		if at.Descending {
			seq = ^seq
		}
		binary.BigEndian.PutUint64(key[at.Key:], seq)
	}
	if at.Time >= 0 {
		binary.BigEndian.PutUint64(value[at.Time:], uint64(micros))
	}
}

// PutStamped implements storage.Txn.
func (t *Txn) PutStamped(key, value []byte, at storage.Stamp) error {
	if err := t.writable(); err != nil {
		return err
	}
	if err := CheckPair(t.m.caps, key, value); err != nil {
		return err
	}
	if err := checkStamp(key, value, at); err != nil {
		return err
	}
	if size := t.buf.Size() + int64(len(key)+len(value)+stampHead); size > t.opts.MaxSize {
		return &storage.LimitError{Class: storage.ErrTxnTooLarge, Size: size, Limit: t.opts.MaxSize}
	}
	t.buf.putStamped(key, value, at)
	return nil
}

// Stamped implements storage.Txn.
func (t *Txn) Stamped(key []byte) bool {
	if t.buf.stamped == nil {
		return false
	}
	_, ok := t.buf.stamped.find(key)
	return ok
}

// Ordinal implements storage.Txn.
func (t *Txn) Ordinal() uint32 {
	t.ordinal++
	return t.ordinal - 1
}
