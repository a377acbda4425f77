package query

import (
	"container/heap"
	"math/bits"

	"github.com/sqlots/sqlots/search/seg"
)

// Order is a field by which documents are ordered: NULL before all values, or
// behind them with Desc.
type Order struct {
	Field seg.FieldID
	Desc  bool
}

// First leaves out documents that are not among the first n in an order. Those
// that stay may be more: of each segment, and all that are equal to the last in
// the first field.
func First(hits []Hits, order []Order, n int) error {
	for i := range hits {
		if err := hits[i].first(order[0], n); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hits) first(o Order, n int) error {
	if n >= h.Count {
		return nil
	}
	if n == 0 {
		clear(h.Set)
		h.Count = 0
		return nil
	}
	col, err := open(h.Seg, o.Field)
	if err != nil {
		return err
	}
	nulls := 0
	for i, w := range h.Set {
		nulls += bits.OnesCount64(w & col.nullWord(i))
	}
	keepNulls := !o.Desc
	want := n - nulls
	if o.Desc {
		want = n
		keepNulls = h.Count-nulls < n
	}
	if want <= 0 { // NULL alone
		h.keep(func(i int) uint64 { return col.nullWord(i) })
		return nil
	}
	last, all := h.nth(col, o.Desc, want)
	var docs []uint32
	var vals [1024]int64
	keep := make([]uint64, len(h.Set))
	for i := range keep {
		if keepNulls {
			keep[i] = h.Set[i] & col.nullWord(i)
		}
	}
	for from, end := uint32(0), uint32(len(h.Set)<<6); from < end; {
		docs, from = h.Docs(from, len(vals), docs[:0])
		col.gather(docs, vals[:len(docs)])
		for i, d := range docs {
			if col.nullWord(int(d>>6))&(1<<(d&63)) != 0 {
				continue
			}
			if all || vals[i] == last || (vals[i] < last) != o.Desc {
				keep[d>>6] |= 1 << (d & 63)
			}
		}
	}
	h.keep(func(i int) uint64 { return keep[i] })
	return nil
}

// keep leaves the documents that are in a set.
func (h *Hits) keep(word func(i int) uint64) {
	h.Count = 0
	for i := range h.Set {
		h.Set[i] &= word(i)
		h.Count += bits.OnesCount64(h.Set[i])
	}
}

// nth is the n-th value in order that is not NULL; all: there are not so many.
func (h *Hits) nth(col *column, desc bool, n int) (last int64, all bool) {
	top := &worst{desc: desc}
	var docs []uint32
	var vals [1024]int64
	for from, end := uint32(0), uint32(len(h.Set)<<6); from < end; {
		docs, from = h.Docs(from, len(vals), docs[:0])
		col.gather(docs, vals[:len(docs)])
		for i, d := range docs {
			v := vals[i]
			if len(top.list) == n && (v == top.list[0] || (v < top.list[0]) == desc) || col.nullWord(int(d>>6))&(1<<(d&63)) != 0 {
				continue
			}
			if len(top.list) < n {
				heap.Push(top, v)
			} else {
				top.list[0] = v
				heap.Fix(top, 0)
			}
		}
	}
	if len(top.list) < n {
		return 0, true
	}
	return top.list[0], false
}

// worst is a heap whose first element is the last in order.
type worst struct {
	list []int64
	desc bool
}

func (w *worst) Len() int { return len(w.list) }
func (w *worst) Less(i, j int) bool {
	return w.list[i] != w.list[j] && (w.list[i] > w.list[j]) != w.desc
}
func (w *worst) Swap(i, j int) { w.list[i], w.list[j] = w.list[j], w.list[i] }
func (w *worst) Push(x any)    { w.list = append(w.list, x.(int64)) }
func (w *worst) Pop() any {
	n := len(w.list) - 1
	x := w.list[n]
	w.list = w.list[:n]
	return x
}

// column is a field as numbers that order as its values do.
type column struct {
	words *seg.Words
	keys  *seg.Keys
	nulls []uint64
	all   bool
	ords  []uint32
}

func open(s *seg.Segment, id seg.FieldID) (*column, error) {
	c := &column{}
	if s.FieldKind(id) == seg.KindWord {
		w, err := s.Words(id)
		if err != nil {
			return nil, err
		}
		c.words, c.nulls, c.all = w, w.Nulls(), w.AllNull()
		return c, nil
	}
	k, err := s.Keys(id)
	if err != nil {
		return nil, err
	}
	c.keys, c.nulls, c.all = k, k.Nulls(), k.AllNull()
	return c, nil
}

// nullWord is a word of the set of documents without a value.
func (c *column) nullWord(i int) uint64 {
	switch {
	case c.all:
		return ^uint64(0)
	case c.nulls == nil:
		return 0
	}
	return c.nulls[i]
}

// gather reads the numbers of documents, undefined where they have no value.
func (c *column) gather(docs []uint32, out []int64) {
	if c.words != nil {
		c.words.Gather(docs, out)
		return
	}
	if cap(c.ords) < len(docs) {
		c.ords = make([]uint32, 1024)
	}
	ords := c.ords[:len(docs)]
	c.keys.Gather(docs, ords)
	class, upTo, is := uint32(0), uint32(0), int64(0)
	for i, o := range ords {
		if o == seg.NoOrdinal {
			continue
		}
		if o < class || o >= upTo {
			n := c.keys.ClassOf(o)
			class, upTo = c.keys.ClassOrdinals(n)
			is = int64(n)
		}
		out[i] = is
	}
}
