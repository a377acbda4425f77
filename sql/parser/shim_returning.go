package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// returning finds the RETURNING of a change, which TiDB's grammar does not
// read: its list becomes the select list of a query of its own, at the same
// place of the text.
func (h *shim) returning() {
	i := h.returningAt()
	if i < 0 {
		return
	}
	h.split = h.toks[i].start + 1
	h.replace(i, i, "SELECT   ")
}

// returningAt is the token of RETURNING, -1 without. It follows a whole clause;
// where an operand is missing, returning is the name of a column.
func (h *shim) returningAt() int {
	depth, change := 0, false
	for i := range h.toks {
		switch {
		case h.op(i, "("):
			depth++
		case h.op(i, ")"):
			depth--
		case depth > 0:
		case !change:
			switch h.word(i) {
			case "INSERT", "REPLACE", "UPDATE", "DELETE":
				change = true
			case "SELECT", "TABLE", "VALUES":
				return -1
			}
		case h.word(i) == "RETURNING" && h.endsClause(i-1):
			return i
		}
	}
	return -1
}

// endsClause reports that a clause may end with token i.
func (h *shim) endsClause(i int) bool {
	if h.toks[i].kind == tokOp {
		return h.op(i, ")")
	}
	switch w := h.word(i); w {
	case "BY", "AS", "LIKE", "RLIKE", "REGEXP", "MOD", "DISTINCT", "INTO", "IGNORE", "UPDATE", "INTERVAL", "SELECT":
		return false
	case "VALUES", "VALUE":
		return true
	default:
		return !isOperatorWord(w)
	}
}

// cut takes the query of RETURNING off the repaired text: blanks stand for what
// is before it.
func (h *shim) cut(src string) (stmt, list string) {
	if h.split == 0 {
		return src, ""
	}
	at := h.splitOut
	return src[:at], strings.Repeat(" ", at) + src[at:]
}

// parseReturning parses what cut took off.
func (p *Parser) parseReturning(st *Statement, node ast.StmtNode, list string, mode types.SQLMode) (ast.StmtNode, error) {
	if list == "" {
		return nil, nil
	}
	n, err := p.run(st, list, mode)
	if err != nil {
		return nil, parseError(list, err, mode)
	}
	s, ok := n.(*ast.SelectStmt)
	if !ok || s.From != nil || s.Where != nil || s.Limit != nil || s.OrderBy != nil || s.GroupBy != nil || s.Having != nil || s.Distinct ||
		s.LockInfo != nil || len(s.WindowSpecs) > 0 || len(s.TableHints) > 0 || s.SelectIntoOpt != nil {
		return nil, sqlerr.Parse("", near("RETURNING"+strings.TrimLeft(list, " ")[len("RETURNING"):], 0, mode), 1+strings.Count(list, "\n"))
	}
	if x, ok := node.(*ast.ExplainStmt); ok {
		node = x.Stmt
	}
	d, isDelete := node.(*ast.DeleteStmt)
	if _, isInsert := node.(*ast.InsertStmt); !isInsert && (!isDelete || d.IsMultiTable) {
		return nil, sqlerr.NotSupported("RETURNING of UPDATE or of several tables")
	}
	st.Returning = s
	return s, nil
}
