package parser

import "github.com/pingcap/tidb/pkg/parser/ast"

// noTables is the table that the text gets where a SELECT has none: TiDB's
// grammar takes WINDOW, and HAVING after WHERE and GROUP BY, only after FROM with
// a table.
const noTables = "__sqlots_no_tables"

// selectWithoutTables gives FROM to every SELECT that has such a clause and no
// table.
func (h *shim) selectWithoutTables() {
	for i := range h.toks {
		if h.word(i) == "SELECT" {
			h.giveFrom(i)
		}
	}
}

func (h *shim) giveFrom(i int) {
	at, dual, needed := -1, false, false
	for j := i + 1; j < len(h.toks); j++ {
		if h.op(j, "(") {
			if j = h.closing(j); j < 0 {
				return
			}
			continue
		}
		if h.op(j, ")") || h.op(j, ";") {
			break
		}
		if h.op(j-1, ".") {
			continue
		}
		switch h.word(j) {
		case "FROM":
			if h.word(j+1) != "DUAL" || at >= 0 {
				return
			}
			at, dual = j+1, true
			continue
		case "SELECT", "UNION", "EXCEPT", "INTERSECT":
			j = len(h.toks)
			continue
		case "WHERE", "GROUP":
		case "HAVING":
			needed = true
		case "WINDOW":
			if !h.isName(j+1) || h.word(j+2) != "AS" || !h.op(j+3, "(") {
				continue
			}
			needed = true
		default:
			continue
		}
		if at < 0 {
			at = j
		}
	}
	switch {
	case !needed:
	case dual:
		h.replace(at, at, noTables)
	default:
		h.insertBefore(at, "FROM "+noTables+" ")
	}
}

// dropNoTables takes the table out of the tree again.
type dropNoTables struct{}

// Enter implements ast.Visitor.
func (dropNoTables) Enter(n ast.Node) (ast.Node, bool) {
	if s, ok := n.(*ast.SelectStmt); ok && s.From != nil && s.From.TableRefs != nil && s.From.TableRefs.Right == nil {
		if src, ok := s.From.TableRefs.Left.(*ast.TableSource); ok {
			if t, ok := src.Source.(*ast.TableName); ok && t.Name.O == noTables {
				s.From = nil
			}
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (dropNoTables) Leave(n ast.Node) (ast.Node, bool) { return n, true }
