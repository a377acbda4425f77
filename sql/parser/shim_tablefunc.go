package parser

import "strings"

// StreamFunc and VersionsFunc are the functions as which the shim writes
// STREAM(…) and VERSIONS(…) in FROM, each in a derived table.
const (
	StreamFunc   = "__sqlots_stream"
	VersionsFunc = "__sqlots_versions"
)

// tableFunctions rewrites STREAM ('table', …) and VERSIONS ('table') in FROM as
// LATERAL (SELECT StreamFunc('table', …)), under the function's name where no
// other is given.
func (h *shim) tableFunctions() {
	for i := 1; i+2 < len(h.toks); i++ {
		name := ""
		switch h.word(i) {
		case "STREAM":
			name = StreamFunc
		case "VERSIONS":
			name = VersionsFunc
		}
		if name == "" || !h.op(i+1, "(") || !h.startsTable(i-1) {
			continue
		}
		if h.toks[i+2].kind != tokString && h.toks[i+2].kind != tokParam {
			continue
		}
		end := h.closing(i + 1)
		if end < 0 {
			continue
		}
		h.replace(i, i+1, "LATERAL (SELECT "+name+"(")
		alias := ""
		if h.endsTable(end + 1) {
			alias = " AS " + strings.ToLower(h.word(i))
		}
		h.replace(end, end, "))"+alias)
		i = end
	}
}

// startsTable reports whether a table reference may follow token i.
func (h *shim) startsTable(i int) bool {
	switch h.word(i) {
	case "FROM", "JOIN", "STRAIGHT_JOIN":
		return true
	}
	return h.op(i, ",") || h.op(i, "(")
}

// endsTable reports whether a table reference ends before token i, without an
// alias.
func (h *shim) endsTable(i int) bool {
	if i >= len(h.toks) {
		return true
	}
	switch h.word(i) {
	case "":
		return h.toks[i].kind == tokOp
	case "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "FOR", "LOCK", "INTO", "UNION", "EXCEPT", "INTERSECT",
		"JOIN", "INNER", "LEFT", "RIGHT", "CROSS", "NATURAL", "STRAIGHT_JOIN", "ON", "USING", "SET":
		return true
	}
	return false
}
