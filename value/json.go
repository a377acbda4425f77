package value

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
)

// Binary JSON, the form of JSON values in memory and on disk. A document is
// one value; each value is a slice of its own and fills it, so that a part of
// a document is a document without being copied. Numbers are little-endian.
//
//	value   = tag payload            tag: high nibble version (1), low nibble type
//	null, false, true                no payload
//	int, uint, double                8 bytes
//	decimal                          scale byte, sign byte (1 is -), magnitude, big-endian, shortest
//	string                           UTF-8
//	date, datetime                   8 bytes of Time
//	time                             8 bytes of Duration
//	opaque                           MySQL field type byte, bytes
//	array                            u32 count, count * u32 end of value, values
//	object                           u32 count, count * u32 end of key, count * u32 end of value,
//	                                 keys, values
//
// Ends count from the tag byte of their container. Keys are sorted by length, then by
// bytes, and are unique. The key bytes follow the ends, the values follow the last key.
//
// The readers below never read outside of the slice and never panic: bytes that are no
// document read as JSON null. CheckJSON detects them.
const (
	jsonVersion = 0x10

	jsonNull     = jsonVersion
	jsonFalse    = jsonVersion | 1
	jsonTrue     = jsonVersion | 2
	jsonInt      = jsonVersion | 3
	jsonUint     = jsonVersion | 4
	jsonDouble   = jsonVersion | 5
	jsonDecimal  = jsonVersion | 6
	jsonString   = jsonVersion | 7
	jsonDate     = jsonVersion | 8
	jsonTime     = jsonVersion | 9
	jsonDatetime = jsonVersion | 10
	jsonOpaque   = jsonVersion | 11
	jsonArray    = jsonVersion | 12
	jsonObject   = jsonVersion | 13
)

// MaxJSONDepth is how deep arrays and objects may nest.
const MaxJSONDepth = 100

// MaxJSONSize is how many bytes a document may have while it is built. It is more
// than max_allowed_packet can be.
const MaxJSONSize = 2 << 30

// guardDepth ends recursion over bytes that are no document.
const guardDepth = 10000

// Errors of documents.
var (
	ErrJSONDepth   = errors.New("JSON document too deep")
	ErrJSONSize    = errors.New("JSON document too large")
	ErrJSONCorrupt = errors.New("corrupt JSON document")
)

// nullDoc is what readers see in place of bytes that are no document. It is
// never written to.
var nullDoc = []byte{jsonNull}

// JSONNull is the document null.
func JSONNull() []byte { return []byte{jsonNull} }

// JSONBool is the document true or false.
func JSONBool(b bool) []byte {
	if b {
		return []byte{jsonTrue}
	}
	return []byte{jsonFalse}
}

func jsonWord(tag byte, x uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(make([]byte, 0, 9), tag), x)
}

// JSONInt is an integer document.
func JSONInt(v int64) []byte { return jsonWord(jsonInt, uint64(v)) }

// JSONUint is an unsigned integer document.
func JSONUint(v uint64) []byte { return jsonWord(jsonUint, v) }

// JSONDouble is a floating-point document.
func JSONDouble(f float64) []byte { return jsonWord(jsonDouble, math.Float64bits(f)) }

// JSONDate is a date document.
func JSONDate(t Time) []byte { return jsonWord(jsonDate, uint64(t)) }

// JSONDatetime is a date-and-time document.
func JSONDatetime(t Time) []byte { return jsonWord(jsonDatetime, uint64(t)) }

// JSONTime is a time document.
func JSONTime(d Duration) []byte { return jsonWord(jsonTime, uint64(d)) }

// maxJSONDecimal is the most bytes of a magnitude that is read; what JSONDecimal
// makes of a number that does not Overflow has 34.
const maxJSONDecimal = 40

// JSONDecimal is a decimal document.
func JSONDecimal(d Decimal) []byte {
	d = d.Round(MaxDecimalScale).InGroups()
	b := d.big()
	sign := byte(0)
	if b.Sign() < 0 {
		sign = 1
	}
	return append([]byte{jsonDecimal, d.scale, sign}, b.Bytes()...)
}

// JSONString is a string document of the UTF-8 text s, which is copied.
func JSONString(s []byte) []byte {
	return append(append(make([]byte, 0, len(s)+1), jsonString), s...)
}

// JSONOpaque is a document of a MySQL value that JSON has no type for.
func JSONOpaque(fieldType byte, b []byte) []byte {
	return append(append(make([]byte, 0, len(b)+2), jsonOpaque, fieldType), b...)
}

// JSONArray is an array of copies of the documents.
func JSONArray(elems ...[]byte) []byte {
	size := 5 + 4*len(elems)
	for _, e := range elems {
		size += len(e)
	}
	doc := append(make([]byte, 0, size), jsonArray)
	doc = binary.LittleEndian.AppendUint32(doc, uint32(len(elems)))
	end := 5 + 4*len(elems)
	for _, e := range elems {
		end += len(e)
		doc = binary.LittleEndian.AppendUint32(doc, uint32(end))
	}
	for _, e := range elems {
		doc = append(doc, e...)
	}
	return doc
}

// keyLess is the order of keys: by length, then by bytes.
func keyLess(a, b []byte) bool { return compareKeys(a, b) < 0 }

// JSONArraySize is the length of what JSONArrayOf makes.
func JSONArraySize(docs []byte, ends []uint32) int { return 5 + 4*len(ends) + len(docs) }

// JSONArrayOf is the array of documents that stand one after the other in docs and end
// at ends: ErrJSONSize.
func JSONArrayOf(docs []byte, ends []uint32) ([]byte, error) {
	size := JSONArraySize(docs, ends)
	if size > MaxJSONSize {
		return nil, ErrJSONSize
	}
	head := 5 + 4*len(ends)
	doc := append(make([]byte, 0, size), jsonArray)
	doc = binary.LittleEndian.AppendUint32(doc, uint32(len(ends)))
	for _, end := range ends {
		doc = binary.LittleEndian.AppendUint32(doc, uint32(head)+end)
	}
	return append(doc, docs...), nil
}

// compareKeys is the order of keys.
func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

type jsonMembers struct{ keys, vals [][]byte }

func (m *jsonMembers) Len() int           { return len(m.keys) }
func (m *jsonMembers) Less(i, j int) bool { return keyLess(m.keys[i], m.keys[j]) }
func (m *jsonMembers) Swap(i, j int) {
	m.keys[i], m.keys[j] = m.keys[j], m.keys[i]
	m.vals[i], m.vals[j] = m.vals[j], m.vals[i]
}

// JSONObject is an object of copies of the keys and documents. It may reorder
// the two slices. Of equal keys the last one counts.
func JSONObject(keys, vals [][]byte) []byte { return AppendJSONObject(nil, keys, vals) }

// AppendJSONObject appends what JSONObject makes.
func AppendJSONObject(dst []byte, keys, vals [][]byte) []byte {
	for i := 1; i < len(keys); i++ {
		if keyLess(keys[i], keys[i-1]) {
			sort.Stable(&jsonMembers{keys, vals})
			break
		}
	}
	n := 0
	for i := range keys {
		if n > 0 && bytes.Equal(keys[n-1], keys[i]) {
			n--
		}
		keys[n], vals[n] = keys[i], vals[i]
		n++
	}
	return appendSortedObject(dst, keys[:n], vals[:n])
}

func sortedObject(keys, vals [][]byte) []byte { return appendSortedObject(nil, keys, vals) }

func appendSortedObject(doc []byte, keys, vals [][]byte) []byte {
	head := 5 + 8*len(keys)
	size := head
	for i := range keys {
		size += len(keys[i]) + len(vals[i])
	}
	doc = append(slices.Grow(doc, size), jsonObject)
	doc = binary.LittleEndian.AppendUint32(doc, uint32(len(keys)))
	end := head
	for _, k := range keys {
		end += len(k)
		doc = binary.LittleEndian.AppendUint32(doc, uint32(end))
	}
	for _, v := range vals {
		end += len(v)
		doc = binary.LittleEndian.AppendUint32(doc, uint32(end))
	}
	for _, k := range keys {
		doc = append(doc, k...)
	}
	for _, v := range vals {
		doc = append(doc, v...)
	}
	return doc
}

// jsonTag is the tag of a document whose payload has the length that its type
// needs, jsonNull for others.
func jsonTag(doc []byte) byte {
	if len(doc) == 0 {
		return jsonNull
	}
	need := 1
	switch doc[0] {
	case jsonNull, jsonFalse, jsonTrue, jsonString:
	case jsonInt, jsonUint, jsonDouble, jsonDate, jsonTime, jsonDatetime:
		need = 9
	case jsonDecimal:
		need = 3
	case jsonOpaque:
		need = 2
	case jsonArray, jsonObject:
		need = 5
	default:
		return jsonNull
	}
	if len(doc) < need {
		return jsonNull
	}
	return doc[0]
}

func u32(b []byte, at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }

// headOf is the number of elements and the size of the head of a container, 0
// and 0 when its ends do not fit the slice.
func headOf(doc []byte) (count, head int) {
	width := 4
	switch jsonTag(doc) {
	case jsonObject:
		width = 8
	case jsonArray:
	default:
		return 0, 0
	}
	count = u32(doc, 1)
	if count > (len(doc)-5)/width {
		return 0, 0
	}
	return count, 5 + width*count
}

// JSONLen is JSON_LENGTH: the number of elements of an array or object, 1 for
// scalars.
func JSONLen(doc []byte) int {
	if t := jsonTag(doc); t != jsonArray && t != jsonObject {
		return 1
	}
	n, _ := headOf(doc)
	return n
}

// part is doc[from:to] when that is after the head and not empty.
func part(doc []byte, head, from, to int) []byte {
	if from < head || from >= to || to > len(doc) {
		return nullDoc
	}
	return doc[from:to:to]
}

// JSONElem is element i of an array or value i of an object, 0 <= i < JSONLen;
// element 0 of a scalar is the scalar.
func JSONElem(doc []byte, i int) []byte {
	count, head := headOf(doc)
	switch t := jsonTag(doc); {
	case t != jsonArray && t != jsonObject:
		return doc
	case i < 0 || i >= count:
		return nullDoc
	case t == jsonArray:
		from := head
		if i > 0 {
			from = u32(doc, 5+4*(i-1))
		}
		return part(doc, head, from, u32(doc, 5+4*i))
	}
	// The end before value 0 is that of the last key.
	return part(doc, head, u32(doc, 5+4*(count+i-1)), u32(doc, 5+4*(count+i)))
}

// JSONKey is key i of an object, 0 <= i < JSONLen.
func JSONKey(doc []byte, i int) []byte {
	count, head := headOf(doc)
	if jsonTag(doc) != jsonObject || i < 0 || i >= count {
		return nil
	}
	from := head
	if i > 0 {
		from = u32(doc, 5+4*(i-1))
	}
	to := u32(doc, 5+4*i)
	if from < head || from > to || to > len(doc) {
		return nil
	}
	return doc[from:to:to]
}

// JSONMember is the value of a key of an object; false when doc is no object
// or has no such key.
func JSONMember(doc, key []byte) ([]byte, bool) {
	if i, ok := findMember(doc, key); ok {
		return JSONElem(doc, i), true
	}
	return nil, false
}

// findMember is the position of a key, or where it would be.
func findMember(doc, key []byte) (int, bool) {
	if jsonTag(doc) != jsonObject {
		return 0, false
	}
	n, _ := headOf(doc)
	i := sort.Search(n, func(i int) bool { return !keyLess(JSONKey(doc, i), key) })
	return i, i < n && bytes.Equal(JSONKey(doc, i), key)
}

// JSONDepth is JSON_DEPTH: 1 for scalars and empty containers.
func JSONDepth(doc []byte) int { return jsonDepth(doc, 0) }

func jsonDepth(doc []byte, guard int) int {
	if t := jsonTag(doc); t != jsonArray && t != jsonObject || guard > guardDepth {
		return 1
	}
	deepest := 0
	n, _ := headOf(doc)
	for i := range n {
		deepest = max(deepest, jsonDepth(JSONElem(doc, i), guard+1))
	}
	return deepest + 1
}

// JSONType is JSON_TYPE.
func JSONType(doc []byte) string {
	switch jsonTag(doc) {
	case jsonFalse, jsonTrue:
		return "BOOLEAN"
	case jsonInt:
		return "INTEGER"
	case jsonUint:
		return "UNSIGNED INTEGER"
	case jsonDouble:
		return "DOUBLE"
	case jsonDecimal:
		return "DECIMAL"
	case jsonString:
		return "STRING"
	case jsonDate:
		return "DATE"
	case jsonTime:
		return "TIME"
	case jsonDatetime:
		return "DATETIME"
	case jsonOpaque:
		return opaqueType(doc[1])
	case jsonArray:
		return "ARRAY"
	case jsonObject:
		return "OBJECT"
	}
	return "NULL"
}

func opaqueType(fieldType byte) string {
	switch fieldType {
	case 16:
		return "BIT"
	case 249, 250, 251, 252, 15, 253, 254:
		return "BLOB"
	}
	return "OPAQUE"
}

// JSONText is the text of a string document.
func JSONText(doc []byte) ([]byte, bool) {
	if jsonTag(doc) == jsonString {
		return doc[1:], true
	}
	return nil, false
}

func (doc jsonDoc) word() uint64 { return binary.LittleEndian.Uint64(doc[1:]) }

func (doc jsonDoc) decimal() Decimal {
	b := bigFromBytes(doc[3:])
	if doc[2] == 1 {
		b.Neg(b)
	}
	return fromBig(b, int(min(doc[1], MaxDecimalScale)))
}

// jsonDoc is a document whose tag was checked.
type jsonDoc []byte

// JSONScalar is a scalar as a value: true and false as 1 and 0, null as NULL,
// strings and opaque values as bytes. It reports false for arrays and objects.
func JSONScalar(doc []byte) (Datum, bool) {
	d := jsonDoc(doc)
	switch jsonTag(doc) {
	case jsonFalse:
		return Int(0), true
	case jsonTrue:
		return Int(1), true
	case jsonInt:
		return Int(int64(d.word())), true
	case jsonUint:
		return Uint(d.word()), true
	case jsonDouble:
		return Float(math.Float64frombits(d.word())), true
	case jsonDecimal:
		return Dec(d.decimal()), true
	case jsonString:
		return Bytes(doc[1:]), true
	case jsonOpaque:
		return Bytes(doc[2:]), true
	case jsonDate, jsonDatetime:
		return TimeOf(Time(d.word())), true
	case jsonTime:
		return DurationOf(Duration(d.word())), true
	case jsonArray, jsonObject:
		return Null, false
	}
	return Null, true
}

// JSONInteger is the value of a document that is a signed integer.
func JSONInteger(doc []byte) (int64, bool) {
	if jsonTag(doc) != jsonInt {
		return 0, false
	}
	return int64(jsonDoc(doc).word()), true
}

// JSONIsNumber reports whether a document is a number; true and false are none.
func JSONIsNumber(doc []byte) bool {
	switch jsonTag(doc) {
	case jsonInt, jsonUint, jsonDouble, jsonDecimal:
		return true
	}
	return false
}

// CheckJSON reports whether doc is a well-formed document: ErrJSONCorrupt, or
// ErrJSONDepth.
func CheckJSON(doc []byte) error { return checkJSON(doc, 1) }

func checkJSON(doc []byte, depth int) error {
	if len(doc) == 0 || jsonTag(doc) == jsonNull && (doc[0] != jsonNull || len(doc) != 1) {
		return ErrJSONCorrupt
	}
	switch t := jsonTag(doc); t {
	case jsonTrue, jsonFalse:
		if len(doc) != 1 {
			return ErrJSONCorrupt
		}
	case jsonInt, jsonUint, jsonDouble, jsonDate, jsonTime, jsonDatetime:
		if len(doc) != 9 {
			return ErrJSONCorrupt
		}
	case jsonDecimal:
		if doc[1] > MaxDecimalScale || doc[2] > 1 || len(doc) > 3+maxJSONDecimal {
			return ErrJSONCorrupt
		}
	case jsonArray, jsonObject:
		return checkContainer(doc, t, depth)
	}
	return nil
}

func checkContainer(doc []byte, tag byte, depth int) error {
	if depth > MaxJSONDepth {
		return ErrJSONDepth
	}
	count, head := headOf(doc)
	if head == 0 {
		return ErrJSONCorrupt
	}
	ends, at := count, head
	if tag == jsonObject {
		ends = 2 * count
	}
	for i := range ends {
		end := u32(doc, 5+4*i)
		if end < at || end > len(doc) {
			return ErrJSONCorrupt
		}
		if isKey := tag == jsonObject && i < count; !isKey {
			if err := checkJSON(doc[at:end], depth+1); err != nil {
				return err
			}
		} else if i > 0 && !keyLess(JSONKey(doc, i-1), doc[at:end]) {
			return ErrJSONCorrupt
		}
		at = end
	}
	if at != len(doc) {
		return ErrJSONCorrupt
	}
	return nil
}
