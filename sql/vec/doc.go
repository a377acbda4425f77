// Package vec holds columns of values in batches: what flows between the
// operators of the executor and through the expression kernels.
//
// A Batch has N rows (at most MaxRows) in column vectors of equal length, and
// an optional selection vector: the ascending positions of the rows that are
// alive. Filters shorten the selection and move no data. A Vec stores its
// values in one slice by the storage class of its kind, with a null bitmap;
// the value at a null or unselected position is undefined but readable.
//
// # Invariants
//
//	I1  A batch belongs to its producer and is valid until the producer's next
//	    call; consumers do not write to it, except to shorten Sel of a batch
//	    that they received and pass on.
//	I2  Byte values point into memory that lives as long as the batch (its
//	    arenas, or literals); whoever keeps them copies them.
package vec
