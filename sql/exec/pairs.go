package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// candidates gives the stored rows that may match a probe row.
type candidates interface {
	// first is the first candidate of the r-th live row of the probe batch,
	// next the one after row; none at the end.
	first(r int) uint32
	next(row uint32) uint32
}

// pairs makes the output of all joins: it walks the candidates of each row of
// a probe batch, checks the join filter over a batch of pairs at a time, and
// keeps, extends with NULLs or drops rows as the kind of join wants. The order
// of the probe rows is kept.
type pairs struct {
	ec     *expr.Ctx
	kind   physical.JoinKind
	filter []expr.Expr
	size   int
	store  *rowStore
	// storeFirst: the stored columns come first in filter and output (inner
	// joins that build the left input).
	storeFirst bool

	probe *vec.Batch
	rows  []uint16 // live rows of probe
	cand  candidates
	r     int    // the probe row that is worked on, by its number in rows
	cur   uint32 // its next candidate
	begun bool   // cur is valid
	// matched: a candidate of row r has passed in an earlier piece.
	matched bool

	slotRow  []uint16 // position of the probe row of each pair
	slotCand []uint32 // its stored row, none for a row without candidates
	slotLast []bool   // the last pair of its probe row
	pass     []bool
	sel      []uint16
	all      vec.Batch // probe and stored columns
	out      vec.Batch
	vecs     []*vec.Vec // own vectors of all
}

func newPairs(ec *expr.Ctx, kind physical.JoinKind, filter []expr.Expr, size int, probe []value.Kind, store *rowStore, storeFirst bool) *pairs {
	p := &pairs{ec: ec, kind: kind, filter: filter, size: size, store: store, storeFirst: storeFirst}
	kinds := append(append(make([]value.Kind, 0, len(probe)+len(store.kinds)), probe...), store.kinds...)
	own := newOut(kinds).Cols
	p.vecs = own
	if storeFirst {
		p.all.Cols = append(append(make([]*vec.Vec, 0, len(own)), own[len(probe):]...), own[:len(probe)]...)
	} else {
		p.all.Cols = own
	}
	p.out.Cols = p.all.Cols
	if kind == physical.JoinSemi || kind == physical.JoinAnti {
		p.out.Cols = own[:len(probe)]
	}
	return p
}

// probeKinds are the kinds of the probe columns.
func (p *pairs) probeKinds() []value.Kind {
	var kinds []value.Kind
	for _, v := range p.vecs[:len(p.vecs)-len(p.store.kinds)] {
		kinds = append(kinds, v.Kind)
	}
	return kinds
}

// start begins with a probe batch.
func (p *pairs) start(probe *vec.Batch, cand candidates) {
	p.probe, p.rows, p.cand = probe, liveRows(probe), cand
	p.r, p.begun, p.matched = 0, false, false
}

// next is the next output batch of the probe batch, nil when it is done.
func (p *pairs) next(ctx context.Context) (*vec.Batch, error) {
	for p.probe != nil && p.r < len(p.rows) {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		matchedBefore := p.collect()
		if len(p.slotRow) == 0 {
			continue
		}
		if err := p.check(); err != nil {
			return nil, err
		}
		p.choose(matchedBefore)
		if len(p.sel) > 0 {
			return p.result(), nil
		}
	}
	p.probe = nil
	return nil, nil
}

// collect fills the slots with the next pairs. It returns whether the first
// slot's row matched in an earlier piece.
func (p *pairs) collect() (matchedBefore bool) {
	p.slotRow, p.slotCand, p.slotLast = p.slotRow[:0], p.slotCand[:0], p.slotLast[:0]
	matchedBefore = p.matched
	once := len(p.filter) == 0 && (p.kind == physical.JoinSemi || p.kind == physical.JoinAnti)
	for p.r < len(p.rows) && len(p.slotRow) < p.size {
		if !p.begun {
			p.begun, p.matched, p.cur = true, false, p.cand.first(p.r)
			if len(p.slotRow) == 0 {
				matchedBefore = false
			}
			if p.cur == none {
				if p.kind == physical.JoinLeft || p.kind == physical.JoinAnti {
					p.slot(none, true)
				}
				p.r, p.begun = p.r+1, false
				continue
			}
		}
		row := p.cur
		p.cur = p.cand.next(row)
		// Semi and anti joins need no second match.
		if once || p.matched && (p.kind == physical.JoinSemi || p.kind == physical.JoinAnti) {
			p.cur = none
		}
		p.slot(row, p.cur == none)
		if p.cur == none {
			p.r, p.begun = p.r+1, false
		}
	}
	return matchedBefore
}

func (p *pairs) slot(cand uint32, last bool) {
	p.slotRow = append(p.slotRow, p.rows[p.r])
	p.slotCand = append(p.slotCand, cand)
	p.slotLast = append(p.slotLast, last)
}

// check finds which pairs pass the filter.
func (p *pairs) check() error {
	p.pass = p.pass[:0]
	needStored := len(p.filter) > 0 || p.kind == physical.JoinInner || p.kind == physical.JoinLeft
	p.gather(needStored)
	if len(p.filter) == 0 {
		for _, c := range p.slotCand {
			p.pass = append(p.pass, c != none)
		}
		return nil
	}
	p.sel = p.sel[:0]
	for s, c := range p.slotCand {
		p.pass = append(p.pass, false)
		if c != none {
			p.sel = append(p.sel, uint16(s))
		}
	}
	p.all.SetSel(p.sel)
	if err := filterBatch(p.ec, p.filter, &p.all); err != nil {
		return err
	}
	for _, s := range p.all.Sel {
		p.pass[s] = true
	}
	return nil
}

// gather makes the columns of the pairs.
func (p *pairs) gather(stored bool) {
	n := len(p.slotRow)
	p.all.N, p.all.HasSel, p.all.Sel = n, false, nil
	nprobe := len(p.vecs) - len(p.store.kinds)
	for c, v := range p.vecs[:nprobe] {
		v.Init(v.Kind, n)
		v.CopyRows(0, p.probe.Cols[c], p.slotRow, false, false)
	}
	if !stored {
		return
	}
	missing := false
	for _, c := range p.slotCand {
		missing = missing || c == none
	}
	for c, v := range p.vecs[nprobe:] {
		v.Init(v.Kind, n)
		if !missing {
			p.store.gather(c, p.slotCand, v)
			continue
		}
		for s, cand := range p.slotCand {
			if cand == none {
				v.Nulls.Set(s)
				continue
			}
			v.CopyRow(s, p.store.chunks[cand>>chunkBits].Cols[c], int(cand&chunkMask))
		}
	}
}

// choose makes the selection of the pairs that are output.
func (p *pairs) choose(matched bool) {
	p.sel = p.sel[:0]
	for s, pass := range p.pass {
		keep := false
		switch p.kind {
		case physical.JoinInner:
			keep = pass
		case physical.JoinLeft:
			if keep = pass; !pass && !matched && p.slotLast[s] {
				keep = true
				p.extend(s)
			}
		case physical.JoinSemi:
			keep = pass && !matched
		case physical.JoinAnti:
			keep = p.slotLast[s] && !pass && !matched
		}
		if keep {
			p.sel = append(p.sel, uint16(s))
		}
		matched = matched || pass
		if p.slotLast[s] {
			matched = false
		}
	}
	p.matched = matched
}

// extend makes the stored columns of a pair NULL.
func (p *pairs) extend(s int) {
	for _, v := range p.vecs[len(p.vecs)-len(p.store.kinds):] {
		v.Nulls.Set(s)
	}
}

func (p *pairs) result() *vec.Batch {
	p.out.N = len(p.slotRow)
	if len(p.sel) == p.out.N {
		p.out.HasSel, p.out.Sel = false, nil
	} else {
		p.out.SetSel(p.sel)
	}
	return &p.out
}

// chain lists stored rows by key: heads are the first rows by key id, links
// lead to the next row of the same key.
type chain struct {
	ids   []uint32 // key ids of the probe rows
	heads []uint32
	links []uint32
}

func (c *chain) first(r int) uint32 {
	if id := c.ids[r]; id != none {
		return c.heads[id]
	}
	return none
}

func (c *chain) next(row uint32) uint32 {
	if c.links == nil {
		return none
	}
	return c.links[row]
}

// link makes heads and links of the key ids of stored rows, so that rows of a
// key are found in the order in which they were stored.
func (c *chain) link(ids []uint32, keys int) {
	c.heads = make([]uint32, keys)
	for i := range c.heads {
		c.heads[i] = none
	}
	c.links = nil
	if len(ids) != keys {
		c.links = make([]uint32, len(ids))
	}
	for row := len(ids) - 1; row >= 0; row-- {
		id := ids[row]
		if id == none {
			continue
		}
		if c.links != nil {
			c.links[row] = c.heads[id]
		}
		c.heads[id] = uint32(row)
	}
}
