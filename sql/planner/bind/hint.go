package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// optHint is an optimizer hint about a table of the query block.
type optHint struct {
	name    string
	table   string
	indexes []string
	found   bool
}

// hints takes the optimizer hints of a query block, which apply to its tables
// until the function that it returns is called. MySQL passes over hints that it
// does not know, and over tables that are not there, with a warning.
func (b *binder) hints(list []*ast.TableOptimizerHint) (done func()) {
	outer, fixed := b.blockHints, b.fixedOrder
	b.blockHints, b.fixedOrder = nil, false
	block := blockName(list)
	for _, h := range list {
		name := parser.HintName(h.HintName.O)
		switch {
		case name == "QB_NAME", name == "MAX_EXECUTION_TIME", parser.IsIdleHint(name):
		case name == "JOIN_FIXED_ORDER":
			if h.QBName.L == "" || h.QBName.L == block {
				b.fixedOrder = true
			}
		case isTableHint(name):
			for i := range h.Tables {
				if to := hintBlock(h, i); to == "" || to == block {
					b.blockHints = append(b.blockHints, tableHint(h, i))
				}
			}
		default:
			b.warn(sqlerr.NotSupported("optimizer hint " + name))
		}
	}
	for _, a := range b.addressed {
		if block != "" && a.to == block && !slices.Contains(list, a.hint) {
			b.blockHints = append(b.blockHints, tableHint(a.hint, a.table))
		}
	}
	mine := b.blockHints
	return func() {
		b.blockHints, b.fixedOrder = outer, fixed
		for _, h := range mine {
			if !h.found {
				b.warn(sqlerr.UnresolvedHintName(h.table, "", h.name))
			}
		}
	}
}

func isTableHint(name string) bool {
	switch name {
	case "INDEX_MERGE", "NO_INDEX_MERGE", "SKIP_SCAN", "NO_SKIP_SCAN", "MERGE_JOIN", "NO_MERGE_JOIN":
		return true
	}
	return false
}

func tableHint(h *ast.TableOptimizerHint, i int) *optHint {
	o := &optHint{name: parser.HintName(h.HintName.O), table: h.Tables[i].TableName.O}
	for _, x := range h.Indexes {
		o.indexes = append(o.indexes, x.O)
	}
	return o
}

// blockName is the QB_NAME among the hints of a query block, "" without.
func blockName(list []*ast.TableOptimizerHint) string {
	for _, h := range list {
		if parser.HintName(h.HintName.O) == "QB_NAME" {
			return h.QBName.L
		}
	}
	return ""
}

// hintBlock is the query block that table i of a hint is said to be in, by
// table@block or a leading @block; "" for that of the hint.
func hintBlock(h *ast.TableOptimizerHint, i int) string {
	if name := h.Tables[i].QBName.L; name != "" {
		return name
	}
	return h.QBName.L
}

// addressedHint is a table of a hint that names the query block.
type addressedHint struct {
	to    string
	hint  *ast.TableOptimizerHint
	table int
}

// addressHints finds the hints that name query blocks: 3127 for a name that no
// block has.
func (b *binder) addressHints(st *parser.Statement) {
	if st.Node == nil || !strings.Contains(st.Text, "/*+") {
		return
	}
	v := hintVisitor{blocks: map[string]bool{}}
	st.Node.Accept(&v)
	b.addressed = v.addressed
	for _, a := range v.addressed {
		if !v.blocks[a.to] {
			b.warn(sqlerr.New(3127, "HY000", "Query block name %s is not found for %s hint", a.to, parser.HintName(a.hint.HintName.O)))
		}
	}
}

type hintVisitor struct {
	blocks    map[string]bool
	addressed []addressedHint
}

// Enter implements ast.Visitor.
func (v *hintVisitor) Enter(n ast.Node) (ast.Node, bool) {
	var list []*ast.TableOptimizerHint
	switch x := n.(type) {
	case *ast.SelectStmt:
		list = x.TableHints
	case *ast.InsertStmt:
		list = x.TableHints
	case *ast.UpdateStmt:
		list = x.TableHints
	case *ast.DeleteStmt:
		list = x.TableHints
	}
	if len(list) == 0 {
		return n, false
	}
	v.blocks[blockName(list)] = true
	for _, h := range list {
		if !isTableHint(parser.HintName(h.HintName.O)) {
			continue
		}
		for i := range h.Tables {
			if to := hintBlock(h, i); to != "" {
				v.addressed = append(v.addressed, addressedHint{to, h, i})
			}
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *hintVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// tableHints gives a table the hints of its block.
func (b *binder) tableHints(s *logical.Scan) {
	for _, h := range b.blockHints {
		if !strings.EqualFold(h.table, s.Alias) {
			continue
		}
		h.found = true
		names := []string{}
		for _, n := range h.indexes {
			x := s.Table.IndexByName(n)
			switch {
			case strings.EqualFold(n, "PRIMARY") && !s.Table.HasHiddenKey():
				names = append(names, "PRIMARY")
			case x != nil && x.State == schema.IndexPublic:
				names = append(names, x.Name)
			default:
				b.warn(sqlerr.UnresolvedHintName(s.Alias, n, h.name))
			}
		}
		switch h.name {
		case "INDEX_MERGE":
			s.Opt.Merge = &names
		case "NO_INDEX_MERGE":
			s.Opt.NoMerge = &names
		case "SKIP_SCAN":
			s.Opt.Skip = &names
		case "NO_SKIP_SCAN":
			s.Opt.NoSkip = &names
		case "MERGE_JOIN":
			s.Opt.MergeJoin = true
		default:
			s.Opt.NoMergeJoin = true
		}
	}
}
