package value

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
)

// JSONMembers collects the members of an object. Of equal keys the last one counts.
type JSONMembers struct {
	keys, docs []byte
	ends       []jsonEnd
}

// jsonEnd is where a member ends: its key and its value.
type jsonEnd struct{ key, val uint32 }

// Add appends copies of a key and its value: ErrJSONSize.
func (m *JSONMembers) Add(key, doc []byte) error {
	if len(m.keys)+len(key)+len(m.docs)+len(doc)+8*len(m.ends) > MaxJSONSize {
		return ErrJSONSize
	}
	m.keys, m.docs = append(m.keys, key...), append(m.docs, doc...)
	m.ends = append(m.ends, jsonEnd{uint32(len(m.keys)), uint32(len(m.docs))})
	return nil
}

// Fits gives the capacity of what Add grows by a key and a value of these lengths, and
// the bytes that are needed: of the keys or of the values, of which more move.
func (m *JSONMembers) Fits(key, doc int) (capacity, need int) {
	keys, docs := len(m.keys)+key, len(m.docs)+doc
	if docs > cap(m.docs) && docs >= keys || keys <= cap(m.keys) {
		return cap(m.docs), docs
	}
	return cap(m.keys), keys
}

// Len is the number of members, those included whose key comes again.
func (m *JSONMembers) Len() int { return len(m.ends) }

// Size is the memory that they take, in bytes.
func (m *JSONMembers) Size() int64 {
	return int64(cap(m.keys)) + int64(cap(m.docs)) + 8*int64(cap(m.ends))
}

func (m *JSONMembers) start(i int) jsonEnd {
	if i == 0 {
		return jsonEnd{}
	}
	return m.ends[i-1]
}

func (m *JSONMembers) key(i int) []byte { return m.keys[m.start(i).key:m.ends[i].key] }

func (m *JSONMembers) doc(i int) []byte { return m.docs[m.start(i).val:m.ends[i].val] }

// All are the members as they came.
func (m *JSONMembers) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, doc []byte) bool) {
		for i := range m.ends {
			if !yield(m.key(i), m.doc(i)) {
				return
			}
		}
	}
}

// compareWork is the work of comparing two keys.
const compareWork = 32

// sorted are the members in the order of their keys, the last one of each. work is called
// with the work done meanwhile; its error ends it. It may be nil.
func (m *JSONMembers) sorted(work func(n int) error) ([]uint32, error) {
	order := make([]uint32, len(m.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	const step = 1 << 10
	var err error
	done := 0
	slices.SortFunc(order, func(a, b uint32) int {
		if err != nil {
			return 0
		}
		if done++; done%step == 0 && work != nil {
			err = work(step * compareWork)
		}
		if c := compareKeys(m.key(int(a)), m.key(int(b))); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	if err != nil {
		return nil, err
	}
	n := 0
	for i, o := range order {
		if i > 0 && bytes.Equal(m.key(int(order[n-1])), m.key(int(o))) {
			n--
		}
		order[n] = o
		n++
	}
	return order[:n], nil
}

// Compact leaves out the members whose key comes again. work is called with the work done
// meanwhile, and may be nil; after its error the members are as they were.
func (m *JSONMembers) Compact(work func(n int) error) error {
	order, err := m.sorted(work)
	if err != nil || len(order) == len(m.ends) {
		return err
	}
	slices.Sort(order)
	keys, docs, ends := m.keys[:0], m.docs[:0], m.ends[:0]
	var was jsonEnd // of the member before, before it moved
	at := 0
	for _, o := range order {
		for ; at < int(o); at++ {
			was = m.ends[at]
		}
		end := m.ends[o]
		keys, docs = append(keys, m.keys[was.key:end.key]...), append(docs, m.docs[was.val:end.val]...)
		was, at = end, int(o)+1
		ends = append(ends, jsonEnd{uint32(len(keys)), uint32(len(docs))})
	}
	m.keys, m.docs, m.ends = keys, docs, ends
	return nil
}

// ObjectSize is the length of what Object makes if no key comes again.
func (m *JSONMembers) ObjectSize() int { return 5 + 8*len(m.ends) + len(m.keys) + len(m.docs) }

// Object is the object of the members: ErrJSONSize, or the error of work, which is called
// with the work done meanwhile, and may be nil.
func (m *JSONMembers) Object(work func(n int) error) ([]byte, error) {
	if m.ObjectSize() > MaxJSONSize {
		return nil, ErrJSONSize
	}
	order, err := m.sorted(work)
	if err != nil {
		return nil, err
	}
	return m.appendObject(nil, order), nil
}

// appendObject appends an object of the members in order, which are sorted.
func (m *JSONMembers) appendObject(dst []byte, order []uint32) []byte {
	end := 5 + 8*len(order)
	size := end
	for _, o := range order {
		size += len(m.key(int(o))) + len(m.doc(int(o)))
	}
	dst = append(slices.Grow(dst, size), jsonObject)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(order)))
	for _, o := range order {
		end += len(m.key(int(o)))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(end))
	}
	for _, o := range order {
		end += len(m.doc(int(o)))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(end))
	}
	for _, o := range order {
		dst = append(dst, m.key(int(o))...)
	}
	for _, o := range order {
		dst = append(dst, m.doc(int(o))...)
	}
	return dst
}
