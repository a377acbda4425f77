package expr

import (
	"encoding/binary"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// minOrList is the number of alternatives from which an OR looks values up.
const minOrList = 8

// orList is an OR of equalities, or of ANDs of them, between always the same
// columns and constants, prepared for lookups: (a, b) IN ((1, 2), …) and
// a = 1 OR a = 2 OR ….
type orList struct {
	cols  []*Col
	types []schema.Type
	// null: there is a NULL among the constants.
	null bool
	keys map[string]struct{}
	buf  []byte
}

// orListOf is the list that f is; nil if it is none.
func orListOf(c *Ctx, f *Func) *orList {
	if len(f.Args) < minOrList {
		return nil
	}
	l, err := cached(c, f, func() (*orList, error) { return newOrList(c, f), nil })
	if err != nil { // a long constant was not read to its end
		c.fail(err)
		return nil
	}
	return l
}

func newOrList(c *Ctx, f *Func) *orList {
	l := &orList{keys: make(map[string]struct{}, len(f.Args))}
	var parts []Expr
	var row []value.Datum
	for n, branch := range f.Args {
		parts = SplitAnd(parts[:0], branch)
		if n == 0 {
			l.cols, l.types = make([]*Col, len(parts)), make([]schema.Type, len(parts))
			row = make([]value.Datum, len(parts))
		}
		if len(parts) != len(l.cols) {
			return nil
		}
		possible := true
		for i, p := range parts {
			col, x, t := equality(p)
			if col == nil || n > 0 && (col.ID != l.cols[i].ID || col.Index != l.cols[i].Index || !sameComparison(t, l.types[i])) {
				return nil
			}
			if n == 0 {
				if isNaNProne(kindOf(col)) || slices.ContainsFunc(l.cols[:i], func(o *Col) bool { return o.ID == col.ID }) {
					return nil
				}
				l.cols[i], l.types[i] = col, t
			}
			d, err := EvalRow(c, x, nil)
			if err != nil {
				return nil // it may not be reached
			}
			if d.IsNull() {
				l.null, possible = true, false
				continue
			}
			d, sign := alignSign(kindOf(col), d)
			if sign == 0 && d.Kind() != kindOf(col) {
				return nil
			}
			possible = possible && sign == 0
			row[i] = d
		}
		if possible {
			l.buf = l.buf[:0]
			for i, d := range row {
				l.add(c, i, d)
			}
			l.keys[string(l.buf)] = struct{}{}
		}
	}
	return l
}

// equality is the column and the constant of an equality, and how they compare.
func equality(e Expr) (*Col, Expr, schema.Type) {
	f, ok := e.(*Func)
	if !ok || f.Op != OpEQ {
		return nil, nil, schema.Type{}
	}
	a, b := f.Args[0], f.Args[1]
	if _, ok := a.(*Col); !ok {
		a, b = b, a
	}
	col, ok := a.(*Col)
	if !ok || !IsConst(b) {
		return nil, nil, schema.Type{}
	}
	return col, b, f.comparison().t
}

// add appends a value of the i-th column to the key in buf.
func (l *orList) add(c *Ctx, i int, d value.Datum) {
	if vec.ClassOf(d.Kind()) == vec.ClassWord {
		l.buf = binary.LittleEndian.AppendUint64(l.buf, d.Bits())
		return
	}
	l.buf = c.hashKey(l.buf, d, l.types[i])
}

// has reports whether row i of the columns is in the list; unknown if one of
// them is NULL.
func (l *orList) has(c *Ctx, cols []*vec.Vec, i int) (found, unknown bool) {
	l.buf = l.buf[:0]
	for n, v := range cols {
		if v.Nulls.IsNull(i) {
			return false, true
		}
		if vec.ClassOf(v.Kind) == vec.ClassWord {
			l.buf = binary.LittleEndian.AppendUint64(l.buf, uint64(v.I64[i]))
		} else {
			l.add(c, n, v.Datum(i))
		}
	}
	_, found = l.keys[string(l.buf)]
	return found, false
}

// hasRow is has for a row.
func (l *orList) hasRow(c *Ctx, row []value.Datum) (found, unknown bool) {
	l.buf = l.buf[:0]
	for n, col := range l.cols {
		if col.Index < 0 || col.Index >= len(row) {
			return false, true
		}
		d := row[col.Index]
		if d.IsNull() || d.Kind() != kindOf(col) {
			return false, true
		}
		l.add(c, n, d)
	}
	_, found = l.keys[string(l.buf)]
	return found, false
}

func (l *orList) columns(in *vec.Batch) []*vec.Vec {
	cols := make([]*vec.Vec, len(l.cols))
	for i, c := range l.cols {
		if c.Index < 0 || c.Index >= len(in.Cols) {
			return nil
		}
		cols[i] = in.Cols[c.Index]
	}
	return cols
}

// filter keeps the rows that are in the list; false if the input lacks a column.
func (l *orList) filter(c *Ctx, in *vec.Batch) bool {
	cols := l.columns(in)
	if cols == nil {
		return false
	}
	dst := in.SelBuf()
	for r, n := 0, in.Live(); r < n; r++ {
		i := in.Row(r)
		if found, _ := l.has(c, cols, i); found {
			dst = append(dst, uint16(i))
		}
	}
	in.SetSel(dst)
	return true
}

// eval is the value of f, which l is. Comparing distinguishes NULL and 0.
func (l *orList) eval(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	cols := l.columns(in)
	if cols == nil {
		return vecLogic(c, f, in, true)
	}
	out := c.getVec(value.KindInt, in.N)
	open := c.getSel()
	for r, n := 0, in.Live(); r < n; r++ {
		i := in.Row(r)
		found, unknown := l.has(c, cols, i)
		out.I64[i] = int64(b2i(found))
		if unknown || !found && l.null {
			open = append(open, uint16(i))
		}
	}
	if len(open) > 0 {
		sub := c.subBatch(in, open)
		v, err := vecLogic(c, f, sub, true)
		if err != nil {
			return nil, err
		}
		for _, i := range open {
			out.I64[i] = v.I64[i]
			if v.Nulls.IsNull(int(i)) {
				out.Nulls.Set(int(i))
			}
		}
		c.Release(v)
		c.putBatch(sub)
	}
	c.putSel(open)
	return out, nil
}
