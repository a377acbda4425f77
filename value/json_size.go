package value

import "encoding/binary"

// JSONStorageSize is the number of bytes that the document takes in MySQL's
// binary format (MySQL manual 14.17.6), which is not the one of this package:
// a type byte, then the value. Arrays and objects have heads of 2-byte offsets
// if all of them fit, of 4-byte ones else.
func JSONStorageSize(doc []byte) int { return 1 + mysqlSize(doc, 0) }

func mysqlSize(doc []byte, depth int) int {
	if depth > guardDepth {
		return 0
	}
	d := jsonDoc(doc)
	switch jsonTag(doc) {
	case jsonInt:
		return intSize(int64(d.word()))
	case jsonUint:
		switch v := d.word(); {
		case v < 1<<16:
			return 2
		case v < 1<<32:
			return 4
		}
		return 8
	case jsonDouble:
		return 8
	case jsonString:
		return varLen(len(doc)-1) + len(doc) - 1
	case jsonDecimal:
		n := decimalBytes(d.decimal()) + 2
		return 1 + varLen(n) + n
	case jsonDate, jsonTime, jsonDatetime:
		return 1 + 1 + 8
	case jsonOpaque:
		return 1 + varLen(len(doc)-2) + len(doc) - 2
	case jsonArray, jsonObject:
		if n := containerSize(doc, 2, depth); n < 1<<16 {
			return n
		}
		return containerSize(doc, 4, depth)
	}
	return 1
}

func intSize(v int64) int {
	switch {
	case v >= -1<<15 && v < 1<<15:
		return 2
	case v >= -1<<31 && v < 1<<31:
		return 4
	}
	return 8
}

// varLen is the size of a length, seven bits in a byte.
func varLen(n int) int {
	return len(binary.AppendUvarint(nil, uint64(n)))
}

// containerSize is count and size, an entry for each key (offset and length of
// two bytes) and value (type and offset), keys, and values that do not fit in
// their entries.
func containerSize(doc []byte, offset, depth int) int {
	n := JSONLen(doc)
	size := 2*offset + n*(1+offset)
	for i := range n {
		if jsonTag(doc) == jsonObject {
			size += offset + 2 + len(JSONKey(doc, i))
		}
		e := JSONElem(doc, i)
		switch s := mysqlSize(e, depth+1); jsonTag(e) {
		case jsonNull, jsonTrue, jsonFalse:
		case jsonInt, jsonUint:
			if s > offset {
				size += s
			}
		default:
			size += s
		}
	}
	return size
}

// decimalBytes is the size of DECIMAL in MySQL: nine digits in four bytes, the
// rest in as few as hold it.
func decimalBytes(d Decimal) int {
	rest := [...]int{0, 1, 1, 2, 2, 3, 3, 4, 4, 4}
	scale := d.Scale()
	whole := max(d.Digits()-scale, 0)
	return whole/9*4 + rest[whole%9] + scale/9*4 + rest[scale%9]
}
