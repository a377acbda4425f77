package parser

// View is what CREATE VIEW and ALTER VIEW say that TiDB's AST has no place for.
type View struct {
	// Alter is ALTER VIEW.
	Alter bool
	// Check is LOCAL or CASCADED for WITH … CHECK OPTION, "" without.
	Check string
}

// viewAt is the token VIEW of CREATE VIEW and ALTER VIEW, -1 for other
// statements.
func (h *shim) viewAt() int {
	i := 1
	if h.words(i, "OR", "REPLACE") {
		i += 2
	}
	if h.word(i) == "ALGORITHM" && h.op(i+1, "=") {
		i += 3
	}
	if h.word(i) == "DEFINER" && h.op(i+1, "=") {
		for i += 2; i < len(h.toks) && h.word(i) != "SQL" && h.word(i) != "VIEW"; i++ {
			if h.op(i, ";") || h.word(i) == "AS" {
				return -1
			}
		}
	}
	if h.words(i, "SQL", "SECURITY") {
		i += 3
	}
	if h.word(i) != "VIEW" {
		return -1
	}
	return i
}

// view reads ALTER VIEW as CREATE OR REPLACE VIEW and takes the check option
// off. It reports whether the statement is one of these.
func (h *shim) view() bool {
	if h.viewAt() < 0 {
		return false
	}
	v := &View{}
	if h.word(0) == "ALTER" {
		v.Alter = true
		h.replace(0, 0, "CREATE OR REPLACE")
	}
	if n := len(h.toks); h.words(n-2, "CHECK", "OPTION") {
		switch {
		case h.word(n-3) == "WITH":
			v.Check = "CASCADED"
			h.blank(n-3, n-1)
		case h.word(n-4) == "WITH" && (h.word(n-3) == "LOCAL" || h.word(n-3) == "CASCADED"):
			v.Check = h.word(n - 3)
			h.blank(n-4, n-1)
		}
	}
	h.st.View = v
	return true
}
