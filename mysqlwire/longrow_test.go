package mysqlwire

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// TestLongRows compares rows whose long values are written from where they are with
// the same rows copied to the out-buffer, at lengths about those of packets.
func TestLongRows(t *testing.T) {
	blob := schema.Type{ID: schema.TypeLongBlob, Collation: schema.CollationBinary, Len: 1 << 30}
	h := NewHeader([]Column{{Name: "a", Type: types.BigInt}, {Name: "b", Type: blob}, {Name: "c", Type: types.BigInt}, {Name: "d", Type: blob}, {Name: "e", Type: blob}})
	for _, long := range testflag.Pick(nil, []int{longValue, maxPayload}, []int{longValue, longValue + 1, maxPayload - longValue - 20, maxPayload}) {
		for around := range 3 {
			if long < 1<<20 && around > 0 {
				break
			}
			b := &vec.Batch{N: 2}
			for _, c := range h.cols {
				b.Cols = append(b.Cols, vec.NewSized(types.KindOf(c.Type), 2))
			}
			b.Cols[0].SetDatum(1, value.Int(-7))
			b.Cols[1].SetDatum(1, value.Bytes(bytes.Repeat([]byte{'x'}, long+around)))
			b.Cols[2].Nulls.Set(1)
			b.Cols[3].SetDatum(1, value.Bytes([]byte("short")))
			b.Cols[4].SetDatum(1, value.Bytes(bytes.Repeat([]byte{'y'}, longValue)))
			for _, binary := range []bool{false, true} {
				t.Run(fmt.Sprint(long+around, binary), func(t *testing.T) {
					if !h.isLong(b, 1) {
						t.Fatal("the row is not long")
					}
					got, want := rowWriter(h, binary), rowWriter(h, binary)
					if err := got.longRow(b, 1); err != nil {
						t.Fatal(err)
					}
					want.copied(b, 1)
					compareRows(t, got, want)
				})
			}
		}
	}
}

// copied writes a row by way of the out-buffer.
func (w *resultWriter) copied(b *vec.Batch, i int) {
	start := w.c.begin()
	if w.binary {
		w.c.out = w.h.appendBinaryRow(w.c.out, b, i)
	} else {
		w.c.out = w.h.appendTextRow(w.c.out, b, i)
	}
	w.c.end(start)
}

func compareRows(t *testing.T, got, want *resultWriter) {
	t.Helper()
	for _, w := range []*resultWriter{got, want} {
		if err := w.c.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(written(got), written(want)) || got.c.seq != want.c.seq {
		t.Error("the packets differ")
	}
}

// TestConvertedLongRows compares rows of several character sets, which are converted piece
// by piece, with their copies; rows of many values that are long together; and rows of
// datums.
func TestConvertedLongRows(t *testing.T) {
	testflag.Normal(t)
	text := func(c schema.CollationID) schema.Type {
		return schema.Type{ID: schema.TypeLongText, Collation: c, Len: 1 << 30}
	}
	cols := []Column{{Name: "a", Type: types.UBigInt}, {Name: "b", Type: text(schema.CollationUTF8MB40900AICI)}, {Name: "c", Type: types.JSON}, {Name: "d", Type: text(schema.CollationUTF8MB40900AICI)}}
	for range 300 {
		cols = append(cols, Column{Name: "e", Type: schema.Type{ID: schema.TypeVarchar, Collation: schema.CollationUTF8MB40900AICI, Len: 2000}})
	}
	for _, charset := range []string{"utf8mb4", "utf32", "utf16le", "latin1", "sjis", "binary"} {
		to, ok := collate.DefaultForCharset(charset)
		if !ok {
			t.Fatal(charset)
		}
		h := NewHeader(cols).in(to.ID)
		row := []value.Datum{value.Uint(math.MaxUint64), value.String(strings.Repeat("aä日😀", longValue/10)), value.JSONOf(value.JSONString(bytes.Repeat([]byte("ü"), longValue))), value.Null}
		for i := range 300 {
			row = append(row, value.String(strings.Repeat("é", 990+i%20)))
		}
		for i, d := range row {
			if i%7 == 6 {
				d = value.Null
			}
			row[i] = d
		}
		b := h.datums(row)
		if b == nil || !h.isLong(b, 0) {
			t.Fatal("the row is not long")
		}
		for _, binary := range []bool{false, true} {
			for _, asDatums := range []bool{false, true} {
				t.Run(fmt.Sprint(charset, binary, asDatums), func(t *testing.T) {
					got, want := rowWriter(h, binary), rowWriter(h, binary)
					var err error
					if asDatums {
						err = got.Row(row)
					} else {
						err = got.Batch(b)
					}
					if err != nil {
						t.Fatal(err)
					}
					want.copied(b, 0)
					compareRows(t, got, want)
				})
			}
		}
	}
}

func rowWriter(h *Header, binary bool) *resultWriter {
	c := &conn{srv: &Server{}}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.dst, c.pools, c.phase, c.memory = &bytes.Buffer{}, &bufferPools{}, func(phase) {}, unlimited{}
	return &resultWriter{c: c, h: h, binary: binary, state: resultRows}
}

func written(w *resultWriter) []byte { return w.c.dst.(*bytes.Buffer).Bytes() }
