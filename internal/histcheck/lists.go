package histcheck

import "slices"

// Lists is the history of some lists, perhaps one that ends with a crash.
type Lists struct {
	// Before are the lists at the start, After those at the end.
	Before, After map[int][]Element
	Txns          []*Txn
}

// Check is what no level allows, and what REPEATABLE READ does not. It cuts off
// what a crash took from the lists that were read.
func (h *Lists) Check() []Finding {
	c := &listCheck{h: h, writer: map[Element]*Txn{}, lost: map[Element]bool{}, m: moments{order: map[int][]*Txn{}}}
	c.index()
	if len(c.findings) == 0 {
		c.readsFit()
	}
	if len(c.findings) == 0 {
		c.m.check(h.Txns, c.fail)
	}
	return c.findings
}

type listCheck struct {
	findings
	h      *Lists
	writer map[Element]*Txn
	lost   map[Element]bool // of transactions that the crash took, unanswered
	m      moments
}

// index finds the writer of each element and what became of it.
func (c *listCheck) index() {
	found := map[Element]bool{}
	for key, list := range c.h.After {
		if !hasPrefix(list, c.h.Before[key]) {
			c.fail(nil, "list %d was %v and is %v: committed elements are lost", key, c.h.Before[key], list)
		}
		for _, e := range list {
			if found[e] {
				c.fail(nil, "list %d has %d twice: %v", key, e, list)
			}
			found[e] = true
		}
	}
	for _, list := range c.h.Before {
		for _, e := range list {
			c.writer[e] = nil
		}
	}
	for _, x := range c.h.Txns {
		c.became(x, found)
	}
	for e := range found {
		if _, ok := c.writer[e]; !ok {
			c.fail(nil, "%d was never appended", e)
		}
	}
	for key, list := range c.h.After {
		for _, e := range list {
			c.m.order[key] = append(c.m.order[key], c.writer[e])
		}
	}
}

// became compares what a transaction appended with what is found.
func (c *listCheck) became(x *Txn, found map[Element]bool) {
	kept, all := 0, 0
	for key, list := range x.Appends {
		for _, e := range list {
			c.writer[e] = x
			all++
			if found[e] {
				kept++
			}
		}
		if kept > 0 && !contains(c.h.After[key], list) {
			c.fail(of(x), "%s appended %v to list %d, which is %v", x.Name, list, key, c.h.After[key])
		}
	}
	switch {
	case x.Outcome == Committed && kept < all:
		c.fail(of(x), "%s was acknowledged, but of %v only %d are left", x.Name, x.Appends, kept)
	case x.Outcome == Aborted && kept > 0:
		c.fail(of(x), "%s was rolled back, but of %v there are %d (aborted write)", x.Name, x.Appends, kept)
	case x.Outcome == Unknown && kept > 0 && kept < all:
		c.fail(of(x), "%s was committed in part: of %v there are %d", x.Name, x.Appends, kept)
	case x.Outcome == Unknown && kept == 0:
		for _, list := range x.Appends {
			for _, e := range list {
				c.lost[e] = true
			}
		}
	}
}

func hasPrefix(list, prefix []Element) bool {
	return len(list) >= len(prefix) && slices.Equal(list[:len(prefix)], prefix)
}

// contains reports whether list contains part in one piece.
func contains(list, part []Element) bool {
	if len(part) == 0 {
		return true
	}
	i := slices.Index(list, part[0])
	return i >= 0 && hasPrefix(list[i:], part)
}

// readsFit compares each read alone with the final lists.
func (c *listCheck) readsFit() {
	for _, x := range c.h.Txns {
		for i := range x.Reads {
			r := &x.Reads[i]
			for key, list := range r.Lists {
				r.seen = append(r.seen, place{key, c.readFits(x, r, key, list)})
			}
		}
	}
}

// readFits checks one list of a read and returns how much others had committed of it.
func (c *listCheck) readFits(x *Txn, r *Read, key int, list []Element) int {
	own := r.Own[key]
	if n := len(list) - len(own); n < 0 || !slices.Equal(list[n:], own) {
		c.fail(of(x), "%s appended %v to list %d and then read %v", x.Name, own, key, list)
		return 0
	}
	rest := list[:len(list)-len(own)]
	for i, e := range rest {
		switch w := c.writer[e]; {
		case w == nil && !slices.Contains(c.h.Before[key], e):
			c.fail(of(x), "%s read %d in list %d, which nobody appended", x.Name, e, key)
		case w == nil:
		case w == x:
			c.fail(of(x), "%s read its own %d before it was appended: %v", x.Name, e, list)
		case w.Outcome == Aborted:
			c.fail(of(x, w), "%s read %d of %s, which was rolled back (G1a)", x.Name, e, w.Name)
		case c.lost[e]:
			// A commit is visible a moment before it is on disk. Only a transaction
			// that wrote nothing, or was lost too, may have seen one that never came
			// there.
			if x.Outcome == Committed && len(x.Appends) > 0 {
				c.fail(of(x, w), "%s was acknowledged and had read %d of %s, which is lost", x.Name, e, w.Name)
			}
			return c.prefixFits(x, key, rest[:i])
		}
	}
	return c.prefixFits(x, key, rest)
}

func (c *listCheck) prefixFits(x *Txn, key int, list []Element) int {
	order := c.h.After[key]
	if !hasPrefix(order, list) {
		c.fail(of(x), "%s read list %d as %v, which is no beginning of %v", x.Name, key, list, order)
		return 0
	}
	if !hasPrefix(list, c.h.Before[key]) {
		c.fail(of(x), "%s read list %d as %v, older than the last crash: %v", x.Name, key, list, c.h.Before[key])
		return 0
	}
	if w := c.m.halved(place{key, len(list)}); w != nil {
		c.fail(of(x, w), "%s read list %d between two appends of %s (G1b): %v", x.Name, key, w.Name, list)
	}
	return len(list)
}
