package parser

import (
	"sort"
	"strings"
)

// JSONValueFunc is the function as which the shim writes
// JSON_VALUE(doc, path RETURNING type … ON EMPTY … ON ERROR): document, path,
// a NULL of the type, and for each of EMPTY and ERROR a word (null, error or
// default) and the default.
const JSONValueFunc = "__sqlots_json_value"

// AtTimeZoneFunc is the function as which the shim writes
// CAST(x AT TIME ZONE 'zone' AS …): x and the zone, within the CAST.
const AtTimeZoneFunc = "__sqlots_at_time_zone"

// jsonValue rewrites the clauses of JSON_VALUE.
func (h *shim) jsonValue() {
	for i := range h.toks {
		if h.word(i) != "JSON_VALUE" || !h.op(i+1, "(") {
			continue
		}
		end := h.closing(i + 1)
		at := h.jsonValueClauses(i+2, end)
		if end < 0 || at < 0 {
			continue
		}
		if args, ok := h.jsonValueArgs(at, end); ok {
			h.replace(i, i, JSONValueFunc)
			h.replace(at, end-1, args)
		}
	}
}

// jsonValueClauses finds where the clauses begin, -1 without clauses.
func (h *shim) jsonValueClauses(from, end int) int {
	commas := 0
	for i := from; i < end; i++ {
		switch {
		case h.op(i, "("):
			i = h.closing(i)
		case h.op(i, ","):
			commas++
		case commas == 1 && i > from && !h.op(i-1, ","):
			switch h.word(i) {
			case "RETURNING", "NULL", "ERROR", "DEFAULT":
				return i
			}
		}
	}
	return -1
}

// jsonValueArgs is the clauses from token i to the parenthesis at end as
// further arguments.
func (h *shim) jsonValueArgs(i, end int) (string, bool) {
	typ := "CHAR(512) CHARACTER SET utf8mb4"
	if h.word(i) == "RETURNING" {
		start := i + 1
		for i = start; i < end; i++ {
			if w := h.word(i); w == "NULL" || w == "ERROR" || w == "DEFAULT" {
				break
			}
		}
		if i == start {
			return "", false
		}
		typ = h.src[h.toks[start].start:h.toks[i-1].end]
	}
	args := ", CAST(NULL AS " + typ + ")"
	seen := map[string]string{"EMPTY": "'null', NULL", "ERROR": "'null', NULL"}
	for i < end {
		kind, def := strings.ToLower(h.word(i)), "NULL"
		i++
		switch kind {
		case "null", "error":
		case "default":
			start := i
			for i < end && h.word(i) != "ON" {
				i++
			}
			if i == start || i == end {
				return "", false
			}
			def = h.src[h.toks[start].start:h.toks[i-1].end]
		default:
			return "", false
		}
		when := h.word(i + 1)
		if h.word(i) != "ON" || when != "EMPTY" && when != "ERROR" || i+1 >= end {
			return "", false
		}
		seen[when] = "'" + kind + "', " + def
		i += 2
	}
	return args + ", " + seen["EMPTY"] + ", " + seen["ERROR"], true
}

// atTimeZone rewrites CAST(x AT TIME ZONE [INTERVAL] 'zone' AS DATETIME).
func (h *shim) atTimeZone() {
	for i := 1; i+3 < len(h.toks); i++ {
		if !h.words(i, "AT", "TIME", "ZONE") {
			continue
		}
		zone := i + 3
		if h.word(zone) == "INTERVAL" {
			zone++
		}
		open := int(h.around[i])
		if open < 1 || h.word(open-1) != "CAST" || zone >= len(h.toks) || h.toks[zone].kind != tokString || h.word(zone+1) != "AS" {
			continue
		}
		h.insertAfter(open, AtTimeZoneFunc+"(")
		h.replace(i, zone, ", "+h.text(zone)+")")
	}
}

// rewrite is an edit as the parsed text has it: text[at:at+length] stands for
// old.
type rewrite struct {
	at, length int
	old        string
}

// AsWritten is a piece of the parsed text, at a position, as it was before the
// shim rewrote it.
func (s *Statement) AsWritten(text string, at int) string {
	var b strings.Builder
	pos := 0
	first := sort.Search(len(s.rewrites), func(i int) bool { return s.rewrites[i].at+s.rewrites[i].length > at })
	for _, r := range s.rewrites[first:] {
		from, to := r.at-at, r.at+r.length-at
		if to > len(text) {
			break
		}
		if from < pos {
			continue
		}
		b.WriteString(text[pos:from])
		b.WriteString(r.old)
		pos = to
	}
	return b.String() + text[pos:]
}
