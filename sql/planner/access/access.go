package access

import (
	"context"
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/ranges"
)

// Estimator knows sizes. A nil index is the primary key. Its methods may be called
// concurrently. They do not fail: where the store does, they guess. When ctx ends they
// return soon, and with a guess that must not be used: planner.Plan fails then.
type Estimator interface {
	// TableRows is about the number of rows.
	TableRows(ctx context.Context, t *schema.Table) float64
	// SpanRows is about the number of entries in spans; ok is false when it is
	// unknown.
	SpanRows(ctx context.Context, t *schema.Table, x *schema.Index, spans []ranges.Span) (rows float64, ok bool)
	// Distinct is about the number of different values of the columns
	// together; 0 when unknown.
	Distinct(ctx context.Context, t *schema.Table, columns []schema.ColumnID) float64
}

// OrderColumn is a column of a wanted order, by position in the table; or Expr, over
// such positions, in place of a column: then Column is -1.
type OrderColumn struct {
	Column int
	Expr   expr.Expr
	Desc   bool
}

// Request is what a query wants of one table.
type Request struct {
	// Context is that of the planning.
	Context context.Context
	Scan    *logical.Scan
	// Conds are the conjuncts on this table; expr.Col.Index is the position in
	// the table.
	Conds []expr.Expr
	// Needed are the table positions whose values the plan needs above the
	// conditions.
	Needed []int
	// Scores are calls of "match" over table positions, which are needed as well;
	// ForScores marks those of Needed that only they need.
	Scores    []*expr.Func
	ForScores map[int]bool
	// Order is the order that would spare a sort, nil for none.
	Order []OrderColumn
	// Grouping: the order is wanted for GROUP BY.
	Grouping bool
	// Counting: nothing but the number of rows is wanted.
	Counting bool
	// Limit is the number of rows after which the consumer stops when the
	// order is delivered (or none is wanted); 0 for all.
	Limit float64
	// LimitKnown: execution knows Limit.
	LimitKnown bool
	Est        Estimator
	// Invisible indexes may be used (optimizer_switch).
	Invisible bool
	// Ctx evaluates constants for estimates; nil leaves them unknown.
	Ctx *expr.Ctx
	// Shares keeps the selectivities that samples gave; nil for none.
	Shares *Shares
	// Parallel is the number of workers that a full scan may use.
	Parallel int
	// ValuesMatter is set when paths are right only for the parameters that Ctx
	// has, or others might be possible for other parameters.
	ValuesMatter bool
	// Off reports the access paths that are switched off (planner.Operators); nil
	// for none.
	Off func(name string) bool
	// Partitions are those of the table, nil for none or when they are not known.
	Partitions *expr.Partitioner
	// Subqueries are those of the statement, by ID, as they were bound; nil where
	// they are part of it already.
	Subqueries []logical.Node
}

func (r *Request) off(name string) bool { return r.Off != nil && r.Off(name) }

// Paths are the ways to answer r. There is always at least one; hints that
// forbid all leave the full scan.
func Paths(r *Request) []*Path {
	var paths []*Path
	t := r.Scan.Table
	allowed := newHints(&r.Scan.Hint)
	if allowed.index("PRIMARY", false) {
		if p := r.path(nil); p != nil {
			paths = append(paths, p)
			if p.Unique && p.Key().Index == nil {
				return paths // nothing is cheaper
			}
		}
		if !wants(r.Scan.Opt.NoSkip, nil) {
			if p := r.orderedMerge(nil); p != nil {
				paths = append(paths, p)
			}
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State != schema.IndexPublic || !allowed.index(x.Name, x.Invisible && !r.Invisible) {
			continue
		}
		if p := r.path(x); p != nil {
			paths = append(paths, p)
		}
		if wants(r.Scan.Opt.NoSkip, x) {
			continue
		}
		if p := r.orderedMerge(x); p != nil {
			paths = append(paths, p)
		}
		if p := r.skipPath(x); p != nil {
			if wants(r.Scan.Opt.Skip, x) {
				return []*Path{p}
			}
			paths = append(paths, p)
		}
	}
	paths = append(paths, r.searchPaths(allowed)...)
	merges := r.merges(allowed, paths)
	if len(merges) > 0 && r.Scan.Opt.Merge != nil {
		return merges
	}
	paths = append(append(paths, r.fullScan()), merges...)
	if len(r.Scan.Hint.Force) > 0 {
		paths = allowed.preferForced(paths)
	}
	return paths
}

// Best is the cheapest path, by the cost up to the limit; forSort is the cost
// that a path pays which does not deliver the wanted order.
func Best(paths []*Path, forSort func(p *Path) float64) *Path {
	var best *Path
	bestCost := math.Inf(1)
	for _, p := range paths {
		c := p.LimitedCost
		if !p.Ordered {
			c = p.Cost + forSort(p)
		}
		if c < bestCost || c == bestCost && best != nil && prefer(p, best) {
			best, bestCost = p, c
		}
	}
	return best
}
