package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// functionalIndex is the name that MySQL gives an index whose first part is an
// expression, before _2, _3, ….
const functionalIndex = "functional_index"

// keyExpr reads a key part that is an expression. 3762 for a bare column.
func keyExpr(index string, n ast.ExprNode) (string, error) {
	inner := n
	for {
		p, ok := inner.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		inner = p.Expr
	}
	if _, ok := inner.(*ast.ColumnNameExpr); ok {
		return "", sqlerr.FunctionalIndexOnField()
	}
	return rule{kind: ruleIndex, owner: index}.print(n)
}

// hasExpr reports a key with an expression among its parts.
func hasExpr(cols []logical.IndexColumn) bool {
	for _, c := range cols {
		if c.Expr != "" {
			return true
		}
	}
	return false
}

// KeyExpressions gives t a hidden virtual column for each part of an index that
// is an expression, as MySQL does, and returns the parts with the names of
// these columns. Parts that have one stay as they are. The index has its name.
//
// Errors: 3753 for JSON and 3757 for TEXT and BLOB, 3754, 3758, 1054 of the
// expression, 1235 for one that depends on the time zone.
func KeyExpressions(pool *parser.Pool, t *schema.Table, index string, cols []logical.IndexColumn) ([]logical.IndexColumn, error) {
	if !hasExpr(cols) {
		return cols, nil
	}
	out := append([]logical.IndexColumn(nil), cols...)
	for i := range out {
		if out[i].Expr == "" || out[i].Name != "" {
			continue
		}
		name, err := addKeyColumn(pool, t, index, out[i].Expr)
		if err != nil {
			return nil, err
		}
		out[i].Name = name
	}
	return out, nil
}

func addKeyColumn(pool *parser.Pool, t *schema.Table, index, text string) (string, error) {
	b, err := rule{kind: ruleIndex, owner: index}.bind(pool, t, text)
	if err != nil {
		return "", err
	}
	typ, err := keyColumnType(index, b.e)
	if err != nil {
		return "", err
	}
	c := schema.Column{ID: t.NextColumnID, Type: typ, Nullable: true, Hidden: true, Generated: &schema.Generated{Expr: b.text, Reads: b.reads}}
	for n := 0; c.Name == "" || t.ColumnByName(c.Name) >= 0; n++ {
		c.Name = hiddenKeyName(index, n)
	}
	t.NextColumnID++
	t.Columns = append(t.Columns, c)
	return c.Name, nil
}

// hiddenKeyName is the name of a column behind an expression; no user's column
// has one of this form. Names are cut so that they stay in the limit.
func hiddenKeyName(index string, n int) string {
	tail := "!" + itoa(n) + "!0"
	if r := []rune(index); len(r) > maxIdentifier-20 {
		index = string(r[:maxIdentifier-20])
	}
	return hiddenKeyPrefix + index + tail
}

const hiddenKeyPrefix = "!hidden!"

// indexOfHidden is the name of the index in the name of a hidden column.
func indexOfHidden(name string) string {
	name = strings.TrimPrefix(name, hiddenKeyPrefix)
	for range 2 {
		if i := strings.LastIndexByte(name, '!'); i >= 0 {
			name = name[:i]
		}
	}
	return name
}

// keyColumnType is the type of a column that holds all values of an expression.
func keyColumnType(index string, e expr.Expr) (schema.Type, error) {
	t := e.Type()
	switch {
	case t.ID == schema.TypeJSON, t.ID == schema.TypeGeometry:
		return t, sqlerr.FunctionalIndexOnJSON()
	case t.IsInteger():
		out := types.BigInt
		if t.Unsigned {
			out = types.UBigInt
		}
		return out, nil
	case t.IsFloat():
		return types.Double, nil
	case t.ID == schema.TypeDecimal, t.ID == schema.TypeDate, t.ID == schema.TypeDatetime, t.ID == schema.TypeTime, t.ID == schema.TypeYear:
		return t, nil
	case t.IsBlobOrText(), t.IsString() && (t.Len < 0 || t.Len > maxKeyBytes):
		return t, sqlerr.FunctionalIndexOnLOB()
	case t.IsCharacter():
		return types.VarcharOf(max(t.Len, 1), t.Collation), nil
	case t.IsBinary():
		return types.VarbinaryOf(max(t.Len, 1)), nil
	}
	return t, sqlerr.FunctionalIndexKey(index)
}
