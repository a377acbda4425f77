package parser

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Rows are the values of an INSERT … VALUES of literals only. It is reused:
// the slices are valid until the next call, and string values may share the
// bytes of the text.
type Rows struct {
	// Prefix is the text up to and with VALUES, blanks and all; it is the key
	// under which a caller may keep what it bound.
	Prefix []byte
	// Width is the number of values in a row, the same in all.
	Width int
	// Vals and Types hold the values row by row. NULL has TypeNull; strings
	// have no collation: it is the connection's.
	Vals  []value.Datum
	Types []schema.Type
	t     Template
}

// Len is the number of rows.
func (r *Rows) Len() int {
	if r.Width == 0 {
		return 0
	}
	return len(r.Vals) / r.Width
}

// Values reads INSERT | REPLACE … VALUES (literal, …), … in one pass. It reports
// false, with dst undefined, when there is anything else: expressions, DEFAULT,
// introducers, rows of different length, ON DUPLICATE KEY UPDATE, comments after
// VALUES, several statements.
func Values(sql []byte, mode types.SQLMode, dst *Rows) bool {
	v := valuesScanner{src: sql, nobs: mode&types.ModeNoBackslashEscapes != 0, ansi: mode&types.ModeANSIQuotes != 0, dst: dst}
	dst.Vals, dst.Types, dst.Width, dst.t.buf = dst.Vals[:0], dst.Types[:0], 0, dst.t.buf[:0]
	if !v.prefix() {
		return false
	}
	for {
		if !v.row() {
			return false
		}
		switch v.peek() {
		case ',':
			v.pos++
		case ';':
			v.pos++
			return v.peek() == 0 && v.pos >= len(v.src)
		case 0:
			return v.pos >= len(v.src)
		default:
			return false
		}
	}
}

type valuesScanner struct {
	src        []byte
	pos        int
	nobs, ansi bool
	dst        *Rows
}

// peek passes blanks and is the next byte, 0 at the end.
func (v *valuesScanner) peek() byte {
	for v.pos < len(v.src) && isSpace(v.src[v.pos]) {
		v.pos++
	}
	if v.pos >= len(v.src) {
		return 0
	}
	return v.src[v.pos]
}

func (v *valuesScanner) word() []byte {
	start := v.pos
	for v.pos < len(v.src) && isWordByte(v.src[v.pos]) {
		v.pos++
	}
	return v.src[start:v.pos]
}

// prefix passes INSERT|REPLACE [LOW_PRIORITY|IGNORE|…] [INTO] name [(names)]
// VALUES.
func (v *valuesScanner) prefix() bool {
	v.peek()
	if w := v.word(); !fold(w, "INSERT") && !fold(w, "REPLACE") {
		return false
	}
	for {
		switch c := v.peek(); {
		case c == '`' || c == '"' && v.ansi:
			end, _, ok := stringEnd(v.src, v.pos, c, true)
			if !ok {
				return false
			}
			v.pos = end
		case c == '.' || c == ',' || c == '(' || c == ')':
			v.pos++
		case isWordByte(c):
			w := v.word()
			if fold(w, "VALUES") || fold(w, "VALUE") {
				v.dst.Prefix = v.src[:v.pos]
				return true
			}
			if fold(w, "SELECT") || fold(w, "SET") || fold(w, "PARTITION") {
				return false
			}
		default:
			return false
		}
	}
}

func (v *valuesScanner) row() bool {
	if v.peek() != '(' {
		return false
	}
	v.pos++
	before := len(v.dst.Vals)
	for {
		if !v.value() {
			return false
		}
		c := v.peek()
		v.pos++
		if c == ')' {
			break
		}
		if c != ',' {
			return false
		}
	}
	n := len(v.dst.Vals) - before
	if before == 0 {
		v.dst.Width = n
	}
	return n == v.dst.Width
}

func (v *valuesScanner) value() bool {
	c := v.peek()
	start := v.pos
	switch {
	case c == '\'' || c == '"' && !v.ansi:
		end, plain, ok := stringEnd(v.src, start, c, v.nobs)
		if !ok {
			return false
		}
		body := v.src[start+1 : end-1]
		if !plain {
			body = v.dst.t.unescape(body, c, v.nobs)
		}
		v.pos = end
		return v.add(value.Bytes(body), templateString)
	case c == '-' || isDigit(c) || c == '.':
		return v.number()
	case isWordByte(c):
		switch w := v.word(); {
		case fold(w, "NULL"):
			return v.add(value.Null, types.Null)
		case fold(w, "TRUE"):
			return v.add(value.Int(1), types.BigInt)
		case fold(w, "FALSE"):
			return v.add(value.Int(0), types.BigInt)
		}
	}
	return false
}

func (v *valuesScanner) add(d value.Datum, t schema.Type) bool {
	v.dst.Vals = append(v.dst.Vals, d)
	v.dst.Types = append(v.dst.Types, t)
	return true
}

func (v *valuesScanner) number() bool {
	start := v.pos
	i := start
	if v.src[i] == '-' {
		i++
	}
	digits := i
	for i < len(v.src) && isDigit(v.src[i]) {
		i++
	}
	integer, float := true, false
	n := i - digits
	if i < len(v.src) && v.src[i] == '.' {
		integer = false
		i++
		for i < len(v.src) && isDigit(v.src[i]) {
			i++
			n++
		}
	}
	if n == 0 {
		return false
	}
	if i < len(v.src) && v.src[i]|0x20 == 'e' {
		integer, float = false, true
		i++
		if i < len(v.src) && (v.src[i] == '+' || v.src[i] == '-') {
			i++
		}
		from := i
		for i < len(v.src) && isDigit(v.src[i]) {
			i++
		}
		if i == from {
			return false
		}
	}
	if i < len(v.src) && isWordByte(v.src[i]) {
		return false
	}
	d, t, ok := numberDatum(v.src[start:i], integer, float)
	if !ok {
		return false
	}
	v.pos = i
	return v.add(d, t)
}
