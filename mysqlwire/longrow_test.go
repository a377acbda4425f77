package mysqlwire

import (
	"bytes"
	"context"
	"fmt"
	"testing"

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
					start := want.c.begin()
					want.c.out = append(want.c.out, want.appendRow(b, len(h.cells), 1)...)
					want.c.end(start)
					for _, w := range []*resultWriter{got, want} {
						if err := w.c.flush(); err != nil {
							t.Fatal(err)
						}
					}
					if !bytes.Equal(written(got), written(want)) || got.c.seq != want.c.seq {
						t.Error("the packets differ")
					}
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
