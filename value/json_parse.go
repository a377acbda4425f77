package value

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
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

// ParseJSON reads JSON text into the binary form. Errors are *JSONSyntaxError,
// ErrJSONDepth and ErrJSONSize. Numbers with a point or an exponent, and those
// beyond 64 bits, are doubles. Of equal keys the last one counts.
func ParseJSON(text []byte) ([]byte, error) { return ParseJSONWith(text, nil) }

// ParseJSONWith is ParseJSON that calls work, if it is not nil, with what it has done
// since, in units of about a nanosecond, and ends with its errors.
func ParseJSONWith(text []byte, work func(n int) error) ([]byte, error) {
	p := jsonParser{s: text, work: work, out: make([]byte, 0, min(2*len(text)+16, 4<<10))}
	if err := p.document(); err != nil {
		return nil, err
	}
	return p.out, nil
}

// ValidateJSON is the error of ParseJSONWith. It takes no memory.
func ValidateJSON(text []byte, work func(n int) error) error {
	p := jsonParser{s: text, work: work, only: true}
	return p.document()
}

// JSONRoom is how many bytes ParseJSON takes at most for a moment, its result
// included.
func JSONRoom(text []byte) int64 {
	elems := 1
	for _, b := range []byte{',', '[', '{'} {
		elems += bytes.Count(text, []byte{b})
	}
	return int64(3*len(text)) + int64(elems)*jsonElemRoom
}

const (
	// jsonElemSize is by how many bytes an element or a member of the binary form may
	// be longer than its text: a member with its two offsets and a number of one digit.
	jsonElemSize = 16
	// jsonElemRoom is what parsing takes for each: its bytes, twice where the keys of
	// an object have to be sorted, and where it ends, in a list that has grown.
	jsonElemRoom = 2*jsonElemSize + 24
	// jsonWorkStep is how many bytes are read between two calls of work.
	jsonWorkStep = 64 << 10
)

// jsonParser reads a document in one pass. Elements and members of the containers that
// are open stand one after the other in out, keys in keys. The end of a container puts
// its head before what is in it.
type jsonParser struct {
	s    []byte
	i    int
	only bool // nothing is written
	out  []byte
	keys []byte
	ends []jsonEnd
	work func(n int) error
	next int // where work is called
}

func (p *jsonParser) document() error {
	p.space()
	if p.i == len(p.s) {
		return p.err("The document is empty.")
	}
	if err := p.value(1); err != nil {
		return err
	}
	p.space()
	if p.i < len(p.s) {
		return p.err("The document root must not be followed by other values.")
	}
	return nil
}

// worked calls work for n bytes that were moved, and for what was read.
func (p *jsonParser) worked(n int) error {
	if p.work == nil {
		return nil
	}
	n = n/8 + 4*(p.i+jsonWorkStep-p.next)
	p.next = p.i + jsonWorkStep
	return p.work(n)
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

func (p *jsonParser) value(depth int) error {
	if p.i >= p.next {
		if err := p.worked(0); err != nil {
			return err
		}
	}
	switch c := p.peek(); {
	case c == '{':
		if depth > MaxJSONDepth {
			return ErrJSONDepth
		}
		return p.object(depth)
	case c == '[':
		if depth > MaxJSONDepth {
			return ErrJSONDepth
		}
		return p.array(depth)
	case c == '"':
		p.put(jsonString)
		var err error
		p.out, err = p.string(p.out)
		return err
	case c == 't':
		return p.word("true", jsonTrue)
	case c == 'f':
		return p.word("false", jsonFalse)
	case c == 'n':
		return p.word("null", jsonNull)
	case c == '-' || isDigit(c):
		return p.number()
	}
	return p.err("Invalid value.")
}

// put writes bytes of the result.
func (p *jsonParser) put(b ...byte) {
	if !p.only {
		p.out = append(p.out, b...)
	}
}

func (p *jsonParser) word(w string, tag byte) error {
	for k := range len(w) {
		if p.peek() != w[k] {
			return p.err("Invalid value.")
		}
		p.i++
	}
	p.put(tag)
	return nil
}

func (p *jsonParser) array(depth int) error {
	from, first := len(p.out), len(p.ends)
	p.i++
	p.space()
	if p.peek() == ']' {
		p.i++
		return p.closeArray(from, first)
	}
	for {
		if err := p.value(depth + 1); err != nil {
			return err
		}
		if err := p.end(); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.space()
		case ']':
			p.i++
			return p.closeArray(from, first)
		default:
			return p.err("Missing a comma or ']' after an array element.")
		}
	}
}

// end notes the end of an element or a member.
func (p *jsonParser) end() error {
	if len(p.keys)+len(p.out) > MaxJSONSize {
		return ErrJSONSize
	}
	if !p.only {
		p.ends = append(p.ends, jsonEnd{uint32(len(p.keys)), uint32(len(p.out))})
	}
	return nil
}

func (p *jsonParser) object(depth int) error {
	from, first, keys := len(p.out), len(p.ends), len(p.keys)
	p.i++
	p.space()
	if p.peek() == '}' {
		p.i++
		return p.closeObject(from, first, keys)
	}
	for {
		if p.peek() != '"' {
			return p.err("Missing a name for object member.")
		}
		var err error
		if p.keys, err = p.string(p.keys); err != nil {
			return err
		}
		p.space()
		if p.peek() != ':' {
			return p.err("Missing a colon after a name of object member.")
		}
		p.i++
		p.space()
		if err := p.value(depth + 1); err != nil {
			return err
		}
		if err := p.end(); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.space()
		case '}':
			p.i++
			return p.closeObject(from, first, keys)
		default:
			return p.err("Missing a comma or '}' after an object member.")
		}
	}
}

// closeArray makes an array of the elements after from, whose ends are those after
// first.
func (p *jsonParser) closeArray(from, first int) error {
	if p.only {
		return nil
	}
	ends := p.ends[first:]
	head := 5 + 4*len(ends)
	if len(p.out)+head > MaxJSONSize {
		return ErrJSONSize
	}
	at := p.insert(from, head)
	at[0] = jsonArray
	binary.LittleEndian.PutUint32(at[1:], uint32(len(ends)))
	for i, e := range ends {
		binary.LittleEndian.PutUint32(at[5+4*i:], e.val-uint32(from)+uint32(head))
	}
	p.ends = p.ends[:first]
	return p.worked(len(p.out) - from)
}

// closeObject makes an object of the members after from, whose ends are those after
// first and whose keys are those after keys.
func (p *jsonParser) closeObject(from, first, keys int) error {
	if p.only {
		return nil
	}
	ends := p.ends[first:]
	if len(p.out)+len(p.keys)+5+8*len(ends) > MaxJSONSize {
		return ErrJSONSize
	}
	key := func(i int) []byte {
		if i == 0 {
			return p.keys[keys:ends[0].key]
		}
		return p.keys[ends[i-1].key:ends[i].key]
	}
	sorted := true
	for i := 1; sorted && i < len(ends); i++ {
		sorted = keyLess(key(i-1), key(i))
	}
	if sorted {
		names := p.keys[keys:]
		head := 5 + 8*len(ends)
		at := p.insert(from, head+len(names))
		at[0] = jsonObject
		binary.LittleEndian.PutUint32(at[1:], uint32(len(ends)))
		for i, e := range ends {
			binary.LittleEndian.PutUint32(at[5+4*i:], e.key-uint32(keys)+uint32(head))
			binary.LittleEndian.PutUint32(at[5+4*(len(ends)+i):], e.val-uint32(from)+uint32(head+len(names)))
		}
		copy(at[head:], names)
	} else {
		m := JSONMembers{keys: p.keys[keys:], docs: bytes.Clone(p.out[from:]), ends: slices.Clone(ends)}
		for i := range m.ends {
			m.ends[i].key -= uint32(keys)
			m.ends[i].val -= uint32(from)
		}
		order, err := m.sorted(p.work)
		if err != nil {
			return err
		}
		p.out = m.appendObject(p.out[:from], order)
	}
	p.ends, p.keys = p.ends[:first], p.keys[:keys]
	return p.worked(len(p.out) - from)
}

// insert makes room for n bytes at from, and returns it.
func (p *jsonParser) insert(from, n int) []byte {
	was := len(p.out)
	p.out = slices.Grow(p.out, n)[:was+n]
	copy(p.out[from+n:], p.out[from:was])
	return p.out[from : from+n]
}

// string appends the text of a string to dst.
func (p *jsonParser) string(dst []byte) ([]byte, error) {
	start := p.i
	p.i++
	for p.i < len(p.s) {
		run := p.i
		end := min(len(p.s), p.i+jsonWorkStep)
		for p.i < end && p.s[p.i] != '"' && p.s[p.i] != '\\' && p.s[p.i] >= ' ' && p.s[p.i] < utf8.RuneSelf {
			p.i++
		}
		if p.only {
			dst = dst[:0]
		} else {
			dst = append(dst, p.s[run:p.i]...)
		}
		if p.i >= p.next {
			if err := p.worked(0); err != nil {
				return nil, err
			}
		}
		if p.i == len(p.s) {
			break
		}
		switch c := p.s[p.i]; {
		case p.i == end: // goes on
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

// maxIntLen is the length of the longest texts of whole numbers of 64 bits.
const maxIntLen = 20

func (p *jsonParser) number() error {
	start := p.i
	if p.peek() == '-' {
		p.i++
	}
	if p.peek() == '0' {
		p.i++
	} else if p.digits() == 0 {
		return p.err("Invalid value.")
	}
	whole := true
	if p.peek() == '.' {
		p.i++
		whole = false
		if p.digits() == 0 {
			return p.err("Miss fraction part in number.")
		}
	}
	if p.peek()|0x20 == 'e' {
		p.i++
		whole = false
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if p.digits() == 0 {
			return p.err("Miss exponent in number.")
		}
	}
	text := p.s[start:p.i]
	if whole && len(text) <= maxIntLen {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return p.word64(jsonInt, uint64(n))
		}
		if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
			return p.word64(jsonUint, n)
		}
	}
	f, _ := ParseFloat(text)
	if math.IsInf(f, 0) {
		p.i = start
		return p.err("Number too big to be stored in double.")
	}
	return p.word64(jsonDouble, math.Float64bits(f))
}

// word64 writes a scalar of 8 bytes.
func (p *jsonParser) word64(tag byte, n uint64) error {
	p.put(tag)
	if !p.only {
		p.out = binary.LittleEndian.AppendUint64(p.out, n)
	}
	return nil
}
