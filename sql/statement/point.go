package statement

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// pointPlan is the fast path for point gets: one row by its whole primary key,
// columns in their stored form. It reads the row and writes it, with neither
// operators nor a snapshot: one Get sees one state.
type pointPlan struct {
	keys  *ranges.Set
	codec *table.Codec
	// out are the positions of the result's columns in the table.
	out []int
	// bare: the query reads no attribute.
	bare bool
	use  *metrics.Use
	// table is that of the row, for metrics.Heat.
	table uint64
}

// pointOf finds the fast path of a plan; nil if none exists.
func (cn *Connection) pointOf(p *physical.Plan) *pointPlan {
	if p.Change != nil || len(p.Subplans) > 0 || p.Locks || p.CalcFoundRows {
		return nil
	}
	out, scan := outputOf(p.Root)
	if scan == nil || scan.Latest || scan.Table.Derived != nil || len(scan.Filter) > 0 || scan.Limit != nil {
		return nil
	}
	point, ok := scan.Access.(*physical.PointGet)
	if !ok || point.Index != nil || !point.Ranges.SinglePoint {
		return nil
	}
	for _, c := range scan.Table.Columns {
		if c.Type.ID == schema.TypeTimestamp {
			return nil // stored in UTC
		}
		if c.IsVirtual() {
			return nil // not stored
		}
	}
	codec, err := cn.Engine.Codecs.Get(scan.Table)
	if err != nil {
		return nil
	}
	pp := &pointPlan{keys: point.Ranges, codec: codec, use: useOf(cn.Engine, scan.Table, 0), table: uint64(scan.Table.ID)}
	attrs := scan.Table.AttributesColumn()
	pp.bare = attrs >= 0
	for _, i := range out {
		pp.bare = pp.bare && scan.Read[i] != attrs
		pp.out = append(pp.out, scan.Read[i])
	}
	return pp
}

// outputOf is the scan that a plan consists of, perhaps under a project of
// plain columns, and the positions of the result in what the scan reads.
func outputOf(n physical.Node) ([]int, *physical.Scan) {
	switch x := n.(type) {
	case *physical.Scan:
		out := make([]int, len(x.Read))
		for i := range out {
			out[i] = i
		}
		return out, x
	case *physical.Project:
		scan, ok := x.Input.(*physical.Scan)
		if !ok {
			return nil, nil
		}
		out := make([]int, len(x.Exprs))
		for i, e := range x.Exprs {
			c, ok := e.(*expr.Col)
			if !ok {
				return nil, nil
			}
			out[i] = c.Index
		}
		return out, scan
	}
	return nil, nil
}

// pointState is what point reads of a session reuse.
type pointState struct {
	ec     expr.Ctx
	codec  *table.Codec
	reader *table.RowReader
	keyRow []value.Datum
	row    []value.Datum
	result []value.Datum
	key    []byte
	val    []byte
	heat   metrics.Sampler
	// warn is for values that are not expected to warn; it sets warned.
	warn   func(sqlerr.Warning)
	warned bool
}

// runPoint answers a point query in autocommit. done is false when the plan
// has to go the long way.
func (s *Statement) runPoint(ctx context.Context, c *Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) (done bool, err error) {
	pp := c.point
	st := &s.point
	if st.codec != pp.codec {
		n := len(pp.codec.Columns)
		st.codec, st.reader = pp.codec, pp.codec.NewRowReader()
		st.row, st.keyRow = make([]value.Datum, n), make([]value.Datum, n)
	}
	st.reader.SkipAttributes(pp.bare)
	st.ec.Reset()
	st.ec.Env, st.ec.Context, st.ec.Params, st.ec.Session = s.TypesEnv(), ctx, vals, s.Functions
	spans, err := pp.keys.Spans(&st.ec)
	if err != nil {
		return true, err
	}
	found := false
	if len(spans) == 1 {
		for i, k := range pp.keys.Columns {
			st.keyRow[k.Table] = spans[0].Low[i]
		}
		st.key = pp.codec.AppendKey(st.key[:0], st.keyRow)
		st.val, err = s.Engine.Store.Latest().Get(ctx, st.key, st.val[:0])
		switch {
		case errors.Is(err, storage.ErrNotFound):
		case err != nil:
			return true, err
		default:
			if err := st.reader.Decode(st.key, st.val, st.row); err != nil {
				return true, err
			}
			if len(st.reader.Cells) > 0 {
				return false, nil // large values: read them in a snapshot
			}
			found = true
		}
	}
	if !s.current(c.Plan) {
		return false, nil
	}
	s.event.Work[metrics.HandlerReadKey]++
	pp.use.Reads.Add(1)
	if len(spans) == 1 && st.heat.Next() {
		s.Engine.Metrics.Heat.Note(pp.table, st.key, false)
	}
	if err := w.Header(c.header); err != nil {
		return true, err
	}
	s.Functions.foundRows, s.Functions.Rows = 0, -1
	if found {
		st.result = st.result[:0]
		for _, pos := range pp.out {
			st.result = append(st.result, st.row[pos])
		}
		if err := w.Row(st.result); err != nil {
			return true, err
		}
		s.Functions.foundRows = 1
		s.sent(1)
		s.event.Work[metrics.RowsExamined]++
		pp.use.Fetched.Add(1)
	}
	return true, w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}
