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
}

// Document is parsed XML.
type Document struct {
	text  string
	nodes []node
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

// Parse reads a document or a fragment with any number of roots. The error is
// a *ParseError.
func Parse(text string) (*Document, error) {
	p := &xmlParser{s: text, d: &Document{text: text, nodes: []node{{kind: kindRoot, parent: -1, end: len(text)}}}, open: []int{0}}
	for p.i < len(p.s) {
		if err := p.item(); err != nil {
			return nil, err
		}
	}
	if len(p.open) > 1 {
		return nil, p.err("unexpected END-OF-INPUT")
	}
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
	n.parent = p.top()
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
	p.d.nodes[top].end = p.i
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
			p.d.nodes[p.top()].end = p.i
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
	in := make(map[int]bool, len(set))
	for _, n := range set {
		in[n] = true
	}
	var parts []string
	for i := range d.nodes {
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
