package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// arrayExtractFunc is ARRAY_EXTRACT(array), one side of a comparison with
// constants: some element satisfies it. It is EXISTS over JSON_TABLE.
const arrayExtractFunc = "array_extract"

// elementColumns are an element as a text, a DOUBLE and a DECIMAL, each NULL if
// the element is no such value. Beyond 2^53 only the last distinguishes those
// that are DOUBLEs; only the first of the two has all numbers.
var elementColumns = []struct{ name, def string }{
	{"text", "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin"}, {"double", "DOUBLE"}, {"decimal", "DECIMAL(65,30)"},
}

func elementColumn(name string) ast.ExprNode {
	return &ast.ColumnNameExpr{Name: &ast.ColumnName{Table: ast.NewCIStr(arrayExtractFunc), Name: ast.NewCIStr(name)}}
}

// arrayOf is the call of ARRAY_EXTRACT that n is; nil: it is none.
func arrayOf(n ast.ExprNode) *ast.FuncCallExpr {
	for {
		p, ok := n.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		n = p.Expr
	}
	if f, ok := n.(*ast.FuncCallExpr); ok && f.FnName.L == arrayExtractFunc {
		return f
	}
	return nil
}

var mirroredOps = map[opcode.Op]opcode.Op{opcode.EQ: opcode.EQ, opcode.NE: opcode.NE, opcode.LT: opcode.GT, opcode.LE: opcode.GE, opcode.GT: opcode.LT, opcode.GE: opcode.LE}

// anyElement binds a comparison with ARRAY_EXTRACT; nil: n is another condition.
func (b *binder) anyElement(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	var array *ast.FuncCallExpr
	var cond ast.ExprNode
	var err error
	not := false
	switch n := n.(type) {
	case *ast.BinaryOperationExpr:
		other, op := n.R, n.Op
		if mirroredOps[op] == 0 {
			return nil, nil
		}
		if array = arrayOf(n.L); array == nil {
			array, other, op = arrayOf(n.R), n.L, mirroredOps[op]
		}
		if array == nil {
			return nil, nil
		}
		cond, err = b.elementCompare(sc, op, other)
	case *ast.BetweenExpr:
		if array = arrayOf(n.Expr); array == nil {
			return nil, nil
		}
		var low, high ast.ExprNode
		if low, err = b.elementCompare(sc, opcode.GE, n.Left); err != nil {
			return nil, err
		}
		high, err = b.elementCompare(sc, opcode.LE, n.Right)
		cond, not = both(opcode.LogicAnd, low, high), n.Not
	case *ast.PatternInExpr:
		if array = arrayOf(n.Expr); array == nil || n.Sel != nil {
			return nil, nil
		}
		not = n.Not
		for _, x := range n.List {
			one, err := b.elementCompare(sc, opcode.EQ, x)
			if err != nil {
				return nil, err
			}
			cond = both(opcode.LogicOr, cond, one)
		}
	case *ast.PatternLikeOrIlikeExpr:
		if array = arrayOf(n.Expr); array == nil {
			return nil, nil
		}
		if _, err = b.elementConst(sc, n.Pattern); err == nil {
			like := *n
			like.Expr = elementColumn("text")
			cond = &like
		}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if not {
		cond = &ast.UnaryOperationExpr{Op: opcode.Not2, V: cond}
	}
	return b.elementExists(sc, array, cond)
}

func both(op opcode.Op, l, r ast.ExprNode) ast.ExprNode {
	if l == nil {
		return r
	}
	return &ast.ParenthesesExpr{Expr: &ast.BinaryOperationExpr{Op: op, L: l, R: r}}
}

// elementConst is the type of a constant that elements are compared with: 1235 for
// all else.
func (b *binder) elementConst(sc *scope, n ast.ExprNode) (schema.Type, error) {
	subqueries := len(b.subqueries)
	e, err := b.value(sc, n)
	if err != nil {
		return schema.Type{}, err
	}
	t := e.Type()
	if c, ok := e.(*expr.Const); ok && c.Hex || len(b.subqueries) > subqueries || !expr.IsConst(e) || expr.ReadsOuter(e) ||
		t.ID != schema.TypeNull && !t.IsCharacter() && !t.IsInteger() && t.ID != schema.TypeDecimal && t.ID != schema.TypeDouble && t.ID != schema.TypeFloat {
		return t, sqlerr.NotSupported("ARRAY_EXTRACT compared with what is no constant number or text")
	}
	return t, nil
}

// elementCompare is a comparison of an element with a constant.
func (b *binder) elementCompare(sc *scope, op opcode.Op, n ast.ExprNode) (ast.ExprNode, error) {
	t, err := b.elementConst(sc, n)
	if err != nil {
		return nil, err
	}
	is := func(name string, op opcode.Op) ast.ExprNode {
		return &ast.BinaryOperationExpr{Op: op, L: elementColumn(name), R: n}
	}
	switch {
	case t.ID == schema.TypeDouble || t.ID == schema.TypeFloat:
		return is("double", op), nil
	case !t.IsInteger() && t.ID != schema.TypeDecimal:
		return is("text", op), nil
	}
	// Where they are the same DOUBLE, the DECIMAL decides.
	tie := both(opcode.LogicAnd, is("double", opcode.EQ), is("decimal", op))
	switch op {
	case opcode.LT, opcode.LE:
		return both(opcode.LogicOr, is("double", opcode.LT), tie), nil
	case opcode.GT, opcode.GE:
		return both(opcode.LogicOr, is("double", opcode.GT), tie), nil
	case opcode.NE:
		return both(opcode.LogicOr, is("double", opcode.NE), tie), nil
	}
	return tie, nil
}

// elementExists is EXISTS over the elements of an array for which cond is true. A
// single value is one element.
func (b *binder) elementExists(sc *scope, array *ast.FuncCallExpr, cond ast.ExprNode) (expr.Expr, error) {
	if len(array.Args) != 1 {
		return nil, sqlerr.WrongParamCount("ARRAY_EXTRACT")
	}
	if b.inStored {
		return nil, sqlerr.NotSupported("ARRAY_EXTRACT outside of queries")
	}
	doc := array.Args[0]
	column := doc
	if f, ok := doc.(*ast.FuncCallExpr); ok && f.FnName.L == "json_extract" && len(f.Args) == 2 {
		column = f.Args[0]
	}
	if _, ok := column.(*ast.ColumnNameExpr); !ok {
		return nil, sqlerr.WrongArguments(arrayExtractFunc)
	}
	e, err := b.value(sc, doc)
	if err != nil {
		return nil, err
	}
	if e.Type().ID != schema.TypeJSON {
		return nil, sqlerr.WrongArguments(arrayExtractFunc)
	}
	var cols []string
	used := elementNames{}
	cond.Accept(used)
	for _, c := range elementColumns {
		if used[c.name] {
			cols = append(cols, quoteIdent(c.name)+" "+c.def+" PATH '$'")
		}
	}
	q, err := b.parseQuery("SELECT 1 FROM JSON_TABLE(NULL, '$[0 to last]' COLUMNS ("+strings.Join(cols, ", ")+")) AS "+arrayExtractFunc+" WHERE 0", 0)
	if err != nil {
		return nil, err
	}
	s, ok := q.(*ast.SelectStmt)
	if !ok {
		return nil, internalf("the query of elements is %T", q)
	}
	from, ok := s.From.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return nil, internalf("the elements are %T", s.From.TableRefs.Left)
	}
	call := jsonTableCall(from.Source)
	if call == nil {
		return nil, internalf("the elements are of %T", from.Source)
	}
	call.Args[1], s.Where = doc, cond
	canon := b.canon
	b.canon = nil
	defer func() { b.canon = canon }()
	return b.exists(sc, &ast.ExistsSubqueryExpr{Sel: &ast.SubqueryExpr{Query: q, Exists: true}})
}

// elementNames are the columns of elements in a condition.
type elementNames map[string]bool

// Enter implements ast.Visitor.
func (v elementNames) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok && c.Table.L == arrayExtractFunc {
		v[c.Name.L] = true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v elementNames) Leave(n ast.Node) (ast.Node, bool) { return n, true }
