package bind

import (
	"encoding/hex"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	tidbtypes "github.com/pingcap/tidb/pkg/parser/types"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// sqlText prints an expression as MySQL prints those that it keeps in table
// definitions: names in back-ticks and without their table, each operation in
// parentheses, functions in lower case, strings with their character set. The
// text parses to the same expression under every sql_mode that descriptors are
// read with (none that changes the grammar).
//
// column gives the name under which a column is printed; mode is the sql_mode
// that literals of times are judged by: 1525.
func sqlText(n ast.ExprNode, mode types.SQLMode, column func(name string) string) (string, error) {
	p := &exprPrinter{column: column, mode: mode}
	p.expr(n)
	return p.out.String(), p.err
}

// exprPrinter prints; the first error stays.
type exprPrinter struct {
	out    strings.Builder
	column func(name string) string
	mode   types.SQLMode
	depth  int
	err    error
}

// bannedExpr is what an expression of a descriptor must not hold. Function is
// its name where it has one.
type bannedExpr struct {
	function string
	variable bool
}

// Error implements error.
func (e *bannedExpr) Error() string { return "not allowed in a stored expression: " + e.function }

func (p *exprPrinter) ban(function string) {
	if p.err == nil {
		p.err = &bannedExpr{function: function}
	}
}

func (p *exprPrinter) put(s ...string) {
	for _, x := range s {
		p.out.WriteString(x)
	}
}

func quoteIdent(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// list prints expressions with a separator.
func (p *exprPrinter) list(sep string, list []ast.ExprNode) {
	for i, n := range list {
		if i > 0 {
			p.put(sep)
		}
		p.expr(n)
	}
}

func (p *exprPrinter) call(name string, args ...ast.ExprNode) {
	p.put(name, "(")
	p.list(",", args)
	p.put(")")
}

// infix prints (a op b).
func (p *exprPrinter) infix(a ast.ExprNode, op string, b ast.ExprNode) {
	p.put("(")
	p.expr(a)
	p.put(" ", op, " ")
	p.expr(b)
	p.put(")")
}

func notWord(not bool) string {
	if not {
		return "not "
	}
	return ""
}

func (p *exprPrinter) expr(n ast.ExprNode) {
	if p.depth++; p.depth > maxNesting && p.err == nil {
		p.err = sqlerr.NotSupported("an expression that nests this deeply in a table definition")
	}
	defer func() { p.depth-- }()
	if p.err != nil {
		return
	}
	switch n := n.(type) {
	case *parser.Literal:
		p.literal(n)
	case *ast.ParenthesesExpr:
		p.expr(n.Expr)
	case *ast.ColumnNameExpr:
		p.put(quoteIdent(p.column(n.Name.Name.O)))
	case *ast.BinaryOperationExpr:
		p.binary(n)
	case *ast.UnaryOperationExpr:
		p.unary(n)
	case *ast.BetweenExpr:
		p.put("(")
		p.expr(n.Expr)
		p.put(" ", notWord(n.Not), "between ")
		p.expr(n.Left)
		p.put(" and ")
		p.expr(n.Right)
		p.put(")")
	case *ast.CaseExpr:
		p.caseExpr(n)
	case *ast.IsNullExpr:
		p.put("(")
		p.expr(n.Expr)
		p.put(" is ", notWord(n.Not), "null)")
	case *ast.IsTruthExpr:
		p.put("(")
		p.expr(n.Expr)
		word := "false"
		if n.True != 0 {
			word = "true"
		}
		p.put(" is ", notWord(n.Not), word, ")")
	case *ast.PatternInExpr:
		if n.Sel != nil {
			p.ban("")
			return
		}
		p.put("(")
		p.expr(n.Expr)
		p.put(" ", notWord(n.Not), "in (")
		p.list(",", n.List)
		p.put("))")
	case *ast.PatternLikeOrIlikeExpr:
		p.like(n)
	case *ast.PatternRegexpExpr:
		if n.Not {
			p.put("(not(")
		}
		p.call("regexp_like", n.Expr, n.Pattern)
		if n.Not {
			p.put("))")
		}
	case *ast.RowExpr:
		p.call("", n.Values...)
	case *ast.FuncCallExpr:
		p.function(n)
	case *ast.FuncCastExpr:
		p.cast(n)
	case *ast.SetCollationExpr:
		p.put("(")
		p.expr(n.Expr)
		p.put(" collate ", strings.ToLower(n.Collate), ")")
	case *ast.DefaultExpr:
		p.ban("default")
	case *ast.ValuesExpr:
		p.ban("values")
	case *ast.VariableExpr:
		p.err = &bannedExpr{variable: true}
	case *ast.AggregateFuncExpr, *ast.WindowFuncExpr:
		p.err = sqlerr.InvalidGroupFunctionUse()
	default: // subqueries, parameters, MATCH, …
		p.ban("")
	}
}

func (p *exprPrinter) literal(l *parser.Literal) {
	switch l.Kind {
	case parser.LiteralNull:
		p.put("NULL")
	case parser.LiteralBool:
		word := "false"
		if l.Datum.Int() != 0 {
			word = "true"
		}
		p.put(word)
	case parser.LiteralHex, parser.LiteralBit:
		if cs := l.Introducer(); cs != "" {
			p.put("_", cs, " ")
		}
		p.put("0x", strings.ToUpper(hex.EncodeToString(l.Datum.Bytes())))
	case parser.LiteralString:
		cs := l.Introducer()
		if cs == "" {
			cs = "utf8mb4"
		}
		p.put("_", cs, "'", escapeText(l.Datum.Str()), "'")
	default:
		l.Format(&p.out)
	}
}

// escapeText is a string body in MySQL's form for definitions: quotes are
// escaped by a backslash.
func escapeText(s string) string { return strings.ReplaceAll(parser.QuoteBody(s), "''", `\'`) }

var printedOps = map[opcode.Op]string{
	opcode.LogicAnd: "and", opcode.LogicOr: "or", opcode.LogicXor: "xor",
	opcode.GE: ">=", opcode.LE: "<=", opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.GT: ">", opcode.NullEQ: "<=>",
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.IntDiv: "DIV", opcode.Mod: "%",
	opcode.And: "&", opcode.Or: "|", opcode.Xor: "^", opcode.LeftShift: "<<", opcode.RightShift: ">>",
}

func (p *exprPrinter) binary(n *ast.BinaryOperationExpr) {
	op, ok := printedOps[n.Op]
	if !ok {
		p.ban(n.Op.String())
		return
	}
	if n.Op != opcode.LogicAnd && n.Op != opcode.LogicOr {
		p.infix(n.L, op, n.R)
		return
	}
	// Chains are printed flat, without recursion on their left side.
	terms := []ast.ExprNode{n.R}
	left := n.L
	for {
		for {
			paren, ok := left.(*ast.ParenthesesExpr)
			if !ok {
				break
			}
			left = paren.Expr
		}
		x, ok := left.(*ast.BinaryOperationExpr)
		if !ok || x.Op != n.Op {
			break
		}
		terms = append(terms, x.R)
		left = x.L
	}
	p.put("(")
	p.expr(left)
	for i := len(terms) - 1; i >= 0; i-- {
		p.put(" ", op, " ")
		p.expr(terms[i])
	}
	p.put(")")
}

func (p *exprPrinter) unary(n *ast.UnaryOperationExpr) {
	switch n.Op {
	case opcode.Plus:
		p.expr(n.V)
	case opcode.Minus:
		if l, ok := n.V.(*parser.Literal); ok && l.Kind == parser.LiteralNumber {
			p.put("-")
			p.expr(l)
			return
		}
		p.call("-", n.V)
	case opcode.BitNeg:
		p.call("~", n.V)
	case opcode.Not, opcode.Not2:
		p.put("(not(")
		p.expr(n.V)
		p.put("))")
	default:
		p.ban(n.Op.String())
	}
}

func (p *exprPrinter) caseExpr(n *ast.CaseExpr) {
	p.put("(case ")
	if n.Value != nil {
		p.expr(n.Value)
		p.put(" ")
	}
	for _, w := range n.WhenClauses {
		p.put("when ")
		p.expr(w.Expr)
		p.put(" then ")
		p.expr(w.Result)
		p.put(" ")
	}
	if n.ElseClause != nil {
		p.put("else ")
		p.expr(n.ElseClause)
		p.put(" ")
	}
	p.put("end)")
}

func (p *exprPrinter) like(n *ast.PatternLikeOrIlikeExpr) {
	p.put("(")
	p.expr(n.Expr)
	p.put(" ", notWord(n.Not), "like ")
	p.expr(n.Pattern)
	if n.EscapeExplicit {
		esc := ""
		if n.Escape != 0 {
			esc = string([]byte{n.Escape})
		}
		p.put(" escape '", escapeText(esc), "'")
	}
	p.put(")")
}

// printedNames are the names that MySQL prints for synonyms.
var printedNames = map[string]string{
	"insert_func": "insert", "current_timestamp": "now", "localtime": "now", "localtimestamp": "now", "current_date": "curdate",
	"current_time": "curtime", "schema": "database", "substring": "substr", "mid": "substr", "lcase": "lower", "ucase": "upper",
	"position": "locate", "character_length": "char_length", "octet_length": "length", "power": "pow", "ceil": "ceiling",
	"day": "dayofmonth", "adddate": "date_add", "subdate": "date_sub",
}

func (p *exprPrinter) function(n *ast.FuncCallExpr) {
	name := n.FnName.L
	if n.Schema.O != "" {
		p.ban(quoteIdent(n.Schema.O) + "." + quoteIdent(n.FnName.O))
		return
	}
	if to, ok := printedNames[name]; ok {
		name = to
	}
	switch name {
	case parser.DefaultExprFunc:
		p.list("", n.Args)
	case ast.DateLiteral, ast.TimeLiteral, ast.TimestampLiteral:
		switch e, err := readTimeLiteral(p.mode, n); {
		case err != nil && p.err == nil:
			p.err = err
		case e == nil:
			p.expr(n.Args[0])
		default:
			word := map[string]string{ast.DateLiteral: "DATE", ast.TimeLiteral: "TIME", ast.TimestampLiteral: "TIMESTAMP"}[name]
			p.put(word, "'", escapeText(n.Args[0].(*parser.Literal).GetString()), "'")
		}
	case "date_add", "date_sub":
		p.dateArith(name, n)
	case "extract", "timestampadd", "timestampdiff":
		p.unitFunc(name, n)
	case "trim":
		p.trim(n)
	case "convert":
		p.using("convert(", n.Args[:1], n.Args[1])
	case "char", "char_func":
		p.using("char(", n.Args[:len(n.Args)-1], n.Args[len(n.Args)-1])
	case "get_format":
		p.getFormat(n)
	case ast.WeightString:
		p.weightString(n)
	case ast.JSONMemberOf:
		p.expr(n.Args[0])
		p.put(" member of (")
		p.expr(n.Args[1])
		p.put(")")
	case "isnull":
		p.put("(")
		p.list("", n.Args)
		p.put(" is null)")
	default:
		p.call(strings.ToLower(name), n.Args...)
	}
}

func (p *exprPrinter) dateArith(name string, n *ast.FuncCallExpr) {
	if len(n.Args) != 3 {
		p.ban(name)
		return
	}
	unit, ok := unitOf(n.Args[2])
	if !ok {
		p.ban(name)
		return
	}
	op := " + "
	if name == "date_sub" {
		op = " - "
	}
	p.put("(")
	p.expr(n.Args[0])
	p.put(op, "interval ")
	p.expr(n.Args[1])
	p.put(" ", unit, ")")
}

func (p *exprPrinter) unitFunc(name string, n *ast.FuncCallExpr) {
	unit, ok := unitOf(n.Args[0])
	if !ok {
		p.ban(name)
		return
	}
	if name == "extract" {
		p.put("extract(", unit, " from ")
		p.list("", n.Args[1:])
	} else {
		p.put(name, "(", strings.ToUpper(unit), ",")
		p.list(",", n.Args[1:])
	}
	p.put(")")
}

func (p *exprPrinter) trim(n *ast.FuncCallExpr) {
	p.put("trim(")
	if len(n.Args) == 3 {
		if d, ok := n.Args[2].(*ast.TrimDirectionExpr); ok {
			switch d.Direction {
			case ast.TrimLeading:
				p.put("leading ")
			case ast.TrimTrailing:
				p.put("trailing ")
			default:
				p.put("both ")
			}
		}
	}
	if len(n.Args) > 1 {
		if n.Args[1] != nil {
			if l, ok := n.Args[1].(*parser.Literal); !ok || l.Kind != parser.LiteralNull {
				p.expr(n.Args[1])
				p.put(" ")
			} else {
				p.put("_utf8mb4' ' ")
			}
		}
		p.put("from ")
	}
	p.expr(n.Args[0])
	p.put(")")
}

// using prints args with USING and a character set, which the grammar gives as
// a literal; NULL for none.
func (p *exprPrinter) using(open string, args []ast.ExprNode, charset ast.ExprNode) {
	p.put(open)
	p.list(",", args)
	if l, ok := charset.(*parser.Literal); ok && l.Kind != parser.LiteralNull {
		p.put(" using ", l.GetString())
	}
	p.put(")")
}

// weightString prints WEIGHT_STRING, whose AS is in the second and third argument.
func (p *exprPrinter) weightString(n *ast.FuncCallExpr) {
	p.put(n.FnName.L, "(")
	p.expr(n.Args[0])
	if len(n.Args) == 3 {
		if word, ok := n.Args[1].(*parser.Literal); ok {
			p.put(" as ", strings.ToLower(word.GetString()), "(")
			p.expr(n.Args[2])
			p.put(")")
		}
	}
	p.put(")")
}

func (p *exprPrinter) getFormat(n *ast.FuncCallExpr) {
	sel, ok := n.Args[0].(*ast.GetFormatSelectorExpr)
	if !ok || len(n.Args) != 2 {
		p.ban("get_format")
		return
	}
	word := map[ast.GetFormatSelectorType]string{ast.GetFormatSelectorDate: "DATE", ast.GetFormatSelectorTime: "TIME", ast.GetFormatSelectorDatetime: "DATETIME"}[sel.Selector]
	p.put("get_format(", word, ", ")
	p.expr(n.Args[1])
	p.put(")")
}

func (p *exprPrinter) cast(n *ast.FuncCastExpr) {
	p.put("cast(")
	p.expr(n.Expr)
	p.put(" as ", p.castType(n))
	if n.Tp.IsArray() {
		p.put(" array")
	}
	p.put(")")
}

func (p *exprPrinter) castType(n *ast.FuncCastExpr) string {
	tp := castTarget(n)
	if n.FunctionType == ast.CastBinaryOperator {
		return "char charset binary"
	}
	length := func(word string, n int) string {
		if n > 0 {
			return word + "(" + itoa(n) + ")"
		}
		return word
	}
	switch tp.GetType() {
	case mysql.TypeLonglong:
		if mysql.HasUnsignedFlag(tp.GetFlag()) {
			return "unsigned"
		}
		return "signed"
	case mysql.TypeNewDecimal:
		prec, scale := tp.GetFlen(), tp.GetDecimal()
		if prec == tidbtypes.UnspecifiedLength || prec == 0 {
			prec = 10
		}
		return "decimal(" + itoa(prec) + "," + itoa(max(scale, 0)) + ")"
	case mysql.TypeDouble:
		return "double"
	case mysql.TypeFloat:
		return "float"
	case mysql.TypeDate:
		return "date"
	case mysql.TypeYear:
		return "year"
	case mysql.TypeDatetime:
		return length("datetime", tp.GetDecimal())
	case mysql.TypeDuration:
		return length("time", tp.GetDecimal())
	case mysql.TypeJSON:
		return "json"
	case mysql.TypeVarString, mysql.TypeString, mysql.TypeVarchar:
		word := "char"
		if tp.GetFlen() >= 0 {
			word += "(" + itoa(tp.GetFlen()) + ")"
		}
		cs := "utf8mb4"
		if tp.GetCharset() == "binary" {
			if tp.GetFlen() >= 0 {
				return "binary(" + itoa(tp.GetFlen()) + ")"
			}
			cs = "binary"
		} else if n.ExplicitCharSet {
			cs = tp.GetCharset()
		}
		if n.Tp.IsArray() && !n.ExplicitCharSet {
			return word // it has no choice
		}
		return word + " charset " + cs
	}
	p.ban("cast")
	return ""
}
