package value

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// legKind is the kind of a step of a path.
type legKind uint8

const (
	legMember    legKind = iota // .key
	legAnyMember                // .*
	legCell                     // [n], [last], [last-n]
	legRange                    // [a to b]
	legAnyCell                  // [*]
	legEllipsis                 // **
)

// jsonIndex counts from the start of an array or, with last, back from its
// last element.
type jsonIndex struct {
	n    int
	last bool
}

// at is the position in an array of length n; negative or >= n when outside.
func (x jsonIndex) at(n int) int {
	if x.last {
		return n - 1 - x.n
	}
	return x.n
}

type jsonLeg struct {
	kind     legKind
	key      []byte
	from, to jsonIndex
}

// matchesScalar reports that the leg selects a value that is no array as if it
// were an array of one.
func (l *jsonLeg) matchesScalar() bool {
	switch l.kind {
	case legCell:
		return l.from.at(1) == 0
	case legRange:
		return l.from.at(1) <= 0 && l.to.at(1) >= 0
	}
	return false
}

// JSONPath is a compiled path expression, immutable.
type JSONPath struct{ legs []jsonLeg }

// JSONPathError is a path that does not parse, with the character position,
// counted from 1, of MySQL's error 3143.
type JSONPathError struct{ Pos int }

// Error implements error.
func (e *JSONPathError) Error() string {
	return "invalid JSON path expression around character position " + strconv.Itoa(e.Pos)
}

// CompileJSONPath reads a path such as $.a[0]."b c", $[last-1], $[1 to 3],
// $.*, $[*] or $**.x. The error is a *JSONPathError.
func CompileJSONPath(path string) (*JSONPath, error) {
	p := pathParser{s: path}
	p.space()
	if !p.take("$") {
		return nil, p.err()
	}
	out := &JSONPath{}
	for {
		p.space()
		if p.i == len(p.s) {
			break
		}
		leg, ok := p.leg()
		if !ok {
			return nil, p.err()
		}
		if out.legs = append(out.legs, leg); len(out.legs) > 10*MaxJSONDepth {
			return nil, p.err() // the rest is not read
		}
	}
	if n := len(out.legs); n > 0 && out.legs[n-1].kind == legEllipsis || n > MaxJSONDepth {
		return nil, p.err()
	}
	return out, nil
}

type pathParser struct {
	s string
	i int
}

func (p *pathParser) err() error { return &JSONPathError{Pos: utf8.RuneCountInString(p.s[:p.i]) + 1} }

func (p *pathParser) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

func (p *pathParser) take(tok string) bool {
	if strings.HasPrefix(p.s[p.i:], tok) {
		p.i += len(tok)
		return true
	}
	return false
}

func (p *pathParser) leg() (jsonLeg, bool) {
	switch {
	case p.take("**"):
		if p.i < len(p.s) && p.s[p.i] == '*' {
			return jsonLeg{}, false
		}
		return jsonLeg{kind: legEllipsis}, true
	case p.take("."):
		p.space()
		if p.take("*") {
			return jsonLeg{kind: legAnyMember}, true
		}
		key, ok := p.key()
		return jsonLeg{kind: legMember, key: key}, ok
	case p.take("["):
		return p.cell()
	}
	return jsonLeg{}, false
}

func (p *pathParser) key() ([]byte, bool) {
	if p.i < len(p.s) && p.s[p.i] == '"' {
		jp := jsonParser{s: []byte(p.s), i: p.i}
		key, err := jp.string([]byte{})
		if err != nil {
			return nil, false
		}
		p.i = jp.i
		return key, true
	}
	start := p.i
	for p.i < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		letter := r == '_' || r == '$' || unicode.IsLetter(r)
		if !letter && (p.i == start || !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Mc, r)) {
			break
		}
		p.i += n
	}
	return []byte(p.s[start:p.i]), p.i > start
}

func (p *pathParser) cell() (leg jsonLeg, ok bool) {
	p.space()
	if p.take("*") {
		leg.kind, ok = legAnyCell, true
	} else if leg.from, ok = p.index(); ok {
		leg.kind = legCell
		before := p.i
		p.space()
		if p.i > before && p.take("to") {
			start := p.i
			p.space()
			if leg.to, ok = p.index(); p.i == start {
				ok = false
			}
			leg.kind = legRange
			if f, t := leg.from, leg.to; f.last == t.last && (f.last && f.n < t.n || !f.last && f.n > t.n) {
				return leg, false
			}
		}
	}
	p.space()
	return leg, ok && p.take("]")
}

func (p *pathParser) index() (x jsonIndex, ok bool) {
	if p.take("last") {
		x.last = true
		save := p.i
		p.space()
		if !p.take("-") {
			p.i = save
			return x, true
		}
		p.space()
	}
	start := p.i
	for p.i < len(p.s) && isDigit(p.s[p.i]) {
		p.i++
	}
	n, err := strconv.ParseUint(p.s[start:p.i], 10, 32)
	x.n = int(n)
	return x, err == nil
}

// HasWildcard reports that the path can select more than one value.
func (p *JSONPath) HasWildcard() bool {
	for i := range p.legs {
		if k := p.legs[i].kind; k != legMember && k != legCell {
			return true
		}
	}
	return false
}

// Members are the names of the path's steps, if all of them are names.
func (p *JSONPath) Members() (keys []string, ok bool) {
	for i := range p.legs {
		if p.legs[i].kind != legMember {
			return nil, false
		}
		keys = append(keys, string(p.legs[i].key))
	}
	return keys, true
}

// IsRoot reports the path $.
func (p *JSONPath) IsRoot() bool { return len(p.legs) == 0 }

// EndsInCell reports that the last step is [n].
func (p *JSONPath) EndsInCell() bool {
	return len(p.legs) > 0 && p.legs[len(p.legs)-1].kind == legCell
}

// Lookup is the first value that the path selects, as a part of doc.
func (p *JSONPath) Lookup(doc []byte) ([]byte, bool) {
	if p.HasWildcard() {
		if all := p.Extract(nil, doc); len(all) > 0 {
			return all[0], true
		}
		return nil, false
	}
	for i := range p.legs {
		var ok bool
		if doc, ok = p.legs[i].step(doc); !ok {
			return nil, false
		}
	}
	return doc, true
}

// step follows a member or cell leg.
func (l *jsonLeg) step(doc []byte) ([]byte, bool) {
	if l.kind == legMember {
		return JSONMember(doc, l.key)
	}
	if jsonTag(doc) != jsonArray {
		return doc, l.matchesScalar()
	}
	n := JSONLen(doc)
	i := l.from.at(n)
	if i < 0 || i >= n {
		return nil, false
	}
	return JSONElem(doc, i), true
}

// Extract appends all values that the path selects, in the order of the
// document, each once, as parts of doc.
func (p *JSONPath) Extract(dst [][]byte, doc []byte) [][]byte {
	return p.ExtractUntil(dst, doc, nil)
}

// ExtractUntil is Extract that ends early, with a part of the values, when stop
// reports true. It calls stop, unless it is nil, now and then with the number of
// values that it has visited since the last call.
func (p *JSONPath) ExtractUntil(dst [][]byte, doc []byte, stop func(visited int) bool) [][]byte {
	e := extraction{out: dst, start: len(dst), stop: stop}
	for i := range p.legs {
		e.dups = e.dups || p.legs[i].kind == legEllipsis
	}
	e.walk(doc, p.legs, 0)
	return e.out
}

type extraction struct {
	out   [][]byte
	start int
	dups  bool // the same value may be met twice
	seen  map[*byte]bool
	// from are the values from which ** legs have been followed, with the number of
	// legs left. Without it, several ** would visit a value once for each way to it.
	from map[visit]bool

	stop    func(visited int) bool
	visited int
	stopped bool
}

type visit struct {
	at   *byte
	legs int
}

// visitStep is the number of values between two calls of stop.
const visitStep = 1 << 12

func (e *extraction) add(doc []byte) {
	if e.dups && len(doc) > 0 {
		// Values are distinguished by where they are in the document.
		if e.seen == nil {
			e.seen = map[*byte]bool{}
		}
		if e.seen[&doc[0]] {
			return
		}
		e.seen[&doc[0]] = true
	}
	e.out = append(e.out, doc)
}

func (e *extraction) walk(doc []byte, legs []jsonLeg, depth int) {
	if len(legs) == 0 {
		e.add(doc)
		return
	}
	if depth > guardDepth || e.stopped {
		return
	}
	if e.visited++; e.visited == visitStep && e.stop != nil {
		e.stopped, e.visited = e.stop(e.visited), 0
	}
	leg, rest := &legs[0], legs[1:]
	isArray, isObject := jsonTag(doc) == jsonArray, jsonTag(doc) == jsonObject
	switch leg.kind {
	case legMember, legCell:
		if v, ok := leg.step(doc); ok {
			e.walk(v, rest, depth+1)
		}
	case legAnyMember:
		if isObject {
			e.elems(doc, 0, JSONLen(doc)-1, rest, depth)
		}
	case legAnyCell:
		if isArray {
			e.elems(doc, 0, JSONLen(doc)-1, rest, depth)
		}
	case legRange:
		if isArray {
			n := JSONLen(doc)
			e.elems(doc, max(leg.from.at(n), 0), min(leg.to.at(n), n-1), rest, depth)
		} else if leg.matchesScalar() {
			e.walk(doc, rest, depth+1)
		}
	case legEllipsis:
		if e.visitedBefore(doc, len(legs)) {
			return
		}
		e.walk(doc, rest, depth+1)
		if isArray || isObject {
			e.elems(doc, 0, JSONLen(doc)-1, legs, depth)
		}
	}
}

// visitedBefore notes that a ** leg is followed from doc, with legs left.
func (e *extraction) visitedBefore(doc []byte, legs int) bool {
	if len(doc) == 0 {
		return false
	}
	v := visit{&doc[0], legs}
	if e.from[v] {
		return true
	}
	if e.from == nil {
		e.from = map[visit]bool{}
	}
	e.from[v] = true
	return false
}

func (e *extraction) elems(doc []byte, from, to int, legs []jsonLeg, depth int) {
	for i := from; i <= to; i++ {
		e.walk(JSONElem(doc, i), legs, depth+1)
	}
}

// Join is the path that goes on from what p selects.
func (p *JSONPath) Join(q *JSONPath) *JSONPath {
	return &JSONPath{legs: append(p.legs[:len(p.legs):len(p.legs)], q.legs...)}
}

// Same reports whether two paths have the same steps.
func (p *JSONPath) Same(q *JSONPath) bool {
	return slices.EqualFunc(p.legs, q.legs, func(a, b jsonLeg) bool {
		return a.kind == b.kind && bytes.Equal(a.key, b.key) && a.from == b.from && a.to == b.to
	})
}

// Whole is the path without a [*] at its end: the array of the elements.
func (p *JSONPath) Whole() *JSONPath {
	if n := len(p.legs); n > 0 && p.legs[n-1].kind == legAnyCell {
		return &JSONPath{legs: p.legs[:n-1]}
	}
	return p
}

// Elements is Whole that takes [0 to last], for which a single value is an array of
// one, as [*].
func (p *JSONPath) Elements() *JSONPath {
	if n := len(p.legs); n > 0 {
		if l := &p.legs[n-1]; l.kind == legRange && l.from == (jsonIndex{}) && l.to == (jsonIndex{last: true}) {
			return &JSONPath{legs: p.legs[:n-1]}
		}
	}
	return p.Whole()
}
