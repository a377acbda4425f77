package types

import (
	"bytes"
	"iter"
	"math"
	"strconv"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

func (s *storer) bit(d value.Datum, from schema.Type) (value.Datum, error) {
	width := min(max(s.col.Type.Len, 1), 64)
	limit := uint64(math.MaxUint64) >> (64 - width)
	var n uint64
	over := false
	if d.Kind() == value.KindBytes || isListType(from) {
		b, _ := ToText(s.env, d, from)
		for len(b) > 0 && b[0] == 0 {
			b = b[1:]
		}
		over = len(b) > 8
		for _, c := range b {
			n = n<<8 | uint64(c)
		}
	} else {
		w, err := s.toWide(d, from, "integer")
		if err != nil {
			return value.Null, err
		}
		if n = w.mag; w.neg {
			n = -n // as its two's complement
		}
	}
	if over || n > limit {
		if s.strict() {
			return value.Null, sqlerr.DataTooLong(s.col.Name, s.row)
		}
		return value.Uint(limit), s.outOfRange()
	}
	return value.Uint(n), nil
}

func (s *storer) year(d value.Datum, from schema.Type) (value.Datum, error) {
	if d.Kind() == value.KindTime {
		d = value.Int(int64(d.Time().Year()))
		return s.yearNumber(wideOf(d.Int()), false)
	}
	w, err := s.toWide(d, from, "integer")
	if err != nil {
		return value.Null, err
	}
	// The string '0' is 2000, '0000' and the number 0 are the year 0.
	short := false
	if d.Kind() == value.KindBytes {
		text := numericText(d.Bytes(), from)
		_, n, _ := floatPrefix(text)
		short = n > 0 && len(bytes.TrimSpace(text)) != 4
	}
	return s.yearNumber(w, short)
}

func (s *storer) yearNumber(w wideInt, shortText bool) (value.Datum, error) {
	n := w.mag
	switch {
	case w.neg, n >= 100 && n <= 1900, n > 2155:
		return value.Uint(0), s.outOfRange()
	case n == 0 && !shortText:
	case n < 70:
		n += 2000
	case n < 100:
		n += 1900
	}
	return value.Uint(n), nil
}

func (s *storer) enum(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	count := uint64(len(t.Elems))
	if d.Kind() == value.KindUint && from.ID == schema.TypeEnum && sameElems(from, t) {
		return d, nil
	}
	if d.Kind() != value.KindBytes && !isListType(from) && d.Kind() != value.KindJSON {
		w, err := s.toWide(d, from, "integer")
		if err == nil && (w.neg || w.mag == 0 || w.mag > count) {
			w.mag, err = 0, s.truncated()
		}
		return value.Uint(w.mag), err
	}
	text, err := s.listText(d, from)
	if err != nil {
		return value.Null, err
	}
	if i := findElem(t, text); i > 0 {
		return value.Uint(uint64(i)), nil
	}
	text = asciiOf(t, text)
	if len(text) > 0 && len(text) < 6 && isDigits(text) {
		if n, err := strconv.ParseUint(string(text), 10, 32); err == nil && n <= count {
			return value.Uint(n), nil
		}
	}
	return value.Uint(0), s.truncated()
}

// IsMember reports whether d, as text, is a member of an ENUM, or a list of
// members of a SET; numbers of members are not.
func IsMember(env *Env, d value.Datum, from, t schema.Type) bool {
	s := storer{env: env, col: &schema.Column{Type: t}}
	text, err := s.listText(d, from)
	if err != nil || t.ID == schema.TypeEnum {
		return err == nil && findElem(t, text) > 0
	}
	_, all := findElems(t, text)
	return all || len(text) == 0
}

// findElems are the members of a list; all is false when it has others, too.
func findElems(t schema.Type, list []byte) (bits uint64, all bool) {
	all = true
	for part := range splitList(t, list) {
		if i := findElem(t, part); i > 0 {
			bits |= 1 << (i - 1)
		} else {
			all = false
		}
	}
	return bits, all
}

// splitList yields the parts between the commas of a list.
func splitList(t schema.Type, list []byte) iter.Seq[[]byte] {
	c := collate.Must(t.Collation)
	if c.MinLen() == 1 {
		return bytes.SplitSeq(list, []byte{','})
	}
	return func(yield func([]byte) bool) {
		for i := 0; i < len(list); {
			r, n := c.Decode(list[i:])
			if r != ',' {
				i += n
				continue
			}
			if !yield(list[:i]) {
				return
			}
			list, i = list[i+n:], 0
		}
		yield(list)
	}
}

// asciiOf converts text to ASCII bytes, as far as it has them.
func asciiOf(t schema.Type, text []byte) []byte {
	c := collate.Must(t.Collation)
	if c.MinLen() == 1 {
		return text
	}
	out, _ := c.Convert(nil, text, collate.Must(schema.CollationUTF8MB40900AICI))
	return out
}

func isDigits(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// listText is d as a string in the character set of the column.
func (s *storer) listText(d value.Datum, from schema.Type) ([]byte, error) {
	text, err := ToText(s.env, d, from)
	if err != nil {
		return nil, err
	}
	if d.Kind() == value.KindJSON {
		if str, ok := value.JSONText(d.Bytes()); ok {
			text = str
		}
	}
	src := textCollation(from, d)
	if src == schema.CollationNone || src == s.col.Type.Collation {
		return text, nil
	}
	sc, c := collate.Must(src), collate.Must(s.col.Type.Collation)
	if !sc.NeedsConversion(text, c) {
		return text, nil
	}
	out, _ := sc.Convert(nil, text, c)
	return out, nil
}

// findElem is the number of the member that equals name, from 1; 0 for none.
// Trailing spaces do not matter.
func findElem(t schema.Type, name []byte) int {
	c := collate.Must(t.Collation)
	if c.MinLen() == 1 {
		name = bytes.TrimRight(name, " ")
	} else {
		for space := c.ASCII(nil, " "); c.EndsWith(name, space); {
			name = name[:len(name)-len(space)]
		}
	}
	for i, e := range t.Elems {
		if len(e) == len(name) && e == text(name) {
			return i + 1
		}
	}
	for i, e := range t.Elems {
		if c.Compare([]byte(e), name) == 0 {
			return i + 1
		}
	}
	return 0
}

func (s *storer) set(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	all := uint64(math.MaxUint64) >> (64 - min(max(len(t.Elems), 1), 64))
	if d.Kind() == value.KindUint && from.ID == schema.TypeSet && sameElems(from, t) {
		return d, nil
	}
	if d.Kind() != value.KindBytes && !isListType(from) && d.Kind() != value.KindJSON {
		w, err := s.toWide(d, from, "integer")
		if err == nil && (w.neg || w.mag > all) {
			err = s.truncated()
		}
		return value.Uint(w.mag & all), err
	}
	list, err := s.listText(d, from)
	if err != nil || len(list) == 0 {
		return value.Uint(0), err
	}
	bits, found := findElems(t, list)
	if found {
		return value.Uint(bits), nil
	}
	if list = asciiOf(t, list); bits == 0 && isDigits(list) {
		if n, err := strconv.ParseUint(string(list), 10, 64); err == nil && n <= all {
			return value.Uint(n), nil
		}
	}
	return value.Uint(bits), s.truncated()
}

func (s *storer) json(d value.Datum, from schema.Type) (value.Datum, error) {
	switch {
	case d.Kind() == value.KindJSON:
		return d, nil
	case d.Kind() != value.KindBytes:
		doc, err := ToJSON(s.env, d, from)
		return value.JSONOf(doc), err
	case from.IsBinary():
		return value.Null, sqlerr.InvalidJSONCharset("binary")
	}
	doc, err := value.ParseJSONWith(numericText(d.Bytes(), from), s.env.work())
	if err != nil {
		if e, ok := err.(*value.JSONSyntaxError); ok {
			return value.Null, sqlerr.InvalidJSON(e.Msg, e.Pos, s.col.Name)
		}
		return value.Null, jsonArgumentError(err, 1, "")
	}
	return value.JSONOf(doc), nil
}
