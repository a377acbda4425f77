package parser

import (
	"strings"

	"github.com/sqlots/sqlots/sql/types"
)

// searchNested rewrites a field of nested objects, the tokens from up to to,
//
//	tags NESTED (name KEYWORD, …) and doc->'$.tags' NESTED (…)
//
// to search_nested(tags, 'name KEYWORD, …'), and without members, as DROP takes
// it, to search_nested(tags, ”). false: it is another field.
func (h *shim) searchNested(from, to int) bool {
	at := from + 1
	for at < to && (h.word(at) != "NESTED" || h.op(at-1, ".")) {
		if h.op(at, "(") {
			if at = h.closing(at); at < 0 {
				return false
			}
		}
		at++
	}
	members := ""
	switch {
	case at >= to:
		return false
	case at == to-1:
	case !h.op(at+1, "(") || h.closing(at+1) != to-1:
		return false
	case at+3 < to:
		members = h.src[h.toks[at+2].start:h.toks[to-2].end]
	}
	if h.mode&types.ModeNoBackslashEscapes == 0 {
		members = strings.ReplaceAll(members, `\`, `\\`)
	}
	h.insertBefore(from, "(search_nested(")
	h.replace(at, to-1, ", '"+strings.ReplaceAll(members, "'", "''")+"'))")
	return true
}
