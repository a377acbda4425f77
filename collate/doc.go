// Package collate is the character sets and collations of MySQL: comparison,
// sort keys, LIKE and conversion between character sets.
//
// A Collation works on strings in its own character set. The weights come
// from vitess (go/mysql/collations/colldata), whose types do not leave this
// package; what is hot (ASCII and binary strings) is done here without it.
//
// Invariants:
//
//   - I1: bytes.Compare of two keys made by AppendKey has the sign of Compare
//     of the strings; equal strings have equal keys.
//   - I2: AppendHashKey has equal bytes exactly when Compare is 0.
//   - I3: keys are on disk: the weights of a collation never change.
//
// A string that is not valid in its character set is compared by its bytes
// from the first bad byte on. Values are checked with Valid before they are
// stored, so that this matters only for expressions.
package collate
