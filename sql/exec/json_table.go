package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// jsonTableOp makes the rows of one document at its first Next.
type jsonTableOp struct {
	ec   *expr.Ctx
	node *physical.JSONTable
	size int
	acct account
	done bool
	rows rowStore
	at   int
	ids  []uint32
	out  *vec.Batch
}

func (b *builder) jsonTable(x *physical.JSONTable) Operator {
	return &jsonTableOp{ec: b.ec, node: x, size: b.env.batchSize(), acct: b.account(x, "JSON_TABLE")}
}

func (j *jsonTableOp) Next(ctx context.Context) (*vec.Batch, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	if !j.done {
		j.done = true
		if err := j.load(ctx); err != nil {
			return nil, err
		}
	}
	n := min(j.size, j.rows.n-j.at)
	if n <= 0 {
		return nil, nil
	}
	j.ids = j.ids[:0]
	for i := range n {
		j.ids = append(j.ids, uint32(j.at+i))
	}
	j.at += n
	j.rows.gatherAll(j.ids, j.out)
	return j.out, nil
}

// load puts the rows into memory.
func (j *jsonTableOp) load(ctx context.Context) error {
	kinds := kindsOf(j.node.Cols)
	j.rows, j.out = newRowStore(kinds), newOut(kinds)
	doc, err := expr.EvalConst(j.ec, j.node.Doc)
	if err != nil || doc.IsNull() {
		return err
	}
	piece := newOut(kinds)
	begin := func() {
		for _, v := range piece.Cols {
			v.Init(v.Kind, vec.MaxRows)
		}
		piece.N = 0
	}
	flush := func() error {
		if err := interrupted(ctx); err != nil {
			return err
		}
		j.rows.add(piece.Cols, identity[:piece.N])
		begin()
		return j.acct.to(j.rows.size)
	}
	begin()
	err = j.node.Spec.Rows(j.ec, doc.Bytes(), func(row []value.Datum) error {
		for i, d := range row {
			piece.Cols[i].SetDatum(piece.N, d)
		}
		if piece.N++; piece.N < vec.MaxRows {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

func (j *jsonTableOp) Close() error {
	j.rows, j.at = rowStore{}, 0
	j.acct.close()
	return nil
}
