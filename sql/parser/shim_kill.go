package parser

// kill lets KILL take an expression: the grammar has numbers, and calls of functions without
// CONNECTION and QUERY.
func (h *shim) kill() {
	i := 1
	what := h.word(1)
	if what == "CONNECTION" || what == "QUERY" {
		i = 2
	}
	if what == "TIDB" || i >= len(h.toks) || i == len(h.toks)-1 && h.toks[i].kind == tokNumber {
		return
	}
	if i == 2 {
		h.blank(1, 1)
		h.st.KillQuery = what == "QUERY"
	}
	h.insertBefore(i, "IFNULL(")
	h.insertAfter(len(h.toks)-1, ", 0)")
}
