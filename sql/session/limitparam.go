package session

import (
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// limitParams are the positions of the parameters that stand in a LIMIT.
func limitParams(stmt parser.Statement) []int {
	if len(stmt.Params) == 0 || stmt.Node == nil {
		return nil
	}
	v := &limitVisitor{}
	stmt.Node.Accept(v)
	return v.found
}

type limitVisitor struct{ found []int }

// Enter implements ast.Visitor.
func (v *limitVisitor) Enter(n ast.Node) (ast.Node, bool) {
	l, ok := n.(*ast.Limit)
	if !ok {
		return n, false
	}
	for _, e := range []ast.ExprNode{l.Count, l.Offset} {
		if p, ok := e.(*parser.Param); ok {
			v.found = append(v.found, p.Index)
		}
	}
	return n, true
}

// Leave implements ast.Visitor.
func (v *limitVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// limitParam makes the parameter of a LIMIT an unsigned integer: clients send
// it as DOUBLE, as DECIMAL or as text too. 1210 when it is no such number.
func limitParam(p *mysqlwire.Param) error {
	var n uint64
	ok := false
	switch p.D.Kind() {
	case value.KindInt:
		n, ok = uint64(p.D.Int()), p.D.Int() >= 0
	case value.KindUint:
		n, ok = p.D.Uint(), true
	case value.KindFloat:
		f := p.D.Float()
		ok = f >= 0 && f < 1<<63
		n = uint64(max(min(f, 1<<62), 0))
		ok = ok && float64(n) == f
	case value.KindDecimal:
		d := p.D.Decimal()
		if n, ok = d.Uint64(); ok {
			ok = value.DecimalFromUint(n).Cmp(d) == 0
		}
	case value.KindBytes:
		var err error
		n, err = strconv.ParseUint(p.D.Str(), 10, 64)
		ok = err == nil
	}
	if !ok {
		return sqlerr.WrongArguments("mysqld_stmt_execute")
	}
	p.D, p.Type = value.Uint(n), types.UBigInt
	return nil
}
