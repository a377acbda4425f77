package planner

import (
	"math"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// scan chooses the access path of a table under conditions.
func (p *planner) scan(s *logical.Scan, conds []expr.Expr, req request) (rel, error) {
	p.addTable(s.Table)
	isChange := p.change == s
	if isNever(conds) {
		return p.empty(s, req), nil
	}
	lock := s.Lock.Strength != logical.LockNone
	ar := p.accessRequest(s, conds, req)
	if p.off("IndexAccess") {
		ar.Scan = &logical.Scan{Table: s.Table, Alias: s.Alias, Cols: s.Cols, Hint: logical.IndexHint{UseSet: true}}
	}
	paths := access.Paths(ar)
	p.valuesMatter = p.valuesMatter || ar.ValuesMatter
	for _, g := range ar.Guards(paths) {
		known := slices.ContainsFunc(p.guards, func(o physical.Guard) bool { return o.Table == g.Table && o.Index == g.Index })
		if !known && len(p.guards) < maxGuards {
			p.guards = append(p.guards, g)
		}
	}
	best := access.Best(paths, func(q *access.Path) float64 {
		c := sortCost(q.Rows, req.limit)
		if (lock || isChange) && req.limit > 0 { // what is sorted is locked as well
			c += math.Max(q.Rows-req.limit, 0) * cost.LockRow
		}
		return c
	})
	forced := ar.Forced(paths)
	if forced != nil {
		best = forced
	}
	out, err := p.scanBy(s, best, paths, req, isChange, lock, delivers(best, ar, req))
	if forced != nil && err == nil {
		scanOf(out.node).Leaf().Asked = true
	}
	return out, err
}

// scanOf is the node of the table that scanBy makes, which scores may be computed
// above.
func scanOf(n physical.Node) physical.TableNode {
	if s, ok := n.(physical.TableNode); ok {
		return s
	}
	return n.Inputs()[0].(physical.TableNode)
}

// maxGuards is the most ranges that are looked at before a plan is used again.
const maxGuards = 3

// delivers reports whether a path gives the order of req: not when that has
// columns of other tables, which package access does not know.
func delivers(path *access.Path, ar *access.Request, req request) bool {
	return len(req.order) == 0 || path.Ordered && len(ar.Order) == len(req.order)
}

func sortCost(rows, limit float64) float64 {
	if limit > 0 {
		return cost.TopK(rows, limit)
	}
	return cost.Sort(rows)
}

// accessRequest describes to package access what is wanted of s.
func (p *planner) accessRequest(s *logical.Scan, conds []expr.Expr, req request) *access.Request {
	ar := &access.Request{
		Context: p.ctx, Scan: s, Est: p.opts.Est, Ctx: p.opts.Ctx, Shares: &p.shares,
		Grouping: req.group, Counting: req.counts, Limit: req.limit, LimitKnown: req.limitExpr != nil,
		Parallel: p.opts.Parallelism, Invisible: p.opts.Invisible, Off: p.off, Subqueries: p.subqueries,
	}
	if s.Table.Partitioning != nil && p.opts.TableExprs != nil {
		if x := p.opts.TableExprs(s.Table); x != nil {
			ar.Partitions = x.Partitions
		}
	}
	pos := map[expr.ColID]int{}
	_, scores, only := scoresRead(s, req)
	ar.ForScores = only
	for i, c := range s.Cols[:len(s.Table.Columns)] {
		pos[c.ID] = i
		if req.cols[c.ID] || only[i] {
			ar.Needed = append(ar.Needed, i)
		}
	}
	placed := map[*expr.Col]*expr.Col{}
	for _, f := range scores {
		ar.Scores = append(ar.Scores, toTable(f, pos, placed).(*expr.Func))
	}
	for _, c := range conds {
		for _, one := range expr.SplitAnd(nil, c) {
			ar.Conds = append(ar.Conds, toTable(one, pos, placed))
		}
	}
	for _, k := range req.order {
		e := k.e
		if e == nil {
			e = p.scores[k.id]
		}
		if e != nil {
			ar.Order = append(ar.Order, access.OrderColumn{Column: -1, Expr: toTable(p.scored(e), pos, placed), Desc: k.desc})
			continue
		}
		at, ok := pos[k.id]
		if !ok {
			// Not a column of this table: the order cannot come from here, and
			// the limit holds only for that order.
			ar.Order, ar.Limit = nil, 0
			break
		}
		ar.Order = append(ar.Order, access.OrderColumn{Column: at, Desc: k.desc})
	}
	return ar
}

// toTable gives columns their position in the table. Each column of a long OR is
// copied once: placed has the copies.
func toTable(e expr.Expr, pos map[expr.ColID]int, placed map[*expr.Col]*expr.Col) expr.Expr {
	return expr.Map(e, func(x expr.Expr) expr.Expr {
		c, ok := x.(*expr.Col)
		if !ok {
			return x
		}
		one := placed[c]
		if one == nil {
			there := *c
			there.Index = pos[c.ID]
			one = &there
			placed[c] = one
		}
		return one
	})
}

// isNever reports whether a condition is a literal that is not true.
func isNever(conds []expr.Expr) bool {
	for _, c := range conds {
		k, ok := c.(*expr.Const)
		if !ok {
			continue
		}
		switch k.D.Kind() {
		case value.KindNull:
			return true
		case value.KindInt, value.KindUint:
			if k.D.Bits() == 0 {
				return true
			}
		}
	}
	return false
}

func (p *planner) empty(s *logical.Scan, req request) rel {
	var cols []logical.Column
	for _, c := range s.Cols { // with scores
		if req.cols[c.ID] {
			cols = append(cols, c)
		}
	}
	return rel{node: &physical.Values{Base: base(cols, 0, 0)}, cols: cols, ordered: true}
}

// scanBy makes the scan of a path; ordered says that it gives req's order.
func (p *planner) scanBy(s *logical.Scan, path *access.Path, all []*access.Path, req request, isChange, lock, ordered bool) (rel, error) {
	found, isSearch := path.Access.(*physical.SearchScan)
	if isSearch && (isChange || lock) {
		// The row is read again under its lock, and checked as a whole.
		whole, search := *path, *found
		search.Covering, search.Order = false, nil
		whole.Access, whole.Residual = &search, path.All
		path, ordered = &whole, ordered && len(req.order) == 0
	}
	scores, calls, forScores := scoresRead(s, req)
	wanted := map[int]bool{}
	for i, c := range s.Cols[:len(s.Table.Columns)] {
		if req.cols[c.ID] || isChange || forScores[i] {
			wanted[i] = true
		}
	}
	wants(wanted, path.EntryFilter, path.Residual, path.All)
	if isChange || lock {
		// The row is read again under its lock, and checked as a whole.
		wants(wanted, path.Conditions())
	}
	read, at := placesOf(wanted)
	cols := columnsAt(s, read)
	share := 1.0
	rows, c := path.Rows, path.Cost
	if ordered && req.limit > 0 {
		c, rows = path.LimitedCost, math.Min(rows, req.limit)
		share = math.Min(rows/math.Max(path.Rows, 1), 1)
	}
	if lock || isChange {
		c += rows * cost.LockRow
	}
	key := path.Key()
	inOrder := ordered && len(req.order) > 0 && !isSearch && (key.Ranges == nil || !key.Ranges.SinglePoint)
	reads := physical.TableRead{
		Table: s.Table, Alias: s.Alias, Read: read, Filter: toRead(cheapFirst(path.Residual), at),
		Lock:   physical.Lock{None: !lock && !isChange, Exclusive: isChange || s.Lock.Strength == logical.LockForUpdate, NoWait: s.Lock.NoWait, SkipLocked: s.Lock.SkipLocked},
		Latest: isChange || lock,
		Args:   s.Args,
	}
	if !isChange {
		reads.Attributes = p.attributesRead(s, req, path.Conditions())
	}
	if isChange && p.deletes {
		reads.Unread = unread(s.Table, read, path)
	}
	search := p.searchScan(s, path, req, ordered, at)
	if ordered && (search == nil || len(req.order) == 0) {
		reads.Limit = req.limitExpr
	}
	for _, q := range all {
		reads.Why = append(reads.Why, q.String())
	}
	scan := &physical.Scan{Base: base(cols, rows, c), TableRead: reads, Access: path.Access,
		Distinct: path.Distinct, Reverse: path.Reverse && inOrder, Ordered: inOrder}
	var node physical.Node = scan
	// Locks are on rows: the row itself has to be read.
	if key.Index != nil && (path.Lookup || reads.Latest) {
		node = indexJoin(s, path, scan, at, share)
	}
	inIndex := search != nil && search.Covering && len(calls) > 0
	if search != nil {
		scan.Access = search
	}
	if inIndex {
		for _, f := range calls {
			search.Scores = append(search.Scores, toRead([]expr.Expr{toTable(f, columnPositions(s), map[*expr.Col]*expr.Col{})}, at)[0])
		}
		cols = append(cols, scores...)
		scan.Cols = physicalColumns(cols)
	}
	out := rel{node: node, cols: cols, ordered: ordered, rows: math.Max(rows, 0), cost: c, reads: path.Entries * share}
	if len(calls) > 0 && !inIndex {
		var err error
		if out, err = p.scoreRows(out, scores, calls); err != nil {
			return rel{}, err
		}
	}
	if search != nil && search.Order != nil {
		out = p.firstOf(scan, search, out)
	}
	return out, nil
}

// indexJoin reads the rows of a scan by the entries of its index, of which a share
// is read.
func indexJoin(s *logical.Scan, path *access.Path, scan *physical.Scan, at map[int]int, share float64) *physical.IndexJoin {
	join := &physical.IndexJoin{Base: scan.Base, TableRead: scan.TableRead}
	entryFilter := path.EntryFilter
	if !path.Lookup { // all filters are about the entry
		entryFilter, join.Filter = path.Residual, nil
	}
	wanted := map[int]bool{}
	wants(wanted, entryFilter)
	read, place := placesOf(wanted)
	entries := *scan
	entries.Base = base(columnsAt(s, read), math.Max(path.Fetched, path.Rows)*share, path.FindCost*share)
	entries.TableRead = physical.TableRead{Table: scan.Table, Alias: scan.Alias, Read: read, Filter: toRead(cheapFirst(entryFilter), place),
		Attributes: scan.Attributes, Lock: scan.Lock, Latest: scan.Latest, Args: scan.Args}
	entries.Keys = true
	join.Entries = &entries
	if join.Latest {
		join.Again = toRead(cheapFirst(entryFilter), at)
	}
	return join
}

// wants adds the columns of conditions, by their positions in the table.
func wants(wanted map[int]bool, lists ...[]expr.Expr) {
	for _, list := range lists {
		for _, e := range list {
			expr.Walk(e, func(x expr.Expr) bool {
				if c, ok := x.(*expr.Col); ok {
					wanted[c.Index] = true
				}
				return true
			})
		}
	}
}

// placesOf is a list of positions in a table, and where each is in the list.
func placesOf(wanted map[int]bool) (read []int, at map[int]int) {
	read = make([]int, 0, len(wanted))
	for i := range wanted {
		read = append(read, i)
	}
	slices.Sort(read)
	at = make(map[int]int, len(read))
	for i, pos := range read {
		at[pos] = i
	}
	return read, at
}

func columnsAt(s *logical.Scan, read []int) []logical.Column {
	cols := make([]logical.Column, len(read))
	for i, pos := range read {
		cols[i] = s.Cols[pos]
	}
	return cols
}

// scoreRows computes scores of rows.
func (p *planner) scoreRows(in rel, scores []logical.Column, calls []*expr.Func) (rel, error) {
	cols := append(slices.Clone(in.cols), scores...)
	exprs := make([]expr.Expr, 0, len(cols))
	for i := range in.cols {
		exprs = append(exprs, columnAt(in.cols, i))
	}
	for _, f := range calls {
		e, err := place(f, in.ids())
		if err != nil {
			return rel{}, err
		}
		exprs = append(exprs, e)
	}
	in.cost += in.rows * float64(len(calls)) * cost.ProjectRow
	x := &physical.Project{Base: base(cols, in.rows, in.cost), Input: in.node, Exprs: exprs}
	if p.scoring == nil {
		p.scoring = map[*physical.Project]bool{}
	}
	p.scoring[x] = true
	in.cols, in.node = cols, x
	return in, nil
}

// columnPositions are the positions of columns in their table.
func columnPositions(s *logical.Scan) map[expr.ColID]int {
	pos := make(map[expr.ColID]int, len(s.Cols))
	for i, c := range s.Cols {
		pos[c.ID] = i
	}
	return pos
}

// unread marks the columns of a row that is deleted that need not be computed:
// virtual ones that no index and no condition has.
func unread(t *schema.Table, read []int, path *access.Path) []bool {
	if !t.HasVirtual() {
		return nil
	}
	used := t.KeyedColumns()
	for _, e := range path.Conditions() {
		expr.Walk(e, func(x expr.Expr) bool {
			if c, ok := x.(*expr.Col); ok {
				markRead(t, used, c.Index)
			}
			return true
		})
	}
	out := make([]bool, len(read))
	for i, pos := range read {
		out[i] = t.Columns[pos].IsVirtual() && !used[pos]
	}
	return out
}

// markRead marks a column, and those from which it is computed.
func markRead(t *schema.Table, used []bool, pos int) {
	if used[pos] {
		return
	}
	used[pos] = true
	if g := t.Columns[pos].Generated; g != nil {
		for _, id := range g.Reads {
			markRead(t, used, t.ColumnIndex(id))
		}
	}
}

// toRead moves columns from table positions to positions of the read list.
func toRead(list []expr.Expr, at map[int]int) []expr.Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = expr.Map(e, func(x expr.Expr) expr.Expr {
			if c, ok := x.(*expr.Col); ok {
				placed := *c
				placed.Index = at[c.Index]
				return &placed
			}
			return x
		})
	}
	return out
}

// searchScan completes what a path by a search index has for its scan; nil for
// others.
func (p *planner) searchScan(s *logical.Scan, path *access.Path, req request, ordered bool, at map[int]int) *physical.SearchScan {
	found, ok := path.Access.(*physical.SearchScan)
	if !ok {
		return nil
	}
	x := *found
	x.Workers = p.opts.Parallelism
	x.All = toRead(cheapFirst(path.All), at)
	if x.Limit = req.limitExpr; !ordered || x.Order == nil || x.Limit == nil {
		x.Order, x.Limit = nil, nil
	}
	x.Order = slices.Clone(x.Order)
	for i, o := range x.Order {
		if o.Expr != nil {
			x.Order[i].Expr = toRead([]expr.Expr{o.Expr}, at)[0]
		}
	}
	if x.Covering {
		x.Unread = make([]bool, len(at))
		for pos, i := range at { // scores of documents need none
			x.Unread[i] = !req.cols[s.Cols[pos].ID]
		}
		for _, c := range path.Residual {
			expr.Walk(c, func(e expr.Expr) bool {
				if c, ok := e.(*expr.Col); ok {
					x.Unread[at[c.Index]] = false
				}
				return true
			})
		}
	}
	return &x
}

// firstOf sorts what a search finds that leaves out all but the first rows.
func (p *planner) firstOf(scan *physical.Scan, search *physical.SearchScan, in rel) rel {
	keys := make([]physical.SortKey, len(search.Order))
	for i, o := range search.Order {
		if o.Expr != nil {
			keys[i] = physical.SortKey{Expr: p.given(o.Expr, in.cols), Desc: o.Desc}
			continue
		}
		keys[i] = physical.SortKey{Expr: columnAt(in.cols, slices.Index(scan.Read, o.Column)), Desc: o.Desc}
	}
	in.node, in.ordered = &physical.TopK{Base: base(in.cols, in.rows, in.cost), Input: in.node, Keys: keys, Count: search.Limit}, true
	return in
}

// given has in the place of scores the columns that have them.
func (p *planner) given(e expr.Expr, cols []logical.Column) expr.Expr {
	return expr.Map(e, func(x expr.Expr) expr.Expr {
		if f, ok := x.(*expr.Func); ok {
			for i, c := range cols {
				if have := p.scores[c.ID]; have != nil && expr.Equal(f, have) {
					return columnAt(cols, i)
				}
			}
		}
		return x
	})
}

func columnAt(cols []logical.Column, at int) *expr.Col {
	c := cols[at]
	return &expr.Col{ID: c.ID, Index: at, T: c.T, Null: c.Null, Name: c.Name}
}
