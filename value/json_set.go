package value

import "hash/maphash"

// JSONDocSet is a set of documents. Equal are those that JSONCompare says are. It keeps
// the documents, not copies.
type JSONDocSet struct {
	seed   maphash.Seed
	byHash map[uint64][]byte
	others [][]byte // whose hash another one has
	buf    []byte
}

// NewJSONDocSet is an empty set for about n documents.
func NewJSONDocSet(n int) *JSONDocSet {
	return &JSONDocSet{seed: maphash.MakeSeed(), byHash: make(map[uint64][]byte, n)}
}

func (s *JSONDocSet) hash(doc []byte) uint64 {
	s.buf = AppendJSONHash(s.buf[:0], doc)
	return maphash.Bytes(s.seed, s.buf)
}

// Has reports whether doc is in the set.
func (s *JSONDocSet) Has(doc []byte) bool { return s.has(s.hash(doc), doc) }

func (s *JSONDocSet) has(hash uint64, doc []byte) bool {
	found, ok := s.byHash[hash]
	if !ok {
		return false
	}
	if JSONCompare(found, doc) == 0 {
		return true
	}
	for _, o := range s.others {
		if JSONCompare(o, doc) == 0 {
			return true
		}
	}
	return false
}

// Add puts doc into the set, and reports whether it was not there.
func (s *JSONDocSet) Add(doc []byte) bool {
	hash := s.hash(doc)
	switch _, taken := s.byHash[hash]; {
	case !taken:
		s.byHash[hash] = doc
	case s.has(hash, doc):
		return false
	default:
		s.others = append(s.others, doc)
	}
	return true
}

// fewPairs is how many pairs of elements are compared one by one. More are looked up
// in a set.
const fewPairs = 256

// JSONContains is JSON_CONTAINS: every part of candidate is in target. It calls work,
// if that is not nil, with what it does, in units of about a nanosecond, and ends with
// its errors. The time is that of looking up each part, but for objects and arrays
// within candidate: each may be compared with all of target.
func JSONContains(target, candidate []byte, work func(n int) error) (bool, error) {
	m := jsonMatcher{work: work}
	ok := m.contains(target, candidate)
	return ok && m.err == nil, m.err
}

// JSONOverlaps is JSON_OVERLAPS: two arrays have an element in common, two objects a
// member, two scalars are equal; a scalar counts as an array of one. Calls of work are
// those of JSONContains.
func JSONOverlaps(a, b []byte, work func(n int) error) (bool, error) {
	m := jsonMatcher{work: work}
	ok := m.overlaps(a, b)
	return ok && m.err == nil, m.err
}

// jsonMatcher compares parts of documents until work has an error.
type jsonMatcher struct {
	work func(n int) error
	err  error
}

// goes counts a comparison of doc, and reports whether there was no error.
func (m *jsonMatcher) goes(doc []byte) bool {
	if m.err == nil && m.work != nil {
		m.err = m.work(20 + len(doc)/4)
	}
	return m.err == nil
}

func (m *jsonMatcher) equal(a, b []byte) bool { return m.goes(a) && JSONCompare(a, b) == 0 }

// any reports whether fn is true for an element of the array doc.
func (m *jsonMatcher) any(doc []byte, fn func(e []byte) bool) bool {
	for i := range JSONLen(doc) {
		e := JSONElem(doc, i)
		if !m.goes(nil) {
			return false
		}
		if fn(e) {
			return true
		}
	}
	return false
}

func (m *jsonMatcher) contains(target, candidate []byte) bool {
	switch jsonTag(target) {
	case jsonArray:
		if jsonTag(candidate) != jsonArray {
			return m.any(target, func(e []byte) bool { return m.contains(e, candidate) })
		}
		return m.containsAll(target, candidate)
	case jsonObject:
		if jsonTag(candidate) != jsonObject {
			return false
		}
		for i := range JSONLen(candidate) {
			v, ok := JSONMember(target, JSONKey(candidate, i))
			if !ok || !m.contains(v, JSONElem(candidate, i)) {
				return false
			}
		}
		return true
	}
	return m.equal(target, candidate)
}

// containsAll is contains for two arrays.
func (m *jsonMatcher) containsAll(target, candidate []byte) bool {
	var known *JSONDocSet
	if n := JSONLen(target); n*JSONLen(candidate) > fewPairs {
		known = NewJSONDocSet(n)
		m.addAll(known, target)
	}
	for i := range JSONLen(candidate) {
		c := JSONElem(candidate, i)
		if !m.goes(c) {
			return false
		}
		if known != nil {
			if known.Has(c) {
				continue
			}
			if t := jsonTag(c); t != jsonArray && t != jsonObject {
				return false // a scalar is nowhere
			}
		}
		if !m.any(target, func(e []byte) bool { return m.contains(e, c) }) {
			return false
		}
	}
	return true
}

// addAll adds what a candidate finds if it is equal: elements, and those of arrays
// within.
func (m *jsonMatcher) addAll(s *JSONDocSet, array []byte) {
	m.any(array, func(e []byte) bool {
		if m.goes(e) {
			s.Add(e)
		}
		if jsonTag(e) == jsonArray {
			m.addAll(s, e)
		}
		return false
	})
}

func (m *jsonMatcher) overlaps(a, b []byte) bool {
	if jsonTag(a) == jsonObject && jsonTag(b) == jsonObject {
		for i := range JSONLen(a) {
			if v, ok := JSONMember(b, JSONKey(a, i)); ok && m.equal(v, JSONElem(a, i)) {
				return true
			}
			if !m.goes(nil) {
				return false
			}
		}
		return false
	}
	if jsonTag(a) != jsonArray {
		if jsonTag(b) != jsonArray {
			return m.equal(a, b)
		}
		a, b = b, a
	}
	if jsonTag(b) != jsonArray {
		return m.any(a, func(e []byte) bool { return m.equal(e, b) })
	}
	if JSONLen(a)*JSONLen(b) <= fewPairs {
		return m.any(a, func(e []byte) bool {
			return m.any(b, func(f []byte) bool { return m.equal(e, f) })
		})
	}
	if JSONLen(a) > JSONLen(b) {
		a, b = b, a
	}
	known := NewJSONDocSet(JSONLen(a))
	m.any(a, func(e []byte) bool {
		if m.goes(e) {
			known.Add(e)
		}
		return false
	})
	return m.any(b, func(e []byte) bool { return m.goes(e) && known.Has(e) })
}
