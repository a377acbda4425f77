package bind

import (
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
	outer := b.blockHints
	b.blockHints = nil
	for _, h := range list {
		name := parser.HintName(h.HintName.O)
		switch name {
		case "INDEX_MERGE", "NO_INDEX_MERGE", "SKIP_SCAN", "NO_SKIP_SCAN", "MERGE_JOIN", "NO_MERGE_JOIN":
			for _, t := range h.Tables {
				o := &optHint{name: name, table: t.TableName.O}
				for _, x := range h.Indexes {
					o.indexes = append(o.indexes, x.O)
				}
				b.blockHints = append(b.blockHints, o)
			}
		default:
			b.warn(sqlerr.NotSupported("optimizer hint " + name))
		}
	}
	mine := b.blockHints
	return func() {
		b.blockHints = outer
		for _, h := range mine {
			if !h.found {
				b.warn(sqlerr.UnresolvedHintName(h.table, "", h.name))
			}
		}
	}
}

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
