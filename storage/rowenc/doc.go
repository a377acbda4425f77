// Package rowenc encodes the values of a row so that one column is found
// without reading the others.
//
// # Model
//
//	0       1      2        4          …       …          …            …
//	version flags  n (u16)  n ids(u16) nulls?  external?  n ends       data
//
//	version   1
//	flags     1: ends are u32, otherwise u16
//	          2: a bitmap of explicit NULLs follows the ids, (n+7)/8 bytes
//	          4: a bitmap of external values follows, (n+7)/8 bytes
//	ids       column ids, ascending, little-endian like all numbers here
//	ends      where each value ends, counted from the start of data
//	data      the values, in the order of the ids
//
// Values by kind (the kind is the column's, it is not stored):
//
//	int, duration  1, 2, 4 or 8 bytes, sign-extended
//	uint           1, 2, 4 or 8 bytes, zero-extended
//	float          4 bytes when float32 holds the number, else 8
//	time           3 bytes: date; 5: to the second; 8: with microseconds
//	decimal        scale, then the coefficient in two's complement, 1 to 16
//	               bytes; or 80+scale, sign (0 or 1), big-endian magnitude
//	bytes, json    unchanged
//
// A column that is absent was NULL when the row was written, or did not exist
// yet. Where the two differ (the column was added with a default), NULL is
// written explicitly: its id with the NULL bit and no data. That makes a
// schema version in the row unnecessary.
//
// An external value is kept in a cell of its own (package storage/table); the
// row holds its length as a uint. The attributes of a row with dynamic columns
// are the value of one column, see Attributes.
//
// # Invariants
//
//	I1  Rows written by any version of this package are read for ever.
//	I2  A Reader never reads beyond the row and never panics: malformed rows
//	    give storage.ErrCorruption.
//	I3  The encoding of a row is a function of its values: equal rows have
//	    equal bytes.
//
// It knows neither types nor tables.
package rowenc
