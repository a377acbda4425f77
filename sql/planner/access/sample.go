package access

import (
	"context"
	"math"
	"math/bits"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Sample are rows from all over a table, as columns in table order. It is not
// changed any more.
type Sample struct {
	Rows [][]value.Datum
	// Known marks the columns whose values the rows have.
	Known []bool
}

// Sampler is an Estimator that has samples; Sample is nil where it has none.
type Sampler interface {
	Sample(ctx context.Context, t *schema.Table) *Sample
}

// Shares are the selectivities of conditions, found by computing the conditions over
// samples. They are kept for one planning.
type Shares struct {
	samples map[schema.TableID]*Sample
	// hits are the rows of the sample for which a condition is true; nil where it
	// cannot be computed.
	hits map[conditionKey][]uint64
	// matches are the selectivities of MATCH.
	matches map[conditionKey]float64
}

type conditionKey struct {
	table schema.TableID
	cond  string
}

func (s *Shares) sample(r *Request) *Sample {
	t := r.Scan.Table
	x, known := s.samples[t.ID]
	if !known {
		if est, ok := r.Est.(Sampler); ok {
			x = est.Sample(r.Context, t)
		}
		if s.samples == nil {
			s.samples, s.hits = map[schema.TableID]*Sample{}, map[conditionKey][]uint64{}
		}
		s.samples[t.ID] = x
	}
	return x
}

// of are the rows of x for which c is true.
func (s *Shares) of(r *Request, x *Sample, c expr.Expr) []uint64 {
	key := conditionKey{r.Scan.Table.ID, c.String()}
	bitmap, known := s.hits[key]
	if !known {
		if computable(c, x) {
			bitmap = hits(r.Context, r.Ctx, x, c)
		}
		s.hits[key] = bitmap
	}
	return bitmap
}

// computable reports that a condition reads nothing but known columns.
func computable(c expr.Expr, x *Sample) bool {
	ok := expr.KnownBefore([]expr.Expr{c})
	expr.Walk(c, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Col:
			ok = ok && e.Index >= 0 && e.Index < len(x.Known) && x.Known[e.Index]
		case *expr.Func:
			ok = ok && (e.B == nil || !e.B.Volatile)
		}
		return ok
	})
	return ok
}

// hits are the rows of a sample for which c is true; nil where it cannot be computed,
// or ctx ends.
func hits(ctx context.Context, ec *expr.Ctx, x *Sample, c expr.Expr) []uint64 {
	out := make([]uint64, (len(x.Rows)+63)/64)
	in := vec.Batch{Cols: make([]*vec.Vec, len(x.Known))}
	expr.Walk(c, func(e expr.Expr) bool {
		if col, ok := e.(*expr.Col); ok && in.Cols[col.Index] == nil {
			in.Cols[col.Index] = vec.NewSized(types.KindOf(col.Type()), hitRows)
		}
		return true
	})
	for from := 0; from < len(x.Rows); from += hitRows {
		if ctx.Err() != nil {
			return nil
		}
		rows := x.Rows[from:min(from+hitRows, len(x.Rows))]
		in.N, in.HasSel = len(rows), false
		for at, v := range in.Cols {
			if v == nil {
				continue
			}
			v.Reset()
			for i, row := range rows {
				v.SetDatum(i, row[at])
			}
		}
		if expr.EvalFilter(ec, c, &in) != nil {
			return nil
		}
		for i := range in.Live() {
			r := from + in.Row(i)
			out[r/64] |= 1 << (r % 64)
		}
	}
	return out
}

// hitRows are computed at a time.
const hitRows = 128

// enoughRows is the smallest subset of a sample that still supports an estimate.
const enoughRows = 20

// selectivity is about the fraction of rows that satisfy conds, among the rows that
// satisfy given. A search index counts what it can, the sample of the table gives what
// can be computed of its rows, and guesses by form give the rest.
func (r *Request) selectivity(given, conds []expr.Expr, total float64) float64 {
	if len(conds) == 0 {
		return 1
	}
	var sample *Sample
	if r.Shares != nil && r.Ctx != nil {
		sample = r.Shares.sample(r)
	}
	// unsampled is the product of the conditions that cannot be computed over the
	// sample, guessed the product of guesses for the others, whose rows are
	// matching.
	unsampled, guessed := 1.0, 1.0
	var matching []uint64
	for _, c := range conds {
		if r.Shares != nil {
			if counted, ok := r.matchSelectivity(c, total); ok {
				unsampled *= counted
				continue
			}
		}
		guess := r.guessOne(c, total)
		var rows []uint64
		if sample != nil {
			rows = r.Shares.of(r, sample, c)
		}
		if rows == nil {
			unsampled *= guess
			continue
		}
		guessed *= guess
		matching = and(matching, rows)
	}
	if matching == nil {
		return unsampled
	}
	size := float64(len(sample.Rows))
	if rows := r.allTrue(sample, given); rows != nil {
		if n := count(rows); n >= enoughRows {
			matching, size = and(matching, rows), float64(n)
		}
	}
	n := float64(count(matching))
	if n == 0 {
		// None of size rows: less than one in size, half of that at the most.
		return unsampled * math.Min(guessed, 0.5/size)
	}
	return unsampled * n / size
}

// allTrue are the rows for which all conditions are true; nil if one of them
// cannot be computed, or the list is empty.
func (r *Request) allTrue(x *Sample, conds []expr.Expr) (all []uint64) {
	for _, c := range conds {
		if f, ok := c.(*expr.Func); ok {
			if f.Match() != nil { // expensive, and the others do not depend on it
				continue
			}
		}
		bitmap := r.Shares.of(r, x, c)
		if bitmap == nil {
			return nil
		}
		all = and(all, bitmap)
	}
	return all
}

func and(a, b []uint64) []uint64 {
	if a == nil {
		return b
	}
	out := make([]uint64, len(a))
	for i := range a {
		out[i] = a[i] & b[i]
	}
	return out
}

func count(a []uint64) int {
	n := 0
	for _, w := range a {
		n += bits.OnesCount64(w)
	}
	return n
}
