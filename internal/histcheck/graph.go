package histcheck

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// graph is one of dependencies between moments.
type graph struct {
	edges [][]edge
	nodes []node
}

// node is a moment of a transaction, or one of the chain of time, which has none.
type node struct {
	txn  *Txn
	kind nodeKind
	read int // the number of the read, of a statement
}

type nodeKind uint8

const (
	ofCommit nodeKind = iota
	ofView
	ofStatement
	ofLockedRead // of a transaction that was rolled back
)

func (n node) String() string {
	switch n.kind {
	case ofView:
		return fmt.Sprintf("%s (view, %s)", n.txn.Name, n.txn.Level)
	case ofStatement:
		return fmt.Sprintf("%s (statement %d)", n.txn.Name, n.read)
	case ofLockedRead:
		return fmt.Sprintf("%s (locked read)", n.txn.Name)
	}
	return n.txn.Name
}

type edge struct {
	to   int
	kind edgeKind
	key  int
}

type edgeKind uint8

const (
	inTime edgeKind = iota
	writeWrite
	writeRead
	readWrite
)

func (e edge) String() string {
	if e.kind == inTime {
		return "-time->"
	}
	return fmt.Sprintf("-%s %d->", [...]string{writeWrite: "ww", writeRead: "wr", readWrite: "rw"}[e.kind], e.key)
}

func (g *graph) node(n node) int {
	g.edges, g.nodes = append(g.edges, nil), append(g.nodes, n)
	return len(g.nodes) - 1
}

func (g *graph) link(from int, e edge) {
	if from != e.to {
		g.edges[from] = append(g.edges[from], e)
	}
}

// span is when a node's moment may have been.
type span struct {
	node         int
	from, before time.Duration
	open         bool // before is not known
}

// addTime adds edges from every node to those that can only have begun after
// it, by a chain of nodes along the time.
func (g *graph) addTime(spans []span) {
	done := slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return s.open })
	sort.Slice(done, func(i, j int) bool { return done[i].before < done[j].before })
	chain := make([]int, len(done))
	for i, s := range done {
		chain[i] = g.node(node{})
		g.link(s.node, edge{to: chain[i]})
		if i > 0 {
			g.link(chain[i-1], edge{to: chain[i]})
		}
	}
	for _, s := range spans {
		if i := sort.Search(len(done), func(i int) bool { return done[i].before >= s.from }); i > 0 {
			g.link(chain[i-1], edge{to: s.node})
		}
	}
}

// cycles describes a short cycle of each component.
func (g *graph) cycles(fail func(txns []*Txn, format string, args ...any)) {
	for _, members := range g.components() {
		if best := g.shortestOf(members); best != nil {
			text, txns := g.describe(best)
			fail(txns, "a cycle: %s", text)
		}
	}
}

// describe is the text of a path from a node back to it, and the transactions on it.
func (g *graph) describe(path []step) (string, []*Txn) {
	var text strings.Builder
	var txns []*Txn
	for _, s := range path {
		if n := g.nodes[s.from]; n.txn != nil {
			fmt.Fprintf(&text, "%v ", n)
			if !slices.Contains(txns, n.txn) {
				txns = append(txns, n.txn)
			}
		}
		if g.nodes[s.by.to].txn != nil {
			fmt.Fprintf(&text, "%v ", s.by)
		}
	}
	fmt.Fprint(&text, g.nodes[path[0].from])
	return text.String(), txns
}

// manyMembers is the size of a component of which not every node is tried as the
// start of a shortest cycle.
const manyMembers = 200

// shortestOf is a short cycle of a component.
func (g *graph) shortestOf(members []int) (best []step) {
	in := map[int]bool{}
	for _, n := range members {
		in[n] = true
	}
	for _, start := range members {
		if g.nodes[start].txn == nil {
			continue
		}
		if path := g.shortest(start, in); best == nil || path != nil && len(path) < len(best) {
			best = path
		}
		if len(members) > manyMembers {
			break
		}
	}
	return best
}

// step goes from a node along an edge.
type step struct {
	from int
	by   edge
}

// shortest is the shortest way from a node back to it inside of a component.
func (g *graph) shortest(start int, in map[int]bool) []step {
	came := map[int]step{}
	queue := []int{start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range g.edges[n] {
			if e.to == start {
				path := []step{{n, e}}
				for at := n; at != start; at = came[at].from {
					path = append(path, came[at])
				}
				slices.Reverse(path)
				return path
			}
			if _, seen := came[e.to]; !seen && in[e.to] {
				came[e.to] = step{n, e}
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

// components are the strongly connected ones of more than one node.
func (g *graph) components() [][]int {
	n := len(g.edges)
	t := tarjan{g: g, index: make([]int, n), low: make([]int, n), on: make([]bool, n)}
	for root := range n {
		if t.index[root] == 0 {
			t.visit(root)
		}
	}
	return t.out
}

// tarjan is the state of Tarjan's algorithm, with a stack of its own instead of
// recursion.
type tarjan struct {
	g          *graph
	index, low []int
	on         []bool
	stack      []int
	next       int
	out        [][]int
}

type frame struct{ node, edge int }

func (t *tarjan) visit(root int) {
	work := []frame{{root, 0}}
	for len(work) > 0 {
		f := &work[len(work)-1]
		v := f.node
		if f.edge == 0 {
			t.enter(v)
		}
		if f.edge < len(t.g.edges[v]) {
			to := t.g.edges[v][f.edge].to
			f.edge++
			switch {
			case t.index[to] == 0:
				work = append(work, frame{to, 0})
			case t.on[to]:
				t.low[v] = min(t.low[v], t.index[to])
			}
			continue
		}
		t.leave(v)
		work = work[:len(work)-1]
		if len(work) > 0 {
			p := work[len(work)-1].node
			t.low[p] = min(t.low[p], t.low[v])
		}
	}
}

func (t *tarjan) enter(v int) {
	t.next++
	t.index[v], t.low[v] = t.next, t.next
	t.stack, t.on[v] = append(t.stack, v), true
}

// leave takes the component of v off the stack, if v is its root.
func (t *tarjan) leave(v int) {
	if t.low[v] != t.index[v] {
		return
	}
	at := slices.Index(t.stack, v)
	part := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, w := range part {
		t.on[w] = false
	}
	if len(part) > 1 {
		t.out = append(t.out, part)
	}
}
