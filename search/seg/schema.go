package seg

import (
	"fmt"
	"slices"
)

// FieldID names a field for ever: an index never reuses the number of a
// dropped field. Zero is the document itself and no field.
type FieldID uint16

// Kind is the form in which the values of a field are stored and searched.
type Kind uint8

const (
	// KindWord is an int64 that orders as the value does.
	KindWord Kind = iota + 1
	// KindKey is a string of bytes, ordered and compared by its sort key.
	KindKey
	// KindBytes is a value that is stored and not searched.
	KindBytes
	// KindText is a sequence of terms.
	KindText
	// KindPoint is a place on the sphere.
	KindPoint
)

// String is the name of the kind.
func (k Kind) String() string {
	switch k {
	case KindWord:
		return "word"
	case KindKey:
		return "key"
	case KindBytes:
		return "bytes"
	case KindText:
		return "text"
	case KindPoint:
		return "point"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Field describes one field of an index.
type Field struct {
	ID   FieldID
	Kind Kind
	// Multi says that a document has an array of values, in order and with
	// duplicates. Word, Key and Point.
	Multi bool
	// Collated says that the sort key of a value differs from the value, so
	// that both are stored. Key.
	Collated bool
	// Unsorted leaves out what finds few documents without a scan: the permutation
	// of words, three bytes a document, and the lists of keys, which have no arrays.
	// Word, Key.
	Unsorted bool
	// Missing is what documents have in segments that were written before the field
	// existed; nil for NULL. Fields without arrays, but for Text and Point.
	Missing *Value
}

// Value is a value of a field: a word, or bytes with their sort key.
type Value struct {
	Word       int64
	Key, Bytes []byte
}

// Path is a kind of nested document: the objects of an array within a document
// or within a nested document of another path.
type Path struct {
	// ID is not zero, which is the document itself.
	ID uint16
	// Parent is the path of the enclosing objects, zero for documents.
	Parent uint16
}

// Schema is what an index holds.
type Schema struct {
	Fields []Field
	Paths  []Path
}

// check finds what no index can be made of.
func (s *Schema) check() error {
	seen := map[FieldID]bool{}
	for _, f := range s.Fields {
		switch {
		case f.ID == 0:
			return fmt.Errorf("field number 0 is reserved")
		case seen[f.ID]:
			return fmt.Errorf("two fields of number %d", f.ID)
		case f.Kind < KindWord || f.Kind > KindPoint:
			return fmt.Errorf("field %d has no kind", f.ID)
		case f.Multi && (f.Kind == KindBytes || f.Kind == KindText):
			return fmt.Errorf("field %d: a %s field has no arrays", f.ID, f.Kind)
		case f.Unsorted && f.Kind == KindKey && f.Multi:
			return fmt.Errorf("field %d: arrays of keys have lists", f.ID)
		case f.Missing != nil && (f.Multi || f.Kind == KindText || f.Kind == KindPoint):
			return fmt.Errorf("field %d: such a %s field exists from the beginning", f.ID, f.Kind)
		case f.Collated && f.Kind != KindKey:
			return fmt.Errorf("field %d: a %s field has no sort keys", f.ID, f.Kind)
		}
		seen[f.ID] = true
	}
	paths := []uint16{0}
	for _, p := range s.Paths {
		if slices.Contains(paths, p.ID) || !slices.Contains(paths, p.Parent) {
			return fmt.Errorf("path %d in %d: paths are listed once, after the path they lie in", p.ID, p.Parent)
		}
		paths = append(paths, p.ID)
	}
	if len(paths) > 256 {
		return fmt.Errorf("%d nested paths, at most 255 are possible", len(paths)-1)
	}
	return nil
}

func (s *Schema) field(id FieldID) *Field {
	for i := range s.Fields {
		if s.Fields[i].ID == id {
			return &s.Fields[i]
		}
	}
	return nil
}

// missing is Field.Missing of a field.
func (s *Schema) missing(id FieldID) *Value {
	if s == nil {
		return nil
	}
	f := s.field(id)
	if f == nil {
		return nil
	}
	return f.Missing
}

// hasText reports whether the index has terms with positions.
func (s *Schema) hasText() bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Kind == KindText })
}

// Token is one term of a text.
type Token struct {
	// Term is valid until the call that takes it returns.
	Term []byte
	// Pos counts from 1; tokens may share a position, and positions may be
	// left out.
	Pos uint32
	// Start and End are the bytes of the text from which the token was made.
	Start, End uint32
}
