package define

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// HasDynamicColumns reports whether SECONDARY_ENGINE_ATTRIBUTE, which is valid,
// gives a table dynamic columns.
func HasDynamicColumns(text string) bool {
	var a struct {
		Dynamic bool `json:"dynamic_columns"`
	}
	return text != "" && json.Unmarshal([]byte(text), &a) == nil && a.Dynamic
}

// AttributesDefinition is the column that has the attributes of a row. MySQL
// reads it as a JSON column, so that a dump can be loaded there.
func AttributesDefinition() schema.Column {
	return schema.Column{Name: schema.AttributesName, Type: types.JSON, Default: &schema.Default{Expr: "(json_object())"}, Invisible: true, Attributes: true}
}

// AddDynamicColumns gives a new table the column of attributes. A definition with
// its name is that column: 1063.
func AddDynamicColumns(t *schema.Table) error {
	c := AttributesDefinition()
	i := t.ColumnByName(c.Name)
	if i < 0 {
		t.Columns = append(t.Columns, c)
		return nil
	}
	have := &t.Columns[i]
	if have.Type.ID != schema.TypeJSON || have.Generated != nil {
		return sqlerr.IncorrectColumnSpecifier(have.Name)
	}
	c.Comment, c.Invisible = have.Comment, have.Invisible
	*have = c
	return nil
}

// AttributesRead are the names of the attributes that the expressions of a
// table read, folded.
func AttributesRead(exprs *derive.Exprs) map[string]bool {
	out := map[string]bool{}
	if exprs == nil {
		return out
	}
	add := func(e expr.Expr) {
		expr.Walk(e, func(x expr.Expr) bool {
			if _, name, ok := expr.AsAttribute(x); ok {
				out[string(value.FoldName([]byte(name)))] = true
			}
			return true
		})
	}
	for i := range exprs.Steps {
		add(exprs.Steps[i].Expr)
	}
	for i := range exprs.Checks {
		add(exprs.Checks[i].Expr)
	}
	return out
}

// AttributesOnly are the names of AttributesRead; nil where an expression
// reads the attributes as a whole.
func AttributesOnly(exprs *derive.Exprs) []string {
	attrs := exprs.Table.AttributesColumn()
	whole := false
	for i := range exprs.Steps {
		expr.Walk(exprs.Steps[i].Expr, func(x expr.Expr) bool {
			if _, _, ok := expr.AsAttribute(x); ok {
				return false
			}
			c, ok := x.(*expr.Col)
			whole = whole || ok && c.Index == attrs
			return true
		})
	}
	if whole || attrs < 0 {
		return nil
	}
	return slices.AppendSeq([]string{}, maps.Keys(AttributesRead(exprs)))
}
