package parser

// RowAlias is the AS alias[(columns)] of INSERT … VALUES and INSERT … SET: the
// name under which ON DUPLICATE KEY UPDATE reads the new row.
type RowAlias struct {
	Name    string
	Columns []string // nil: the columns that the statement inserts
}

// insertAlias takes the row alias of INSERT out of the text: it is at the end, or
// before ON DUPLICATE KEY UPDATE.
func (h *shim) insertAlias() {
	end, depth, values := len(h.toks), 0, false
	if i := h.returningAt(); i >= 0 {
		end = i
	}
	for i := range end {
		switch {
		case h.op(i, "("):
			depth++
		case h.op(i, ")"):
			depth--
		case depth > 0:
		case !values && (h.word(i) == "SELECT" || h.word(i) == "TABLE" || h.word(i) == "WITH"):
			return // an alias there is of a table
		case h.word(i) == "VALUES" || h.word(i) == "VALUE" || h.word(i) == "SET":
			values = true
		case h.words(i, "ON", "DUPLICATE", "KEY", "UPDATE"):
			end = min(end, i)
		}
	}
	if end == len(h.toks) && h.op(end-1, ";") {
		end--
	}
	as := end - 2
	var columns []string
	if h.op(end-1, ")") {
		open := h.opening(end - 1)
		if as = open - 2; as < 0 {
			return
		}
		for j := open + 1; j < end-1; j++ {
			if isName := (j-open)%2 == 1; isName != h.isName(j) || !isName && !h.op(j, ",") {
				return
			}
			if h.isName(j) {
				columns = append(columns, h.name(j))
			}
		}
		if len(columns) == 0 {
			return
		}
	}
	if !values || as < 3 || h.word(as) != "AS" || !h.isName(as+1) {
		return
	}
	h.st.RowAlias = &RowAlias{Name: h.name(as + 1), Columns: columns}
	h.blank(as, end-1)
}
