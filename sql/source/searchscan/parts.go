package searchscan

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
)

// A search is cut into parts of about as many documents each, which several
// goroutines read over one view. The rows that were changed are the last part's.

// part is the exec.Partition of a search.
type part struct {
	of   *found
	hits []query.Hits // with the documents up to the end of the part
	from uint32       // the first document in the first of them
	// keys are the rows that are read from the table.
	keys  [][]byte
	first bool
	once  sync.Once
	err   error
}

// found is what the parts of a search have in common.
type found struct {
	op   *searchOp
	left atomic.Int32 // parts that are not closed
}

// Close implements exec.Partition.
func (p *part) Close() error {
	p.once.Do(func() {
		if p.of.left.Add(-1) == 0 {
			p.err = p.of.op.Close()
		}
	})
	return p.err
}

// Cut says into how many parts a search is cut at most. RowWork is about what is done
// with each row, in nanoseconds.
type Cut struct {
	Parts   int
	RowWork float64
}

// partWork is what has to be done, in nanoseconds, for a part more to pay; partDocs are
// the documents for which it pays when little is done with each.
const (
	partWork = 1.6e6
	partDocs = 16 << 10
)

// docs is the least number of documents of a part.
func (c Cut) docs() int {
	return int(max(min(partWork/max(c.RowWork, 1), partDocs), 1))
}

// Partitions finds what n does, in parts; nil where Open does it better.
func (s *Searcher) Partitions(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, cut Cut, reader storage.Reader) (_ []exec.Partition, err error) {
	x := n.Search()
	if cut.Parts < 2 || n.Latest || s.env.Ranges == decode.AllRanges || n.Table.Derived != nil || x.Order != nil || len(x.Scores) > 0 {
		return nil, nil
	}
	n = n.Ungrouped()
	v, err := s.searchView(ctx, k, n, reader)
	if err != nil {
		if errors.Is(err, search.ErrUnavailable) || errors.Is(err, seg.ErrDamaged) {
			return nil, nil
		}
		return nil, err
	}
	var op *searchOp
	var warnings []sqlerr.Warning
	err = seg.Guard(func() (err error) {
		own := ec.Fork()
		if ec.Warn != nil {
			own.Warn = func(w sqlerr.Warning) { warnings = append(warnings, w) }
		}
		op, err = s.search(ctx, own, k, n, v, -1)
		return err
	})
	if err != nil {
		err = errors.Join(err, v.Close())
		if errors.Is(err, search.ErrUnavailable) || errors.Is(err, seg.ErrDamaged) || errors.Is(err, errRescan) {
			return nil, nil // Open reads the table
		}
		return nil, err
	}
	var list []*part
	err = seg.Guard(func() (err error) {
		list, err = op.cut(k, x.Covering, cut)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, op.Close())
	}
	for _, w := range warnings {
		ec.Warn(w)
	}
	out := make([]exec.Partition, len(list))
	for i, p := range list {
		out[i] = p
	}
	return out, nil
}

// cut makes parts of what was found.
func (o *searchOp) cut(k *decode.Table, covering bool, cut Cut) (list []*part, err error) {
	f := &found{op: o}
	if !covering {
		keys, err := o.keys(k, o.hits, o.View.Changed)
		if err != nil {
			return nil, err
		}
		n := max(min(cut.Parts, len(keys)/min(cut.docs(), vec.MaxRows)), 1)
		for i := range n {
			list = append(list, &part{of: f, keys: keys[i*len(keys)/n : (i+1)*len(keys)/n]})
		}
	} else {
		keys, err := o.keys(k, nil, o.View.Changed)
		if err != nil {
			return nil, err
		}
		total := 0
		for i := range o.hits {
			total += o.hits[i].Count
		}
		for _, p := range cutHits(o.hits, max(min(cut.Parts, total/cut.docs()), 1)) {
			p.of = f
			list = append(list, p)
		}
		list[len(list)-1].keys = keys
	}
	list[0].first = true
	f.left.Store(int32(len(list)))
	return list, nil
}

// cutHits cuts hits into so many parts of about the same size: one at least, and
// none of a part of a block.
func cutHits(hits []query.Hits, parts int) []*part {
	total := 0
	for i := range hits {
		total += hits[i].Count
	}
	const words = vec.MaxRows / 64
	each, n := (total+parts-1)/parts, 0
	out := []*part{{}}
	for i := range hits {
		h := &hits[i]
		start := 0
		for at := 0; at < len(h.Set); at += words {
			if n >= each && len(out) < parts {
				out[len(out)-1].add(h, start, at)
				out, start, n = append(out, &part{}), at, 0
			}
			for _, w := range h.Set[at:min(at+words, len(h.Set))] {
				n += bits.OnesCount64(w)
			}
		}
		out[len(out)-1].add(h, start, len(h.Set))
	}
	return out
}

// add adds the documents of h that are in some words of its set.
func (p *part) add(h *query.Hits, from, to int) {
	if from == to {
		return
	}
	one := query.Hits{Seg: h.Seg, Set: h.Set[:to]}
	for _, w := range h.Set[from:to] {
		one.Count += bits.OnesCount64(w)
	}
	if len(p.hits) == 0 {
		p.from = uint32(from) << 6
	}
	p.hits = append(p.hits, one)
}

// openPart makes the operator of a part.
func (s *Searcher) openPart(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, p *part, limit int64) (exec.Operator, error) {
	z := decode.NewZone(s.env.Loc)
	op := &searchOp{View: p.of.op.View, shared: true, hits: p.hits, from: p.from, ec: ec, filter: n.Filter, batch: vec.NewBatch(nil), memory: s.env.Memory}
	if p.first {
		op.count = p.of.op.count
	}
	if n.Search().Covering {
		var err error
		if op.cols, err = s.searchColumns(k, n, &z); err != nil {
			return nil, err
		}
		op.plain = allPlain(op.cols)
	}
	op.open = func(context.Context) (err error) {
		if len(p.keys) == 0 {
			op.rows = noRows{}
			return nil
		}
		op.rows, err = s.tableRows(ctx, ec, k, n, p.keys, limit)
		return err
	}
	return op, nil
}

// noRows is the operator of nothing.
type noRows struct{}

func (noRows) Next(context.Context) (*vec.Batch, error) { return nil, nil }
func (noRows) Close() error                             { return nil }
