package seg

import (
	"fmt"
	"sync"
)

// Nested says which documents of a segment are nested ones. A document comes
// before the nested documents that it has, and they before those of the next.
type Nested struct {
	docs  int
	roots []uint64 // nil: there are none
	paths []byte   // of each document: index into list plus one
	list  []Path
	// counts are the documents of each path, from 0, which is none, on.
	counts []int

	mu   sync.Mutex
	sets [][]uint64 // of each path, as counts, made at first use
}

func openNested(f *file, list []Path) (*Nested, error) {
	n := &Nested{docs: f.docs, list: list}
	r, err := f.section(0, partRoots)
	if err != nil || r == nil {
		return n, err
	}
	p, err := f.section(0, partPaths)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, damaged(f.name, "has no paths")
	}
	n.roots, n.paths = view[uint64](r.data), p.data
	return n, nil
}

// check wants all paths to be in the schema, and counts their documents.
func (n *Nested) check() error {
	n.counts = make([]int, len(n.list)+1)
	for _, p := range n.paths {
		if int(p) > len(n.list) {
			return fmt.Errorf("nested path number %d of %d", p, len(n.list))
		}
		n.counts[p]++
	}
	return nil
}

// Any reports whether the segment has nested documents.
func (n *Nested) Any() bool { return n.roots != nil }

// Path is the path of a document, 0 if it is not nested.
func (n *Nested) Path(doc uint32) uint16 {
	if n.paths == nil || n.paths[doc] == 0 {
		return 0
	}
	return n.list[n.paths[doc]-1].ID
}

// Of is the bitset of the documents of a nested path, deleted ones included; nil
// if the path has no documents. It must not be changed.
func (n *Nested) Of(path uint16) []uint64 {
	at := 0
	for i, p := range n.list {
		if p.ID == path && n.roots != nil && n.counts[i+1] > 0 {
			at = i + 1
		}
	}
	if at == 0 {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sets == nil {
		n.sets = make([][]uint64, len(n.counts))
	}
	if n.sets[at] == nil {
		n.sets[at] = make([]uint64, BitWords(n.docs))
		n.PathInto(path, n.sets[at])
	}
	return n.sets[at]
}

// PathInto adds the documents of a path to the bitset.
func (n *Nested) PathInto(path uint16, set []uint64) {
	if n.roots == nil {
		if path == 0 {
			all := make([]uint64, len(set))
			onesInto(all, n.docs)
			for i, w := range all {
				set[i] |= w
			}
		}
		return
	}
	want := byte(0)
	for i, p := range n.list {
		if p.ID == path {
			want = byte(i + 1)
		}
	}
	if want == 0 && path != 0 {
		return
	}
	for i, p := range n.paths {
		if p == want {
			setBit(set, uint32(i))
		}
	}
}

// Count is the number of documents of a path, deleted ones included.
func (n *Nested) Count(path uint16) int {
	if n.roots == nil {
		if path == 0 {
			return n.docs
		}
		return 0
	}
	if path == 0 {
		return n.counts[0]
	}
	for i, p := range n.list {
		if p.ID == path {
			return n.counts[i+1]
		}
	}
	return 0
}

// Root is the document that contains a nested document, itself if it is not nested.
func (n *Nested) Root(doc uint32) uint32 {
	if n.roots == nil {
		return doc
	}
	d, _ := prevBit(n.roots, doc)
	return d
}

// Parent is the document or nested document right around a nested one.
func (n *Nested) Parent(doc uint32) uint32 {
	if n.paths == nil || n.paths[doc] == 0 {
		return doc
	}
	if n.list[n.paths[doc]-1].Parent == 0 {
		return n.Root(doc)
	}
	want := byte(0)
	for i, p := range n.list {
		if p.ID == n.list[n.paths[doc]-1].Parent {
			want = byte(i + 1)
		}
	}
	for d := doc; d > 0; {
		d--
		if n.paths[d] == want {
			return d
		}
	}
	return doc
}

// End is the document after the last nested one of the root.
func (n *Nested) End(root uint32) uint32 {
	if n.roots == nil {
		return root + 1
	}
	return nextBit(n.roots, root+1, n.docs)
}

// JoinInto adds to parents the direct parent of each document of the set, whose
// documents all have the same path.
func (n *Nested) JoinInto(children, parents []uint64) {
	for c := nextBit(children, 0, n.docs); int(c) < n.docs; c = nextBit(children, c+1, n.docs) {
		setBit(parents, n.Parent(c))
	}
}
