package table

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// MaxArrayBytes bounds the keys of the elements that one row has in a
// multi-valued index; it is InnoDB's limit.
const MaxArrayBytes = 65221

// ArrayError is the violation of MaxArrayBytes.
type ArrayError struct {
	Index *schema.Index
	// Over is the number of bytes beyond the limit.
	Over int
}

// Error implements error.
func (e *ArrayError) Error() string {
	return fmt.Sprintf("the elements of an array exceed the limit of index %s by %d bytes", e.Index.Name, e.Over)
}

// Each calls fn for each entry that the index has for the row, in the order of
// their keys: with the row itself, or, in a multi-valued index, with one
// element in the place of the array. The row is as before afterwards; fn must
// not keep what it gets. The error is fn's or an *ArrayError.
func (x *Index) Each(row []value.Datum, fn func(row []value.Datum) error) error {
	if !x.holds(row) {
		return nil
	}
	if x.array < 0 || row[x.Parts[x.array].Pos].IsNull() {
		return fn(row)
	}
	pos := x.Parts[x.array].Pos
	array := row[pos]
	elements, err := x.elements(array.Bytes())
	if err != nil {
		return err
	}
	defer func() { row[pos] = array }()
	for _, d := range elements {
		row[pos] = d
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

// elements are the different elements of an array, in the order of their keys.
func (x *Index) elements(doc []byte) ([]value.Datum, error) {
	type element struct {
		d   value.Datum
		key []byte
	}
	part := &x.Parts[x.array]
	list := make([]element, value.JSONLen(doc))
	for i := range list {
		d, _ := value.JSONScalar(value.JSONElem(doc, i))
		list[i] = element{d, part.Append(nil, d)}
	}
	slices.SortFunc(list, func(a, b element) int { return bytes.Compare(a.key, b.key) })
	list = slices.CompactFunc(list, func(a, b element) bool { return bytes.Equal(a.key, b.key) })
	out := make([]value.Datum, len(list))
	size := 0
	for i := range list {
		out[i] = list[i].d
		size += len(list[i].key)
	}
	if size > MaxArrayBytes {
		return nil, &ArrayError{Index: x.Desc, Over: size - MaxArrayBytes}
	}
	return out, nil
}
