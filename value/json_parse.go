package value

import (
	"math"
	"math/big"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func bigFromBytes(b []byte) *big.Int { return new(big.Int).SetBytes(b) }

// JSONSyntaxError is text that is not JSON: MySQL's message and the byte
// position.
type JSONSyntaxError struct {
	Msg string
	Pos int
}

// Error implements error.
func (e *JSONSyntaxError) Error() string {
	return "invalid JSON text: " + e.Msg + " at position " + strconv.Itoa(e.Pos)
}

// ParseJSON reads JSON text into the binary form. Errors are *JSONSyntaxError
// and ErrJSONDepth. Numbers with a point or an exponent, and those beyond 64
// bits, are doubles. Of equal keys the last one counts.
func ParseJSON(text []byte) ([]byte, error) {
	p := jsonParser{s: text}
	p.space()
	if p.i == len(p.s) {
		return nil, p.err("The document is empty.")
	}
	doc, err := p.value(1)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i < len(p.s) {
		return nil, p.err("The document root must not be followed by other values.")
	}
	return doc, nil
}

type jsonParser struct {
	s []byte
	i int
}

func (p *jsonParser) err(msg string) error { return &JSONSyntaxError{Msg: msg, Pos: p.i} }

func (p *jsonParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n' || p.s[p.i] == '\r') {
		p.i++
	}
}

// peek is the next byte, 0 at the end.
func (p *jsonParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *jsonParser) value(depth int) ([]byte, error) {
	switch c := p.peek(); {
	case c == '{':
		if depth > MaxJSONDepth {
			return nil, ErrJSONDepth
		}
		return p.object(depth)
	case c == '[':
		if depth > MaxJSONDepth {
			return nil, ErrJSONDepth
		}
		return p.array(depth)
	case c == '"':
		return p.string([]byte{jsonString})
	case c == 't':
		return p.word("true", jsonTrue)
	case c == 'f':
		return p.word("false", jsonFalse)
	case c == 'n':
		return p.word("null", jsonNull)
	case c == '-' || isDigit(c):
		return p.number()
	}
	return nil, p.err("Invalid value.")
}

func (p *jsonParser) word(w string, tag byte) ([]byte, error) {
	for k := range len(w) {
		if p.peek() != w[k] {
			return nil, p.err("Invalid value.")
		}
		p.i++
	}
	return []byte{tag}, nil
}

func (p *jsonParser) array(depth int) ([]byte, error) {
	p.i++
	p.space()
	if p.peek() == ']' {
		p.i++
		return JSONArray(), nil
	}
	var elems [][]byte
	for {
		e, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		elems = append(elems, e)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.space()
		case ']':
			p.i++
			return JSONArray(elems...), nil
		default:
			return nil, p.err("Missing a comma or ']' after an array element.")
		}
	}
}

func (p *jsonParser) object(depth int) ([]byte, error) {
	p.i++
	p.space()
	if p.peek() == '}' {
		p.i++
		return JSONObject(nil, nil), nil
	}
	var keys, vals [][]byte
	for {
		if p.peek() != '"' {
			return nil, p.err("Missing a name for object member.")
		}
		k, err := p.string(nil)
		if err != nil {
			return nil, err
		}
		p.space()
		if p.peek() != ':' {
			return nil, p.err("Missing a colon after a name of object member.")
		}
		p.i++
		p.space()
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		keys, vals = append(keys, k), append(vals, v)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.space()
		case '}':
			p.i++
			return JSONObject(keys, vals), nil
		default:
			return nil, p.err("Missing a comma or '}' after an object member.")
		}
	}
}

// string appends the text of a string to dst.
func (p *jsonParser) string(dst []byte) ([]byte, error) {
	start := p.i
	p.i++
	for p.i < len(p.s) {
		run := p.i
		for p.i < len(p.s) && p.s[p.i] != '"' && p.s[p.i] != '\\' && p.s[p.i] >= ' ' && p.s[p.i] < utf8.RuneSelf {
			p.i++
		}
		dst = append(dst, p.s[run:p.i]...)
		if p.i == len(p.s) {
			break
		}
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return dst, nil
		case c == '\\':
			var err error
			if dst, err = p.escape(dst); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, p.err("Invalid encoding in string.")
		default:
			r, n := utf8.DecodeRune(p.s[p.i:])
			if r == utf8.RuneError && n == 1 {
				return nil, p.err("Invalid encoding in string.")
			}
			dst = append(dst, p.s[p.i:p.i+n]...)
			p.i += n
		}
	}
	p.i = start
	return nil, p.err("Missing a closing quotation mark in string.")
}

func (p *jsonParser) escape(dst []byte) ([]byte, error) {
	at := p.i
	p.i++
	c := p.peek()
	p.i++
	switch c {
	case '"', '\\', '/':
		return append(dst, c), nil
	case 'b':
		return append(dst, '\b'), nil
	case 'f':
		return append(dst, '\f'), nil
	case 'n':
		return append(dst, '\n'), nil
	case 'r':
		return append(dst, '\r'), nil
	case 't':
		return append(dst, '\t'), nil
	case 'u':
		r, ok := p.hex4()
		if !ok {
			p.i = at
			return nil, p.err("Incorrect hex digit after \\u escape in string.")
		}
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if p.peek() == '\\' && p.i+1 < len(p.s) && p.s[p.i+1] == 'u' {
				p.i += 2
				low, _ = p.hex4()
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				p.i = at
				return nil, p.err("The surrogate pair in string is invalid.")
			}
		}
		return utf8.AppendRune(dst, r), nil
	}
	p.i = at
	return nil, p.err("Invalid escape character in string.")
}

func (p *jsonParser) hex4() (rune, bool) {
	if p.i+4 > len(p.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.s[p.i:p.i+4]), 16, 16)
	if err != nil {
		return 0, false
	}
	p.i += 4
	return rune(n), true
}

func (p *jsonParser) digits() int {
	start := p.i
	for isDigit(p.peek()) {
		p.i++
	}
	return p.i - start
}

func (p *jsonParser) number() ([]byte, error) {
	start := p.i
	if p.peek() == '-' {
		p.i++
	}
	if p.peek() == '0' {
		p.i++
	} else if p.digits() == 0 {
		return nil, p.err("Invalid value.")
	}
	whole := true
	if p.peek() == '.' {
		p.i++
		whole = false
		if p.digits() == 0 {
			return nil, p.err("Miss fraction part in number.")
		}
	}
	if p.peek()|0x20 == 'e' {
		p.i++
		whole = false
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if p.digits() == 0 {
			return nil, p.err("Miss exponent in number.")
		}
	}
	text := string(p.s[start:p.i])
	if whole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return JSONInt(n), nil
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return JSONUint(n), nil
		}
	}
	f, _ := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		p.i = start
		return nil, p.err("Number too big to be stored in double.")
	}
	return JSONDouble(f), nil
}
