package planner

import (
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// sort builds ORDER BY, with the limit above it if there is one.
func (p *planner) sort(n *logical.Sort, count, offset expr.Expr, req request) (rel, error) {
	out, err := p.sorted(n, count, offset, req)
	out.ordered = begins(n.Keys, req.order)
	return out, err
}

// begins reports whether rows sorted by keys are in the wanted order.
func begins(keys []logical.SortKey, order []orderKey) bool {
	i := 0
	for _, k := range keys {
		if i == len(order) {
			return true
		}
		if expr.IsConst(k.Expr) {
			continue
		}
		c, ok := k.Expr.(*expr.Col)
		if !ok || c.ID != order[i].id || k.Desc != order[i].desc {
			return false
		}
		i++
	}
	return i == len(order)
}

// maxRanked is the greatest limit at which an order by scores is left to the index in
// any case: of equal ones, it gives the rows with the smallest keys.
const maxRanked = 10_000

func (p *planner) sorted(n *logical.Sort, count, offset expr.Expr, req request) (rel, error) {
	keyExprs := make([]expr.Expr, len(n.Keys))
	order := make([]orderKey, 0, len(n.Keys))
	plain := !n.ByValue
	for i, k := range n.Keys {
		keyExprs[i] = k.Expr
		if expr.IsConst(k.Expr) {
			continue // orders nothing
		}
		switch c, ok := k.Expr.(*expr.Col); {
		case ok: // also a score
			order = append(order, orderKey{id: c.ID, desc: k.Desc})
		case p.isRanking(k.Expr):
			order = append(order, orderKey{id: computed, e: k.Expr, desc: k.Desc})
		default:
			plain = false
		}
	}
	cols := p.addReads(req.cols, keyExprs...)
	limit, total := p.limitRows(count, offset)
	wanted, hint := limit, total
	if count == nil && offset == nil && len(req.order) == 0 {
		wanted, hint = req.limit, req.limitExpr
	}
	var natural rel
	var err error
	useNatural := false
	if plain {
		natural, err = p.build(n.Input, request{cols: cols, order: order, limit: wanted, limitExpr: hint})
		if err != nil {
			return rel{}, err
		}
		useNatural = natural.ordered
	}
	in := natural
	sortCost := math.Inf(1)
	if forced := useNatural && hinted(natural.node); !forced && (!useNatural || natural.cost > 1000) {
		if in, err = p.build(n.Input, request{cols: cols}); err != nil {
			return rel{}, err
		}
		if limit > 0 {
			sortCost = in.cost + cost.TopK(in.rows, limit)
		} else {
			sortCost = in.cost + cost.Sort(in.rows)
		}
	}
	if useNatural && (natural.cost <= sortCost || len(order) > 0 && p.scores[order[0].id] != nil && limit <= maxRanked) {
		if count == nil && offset == nil {
			return natural, nil
		}
		return p.limited(natural, count, offset, limit), nil
	}
	in.cost, in.ordered = sortCost, true
	keys := make([]physical.SortKey, len(n.Keys))
	for i, k := range n.Keys {
		e, err := place(k.Expr, in.ids())
		if err != nil {
			return rel{}, err
		}
		keys[i] = physical.SortKey{Expr: e, Desc: k.Desc}
	}
	if count == nil {
		in.node = &physical.Sort{Base: base(in.cols, in.rows, in.cost), Input: in.node, Keys: keys}
		if offset != nil {
			return p.limited(in, count, offset, 0), nil
		}
		return in, nil
	}
	if limit > 0 {
		in.rows = math.Min(in.rows, limit)
	}
	scores := p.scoredLater(in.node, keys)
	if scores != nil {
		in.node = scores.Input
	}
	in.node = &physical.TopK{Base: base(in.cols[:len(in.node.Columns())], in.rows, in.cost), Input: in.node, Keys: keys, Count: count, Offset: offset}
	if scores != nil {
		in.node = &physical.Project{Base: base(in.cols, in.rows, in.cost), Input: in.node, Exprs: scores.Exprs}
	}
	return in, nil
}

// scoredLater is n where it computes scores of rows, by which keys do not order them:
// then those of the first rows are enough. Else nil.
func (p *planner) scoredLater(n physical.Node, keys []physical.SortKey) *physical.Project {
	x, ok := n.(*physical.Project)
	if !ok || !p.scoring[x] {
		return nil
	}
	for _, k := range keys {
		expr.Walk(k.Expr, func(e expr.Expr) bool {
			if c, isCol := e.(*expr.Col); isCol && c.Index >= len(x.Input.Columns()) {
				ok = false
			}
			return ok
		})
	}
	if !ok {
		return nil
	}
	return x
}

// hinted reports whether a hint requires the index that gives rows their order.
func hinted(n physical.Node) bool {
	for {
		if s, ok := n.(*physical.Scan); ok {
			return s.Asked
		}
		in := n.Inputs()
		if len(in) != 1 {
			return false
		}
		n = in[0]
	}
}

func (p *planner) limit(n *logical.Limit, req request) (rel, error) {
	if s, ok := n.Input.(*logical.Sort); ok && n.Count != nil {
		return p.sort(s, n.Count, n.Offset, req)
	}
	limit, total := p.limitRows(n.Count, n.Offset)
	inner := req
	inner.limit, inner.limitExpr = limit, total
	in, err := p.build(n.Input, inner)
	if err != nil {
		return rel{}, err
	}
	return p.limited(in, n.Count, n.Offset, limit), nil
}

func (p *planner) limited(in rel, count, offset expr.Expr, limit float64) rel {
	if limit > 0 && in.rows > limit {
		in.rows = limit
	}
	in.node = &physical.Limit{Base: base(in.cols, in.rows, in.cost), Input: in.node, Count: count, Offset: offset}
	return in
}

// limitRows is the number of rows that a limit with offset lets its input
// produce: the value for estimates (0 when it is not known) and the expression
// for execution (nil without limit).
func (p *planner) limitRows(count, offset expr.Expr) (float64, expr.Expr) {
	if count == nil || p.countAll {
		return 0, nil
	}
	c, ok := p.constRows(count)
	if !ok {
		return 0, nil
	}
	if offset == nil {
		return math.Max(c, 1), count
	}
	o, ok := p.constRows(offset)
	if !ok {
		return 0, nil
	}
	sum := math.Max(c+o, 1)
	_, constCount := count.(*expr.Const)
	_, constOffset := offset.(*expr.Const)
	if constCount && constOffset && sum < 1<<53 {
		t := schema.Type{ID: schema.TypeBigInt, Unsigned: true, Len: 20, Collation: schema.CollationBinary}
		return sum, expr.NewConst(value.Uint(uint64(sum)), t)
	}
	key := [2]expr.Expr{count, offset}
	e := p.limits[key]
	if e == nil {
		e = expr.NewLimitRows(count, offset)
		if p.limits == nil {
			p.limits = map[[2]expr.Expr]expr.Expr{}
		}
		p.limits[key] = e
	}
	return sum, e
}

func (p *planner) constRows(e expr.Expr) (float64, bool) {
	if p.opts.Ctx == nil {
		if _, isConst := e.(*expr.Const); !isConst {
			return 0, false
		}
	}
	ctx := p.opts.Ctx
	if ctx == nil {
		ctx = &expr.Ctx{}
	}
	d, err := expr.EvalConst(ctx, e)
	if err != nil || d.IsNull() {
		return 0, false
	}
	f, err := types.ToFloat(&ctx.Env, d, e.Type())
	return f, err == nil && f >= 0
}
