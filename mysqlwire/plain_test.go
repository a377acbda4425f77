package mysqlwire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// plainOrNot writes a row as a batch of it alone would be.
func (h *Header) plainOrNot(b *vec.Batch, i int) []byte {
	if h.isPlain(b) {
		return h.appendPlainRow(nil, b, i)
	}
	return h.appendBinaryRow(nil, b, i)
}

// TestPlainRow compares the two writers of binary rows, for many columns and
// strings whose length takes more than a byte.
func TestPlainRow(t *testing.T) {
	for _, n := range []int{1, 6, 7, 8, 118, 119, 300} {
		var cols []Column
		b := &vec.Batch{N: 3}
		for k := range n {
			typ := schema.Type{ID: schema.TypeBigInt}
			v := &vec.Vec{}
			if k%2 == 1 {
				typ = schema.Type{ID: schema.TypeVarchar, Len: 70000, Collation: schema.CollationUTF8MB40900AICI}
				v.Init(value.KindBytes, 3)
				v.Bytes[0], v.Bytes[1], v.Bytes[2] = nil, []byte(strings.Repeat("x", 250+k%3)), bytes.Repeat([]byte("y"), 66000)
			} else {
				v.Init(value.KindInt, 3)
				v.I64[0], v.I64[1], v.I64[2] = -1, int64(k), 1<<62
			}
			cols, b.Cols = append(cols, Column{Name: "c", Type: typ}), append(b.Cols, v)
		}
		h := NewHeader(cols)
		if got, want := h.isPlain(b), n <= 118; got != want {
			t.Errorf("%d columns: plain %v, want %v", n, got, want)
		}
		for i := range 3 {
			if got, want := h.plainOrNot(b, i), h.appendBinaryRow(nil, b, i); !bytes.Equal(got, want) {
				t.Errorf("%d columns, row %d: %x, want %x", n, i, got, want)
			}
		}
		b.Cols[0].Nulls.Set(2)
		if h.isPlain(b) {
			t.Error("a batch with NULL is plain")
		}
	}
}
