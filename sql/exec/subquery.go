package exec

import (
	"context"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// subqueries runs the subqueries of a statement: uncorrelated ones once, those
// that depend on outer values once for each combination of these, as far as the
// memo reaches.
type subqueries struct {
	ctx       context.Context
	env       *Env
	plans     []physical.Node
	dependent []bool
	runs      []subqueryRun
}

type subqueryRun struct {
	once sync.Once
	rows *subqueryRows
	err  error
	memo memo
	// use is how the statement uses the subquery; nil when that is not known.
	use *expr.Subquery
	// several expressions use it, in different ways.
	mixed bool
}

func newSubqueries(ctx context.Context, env *Env, plan *physical.Plan, extra []expr.Expr) *subqueries {
	s := &subqueries{ctx: ctx, env: env, plans: plan.Subplans, dependent: plan.Dependent, runs: make([]subqueryRun, len(plan.Subplans))}
	for i := range s.runs {
		if n := plan.Subplans[i]; n != nil && s.depends(i) {
			s.runs[i].memo.off = isVolatile(n)
			s.runs[i].memo.start(env.Memory)
		}
	}
	note := func(e expr.Expr) {
		expr.Walk(e, func(x expr.Expr) bool {
			if sub, ok := x.(*expr.Subquery); ok && sub.ID >= 0 && sub.ID < len(s.runs) {
				r := &s.runs[sub.ID]
				r.mixed = r.mixed || r.use != nil && r.use.Kind != sub.Kind
				r.use = sub
			}
			return true
		})
	}
	for _, e := range extra {
		if e != nil {
			note(e)
		}
	}
	for _, n := range plan.Roots() {
		visitExprs(n, note)
	}
	assigned := func(list []physical.Assignment) {
		for _, a := range list {
			if a.Value != nil {
				note(a.Value)
			}
		}
	}
	switch c := plan.Change.(type) {
	case *physical.Insert:
		for _, row := range c.Rows {
			for _, e := range row {
				if e != nil {
					note(e)
				}
			}
		}
		assigned(c.OnDuplicate)
		for _, e := range checkExprs(c.Check) {
			note(e)
		}
		assigned(c.Set)
		for _, e := range c.Returning {
			note(e)
		}
	case *physical.Update:
		assigned(c.Assignments)
		for _, e := range checkExprs(c.Check) {
			note(e)
		}
	case *physical.Delete:
		for _, e := range c.Returning {
			note(e)
		}
	case *physical.MultiUpdate:
		for _, t := range c.Targets {
			assigned(t.Assignments)
			for _, e := range checkExprs(t.Check) {
				note(e)
			}
		}
	}
	return s
}

func (s *subqueries) depends(id int) bool { return id < len(s.dependent) && s.dependent[id] }

// rows is expr.Ctx.Subqueries. It may be called by several goroutines.
func (s *subqueries) rows(id int, outer []value.Datum) (expr.SubqueryRows, error) {
	if id < 0 || id >= len(s.runs) || s.plans[id] == nil {
		return nil, sqlerr.Internal("no subquery %d", id)
	}
	r := &s.runs[id]
	if s.depends(id) {
		return s.rowsFor(r, s.plans[id], outer)
	}
	r.once.Do(func() { r.rows, r.err = s.run(r, s.plans[id], nil) })
	if r.err != nil {
		return nil, r.err
	}
	return r.rows, nil
}

// rowsFor is the result of a correlated subquery.
func (s *subqueries) rowsFor(r *subqueryRun, plan physical.Node, outer []value.Datum) (*subqueryRows, error) {
	var buf [64]byte
	key := appendValues(buf[:0], outer)
	if rows := r.memo.get(key); rows != nil {
		return rows, nil
	}
	rows, err := s.run(r, plan, outer)
	if err != nil {
		return nil, err
	}
	if !rows.once {
		r.memo.put(key, rows)
	}
	return rows, nil
}

// isVolatile reports whether a plan has effects or differs from run to run.
func isVolatile(n physical.Node) bool {
	found := false
	visitExprs(n, func(e expr.Expr) {
		expr.Walk(e, func(x expr.Expr) bool {
			if f, ok := x.(*expr.Func); ok && f.B != nil && f.B.Volatile {
				found = true
			}
			return !found
		})
	})
	walkNodes(n, func(n physical.Node) {
		if s, ok := n.(*physical.CTEScan); ok && s.CTE.Dependent && !s.Work {
			for _, r := range s.CTE.Roots() {
				found = found || isVolatile(r)
			}
		}
	})
	return found
}

// run materialises a subquery, in the statement's context: the caller may be a
// worker that another one's error ends. With outer values it is one of many
// runs, which do not pay for goroutines of their own.
func (s *subqueries) run(r *subqueryRun, plan physical.Node, outer []value.Datum) (_ *subqueryRows, err error) {
	b := newBuilder(s.env, s.env.Ctx.Fork())
	b.serial = outer != nil
	b.ec.Outer = outer
	op, err := b.result(plan)
	if err != nil {
		return nil, err
	}
	out := &subqueryRows{ec: b.ec, ts: typesOf(plan.Columns()), acct: b.account(plan, "subquery")}
	acct := &out.acct
	out.rowBuffer = b.newRowBuffer(plan, kindsOf(plan.Columns()), acct)
	if outer == nil {
		s.env.Memory.onClose(out.close)
	}
	defer func() {
		b.ec.Outer = nil
		if cerr := op.Close(); err == nil {
			err = cerr
		}
		switch {
		case outer == nil:
		case err != nil:
			out.close()
		case out.disk == nil:
			acct.close() // the memo counts what it keeps
		default:
			out.once = true
		}
	}()
	limit := 0
	if r.use != nil && !r.mixed {
		switch r.use.Kind {
		case expr.SubqueryScalar:
			limit = 2
		case expr.SubqueryExists:
			limit = 1
		default:
			out.cmp = r.use.CmpTypes
		}
	}
	for {
		if err := interrupted(s.ctx); err != nil {
			return nil, err
		}
		in, err := op.Next(s.ctx)
		if err != nil {
			return nil, err
		}
		if in == nil {
			break
		}
		if err := out.add(in.Cols, liveRows(in)); err != nil {
			return nil, err
		}
		if limit > 0 && out.n >= limit {
			break
		}
	}
	if err := s.env.intact(); err != nil {
		return nil, err
	}
	out.limit = limit
	// Room for the set of IN, which is made at its first use.
	if out.cmp != nil && out.disk == nil {
		ok, err := acct.room(2*out.store.size + int64(out.n)*48)
		if err == nil && !ok {
			err = out.spill()
		}
		if err != nil {
			return nil, err
		}
	}
	if out.disk != nil {
		out.newSorter = func(acct *account) *sorter { return b.newKeySorter(plan, acct) }
		if err := out.finish(); err != nil {
			return nil, err
		}
	}
	acct.fixed()
	return out, nil
}

// subqueryRows is the result of a subquery. That of one without outer values is
// held until the statement's tracker is closed.
type subqueryRows struct {
	*rowBuffer
	ec    *expr.Ctx
	acct  account
	ts    []schema.Type
	cmp   []schema.Type // types of comparison of IN; nil when not known
	limit int
	// once: the caller is the only user, and closes the files by Release.
	once bool

	mu      sync.Mutex
	indexed bool
	set     bytesTable
	// Of rows on disk: their keys, and how these are sorted.
	keys      *diskSet
	newSorter func(*account) *sorter
	pages     *spill.Reader
	// nulls are the rows with a NULL; all rows when a key has one.
	nulls [][]value.Datum
	buf   []byte
}

// Len implements expr.SubqueryRows.
func (s *subqueryRows) Len() int {
	if s.limit > 0 {
		return min(s.n, s.limit)
	}
	return s.n
}

// Release implements expr.SubqueryRows.
func (s *subqueryRows) Release() {
	if s.once {
		s.close()
	}
}

// Row implements expr.SubqueryRows.
func (s *subqueryRows) Row(i int) ([]value.Datum, error) {
	if s.disk == nil {
		return s.store.row(i, nil), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.row(i)
	for c := range row {
		row[c] = row[c].Clone()
	}
	return row, err
}

// row is row i, valid until the next call.
func (s *subqueryRows) row(i int) ([]value.Datum, error) {
	if s.disk == nil {
		return s.store.row(i, nil), nil
	}
	if s.pages == nil {
		s.pages = s.disk.NewReader()
	}
	b, first, err := s.pages.Page(int64(i))
	if err != nil {
		return nil, err
	}
	row := make([]value.Datum, len(b.Cols))
	for c, v := range b.Cols {
		row[c] = v.Datum(i - int(first))
	}
	return row, nil
}

// close gives up what the rows hold.
func (s *subqueryRows) close() {
	s.rowBuffer.close()
	s.acct.close()
	if s.keys != nil {
		s.keys.close()
		s.keys.acct.close()
	}
}

// Contains implements expr.SubqueryRows.
func (s *subqueryRows) Contains(key []value.Datum) (value.Datum, error) {
	if len(key) != len(s.ts) {
		return value.Null, sqlerr.OperandColumns(len(key))
	}
	if s.n == 0 {
		return value.Int(0), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.indexed {
		if s.cmp == nil {
			s.cmp = s.guessTypes(key)
		}
		if err := s.makeSet(); err != nil {
			return value.Null, err
		}
		s.indexed = true
	}
	keyNull := false
	for _, d := range key {
		keyNull = keyNull || d.IsNull()
	}
	if !keyNull {
		found, err := s.find(key)
		if err != nil {
			return value.Null, err
		}
		if found {
			return value.Int(1), nil
		}
		return s.maybe(key, s.nulls)
	}
	if len(key) == 1 {
		return value.Null, nil
	}
	for i := range s.n {
		row, err := s.converted(i)
		if err != nil {
			return value.Null, err
		}
		if may, err := s.possible(key, row); may || err != nil {
			return value.Null, err
		}
	}
	return value.Int(0), nil
}

// guessTypes is for expressions that exec did not see before: the rows compare
// in their own types, as doubles where a key is another kind of number.
func (s *subqueryRows) guessTypes(key []value.Datum) []schema.Type {
	cmp := append([]schema.Type(nil), s.ts...)
	for i, d := range key {
		if k := d.Kind(); k != value.KindNull && k != types.KindOf(cmp[i]) {
			switch k {
			case value.KindInt:
				cmp[i] = types.BigInt
			case value.KindUint:
				cmp[i] = types.UBigInt
			case value.KindFloat:
				cmp[i] = types.Double
			case value.KindDecimal:
				cmp[i] = types.DecimalOf(value.MaxDecimalDigits, value.MaxDecimalScale)
			case value.KindTime:
				cmp[i] = types.DatetimeOf(6)
			case value.KindDuration:
				cmp[i] = types.TimeOf(6)
			case value.KindJSON:
				cmp[i] = types.JSON
			default:
				cmp[i] = types.Text(s.ts[i].Collation)
			}
		}
	}
	return cmp
}

func (s *subqueryRows) makeSet() error {
	insert, finish := func(key []byte) error { s.set.insert(key); return nil }, func() error { return nil }
	if s.disk != nil {
		ctx := s.ec.Context
		if ctx == nil {
			ctx = context.Background()
		}
		s.keys = &diskSet{sp: s.sp, acct: account{t: s.acct.t, operator: s.acct.operator, stat: s.acct.stat}}
		sorting := s.newSorter(&account{})
		defer sorting.acct.close()
		defer sorting.close()
		insert = func(key []byte) error { return s.keys.add(ctx, sorting, key) }
		finish = func() error { return s.keys.finish(ctx, sorting) }
	}
	for i := range s.n {
		if i&chunkMask == chunkMask && s.ec.Context != nil {
			if err := interrupted(s.ec.Context); err != nil {
				return err
			}
		}
		row, err := s.converted(i)
		if err != nil {
			return err
		}
		null := false
		for _, d := range row {
			null = null || d.IsNull()
		}
		if !null {
			key, err := s.encode(row)
			if err == nil {
				err = s.ec.Work(8 * len(key))
			}
			if err == nil {
				err = insert(key)
			}
			if err != nil {
				return err
			}
			continue
		}
		if len(row) == 1 && len(s.nulls) > 0 {
			continue
		}
		if s.disk != nil {
			size := int64(len(row)) * 48
			for c := range row {
				row[c] = row[c].Clone()
				size += int64(len(row[c].Bytes()))
			}
			if err := s.acct.to(s.acct.held + size); err != nil {
				return err
			}
		}
		s.nulls = append(s.nulls, row)
	}
	return finish()
}

// find reports whether row is in the set.
func (s *subqueryRows) find(row []value.Datum) (bool, error) {
	key, err := s.encode(row)
	if err != nil {
		return false, err
	}
	if s.keys != nil {
		return s.keys.find(key)
	}
	return s.set.find(key) != none, nil
}

// converted is row i in the types of comparison.
func (s *subqueryRows) converted(i int) ([]value.Datum, error) {
	row, err := s.row(i)
	if err != nil {
		return nil, err
	}
	for c := range row {
		if row[c].IsNull() || types.KindOf(s.ts[c]) == types.KindOf(s.cmp[c]) {
			continue
		}
		d, err := types.Cast(&s.ec.Env, row[c], s.ts[c], s.cmp[c])
		if err != nil {
			return nil, err
		}
		row[c] = d
	}
	return row, nil
}

func (s *subqueryRows) encode(row []value.Datum) (_ []byte, err error) {
	s.buf = s.buf[:0]
	for c, d := range row {
		if s.buf, err = s.ec.HashKey(s.buf, d, s.cmp[c]); err != nil {
			return nil, err
		}
	}
	return s.buf, nil
}

// maybe is NULL if key may equal one of rows, whose NULLs are unknown values.
func (s *subqueryRows) maybe(key []value.Datum, rows [][]value.Datum) (value.Datum, error) {
	for _, r := range rows {
		if may, err := s.possible(key, r); may || err != nil {
			return value.Null, err
		}
	}
	return value.Int(0), nil
}

func (s *subqueryRows) possible(key, row []value.Datum) (bool, error) {
	for c := range row {
		if key[c].IsNull() || row[c].IsNull() {
			continue
		}
		if d, err := s.ec.Compare(key[c], row[c], s.cmp[c]); d != 0 || err != nil {
			return false, err
		}
	}
	return true, nil
}

var _ expr.SubqueryRows = (*subqueryRows)(nil)
