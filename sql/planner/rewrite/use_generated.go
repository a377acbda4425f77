package rewrite

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/types"
)

// useGenerated puts a generated column that an index has in the place of an
// expression that is the column's own, in conditions, ORDER BY and GROUP BY, and
// one whose values a search index has also in what is aggregated and shown:
// WHERE LOWER(name) = 'x' with KEY ((LOWER(name))) becomes a condition on the
// column of that key part. Access paths and order follow by themselves.
//
// The column's value must be the expression's for every row and session:
//   - its type holds all values of the expression: INT AS (a + 1) may hold less
//     than a + 1, which is a BIGINT;
//   - the expression depends on nothing that the session may have set otherwise
//     than those who wrote the rows: time zone, locale, date modes;
//   - above an outer join the columns of its inner side may be NULL together,
//     where the expression of NULLs is not: COALESCE(a, 1).
func (r *Rewriter) useGenerated(n logical.Node) logical.Node {
	if r.TableExprs == nil || r.Bind == nil || r.Bind.Mode&dateModes != types.DefaultSQLMode&dateModes {
		return n
	}
	out, _ := r.useGeneratedIn(n)
	return out
}

// dateModes are the parts of the sql_mode on which values may depend.
const dateModes = types.ModeNoZeroDate | types.ModeNoZeroInDate | types.ModeAllowInvalidDates | types.ModeTimeTruncateFractional | types.ModeNoBackslashEscapes

// generatedColumn is an expression with the column that holds its value.
type generatedColumn struct {
	e   expr.Expr
	col *expr.Col
	// shown: the index gives the values themselves.
	shown bool
}

// useGeneratedIn rewrites n and returns what can be replaced above it.
func (r *Rewriter) useGeneratedIn(n logical.Node) (logical.Node, []generatedColumn) {
	if s, ok := n.(*logical.Scan); ok {
		return r.withHidden(s), r.generatedOf(s)
	}
	old := n.Inputs()
	in := make([]logical.Node, len(old))
	lists := make([][]generatedColumn, len(old))
	for i := range old {
		in[i], lists[i] = r.useGeneratedIn(old[i])
	}
	n = withInputs(n, in)
	switch x := n.(type) {
	case *logical.Filter:
		return &logical.Filter{Input: x.Input, Conds: replaceAll(x.Conds, lists[0])}, lists[0]
	case *logical.Sort:
		c := *x
		c.Keys = slices.Clone(x.Keys)
		for i := range c.Keys {
			c.Keys[i].Expr = replaceGenerated(c.Keys[i].Expr, lists[0])
		}
		return &c, lists[0]
	case *logical.Limit:
		return n, lists[0]
	case *logical.Aggregate:
		c := *x
		c.GroupBy = replaceAll(x.GroupBy, lists[0])
		c.Aggs = replaceArgs(x.Aggs, shownOf(lists[0]))
		return &c, nil
	case *logical.Project:
		list := shownOf(lists[0])
		if len(list) == 0 {
			return n, nil
		}
		return &logical.Project{Input: x.Input, Exprs: replaceAll(x.Exprs, list), Cols: x.Cols}, nil
	case *logical.Join:
		c := *x
		c.On = replaceAll(x.On, slices.Concat(lists[0], lists[1]))
		if x.Kind == logical.JoinInner {
			return &c, slices.Concat(lists[0], lists[1])
		}
		return &c, lists[0]
	}
	return n, nil
}

// generatedOf are the generated columns of a table that are in an index and can
// replace their expressions.
func (r *Rewriter) generatedOf(s *logical.Scan) []generatedColumn {
	var out []generatedColumn
	if !hasIndexedGenerated(s.Table) {
		return nil
	}
	exprs := r.TableExprs(s.Table)
	if exprs == nil {
		return nil
	}
	for i := range exprs.Steps {
		st := &exprs.Steps[i]
		if !replaces(s.Table, st) {
			continue
		}
		out = append(out, generatedColumn{e: overScan(s, st.Expr), col: scanColumn(s, st.Pos), shown: isSearched(s.Table, s.Table.Columns[st.Pos].ID)})
	}
	return out
}

// shownOf are those of which an index gives the values themselves.
func shownOf(list []generatedColumn) []generatedColumn {
	return slices.DeleteFunc(slices.Clone(list), func(g generatedColumn) bool { return !g.shown })
}

// replaces reports whether a generated column can stand for its expression.
func replaces(t *schema.Table, st *derive.Step) bool {
	c := &t.Columns[st.Pos]
	return !st.Default && !st.Zoned && c.Array == nil && isIndexed(t, c.ID) && holds(c, st.Expr.Type()) && !readsSession(st.Expr)
}

// overScan puts the columns of a scan into an expression over its table.
func overScan(s *logical.Scan, e expr.Expr) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		if k, ok := e.(*expr.Col); ok {
			return scanColumn(s, k.Index)
		}
		return e
	})
}

// withHidden notes in a scan the arrays of its multi-valued indexes, the
// conditions of its partial ones and the JSON values of its search indexes. The
// conditions of the query are not changed: they are about JSON values, where the
// arrays hold what these were converted to.
func (r *Rewriter) withHidden(s *logical.Scan) *logical.Scan {
	partial := map[int]schema.IndexID{}
	for i := range s.Table.Indexes {
		if x := &s.Table.Indexes[i]; x.Where != 0 && x.State == schema.IndexPublic {
			partial[s.Table.ColumnIndex(x.Where)] = x.ID
		}
	}
	s = withPaths(s)
	if len(partial) == 0 && len(s.Paths) == 0 && !slices.ContainsFunc(s.Table.Columns, func(c schema.Column) bool { return c.Array != nil }) {
		return s
	}
	exprs := r.TableExprs(s.Table)
	if exprs == nil {
		return s
	}
	c := *s
	c.Arrays, c.Partial = nil, map[schema.IndexID][]expr.Expr{}
	for i := range exprs.Steps {
		st := &exprs.Steps[i]
		if st.Zoned || readsSession(st.Expr) {
			continue
		}
		if _, ok := c.Paths[s.Table.Columns[st.Pos].ID]; ok {
			c.Paths[s.Table.Columns[st.Pos].ID] = overScan(s, st.Expr)
		} else if arg, cast, ok := expr.AsArrayCast(st.Expr); ok {
			c.Arrays = append(c.Arrays, logical.Array{Pos: st.Pos, Expr: overScan(s, arg), Cast: cast})
		} else if id, ok := partial[st.Pos]; ok {
			c.Partial[id] = expr.SplitAnd(nil, overScan(s, st.Expr))
		}
	}
	return &c
}

// withPaths notes in a scan the columns of JSON values of its search indexes.
func withPaths(s *logical.Scan) *logical.Scan {
	var paths map[schema.ColumnID]expr.Expr
	for i := range s.Table.Search {
		for _, f := range s.Table.Search[i].Fields {
			if f.Kind != schema.SearchPath {
				continue
			}
			if paths == nil {
				paths = map[schema.ColumnID]expr.Expr{}
			}
			paths[f.Column] = scanColumn(s, s.Table.ColumnIndex(f.Column))
		}
	}
	if paths == nil {
		return s
	}
	c := *s
	c.Paths = paths
	return &c
}

func scanColumn(s *logical.Scan, pos int) *expr.Col {
	c := &s.Cols[pos]
	col := &expr.Col{ID: c.ID, Index: -1, T: c.T, Null: c.Null, Table: c.Table, Name: c.Name}
	if t := &s.Table.Columns[pos]; t.Hidden && t.Generated != nil {
		col.Table, col.Name = "", t.Generated.Expr // the name says nothing
	}
	return col
}

func hasIndexedGenerated(t *schema.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Generated != nil && isIndexed(t, c.ID) })
}

func isIndexed(t *schema.Table, id schema.ColumnID) bool {
	return t.IsPrimaryKeyPart(id) || slices.ContainsFunc(t.Indexes, func(x schema.Index) bool {
		return x.State == schema.IndexPublic && slices.ContainsFunc(x.Parts, func(p schema.KeyPart) bool { return p.Column == id })
	}) || isSearched(t, id)
}

// isSearched reports a column whose values, or the scalars of its JSON, are in a
// search index.
func isSearched(t *schema.Table, id schema.ColumnID) bool {
	return slices.ContainsFunc(t.Search, func(x schema.SearchIndex) bool {
		return slices.ContainsFunc(x.Fields, func(f schema.SearchField) bool {
			return f.Column == id && f.Kind != schema.SearchText || f.Value == id
		})
	})
}

// readsSession reports an expression whose value may differ with the session's
// variables.
func readsSession(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		f, ok := x.(*expr.Func)
		found = found || ok && (f.B.Session || f.B.Settings)
		return !found
	})
	return found
}

// holds reports whether a column keeps every value of type t unchanged.
func holds(col *schema.Column, t schema.Type) bool {
	c := col.Type
	switch {
	case !col.Nullable:
		return false // NULL may have been stored as something else
	case t.IsInteger() && c.IsInteger():
		return c.Unsigned == t.Unsigned && c.ID >= t.ID
	case t.IsCharacter():
		if !c.IsCharacter() || c.ID == schema.TypeChar || c.Collation != t.Collation || t.ID == schema.TypeChar {
			return false
		}
		return fits(t, c)
	case t.IsBinary():
		return c.IsBinary() && c.ID != schema.TypeBinary && fits(t, c)
	case t.ID != c.ID || t.Unsigned != c.Unsigned:
		return false
	}
	switch t.ID {
	case schema.TypeDecimal:
		return t.Scale == c.Scale && t.Len <= c.Len
	case schema.TypeDouble:
		return c.Len <= 0
	case schema.TypeDatetime, schema.TypeTime:
		return t.Scale == c.Scale
	case schema.TypeDate, schema.TypeYear:
		return true
	case schema.TypeGeometry:
		return t.Geometry == c.Geometry && t.SRID == c.SRID
	}
	return false
}

// fits reports whether strings of type t are no longer than those of column
// type c.
func fits(t, c schema.Type) bool {
	if c.IsBlobOrText() {
		return t.ID == c.ID || !t.IsBlobOrText() && t.Len >= 0 && t.Len <= 16383 && c.ID != schema.TypeTinyText && c.ID != schema.TypeTinyBlob
	}
	return !t.IsBlobOrText() && t.Len >= 0 && t.Len <= c.Len
}

func replaceAll(list []expr.Expr, by []generatedColumn) []expr.Expr {
	if len(by) == 0 {
		return list
	}
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = replaceGenerated(e, by)
	}
	return out
}

// replaceArgs is replaceAll for the arguments of aggregates.
func replaceArgs(aggs []*expr.Agg, by []generatedColumn) []*expr.Agg {
	if len(by) == 0 {
		return aggs
	}
	out := make([]*expr.Agg, len(aggs))
	for i, a := range aggs {
		c := *a
		c.Args = replaceAll(a.Args, by)
		out[i] = &c
	}
	return out
}

// replaceGenerated replaces the largest parts of e that are generated columns.
func replaceGenerated(e expr.Expr, by []generatedColumn) expr.Expr {
	for i := range by {
		if expr.Same(e, by[i].e) {
			return by[i].col
		}
	}
	f, ok := e.(*expr.Func)
	if !ok || len(by) == 0 {
		return e
	}
	var args []expr.Expr
	for i, a := range f.Args {
		m := replaceGenerated(a, by)
		if m != a && args == nil {
			args = slices.Clone(f.Args)
		}
		if args != nil {
			args[i] = m
		}
	}
	if args == nil {
		return e
	}
	return f.With(args)
}

// isWhere reports the column of the condition of a partial index.
func isWhere(t *schema.Table, id schema.ColumnID) bool {
	return slices.ContainsFunc(t.Indexes, func(x schema.Index) bool { return x.Where == id })
}

// isPlain reports a condition that compares columns with constants.
func isPlain(e expr.Expr) bool {
	plain := true
	expr.Walk(e, func(x expr.Expr) bool {
		if f, ok := x.(*expr.Func); ok {
			switch f.Op {
			case expr.OpAnd, expr.OpOr, expr.OpEQ, expr.OpNullEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpIn, expr.OpIsNull, expr.OpNot:
			default:
				plain = false
			}
		}
		return plain
	})
	return plain
}

// ReplacesLiterals reports whether the rule may replace an expression with
// literals in it by a column of t. A plan that was made without knowing the
// literals would miss that.
func ReplacesLiterals(t *schema.Table, exprs func(*schema.Table) *derive.Exprs) bool {
	if !slices.ContainsFunc(t.Columns, func(c schema.Column) bool {
		return c.Generated != nil && (isIndexed(t, c.ID) || isWhere(t, c.ID))
	}) {
		return false
	}
	r := exprs(t)
	if r == nil {
		return false
	}
	found := false
	for i := range r.Steps {
		s := &r.Steps[i]
		if t.Columns[s.Pos].Array != nil || t.Columns[s.Pos].Type.ID == schema.TypeJSON && isSearched(t, t.Columns[s.Pos].ID) {
			return true // the number of index searches depends on the document
		}
		if isWhere(t, t.Columns[s.Pos].ID) && !isPlain(s.Expr) {
			return true // package access compares plain conditions by their values
		}
		if replaces(t, s) {
			expr.Walk(s.Expr, func(e expr.Expr) bool {
				_, literal := e.(*expr.Const)
				found = found || literal
				return !found
			})
		}
	}
	return found
}
