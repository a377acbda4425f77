package expr

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Eval computes e for the live rows of in. The result has in.N positions; only
// those of live rows are defined.
//
// Ownership: a *Col gives the input's own vector, which must not be written
// to. Any other result is a scratch vector of c that the caller has until it
// calls c.Release (or c.ReleaseAll); its bytes may point into the input.
// After an error nothing is owed, but c.ReleaseAll returns what was under way.
//
// A part of e that is the same for all rows is evaluated once a batch, and warns
// once a statement.
func Eval(c *Ctx, e Expr, in *vec.Batch) (*vec.Vec, error) {
	switch e := e.(type) {
	case *Col:
		if e.Index < 0 || e.Index >= len(in.Cols) {
			return nil, sqlerr.Internal("column %s is not in the input", e)
		}
		return in.Cols[e.Index], nil
	case *Const, *Param, *Outer:
		d, err := EvalRow(c, e, nil)
		if err != nil {
			return nil, err
		}
		c.noteStep(d, in.Live())
		return c.broadcast(d, kindOf(e), in.N), nil
	case *Subquery:
		return evalSubqueryVec(c, e, in)
	case *Func:
		if in.Live() > 0 && IsConst(e) {
			d, err := c.evalConst(e)
			if err != nil {
				return nil, err
			}
			c.noteStep(d, in.Live())
			return c.broadcast(d, kindOf(e), in.N), nil
		}
		if isSmallOfLarge(e) && in.Live() > c.StepRows() {
			return c.evalSteps(e, in)
		}
		v, err := evalFunc(c, e, in)
		if err == nil && c.isStepping() {
			err = c.holdStep(v, in)
		}
		return v, err
	}
	return nil, sqlerr.Internal("cannot evaluate %T", e)
}

func evalFunc(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if f.B.vec == nil {
		return evalGeneric(c, f, in)
	}
	v, err := f.B.vec(c, f, in)
	if c.failed != nil {
		return nil, c.takeFailure(err)
	}
	return v, err
}

// broadcast is a vector of n times d.
func (c *Ctx) broadcast(d value.Datum, k value.Kind, n int) *vec.Vec {
	v := c.getVec(k, n)
	if d.IsNull() {
		v.Nulls.SetAll(n)
		fillZero(v, n)
		return v
	}
	switch vec.ClassOf(k) {
	case vec.ClassWord:
		fill(v.I64[:n], int64(d.Bits()))
	case vec.ClassFloat:
		fill(v.F64[:n], d.Float())
	case vec.ClassDecimal:
		fill(v.Dec[:n], d.Decimal())
	case vec.ClassBytes:
		fill(v.Bytes[:n], d.Bytes())
	}
	return v
}

func fill[T any](s []T, x T) {
	for i := range s {
		s[i] = x
	}
}

func fillZero(v *vec.Vec, n int) {
	if vec.ClassOf(v.Kind) == vec.ClassWord {
		clear(v.I64[:n])
	}
}

// EvalRow computes e for one row of datums, indexed by Col.Index. The result
// may share bytes with the row and with c's arena; it stays valid.
func EvalRow(c *Ctx, e Expr, row []value.Datum) (value.Datum, error) {
	switch e := e.(type) {
	case *Const:
		return e.D, nil
	case *Col:
		if e.Index < 0 || e.Index >= len(row) {
			return value.Null, sqlerr.Internal("column %s is not in the input", e)
		}
		return row[e.Index], nil
	case *Param:
		if e.Index >= len(c.Params) {
			return value.Null, sqlerr.Internal("parameter %d is not set", e.Index+1)
		}
		d := c.Params[e.Index]
		if k := types.KindOf(e.T); !d.IsNull() && d.Kind() != k {
			return value.Null, sqlerr.Internal("parameter %d is %s, not %s", e.Index+1, d.Kind(), k)
		}
		return d, nil
	case *Func:
		if e.B.lazy != nil {
			d, err := e.B.lazy(c, e, row)
			if c.failed != nil {
				return value.Null, c.takeFailure(err)
			}
			return d, err
		}
		return evalCall(c, e, row)
	case *Outer:
		return evalOuter(c, e)
	case *Subquery:
		return evalSubqueryRow(c, e, row)
	}
	return value.Null, sqlerr.Internal("cannot evaluate %T", e)
}

// evalCall evaluates the arguments onto the stack c.row and calls Row.
func evalCall(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	base := len(c.row)
	null := false
	for _, a := range f.Args {
		d, err := EvalRow(c, a, row)
		if err != nil {
			c.row = c.row[:base]
			return value.Null, err
		}
		null = null || d.IsNull()
		c.row = append(c.row, d)
	}
	if null && f.B.strict {
		c.row = c.row[:base]
		return value.Null, nil
	}
	// The call may grow the stack and so move it; args stays valid.
	args := c.row[base:len(c.row):len(c.row)]
	d, err := c.call(f, args)
	c.row = c.row[:base]
	return d, err
}

// EvalConst computes an expression that reads no column.
func EvalConst(c *Ctx, e Expr) (value.Datum, error) { return EvalRow(c, e, nil) }

// evalGeneric is the loop over rows for builtins without a kernel.
func evalGeneric(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if f.B.lazy != nil {
		return evalLazyLoop(c, f, in)
	}
	var room [8]*vec.Vec
	vecs := room[:0]
	base := len(c.row)
	for _, a := range f.Args {
		d, v, err := evalOperand(c, a, in)
		if err != nil {
			c.row = c.row[:base]
			return nil, err
		}
		vecs = append(vecs, v)
		c.row = append(c.row, d)
	}
	args := c.row[base:len(c.row):len(c.row)]
	out := c.getVec(kindOf(f), in.N)
	err := c.loopRows(f, in, args, vecs, out)
	c.row = c.row[:base]
	if err != nil {
		return nil, err
	}
	for _, v := range vecs {
		if v != nil {
			c.Release(v)
		}
	}
	return out, nil
}

func (c *Ctx) loopRows(f *Func, in *vec.Batch, args []value.Datum, vecs []*vec.Vec, out *vec.Vec) error {
	n := in.Live()
	for r := 0; r < n; r++ {
		i := in.Row(r)
		null := false
		for j, v := range vecs {
			if v != nil {
				args[j] = v.Datum(i)
			}
			null = null || args[j].IsNull()
		}
		if null && f.B.strict {
			out.Nulls.Set(i)
			continue
		}
		keep := c.arena
		d, err := c.call(f, args)
		if err != nil {
			return err
		}
		if err := c.store(out, i, d, f); err != nil {
			return err
		}
		c.rewind(keep)
	}
	return nil
}

// rewind takes back what was allocated since the arena was as in keep.
func (c *Ctx) rewind(keep []byte) {
	if cap(keep) == cap(c.arena) && cap(keep) > 0 && &keep[:1][0] == &c.arena[:1][0] {
		c.arena = keep
		return
	}
	c.arena = c.arena[:0]
}

// store puts d into out, holding invariant I1. Large values are not copied into the
// arena of out, which is not counted.
func (c *Ctx) store(out *vec.Vec, i int, d value.Datum, e Expr) error {
	if !d.IsNull() && d.Kind() != out.Kind {
		return sqlerr.Internal("%s gave %s, not %s", e, d.Kind(), out.Kind)
	}
	if d.Size() >= largeValue {
		b := d.Bytes()
		if unsafe.SliceData(b) != c.fresh {
			var err error
			if b, err = c.large(b); err != nil {
				return err
			}
		}
		c.fresh = nil
		out.SetShared(i, b)
		return nil
	}
	out.SetDatum(i, d)
	return nil
}

// evalOperand is one value for all rows (vector nil) or a vector.
func evalOperand(c *Ctx, e Expr, in *vec.Batch) (value.Datum, *vec.Vec, error) {
	if _, isCol := e.(*Col); !isCol && (in.Live() > 0 || isLeafConst(e)) && IsConst(e) {
		d, err := c.evalConst(e)
		return d, nil, err
	}
	v, err := Eval(c, e, in)
	return value.Null, v, err
}

// evalConst is EvalRow of a constant. What a statement has evaluated before does not
// warn again, so that the size of batches and the number of goroutines do not show.
func (c *Ctx) evalConst(e Expr) (value.Datum, error) {
	f, ok := e.(*Func)
	if !ok || c.Warn == nil || ReadsOuter(f) || c.consts().first(f) {
		return EvalRow(c, e, nil)
	}
	warn := c.Warn
	c.Warn = nil
	d, err := EvalRow(c, e, nil)
	c.Warn = warn
	return d, err
}

func isLeafConst(e Expr) bool {
	switch e.(type) {
	case *Const, *Param, *Outer:
		return true
	}
	return false
}

// evalLazyLoop evaluates a call that chooses among its arguments row by row.
func evalLazyLoop(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	out := c.getVec(kindOf(f), in.N)
	base := len(c.row)
	for range in.Cols {
		c.row = append(c.row, value.Null)
	}
	row := c.row[base:len(c.row):len(c.row)]
	used := c.getSel()
	Walk(f, func(e Expr) bool {
		if col, ok := e.(*Col); ok && col.Index >= 0 && col.Index < len(row) && !slices.Contains(used, uint16(col.Index)) {
			used = append(used, uint16(col.Index))
		}
		return true
	})
	defer c.putSel(used)
	n := in.Live()
	for r := 0; r < n; r++ {
		i := in.Row(r)
		for _, j := range used {
			row[j] = in.Cols[j].Datum(i)
		}
		keep := c.arena
		d, err := f.B.lazy(c, f, row)
		if err = c.takeFailure(err); err == nil {
			err = c.store(out, i, d, f)
		}
		if err != nil {
			c.row = c.row[:base]
			return nil, err
		}
		c.rewind(keep)
	}
	c.row = c.row[:base]
	return out, nil
}

// EvalFilter keeps the live rows of in for which e is true (neither false nor
// NULL) by shortening the selection.
func EvalFilter(c *Ctx, e Expr, in *vec.Batch) error {
	if in.Live() == 0 {
		return nil
	}
	switch x := e.(type) {
	case *Func:
		if x.large && !IsConst(x) && in.Live() > c.StepRows() {
			return c.filterSteps(x, in)
		}
		if x.B.filter != nil && !IsConst(x) {
			return c.takeFailure(x.B.filter(c, x, in))
		}
	case *Const:
		if t, null := truth(x.D); null || !t {
			in.SetSel(in.SelBuf())
		}
		return nil
	}
	return filterByValue(c, e, in)
}

// filterByValue evaluates e as a value and keeps the true ones.
func filterByValue(c *Ctx, e Expr, in *vec.Batch) error {
	d, v, err := evalOperand(c, e, in)
	if err != nil {
		return err
	}
	if v == nil {
		if t, null := truth(d); null || !t {
			in.SetSel(in.SelBuf())
		}
		return nil
	}
	dst := in.SelBuf()
	n := in.Live()
	switch vec.ClassOf(v.Kind) {
	case vec.ClassWord:
		for r := 0; r < n; r++ {
			i := in.Row(r)
			if v.I64[i] != 0 && !v.Nulls.IsNull(i) {
				dst = append(dst, uint16(i))
			}
		}
	default:
		for r := 0; r < n; r++ {
			i := in.Row(r)
			if t, null := truth(v.Datum(i)); t && !null {
				dst = append(dst, uint16(i))
			}
		}
	}
	c.Release(v)
	in.SetSel(dst)
	return nil
}

// truth of a value that is not text: text is converted at bind time.
func truth(d value.Datum) (t, null bool) {
	switch d.Kind() {
	case value.KindNull:
		return false, true
	case value.KindFloat:
		return d.Float() != 0, false
	case value.KindDecimal:
		dec := d.Decimal()
		return !dec.IsZero(), false
	case value.KindBytes, value.KindJSON:
		f, err := types.ToFloat(nil, d, types.Text(0))
		return err == nil && f != 0, false
	}
	return d.Bits() != 0, false
}

// NewFilter converts a condition to a truth value, as WHERE, HAVING and ON
// take it.
func NewFilter(env *BindEnv, e Expr) (Expr, error) {
	if err := rejectRows([]Expr{e}); err != nil {
		return nil, err
	}
	return convertArg(env, 'B', e)
}

// maxFolded are the bytes of the long values that a plan holds instead of calls; those up
// to shortFolded are in proportion to the text of the statement.
const (
	maxFolded   = 1 << 20
	shortFolded = 256
)

// mayFold counts a value of n bytes that a plan is to hold.
func (c *Ctx) mayFold(n int) bool {
	if n <= shortFolded {
		return true
	}
	f := &c.extras().folded
	*f += n
	return *f <= maxFolded
}

// Fold replaces calls whose arguments are literals, and which do not depend
// on the session, by their value. Calls that raise an error or a warning stay:
// they raise it when the statement runs, if it gets to them. It stops when the
// statement is ended.
func Fold(c *Ctx, e Expr) Expr {
	return Map(e, func(x Expr) Expr {
		f, ok := x.(*Func)
		if !ok || !foldable(f) || c.Context != nil && c.Context.Err() != nil {
			return x
		}
		probe := &Ctx{Env: c.Env, Context: c.Context, Memory: c.Memory, maxPacket: c.packet()}
		warned := false
		probe.Warn = func(sqlerr.Warning) { warned = true }
		d, err := EvalRow(probe, f, nil)
		if err != nil || warned || d.Size() >= largeValue || !c.mayFold(d.Size()) {
			return x // plans are kept, and do not hold large values
		}
		if !d.IsNull() && d.Kind() != kindOf(f) {
			return x
		}
		return &Const{D: d.Clone(), T: f.T}
	})
}

// foldable reports a deterministic call of literals only. Folding must not
// change how firmly a string holds its collation, nor take a row or an ODBC
// name apart.
func foldable(f *Func) bool {
	if f.B.Volatile || f.B.Session || f.B.Settings || f.Op == OpRow || f.Op == OpNameConst {
		return false
	}
	if coercibilityOf(f) < coerceCoercible && (f.T.IsString()) {
		return false
	}
	for _, a := range f.Args {
		if _, ok := a.(*Const); !ok {
			return false
		}
	}
	if f.Op == OpCast && isEnvCast(f.Args[0].Type(), f.T) {
		return false
	}
	return true
}

func evalSubqueryVec(c *Ctx, e *Subquery, in *vec.Batch) (*vec.Vec, error) {
	if in.Live() == 0 {
		return c.getVec(kindOf(e), in.N), nil
	}
	list := e.children()
	if len(list) == 0 {
		d, err := evalSubquery(c, e, nil)
		if err != nil {
			return nil, err
		}
		return c.broadcast(d, kindOf(e), in.N), nil
	}
	vecs := make([]*vec.Vec, len(list))
	for i, l := range list {
		v, err := Eval(c, l, in)
		if err != nil {
			return nil, err
		}
		vecs[i] = v
	}
	vals := make([]value.Datum, len(vecs))
	out := c.getVec(kindOf(e), in.N)
	for r, n := 0, in.Live(); r < n; r++ {
		i := in.Row(r)
		for j, v := range vecs {
			vals[j] = v.Datum(i)
		}
		d, err := evalSubquery(c, e, vals)
		if err != nil {
			return nil, err
		}
		out.SetDatum(i, d)
	}
	for _, v := range vecs {
		c.Release(v)
	}
	return out, nil
}

func evalSubqueryRow(c *Ctx, e *Subquery, row []value.Datum) (value.Datum, error) {
	var vals []value.Datum
	for _, l := range e.children() {
		d, err := EvalRow(c, l, row)
		if err != nil {
			return value.Null, err
		}
		vals = append(vals, d)
	}
	return evalSubquery(c, e, vals)
}

// evalSubquery gives the value of e for the values of its children.
func evalSubquery(c *Ctx, e *Subquery, vals []value.Datum) (value.Datum, error) {
	if c.Subqueries == nil {
		return value.Null, sqlerr.Internal("no subqueries in this context")
	}
	key := vals[:len(e.Left)]
	rows, err := c.Subqueries(e.ID, vals[len(e.Left):])
	if err != nil {
		return value.Null, fmt.Errorf("subquery %d: %w", e.ID+1, err)
	}
	defer rows.Release()
	switch e.Kind {
	case SubqueryExists:
		return value.Bool(rows.Len() > 0), nil
	case SubqueryIn:
		return rows.Contains(key)
	case SubqueryAny, SubqueryAll:
		return quantified(c, e, rows, key)
	}
	switch n := rows.Len(); {
	case n == 0:
		return value.Null, nil
	case n > 1:
		if !c.Ignore {
			return value.Null, sqlerr.SubqueryMoreThanOneRow()
		}
		c.warnRows(e)
		return value.Null, nil
	}
	row, err := rows.Row(0)
	if err != nil {
		return value.Null, err
	}
	return row[e.Column], nil
}

// warnRows is 1242 as a warning, once for a subquery that is run once.
func (c *Ctx) warnRows(e *Subquery) {
	if len(e.Outer) == 0 {
		n := c.extras()
		if n.warned[e.ID] {
			return
		}
		if n.warned == nil {
			n.warned = map[int]bool{}
		}
		n.warned[e.ID] = true
	}
	c.Warning(sqlerr.SubqueryMoreThanOneRow())
}

// quantified compares key with every row: ANY is the OR of the comparisons,
// ALL their AND, both three-valued.
func quantified(c *Ctx, e *Subquery, rows SubqueryRows, key []value.Datum) (value.Datum, error) {
	if len(key) != 1 {
		return value.Null, sqlerr.OperandColumns(1)
	}
	op, ok := e.Op.signs()
	if !ok {
		return value.Null, sqlerr.Internal("operator %s", e.Op)
	}
	any, null := e.Kind == SubqueryAny, false
	for i, n := 0, rows.Len(); i < n; i++ {
		row, err := rows.Row(i)
		if err != nil {
			return value.Null, err
		}
		d := row[0]
		if d.IsNull() || key[0].IsNull() {
			null = true
			continue
		}
		holds := op.holds(c.compare(key[0], d, e.CmpTypes[0]))
		if c.failed != nil {
			return value.Null, c.takeFailure(nil)
		}
		if holds == any {
			return value.Bool(any), nil
		}
	}
	if null {
		return value.Null, nil
	}
	return value.Bool(!any), nil
}
