package exec

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
)

// bitBytesAcc is BIT_AND, BIT_OR and BIT_XOR of binary strings, which must have
// one length (3513). Without any the result is the neutral value of width bytes.
type bitBytesAcc struct {
	op    expr.AggOp
	width int
	state [][]byte
	held  int64
}

func (b *bitBytesAcc) grow(n int) { b.state = growTo(b.state, n) }

func (b *bitBytesAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	for r, i := range rows {
		if v.Nulls.IsNull(int(i)) {
			continue
		}
		if err := b.fold(groupOf(groups, r), v.Bytes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *bitBytesAcc) fold(g uint32, x []byte) error {
	have := b.state[g]
	if have == nil {
		b.state[g] = append([]byte{}, x...)
		b.held += int64(len(x))
		return nil
	}
	if len(have) != len(x) {
		return sqlerr.BitOperandSize()
	}
	for i := range have {
		switch b.op {
		case expr.AggBitAnd:
			have[i] &= x[i]
		case expr.AggBitOr:
			have[i] |= x[i]
		default:
			have[i] ^= x[i]
		}
	}
	return nil
}

func (b *bitBytesAcc) merge(o accumulator, to []uint32) error {
	for g, x := range o.(*bitBytesAcc).state {
		if to[g] == none || x == nil {
			continue
		}
		if err := b.fold(to[g], x); err != nil {
			return err
		}
	}
	return nil
}

func (b *bitBytesAcc) result(g int, dst *vec.Vec, i int) error {
	x := b.state[g]
	if x == nil {
		x = make([]byte, b.width)
		for j := range x {
			if b.op == expr.AggBitAnd {
				x[j] = 0xff
			}
		}
	}
	dst.Bytes[i] = dst.Own(x)
	return nil
}

func (b *bitBytesAcc) size() int64 { return b.held + int64(cap(b.state))*24 }
