package seg

import (
	"bytes"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// ids is the column of document ids with a hash table from id to document.
//
// A slot of the table is zero or (tag << docBits | document + 1), where tag is
// the low bits of the id's hash; the high bits choose the first slot, and
// collisions take the next. Nested documents have no id of their own: that of
// the document around them is meant.
type ids struct {
	docs    int
	data    []byte
	stride  int // length of all ids, when ends is not used
	ends    packed
	slots   []uint32
	docBits int
	roots   []uint64 // nil: no nested documents
	// least and most are those of all ids; nil where the file does not say.
	least, most []byte
}

func openIDs(f *file) (*ids, error) {
	r := &ids{docs: f.docs, docBits: bits.Len(uint(f.docs))}
	s, err := f.section(0, partIDs)
	if err != nil {
		return nil, err
	}
	e, err := f.section(0, partIDEnds)
	if err != nil {
		return nil, err
	}
	h, err := f.section(0, partHash)
	if err != nil {
		return nil, err
	}
	roots, err := f.section(0, partRoots)
	if err != nil {
		return nil, err
	}
	if s == nil || h == nil {
		return nil, damaged(f.name, "has no ids")
	}
	r.data, r.slots = s.data, view[uint32](h.data)
	if e != nil {
		r.ends = asPacked(e)
	} else {
		r.stride = int(s.params[0])
	}
	if roots != nil {
		r.roots = view[uint64](roots.data)
	}
	if least, most := s.params[1], s.params[2]; least > 0 && most > 0 && max(least, most) <= int64(f.docs) {
		r.least, r.most = r.at(uint32(least-1)), r.at(uint32(most-1))
	}
	return r, nil
}

// isApart reports that no document has an id from least to most, both included.
func (r *ids) isApart(least, most []byte) bool {
	return r.least != nil && (bytes.Compare(most, r.least) < 0 || bytes.Compare(least, r.most) > 0)
}

// root is the document that contains a nested document.
func (r *ids) root(doc uint32) uint32 {
	if r.roots == nil {
		return doc
	}
	d, _ := prevBit(r.roots, doc)
	return d
}

func (r *ids) at(doc uint32) []byte {
	if r.stride != 0 {
		off := int(doc) * r.stride
		return r.data[off : off+r.stride : off+r.stride]
	}
	d := int(r.root(doc))
	from := 0
	if d > 0 {
		from = int(r.ends.get(d - 1))
	}
	to := int(r.ends.get(d))
	return r.data[from:to:to]
}

// find gives the document with the id.
func (r *ids) find(id []byte) (uint32, bool) { return r.findHash(id, xxhash.Sum64(id)) }

func (r *ids) findHash(id []byte, h uint64) (uint32, bool) {
	n := uint64(len(r.slots))
	if n == 0 {
		return 0, false
	}
	tagBits := 32 - r.docBits
	tag := uint32(h) & uint32(1<<tagBits-1)
	i, _ := bits.Mul64(h, n)
	for {
		s := r.slots[i]
		if s == 0 {
			return 0, false
		}
		if s>>r.docBits == tag {
			if doc := s&(1<<r.docBits-1) - 1; bytes.Equal(r.at(doc), id) {
				return doc, true
			}
		}
		if i++; i == n {
			i = 0
		}
	}
}

// end is the document after the last nested one of a root.
func (r *ids) end(root uint32) uint32 {
	if r.roots == nil {
		return root + 1
	}
	return nextBit(r.roots, root+1, r.docs)
}

// writeIDs writes the ids, in the order of documents; those of nested
// documents are nil. roots is nil without nested documents.
func writeIDs(w *fileWriter, list [][]byte, roots []uint64) {
	docs := len(list)
	stride, least, most := -1, -1, -1
	for doc, id := range list {
		if id != nil {
			if least < 0 || bytes.Compare(id, list[least]) < 0 {
				least = doc
			}
			if most < 0 || bytes.Compare(id, list[most]) > 0 {
				most = doc
			}
		}
		switch {
		case stride == -1:
			stride = len(id)
		case stride != len(id):
			stride = 0
		}
	}
	if roots != nil || stride < 0 {
		stride = 0
	}
	w.section(0, 0, partIDs, [4]int64{int64(stride), int64(least + 1), int64(most + 1)}, list...)
	if stride == 0 {
		ends := make([]int64, docs)
		total := 0
		for i, id := range list {
			total += len(id)
			ends[i] = int64(total)
		}
		params, data := packInts(ends)
		w.section(0, 0, partIDEnds, params, data)
	}
	docBits := bits.Len(uint(docs))
	tagBits := 32 - docBits
	slots := make([]uint32, docs+docs/4+8)
	n := uint64(len(slots))
	for doc, id := range list {
		if id == nil {
			continue
		}
		h := xxhash.Sum64(id)
		i, _ := bits.Mul64(h, n)
		for slots[i] != 0 {
			if i++; i == n {
				i = 0
			}
		}
		slots[i] = (uint32(h)&uint32(1<<tagBits-1))<<docBits | uint32(doc+1)
	}
	w.section(0, 0, partHash, [4]int64{}, bytesOf(slots))
	if roots != nil {
		w.section(0, 0, partRoots, [4]int64{}, bytesOf(roots))
	}
}
