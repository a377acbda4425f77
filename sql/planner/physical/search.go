package physical

import (
	"fmt"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
)

// SearchScan finds rows by a search index, in no order. Rows that the index does not
// know yet are read from the table; they have to satisfy All.
type SearchScan struct {
	Index *schema.SearchIndex
	// Query is the condition that the index evaluates, nil for all documents.
	Query *SearchNode
	// Covering: the index has all columns of Read, in fields or in the documents'
	// keys. Then documents that Query finds have to satisfy the scan's Filter, else
	// it has all conditions.
	Covering bool
	// Unread marks, of a covering search, the columns of Read that only All
	// reads: of documents they are NULL.
	Unread []bool
	// All are all conditions on the rows; Cols refer to positions in Read.
	All []expr.Expr
	// Order and Limit let the index leave out rows that cannot be among the first
	// Limit in that order; nil without.
	Order []SearchOrder
	Limit expr.Expr
	// Scores, of a covering search, are calls of "match" over positions in Read:
	// the columns of the scan after Read, which the index gives of documents.
	Scores []expr.Expr
	// Workers is the most goroutines that query the index.
	Workers int
	// Group, of a covering search below a HashAggregate, lets the index aggregate
	// the documents; nil without.
	Group *SearchGroup
}

// SearchGroup is what the index aggregates.
type SearchGroup struct {
	// By are the columns, as positions in Read, that the groups are made of. Plain:
	// they are the groups.
	By    []int
	Plain bool
	Calls []SearchCall
	// Workers is the most goroutines.
	Workers int
}

// SearchCall is an aggregate of the plan: of a column, as position in Read, or,
// for -1, of rows.
type SearchCall struct {
	Op       expr.AggOp
	Distinct bool
	Column   int
}

// SearchOrder is a column of an order, by its position in the table: of a field
// or, without one, of the primary key, which others of it may follow. With Expr,
// over positions in Read, it is a sum of scores or a distance from the place in
// Field.
type SearchOrder struct {
	Column int
	Field  *schema.SearchField
	Expr   expr.Expr
	Desc   bool
}

// SearchOp is what a SearchNode does.
type SearchOp uint8

// Operations of a SearchNode.
const (
	SearchRange SearchOp = iota // Field is in Set
	SearchAnd
	SearchOr
	SearchMatch  // Match is true
	SearchGeo    // a superset of the places for which Geo is true
	SearchLike   // Match, a LIKE over Field, may be true
	SearchNot    // the child is not true
	SearchCheck  // Cond is true of values
	SearchPath   // Match, over the JSON value that Field is of, may be true, or is: what Ask says
	SearchNested // some object of Field, as a row of Table, is one for which the child is true
)

// SearchNode is a condition that a search index evaluates.
type SearchNode struct {
	Op       SearchOp
	Children []*SearchNode
	Field    *schema.SearchField
	// Column is the position of the field's column in the table.
	Column int
	Set    *ranges.Set
	// Match is a MATCH … AGAINST, or a LIKE whose text Analyzer has analysed.
	Match    *expr.Func
	Analyzer *text.Analyzer
	Geo      *SearchPlace
	Ask      *SearchAsk
	// Cond reads the columns at Columns in the table, which Fields hold. Share is
	// about the fraction of the documents for which it is true.
	Cond    expr.Expr
	Columns []int
	Fields  []*schema.SearchField
	Share   float64
	// Table has the members of nested objects as columns: those of the child.
	// Nested marks a SearchCheck whose columns are such.
	Table  *schema.Table
	Nested bool
}

// AskOp is what a SearchAsk wants of values.
type AskOp uint8

// Operations of a SearchAsk.
const (
	AskAny    AskOp = iota // one is equal to one of Args
	AskAll                 // for each of Args, or of their elements, one is equal
	AskAbove               // not below Args[0]
	AskBelow               // not above Args[0]
	AskPrefix              // it begins so
	AskNull                // it has none
)

// SearchAsk is a question about the scalars of a JSON value.
type SearchAsk struct {
	Op AskOp
	// Args are constants: JSON or, with SQL, other values. Those of the field then
	// were converted, with Rounded to numbers that are less than 1 away.
	Args         []expr.Expr
	SQL, Rounded bool
	// Spread: arrays stand for their elements.
	Spread bool
	// Exact: nothing else is found, but where documents are marked.
	Exact, Strict bool
}

// SearchPlace is a condition on the place of a point.
type SearchPlace struct {
	// Shape is constant. The place has a point in common with its box or, where
	// Distance is set, is no farther than that from its points.
	Shape    expr.Expr
	Distance expr.Expr
	// Radius is that of the sphere; nil for the usual one.
	Radius expr.Expr
	// Cond is the condition that a check next to the node computes; nil for none. Of a
	// Distance it says that this is less than that or, with Equal, not more.
	Cond  expr.Expr
	Equal bool
}

// details are what EXPLAIN shows: the query of the index, and what the search
// does with the documents that it finds.
func (x *SearchScan) details(p *Printer, s *Scan) []string {
	out := []string{"search: " + x.Query.text(p, s.Table)}
	if len(x.Order) > 0 {
		keys := make([]string, len(x.Order))
		for i, o := range x.Order {
			if o.Expr != nil {
				keys[i] = o.Expr.String()
			} else {
				keys[i] = columnText(s.Table, o.Column)
			}
			if o.Desc {
				keys[i] += " desc"
			}
		}
		out = append(out, "first in index: "+x.Limit.String()+" by "+strings.Join(keys, ", "))
	}
	if len(x.Scores) > 0 {
		list := make([]string, len(x.Scores))
		for i, e := range x.Scores {
			list[i] = e.String()
		}
		out = append(out, "scores in index: "+strings.Join(list, ", "))
	}
	if g := x.Group; g != nil {
		name := func(at int) string { return columnText(s.Table, s.Read[at]) }
		var list []string
		for _, c := range g.Calls {
			arg := "*"
			if c.Column >= 0 {
				arg = name(c.Column)
			}
			if c.Distinct {
				arg = "distinct " + arg
			}
			list = append(list, c.Op.String()+"("+arg+")")
		}
		text := "aggregates in index: " + strings.Join(list, ", ")
		if len(g.By) > 0 {
			list = list[:0]
			for _, at := range g.By {
				list = append(list, name(at))
			}
			if text += " "; len(g.Calls) == 0 {
				text = "groups in index: "
			} else {
				text += "by "
			}
			text += strings.Join(list, ", ")
		}
		out = append(out, text)
	}
	return out
}

// text is the query for EXPLAIN.
func (n *SearchNode) text(p *Printer, t *schema.Table) string {
	switch {
	case n == nil:
		return "all"
	case n.Op == SearchRange && (p.Ctx == nil || !expr.KnownBefore(n.Set.Conds)):
		return p.spans(n.Set)
	case n.Op == SearchRange:
		return columnText(t, n.Column) + " " + p.spans(n.Set)
	case n.Op == SearchMatch, n.Op == SearchLike, n.Op == SearchPath:
		return n.Match.String()
	case n.Op == SearchCheck:
		return "check(" + n.Cond.String() + ")"
	case n.Op == SearchNested:
		name := n.Field.Name
		if name == "" {
			name = columnText(t, n.Column) + strings.TrimPrefix(n.Field.Path, "$")
		}
		if len(n.Children) == 0 {
			return "nested " + name
		}
		return "nested " + name + " (" + n.Children[0].text(p, n.Table) + ")"
	case n.Op == SearchNot:
		return "not (" + n.Children[0].text(p, t) + ")"
	case n.Op == SearchGeo && n.Geo.Distance != nil:
		return "distance(" + columnText(t, n.Column) + ", " + n.Geo.Shape.String() + ") <= " + n.Geo.Distance.String()
	case n.Op == SearchGeo:
		return "box(" + columnText(t, n.Column) + ", " + n.Geo.Shape.String() + ")"
	}
	list := make([]string, len(n.Children))
	for i, c := range n.Children {
		list[i] = c.text(p, t)
	}
	if n.Op == SearchOr {
		return "(" + strings.Join(list, " or ") + ")"
	}
	return strings.Join(list, " and ")
}

// columnText is a column for EXPLAIN: the expression of a hidden one.
func columnText(t *schema.Table, pos int) string {
	c := &t.Columns[pos]
	if c.Hidden && c.Generated != nil {
		return c.Generated.Expr
	}
	return c.Name
}

// Each calls fn with the nodes of a query.
func (n *SearchNode) Each(fn func(n *SearchNode)) {
	if n == nil {
		return
	}
	fn(n)
	for _, c := range n.Children {
		c.Each(fn)
	}
}

// Key implements Access.
func (x *SearchScan) Key() KeyRange { return KeyRange{} }

// ReadsAll implements Access.
func (x *SearchScan) ReadsAll() bool { return false }

// Name implements Access.
func (x *SearchScan) Name() string { return x.Index.Name }

// ByKey implements Access.
func (x *SearchScan) ByKey() bool { return false }

// Direct implements Access.
func (x *SearchScan) Direct() bool { return false }

// Splits implements Access.
func (x *SearchScan) Splits() bool { return false }

// Skip implements Access.
func (x *SearchScan) Skip() (columns int, following *ranges.Set, merge bool) { return 0, nil, false }

// FewKeys implements Access.
func (x *SearchScan) FewKeys() bool { return false }

// Conds implements Access: those that the index evaluates on rows, not those on nested
// objects, whose columns are in tables of their own.
func (x *SearchScan) Conds() []expr.Expr { return x.Query.conds(nil) }

func (n *SearchNode) conds(out []expr.Expr) []expr.Expr {
	if n == nil {
		return out
	}
	if n.Set != nil {
		out = append(out, n.Set.Conds...)
	}
	if n.Cond != nil {
		out = append(out, n.Cond)
	}
	if n.Op == SearchNested {
		return out
	}
	for _, c := range n.Children {
		out = c.conds(out)
	}
	return out
}

// Rank implements Access.
func (x *SearchScan) Rank() int { return 10 }

// Ungrouped is the scan with its rows in the place of their groups.
func (s *Scan) Ungrouped() *Scan {
	if s.Search().Group == nil {
		return s
	}
	out, x := *s, *s.Search()
	x.Group = nil
	out.Access = &x
	return &out
}

// String implements Access.
func (x *SearchScan) String() string {
	if x.Covering {
		return "search covering"
	}
	return "search lookup"
}

func (x *SearchScan) title(s *Scan) string {
	out := "search on "
	if x.Covering {
		out = "covering search on "
	}
	out += tableName(&s.TableRead) + "@" + x.Index.Name
	if x.Order != nil {
		out += " of the first"
	}
	return out
}

func (x *SearchScan) row(p *Printer, s *Scan, r *Row, extra []string) []string {
	r.Type, r.Key = "search", x.Index.Name
	r.PossibleKeys = r.Key
	extra = append(extra, x.details(p, s)...)
	if x.Covering {
		extra = append(extra, "Using index")
	}
	return extra
}

func (x *SearchScan) ranges() []*ranges.Set { return nil }

func (x *SearchScan) verify(s *Scan) error {
	if s.Keys || s.Ordered {
		return fmt.Errorf("a search in order, or for an index join")
	}
	return nil
}
