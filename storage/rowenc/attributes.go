package rowenc

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sort"

	"github.com/sqlots/sqlots/value"
)

// Attributes are the members of an object, kept so that one is found without
// reading the others. The bytes in the row are a leaf, or, when that would be
// larger than MaxInlineAttributes, the root of leaves that have cells of their
// own:
//
//	leaf  01 n(u16) n*end of name(u16) n*end of value(u16) names values
//	root  02 n(u16) n*{end of name(u32), length of the leaf(u32)} names
//
// Images of rows, which have all values in them, have the object itself.
//
// Attributes are in the order of their folded names (value.FoldName). The names of a
// root are the folded first names of its leaves. A value is the compact form of
// a JSON document (value.AppendCompactJSON), or 00 and its length as uvarint
// when it is larger than MaxAttributeValue and has a cell.
//
// A leaf ends where the next name says so, by its hash, or where it would be
// too large. So a change of one attribute changes one leaf, or a few, and the
// encoding is a function of the values alone.
const (
	attributeLeaf = 1
	attributeRoot = 2

	// MaxInlineAttributes is the most bytes of attributes in a row.
	MaxInlineAttributes = 4 << 10
	// MaxAttributeValue is the most bytes of a value that is stored inline.
	MaxAttributeValue = 4 << 10

	maxLeaf     = 16 << 10
	leafMask    = 63 // a leaf has about so many attributes
	maxName     = 1 << 10
	rootItem    = 8
	leafItem    = 4
	attrHead    = 3
	externValue = 0
)

// Suffixes of the keys of cells: a leaf by its first name, a value by its name.
const (
	leafCell  = 'l'
	valueCell = 'v'
)

// AttributeCell is a pair that belongs to the row: Suffix ends its key.
type AttributeCell struct{ Suffix, Value []byte }

// Attributes are the attributes of a row in their stored form.
type Attributes struct {
	Block []byte
	// Cells are in the order of their suffixes.
	Cells []AttributeCell
}

type attribute struct{ fold, name, val []byte }

// EncodeAttributes encodes a JSON object. No attributes have no block. Of names
// that fold to the same one only one is kept.
func EncodeAttributes(doc []byte) Attributes {
	var out Attributes
	list := make([]attribute, 0, value.JSONLen(doc))
	for i := range cap(list) {
		name := value.JSONKey(doc, i)
		if name == nil || len(name) > maxName {
			continue
		}
		list = append(list, attribute{fold: value.FoldName(name), name: name, val: value.JSONElem(doc, i)})
	}
	if len(list) == 0 {
		return out
	}
	slices.SortStableFunc(list, func(a, b attribute) int { return slices.Compare(a.fold, b.fold) })
	list = slices.CompactFunc(list, func(a, b attribute) bool { return slices.Equal(a.fold, b.fold) })
	size := attrHead
	for i := range list {
		a := &list[i]
		a.val = value.AppendCompactJSON(nil, a.val)
		if len(a.val) > MaxAttributeValue {
			full, _ := value.AppendExpandedJSON(nil, a.val)
			out.Cells = append(out.Cells, AttributeCell{append([]byte{valueCell}, a.fold...), full})
			a.val = binary.AppendUvarint([]byte{externValue}, uint64(len(full)))
		}
		size += a.size()
	}
	if size <= MaxInlineAttributes {
		out.Block = appendLeaf(nil, list)
	} else {
		out.split(list)
	}
	slices.SortFunc(out.Cells, func(a, b AttributeCell) int { return slices.Compare(a.Suffix, b.Suffix) })
	return out
}

func (a *attribute) size() int { return leafItem + len(a.name) + len(a.val) }

// split makes leaves in cells, and their root.
func (out *Attributes) split(list []attribute) {
	var names []byte
	var items []byte
	n := 0
	flush := func(leaf []attribute) {
		b := appendLeaf(nil, leaf)
		first := leaf[0].fold
		out.Cells = append(out.Cells, AttributeCell{append([]byte{leafCell}, first...), b})
		names = append(names, first...)
		items = binary.LittleEndian.AppendUint32(items, uint32(len(names)))
		items = binary.LittleEndian.AppendUint32(items, uint32(len(b)))
		n++
	}
	start, size := 0, attrHead
	for i := range list {
		s := list[i].size()
		if i > start && (size+s > maxLeaf || startsLeaf(list[i].fold)) {
			flush(list[start:i])
			start, size = i, attrHead
		}
		size += s
	}
	flush(list[start:])
	out.Block = append(out.Block, attributeRoot)
	out.Block = binary.LittleEndian.AppendUint16(out.Block, uint16(n))
	out.Block = append(append(out.Block, items...), names...)
}

func startsLeaf(fold []byte) bool {
	h := fnv.New32a()
	_, _ = h.Write(fold)
	return h.Sum32()&leafMask == 0
}

func appendLeaf(dst []byte, list []attribute) []byte {
	dst = append(dst, attributeLeaf)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(list)))
	end := 0
	for i := range list {
		end += len(list[i].name)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(end))
	}
	end = 0
	for i := range list {
		end += len(list[i].val)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(end))
	}
	for i := range list {
		dst = append(dst, list[i].name...)
	}
	for i := range list {
		dst = append(dst, list[i].val...)
	}
	return dst
}

// leafView is a leaf whose head was checked.
type leafView struct {
	n                 int
	nameEnds, valEnds []byte
	names, vals       []byte
}

func viewLeaf(b []byte) (leafView, bool) {
	if len(b) < attrHead || b[0] != attributeLeaf {
		return leafView{}, false
	}
	v := leafView{n: int(binary.LittleEndian.Uint16(b[1:]))}
	at := attrHead + 2*v.n
	if v.n == 0 || len(b) < at+2*v.n {
		return leafView{}, false
	}
	v.nameEnds, v.valEnds = b[attrHead:at], b[at:at+2*v.n]
	rest := b[at+2*v.n:]
	names := int(binary.LittleEndian.Uint16(v.nameEnds[2*v.n-2:]))
	if names > len(rest) {
		return leafView{}, false
	}
	v.names, v.vals = rest[:names], rest[names:]
	if int(binary.LittleEndian.Uint16(v.valEnds[2*v.n-2:])) != len(v.vals) {
		return leafView{}, false
	}
	return v, true
}

// slotOf is part i of data; nil when the ends are damaged.
func slotOf(ends, data []byte, i int) []byte {
	lo, hi := 0, int(binary.LittleEndian.Uint16(ends[2*i:]))
	if i > 0 {
		lo = int(binary.LittleEndian.Uint16(ends[2*i-2:]))
	}
	if lo > hi || hi > len(data) {
		return nil
	}
	return data[lo:hi:hi]
}

func (v *leafView) name(i int) []byte { return slotOf(v.nameEnds, v.names, i) }
func (v *leafView) val(i int) []byte  { return slotOf(v.valEnds, v.vals, i) }

// find is the place of a folded name; -1 if the leaf has none.
func (v *leafView) find(fold string) int {
	i := sort.Search(v.n, func(i int) bool { return compareFold(v.name(i), fold) >= 0 })
	if i < v.n && compareFold(v.name(i), fold) == 0 {
		return i
	}
	return -1
}

// compareFold compares a name, once folded, with a folded one.
func compareFold(name []byte, fold string) int {
	for i, c := range name {
		if i == len(fold) {
			return 1
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != fold[i] {
			return int(c) - int(fold[i])
		}
	}
	return len(name) - len(fold)
}

// AttributeReader reads attributes of rows. It belongs to one goroutine.
type AttributeReader struct {
	// names are the folded names that are wanted; nil for all.
	names []string
	all   bool
	keys  [][]byte
	vals  [][]byte
	buf   []byte
	// Cells are those that have to be read to go on: suffixes and lengths.
	Cells []AttributeWant
}

// AttributeWant is a cell that a reader needs.
type AttributeWant struct {
	Suffix []byte
	Length int
	val    int // the value that it is; -1: a leaf
}

// NewAttributeReader makes a reader of the attributes with the given names; nil
// for all.
func NewAttributeReader(names []string) *AttributeReader {
	r := &AttributeReader{all: names == nil}
	for _, n := range names {
		r.names = append(r.names, string(value.FoldName([]byte(n))))
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	return r
}

// Reset goes to a block; an empty one has no attributes. The reader then needs
// Cells, which Give takes, leaves first; leaves may need more. The block must
// stay unchanged until Object was called.
func (r *AttributeReader) Reset(block []byte) error {
	r.keys, r.vals, r.Cells, r.buf = r.keys[:0], r.vals[:0], r.Cells[:0], r.buf[:0]
	if len(block) == 0 {
		return nil
	}
	switch block[0] {
	case attributeRoot:
		return r.root(block)
	case attributeLeaf:
		return r.leaf(block)
	}
	return r.object(block)
}

func (r *AttributeReader) object(doc []byte) error {
	if value.CheckJSON(doc) != nil || value.JSONType(doc) != "OBJECT" {
		return errRow
	}
	for i := range value.JSONLen(doc) {
		name := value.JSONKey(doc, i)
		if _, wanted := slices.BinarySearch(r.names, string(value.FoldName(name))); wanted || r.all {
			r.keys, r.vals = append(r.keys, name), append(r.vals, value.JSONElem(doc, i))
		}
	}
	return nil
}

func (r *AttributeReader) root(b []byte) error {
	if len(b) < attrHead {
		return errRow
	}
	n := int(binary.LittleEndian.Uint16(b[1:]))
	if n == 0 || len(b) < attrHead+rootItem*n {
		return errRow
	}
	items, names := b[attrHead:attrHead+rootItem*n], b[attrHead+rootItem*n:]
	first := func(i int) ([]byte, bool) {
		lo, hi := 0, int(binary.LittleEndian.Uint32(items[rootItem*i:]))
		if i > 0 {
			lo = int(binary.LittleEndian.Uint32(items[rootItem*(i-1):]))
		}
		if lo > hi || hi > len(names) {
			return nil, false
		}
		return names[lo:hi], true
	}
	want := func(i int) error {
		name, ok := first(i)
		if !ok {
			return errRow
		}
		r.Cells = append(r.Cells, AttributeWant{Suffix: append([]byte{leafCell}, name...), Length: int(binary.LittleEndian.Uint32(items[rootItem*i+4:])), val: -1})
		return nil
	}
	if r.all {
		for i := range n {
			if err := want(i); err != nil {
				return err
			}
		}
		return nil
	}
	last := -1
	for _, name := range r.names {
		i := sort.Search(n, func(i int) bool { f, _ := first(i); return compareFold(f, name) > 0 }) - 1
		if i < 0 || i == last {
			continue
		}
		last = i
		if err := want(i); err != nil {
			return err
		}
	}
	return nil
}

func (r *AttributeReader) leaf(b []byte) error {
	v, ok := viewLeaf(b)
	if !ok {
		return errRow
	}
	if r.all {
		for i := range v.n {
			if err := r.take(&v, i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range r.names {
		if i := v.find(name); i >= 0 {
			if err := r.take(&v, i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *AttributeReader) take(v *leafView, i int) error {
	name, val := v.name(i), v.val(i)
	if name == nil || len(val) == 0 {
		return errRow
	}
	if val[0] == externValue {
		n, used := binary.Uvarint(val[1:])
		if used <= 0 || used != len(val)-1 || n > 1<<31 {
			return errRow
		}
		r.Cells = append(r.Cells, AttributeWant{Suffix: append([]byte{valueCell}, value.FoldName(name)...), Length: int(n), val: len(r.vals)})
		r.keys, r.vals = append(r.keys, name), append(r.vals, nil)
		return nil
	}
	start := len(r.buf)
	buf, ok := value.AppendExpandedJSON(r.buf, val)
	if !ok {
		return errRow
	}
	r.buf = buf // what is in a smaller one stays valid
	r.keys, r.vals = append(r.keys, name), append(r.vals, buf[start:])
	return nil
}

// Give takes the bytes of a cell that the reader needs. They must stay
// unchanged until Object was called.
func (r *AttributeReader) Give(w AttributeWant, b []byte) error {
	switch {
	case len(b) != w.Length:
		return errRow
	case w.val < 0:
		return r.leaf(b)
	case value.CheckJSON(b) != nil:
		return errRow
	}
	r.vals[w.val] = b
	return nil
}

// Object is the JSON object of the attributes. It shares nothing.
func (r *AttributeReader) Object() []byte { return r.AppendObject(nil) }

// AppendObject appends the JSON object of the attributes.
func (r *AttributeReader) AppendObject(dst []byte) []byte {
	return value.AppendJSONObject(dst, r.keys, r.vals)
}
