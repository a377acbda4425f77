package expr

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// A batch has up to vec.MaxRows rows. Calls that may make large values are evaluated
// for a few rows of it at a time, so that their values need not fit into the memory
// all at once. The number of rows follows what the values have been so far.
const (
	firstStep = 1
	// littleStep and muchStep are the bytes of large values of a step below which the
	// next one has more rows, and above which it has fewer.
	littleStep = 1 << 20
	muchStep   = 4 << 20
)

// StepRows is how many rows the next step has.
func (c *Ctx) StepRows() int {
	n := c.extras()
	if n.stepRows == 0 {
		n.stepRows = firstStep
	}
	return n.stepRows
}

// Stepped ends a step: the next one has more rows or fewer. Each step writes other rows
// of the vectors, so the large values of this one are let go.
func (c *Ctx) Stepped() {
	n := c.extras()
	if n.made > 0 {
		for _, v := range c.free {
			clear(v.Bytes[:cap(v.Bytes)])
		}
	}
	switch {
	case n.made < littleStep:
		n.stepRows = min(2*c.StepRows(), vec.MaxRows)
	case n.made > muchStep:
		n.stepRows = max(c.StepRows()/2, 1)
	}
	n.made = 0
}

// MayBeLarge reports a call whose values may be large.
func MayBeLarge(e Expr) bool {
	f, ok := e.(*Func)
	return ok && isLargeType(f.T) && !IsConst(f)
}

// isLargeType reports types whose values may be large.
func isLargeType(t schema.Type) bool {
	switch types.KindOf(t) {
	case value.KindJSON:
		return true
	case value.KindBytes:
		return t.Len <= 0 || t.Len >= largeValue/maxCharLen || t.ID == schema.TypeGeometry
	}
	return false
}

// maxCharLen is the most bytes of a character.
const maxCharLen = 4

// isSmallOfLarge reports a call with small values that works on values that may be
// large.
func isSmallOfLarge(f *Func) bool { return f.large && !isLargeType(f.T) }

// isOrHasLarge reports a call whose values may be large, or that has one below it.
func isOrHasLarge(e Expr) bool {
	f, ok := e.(*Func)
	return ok && (f.large || MayBeLarge(f))
}

// inSteps calls fn with the live rows of in, a step at a time. fn may shorten the
// selection of its batch.
func (c *Ctx) inSteps(in *vec.Batch, fn func(part *vec.Batch) error) error {
	n := in.Live()
	for at := 0; at < n; {
		sel := c.getSel()
		end := min(n, at+c.StepRows())
		for r := at; r < end; r++ {
			sel = append(sel, uint16(in.Row(r)))
		}
		part := c.subBatch(in, sel)
		err := fn(part)
		c.putBatch(part)
		c.putSel(sel)
		if err != nil {
			return err
		}
		c.Stepped()
		at = end
	}
	return nil
}

// evalSteps is Eval of a call in steps.
func (c *Ctx) evalSteps(f *Func, in *vec.Batch) (*vec.Vec, error) {
	out := c.getVec(kindOf(f), in.N)
	err := c.inSteps(in, func(part *vec.Batch) error {
		v, err := Eval(c, f, part)
		if err != nil {
			return err
		}
		for r := range part.Live() {
			i := part.Row(r)
			out.CopyRow(i, v, i)
		}
		c.Release(v)
		return nil
	})
	return out, err
}

// filterSteps is EvalFilter in steps.
func (c *Ctx) filterSteps(f *Func, in *vec.Batch) error {
	kept := c.getSel()
	err := c.inSteps(in, func(part *vec.Batch) error {
		if err := EvalFilter(c, f, part); err != nil {
			return err
		}
		for r := range part.Live() {
			kept = append(kept, uint16(part.Row(r)))
		}
		return nil
	})
	if err == nil {
		in.SetSel(append(in.SelBuf(), kept...))
	}
	c.putSel(kept)
	return err
}
