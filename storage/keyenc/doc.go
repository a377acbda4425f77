// Package keyenc encodes values so that bytes.Compare of the encodings is the
// order of the values.
//
// # Model
//
// A key is a sequence of parts. Each part is self-delimiting and no encoding
// of a value is a proper prefix of that of another value of the same type, so
// that concatenations compare part by part and the keys that start with some
// values are exactly those that start with their bytes.
//
//	NULL           00                      only where a part may be NULL
//	not NULL       01, then the value      only where a part may be NULL
//	int64          8 bytes big-endian, sign bit flipped
//	uint64, time   8 bytes big-endian
//	duration       as int64
//	float64        8 bytes; all bits flipped if negative, else the sign bit; -0 is 0
//	decimal        see decimal.go; equal numbers of any scale are equal
//	bytes          the bytes with 00 written as 00 FF, then 00 01
//
// A descending part is the complement of every byte, the NULL byte included.
//
// # Invariants
//
//	I1  Order: for a < b, Append(a) < Append(b); descending the other way round.
//	I2  Decoding an encoding gives an equal value and the rest of the key.
//	I3  Decoders never read beyond the key and never panic: malformed input
//	    gives ErrMalformed.
//	I4  The encodings are on disk and never change.
//
// It does not know columns, collations or tables (package storage/table does).
package keyenc
