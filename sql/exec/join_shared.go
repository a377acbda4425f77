package exec

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// sharedJoins are the joins of a pipeline that is to run in partitions of its scan.
// Their build inputs are read before it begins, once for all workers, who only read
// what is stored: see pipelineInput for the joins that may be among them.
type sharedJoins struct {
	list []*hashJoinOp
	// b builds the pipeline with them: forks of it make probes of what is stored.
	b *builder
	// parallel: the pipeline can run in partitions. Otherwise a join has spilled, or
	// has to be able to, and b builds a pipeline that goes on with them alone.
	parallel bool
}

// maxShared is the fraction of the memory that joins may hold which workers read: they
// cannot spill any more.
const maxShared = 4

// shareJoins reads the build inputs of the joins in pipeline n. The result has to be
// closed, also after an error.
func (b *builder) shareJoins(ctx context.Context, n physical.Node) (*sharedJoins, error) {
	inner := *b
	s := &sharedJoins{b: &inner}
	inner.joins = map[physical.Node]*hashJoinOp{}
	for ; n != nil; n = pipelineInput(n) {
		var x *physical.HashJoin
		switch j := n.(type) {
		case *physical.HashJoin:
			x = j
		case *physical.NestedLoop:
			x = asHashJoin(j)
		default:
			continue
		}
		j, err := s.load(ctx, b, x, n)
		if err != nil {
			return s, err
		}
		if j.isEmpty() {
			return s, nil // nothing else needs to be read
		}
	}
	s.parallel = s.fix()
	return s, nil
}

func (s *sharedJoins) load(ctx context.Context, b *builder, x *physical.HashJoin, node physical.Node) (*hashJoinOp, error) {
	if j := b.joins[node]; j != nil { // read for a pipeline above
		delete(b.joins, node)
		s.list = append(s.list, j)
		s.b.joins[node] = j
		return j, nil
	}
	j, err := b.newJoin(x, node)
	if err != nil {
		return nil, err
	}
	s.list = append(s.list, j)
	s.b.joins[node] = j
	_, build := sides(x)
	if j.build, err = b.input(build); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := j.load(ctx); err != nil {
		return nil, err
	}
	if st := b.env.Stats.node(node); st != nil {
		st.nanos.Add(int64(time.Since(start)))
	}
	j.built = true
	return j, nil
}

// fix makes what is stored such that workers can read it, if it is in memory and may
// stay there.
func (s *sharedJoins) fix() bool {
	held := int64(0)
	for _, j := range s.list {
		if j.spill != nil || j.acct.wanted() {
			return false
		}
		held += j.acct.held
	}
	if limit := s.b.env.Memory.Limit(); limit > 0 && held > limit/maxShared {
		return false
	}
	for _, j := range s.list {
		j.stored = nil
		j.table.fix()
		if ok, err := j.acct.room(j.held() + j.chainSize()); !ok || err != nil {
			j.table.loosen()
			return false
		}
	}
	for _, j := range s.list {
		j.acct.fixed()
	}
	return true
}

// close gives up what is stored, after the workers have ended. Operators that go on
// with a join close it.
func (s *sharedJoins) close() error {
	if s == nil {
		return nil
	}
	var err error
	for _, j := range s.list {
		if s.b.joins[j.node] != j {
			continue
		}
		if cerr := j.Close(); err == nil {
			err = cerr
		}
	}
	s.list = nil
	return err
}

// sharedJoin goes on with a join whose build input was read: workers probe what is
// stored, and otherwise it is the only one that does.
func (b *builder) sharedJoin(x *physical.HashJoin, node physical.Node, j *hashJoinOp) (Operator, error) {
	n, _ := sides(x)
	if b.part == nil {
		delete(b.joins, node)
		probe, err := b.probe(x, n)
		j.probe = probe
		if err != nil {
			j.Close()
			return nil, err
		}
		return j, nil
	}
	w, err := b.newJoin(x, node)
	if err != nil {
		return nil, err
	}
	w.acct = account{t: b.env.Memory} // the rows are accounted for by j
	w.store, w.table, w.chain, w.built = j.store, j.table.reader(), chain{heads: j.chain.heads, links: j.chain.links}, true
	w.picks = j.picks
	if w.probe, err = b.build(n); err != nil {
		return nil, err
	}
	return w, nil
}

// pipelineInput is the input of n whose rows it takes one after the other, without
// regard to those before: parts of it make parts of n. It is nil for other nodes, and
// where expressions have effects.
func pipelineInput(n physical.Node) physical.Node {
	switch x := n.(type) {
	case *physical.Filter:
		if !anyVolatile(x.Conds) {
			return x.Input
		}
	case *physical.Project:
		if !anyVolatile(x.Exprs) {
			return x.Input
		}
	case *physical.HashJoin:
		if !marksJoin(x) && !anyVolatile(x.LeftKeys, x.RightKeys, x.Filter) {
			probe, _ := sides(x)
			return probe
		}
	case *physical.NestedLoop:
		if !anyVolatile(x.Filter) {
			return x.Left
		}
	case *physical.LookupJoin:
		r := x.Inner.Reads()
		if !r.Latest && r.Lock.None && r.Limit == nil && !anyVolatile(x.Keys, x.Filter, r.Filter, x.Inner.Leaf().Filter) {
			return x.Left
		}
	}
	return nil
}

// anyVolatile reports expressions that have effects or another value each time.
func anyVolatile(lists ...[]expr.Expr) bool {
	found := false
	for _, l := range lists {
		for _, e := range l {
			expr.Walk(e, func(x expr.Expr) bool {
				if f, ok := x.(*expr.Func); ok && f.B != nil && f.B.Volatile {
					found = true
				}
				return !found
			})
		}
	}
	return found
}
