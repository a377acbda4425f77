package crashtest

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// element is what a transaction appends to a list; each is appended once.
type element int64

// readKind says which state a read of a list has to show.
type readKind uint8

const (
	// readView shows the view of its transaction, one for all such reads of it
	// (plain reads under REPEATABLE READ).
	readView readKind = iota
	// readStatement shows the state at one moment of its statement.
	readStatement
	// readLocked shows the state at the commit of its transaction, because the
	// list stays locked until then.
	readLocked
)

// listRead is the answer of one read: lists by key.
type listRead struct {
	kind         readKind
	lists        map[int][]element
	own          map[int][]element // what the transaction had appended before
	asked, given time.Duration
}

// outcome is how a transaction ended, as its client knows it.
type outcome uint8

const (
	aborted outcome = iota
	committed
	unknown // COMMIT was not answered
)

// listTxn is one transaction of the list workload.
type listTxn struct {
	name    string
	level   string
	outcome outcome
	// began, ending and ended: before its start, before COMMIT, after its answer.
	began, ending, ended time.Duration
	appends              map[int][]element
	reads                []listRead
}

// listHistory is what happened between two crashes.
type listHistory struct {
	// before are the lists at the start, after those that recovery found.
	before, after map[int][]element
	txns          []*listTxn
}

// check returns what no isolation level that the server offers allows, and what
// REPEATABLE READ does not.
//
// Plain reads of transactions are the reads of a view that is apart from the
// moment of their commit, as in InnoDB, so a transaction is up to three kinds of
// nodes in the graph of dependencies: its view, its statements, its commit. Each
// node has a moment at which all it reads and writes was so; every dependency
// leads to a later moment. A cycle of write dependencies is G0, with reads G1c,
// with one anti-dependency G-single (read skew); a cycle through the edges of
// real time is a stale read.
func (h *listHistory) check() []string {
	c := &listCheck{h: h, writer: map[element]*listTxn{}, lost: map[element]bool{}, order: map[int][]element{}}
	c.index()
	if len(c.bad) == 0 {
		c.readsFit()
	}
	if len(c.bad) == 0 {
		c.cycles()
	}
	return c.bad
}

type listCheck struct {
	h      *listHistory
	writer map[element]*listTxn
	lost   map[element]bool // of transactions that the crash took, unanswered
	order  map[int][]element
	bad    []string
}

func (c *listCheck) fail(format string, args ...any) {
	if len(c.bad) < 20 {
		c.bad = append(c.bad, fmt.Sprintf(format, args...))
	}
}

// index finds who wrote what and what became of it.
func (c *listCheck) index() {
	found := map[element]bool{}
	for key, list := range c.h.after {
		if !hasPrefix(list, c.h.before[key]) {
			c.fail("list %d was %v and is %v: committed elements are lost", key, c.h.before[key], list)
		}
		c.order[key] = list
		for _, e := range list {
			if found[e] {
				c.fail("list %d has %d twice: %v", key, e, list)
			}
			found[e] = true
		}
	}
	for _, list := range c.h.before {
		for _, e := range list {
			c.writer[e] = nil
		}
	}
	for _, x := range c.h.txns {
		kept, all := 0, 0
		for key, list := range x.appends {
			for _, e := range list {
				c.writer[e] = x
				all++
				if found[e] {
					kept++
				}
			}
			if kept > 0 && !contains(c.h.after[key], list) {
				c.fail("%s appended %v to list %d, which is %v", x.name, list, key, c.h.after[key])
			}
		}
		switch {
		case x.outcome == committed && kept < all:
			c.fail("%s was acknowledged, but of %v only %d are left", x.name, x.appends, kept)
		case x.outcome == aborted && kept > 0:
			c.fail("%s was rolled back, but of %v there are %d (aborted write)", x.name, x.appends, kept)
		case x.outcome == unknown && kept > 0 && kept < all:
			c.fail("%s was committed in part: of %v there are %d", x.name, x.appends, kept)
		case x.outcome == unknown && kept == 0:
			for _, list := range x.appends {
				for _, e := range list {
					c.lost[e] = true
				}
			}
		}
	}
	for e := range found {
		if _, ok := c.writer[e]; !ok {
			c.fail("%d was never appended", e)
		}
	}
}

func hasPrefix(list, prefix []element) bool {
	return len(list) >= len(prefix) && slices.Equal(list[:len(prefix)], prefix)
}

// contains reports whether part stands in list in one piece.
func contains(list, part []element) bool {
	if len(part) == 0 {
		return true
	}
	i := slices.Index(list, part[0])
	return i >= 0 && hasPrefix(list[i:], part)
}

// readsFit compares each read alone with the final lists, and cuts off what was
// lost in the crash.
func (c *listCheck) readsFit() {
	for _, x := range c.h.txns {
		for i := range x.reads {
			for key, list := range x.reads[i].lists {
				x.reads[i].lists[key] = c.readFits(x, &x.reads[i], key, list)
			}
		}
	}
}

// readFits checks one list of a read and returns what others had committed of it.
func (c *listCheck) readFits(x *listTxn, r *listRead, key int, list []element) []element {
	own := r.own[key]
	if n := len(list) - len(own); n < 0 || !slices.Equal(list[n:], own) {
		c.fail("%s appended %v to list %d and then read %v", x.name, own, key, list)
		return nil
	}
	rest := list[:len(list)-len(own)]
	for i, e := range rest {
		switch w := c.writer[e]; {
		case w == nil && !slices.Contains(c.h.before[key], e):
			c.fail("%s read %d in list %d, which nobody appended", x.name, e, key)
		case w == x:
			c.fail("%s read its own %d before it was appended: %v", x.name, e, list)
		case w != nil && w.outcome == aborted:
			c.fail("%s read %d of %s, which was rolled back (G1a)", x.name, e, w.name)
		case c.lost[e]:
			// A commit is visible a moment before it is on disk. Only who wrote
			// nothing, or was lost too, may have seen one that never came there.
			if x.outcome == committed && len(x.appends) > 0 {
				c.fail("%s was acknowledged and had read %d of %s, which is lost", x.name, e, w.name)
			}
			return c.prefixFits(x, key, rest[:i])
		}
	}
	return c.prefixFits(x, key, rest)
}

func (c *listCheck) prefixFits(x *listTxn, key int, list []element) []element {
	order := c.order[key]
	if !hasPrefix(order, list) {
		c.fail("%s read list %d as %v, which is no beginning of %v", x.name, key, list, order)
		return nil
	}
	if !hasPrefix(list, c.h.before[key]) {
		c.fail("%s read list %d as %v, older than the last crash: %v", x.name, key, list, c.h.before[key])
		return nil
	}
	if len(list) > 0 && len(order) > len(list) {
		if w := c.writer[list[len(list)-1]]; w != nil && c.writer[order[len(list)]] == w {
			c.fail("%s read list %d between two appends of %s (G1b): %v", x.name, key, w.name, list)
		}
	}
	return list
}

// graph is one of dependencies between nodes.
type graph struct {
	edges [][]edge
	names []string
}

type edge struct {
	to   int
	kind string
}

func (g *graph) node(name string) int {
	g.edges, g.names = append(g.edges, nil), append(g.names, name)
	return len(g.names) - 1
}

func (g *graph) link(from, to int, kind string) {
	if from != to {
		g.edges[from] = append(g.edges[from], edge{to, kind})
	}
}

// span is when a node's moment may have been.
type span struct {
	node         int
	from, before time.Duration
	open         bool // before is not known
}

// cycles builds the graph and looks for cycles in it.
func (c *listCheck) cycles() {
	g := &graph{}
	commits := map[*listTxn]int{}
	var spans []span
	for _, x := range c.h.txns {
		if x.outcome == aborted {
			continue
		}
		commits[x] = g.node(x.name)
		spans = append(spans, span{commits[x], x.ending, x.ended, x.outcome == unknown})
	}
	for key, list := range c.order {
		for i := len(c.h.before[key]) + 1; i < len(list); i++ {
			g.link(commits[c.writer[list[i-1]]], commits[c.writer[list[i]]], fmt.Sprintf("ww list %d", key))
		}
	}
	for _, x := range c.h.txns {
		view := -1
		for i := range x.reads {
			r := &x.reads[i]
			var n int
			switch {
			case r.kind == readLocked && x.outcome == aborted:
				// Its locks were held until after the read.
				n = g.node(fmt.Sprintf("%s (locked read)", x.name))
				spans = append(spans, span{n, r.asked, r.given, false})
			case r.kind == readLocked:
				n = commits[x]
			case r.kind == readView && view >= 0:
				n = view
			case r.kind == readView:
				view = g.node(fmt.Sprintf("%s (view, %s)", x.name, x.level))
				n = view
				spans = append(spans, span{n, x.began, r.given, false})
			default:
				n = g.node(fmt.Sprintf("%s (statement %d)", x.name, i))
				spans = append(spans, span{n, r.asked, r.given, false})
			}
			for key, list := range r.lists {
				c.linkRead(g, commits, n, x, key, list)
			}
		}
	}
	g.addTime(spans)
	if cycle := g.cycle(); cycle != "" {
		c.fail("%s", cycle)
	}
}

func (c *listCheck) linkRead(g *graph, commits map[*listTxn]int, n int, x *listTxn, key int, list []element) {
	order := c.order[key]
	if len(list) > 0 {
		if w := c.writer[list[len(list)-1]]; w != nil {
			g.link(commits[w], n, fmt.Sprintf("wr list %d", key))
		}
	}
	for _, e := range order[len(list):] {
		if w := c.writer[e]; w != x {
			g.link(n, commits[w], fmt.Sprintf("rw list %d", key))
			return
		}
	}
}

// addTime adds edges from every node to those that can only have begun after
// it, by a chain of nodes along the time.
func (g *graph) addTime(spans []span) {
	done := slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return s.open })
	sort.Slice(done, func(i, j int) bool { return done[i].before < done[j].before })
	chain := make([]int, len(done))
	for i, s := range done {
		chain[i] = g.node("")
		g.link(s.node, chain[i], "time")
		if i > 0 {
			g.link(chain[i-1], chain[i], "time")
		}
	}
	for _, s := range spans {
		if i := sort.Search(len(done), func(i int) bool { return done[i].before >= s.from }); i > 0 {
			g.link(chain[i-1], s.node, "time")
		}
	}
}

// cycle describes a short cycle, "" if there is none.
func (g *graph) cycle() string {
	for _, members := range g.components() {
		in := map[int]bool{}
		for _, n := range members {
			in[n] = true
		}
		best := []string(nil)
		for _, start := range members {
			if g.names[start] == "" {
				continue
			}
			if path := g.shortest(start, in); best == nil || path != nil && len(path) < len(best) {
				best = path
			}
			if len(members) > 200 {
				break
			}
		}
		return "a cycle: " + strings.Join(best, " ")
	}
	return ""
}

// shortest is the shortest way from a node back to it inside of a component.
func (g *graph) shortest(start int, in map[int]bool) []string {
	type step struct {
		from int
		kind string
	}
	came := map[int]step{}
	queue := []int{start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range g.edges[n] {
			if e.to == start {
				path := []string{"-" + e.kind + "->", g.names[start]}
				for at := n; at != start; at = came[at].from {
					if g.names[at] != "" {
						path = append([]string{"-" + came[at].kind + "->", g.names[at]}, path...)
					}
				}
				return append([]string{g.names[start]}, path...)
			}
			if _, seen := came[e.to]; !seen && in[e.to] {
				came[e.to] = step{n, e.kind}
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

// components are the strongly connected ones of more than one node (Tarjan).
func (g *graph) components() [][]int {
	n := len(g.edges)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	var out [][]int
	next := 0
	type frame struct{ node, edge int }
	for root := range n {
		if index[root] != 0 {
			continue
		}
		work := []frame{{root, 0}}
		for len(work) > 0 {
			f := &work[len(work)-1]
			v := f.node
			if f.edge == 0 {
				next++
				index[v], low[v] = next, next
				stack, on[v] = append(stack, v), true
			}
			if f.edge < len(g.edges[v]) {
				to := g.edges[v][f.edge].to
				f.edge++
				switch {
				case index[to] == 0:
					work = append(work, frame{to, 0})
				case on[to]:
					low[v] = min(low[v], index[to])
				}
				continue
			}
			if low[v] == index[v] {
				var part []int
				for {
					w := stack[len(stack)-1]
					stack, on[w] = stack[:len(stack)-1], false
					part = append(part, w)
					if w == v {
						break
					}
				}
				if len(part) > 1 {
					out = append(out, part)
				}
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				p := work[len(work)-1].node
				low[p] = min(low[p], low[v])
			}
		}
	}
	return out
}
