package exec

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// oneBatch is an operator with one batch.
type oneBatch struct{ b *vec.Batch }

func (o *oneBatch) Next(context.Context) (*vec.Batch, error) {
	b := o.b
	o.b = nil
	return b, nil
}

func (o *oneBatch) Close() error { return nil }

// TestThin: rows that share long values come a few at a time, each once and in order.
func TestThin(t *testing.T) {
	for _, size := range []int{10, 100_000, MaxBatch / 4, MaxBatch, 2 * MaxBatch} {
		b := newOut([]value.Kind{value.KindInt, value.KindBytes})
		long := bytes.Repeat([]byte{'x'}, size)
		b.N = 500
		for _, v := range b.Cols {
			v.Init(v.Kind, b.N)
		}
		var sel []uint16
		for i := range b.N {
			b.Cols[0].I64[i], b.Cols[1].Bytes[i] = int64(i), long
			if i%3 != 0 {
				sel = append(sel, uint16(i))
			}
		}
		b.SetSel(sel)
		op := &thinOp{in: &oneBatch{b}, cols: []int{1}}
		var got []uint16
		for {
			out, err := op.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if out == nil {
				break
			}
			if n := out.Live(); n > 1 && n*size >= MaxBatch+size {
				t.Errorf("%d rows of %d bytes", n, size)
			}
			for r := range out.Live() {
				got = append(got, uint16(out.Cols[0].I64[out.Row(r)]))
			}
		}
		if !slices.Equal(got, sel) {
			t.Errorf("%d rows of %d bytes, want %d", len(got), size, len(sel))
		}
	}
}
