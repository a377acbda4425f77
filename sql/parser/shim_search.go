package parser

import (
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// searchIndexes rewrites
//
//	CREATE SEARCH INDEX s ON t (a, b TEXT ANALYZER 'x' OPTIONS (o = v))
//	SEARCH INDEX s (…) and SEARCH KEY, in CREATE and ALTER TABLE
//
// to an index USING INVERTED, with search_text(b, 'analyzer=x,o=v') for
// fields with an analyzer, search_as(c, 'IP') and search_as(d, 'DATE', 'f')
// for c IP and d DATE FORMAT 'f', search_nested(c, '…') for c NESTED (…).
//
// COLUMNAR KEY to COLUMNAR INDEX, which the parser reads, with (search_all()) for
// the * of COLUMNAR INDEX c (*),
//
// and, in ALTER TABLE,
//
//	ALTER SEARCH INDEX s ADD (a, b TEXT) DROP (c)
//
// to ADD INDEX s over search_alter('ADD'), a, …, search_alter('DROP'), c.
func (h *shim) searchIndexes() error {
	for i := 1; i+1 < len(h.toks); i++ {
		columnar := h.word(i) == "COLUMNAR"
		if w := h.word(i + 1); !columnar && h.word(i) != "SEARCH" || w != "INDEX" && w != "KEY" {
			continue
		}
		if h.word(i-1) == "ALTER" && i > 1 && !columnar {
			if err := h.alterSearch(i); err != nil {
				return err
			}
			continue
		}
		if !(h.word(i-1) == "CREATE" && i == 1 || h.word(i-1) == "ADD" || h.op(i-1, ",") || h.op(i-1, "(")) {
			continue
		}
		at, open := i, i+2
		for open < len(h.toks) && !h.op(open, "(") {
			open++
		}
		end := h.closing(open)
		if end < 0 {
			return nil
		}
		if i = end; columnar {
			h.replace(at+1, at+1, "INDEX")
			if end == open+2 && h.op(open+1, "*") {
				h.replace(open+1, open+1, "(search_all())")
			}
			continue
		}
		h.blank(at, at)
		if err := h.searchFields(open, end); err != nil {
			return err
		}
		h.insertAfter(end, " USING INVERTED")
	}
	return nil
}

// alterSearch rewrites ALTER SEARCH INDEX; at is SEARCH.
func (h *shim) alterSearch(at int) error {
	if !h.isName(at + 2) {
		return nil
	}
	first, last := at+3, 0
	for i := first; ; i = last + 1 {
		w := h.word(i)
		if w != "ADD" && w != "DROP" || !h.op(i+1, "(") {
			break
		}
		end := h.closing(i + 1)
		if end < 0 {
			return nil
		}
		mark := "(search_alter('" + w + "')), "
		if last == 0 {
			h.replace(i, i+1, "("+mark)
		} else {
			h.replace(last, i+1, ", "+mark)
		}
		last = end
		if err := h.searchFields(i+1, end); err != nil {
			return err
		}
	}
	if last == 0 {
		return nil
	}
	h.replace(at-1, at, "ADD")
	h.insertAfter(last, " USING INVERTED")
	return nil
}

// searchFields rewrites the fields between two parentheses.
func (h *shim) searchFields(open, end int) error {
	for from := open + 1; from < end; {
		to := from
		for to < end && !h.op(to, ",") {
			if h.op(to, "(") {
				if to = h.closing(to); to < 0 {
					return nil
				}
			}
			to++
		}
		if err := h.searchField(from, to); err != nil {
			return err
		}
		from = to + 1
	}
	return nil
}

// searchField rewrites a field, the tokens from up to to.
func (h *shim) searchField(from, to int) error {
	if to-from < 2 || !h.isName(from) || h.searchNested(from, to) {
		return nil
	}
	at, isPath := h.fieldType(from, to)
	if isPath {
		name := make([]string, 0, 4)
		for i := at; i < to; i++ {
			name = append(name, h.text(i))
		}
		h.insertBefore(from, "(search_path(")
		h.replace(at, to-1, ", '"+strings.Join(name, " ")+"'))")
		return nil
	}
	switch kind := h.word(at); kind {
	case "KEYWORD":
		if to == at+1 {
			h.blank(at, at)
		}
		return nil
	case "GEO_POINT":
		if to == at+1 {
			h.insertBefore(from, "(search_geo(")
			h.replace(at, at, "))")
		}
		return nil
	case "TEXT":
	case "":
		return nil
	case "IP":
		if to == at+1 {
			h.insertBefore(from, "(search_as(")
			h.replace(at, at, ", 'IP'))")
		}
		return nil
	case "DATE":
		return h.searchDate(from, at, to)
	case "LONG", "JSON", "VECTOR", "ARRAY", "FUZZY_KEYWORD":
		return sqlerr.NotSupported(kind + " field in a search index")
	default:
		return nil
	}
	var options []string
	i := at + 1
	if h.word(i) == "ANALYZER" && i+1 < to {
		options = append(options, "analyzer="+quoteOption(h.optionText(i+1)))
		i += 2
	}
	if h.word(i) == "OPTIONS" && h.op(i+1, "(") {
		for i += 2; i+2 < to && h.isName(i) && h.op(i+1, "="); i += 3 {
			options = append(options, strings.ToLower(h.name(i))+"="+quoteOption(h.optionText(i+2)))
			if h.op(i+3, ",") {
				i++
			}
		}
		if !h.op(i, ")") {
			return nil
		}
		i++
	}
	if i != to {
		return nil
	}
	text := strings.Join(options, ",")
	if h.mode&types.ModeNoBackslashEscapes == 0 {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	h.insertBefore(from, "("+"search_text(")
	h.replace(at, to-1, ", '"+strings.ReplaceAll(text, "'", "''")+"'))")
	return nil
}

// searchDate rewrites c DATE FORMAT 'f' and c DATE FORMAT ('f', …); at is DATE.
func (h *shim) searchDate(from, at, to int) error {
	first, last := at+2, to-1
	if h.word(at+1) != "FORMAT" || first > last {
		return nil
	}
	if h.op(first, "(") && h.op(last, ")") {
		first, last = first+1, last-1
	}
	for i := first; i <= last; i++ {
		if text := (i-first)%2 == 0; text && h.toks[i].kind != tokString || !text && !h.op(i, ",") {
			return nil
		}
	}
	if (last-first)%2 != 0 || first != at+2 && last != to-2 {
		return nil
	}
	h.insertBefore(from, "(search_as(")
	h.replace(at, first-1, ", 'DATE', ")
	if last < to-1 {
		h.blank(to-1, to-1)
	}
	h.insertAfter(to-1, "))")
	return nil
}

// fieldType is where the type of a field begins: doc->'$.a' BIGINT. isPath reports
// one that only parts of JSON columns have.
func (h *shim) fieldType(from, to int) (at int, isPath bool) {
	for i := from + 1; i < to; i++ {
		if h.op(i, "(") {
			if i = h.closing(i); i < 0 {
				break
			}
			continue
		}
		switch h.word(i) {
		case "KEYWORD":
			return i, i > from+1
		case "BIGINT", "DOUBLE", "DECIMAL", "BOOL", "BOOLEAN":
			return i, true
		case "DATE", "DATETIME":
			return i, i > from+1 && h.word(i+1) != "FORMAT"
		case "TEXT", "GEO_POINT", "IP":
			return i, false
		}
	}
	return from + 1, false
}

// optionText is the value of an option: a text, a word or a number.
func (h *shim) optionText(i int) string {
	if i < len(h.toks) && h.toks[i].kind == tokString {
		return Unquote(h.text(i), h.mode&types.ModeNoBackslashEscapes != 0)
	}
	return h.text(i)
}

// quoteOption is the value of an option as search_text reads it.
func quoteOption(s string) string {
	if s != "" && s == strings.Trim(s, " \t\r\n'") && !strings.Contains(s, ",") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// spatialKey rewrites SPATIAL [KEY|INDEX] [name] (c) in CREATE and ALTER TABLE, the
// tokens from i on, to a key USING INVERTED over search_spatial(c).
func (h *shim) spatialKey(i int) error {
	if h.word(i-1) != "ADD" && !h.op(i-1, ",") && !h.op(i-1, "(") {
		return nil
	}
	open := i + 1
	if w := h.word(open); w == "KEY" || w == "INDEX" {
		open++
	}
	keyword := open > i+1
	if h.isName(open) && h.op(open+1, "(") {
		open++
	} else if !h.op(open, "(") {
		return nil
	}
	end := h.closing(open)
	if end < open+2 {
		return nil
	}
	if h.op(open+1, "(") {
		return sqlerr.SpatialFunctionalIndex()
	}
	switch h.word(end - 1) {
	case "ASC", "DESC":
		return sqlerr.WrongUsage("spatial/fulltext/hash index", "explicit index order")
	}
	if keyword {
		h.blank(i, i)
	} else {
		h.replace(i, i, "KEY")
	}
	h.insertAfter(open, "(search_spatial(")
	for j := open + 1; j < end; j++ {
		if h.op(j, ",") {
			h.replace(j, j, ")), (search_spatial(")
		}
	}
	h.insertBefore(end, "))")
	h.insertAfter(end, " USING INVERTED")
	return nil
}
