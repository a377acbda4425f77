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

// step is what a Ctx knows of the step under way.
type step struct {
	rows int // of a step; 0 before the first one
	made int // bytes of values since the step before
	// depth is how many steps are under way, one within the other. small are the bytes of
	// their values that are not counted one by one, held what is reserved for them.
	depth       int
	small, held int64
}

// holdUnit is in what pieces memory is taken for the small values of a step.
const holdUnit = 256 << 10

// StepRows is how many rows the next step has.
func (c *Ctx) StepRows() int {
	n := &c.extras().step
	if n.rows == 0 {
		n.rows = firstStep
	}
	return n.rows
}

// StepMark is what a step within another one must leave as it was.
type StepMark struct {
	made  int
	small int64
}

// BeginStep begins a step. Its end is EndStep with the mark.
func (c *Ctx) BeginStep() StepMark {
	n := &c.extras().step
	mark := StepMark{n.made, n.small}
	n.depth++
	n.made = 0
	return mark
}

// EndStep ends a step: the next one has more rows or fewer. Each step writes other rows
// of the vectors, so the values of this one are let go.
func (c *Ctx) EndStep(mark StepMark) {
	n := &c.extras().step
	if n.made > 0 {
		for _, v := range c.free {
			clear(v.Bytes[:cap(v.Bytes)])
		}
	}
	switch {
	case n.made < littleStep:
		n.rows = min(2*c.StepRows(), vec.MaxRows)
	case n.made > muchStep:
		n.rows = max(c.StepRows()/2, 1)
	}
	n.depth--
	n.made, n.small = mark.made, min(n.small, mark.small)
	if n.held > 0 && n.held > n.small {
		c.Memory.Release(n.held - n.small)
		n.held = n.small
	}
}

func (c *Ctx) isStepping() bool { return c.extra != nil && c.extra.step.depth > 0 }

// noteStep counts a value that n rows share.
func (c *Ctx) noteStep(d value.Datum, n int) {
	if c.isStepping() {
		c.extra.step.made += d.Size() * n
	}
}

// holdStep counts the values of v that are too small to be counted one by one, until the
// step ends: rows of many columns have many of them.
func (c *Ctx) holdStep(v *vec.Vec, in *vec.Batch) error {
	if vec.ClassOf(v.Kind) != vec.ClassBytes {
		return nil
	}
	size := smallBytes(v, in)
	n := &c.extra.step
	n.made += size
	n.small += int64(size)
	more := n.small - n.held
	if more < holdUnit || c.Memory == nil {
		return nil
	}
	if err := c.Memory.Reserve(more); err != nil {
		return err
	}
	n.held += more
	return nil
}

// smallBytes are the bytes of the values of v that are not counted one by one.
func smallBytes(v *vec.Vec, in *vec.Batch) int {
	size := 0
	for r := range in.Live() {
		i := in.Row(r)
		if n := len(v.Bytes[i]); n < largeValue && !v.Nulls.IsNull(i) {
			size += n
		}
	}
	return size
}

// AreLarge reports expressions of which a row may have large values, or many. Those that
// are the same in all rows are among them: who keeps rows has them in each.
func (c *Ctx) AreLarge(list []Expr) bool {
	n := 0
	for _, e := range list {
		switch e := e.(type) {
		case *Func:
			if isLargeType(e.T) {
				return true
			}
			if types.KindOf(e.T) == value.KindBytes {
				n += max(e.T.Len, 0)
			}
		case *Const:
			n += e.D.Size() / maxCharLen
		case *Param:
			if e.Index < len(c.Params) {
				n += c.Params[e.Index].Size() / maxCharLen
			}
		case *Outer:
			if e.Slot < len(c.Outer) {
				n += c.Outer[e.Slot].Size() / maxCharLen
			}
		}
	}
	return n >= largeValue/maxCharLen
}

// areWide reports calls whose values may be large together.
func areWide(list []Expr) bool {
	n := 0
	for _, e := range list {
		if f, ok := e.(*Func); ok && types.KindOf(f.T) == value.KindBytes && !IsConst(f) {
			n += max(f.T.Len, 0)
		}
	}
	return n >= largeValue/maxCharLen
}

// mayBeLarge reports a call whose values may be large.
func mayBeLarge(e Expr) bool {
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
	return ok && (f.large || mayBeLarge(f))
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
		mark := c.BeginStep()
		err := fn(part)
		c.EndStep(mark)
		c.putBatch(part)
		c.putSel(sel)
		if err != nil {
			return err
		}
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
