package xpath

import (
	"fmt"
	"strings"
)

type nodeKind uint8

const (
	kindRoot nodeKind = iota
	kindElement
	kindAttribute
	kindText
)

// node is a node of a document, in the order of the text.
type node struct {
	kind       nodeKind
	parent     int
	name       string // of elements and attributes
	value      string // of attributes and texts
	start, end int    // in the text
	next       int    // the node after this one and all below it
}

// Document is parsed XML.
type Document struct {
	text  string
	nodes []node
	work  func(n int) error
	steps int // that work did not get yet
}

// stopped carries an error of work.
type stopped struct{ err error }

// workOfNode is the work of reading a node, or of looking at it.
const workOfNode = 20

// did counts the work of n nodes. An error of work ends what called it, see ended.
func (d *Document) did(n int) {
	if d.steps += n; d.steps < 1000 || d.work == nil {
		return
	}
	n, d.steps = d.steps, 0
	if err := d.work(n * workOfNode); err != nil {
		panic(stopped{err})
	}
}

// ended makes *err of what work returned. It is deferred by what is exported.
func ended(err *error) {
	switch r := recover().(type) {
	case nil:
	case stopped:
		*err = r.err
	default:
		panic(r)
	}
}

// ParseError says where XML is not well-formed.
type ParseError struct {
	Line, Pos int
	Msg       string
}

// Error implements error.
func (e *ParseError) Error() string {
	return fmt.Sprintf("parse error at line %d pos %d: %s", e.Line, e.Pos, e.Msg)
}

// Parse reads a document or a fragment with any number of roots. work, which may be nil,
// counts what this and later uses of the document do, in units of about a nanosecond.
// Errors: *ParseError, those of work.
func Parse(text string, work func(n int) error) (d *Document, err error) {
	defer ended(&err)
	p := &xmlParser{s: text, d: &Document{text: text, work: work, nodes: []node{{kind: kindRoot, parent: -1, end: len(text)}}}, open: []int{0}}
	for p.i < len(p.s) {
		if err := p.item(); err != nil {
			return nil, err
		}
	}
	if len(p.open) > 1 {
		return nil, p.err("unexpected END-OF-INPUT")
	}
	p.d.nodes[0].next = len(p.d.nodes)
	return p.d, nil
}

type xmlParser struct {
	s    string
	i    int
	d    *Document
	open []int // the elements around
}

func (p *xmlParser) err(format string, args ...any) error {
	before := p.s[:p.i]
	line := strings.Count(before, "\n") + 1
	return &ParseError{line, p.i - strings.LastIndexByte(before, '\n') - 1, fmt.Sprintf(format, args...)}
}

func (p *xmlParser) top() int { return p.open[len(p.open)-1] }

func (p *xmlParser) add(n node) int {
	p.d.did(5)
	n.parent = p.top()
	n.next = len(p.d.nodes) + 1
	p.d.nodes = append(p.d.nodes, n)
	return len(p.d.nodes) - 1
}

// item reads a text, a tag, a comment, a CDATA section or a declaration.
func (p *xmlParser) item() error {
	rest := p.s[p.i:]
	for _, x := range []struct{ open, shut string }{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}} {
		if !strings.HasPrefix(rest, x.open) {
			continue
		}
		end := strings.Index(rest[len(x.open):], x.shut)
		if end < 0 {
			p.i = len(p.s)
			return p.err("unexpected END-OF-INPUT")
		}
		if x.shut == "]]>" {
			p.add(node{kind: kindText, value: rest[len(x.open) : len(x.open)+end], start: p.i, end: p.i + len(x.open) + end + 3})
		}
		p.i += len(x.open) + end + len(x.shut)
		return nil
	}
	switch {
	case strings.HasPrefix(rest, "<!"):
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			p.i = len(p.s)
			return p.err("unexpected END-OF-INPUT")
		}
		p.i += end + 1
		return nil
	case strings.HasPrefix(rest, "</"):
		return p.closeTag()
	case rest[0] == '<':
		return p.openTag()
	}
	end := strings.IndexByte(rest, '<')
	if end < 0 {
		end = len(rest)
	}
	p.add(node{kind: kindText, value: rest[:end], start: p.i, end: p.i + end})
	p.i += end
	return nil
}

func (p *xmlParser) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':' || c >= 0x80
}

func (p *xmlParser) name() string {
	start := p.i
	for p.i < len(p.s) && isNameByte(p.s[p.i]) {
		p.i++
	}
	return p.s[start:p.i]
}

func (p *xmlParser) closeTag() error {
	p.i += 2
	p.space()
	name := p.name()
	p.space()
	if p.i >= len(p.s) {
		return p.err("unexpected END-OF-INPUT")
	}
	if p.s[p.i] != '>' {
		return p.err("'%s' unexpected ('>' wanted)", p.s[p.i:p.i+1])
	}
	p.i++
	top := p.top()
	if top == 0 {
		return p.err("'</%s>' unexpected (END-OF-INPUT wanted)", name)
	}
	if want := p.d.nodes[top].name; name != want {
		return p.err("'</%s>' unexpected ('</%s>' wanted)", name, want)
	}
	p.d.nodes[top].end, p.d.nodes[top].next = p.i, len(p.d.nodes)
	p.open = p.open[:len(p.open)-1]
	return nil
}

func (p *xmlParser) openTag() error {
	start := p.i
	p.i++
	p.space()
	name := p.name()
	if name == "" {
		if p.i >= len(p.s) {
			return p.err("unexpected END-OF-INPUT")
		}
		return p.err("'%s' unexpected (IDENT or '/' wanted)", p.s[p.i:p.i+1])
	}
	p.open = append(p.open, p.add(node{kind: kindElement, name: name, start: start}))
	for {
		p.space()
		switch rest := p.s[p.i:]; {
		case rest == "":
			return p.err("unexpected END-OF-INPUT")
		case rest[0] == '>':
			p.i++
			return nil
		case strings.HasPrefix(rest, "/>"):
			p.i += 2
			p.d.nodes[p.top()].end, p.d.nodes[p.top()].next = p.i, len(p.d.nodes)
			p.open = p.open[:len(p.open)-1]
			return nil
		}
		if err := p.attribute(); err != nil {
			return err
		}
	}
}

func (p *xmlParser) attribute() error {
	start := p.i
	name := p.name()
	if name == "" {
		return p.err("'%s' unexpected ('>' wanted)", p.s[p.i:p.i+1])
	}
	p.space()
	val := ""
	if p.i < len(p.s) && p.s[p.i] == '=' {
		p.i++
		p.space()
		if p.i >= len(p.s) {
			return p.err("unexpected END-OF-INPUT")
		}
		if q := p.s[p.i]; q == '"' || q == '\'' {
			end := strings.IndexByte(p.s[p.i+1:], q)
			if end < 0 {
				p.i = len(p.s)
				return p.err("unexpected END-OF-INPUT")
			}
			val = p.s[p.i+1 : p.i+1+end]
			p.i += end + 2
		} else if val = p.name(); val == "" {
			return p.err("'%s' unexpected (IDENT or STRING wanted)", p.s[p.i:p.i+1])
		}
	}
	p.add(node{kind: kindAttribute, name: name, value: val, start: start, end: p.i})
	return nil
}

// textOf is what EXTRACTVALUE gives for nodes in the order of the text: the
// values of attributes and the texts right within elements, joined by spaces.
func (d *Document) textOf(set []int) string {
	if len(set) == 0 {
		return ""
	}
	in := make(map[int]bool, len(set))
	end := 0
	for _, n := range set {
		in[n] = true
		end = max(end, d.nodes[n].next)
	}
	var parts []string
	for i := set[0]; i < end; i++ {
		d.did(1)
		switch n := &d.nodes[i]; n.kind {
		case kindText:
			if in[n.parent] {
				parts = append(parts, n.value)
			}
		case kindAttribute:
			if in[i] {
				parts = append(parts, n.value)
			}
		}
	}
	return strings.Join(parts, " ")
}

// Replace is the text with the one node of set replaced by to; ok is false when
// there is no such node or more than one.
func (d *Document) Replace(set []int, to string) (text string, ok bool) {
	if len(set) != 1 || set[0] == 0 {
		return d.text, false
	}
	n := &d.nodes[set[0]]
	return d.text[:n.start] + to + d.text[n.end:], true
}
