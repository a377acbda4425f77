package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// In a table with dynamic columns a name that is nothing else, in this block or
// in those around it, is the attribute of that name. So a declared column, or
// an alias, always comes first, and a query over declared columns means the
// same whether the table has dynamic columns or not.

// attribute resolves an unknown column as an attribute; nil if no table of the
// blocks around has dynamic columns. 1052 if several tables could have it.
func (sc *scope) attribute(db, table, name string) (expr.Expr, error) {
	if define.CheckColumnName(name) != nil {
		return nil, nil
	}
	for s := sc; s != nil; s = s.outer {
		if s.src == nil || s.column != nil {
			continue
		}
		c, err := s.src.attributes(db, table, name, s.clause)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		e := expr.NewAttribute(sc.b.columnExpr(c), name)
		if s.aliasOnly && !s.inAgg && s.isGrouped != nil && !s.isGrouped(e) {
			continue
		}
		sc.b.used(s)
		return sc.b.correlate(e, s.level), nil
	}
	return nil, nil
}

// attributes is the column of attributes of the table that a name may belong
// to: 1052 if it is one of several.
func (s *source) attributes(db, table, name, clause string) (*logical.Column, error) {
	var found *logical.Column
	for _, t := range s.tables {
		scan := t.stored()
		if scan == nil || table != "" && !strings.EqualFold(t.alias, table) || db != "" && !strings.EqualFold(t.db, db) {
			continue
		}
		pos := scan.Table.AttributesColumn()
		if pos < 0 || pos >= len(t.cols) {
			continue
		}
		if found != nil {
			return nil, sqlerr.AmbiguousColumn(qualified(db, table, name), clause)
		}
		found = &t.cols[pos]
	}
	return found, nil
}

// insertTarget is where the value of a column that an INSERT names goes: a
// column of the table, or one of its attributes.
type insertTarget struct {
	column    int
	attribute string
}

// insertTargets are those of the names of an INSERT: 1054, 1110.
func insertTargets(t *schema.Table, name *ast.TableName, cols []*ast.ColumnName) ([]insertTarget, error) {
	attrs := t.AttributesColumn()
	out := make([]insertTarget, 0, len(cols))
	seen := map[insertTarget]bool{}
	for _, c := range cols {
		i := t.ColumnByName(c.Name.O)
		if i >= 0 && t.Columns[i].Hidden {
			i = -1
		}
		wrongTable := c.Table.O != "" && !strings.EqualFold(c.Table.O, name.Name.O) || c.Schema.O != "" && !strings.EqualFold(c.Schema.O, t.Database)
		to := insertTarget{column: i}
		if i < 0 && attrs >= 0 {
			if err := define.CheckColumnName(c.Name.O); err != nil {
				return nil, err
			}
			to = insertTarget{attrs, c.Name.O}
		} else if i < 0 {
			wrongTable = true
		}
		if wrongTable {
			return nil, sqlerr.UnknownColumn(qualified(c.Schema.O, c.Table.O, c.Name.O), clauseField)
		}
		key := to
		key.attribute = string(value.FoldName([]byte(to.attribute)))
		if seen[key] {
			return nil, sqlerr.FieldSpecifiedTwice(c.Name.O)
		}
		seen[key] = true
		out = append(out, to)
	}
	return out, nil
}

// columnTargets are targets that are columns.
func columnTargets(cols []int) []insertTarget {
	out := make([]insertTarget, len(cols))
	for i, c := range cols {
		out[i] = insertTarget{column: c}
	}
	return out
}

// gathering makes the values of columns of those of targets.
type gathering struct {
	columns []int // of the table, the attributes last
	from    []int // the target of each column but the attributes
	attrs   int   // position of the attributes, -1: no target is one
	base    int   // the target that gives them all, -1 for none
	names   []string
	of      []int // the target of each name
}

func newGathering(t *schema.Table, targets []insertTarget) *gathering {
	g := &gathering{attrs: -1, base: -1, columns: []int{}}
	for i, to := range targets {
		if to.attribute != "" {
			g.attrs = to.column
			g.names, g.of = append(g.names, to.attribute), append(g.of, i)
		}
	}
	for i, to := range targets {
		switch {
		case to.attribute != "":
		case to.column == g.attrs:
			g.base = i
		default:
			g.columns, g.from = append(g.columns, to.column), append(g.from, i)
		}
	}
	if g.attrs >= 0 {
		g.columns = append(g.columns, g.attrs)
	}
	return g
}

// row are the values of the columns; a nil one is the default.
func (g *gathering) row(vals []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, 0, len(g.columns))
	for _, i := range g.from {
		out = append(out, vals[i])
	}
	if g.attrs < 0 {
		return out
	}
	attrs := make([]expr.Expr, len(g.of))
	for j, i := range g.of {
		if attrs[j] = vals[i]; attrs[j] == nil {
			attrs[j] = expr.NewConst(value.Null, types.Null)
		}
	}
	var base expr.Expr = noAttributes()
	if g.base >= 0 && vals[g.base] != nil {
		base = attributesObject(vals[g.base])
	}
	return append(out, expr.NewAttributesWith(base, g.names, attrs))
}

func noAttributes() expr.Expr {
	return expr.NewConst(value.JSONOf(value.JSONObject(nil, nil)), types.JSON)
}

// attributesObject is a value of the column of attributes as an object: text
// is parsed.
func attributesObject(e expr.Expr) expr.Expr {
	if expr.IsVariant(e) {
		return expr.VariantJSON(e)
	}
	if e.Type().ID == schema.TypeJSON {
		return e
	}
	doc, err := expr.NewCast(nil, e, types.JSON, false)
	if err != nil {
		return e
	}
	return doc
}

// attributeAssignment is SET name = value of an attribute.
func (b *binder) attributeAssignment(sc *scope, t *schema.Table, alias string, n *ast.Assignment) (logical.Assignment, bool, error) {
	pos, c := t.AttributesColumn(), n.Column
	wrongTable := c.Table.O != "" && !strings.EqualFold(c.Table.O, alias) || c.Schema.O != "" && !strings.EqualFold(c.Schema.O, t.Database)
	if pos < 0 || t.ColumnByName(c.Name.O) >= 0 || wrongTable {
		return logical.Assignment{}, false, nil
	}
	if err := define.CheckColumnName(c.Name.O); err != nil {
		return logical.Assignment{}, false, err
	}
	object, err := sc.resolve("", alias, t.Columns[pos].Name)
	if err != nil {
		return logical.Assignment{}, false, err
	}
	var e expr.Expr = expr.NewConst(value.Null, types.Null)
	if d, ok := n.Expr.(*ast.DefaultExpr); !ok || d.Name != nil {
		if e, err = b.value(sc, n.Expr); err != nil {
			return logical.Assignment{}, false, err
		}
	}
	return logical.Assignment{Column: pos, Value: expr.NewAttributesWith(object, []string{c.Name.O}, []expr.Expr{e})}, true, nil
}

// stored converts an expression to the form in which a column stores it.
func stored(e expr.Expr, c *schema.Column) expr.Expr {
	switch {
	case expr.IsVariant(e) && c.Type.ID == schema.TypeJSON:
		e = expr.VariantJSON(e)
	case expr.IsVariant(e):
		e = expr.VariantText(e)
	}
	return expr.Operand(e, c.Type)
}

// shown is a query whose attributes are text, the form in which clients get them.
func (b *binder) shown(r *result) *result {
	variant := false
	exprs := make([]expr.Expr, len(r.cols))
	for i := range r.cols {
		exprs[i] = colExpr(&r.cols[i])
		if expr.IsVariant(exprs[i]) {
			variant, exprs[i] = true, expr.VariantText(exprs[i])
		}
	}
	if !variant {
		return r
	}
	p := &logical.Project{Input: r.node, Exprs: exprs, Cols: make([]logical.Column, len(exprs))}
	for i, e := range exprs {
		p.Cols[i] = r.cols[i]
		if expr.IsVariant(colExpr(&r.cols[i])) {
			p.Cols[i] = logical.Column{ID: b.newID(), Name: r.cols[i].Name, T: e.Type(), Null: true}
		}
	}
	out := *r
	out.node, out.cols = p, p.Cols
	return &out
}
