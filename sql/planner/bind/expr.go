package bind

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// value binds an expression that is one value: 1241 for a row.
func (b *binder) value(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	e, err := b.expr(sc, n)
	if err != nil {
		return nil, err
	}
	if f, ok := e.(*expr.Func); ok && f.Op == expr.OpRow {
		return nil, sqlerr.OperandColumns(1)
	}
	return e, nil
}

// condition binds an expression that is used as a truth value.
func (b *binder) condition(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	e, err := b.value(sc, n)
	if err != nil {
		return nil, err
	}
	if sc.clause == clauseWhere || sc.innerOn {
		if e, err = b.zeroDates(sc, e); err != nil {
			return nil, err
		}
	}
	return expr.NewFilter(b.be, e)
}

// zeroDates has x IS NULL, where x is a DATE or DATETIME column that is NOT
// NULL, find zero dates, as MySQL does in WHERE and in the ON of inner joins, for
// clients that have no such dates (manual, "Comparison Functions and Operators", IS NULL).
func (b *binder) zeroDates(sc *scope, e expr.Expr) (expr.Expr, error) {
	f, ok := e.(*expr.Func)
	if !ok {
		return e, nil
	}
	switch f.Op {
	case expr.OpAnd, expr.OpOr:
		args := make([]expr.Expr, len(f.Args))
		changed := false
		for i, a := range f.Args {
			var err error
			if args[i], err = b.zeroDates(sc, a); err != nil {
				return nil, err
			}
			changed = changed || args[i] != a
		}
		if changed {
			return expr.NewOp(b.be, f.Op, args...)
		}
	case expr.OpNot:
		if inner, ok := f.Args[0].(*expr.Func); ok && inner.Op == expr.OpNot {
			return b.zeroDates(sc, inner.Args[0])
		}
	case expr.OpIsNull:
		c, ok := f.Args[0].(*expr.Col)
		if !ok || c.T.ID != schema.TypeDate && c.T.ID != schema.TypeDatetime || c.Null && (sc.src == nil || sc.src.node == nil || !declaredNotNull(sc.src.node, c.ID)) {
			return e, nil
		}
		zero, err := expr.NewFunc(b.be, "=", c, expr.NewConst(value.TimeOf(value.ZeroTime), c.T))
		if err != nil || !c.Null {
			return zero, err
		}
		return expr.NewFunc(b.be, "or", zero, e) // on the inner side of an outer join
	}
	return e, nil
}

// declaredNotNull reports a column of a table that is read below n, if NULL is
// no value of it there.
func declaredNotNull(n logical.Node, id expr.ColID) bool {
	if s, ok := n.(*logical.Scan); ok {
		for i, c := range s.Cols {
			if c.ID == id {
				return i < len(s.Table.Columns) && !s.Table.Columns[i].Nullable
			}
		}
	}
	for _, in := range n.Inputs() {
		if declaredNotNull(in, id) {
			return true
		}
	}
	return false
}

func (b *binder) values(sc *scope, list []ast.ExprNode) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, n := range list {
		e, err := b.value(sc, n)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// expr binds any expression, rows included.
func (b *binder) expr(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	done, err := b.nest()
	if err != nil {
		return nil, err
	}
	defer done()
	if b.hasNested {
		if e, err := b.nestedPart(sc, n); e != nil || err != nil {
			return e, err
		}
	}
	if e, err := b.anyElement(sc, n); e != nil || err != nil {
		return e, err
	}
	switch n := n.(type) {
	case *parser.Literal:
		return b.literal(n)
	case *parser.Param:
		return b.param(n), nil
	case *ast.ParenthesesExpr:
		return b.expr(sc, n.Expr)
	case *ast.ColumnNameExpr:
		e, err := sc.resolve(n.Name.Schema.O, n.Name.Table.O, n.Name.Name.O)
		if err != nil {
			return nil, err
		}
		b.canon.column(sc, n.Name, e)
		return b.padded(e), nil
	case *ast.BinaryOperationExpr:
		return b.binary(sc, n)
	case *ast.UnaryOperationExpr:
		return b.unary(sc, n)
	case *ast.BetweenExpr:
		return b.between(sc, n)
	case *ast.CaseExpr:
		return b.caseExpr(sc, n)
	case *ast.IsNullExpr:
		return b.isTest(sc, n.Expr, "is_null", n.Not)
	case *ast.IsTruthExpr:
		name := "is_false"
		if n.True != 0 {
			name = "is_true"
		}
		return b.isTest(sc, n.Expr, name, n.Not)
	case *ast.PatternInExpr:
		return b.in(sc, n)
	case *ast.PatternLikeOrIlikeExpr:
		return b.like(sc, n)
	case *ast.PatternRegexpExpr:
		return b.negated(n.Not, func() (expr.Expr, error) { return b.call(sc, "regexp_like", n.Expr, n.Pattern) })
	case *ast.RowExpr:
		return b.row(sc, n)
	case *ast.FuncCallExpr:
		return b.funcCall(sc, n)
	case *ast.FuncCastExpr:
		return b.castExpr(sc, n)
	case *ast.AggregateFuncExpr:
		return b.aggregate(sc, n)
	case *ast.WindowFuncExpr:
		return b.window(sc, n)
	case *ast.SubqueryExpr:
		return b.scalarSubquery(sc, n)
	case *ast.ExistsSubqueryExpr:
		return b.exists(sc, n)
	case *ast.CompareSubqueryExpr:
		return b.compareSubquery(sc, n)
	case *ast.DefaultExpr:
		return b.defaultFunc(sc, n)
	case *ast.ValuesExpr:
		return b.valuesFunc(sc, n)
	case *ast.VariableExpr:
		return b.variable(sc, n)
	case *ast.SetCollationExpr:
		return b.collate(sc, n)
	case *ast.PositionExpr:
		return expr.NewConst(value.Int(int64(n.N)), types.BigInt), nil
	case *ast.MatchAgainst:
		return b.matchAgainst(sc, n)
	case *ast.JSONSumCrc32Expr:
		return nil, sqlerr.NotSupported("JSON_SUM_CRC32")
	case *ast.MaxValueExpr:
		return nil, sqlerr.NotSupported("MAXVALUE")
	}
	return nil, internalf("expression %T", n)
}

// padded is a column as sql_mode says that it is read.
func (b *binder) padded(e expr.Expr) expr.Expr {
	if b.env.Mode&types.ModePadCharToFullLength == 0 {
		return e
	}
	return expr.NewPadChar(e)
}

// literal types a literal.
func (b *binder) literal(l *parser.Literal) (expr.Expr, error) {
	c := &expr.Const{D: l.Datum}
	switch l.Datum.Kind() {
	case value.KindNull:
		c.T = types.Null
	case value.KindInt:
		c.T = types.BigInt
		if l.Kind == parser.LiteralBool {
			c.T = types.Bool
		} else {
			c.T.Len = len(itoa(int(l.Datum.Int())))
		}
	case value.KindUint:
		c.T = types.UBigInt
	case value.KindFloat:
		c.T = types.Double
	case value.KindDecimal:
		c.T = b.decimalLiteral(l)
	default:
		return b.textLiteral(l, l.Introducer(), c)
	}
	return c, nil
}

// textLiteral types a text or hexadecimal literal. cs is its introducer, or "".
func (b *binder) textLiteral(l *parser.Literal, cs string, c *expr.Const) (expr.Expr, error) {
	s := l.Datum.Bytes()
	switch {
	case cs != "":
		coll, ok := collate.DefaultForCharset(cs)
		if !ok {
			return nil, sqlerr.UnknownCharset(cs)
		}
		if l.Kind == parser.LiteralString && b.env.Client != schema.CollationNone {
			s = b.fromUTF8(c, s, b.env.Client)
		}
		if filled := coll.FillLeft(s); len(filled) > len(s) {
			s, c.D = filled, value.Bytes(filled)
		}
		if !coll.Valid(s) {
			return nil, sqlerr.InvalidCharacterString(coll.Charset, define.InvalidText(s))
		}
		c.T = types.VarcharOf(coll.CharLen(s), coll.ID)
	case l.Kind == parser.LiteralHex || l.Kind == parser.LiteralBit:
		c.T, c.Hex = types.VarbinaryOf(len(s)), true
	default:
		coll := collate.Must(b.collation())
		s = b.fromUTF8(c, s, coll.ID)
		c.T = types.VarcharOf(coll.CharLen(s), coll.ID)
	}
	return c, nil
}

// fromUTF8 brings the literal c of the text s, which the parser has in UTF-8,
// into the character set of a collation.
func (b *binder) fromUTF8(c *expr.Const, s []byte, to schema.CollationID) []byte {
	from, target := collate.Must(schema.CollationUTF8MB40900AICI), collate.Must(to)
	if from.NeedsConversion(s, target) {
		s, _ = from.Convert(nil, s, target)
		c.D = value.Bytes(s)
	}
	return s
}

// param is a ?; one without a known type takes it from its context (adapt).
func (b *binder) param(p *parser.Param) *expr.Param {
	t := schema.Type{}
	if p.Index < len(b.params) {
		t = b.params[p.Index]
	}
	switch {
	case t.ID == schema.TypeNull && p.Index >= len(b.params):
		t = types.VarcharOf(unknownParamLen, b.collation())
	case t.IsCharacter() && t.Collation == schema.CollationNone:
		t.Collation = b.collation()
	}
	return &expr.Param{Index: p.Index, T: t}
}

// unknownParamLen marks the type of a parameter that has no type yet.
const unknownParamLen = 16384

func isUntyped(e expr.Expr) bool {
	p, ok := e.(*expr.Param)
	return ok && p.T.ID == schema.TypeVarchar && p.T.Len == unknownParamLen
}

// adapt types the untyped parameters among the operands of a comparison or
// arithmetic by the first operand that has a type.
func adapt(list []expr.Expr, arithmetic bool) {
	var t *schema.Type
	for _, e := range list {
		if !isUntyped(e) && e.Type().ID != schema.TypeNull && !expr.IsVariant(e) {
			x := e.Type()
			t = &x
			break
		}
	}
	if t == nil || arithmetic && !t.IsNumeric() {
		if !arithmetic {
			return
		}
		t = &types.Double
	}
	for i, e := range list {
		if isUntyped(e) {
			list[i] = &expr.Param{Index: e.(*expr.Param).Index, T: *t}
		}
	}
}

var binaryOps = map[opcode.Op]expr.Op{
	opcode.LogicAnd: expr.OpAnd, opcode.LogicOr: expr.OpOr, opcode.LogicXor: expr.OpXor,
	opcode.GE: expr.OpGE, opcode.LE: expr.OpLE, opcode.EQ: expr.OpEQ, opcode.NE: expr.OpNE, opcode.LT: expr.OpLT, opcode.GT: expr.OpGT, opcode.NullEQ: expr.OpNullEQ,
	opcode.Plus: expr.OpPlus, opcode.Minus: expr.OpMinus, opcode.Mul: expr.OpTimes, opcode.Div: expr.OpDivide, opcode.IntDiv: expr.OpIntDiv, opcode.Mod: expr.OpMod,
	opcode.And: expr.OpBitAnd, opcode.Or: expr.OpBitOr, opcode.Xor: expr.OpBitXor, opcode.LeftShift: expr.OpShiftLeft, opcode.RightShift: expr.OpShiftRight,
}

func (b *binder) binary(sc *scope, n *ast.BinaryOperationExpr) (expr.Expr, error) {
	op, ok := binaryOps[n.Op]
	if !ok {
		return nil, sqlerr.NotSupported("operator " + n.Op.String())
	}
	if op == expr.OpAnd || op == expr.OpOr {
		return b.logic(sc, n, op)
	}
	chain := []*ast.BinaryOperationExpr{n}
	for isArithmetic(op) {
		x, ok := chain[len(chain)-1].L.(*ast.BinaryOperationExpr)
		if !ok || !isArithmetic(binaryOps[x.Op]) {
			break
		}
		chain = append(chain, x)
	}
	if len(chain) > parser.MaxChain {
		return nil, sqlerr.ChainTooLong(parser.MaxChain)
	}
	l, err := b.expr(sc, chain[len(chain)-1].L)
	if err != nil {
		return nil, err
	}
	for _, x := range slices.Backward(chain) {
		r, err := b.expr(sc, x.R)
		if err != nil {
			return nil, err
		}
		if l, err = b.operation(binaryOps[x.Op], l, r); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// isArithmetic reports operators of numbers and bits, and XOR, of which a chain
// takes the left operand first and may be long.
func isArithmetic(op expr.Op) bool {
	switch op {
	case expr.OpPlus, expr.OpMinus, expr.OpTimes, expr.OpDivide, expr.OpIntDiv, expr.OpMod:
		return true
	case expr.OpBitAnd, expr.OpBitOr, expr.OpBitXor, expr.OpShiftLeft, expr.OpShiftRight, expr.OpXor:
		return true
	}
	return false
}

func (b *binder) operation(op expr.Op, l, r expr.Expr) (expr.Expr, error) {
	args := []expr.Expr{l, r}
	switch op {
	case expr.OpPlus, expr.OpMinus, expr.OpTimes, expr.OpDivide, expr.OpIntDiv, expr.OpMod:
		adapt(args, true)
	case expr.OpEQ, expr.OpNE, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpNullEQ:
		adapt(args, false)
	}
	return expr.NewOp(b.be, op, args...)
}

// logic binds a chain of AND or OR without recursion on its left side: chains
// of thousands of terms are common.
func (b *binder) logic(sc *scope, n *ast.BinaryOperationExpr, op expr.Op) (expr.Expr, error) {
	var terms []ast.ExprNode
	var left ast.ExprNode = n
	for {
		x, ok := left.(*ast.BinaryOperationExpr)
		if !ok || x.Op != n.Op {
			break
		}
		terms = append(terms, x.R)
		left = x.L
	}
	terms = append(terms, left)
	args := make([]expr.Expr, len(terms))
	for i := range terms {
		e, err := b.value(sc, terms[len(terms)-1-i])
		if err != nil {
			return nil, err
		}
		args[i] = e
	}
	return expr.NewOp(b.be, op, args...)
}

func (b *binder) unary(sc *scope, n *ast.UnaryOperationExpr) (expr.Expr, error) {
	if n.Op == opcode.Minus {
		if l, ok := n.V.(*parser.Literal); ok {
			if c := b.negative(l); c != nil {
				return c, nil
			}
		}
	}
	e, err := b.value(sc, n.V)
	if err != nil {
		return nil, err
	}
	switch n.Op {
	case opcode.Plus:
		return e, nil
	case opcode.Minus:
		args := []expr.Expr{e}
		adapt(args, true)
		return expr.NewFunc(b.be, "neg", args...)
	case opcode.Not, opcode.Not2:
		return expr.NewFunc(b.be, "not", e)
	case opcode.BitNeg:
		return expr.NewFunc(b.be, "~", e)
	}
	return nil, sqlerr.NotSupported("operator " + n.Op.String())
}

// decimalLiteral is the type of a decimal literal, whose value may have more
// digits than a DECIMAL: they count until it is stored or cast.
func (b *binder) decimalLiteral(l *parser.Literal) schema.Type {
	if l.TooLong != "" {
		b.warn(sqlerr.TruncatedWrongValue("DECIMAL", l.TooLong[:min(len(l.TooLong), 128)]))
	}
	return l.DecimalType()
}

// negative is a negative numeric literal; nil if l is no number.
func (b *binder) negative(l *parser.Literal) expr.Expr {
	if l.Kind != parser.LiteralNumber {
		return nil
	}
	switch l.Datum.Kind() {
	case value.KindInt:
		t := types.BigInt
		t.Len = 1 + len(itoa(int(l.Datum.Int())))
		return expr.NewConst(value.Int(-l.Datum.Int()), t)
	case value.KindUint:
		if l.Datum.Uint() == 1<<63 {
			return expr.NewConst(value.Int(-1<<63), types.BigInt)
		}
	case value.KindDecimal:
		return expr.NewConst(value.Dec(l.Datum.Decimal().Neg()), b.decimalLiteral(l))
	case value.KindFloat:
		return expr.NewConst(value.Float(-l.Datum.Float()), types.Double)
	}
	return nil
}

// negated puts NOT around what bind makes.
func (b *binder) negated(not bool, bind func() (expr.Expr, error)) (expr.Expr, error) {
	e, err := bind()
	if err != nil || !not {
		return e, err
	}
	return expr.NewFunc(b.be, "not", e)
}

// call binds a function over arguments that are values.
func (b *binder) call(sc *scope, name string, args ...ast.ExprNode) (expr.Expr, error) {
	list, err := b.values(sc, args)
	if err != nil {
		return nil, err
	}
	return expr.NewFunc(b.be, name, list...)
}

func (b *binder) isTest(sc *scope, n ast.ExprNode, name string, not bool) (expr.Expr, error) {
	return b.negated(not, func() (expr.Expr, error) { return b.call(sc, name, n) })
}

// between binds BETWEEN; its operand is bound once.
func (b *binder) between(sc *scope, n *ast.BetweenExpr) (expr.Expr, error) {
	list, err := b.exprs(sc, n.Expr, n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	adapt(list, false)
	return b.negated(n.Not, func() (expr.Expr, error) {
		return expr.NewBetween(b.be, list[0], list[1], list[2])
	})
}

func (b *binder) exprs(sc *scope, list ...ast.ExprNode) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, n := range list {
		e, err := b.expr(sc, n)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func (b *binder) caseExpr(sc *scope, n *ast.CaseExpr) (expr.Expr, error) {
	if n.Value == nil {
		return b.caseOf(sc, n, nil)
	}
	operand, err := b.value(sc, n.Value)
	if err != nil {
		return nil, err
	}
	if operand, err = b.plainYear(operand); err != nil {
		return nil, err
	}
	return expr.WithValue(operand, func(x expr.Expr) (expr.Expr, error) { return b.caseOf(sc, n, x) })
}

// plainYear is e as a number if it is a YEAR: CASE y WHEN 2 does not mean 2002.
func (b *binder) plainYear(e expr.Expr) (expr.Expr, error) {
	if e.Type().ID != schema.TypeYear {
		return e, nil
	}
	return expr.NewCast(b.be, e, types.BigInt, false)
}

// plainJSON makes text of JSON documents that CASE compares with documents or text: it
// does not know them, and finds 'null' in a JSON null
// (https://bugs.mysql.com/bug.php?id=116688). Numbers are compared as in JSON, while
// MySQL warns of documents that are none.
func (b *binder) plainJSON(pair []expr.Expr) (err error) {
	isText := func(e expr.Expr) bool { return e.Type().ID == schema.TypeJSON || e.Type().IsCharacter() }
	if !isText(pair[0]) || !isText(pair[1]) {
		return nil
	}
	for i, e := range pair {
		if e.Type().ID != schema.TypeJSON {
			continue
		}
		if pair[i], err = expr.NewCast(b.be, e, types.Text(schema.CollationUTF8MB4Bin), false); err != nil {
			return err
		}
	}
	return nil
}

// caseOf binds the branches of a CASE of operand, nil if it has none.
func (b *binder) caseOf(sc *scope, n *ast.CaseExpr, operand expr.Expr) (expr.Expr, error) {
	args := make([]expr.Expr, 0, 2*len(n.WhenClauses)+1)
	for _, w := range n.WhenClauses {
		when, err := b.value(sc, w.Expr)
		if err != nil {
			return nil, err
		}
		if operand != nil {
			if when, err = b.plainYear(when); err != nil {
				return nil, err
			}
			pair := []expr.Expr{operand, when}
			if err := b.plainJSON(pair); err != nil {
				return nil, err
			}
			adapt(pair, false)
			if when, err = expr.NewFunc(b.be, "=", pair...); err != nil {
				return nil, err
			}
		}
		then, err := b.value(sc, w.Result)
		if err != nil {
			return nil, err
		}
		args = append(args, when, then)
	}
	if n.ElseClause != nil {
		e, err := b.value(sc, n.ElseClause)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return expr.NewFunc(b.be, "case", args...)
}

func (b *binder) in(sc *scope, n *ast.PatternInExpr) (expr.Expr, error) {
	if n.Sel != nil {
		return b.negated(n.Not, func() (expr.Expr, error) { return b.inSubquery(sc, n) })
	}
	args := make([]expr.Expr, 0, len(n.List)+1)
	for _, x := range append([]ast.ExprNode{n.Expr}, n.List...) {
		e, err := b.expr(sc, x)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	adapt(args, false)
	return b.negated(n.Not, func() (expr.Expr, error) { return expr.NewFunc(b.be, "in", args...) })
}

func (b *binder) like(sc *scope, n *ast.PatternLikeOrIlikeExpr) (expr.Expr, error) {
	if !n.IsLike {
		return nil, sqlerr.NotSupported("ILIKE")
	}
	args, err := b.values(sc, []ast.ExprNode{n.Expr, n.Pattern})
	if err != nil {
		return nil, err
	}
	noBackslash := b.env.Mode&types.ModeNoBackslashEscapes != 0
	if n.EscapeExplicit || noBackslash {
		esc := ""
		// The grammar gives a backslash where none was written; without
		// backslash escapes there is no escape character then.
		if n.EscapeExplicit && n.Escape != 0 {
			esc = string([]byte{n.Escape})
		}
		if !n.EscapeExplicit || esc != `\` {
			args = append(args, expr.NewConst(value.String(esc), types.VarcharOf(len(esc), b.collation())))
		}
	}
	return b.negated(n.Not, func() (expr.Expr, error) { return expr.NewFunc(b.be, "like", args...) })
}

func (b *binder) row(sc *scope, n *ast.RowExpr) (expr.Expr, error) {
	list, err := b.exprs(sc, n.Values...)
	if err != nil {
		return nil, err
	}
	return expr.NewRow(list...)
}

func (b *binder) collate(sc *scope, n *ast.SetCollationExpr) (expr.Expr, error) {
	e, err := b.value(sc, n.Expr)
	if err != nil {
		return nil, err
	}
	c, ok := collate.ByName(n.Collate)
	if !ok {
		return nil, sqlerr.UnknownCollation(n.Collate)
	}
	return expr.NewCollate(b.be, e, c.ID)
}
