package exec

import (
	"context"
	"errors"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Grouper is implemented by operators of a Source that aggregate themselves,
// where the plan says so (physical.SearchScan.Group).
type Grouper interface {
	// Groups gives parts of the result, nil at the end. Then Next gives the rows
	// that are in none of them. Of its first call ErrUngrouped says that these are
	// all.
	Groups(ctx context.Context) (*Part, error)
}

// ErrUngrouped says that a source cannot aggregate what it gives.
var ErrUngrouped = errors.New("exec: a source does not aggregate")

// Part are groups of rows, at most vec.MaxRows. A group of the plan may have
// several.
type Part struct {
	// Rows has a row of each group, in which the columns are right that the plan
	// groups by. Count are their rows.
	Rows  *vec.Batch
	Count []int64
	// Calls are by aggregate of the plan.
	Calls []PartCall
}

// PartCall is what an aggregate is of each group; what it needs of it is set.
type PartCall struct {
	// N counts the rows whose argument is not NULL, or different values of it.
	N []int64
	// Their sum is Hi and Lo in units of 10^-Scale, or Float.
	Hi    []int64
	Lo    []uint64
	Scale int
	Float []float64
	// Value is a value for each group, NULL for none; or, with Of, values that
	// are different in their group, Of, in which nothing else has N.
	Value *vec.Vec
	Of    []uint32
}

// partial is implemented by accumulators that take parts: group g of it goes to
// group to[g].
type partial interface {
	takePart(p *PartCall, to []uint32) error
}

// Groups implements Grouper.
func (s *scanOp) Groups(ctx context.Context) (*Part, error) {
	if err := s.open(ctx); err != nil || s.in == nil {
		return nil, err
	}
	if g, ok := s.in.(Grouper); ok {
		return g.Groups(ctx)
	}
	return nil, ErrUngrouped
}

// Groups implements Grouper.
func (s *statOp) Groups(ctx context.Context) (*Part, error) {
	g, ok := s.Operator.(Grouper)
	if !ok {
		return nil, ErrUngrouped
	}
	if !s.opened {
		s.opened = true
		s.st.loops.Add(1)
	}
	start := time.Now()
	p, err := g.Groups(ctx)
	s.st.nanos.Add(int64(time.Since(start)))
	if p != nil {
		for _, n := range p.Count {
			s.st.grouped.Add(n)
		}
	}
	return p, err
}

// takeParts adds what the input has aggregated; ErrUngrouped when that is nothing.
func (a *aggregation) takeParts(ctx context.Context, in Operator) error {
	g, ok := in.(Grouper)
	if !ok {
		return ErrUngrouped
	}
	for {
		if err := interrupted(ctx); err != nil {
			return err
		}
		p, err := g.Groups(ctx)
		if err != nil || p == nil {
			return err
		}
		if err := a.takePart(p); err != nil {
			return err
		}
	}
}

func (a *aggregation) takePart(p *Part) (err error) {
	if len(p.Calls) != len(a.accs) {
		return sqlerr.Internal("%d aggregates for %d", len(p.Calls), len(a.accs))
	}
	a.ids = append(a.ids[:0], 0)
	if len(a.groupBy) > 0 {
		ec := a.ec.Fork()
		warned := false
		ec.Warn = func(sqlerr.Warning) { warned = true }
		if a.cols, err = evalAll(ec, a.groupBy, p.Rows, a.cols[:0]); err != nil {
			return err
		}
		a.ids = a.assign(a.cols, liveRows(p.Rows), a.ids[:0])
		if warned && a.ec.Warn != nil {
			if err := a.warn(p); err != nil {
				return err
			}
		}
	}
	for i, acc := range a.accs {
		take, ok := acc.(partial)
		if !ok {
			return sqlerr.Internal("parts of %s", a.calls[i])
		}
		if err := take.takePart(&p.Calls[i], a.ids); err != nil {
			return err
		}
	}
	return nil
}

// warn gives the warnings of the groups' values, as many as there are rows.
func (a *aggregation) warn(p *Part) error {
	ec := a.ec.Fork()
	all := *p.Rows
	for i, n := range p.Count {
		ec.Warn = func(w sqlerr.Warning) {
			for range n {
				a.ec.Warn(w)
			}
		}
		one := all
		one.SetSel([]uint16{uint16(i)})
		cols, err := evalAll(ec, a.groupBy, &one, nil)
		if err != nil {
			return err
		}
		release(ec, cols)
	}
	return nil
}

func (c *countAcc) takePart(p *PartCall, to []uint32) error {
	for g, n := range p.N {
		c.n[to[g]] += n
	}
	return nil
}

func (s *sumIntAcc) takePart(p *PartCall, to []uint32) error {
	for g, n := range p.N {
		st := &s.state[to[g]]
		st.add(p.Hi[g], p.Lo[g])
		st.n += n
	}
	return nil
}

func (s *sumDecAcc) takePart(p *PartCall, to []uint32) error {
	for g, n := range p.N {
		if n > 0 {
			d := value.DecimalFromInt128(p.Hi[g], p.Lo[g], p.Scale)
			s.state[to[g]].add(&d, n)
		}
	}
	return nil
}

func (s *sumFloatAcc) takePart(p *PartCall, to []uint32) error {
	for g, n := range p.N {
		s.sum[to[g]] += p.Float[g]
		s.n[to[g]] += n
	}
	return nil
}

func (m *minMaxAcc) takePart(p *PartCall, to []uint32) error {
	return m.add([]*vec.Vec{p.Value}, identity[:len(to)], to)
}

func (a *anyAcc) takePart(p *PartCall, to []uint32) error {
	return a.add([]*vec.Vec{p.Value}, identity[:len(to)], to)
}

func (d *distinctAcc) takePart(p *PartCall, to []uint32) error {
	if p.N != nil {
		return d.inner.(partial).takePart(p, to)
	}
	one := vec.New(p.Value.Kind)
	ids := make([]uint32, 0, vec.MaxRows)
	for from := 0; from < len(p.Of); from += vec.MaxRows {
		n := min(vec.MaxRows, len(p.Of)-from)
		ids = ids[:0]
		for _, g := range p.Of[from : from+n] {
			ids = append(ids, to[g])
		}
		one.Init(one.Kind, n)
		switch vec.ClassOf(one.Kind) {
		case vec.ClassFloat:
			copy(one.F64, p.Value.F64[from:from+n])
		case vec.ClassDecimal:
			copy(one.Dec, p.Value.Dec[from:from+n])
		case vec.ClassBytes:
			copy(one.Bytes, p.Value.Bytes[from:from+n])
		default:
			copy(one.I64, p.Value.I64[from:from+n])
		}
		if err := d.add([]*vec.Vec{one}, identity[:n], ids); err != nil {
			return err
		}
	}
	return nil
}
