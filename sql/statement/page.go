package statement

import (
	"context"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/kvread"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// pagePlan is the fast path of the query of a queue's consumer: the first rows of
// one span of a key, columns in their stored form. One scan sees one state, so
// that it needs no snapshot, and its rows are written before anything else is
// read, so that their memory is used again.
type pagePlan struct {
	page  *kvread.Page
	limit expr.Expr
	use   *metrics.Use
}

// pageOf finds the fast path of a plan; nil if none exists.
func (cn *Connection) pageOf(p *physical.Plan) *pagePlan {
	if p.Change != nil || len(p.Subplans) > 0 || len(p.CTEs) > 0 || p.Locks || p.CalcFoundRows {
		return nil
	}
	var limit *physical.Limit
	var project *physical.Project
	n := p.Root
	for {
		switch x := n.(type) {
		case *physical.Limit:
			if limit != nil || x.Offset != nil {
				return nil
			}
			limit, n = x, x.Input
			continue
		case *physical.Project:
			if project != nil {
				return nil
			}
			project, n = x, x.Input
			continue
		}
		break
	}
	scan, ok := n.(*physical.Scan)
	if !ok || limit == nil || limit.Count == nil {
		return nil
	}
	var out []int
	if project != nil {
		c := *project
		c.Input = scan
		out, _ = outputOf(&c)
	} else {
		out, _ = outputOf(scan)
	}
	if out == nil {
		return nil
	}
	page := kvread.NewPage(cn.Engine.Codecs, &cn.Engine.Metrics.Heat, scan, out)
	if page == nil {
		return nil
	}
	index := schema.PrimaryIndexID
	if ix := scan.Access.Key().Index; ix != nil {
		index = ix.ID
	}
	return &pagePlan{page: page, limit: limit.Count, use: useOf(cn.Engine, scan.Table, index)}
}

// runPage answers a query by its page in autocommit. done is false when the
// plan has to go the long way.
func (s *Statement) runPage(ctx context.Context, c *Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) (done bool, err error) {
	st := &s.point
	ec := &st.ec
	ec.Reset()
	ec.Env, ec.Context, ec.Params, ec.Session = s.TypesEnv(), ctx, vals, s.Functions
	// A value that warns is evaluated the long way: it must not warn twice.
	if st.warn == nil {
		st.warn = func(sqlerr.Warning) { st.warned = true }
	}
	ec.Warn, st.warned = st.warn, false
	d, err := expr.EvalConst(ec, c.page.limit)
	if err != nil || d.Kind() != value.KindUint && d.Kind() != value.KindInt {
		return false, nil
	}
	limit := d.Bits()
	if !c.limited {
		limit = min(limit, s.Vars.SelectLimit)
	}
	if limit == 0 || limit > kvread.MaxPage || s.Vars.BatchSize > 0 && limit > uint64(s.Vars.BatchSize) {
		return false, nil
	}
	r := c.page.page.Reader()
	defer r.Close()
	ok, err := r.Open(ctx, ec, s.Engine.Store.Latest(), s.Vars.Location, int(limit))
	if err != nil {
		return true, err
	}
	// What is read was fixed before: see read.
	if !ok || st.warned || !s.current(c.Plan) {
		return false, nil
	}
	b, ok, err := r.Rows(ctx)
	if err != nil {
		return true, err
	}
	if !ok {
		return false, nil
	}
	s.event.Work[metrics.HandlerReadKey]++
	c.page.use.Reads.Add(1)
	if err := w.Header(c.header); err != nil {
		return true, err
	}
	s.Functions.foundRows, s.Functions.Rows = 0, -1
	if b != nil {
		if err := w.Batch(b); err != nil {
			return true, err
		}
		s.Functions.foundRows = int64(b.N)
		s.sent(s.Functions.foundRows)
		s.event.Work[metrics.RowsExamined] += uint64(b.N)
		s.event.Work[metrics.HandlerReadNext] += uint64(b.N)
		c.page.use.Fetched.Add(int64(b.N))
	}
	s.Functions.applyInsertID()
	return true, w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount - s.Diagnostics.shownCount, More: more})
}
