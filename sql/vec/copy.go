package vec

import "github.com/sqlots/sqlots/value"

// SetLen makes v hold n values; those that it had stay, with their nulls.
func (v *Vec) SetLen(n int) {
	switch ClassOf(v.Kind) {
	case ClassWord:
		v.I64 = Resize(v.I64, n)
	case ClassFloat:
		v.F64 = Resize(v.F64, n)
	case ClassDecimal:
		v.Dec = Resize(v.Dec, n)
	case ClassBytes:
		v.Bytes = Resize(v.Bytes, n)
	}
}

// Resize makes s n long and keeps its elements; what is new is undefined.
func Resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n, max(n, min(max(2*cap(s), 16), MaxRows)))
	copy(grown, s)
	return grown
}

// IsDense reports that rows, which ascend without repetition, are 0 to len-1.
func IsDense(rows []uint16) bool { return len(rows) > 0 && int(rows[len(rows)-1]) == len(rows)-1 }

// CopyRows copies the given rows of src, a vector of the same class, to v from
// position at on. own makes v own the bytes; otherwise they are shared. dense
// says that rows are 0 to n-1. It returns the bytes copied.
func (v *Vec) CopyRows(at int, src *Vec, rows []uint16, own, dense bool) (bytes int64) {
	class := ClassOf(v.Kind)
	if ClassOf(src.Kind) != class { // a NULL of no type
		for r := range rows {
			v.Nulls.Set(at + r)
		}
		return 0
	}
	if src.Nulls.Any() {
		for r, i := range rows {
			if src.Nulls.IsNull(int(i)) {
				v.Nulls.Set(at + r)
			}
		}
	}
	switch class {
	case ClassWord:
		copyValues(v.I64[at:], src.I64, rows, dense)
	case ClassFloat:
		copyValues(v.F64[at:], src.F64, rows, dense)
	case ClassDecimal:
		copyValues(v.Dec[at:], src.Dec, rows, dense)
	case ClassBytes:
		if !own {
			copyValues(v.Bytes[at:], src.Bytes, rows, dense)
			return 0
		}
		for r, i := range rows {
			if !src.Nulls.IsNull(int(i)) {
				v.Bytes[at+r] = v.Own(src.Bytes[i])
				bytes += int64(len(src.Bytes[i]))
			}
		}
	}
	return bytes
}

// BytesOf is the length of the given rows' bytes together, for Reserve.
func (v *Vec) BytesOf(rows []uint16) int {
	if ClassOf(v.Kind) != ClassBytes {
		return 0
	}
	n := 0
	if !v.Nulls.Any() {
		for _, i := range rows {
			n += len(v.Bytes[i])
		}
		return n
	}
	for _, i := range rows {
		if !v.Nulls.IsNull(int(i)) {
			n += len(v.Bytes[i])
		}
	}
	return n
}

func copyValues[T any](dst, src []T, rows []uint16, dense bool) {
	if dense {
		copy(dst, src[:len(rows)])
		return
	}
	for r, i := range rows {
		dst[r] = src[i]
	}
}

// WidthOf is the memory of a value of kind k in a vector, in bytes, without the
// text of strings.
func WidthOf(k value.Kind) int64 {
	switch ClassOf(k) {
	case ClassDecimal:
		return 32
	case ClassBytes:
		return 24
	}
	return 8
}
