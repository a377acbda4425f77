package histcheck

// moments makes the graph of a history in which each read has its place.
type moments struct {
	graph
	// order are the writers to each object, in the order of its states. nil is one from
	// before the history, or an unknown one.
	order   map[int][]*Txn
	commits map[*Txn]int
	spans   []span
}

// check looks for cycles.
func (m *moments) check(txns []*Txn, fail func(txns []*Txn, format string, args ...any)) {
	m.commits = map[*Txn]int{}
	for _, x := range txns {
		if x.Outcome == Aborted {
			continue
		}
		m.commits[x] = m.node(node{txn: x})
		m.spans = append(m.spans, span{m.commits[x], x.Ending, x.Ended, x.Outcome == Unknown})
	}
	for key, writers := range m.order {
		m.linkWriters(key, writers)
	}
	for _, x := range txns {
		m.linkReads(x)
	}
	m.addTime(m.spans)
	m.cycles(fail)
}

func (m *moments) linkWriters(key int, writers []*Txn) {
	var last *Txn
	for _, w := range writers {
		if w == nil || w == last {
			continue
		}
		if last != nil {
			m.link(m.commits[last], edge{m.commits[w], writeWrite, key})
		}
		last = w
	}
}

func (m *moments) linkReads(x *Txn) {
	view := -1
	for i := range x.Reads {
		r := &x.Reads[i]
		var n int
		switch {
		case r.Kind == Locked && x.Outcome == Aborted: // its locks were held until after the read
			n = m.moment(node{txn: x, kind: ofLockedRead}, span{from: r.Asked, before: r.Given})
		case r.Kind == Locked:
			n = m.commits[x]
		case r.Kind == View && view >= 0:
			n = view
		case r.Kind == View:
			view = m.moment(node{txn: x, kind: ofView}, span{from: x.Began, before: r.Given})
			n = view
		default:
			n = m.moment(node{txn: x, kind: ofStatement, read: i}, span{from: r.Asked, before: r.Given})
		}
		for _, p := range r.seen {
			m.linkPlace(n, x, p)
		}
	}
}

// moment adds a node that was at some time within s.
func (m *moments) moment(n node, s span) int {
	s.node = m.graph.node(n)
	m.spans = append(m.spans, s)
	return s.node
}

// linkPlace orders a read after the last write that it saw, and before the next.
func (m *moments) linkPlace(n int, x *Txn, p place) {
	order := m.order[p.key]
	for i := min(p.count, len(order)) - 1; i >= 0; i-- {
		if w := order[i]; w != nil {
			m.link(m.commits[w], edge{n, writeRead, p.key})
			break
		}
	}
	for _, w := range order[min(p.count, len(order)):] {
		if w != nil && w != x {
			m.link(n, edge{m.commits[w], readWrite, p.key})
			return
		}
	}
}

// halved is the writer that wrote both the last state that a read saw and the next one,
// or nil.
func (m *moments) halved(p place) *Txn {
	order := m.order[p.key]
	if p.count == 0 || p.count >= len(order) || order[p.count-1] != order[p.count] {
		return nil
	}
	return order[p.count]
}
