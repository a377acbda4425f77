package histcheck

import "fmt"

// Registers is the history of some registers: rows that count their versions.
type Registers struct {
	// Before are the registers at the start, After those at the end.
	Before, After map[int]Version
	Txns          []*Txn
}

// Check is what no level allows, and what REPEATABLE READ does not.
func (h *Registers) Check() []Finding {
	c := &registerCheck{h: h, writes: map[Element]made{}, order: map[int]map[int64]Element{}, m: moments{order: map[int][]*Txn{}}}
	for key := range h.Before {
		c.order[key] = map[int64]Element{}
	}
	c.index()
	c.readsFit()
	c.endFits()
	if len(c.findings) == 0 {
		c.place()
		c.m.check(h.Txns, c.fail)
	}
	return c.findings
}

type registerCheck struct {
	findings
	h      *Registers
	writes map[Element]made
	// order are the writes to each register by the version that they made, as far
	// as writers or readers know.
	order map[int]map[int64]Element
	m     moments
}

// made is a write and whose it is.
type made struct {
	Write
	by *Txn
}

func (v Version) String() string { return fmt.Sprintf("register %d at %d by %d", v.Key, v.N, v.By) }

// index finds the writer of each version. What a transaction of unknown outcome wrote
// counts from the first read of it on.
func (c *registerCheck) index() {
	for _, x := range c.h.Txns {
		for _, w := range x.Writes {
			c.writes[w.By] = made{w, x}
			if x.Outcome == Committed && !w.Undone && w.N > 0 {
				c.isVersion(x, Version{w.Key, w.N, w.By})
			}
		}
	}
}

// isVersion notes a version that x made or read.
func (c *registerCheck) isVersion(x *Txn, v Version) {
	other, known := c.order[v.Key][v.N]
	if known && other != v.By {
		c.fail(of(x, c.writes[other].by, c.writes[v.By].by), "%s has %v, which was written by %d as well (lost update)", x.Name, v, other)
	}
	c.order[v.Key][v.N] = v.By
}

// readsFit compares each read with what was written.
func (c *registerCheck) readsFit() {
	for _, x := range c.h.Txns {
		for _, r := range x.Reads {
			for _, v := range r.Versions {
				c.readFits(x, v)
			}
		}
	}
}

func (c *registerCheck) readFits(x *Txn, v Version) {
	before, known := c.h.Before[v.Key]
	if v == before {
		return
	}
	w, written := c.writes[v.By]
	switch {
	case !known:
		c.fail(of(x), "%s read %v, which is not there", x.Name, v)
	case v.N <= before.N:
		c.fail(of(x, w.by), "%s read %v, which was at %d long before", x.Name, v, before.N)
	case !written || w.Key != v.Key:
		c.fail(of(x), "%s read %v, which nobody wrote", x.Name, v)
	case w.by == x:
		c.fail(of(x), "%s read %v, its own write, at the wrong time", x.Name, v)
	case w.Undone || w.by.Outcome == Aborted:
		c.fail(of(x, w.by), "%s read %v of %s, which was rolled back (G1a)", x.Name, v, w.by.Name)
	case w.N > 0 && w.N != v.N:
		c.fail(of(x, w.by), "%s read %v of %s, which made version %d", x.Name, v, w.by.Name, w.N)
	default:
		c.isVersion(x, v)
	}
}

// endFits looks whether each register has been written as often as was
// acknowledged.
func (c *registerCheck) endFits() {
	committed, unknown := map[int]int64{}, map[int]int64{}
	for _, w := range c.writes {
		switch {
		case w.Undone:
		case w.by.Outcome == Committed:
			committed[w.Key]++
		case w.by.Outcome == Unknown:
			unknown[w.Key]++
		}
	}
	end := &Txn{Name: "the end"}
	for key, before := range c.h.Before {
		after := c.h.After[key]
		c.readFits(end, after)
		if n := after.N - before.N; n < committed[key] || n > committed[key]+unknown[key] {
			c.fail(nil, "register %d went from %d to %d by %d writes that were acknowledged and %d that were not", key, before.N, after.N, committed[key], unknown[key])
		}
	}
}

// place gives every read its place in the order of the writes.
func (c *registerCheck) place() {
	for key, before := range c.h.Before {
		writers := make([]*Txn, c.h.After[key].N-before.N)
		for n, by := range c.order[key] {
			if i := n - before.N - 1; i < int64(len(writers)) {
				writers[i] = c.writes[by].by
			} else {
				c.fail(of(c.writes[by].by), "register %d was at %d, and ends at %d", key, n, c.h.After[key].N)
			}
		}
		c.m.order[key] = writers
	}
	for _, x := range c.h.Txns {
		for i := range x.Reads {
			c.placeRead(x, &x.Reads[i])
		}
	}
}

func (c *registerCheck) placeRead(x *Txn, r *Read) {
	for _, v := range r.Versions {
		p := place{v.Key, int(v.N - c.h.Before[v.Key].N)}
		if w := c.m.halved(p); w != nil && w != x {
			c.fail(of(x, w), "%s read %v between two writes of %s (G1b)", x.Name, v, w.Name)
		}
		r.seen = append(r.seen, p)
	}
}
