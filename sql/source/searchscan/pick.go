package searchscan

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/vec"
)

// picks leave out documents by the values of columns, before others are read.
type picks struct {
	list []columnPick
	docs []uint32 // that are looked at
	rows []uint16
}

// columnPick is a pick by a column.
type columnPick struct {
	col  *searchColumn
	pick *exec.Pick
	v    *vec.Vec
	// Of so many documents these were left.
	tried, left int
}

// A pick that leaves more than mostLeft in 8 of triedDocs documents costs more than it
// spares. A batch of what picks leave has at least fullBatch documents.
const (
	mostLeft  = 6
	triedDocs = 16 << 10
	fullBatch = vec.MaxRows / 2
)

// Pick implements exec.Picker.
func (o *searchOp) Pick(col int, p *exec.Pick) {
	if col >= len(o.cols) || o.group != nil || o.order != nil || o.scores != nil || len(o.filter) > 0 {
		return
	}
	c := &o.cols[col]
	if c.absent || c.inKey || !c.Word || c.Geo || vec.ClassOf(c.Kind) != vec.ClassWord {
		return
	}
	o.picks.list = append(o.picks.list, columnPick{col: c, pick: p, v: vec.New(c.Kind)})
}

// picked makes a batch of the documents from o.from on that the picks leave. It is nil
// where they leave none up to the end of the hits, or do not pay any more.
func (o *searchOp) picked(ctx context.Context, h *query.Hits) (*vec.Batch, error) {
	p, most := &o.picks, o.batchDocs()
	o.docs = o.docs[:0]
	for end := uint32(len(h.Set)) << 6; o.from < end && len(o.docs) < min(most, fullBatch) && len(p.list) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := p.next(h, &o.from); err != nil {
			return nil, err
		}
		o.docs = append(o.docs, p.docs...)
		p.list = slices.DeleteFunc(p.list, func(c columnPick) bool { return c.tried >= triedDocs && c.left*8 > c.tried*mostLeft })
	}
	if len(o.docs) == 0 {
		return nil, nil
	}
	if len(o.docs) > most {
		o.docs, o.from = o.docs[:most], o.docs[most]
	}
	return o.decodeFit(h)
}

// next sets docs to those that are left of the next documents of h.
func (p *picks) next(h *query.Hits, from *uint32) error {
	if n := h.Run(*from, fullBatch); n >= leastRun {
		first := &p.list[0]
		first.v.Init(first.col.Kind, n)
		if err := first.col.readRun(h.Seg, int(*from), n, first.v); err != nil {
			return err
		}
		p.rows = first.pick.Take(first.v, n, p.rows[:0])
		p.docs = p.docs[:0]
		for _, r := range p.rows {
			p.docs = append(p.docs, *from+uint32(r))
		}
		*from += uint32(n)
		first.tried, first.left = first.tried+n, first.left+len(p.docs)
		return p.leave(h.Seg, p.list[1:])
	}
	p.docs, *from = h.Docs(*from, fullBatch, p.docs[:0])
	return p.leave(h.Seg, p.list)
}

// leave leaves those of docs that some picks take.
func (p *picks) leave(s *seg.Segment, list []columnPick) error {
	for i := range list {
		if len(p.docs) == 0 {
			return nil
		}
		c := &list[i]
		c.v.Init(c.col.Kind, len(p.docs))
		if err := c.col.read(s, p.docs, c.v); err != nil {
			return err
		}
		p.rows = c.pick.Take(c.v, len(p.docs), p.rows[:0])
		c.tried, c.left = c.tried+len(p.docs), c.left+len(p.rows)
		for n, r := range p.rows {
			p.docs[n] = p.docs[r]
		}
		p.docs = p.docs[:len(p.rows)]
	}
	return nil
}

var _ exec.Picker = (*searchOp)(nil)
