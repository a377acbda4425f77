package xpath

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is the class of a value.
type kind uint8

const (
	nodes kind = iota
	str
	number
	boolean
)

// Value is what an expression gives.
type Value struct {
	kind kind
	set  []int // in the order of the text
	text string
	num  float64 // also of booleans
	null bool    // 1 div 0
}

// context is where an expression is evaluated.
type context struct {
	doc      *Document
	node     int
	pos, len int
	vars     func(name string) (string, bool)
}

// Eval evaluates e over d; vars gives the value of $@name.
func (e *Expr) Eval(d *Document, vars func(name string) (string, bool)) (v Value, err error) {
	defer ended(&err)
	return e.root.eval(&context{doc: d, vars: vars, pos: 1, len: 1})
}

// Nodes are the nodes of a set; ok is false for other values.
func (v Value) Nodes() (set []int, ok bool) { return v.set, v.kind == nodes }

// Number is a value that is a number or a truth value.
func (v Value) Number() (f float64, ok bool) {
	return v.num, v.kind == number || v.kind == boolean
}

// IsNull reports a value that is none, such as 1 div 0.
func (v Value) IsNull() bool { return v.null }

// Text is the value as text; that of nodes is their own texts, joined by
// spaces.
func (v Value) Text(d *Document) (text string, err error) {
	defer ended(&err)
	return v.textIn(d), nil
}

func (v Value) textIn(d *Document) string {
	switch v.kind {
	case nodes:
		return d.textOf(v.set)
	case str:
		return v.text
	}
	return strconv.FormatFloat(v.num, 'f', -1, 64)
}

func (v Value) float(d *Document) float64 {
	if f, ok := v.Number(); ok {
		return f
	}
	return leadingNumber(v.textIn(d))
}

// leadingNumber is the number that a text begins with, 0 if it does with none.
func leadingNumber(s string) float64 {
	s = strings.TrimLeft(s, " \t\r\n")
	for end := min(len(s), 64); end > 0; end-- {
		if f, err := strconv.ParseFloat(s[:end], 64); err == nil && !strings.ContainsAny(s[:end], "xXnNpP_") {
			return f
		}
	}
	return 0
}

func (v Value) truth() bool {
	switch v.kind {
	case nodes:
		return len(v.set) > 0
	case str:
		return v.text != ""
	}
	return v.num != 0
}

func boolOf(b bool) Value {
	v := Value{kind: boolean}
	if b {
		v.num = 1
	}
	return v
}

type (
	literal  struct{ v Value }
	variable string
	rootExpr struct{}
	selfExpr struct{}
)

func (l literal) eval(*context) (Value, error) { return l.v, nil }

func (n variable) eval(x *context) (Value, error) {
	text, ok := x.vars(string(n))
	return Value{kind: str, text: text, null: !ok}, nil
}

func (rootExpr) eval(*context) (Value, error)   { return Value{set: []int{0}}, nil }
func (selfExpr) eval(x *context) (Value, error) { return Value{set: []int{x.node}}, nil }

// step is a step of a location path. The axis filter only has predicates.
type step struct {
	axis, name string
	preds      []expr
}

// filter is a path: steps from what base gives.
type filter struct {
	base  expr
	steps []step
}

func (f *filter) eval(x *context) (Value, error) {
	v, err := f.base.eval(x)
	if err != nil || len(f.steps) == 0 {
		return v, err
	}
	if v.kind != nodes {
		return v, nil
	}
	set := v.set
	for i := range f.steps {
		if set, err = f.steps[i].apply(x, set); err != nil {
			return Value{}, err
		}
	}
	return Value{set: set}, nil
}

func (s *step) apply(x *context, from []int) ([]int, error) {
	if s.axis == "filter" {
		return s.keep(x, from)
	}
	found := map[int]bool{}
	end := 0 // of what was walked
	for _, n := range from {
		if s.descends() && len(s.preds) == 0 {
			if n < end && x.doc.nodes[n].kind != kindAttribute {
				continue // with the node around it
			}
			end = max(end, x.doc.nodes[n].next)
		}
		set, err := s.keep(x, s.walk(x.doc, n))
		if err != nil {
			return nil, err
		}
		for _, m := range set {
			found[m] = true
		}
	}
	out := make([]int, 0, len(found))
	for n := range found {
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}

// keep applies the predicates: what is no condition and no nodes is a position.
func (s *step) keep(x *context, set []int) ([]int, error) {
	for _, p := range s.preds {
		var kept []int
		for i, n := range set {
			x.doc.did(1)
			v, err := p.eval(&context{doc: x.doc, node: n, pos: i + 1, len: len(set), vars: x.vars})
			if err != nil {
				return nil, err
			}
			holds := v.truth()
			if v.kind == number || v.kind == str {
				holds = math.RoundToEven(v.float(x.doc)) == float64(i+1)
			}
			if holds {
				kept = append(kept, n)
			}
		}
		set = kept
	}
	return set, nil
}

// descends reports an axis of all that is below.
func (s *step) descends() bool { return s.axis == "descendant" || s.axis == "descendant-or-self" }

// walk gives the nodes on the axis of n that pass the test of names, in the
// order of the text.
func (s *step) walk(d *Document, n int) []int {
	var out []int
	add := func(m int) {
		d.did(1)
		k := d.nodes[m].kind
		switch {
		case s.axis == "attribute":
			if k != kindAttribute {
				return
			}
		case s.name != "" && k != kindElement, k == kindText, k == kindAttribute && m != n:
			return
		}
		if s.name == "" || s.name == "*" || s.name == d.nodes[m].name {
			out = append(out, m)
		}
	}
	switch s.axis {
	case "self":
		add(n)
	case "parent":
		if p := d.nodes[n].parent; p >= 0 {
			add(p)
		}
	case "ancestor", "ancestor-or-self":
		if s.axis == "ancestor" {
			n = d.nodes[n].parent
		}
		for ; n >= 0; n = d.nodes[n].parent {
			add(n)
		}
		slices.Reverse(out)
	case "child", "attribute":
		for m := n + 1; m < d.nodes[n].next; m = d.nodes[m].next {
			add(m)
		}
	case "descendant", "descendant-or-self":
		if s.axis == "descendant-or-self" {
			add(n)
		}
		for m := n + 1; m < d.nodes[n].next; m++ {
			add(m)
		}
	}
	return out
}

// binary is an operator; at is the text from it on, for messages.
type binary struct {
	op          string
	left, right expr
	at          string
}

func (b *binary) eval(x *context) (Value, error) {
	l, err := b.left.eval(x)
	if err != nil {
		return l, err
	}
	switch {
	case b.op == "or" && l.truth():
		return boolOf(true), nil
	case b.op == "and" && !l.truth():
		return boolOf(false), nil
	}
	r, err := b.right.eval(x)
	if err != nil {
		return r, err
	}
	switch b.op {
	case "or", "and":
		return boolOf(r.truth()), nil
	case "|":
		set := append(slices.Clone(l.set), r.set...)
		slices.Sort(set)
		return Value{set: slices.Compact(set)}, nil
	case "=", "!=", "<", "<=", ">", ">=":
		return b.compare(x.doc, l, r)
	}
	v := Value{kind: number, null: l.null || r.null}
	p, q := l.float(x.doc), r.float(x.doc)
	switch b.op {
	case "+":
		v.num = p + q
	case "-":
		v.num = p - q
	case "*":
		v.num = p * q
	case "div":
		v.num, v.null = p/q, v.null || q == 0
	case "mod":
		v.num, v.null = math.Mod(p, q), v.null || q == 0
	}
	return v, nil
}

// CompareError is a comparison of two sets of nodes, with the text from it on.
type CompareError struct{ Rest string }

// Error implements error.
func (e *CompareError) Error() string {
	return "XPATH error: comparison of two nodesets is not supported: '" + e.Rest + "'"
}

// compare of nodes with a scalar holds when it does for the text of one node.
func (b *binary) compare(d *Document, l, r Value) (Value, error) {
	if l.kind == nodes && r.kind == nodes {
		return l, &CompareError{b.at}
	}
	op := b.op
	if r.kind == nodes {
		l, r = r, l
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
		if op == "" {
			op = b.op
		}
	}
	if l.kind != nodes {
		return boolOf(holds(d, op, l, r)), nil
	}
	for _, n := range l.set {
		for m := n; m < d.nodes[n].next; m++ {
			d.did(1)
			x := &d.nodes[m]
			if (x.kind == kindAttribute && m == n || x.kind == kindText && x.parent == n) && holds(d, op, Value{kind: str, text: x.value}, r) {
				return boolOf(true), nil
			}
		}
	}
	return boolOf(false), nil
}

func holds(d *Document, op string, l, r Value) bool {
	c := 0
	if l.kind == str && r.kind == str {
		c = strings.Compare(strings.TrimRight(l.text, " "), strings.TrimRight(r.text, " "))
	} else {
		p, q := l.float(d), r.float(d)
		switch {
		case p < q:
			c = -1
		case p > q:
			c = 1
		}
	}
	switch op {
	case "=":
		return c == 0
	case "!=":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// functions are the functions with the numbers of arguments they take.
var functions = map[string][2]int{"last": {0, 1}, "position": {0, 0}, "count": {1, 1}, "sum": {1, 1}, "concat": {2, 255}, "contains": {2, 2},
	"substring": {2, 3}, "string-length": {0, 1}, "boolean": {1, 1}, "not": {1, 1}, "true": {0, 0}, "false": {0, 0}, "number": {0, 1},
	"round": {1, 1}, "floor": {1, 1}, "ceiling": {1, 1}}

type call struct {
	name string
	args []expr
}

func (c *call) eval(x *context) (Value, error) {
	args := make([]Value, len(c.args))
	for i, a := range c.args {
		v, err := a.eval(x)
		if err != nil {
			return v, err
		}
		args[i] = v
	}
	num := func(f float64) (Value, error) { return Value{kind: number, num: f}, nil }
	switch c.name {
	case "last":
		if len(args) == 1 {
			return num(float64(len(args[0].set)))
		}
		return num(float64(x.len))
	case "position":
		return num(float64(x.pos))
	case "count":
		return num(float64(len(args[0].set)))
	case "sum":
		total := 0.0
		for _, n := range args[0].set {
			total += leadingNumber(x.doc.textOf([]int{n}))
		}
		return num(total)
	case "true":
		return boolOf(true), nil
	case "false":
		return boolOf(false), nil
	case "not":
		return boolOf(!args[0].truth()), nil
	case "boolean":
		return boolOf(args[0].truth()), nil
	}
	if len(args) == 0 { // of the context
		args = []Value{{set: []int{x.node}}}
	}
	switch c.name {
	case "number":
		return num(args[0].float(x.doc))
	case "round":
		return num(math.RoundToEven(args[0].float(x.doc)))
	case "floor":
		return num(math.Floor(args[0].float(x.doc)))
	case "ceiling":
		return num(math.Ceil(args[0].float(x.doc)))
	}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.textIn(x.doc)
	}
	switch c.name {
	case "concat":
		return Value{kind: str, text: strings.Join(texts, "")}, nil
	case "contains":
		return boolOf(strings.Contains(texts[0], texts[1])), nil
	case "string-length":
		return num(float64(len([]rune(texts[0]))))
	}
	from, n := int(args[1].float(x.doc)), math.MaxInt32
	if len(args) == 3 {
		n = int(args[2].float(x.doc))
	}
	return Value{kind: str, text: substring([]rune(texts[0]), from, n)}, nil
}

// substring is n characters from the one at from, counted from 1.
func substring(s []rune, from, n int) string {
	if from < 1 || from > len(s) || n <= 0 {
		return ""
	}
	s = s[from-1:]
	return string(s[:min(n, len(s))])
}
