package value

import (
	"encoding/base64"
	"math"
	"strconv"
)

// AppendJSONText appends the text of a document as MySQL writes it: ", " and
// ": " between the parts, keys in their stored order.
func AppendJSONText(dst, doc []byte) []byte {
	w := jsonWriter{}
	return w.append(dst, doc, 0)
}

// AppendJSONTextUntil is AppendJSONText with its work counted, in units of about a
// nanosecond: an error of work ends it.
func AppendJSONTextUntil(dst, doc []byte, work func(n int) error) ([]byte, error) {
	w := jsonWriter{work: work, next: len(dst) + jsonWorkStep}
	dst = w.append(dst, doc, 0)
	return dst, w.err
}

// AppendJSONUnquoted is AppendJSONText with scalars out of their quotes: plain
// strings, times and binary strings.
func AppendJSONUnquoted(dst, doc []byte) []byte {
	dst, _ = AppendJSONUnquotedUntil(dst, doc, nil)
	return dst
}

// AppendJSONUnquotedUntil is AppendJSONUnquoted with its work counted, as
// AppendJSONTextUntil does.
func AppendJSONUnquotedUntil(dst, doc []byte, work func(n int) error) ([]byte, error) {
	if s, ok := JSONText(doc); ok {
		return append(dst, s...), nil
	}
	text, err := AppendJSONTextUntil(dst, doc, work)
	if scalar := text[len(dst):]; len(scalar) > 1 && scalar[0] == '"' { // there are no escapes in it
		return append(dst, scalar[1:len(scalar)-1]...), err
	}
	return text, err
}

// jsonWriter writes the text of a document until work fails.
type jsonWriter struct {
	work func(n int) error
	next int // the length of the text at which work is called
	err  error
}

// worked calls work where so much was written, and reports whether to go on.
func (w *jsonWriter) worked(dst []byte) bool {
	if w.work == nil || len(dst) < w.next {
		return true
	}
	if w.err == nil {
		w.err = w.work(4 * (len(dst) + jsonWorkStep - w.next))
	}
	w.next = len(dst) + jsonWorkStep
	return w.err == nil
}

// quoted is AppendJSONQuoted.
func (w *jsonWriter) quoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	for len(s) > jsonWorkStep {
		if !w.worked(dst) {
			return dst
		}
		dst = appendEscaped(dst, s[:jsonWorkStep])
		s = s[jsonWorkStep:]
	}
	return append(appendEscaped(dst, s), '"')
}

func (w *jsonWriter) append(dst, doc []byte, depth int) []byte {
	if depth > guardDepth {
		return append(dst, "null"...)
	}
	d := jsonDoc(doc)
	switch jsonTag(doc) {
	case jsonFalse:
		return append(dst, "false"...)
	case jsonTrue:
		return append(dst, "true"...)
	case jsonInt:
		return strconv.AppendInt(dst, int64(d.word()), 10)
	case jsonUint:
		return strconv.AppendUint(dst, d.word(), 10)
	case jsonDouble:
		return appendJSONDouble(dst, math.Float64frombits(d.word()))
	case jsonDecimal:
		return d.decimal().AppendText(dst)
	case jsonString:
		return w.quoted(dst, doc[1:])
	case jsonDate:
		return append(Time(d.word()).safeText(append(dst, '"'), 0, true), '"')
	case jsonDatetime:
		return append(Time(d.word()).safeText(append(dst, '"'), 6, false), '"')
	case jsonTime:
		return append(Duration(d.word()).AppendText(append(dst, '"'), 6), '"')
	case jsonOpaque:
		dst = strconv.AppendUint(append(dst, `"base64:type`...), uint64(doc[1]), 10)
		dst = append(dst, ':')
		return append(base64.StdEncoding.AppendEncode(dst, doc[2:]), '"')
	case jsonArray:
		dst = append(dst, '[')
		n, _ := headOf(doc)
		for i := range n {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			if !w.worked(dst) {
				return dst
			}
			dst = w.append(dst, JSONElem(doc, i), depth+1)
		}
		return append(dst, ']')
	case jsonObject:
		dst = append(dst, '{')
		n, _ := headOf(doc)
		for i := range n {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			if !w.worked(dst) {
				return dst
			}
			dst = append(w.quoted(dst, JSONKey(doc, i)), ": "...)
			dst = w.append(dst, JSONElem(doc, i), depth+1)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// safeText is AppendText for words that may be no time.
func (t Time) safeText(dst []byte, fsp int, dateOnly bool) []byte {
	if t>>46 >= 10000*13 {
		t = ZeroTime
	}
	return t.AppendText(dst, fsp, dateOnly)
}

// appendJSONDouble keeps a double distinguishable from an integer: 1.0.
func appendJSONDouble(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...) // in no document that was made here
	}
	n := len(dst)
	abs := math.Abs(f)
	if f != 0 && (abs < 1e-15 || abs >= 1e15) {
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		return trimExponent(dst, n)
	}
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[n:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// trimExponent turns 1e+20 and 1e-07 after n into 1e20 and 1e-7.
func trimExponent(dst []byte, n int) []byte {
	e := n
	for dst[e] != 'e' {
		e++
	}
	out := dst[:e+1]
	rest := dst[e+1:]
	if rest[0] == '-' {
		out = append(out, '-')
	}
	rest = rest[1:]
	for len(rest) > 1 && rest[0] == '0' {
		rest = rest[1:]
	}
	return append(out, rest...)
}

// AppendJSONQuoted appends s as a JSON string with its quotes.
func AppendJSONQuoted(dst, s []byte) []byte {
	return append(appendEscaped(append(dst, '"'), s), '"')
}

func appendEscaped(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, s[start:]...)
}
