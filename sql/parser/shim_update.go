package parser

import "github.com/sqlots/sqlots/sql/sqlerr"

// multiUpdate refuses, as MySQL does, the ORDER BY and LIMIT of an UPDATE of
// several tables, which TiDB's grammar does not read: 1221.
func (h *shim) multiUpdate() error {
	depth, set, several := 0, false, false
	for i := range h.toks {
		switch {
		case h.op(i, "("):
			depth++
		case h.op(i, ")"):
			depth--
		case depth > 0:
		case !set && (h.op(i, ",") || h.word(i) == "JOIN" || h.word(i) == "STRAIGHT_JOIN"):
			several = true
		case h.word(i) == "SET":
			set = true
		case several && set && h.words(i, "ORDER", "BY"):
			return sqlerr.WrongUsage("UPDATE", "ORDER BY")
		case several && set && h.word(i) == "LIMIT":
			return sqlerr.WrongUsage("UPDATE", "LIMIT")
		}
	}
	return nil
}
