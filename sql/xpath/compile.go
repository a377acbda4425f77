package xpath

import (
	"strconv"
	"strings"
)

// SyntaxError is the rest of a path from where it is not understood on.
type SyntaxError struct{ Rest string }

// Error implements error.
func (e *SyntaxError) Error() string { return "XPATH syntax error: '" + e.Rest + "'" }

// Expr is a compiled expression.
type Expr struct{ root expr }

// expr is a node of the expression tree.
type expr interface {
	eval(x *context) (Value, error)
}

const (
	// maxDepth bounds the nesting of expressions.
	maxDepth = 200
	// maxOperators bounds the operators of an expression: each may be an operand of the
	// next one, so that they are evaluated within one another.
	maxOperators = 10_000
)

// Compile reads an expression. Variables ($@name) are looked up when it runs. The
// error is a *SyntaxError.
func Compile(text string) (*Expr, error) {
	p := &pathParser{s: text}
	e, ok := p.or()
	p.space()
	if !ok || p.i < len(p.s) {
		rest := p.s[min(max(p.i, 0), len(p.s)):]
		if len(rest) > 32 {
			rest = rest[:32]
		}
		return nil, &SyntaxError{rest}
	}
	return &Expr{e}, nil
}

type pathParser struct {
	s     string
	i     int
	depth int

	operators int
}

func (p *pathParser) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

func (p *pathParser) take(tok string) bool {
	p.space()
	if strings.HasPrefix(p.s[p.i:], tok) {
		p.i += len(tok)
		return true
	}
	return false
}

// word takes an operator that is a name.
func (p *pathParser) word(w string) bool {
	p.space()
	if !strings.HasPrefix(p.s[p.i:], w) || p.i+len(w) < len(p.s) && isNameByte(p.s[p.i+len(w)]) {
		return false
	}
	p.i += len(w)
	return true
}

// chain reads operands joined by operators of one precedence.
func (p *pathParser) chain(operand func() (expr, bool), operator func() string) (expr, bool) {
	if p.depth++; p.depth > maxDepth {
		return nil, false
	}
	defer func() { p.depth-- }()
	left, ok := operand()
	for ok {
		op := operator()
		if op == "" {
			break
		}
		at := p.i
		var right expr
		if p.operators++; p.operators > maxOperators {
			return nil, false
		}
		if right, ok = operand(); ok {
			left = &binary{op, left, right, p.s[max(at-len(op), 0):]}
		}
	}
	return left, ok
}

func (p *pathParser) or() (expr, bool) {
	return p.chain(p.and, func() string { return pick(p.word("or"), "or") })
}

func (p *pathParser) and() (expr, bool) {
	return p.chain(p.compare, func() string { return pick(p.word("and"), "and") })
}

func pick(ok bool, op string) string {
	if ok {
		return op
	}
	return ""
}

func (p *pathParser) compare() (expr, bool) {
	return p.chain(p.sum, func() string { return p.oneOf("!=", "<=", ">=", "=", "<", ">") })
}

func (p *pathParser) sum() (expr, bool) {
	return p.chain(p.product, func() string { return p.oneOf("+", "-") })
}

func (p *pathParser) product() (expr, bool) {
	return p.chain(p.unary, func() string {
		switch {
		case p.take("*"):
			return "*"
		case p.word("div"):
			return "div"
		case p.word("mod"):
			return "mod"
		}
		return ""
	})
}

func (p *pathParser) oneOf(ops ...string) string {
	for _, op := range ops {
		if p.take(op) {
			return op
		}
	}
	return ""
}

func (p *pathParser) unary() (expr, bool) {
	if p.take("-") {
		if p.depth++; p.depth > maxDepth {
			return nil, false
		}
		e, ok := p.unary()
		p.depth--
		return &binary{op: "-", left: literal{Value{kind: number}}, right: e}, ok
	}
	return p.chain(p.path, func() string {
		p.space()
		if strings.HasPrefix(p.s[p.i:], "||") {
			return ""
		}
		return pick(p.take("|"), "|")
	})
}

// path is a location path, or a primary expression followed by steps.
func (p *pathParser) path() (expr, bool) {
	p.space()
	if e, known, ok := p.primary(); known {
		if !ok {
			return nil, false
		}
		return p.steps(&filter{base: e}, false)
	}
	f := &filter{}
	switch {
	case p.take("//"):
		f.base = rootExpr{}
		f.steps = append(f.steps, step{axis: "descendant-or-self"})
	case p.take("/"):
		f.base = rootExpr{}
		p.space()
		if p.i == len(p.s) || !isNameByte(p.s[p.i]) && !strings.ContainsRune("*@.", rune(p.s[p.i])) {
			return f, true
		}
	default:
		f.base = selfExpr{}
	}
	return p.steps(f, true)
}

// steps reads predicates and steps; with must, a step has to come first.
func (p *pathParser) steps(f *filter, must bool) (expr, bool) {
	for {
		if must {
			s, ok := p.step()
			if !ok {
				return nil, false
			}
			f.steps = append(f.steps, s)
		} else if preds, ok := p.predicates(); !ok {
			return nil, false
		} else if len(preds) > 0 {
			f.steps = append(f.steps, step{axis: "filter", preds: preds})
		}
		switch {
		case p.take("//"):
			f.steps = append(f.steps, step{axis: "descendant-or-self"})
		case p.take("/"):
		default:
			return f, true
		}
		must = true
	}
}

func (p *pathParser) predicates() (list []expr, ok bool) {
	for p.take("[") {
		e, ok := p.or()
		if !ok || !p.take("]") {
			return nil, false
		}
		list = append(list, e)
	}
	return list, true
}

var axes = map[string]bool{"child": true, "descendant": true, "descendant-or-self": true, "parent": true, "ancestor": true,
	"ancestor-or-self": true, "self": true, "attribute": true}

func (p *pathParser) step() (s step, ok bool) {
	p.space()
	switch {
	case p.take(".."):
		s.axis = "parent"
	case p.take("."):
		s.axis = "self"
	default:
		s.axis = "child"
		if p.take("@") {
			s.axis = "attribute"
		}
		if s.name, ok = p.nodeTest(&s); !ok {
			return s, false
		}
	}
	s.preds, ok = p.predicates()
	return s, ok
}

// nodeTest is a name, * or text(), maybe after an axis.
func (p *pathParser) nodeTest(s *step) (string, bool) {
	if p.take("*") {
		return "*", true
	}
	p.space()
	start := p.i
	for p.i < len(p.s) && isNameByte(p.s[p.i]) && !strings.HasPrefix(p.s[p.i:], "::") {
		p.i++
	}
	name := p.s[start:p.i]
	if name == "" {
		return "", false
	}
	if strings.HasPrefix(p.s[p.i:], "::") && axes[name] && s.axis == "child" {
		p.i += 2
		s.axis = name
		if p.take("*") {
			return "*", true
		}
		p.space()
		start = p.i
		p.i += len((&xmlParser{s: p.s, i: p.i}).name())
		return p.s[start:p.i], p.i > start
	}
	if strings.HasPrefix(p.s[p.i:], "(") {
		switch after := strings.TrimLeft(p.s[p.i+1:], " \t\r\n"); {
		case (name == "text" || name == "node") && strings.HasPrefix(after, ")"):
			p.i = len(p.s) - len(after) + 1
			s.axis = "self" // texts stand for their elements
			return "", true
		}
		return "", false
	}
	return name, true
}

// primary reads an expression that is no path; known is false if none
// comes next.
func (p *pathParser) primary() (e expr, known, ok bool) {
	if p.i >= len(p.s) {
		return nil, false, false
	}
	switch c := p.s[p.i]; {
	case c == '(':
		p.i++
		e, ok := p.or()
		return e, true, ok && p.take(")")
	case c == '"' || c == '\'':
		end := strings.IndexByte(p.s[p.i+1:], c)
		if end < 0 {
			return nil, true, false
		}
		text := p.s[p.i+1 : p.i+1+end]
		p.i += end + 2
		return literal{Value{kind: str, text: text}}, true, true
	case c >= '0' && c <= '9':
		start := p.i
		for p.i < len(p.s) && (p.s[p.i] >= '0' && p.s[p.i] <= '9' || p.s[p.i] == '.') {
			p.i++
		}
		n, err := strconv.ParseFloat(p.s[start:p.i], 64)
		return literal{Value{kind: number, num: n}}, true, err == nil
	case c == '$':
		p.i++
		if !p.take("@") {
			return nil, true, false
		}
		start := p.i
		p.i += len((&xmlParser{s: p.s, i: p.i}).name())
		return variable(p.s[start:p.i]), true, p.i > start
	}
	return p.call()
}

func (p *pathParser) call() (e expr, known, ok bool) {
	start := p.i
	name := (&xmlParser{s: p.s, i: p.i}).name()
	open := p.i + len(name)
	for open < len(p.s) && isSpace(p.s[open]) {
		open++
	}
	limits, isFunc := functions[name]
	if !isFunc || open >= len(p.s) || p.s[open] != '(' {
		return nil, false, false
	}
	p.i = open + 1
	c := &call{name: name}
	for !p.take(")") {
		if len(c.args) > 0 && !p.take(",") {
			return nil, true, false
		}
		a, ok := p.or()
		if !ok {
			return nil, true, false
		}
		c.args = append(c.args, a)
	}
	if len(c.args) < limits[0] || len(c.args) > limits[1] {
		p.i = start
		return nil, true, false
	}
	return c, true, true
}
