package parser

import "strings"

// InvisibleColumn is the SECONDARY_ENGINE_ATTRIBUTE by which the shim marks an
// INVISIBLE column; SetVisibilityFunc starts the name of the function that ALTER
// COLUMN … SET VISIBLE | INVISIBLE sets as its default. TiDB's grammar has
// neither.
const (
	InvisibleColumn   = "__sqlots invisible"
	SetVisibilityFunc = "__sqlots_set"
	// FromAttributes marks ADD COLUMN … FROM ATTRIBUTES.
	FromAttributes = "__sqlots from attributes"
)

// fromAttributes rewrites FROM ATTRIBUTES after the definition of a column.
func (h *shim) fromAttributes() {
	if !h.words(0, "ALTER", "TABLE") {
		return
	}
	for i := range h.toks {
		if h.words(i, "FROM", "ATTRIBUTES") {
			h.replace(i, i+1, "SECONDARY_ENGINE_ATTRIBUTE='"+FromAttributes+"'")
		}
	}
}

// visibility rewrites VISIBLE and INVISIBLE of columns.
func (h *shim) visibility() {
	table := h.words(0, "CREATE", "TABLE") || h.words(0, "CREATE", "TEMPORARY", "TABLE")
	if !table && !h.words(0, "ALTER", "TABLE") {
		return
	}
	start, depth := 0, 0 // of the definition or clause, and within it
	inList := false      // of definitions in parentheses
	for i := range h.toks {
		switch w := h.word(i); {
		case h.op(i, "(") && !inList && depth == 0 && (table || h.word(i-1) == "ADD" || h.word(i-1) == "COLUMN"):
			start, inList = i+1, true
		case h.op(i, "("):
			depth++
		case h.op(i, ")") && depth == 0:
			inList = false
		case h.op(i, ")"):
			depth--
		case h.op(i, ",") && depth == 0:
			start = i + 1
		case w != "VISIBLE" && w != "INVISIBLE" || depth != 0 || i == start || h.op(i-1, ".") || table && !inList:
		case h.word(i-1) == "SET":
			h.replace(i, i, "DEFAULT ("+SetVisibilityFunc+"_"+strings.ToLower(w)+"())")
		case !h.definesColumn(start) || i == start+1:
		case w == "VISIBLE":
			h.blank(i, i)
		default:
			h.replace(i, i, "SECONDARY_ENGINE_ATTRIBUTE='"+InvisibleColumn+"'")
		}
	}
}

// definesColumn reports whether the definition, or clause of ALTER TABLE, at a
// token is of a column.
func (h *shim) definesColumn(i int) bool {
	if h.toks[i].kind == tokQuoted {
		return true
	}
	if h.word(i) == "ALTER" && h.word(i+1) == "TABLE" {
		i += 3
		if h.op(i, ".") {
			i += 2
		}
	}
	if h.word(i) == "ADD" {
		if i++; h.word(i) == "COLUMN" {
			return true
		}
	}
	if w := h.word(i + 1); (h.word(i) == "SEARCH" || h.word(i) == "COLUMNAR") && (w == "INDEX" || w == "KEY") {
		return false
	}
	switch h.word(i) {
	case "KEY", "INDEX", "UNIQUE", "PRIMARY", "FULLTEXT", "SPATIAL", "CONSTRAINT", "CHECK", "FOREIGN", "ALTER", "RENAME", "DROP":
		return false
	}
	return true
}

// wholeAutoIncrement: of AUTO_INCREMENT = 19.9 the whole part counts.
func (h *shim) wholeAutoIncrement() {
	for i := range h.toks {
		if h.word(i) != "AUTO_INCREMENT" {
			continue
		}
		j := i + 1
		if h.op(j, "=") {
			j++
		}
		whole, rest, ok := strings.Cut(h.text(j), ".")
		if ok && whole != "" && strings.Trim(whole+rest, "0123456789") == "" {
			h.replace(j, j, whole)
		}
	}
}
