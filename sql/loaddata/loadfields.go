package loaddata

import (
	"bufio"
	"errors"
	"io"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// maxLine bounds the fields of a line together, in bytes.
const maxLine = 64 << 20

// fieldReader splits a file into lines and fields by MySQL's rules.
type fieldReader struct {
	in                  *bufio.Reader
	term, line, start   []byte
	enclosed, escaped   byte
	hasEnclosed, hasEsc bool
	skip                int
	fields              int // of a line without terminator
	buf                 []byte
	memory              expr.Memory // counts buf where it is long; nil does not
	ends                []int       // end of each field in buf
	nulls               []bool      // NULL fields
	more                int         // fields that nothing takes, and are not kept
	// plain are the bytes that mean themselves in a field, without and with
	// quotes.
	plain [2][256]bool
}

func newFieldReader(in io.Reader, x *logical.LoadData, memory expr.Memory) *fieldReader {
	// buf is never nil: a nil field is NULL.
	r := &fieldReader{memory: memory, buf: []byte{}, in: bufio.NewReaderSize(in, 1<<18), term: []byte(x.FieldsTerminated), line: []byte(x.LinesTerminated), start: []byte(x.LinesStarting), skip: x.IgnoreLines, fields: len(x.Fields)}
	if x.FieldsEnclosed != "" {
		r.enclosed, r.hasEnclosed = x.FieldsEnclosed[0], true
	}
	if x.FieldsEscaped != "" {
		r.escaped, r.hasEsc = x.FieldsEscaped[0], true
	}
	for c := range 256 {
		special := r.hasEsc && byte(c) == r.escaped
		ends := len(r.line) > 0 && r.line[0] == byte(c) || len(r.term) > 0 && r.term[0] == byte(c)
		r.plain[0][c] = !special && !ends
		r.plain[1][c] = !special && !(r.hasEnclosed && byte(c) == r.enclosed)
	}
	return r
}

// field is field i of the current line; nil is NULL.
func (r *fieldReader) field(i int) []byte {
	if r.nulls[i] {
		return nil
	}
	from := 0
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.buf[from:r.ends[i]:r.ends[i]]
}

// next reads a line and returns its number of fields.
func (r *fieldReader) next() (int, error) {
	for r.skip > 0 {
		r.skip--
		if err := r.skipLine(); err != nil {
			return 0, err
		}
	}
	if len(r.start) > 0 {
		if err := r.seekStart(); err != nil {
			return 0, err
		}
	}
	if _, err := r.in.Peek(1); err != nil {
		return 0, err
	}
	r.buf, r.ends, r.nulls, r.more = r.buf[:0], r.ends[:0], r.nulls[:0], 0
	for {
		lineEnd, err := r.readField()
		if err != nil {
			return 0, err
		}
		if lineEnd || len(r.line) == 0 && len(r.ends) == r.fields {
			return len(r.ends) + r.more, nil
		}
	}
}

func (r *fieldReader) skipLine() error {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if r.matches(c, r.line) {
			return nil
		}
	}
}

func (r *fieldReader) seekStart() error {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if r.matches(c, r.start) {
			return nil
		}
	}
}

// matches reports whether c and what follows is the separator, and consumes
// the rest of it then.
func (r *fieldReader) matches(c byte, sep []byte) bool {
	if len(sep) == 0 || c != sep[0] {
		return false
	}
	if len(sep) == 1 {
		return true
	}
	rest, err := r.in.Peek(len(sep) - 1)
	if err != nil || string(rest) != string(sep[1:]) {
		return false
	}
	_, _ = r.in.Discard(len(rest))
	return true
}

// readField reads one field into buf; lineEnd: the line ends with it.
func (r *fieldReader) readField() (lineEnd bool, err error) {
	start := len(r.buf)
	c, err := r.in.ReadByte()
	if errors.Is(err, io.EOF) {
		r.finish(start, false, false)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	quoted := r.hasEnclosed && c == r.enclosed
	null := false
	plain := &r.plain[0]
	if quoted {
		plain = &r.plain[1]
	} else {
		_ = r.in.UnreadByte()
	}
	for {
		if err := r.room(r.in.Buffered() + 1); err != nil {
			return false, err
		}
		r.takePlain(plain)
		if len(r.buf) > maxLine {
			return false, sqlerr.PacketTooLarge()
		}
		c, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) {
			r.finish(start, null && !quoted, quoted)
			return true, nil
		}
		if err != nil {
			return false, err
		}
		switch {
		case r.hasEsc && c == r.escaped && (!r.hasEnclosed || r.escaped != r.enclosed):
			n, err := r.in.ReadByte()
			if errors.Is(err, io.EOF) {
				r.buf = append(r.buf, c)
				continue
			}
			if err != nil {
				return false, err
			}
			if n == 'N' && len(r.buf) == start {
				null = true
			}
			r.buf = append(r.buf, unescape(n))
		case quoted && c == r.enclosed:
			n, err := r.in.Peek(1)
			if err == nil && n[0] == r.enclosed {
				_, _ = r.in.Discard(1)
				r.buf = append(r.buf, c)
				continue
			}
			// The quote closes only before a separator or the end.
			if end, isEnd := r.separator(); isEnd {
				r.finish(start, false, true)
				return end, nil
			}
			r.buf = append(r.buf, c)
		// The end of a line may begin with that of a field.
		case !quoted && r.matches(c, r.line):
			r.finish(start, null, false)
			return true, nil
		case !quoted && r.matches(c, r.term):
			r.finish(start, null, false)
			return false, nil
		default:
			r.buf = append(r.buf, c)
		}
	}
}

// longLine is the length of a line from which on it is counted.
const longLine = 256 << 10

// room makes room for n more bytes of a long line: 3170.
func (r *fieldReader) room(n int) error {
	need := len(r.buf) + n
	if need <= cap(r.buf) || need < longLine || r.memory == nil {
		return nil
	}
	size := max(need, min(2*cap(r.buf), maxLine))
	if err := r.memory.Reserve(int64(size)); err != nil {
		return err
	}
	r.buf = append(make([]byte, 0, size), r.buf...)
	r.memory.Keep(r.buf[:size])
	return nil
}

// takePlain takes the plain bytes that are buffered.
func (r *fieldReader) takePlain(plain *[256]bool) {
	b, _ := r.in.Peek(min(r.in.Buffered(), maxLine)) // never short
	n := 0
	for n < len(b) && plain[b[n]] {
		n++
	}
	r.buf = append(r.buf, b[:n]...)
	_, _ = r.in.Discard(n)
}

// separator consumes a separator, if one is next; lineEnd: it ends the line.
func (r *fieldReader) separator() (lineEnd, found bool) {
	c, err := r.in.ReadByte()
	if err != nil {
		return true, true
	}
	if r.matches(c, r.line) {
		return true, true
	}
	if r.matches(c, r.term) {
		return false, true
	}
	_ = r.in.UnreadByte()
	return false, false
}

func (r *fieldReader) finish(start int, null, quoted bool) {
	text := r.buf[start:]
	if !quoted {
		null = null && len(text) == 1 && text[0] == 'N' || r.hasEnclosed && string(text) == "NULL"
	}
	if len(r.ends) > r.fields {
		r.buf = r.buf[:start]
		r.more++
		return
	}
	r.ends = append(r.ends, len(r.buf))
	r.nulls = append(r.nulls, null)
}

// unescape is the byte that an escape sequence of LOAD DATA stands for.
func unescape(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}
