package parser

import "strings"

// Explain is what EXPLAIN says in addition to its format.
type Explain struct {
	// Into is the user variable of INTO, "" without.
	Into string
	// Schema is the database of FOR SCHEMA, "" for the current one.
	Schema string
}

// explain reads EXPLAIN FORMAT=TREE, and takes INTO @variable and FOR SCHEMA
// out of the text.
func (h *shim) explain() {
	i := 1
	if h.word(i) == "ANALYZE" {
		i++
	}
	if h.word(i) == "FORMAT" && h.op(i+1, "=") && i+2 < len(h.toks) {
		if h.toks[i+2].kind == tokWord {
			h.replace(i+2, i+2, "'"+strings.ToLower(h.text(i+2))+"'")
		}
		i += 3
	}
	from := i
	var x Explain
	if h.word(i) == "INTO" && i+1 < len(h.toks) && h.toks[i+1].kind == tokVar && !strings.HasPrefix(h.text(i+1), "@@") {
		x.Into = userVariable(h.text(i + 1))
		i += 2
	}
	if w := h.word(i + 1); h.word(i) == "FOR" && (w == "SCHEMA" || w == "DATABASE") && h.isName(i+2) {
		x.Schema = h.name(i + 2)
		i += 3
	}
	if i == from {
		return
	}
	h.st.Explain = &x
	h.blank(from, i-1)
	h.toks = append(h.toks[:from:from], h.toks[i:]...)
	h.pair()
}

// userVariable is the name in the text of a user variable.
func userVariable(text string) string {
	v := strings.TrimPrefix(text, "@")
	if len(v) >= 2 && (v[0] == '\'' || v[0] == '"' || v[0] == '`') {
		v = v[1 : len(v)-1]
	}
	return v
}
