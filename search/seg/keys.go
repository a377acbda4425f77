package seg

import (
	"bytes"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sort"
)

// NoOrdinal represents NULL as the value of a document.
const NoOrdinal = ^uint32(0)

// dict is a list of strings in ascending order of something.
type dict struct {
	n    int
	ends packed
	data []byte
}

func (d *dict) at(i int) []byte {
	from := 0
	if i > 0 {
		from = int(d.ends.get(i - 1))
	}
	to := int(d.ends.get(i))
	return d.data[from:to:to]
}

// search is the first string that is not below key.
func (d *dict) search(key []byte) int {
	lo, hi := 0, d.n
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if bytes.Compare(d.at(m), key) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

func openDict(f *file, id FieldID, part, ends uint8) (dict, error) {
	s, err := f.section(id, part)
	if err != nil || s == nil {
		return dict{}, err
	}
	e, err := f.section(id, ends)
	if err != nil || e == nil {
		return dict{}, err
	}
	return dict{n: int(e.params[0]), ends: asPacked(e), data: s.data}, nil
}

// Keys is a Key field of a segment. Its distinct values have ordinals in the
// order of (sort key, value), from 0 on; values of one sort key form a class,
// and classes are numbered in the same order. Without a collation, ordinals
// and classes are the same. It may be used concurrently; bytes that it returns
// are valid until the snapshot is closed.
type Keys struct {
	column
	values   dict
	keys     dict   // collated
	first    packed // collated: first ordinal of each class
	collated bool
	ords     packed
	listed   bool   // what follows is there
	ends     packed // of each class in lists
	lists    perm
	dense    []uint32 // classes that have a bitset, ascending
	bits     []uint64
}

func openKeys(f *file, id FieldID) (*Keys, error) {
	k := &Keys{}
	if err := k.open(f, id, KindKey); err != nil {
		return nil, err
	}
	v, err := f.section(id, partValues)
	if err != nil {
		return nil, err
	}
	if v == nil {
		k.missing(f.docs)
		return k, nil
	}
	if v.kind != KindKey {
		return nil, fmt.Errorf("field %d is a %s, not a %s", id, v.kind, KindKey)
	}
	k.ords = asPacked(v)
	if k.values, err = openDict(f, id, partDict, partDictEnds); err != nil {
		return nil, err
	}
	if k.keys, err = openDict(f, id, partKeys, partKeyEnds); err != nil {
		return nil, err
	}
	parts := [5]*section{}
	for i, p := range []uint8{partClasses, partListEnds, partPerm, partDense, partDenseBits} {
		if parts[i], err = f.section(id, p); err != nil {
			return nil, err
		}
	}
	if parts[0] != nil {
		k.collated, k.first = true, asPacked(parts[0])
	}
	if parts[1] != nil {
		k.listed, k.ends, k.lists = true, asPacked(parts[1]), asPerm(parts[2])
	}
	if parts[3] != nil {
		k.dense, k.bits = view[uint32](parts[3].data), view[uint64](parts[4].data)
	}
	return k, nil
}

// fill gives all documents a value if the file does not have the field.
func (k *Keys) fill(v *Value, collated bool) {
	if !k.filled(v) {
		return
	}
	one := func(b []byte) dict { return dict{n: 1, ends: constant(int64(len(b)), 1), data: b} }
	k.values, k.ords = one(v.Bytes), constant(0, k.docs)
	if k.collated = collated; collated {
		k.keys, k.first = one(v.Key), constant(0, 1)
	}
}

// HasLists reports whether the documents of a class are found without a scan.
func (k *Keys) HasLists() bool { return k.listed || k.empty }

// Ordinals is the number of distinct values.
func (k *Keys) Ordinals() int { return k.values.n }

// Classes is the number of distinct sort keys.
func (k *Keys) Classes() int {
	if k.collated {
		return k.keys.n
	}
	return k.values.n
}

// Value is the value of an ordinal.
func (k *Keys) Value(ord uint32) []byte { return k.values.at(int(ord)) }

// CopyValues copies the values of ordinals to memory of alloc, nil for NoOrdinal. It
// takes a third of the time of Value and a copy of each where the values lie anywhere in
// a large dictionary.
func (k *Keys) CopyValues(ords []uint32, alloc func(n int) []byte, out [][]byte) {
	for len(ords) > 0 {
		n := min(len(ords), copiedTogether)
		k.values.copy(ords[:n], alloc, out[:n])
		ords, out = ords[n:], out[n:]
	}
}

// copiedTogether is how many strings are copied at a time: as many as stay in the
// processor's cache if they are short.
const copiedTogether = 256

// copy copies strings. It first reads a byte of each: these reads do not wait for each
// other, as those of a string and of the copy before it do.
func (d *dict) copy(at []uint32, alloc func(n int) []byte, out [][]byte) {
	var list [copiedTogether][]byte
	total, seen := 0, byte(0)
	for i, o := range at {
		if list[i] = nil; o != NoOrdinal {
			list[i] = d.at(int(o))
			total += len(list[i])
		}
	}
	for _, b := range list[:len(at)] {
		if len(b) > 0 {
			seen |= b[0] | b[len(b)-1]
		}
	}
	runtime.KeepAlive(seen)
	room := alloc(max(total, 1)) // what is empty is not nil
	for i, o := range at {
		if out[i] = nil; o != NoOrdinal {
			n := copy(room, list[i])
			out[i], room = room[:n:n], room[n:]
		}
	}
}

// Key is the sort key of a class.
func (k *Keys) Key(class uint32) []byte {
	if k.collated {
		return k.keys.at(int(class))
	}
	return k.values.at(int(class))
}

// ClassOf is the class of an ordinal.
func (k *Keys) ClassOf(ord uint32) uint32 {
	if !k.collated || k.keys.n == k.values.n {
		return ord
	}
	lo, hi := 0, k.first.n-1
	for lo < hi {
		m := int(uint(lo+hi+1) >> 1)
		if k.first.get(m) <= int64(ord) {
			lo = m
		} else {
			hi = m - 1
		}
	}
	return uint32(lo)
}

// ClassOrdinals gives the ordinals of a class: from, and to, which is not
// included.
func (k *Keys) ClassOrdinals(class uint32) (from, to uint32) {
	if !k.collated || k.keys.n == k.values.n {
		return class, class + 1
	}
	from = uint32(k.first.get(int(class)))
	if int(class)+1 == k.keys.n {
		return from, uint32(k.values.n)
	}
	return from, uint32(k.first.get(int(class) + 1))
}

// FindKey gives the class of a sort key.
func (k *Keys) FindKey(key []byte) (class uint32, ok bool) {
	c := k.Seek(key)
	return c, int(c) < k.Classes() && bytes.Equal(k.Key(c), key)
}

// Seek returns the first class whose sort key is not below key, Classes() if
// all are below it.
func (k *Keys) Seek(key []byte) uint32 {
	if k.collated {
		return uint32(k.keys.search(key))
	}
	return uint32(k.values.search(key))
}

// FindRange gives the classes with lo <= sort key < hi; nil is no bound.
func (k *Keys) FindRange(lo, hi []byte) (from, to uint32) {
	to = uint32(k.Classes())
	if lo != nil {
		from = k.Seek(lo)
	}
	if hi != nil {
		to = k.Seek(hi)
	}
	return from, max(from, to)
}

// FindPrefix gives the classes whose sort keys begin with prefix.
func (k *Keys) FindPrefix(prefix []byte) (from, to uint32) {
	end := bytes.Clone(prefix)
	for len(end) > 0 && end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return k.FindRange(prefix, nil)
	}
	end[len(end)-1]++
	return k.FindRange(prefix, end)
}

// Count is the number of documents of the classes from to to (not included),
// deleted ones included; a document of an array field counts once in each of
// its classes. It reads no postings, but all ordinals of a field without lists.
func (k *Keys) Count(from, to uint32) int {
	if from >= to || k.empty {
		return 0
	}
	if !k.listed {
		set := make([]uint64, BitWords(k.docs))
		k.Into(from, to, set)
		return countBits(set)
	}
	n := k.listEnd(to) - k.listEnd(from)
	for i := k.denseAt(from); i < len(k.dense) && k.dense[i] < to; i++ {
		n += countBits(k.denseBits(i))
	}
	return n
}

// listEnd is where the list of a class begins.
func (k *Keys) listEnd(class uint32) int {
	if class == 0 {
		return 0
	}
	return int(k.ends.get(int(class) - 1))
}

// denseAt is the first place in dense that is not below class.
func (k *Keys) denseAt(class uint32) int {
	return sort.Search(len(k.dense), func(i int) bool { return k.dense[i] >= class })
}

func (k *Keys) denseBits(i int) []uint64 {
	n := BitWords(k.docs)
	return k.bits[i*n : (i+1)*n : (i+1)*n]
}

// Into adds the documents of the classes from to to (not included) to the
// bitset. Deleted documents are not left out.
func (k *Keys) Into(from, to uint32, set []uint64) {
	if from >= to || k.empty {
		return
	}
	if !k.listed {
		first, _ := k.ClassOrdinals(from)
		_, last := k.ClassOrdinals(to - 1)
		k.ValuesInto(first, last, set)
		return
	}
	a, b := k.listEnd(from), k.listEnd(to)
	if !k.multi && (b-a)*permFactor > k.docs && !k.collated {
		// most of the documents: a scan of the ordinals is faster
		k.ords.between(int64(from), int64(to)-1, set, k.nulls)
		return
	}
	k.lists.into(a, b, set)
	for i := k.denseAt(from); i < len(k.dense) && k.dense[i] < to; i++ {
		for j, w := range k.denseBits(i) {
			set[j] |= w
		}
	}
}

// ValuesInto adds the documents of the ordinals from to to (not included), of a field
// without arrays, by a scan of all ordinals.
func (k *Keys) ValuesInto(from, to uint32, set []uint64) {
	if from < to && !k.empty {
		k.ords.between(int64(from), int64(to)-1, set, k.nulls)
	}
}

// SetInto adds the documents of all classes whose bit is set in classes.
func (k *Keys) SetInto(classes, set []uint64) {
	n := k.Classes()
	if !k.HasLists() {
		k.scanInto(classes, set)
		return
	}
	for c := nextBit(classes, 0, n); int(c) < n; {
		end := c + 1
		for int(end) < n && hasBit(classes, end) {
			end++
		}
		k.Into(c, end, set)
		c = nextBit(classes, end, n)
	}
}

// scanInto is SetInto in one scan of all ordinals.
func (k *Keys) scanInto(classes, set []uint64) {
	ordinals := make([]uint64, BitWords(k.values.n))
	for c := nextBit(classes, 0, k.Classes()); int(c) < k.Classes(); c = nextBit(classes, c+1, k.Classes()) {
		for from, to := k.ClassOrdinals(c); from < to; from++ {
			setBit(ordinals, from)
		}
	}
	var buf [blockLen]int64
	for at := 0; at < k.ords.n; {
		n := k.ords.block(at, buf[:])
		for i, o := range buf[:n] {
			if d := uint32(at + i); hasBit(ordinals, uint32(o)) && !k.IsNull(d) {
				setBit(set, d)
			}
		}
		at += n
	}
}

// ClassDocs appends the documents of a class in ascending order, deleted ones
// included.
func (k *Keys) ClassDocs(class uint32, out []uint32) []uint32 {
	if !k.HasLists() {
		set := make([]uint64, BitWords(k.docs))
		k.Into(class, class+1, set)
		for d := nextBit(set, 0, k.docs); int(d) < k.docs; d = nextBit(set, d+1, k.docs) {
			out = append(out, d)
		}
		return out
	}
	if i := k.denseAt(class); i < len(k.dense) && k.dense[i] == class {
		for j, w := range k.denseBits(i) {
			for ; w != 0; w &= w - 1 {
				out = append(out, uint32(j<<6+bits.TrailingZeros64(w)))
			}
		}
		return out
	}
	return k.lists.list(k.listEnd(class), k.listEnd(class+1), out)
}

// DenseClass gives the bitset of a class that most documents have, in place;
// nil if the class has a list. The bitset must not be changed.
func (k *Keys) DenseClass(class uint32) []uint64 {
	if i := k.denseAt(class); i < len(k.dense) && k.dense[i] == class {
		return k.denseBits(i)
	}
	return nil
}

// Gather gives the ordinals of documents of a field without arrays, NoOrdinal
// for NULL.
func (k *Keys) Gather(docs, out []uint32) {
	if k.empty {
		for i := range docs {
			out[i] = NoOrdinal
		}
		return
	}
	var buf [256]int64
	for len(docs) > 0 {
		n := min(len(docs), len(buf))
		k.ords.gather(docs[:n], buf[:n])
		for i, v := range buf[:n] {
			out[i] = uint32(v)
		}
		if k.nulls != nil {
			for i, d := range docs[:n] {
				if hasBit(k.nulls, d) {
					out[i] = NoOrdinal
				}
			}
		}
		docs, out = docs[n:], out[n:]
	}
}

// GatherOrdinals is Gather that leaves the ordinals of NULL undefined.
func (k *Keys) GatherOrdinals(docs []uint32, out []int64) {
	if !k.empty {
		k.ords.gather(docs, out)
	}
}

// Histogram counts the documents of a set of so many, which begins with document from, a
// multiple of BlockDocs, by their ordinals. Of a field without arrays.
func (k *Keys) Histogram(set []uint64, from, docs int, counts []int64) {
	if k.empty {
		return
	}
	if len(k.dense) == k.values.n && k.values.n*len(set) <= docs*sweepFactor {
		for o := range counts { // each class is one value
			n := 0
			all := k.denseBits(o)[from>>6:]
			for i, w := range set {
				n += bits.OnesCount64(w & all[i])
			}
			counts[o] += int64(n)
		}
		return
	}
	if k.nulls != nil {
		set = slices.Clone(set)
		for i := range set {
			set[i] &^= k.nulls[from>>6+i]
		}
	}
	k.ords.histogram(set, from, 0, counts)
}

// sweepFactor is how many words of bitsets are counted in the time that the ordinal
// of a document takes.
const sweepFactor = 2

// Values is the number of values of all documents; of a field without arrays,
// the number of documents.
func (k *Keys) Values() int {
	if k.empty {
		return 0
	}
	return k.ords.n
}

// Block decodes ordinals in their order: from place (of a field without
// arrays: document) from on, as many as come cheaply and out takes; 0 at the
// end. Of NULL documents they are undefined.
func (k *Keys) Block(from int, out []int64) int {
	if from >= k.Values() || len(out) == 0 {
		return 0
	}
	return k.ords.block(from, out)
}

// Get is the value of one document of a field without arrays.
func (k *Keys) Get(doc uint32) ([]byte, bool) {
	if k.IsNull(doc) {
		return nil, false
	}
	return k.Value(uint32(k.ords.get(int(doc)))), true
}

// Array appends the ordinals of one document in the order of its array.
func (k *Keys) Array(doc uint32, out []uint32) []uint32 {
	if k.IsNull(doc) {
		return out
	}
	from, to := k.Span(doc)
	for i := from; i < to; i++ {
		out = append(out, uint32(k.ords.get(i)))
	}
	return out
}

// keyData is a Key field before it is written.
type keyData struct {
	values [][]byte // distinct, in the order of (key, value)
	keys   [][]byte // collated: the key of each value
	ords   []int64  // of each document, or of each value of arrays
	nulls  []uint64
	ends   []uint32
}

func (d *keyData) write(w *fileWriter, f Field, docs int) {
	nulls, all := writeNulls(w, f, d.nulls, docs)
	if all {
		return
	}
	writeDict(w, f, d.values, partDict, partDictEnds)
	classOf := make([]uint32, len(d.values))
	classes := len(d.values)
	for i := range classOf {
		classOf[i] = uint32(i)
	}
	if f.Collated {
		var keys [][]byte
		var first []int64
		for i, k := range d.keys {
			if i == 0 || !bytes.Equal(k, d.keys[i-1]) {
				keys = append(keys, k)
				first = append(first, int64(i))
			}
			classOf[i] = uint32(len(keys) - 1)
		}
		classes = len(keys)
		writeDict(w, f, keys, partKeys, partKeyEnds)
		params, data := packInts(first)
		w.section(f.ID, f.Kind, partClasses, params, data)
	}
	if f.Multi {
		writeOffsets(w, f, d.ends)
	} else {
		fillNulls(d.ords, nulls)
	}
	params, data := packInts(d.ords)
	w.section(f.ID, f.Kind, partValues, params, data)
	if !f.Unsorted {
		d.postings(w, f, docs, nulls, classOf, classes)
	}
}

// postings writes the documents of each class: a list, or a bitset where that
// is smaller.
func (d *keyData) postings(w *fileWriter, f Field, docs int, nulls []uint64, classOf []uint32, classes int) {
	seen := make([]uint32, classes) // last document plus one counted for a class
	each := func(visit func(class, doc uint32)) {
		if !f.Multi {
			for i, o := range d.ords {
				if nulls == nil || !hasBit(nulls, uint32(i)) {
					visit(classOf[o], uint32(i))
				}
			}
			return
		}
		clear(seen)
		at := 0
		for doc, end := range d.ends {
			for ; at < int(end); at++ {
				if c := classOf[d.ords[at]]; seen[c] != uint32(doc+1) {
					seen[c] = uint32(doc + 1)
					visit(c, uint32(doc))
				}
			}
		}
	}
	counts := make([]int, classes)
	each(func(c, _ uint32) { counts[c]++ })
	limit := docs / (8 * permWidth(docs))
	ends := make([]int64, classes)
	next := make([]int, classes)
	var dense []uint32
	total := 0
	for c, n := range counts {
		next[c] = total
		if n > limit && docs >= 64 {
			next[c] = -1 - len(dense)
			dense = append(dense, uint32(c))
		} else {
			total += n
		}
		ends[c] = int64(total)
	}
	list := make([]uint32, total)
	words := BitWords(docs)
	sets := make([]uint64, words*len(dense))
	each(func(c, doc uint32) {
		if at := next[c]; at >= 0 {
			list[at] = doc
			next[c]++
		} else {
			setBit(sets[(-1-at)*words:], doc)
		}
	})
	params, data := packInts(ends)
	w.section(f.ID, f.Kind, partListEnds, params, data)
	params, data = packPerm(list, docs)
	w.section(f.ID, f.Kind, partPerm, params, data)
	if len(dense) > 0 {
		w.section(f.ID, f.Kind, partDense, [4]int64{int64(len(dense))}, bytesOf(dense))
		w.section(f.ID, f.Kind, partDenseBits, [4]int64{}, bytesOf(sets))
	}
}

func writeDict(w *fileWriter, f Field, values [][]byte, part, partEnds uint8) {
	ends := make([]int64, len(values))
	total := 0
	for i, v := range values {
		total += len(v)
		ends[i] = int64(total)
	}
	params, data := packInts(ends)
	w.section(f.ID, f.Kind, part, [4]int64{}, values...)
	w.section(f.ID, f.Kind, partEnds, params, data)
}

// collectKeys makes the distinct values of a batch and the ordinals of each.
func (c *batchCol) collectKeys(spans, keys []span) (values, sortKeys [][]byte, ords []int64) {
	type pair struct{ key, value []byte }
	seen := make(map[string]int32, len(spans)/4+1)
	var pairs []pair
	ids := make([]int32, len(spans))
	for i, s := range spans {
		v := c.get(s)
		id, ok := seen[string(v)]
		if !ok {
			id = int32(len(pairs))
			seen[string(v)] = id
			p := pair{v, v}
			if keys != nil {
				p.key = c.get(keys[i])
			}
			pairs = append(pairs, p)
		}
		ids[i] = id
	}
	order := make([]int32, len(pairs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if keys != nil {
			if d := bytes.Compare(pairs[a].key, pairs[b].key); d != 0 {
				return d
			}
		}
		return bytes.Compare(pairs[a].value, pairs[b].value)
	})
	rank := make([]int64, len(pairs))
	for i, o := range order {
		rank[o] = int64(i)
		values = append(values, pairs[o].value)
		if keys != nil {
			sortKeys = append(sortKeys, pairs[o].key)
		}
	}
	ords = make([]int64, len(ids))
	for i, id := range ids {
		ords[i] = rank[id]
	}
	return values, sortKeys, ords
}
