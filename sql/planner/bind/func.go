package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	tidbtypes "github.com/pingcap/tidb/pkg/parser/types"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// funcCall binds a function call. Most functions are their name and their
// arguments; the rest carries words of the grammar among the arguments.
func (b *binder) funcCall(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	name := n.FnName.L
	if n.Schema.O != "" {
		return nil, sqlerr.FunctionDoesNotExist(n.Schema.O + "." + n.FnName.O)
	}
	switch name {
	case arrayExtractFunc:
		return nil, sqlerr.NotSupported("ARRAY_EXTRACT outside of a comparison with constants")
	case nestedQueryFunc:
		return b.nestedQuery(sc, n)
	case parser.DefaultExprFunc:
		if len(n.Args) != 1 {
			return nil, sqlerr.WrongParamCount("DEFAULT")
		}
		return b.value(sc, n.Args[0])
	case parser.IntroducerFunc:
		return b.introduced(n.Args)
	case parser.JSONValueFunc:
		return b.jsonValue(sc, n.Args)
	case parser.AtTimeZoneFunc:
		args, err := b.values(sc, n.Args)
		if err != nil {
			return nil, err
		}
		return expr.NewAtTimeZone(b.be, args[0], args[1])
	case ast.DateLiteral, ast.TimeLiteral, ast.TimestampLiteral:
		return b.timeLiteral(sc, n)
	case "date_add", "date_sub", "adddate", "subdate":
		return b.dateArith(sc, name, n)
	case "extract":
		return b.unitFirst(sc, n, 1, func(unit string, a []expr.Expr) (expr.Expr, error) { return expr.NewExtract(b.be, unit, a[0]) })
	case "timestampadd":
		return b.unitFirst(sc, n, 2, func(unit string, a []expr.Expr) (expr.Expr, error) {
			return expr.NewTimestampAdd(b.be, unit, a[0], a[1])
		})
	case "timestampdiff":
		return b.unitFirst(sc, n, 2, func(unit string, a []expr.Expr) (expr.Expr, error) {
			return expr.NewTimestampDiff(b.be, unit, a[0], a[1])
		})
	case "trim":
		return b.trim(sc, n)
	case "convert":
		return b.convertUsing(sc, n.Args)
	case "char", "char_func":
		return b.charFunc(sc, n.Args)
	case "get_format":
		return b.getFormat(sc, n)
	case "nextval", "lastval", "setval":
		return nil, sqlerr.NotSupported("sequence")
	case "any_value":
		if len(n.Args) != 1 {
			return nil, sqlerr.WrongParamCount("ANY_VALUE")
		}
		return b.anyValue(sc, n.Args[0])
	case "grouping":
		return b.groupingFunc(sc, n)
	case "text_match", "text_match_phrase", "text_match_fuzzy":
		return b.textMatch(sc, n)
	case "score":
		return b.score(sc, n)
	case "highlight":
		return b.highlight(sc, n)
	case ast.Concat:
		if e, err := b.concatChain(sc, n); e != nil || err != nil {
			return e, err
		}
	case "values":
		return nil, sqlerr.NotSupported("VALUES() outside of ON DUPLICATE KEY UPDATE")
	}
	if alias, ok := funcAliases[name]; ok {
		name = alias
	}
	args, err := b.exprs(sc, n.Args...)
	if err != nil {
		return nil, err
	}
	switch name {
	case "coalesce", "ifnull", "nullif", "greatest", "least":
		adapt(args, false)
	}
	e, err := expr.NewFunc(b.be, name, args...)
	if err != nil && !expr.IsFunc(name) {
		db := b.env.Database
		if db != "" {
			db += "."
		}
		return nil, sqlerr.FunctionDoesNotExist(db + n.FnName.O)
	}
	return e, err
}

// concatChain binds a || b || c, which arrives as CONCAT(CONCAT(a, b), c), as one
// call, where that has the same type: the calls in each other copy the text again
// and again. It is nil for a call of another form.
func (b *binder) concatChain(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	var parts []ast.ExprNode
	var left ast.ExprNode = n
	for {
		x, ok := left.(*ast.FuncCallExpr)
		if !ok || x.FnName.L != ast.Concat || x.Schema.O != "" || len(x.Args) != 2 {
			break
		}
		parts = append(parts, x.Args[1])
		left = x.Args[0]
	}
	if len(parts) < 2 {
		return nil, nil
	}
	parts = append(parts, left)
	slices.Reverse(parts)
	args, err := b.exprs(sc, parts...)
	if err != nil {
		return nil, err
	}
	e, err := expr.NewFunc(b.be, n.FnName.L, args...)
	if len(args) > maxNesting {
		return e, err
	}
	pairs := args[0]
	for _, a := range args[1:] {
		var failed error
		if pairs, failed = expr.NewFunc(b.be, n.FnName.L, pairs, a); failed != nil {
			return nil, failed
		}
	}
	if err == nil {
		if t, p := e.Type(), pairs.Type(); t.ID == p.ID && t.Len == p.Len && t.Collation == p.Collation {
			return e, nil
		}
	}
	return pairs, nil
}

// funcAliases are the grammar's own names for functions.
var funcAliases = map[string]string{
	"insert_func": "insert", "current_timestamp": "now", "localtime": "now", "localtimestamp": "now",
	"curdate": "current_date", "curtime": "current_time", "schema": "database", "session_user": "user", "system_user": "user",
	"position": "locate", "substr": "substring", "mid": "substring", "lcase": "lower", "ucase": "upper",
	"json_memberof": "member of",
}

// introduced is a literal with an introducer, see parser.IntroducerFunc.
func (b *binder) introduced(args []ast.ExprNode) (expr.Expr, error) {
	if len(args) == 2 {
		cs, ok1 := args[0].(*parser.Literal)
		l, ok2 := args[1].(*parser.Literal)
		if ok1 && ok2 && l.Datum.Kind() == value.KindBytes {
			return b.textLiteral(l, cs.GetString(), &expr.Const{D: l.Datum})
		}
	}
	return nil, internalf("introducer of %d arguments", len(args))
}

// jsonValue is JSON_VALUE with clauses, see parser.JSONValueFunc.
func (b *binder) jsonValue(sc *scope, args []ast.ExprNode) (expr.Expr, error) {
	list, err := b.values(sc, args)
	if err != nil {
		return nil, err
	}
	if len(list) != 7 {
		return nil, sqlerr.WrongParamCount("JSON_VALUE")
	}
	clause := func(i int) expr.JSONValueClause {
		c := expr.JSONValueClause{Default: list[i+1]}
		if k, ok := list[i].(*expr.Const); ok {
			c.Kind = k.D.Str()
		}
		return c
	}
	return expr.NewJSONValue(b.be, list[0], list[1], list[2].Type(), clause(3), clause(5))
}

// timeLiteral is DATE '…', TIME '…' and TIMESTAMP '…': 1525 if it is none. The
// ODBC forms {d '…'}, {t '…'} and {ts '…'} then mean their content.
func (b *binder) timeLiteral(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	mode := b.env.Mode
	if b.inStored {
		mode = storedLiterals
	}
	e, err := readTimeLiteral(mode, n)
	if e == nil && err == nil {
		return b.value(sc, n.Args[0])
	}
	return e, err
}

func isTimeLiteral(name string) bool {
	return name == ast.DateLiteral || name == ast.TimeLiteral || name == ast.TimestampLiteral
}

// readTimeLiteral is the value of a literal, error 1525 if it is none, and nil
// for an ODBC form that stands for its argument.
func readTimeLiteral(mode types.SQLMode, n *ast.FuncCallExpr) (expr.Expr, error) {
	l, isText := n.Args[0].(*parser.Literal)
	if !isText || l.Kind != parser.LiteralString {
		return nil, nil
	}
	name, s := n.FnName.L, []byte(l.GetString())
	ok := true
	env := &types.Env{Mode: mode, Warn: func(sqlerr.Warning) { ok = false }}
	t := types.DatetimeOf(fraction(string(s)))
	switch name {
	case ast.TimeLiteral:
		t = types.TimeOf(fraction(string(s)))
	case ast.DateLiteral:
		t = types.Date
	}
	var d value.Datum
	if t.ID == schema.TypeTime {
		v, is, err := types.ParseDuration(env, s, t.Scale)
		d, ok = value.DurationOf(v), ok && is && err == nil
	} else {
		v, is, err := types.ParseTime(env, s, t)
		d, ok = value.TimeOf(v), ok && is && err == nil
	}
	switch {
	case ok && types.IsLiteralOf(s, t.ID):
		return expr.NewConst(d, t), nil
	case !l.AfterKeyword:
		return nil, nil
	}
	kind := map[string]string{ast.TimeLiteral: "TIME", ast.DateLiteral: "DATE", ast.TimestampLiteral: "DATETIME"}[name]
	return nil, sqlerr.WrongValue(kind, l.GetString())
}

// fraction is the number of digits after the last point, at most 6.
func fraction(s string) int {
	i := strings.LastIndexByte(s, '.')
	if i < 0 || !strings.ContainsAny(s[:i], ":") {
		return 0
	}
	n := 0
	for j := i + 1; j < len(s) && s[j] >= '0' && s[j] <= '9'; j++ {
		n++
	}
	return min(n, 6)
}

func unitOf(n ast.ExprNode) (string, bool) {
	u, ok := n.(*ast.TimeUnitExpr)
	if !ok {
		return "", false
	}
	return strings.ToLower(u.Unit.String()), true
}

func (b *binder) dateArith(sc *scope, name string, n *ast.FuncCallExpr) (expr.Expr, error) {
	if len(n.Args) != 3 {
		return nil, sqlerr.WrongParamCount(strings.ToUpper(name))
	}
	unit, ok := unitOf(n.Args[2])
	if !ok {
		return nil, internalf("unit %T", n.Args[2])
	}
	args, err := b.values(sc, n.Args[:2])
	if err != nil {
		return nil, err
	}
	return expr.NewDateArith(b.be, strings.HasSuffix(name, "sub") || strings.HasPrefix(name, "sub"), args[0], args[1], unit)
}

func (b *binder) unitFirst(sc *scope, n *ast.FuncCallExpr, want int, make func(string, []expr.Expr) (expr.Expr, error)) (expr.Expr, error) {
	if len(n.Args) != want+1 {
		return nil, sqlerr.WrongParamCount(strings.ToUpper(n.FnName.L))
	}
	unit, ok := unitOf(n.Args[0])
	if !ok {
		return nil, internalf("unit %T", n.Args[0])
	}
	args, err := b.values(sc, n.Args[1:])
	if err != nil {
		return nil, err
	}
	return make(unit, args)
}

func (b *binder) trim(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	dir := "both"
	args := n.Args
	if len(args) == 3 {
		d, ok := args[2].(*ast.TrimDirectionExpr)
		if !ok {
			return nil, sqlerr.WrongParamCount("TRIM")
		}
		switch d.Direction {
		case ast.TrimLeading:
			dir = "leading"
		case ast.TrimTrailing:
			dir = "trailing"
		}
		args = args[:2]
	}
	list, err := b.values(sc, args)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > 2 {
		return nil, sqlerr.WrongParamCount("TRIM")
	}
	if len(list) == 1 {
		list = append(list, nil)
	}
	return expr.NewTrim(b.be, dir, list[0], list[1])
}

func (b *binder) convertUsing(sc *scope, args []ast.ExprNode) (expr.Expr, error) {
	if len(args) != 2 {
		return nil, sqlerr.WrongParamCount("CONVERT")
	}
	e, err := b.value(sc, args[0])
	if err != nil {
		return nil, err
	}
	l, ok := args[1].(*parser.Literal)
	if !ok {
		return nil, internalf("character set %T", args[1])
	}
	c, ok := collate.DefaultForCharset(l.GetString())
	if !ok {
		return nil, sqlerr.UnknownCharset(l.GetString())
	}
	return expr.NewConvertUsing(b.be, e, c.ID)
}

// charFunc is CHAR(n, … [USING cs]): the grammar puts the character set, or NULL,
// after the arguments.
func (b *binder) charFunc(sc *scope, args []ast.ExprNode) (expr.Expr, error) {
	if len(args) < 2 {
		return nil, sqlerr.WrongParamCount("CHAR")
	}
	l, ok := args[len(args)-1].(*parser.Literal)
	if !ok {
		return nil, internalf("character set %T", args[len(args)-1])
	}
	e, err := b.call(sc, "char", args[:len(args)-1]...)
	if err != nil || l.Kind == parser.LiteralNull {
		return e, err
	}
	c, ok := collate.DefaultForCharset(l.GetString())
	if !ok {
		return nil, sqlerr.UnknownCharset(l.GetString())
	}
	return expr.NewCharUsing(b.be, e, c.ID)
}

func (b *binder) getFormat(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	if len(n.Args) != 2 {
		return nil, sqlerr.WrongParamCount("GET_FORMAT")
	}
	sel, ok := n.Args[0].(*ast.GetFormatSelectorExpr)
	if !ok {
		return nil, internalf("format selector %T", n.Args[0])
	}
	kind := map[ast.GetFormatSelectorType]string{ast.GetFormatSelectorDate: "date", ast.GetFormatSelectorTime: "time", ast.GetFormatSelectorDatetime: "datetime"}[sel.Selector]
	e, err := b.value(sc, n.Args[1])
	if err != nil {
		return nil, err
	}
	return expr.NewFunc(b.be, "get_format", expr.NewConst(value.String(kind), types.VarcharOf(len(kind), b.collation())), e)
}

// castExpr is CAST(… AS type), CONVERT(…, type) and BINARY x.
func (b *binder) castExpr(sc *scope, n *ast.FuncCastExpr) (expr.Expr, error) {
	e, err := b.value(sc, n.Expr)
	if err != nil {
		return nil, err
	}
	t, err := b.castType(n, e.String())
	if err != nil {
		return nil, err
	}
	if n.FunctionType == ast.CastBinaryOperator {
		t = types.VarbinaryOf(schema.UnspecifiedLength)
		if e.Type().IsString() && e.Type().Len >= 0 {
			t.Len = e.Type().Len * maxBytes(e.Type().Collation)
		}
	}
	return expr.NewCast(b.be, e, t, true)
}

func maxBytes(c schema.CollationID) int { return collate.Must(c).MaxLen() }

// castTarget is the type in a cast without its ARRAY.
func castTarget(n *ast.FuncCastExpr) *tidbtypes.FieldType {
	if n.Tp.IsArray() {
		return n.Tp.ArrayType()
	}
	return n.Tp
}

// castType is the target of a cast; text shows the operand in messages.
func (b *binder) castType(n *ast.FuncCastExpr, text string) (schema.Type, error) {
	tp := n.Tp
	t := schema.Type{Collation: schema.CollationBinary, Len: schema.UnspecifiedLength}
	if tp.IsArray() {
		return t, sqlerr.NotSupported("Use of CAST( .. AS .. ARRAY) outside of functional index in CREATE(non-SELECT)/ALTER TABLE or in general expressions")
	}
	return b.scalarType(n, text)
}

// scalarType is the target of a cast, of its elements when it makes an array.
func (b *binder) scalarType(n *ast.FuncCastExpr, text string) (schema.Type, error) {
	tp := castTarget(n)
	t := schema.Type{Collation: schema.CollationBinary, Len: schema.UnspecifiedLength}
	switch tp.GetType() {
	case mysql.TypeLonglong:
		t = types.BigInt
		if mysql.HasUnsignedFlag(tp.GetFlag()) {
			t = types.UBigInt
		}
	case mysql.TypeNewDecimal:
		p, s := tp.GetFlen(), tp.GetDecimal()
		if p == tidbtypes.UnspecifiedLength || p == 0 {
			p = 10
		}
		if s == tidbtypes.UnspecifiedLength {
			s = 0
		}
		if err := define.CheckDecimal(p, s, text); err != nil {
			return t, err
		}
		t = types.DecimalOf(p, s)
	case mysql.TypeDouble:
		t = types.Double
	case mysql.TypeFloat:
		t = types.Double
		t.ID = schema.TypeFloat
	case mysql.TypeDate:
		t = types.Date
	case mysql.TypeYear:
		t.ID, t.Len = schema.TypeYear, 4
	case mysql.TypeDatetime, mysql.TypeDuration:
		fsp := max(tp.GetDecimal(), 0)
		if fsp > 6 {
			return t, sqlerr.PrecisionTooBig(fsp, text, 6)
		}
		t = types.DatetimeOf(fsp)
		if tp.GetType() == mysql.TypeDuration {
			t = types.TimeOf(fsp)
		}
	case mysql.TypeJSON:
		t = types.JSON
	case mysql.TypeVarString, mysql.TypeString, mysql.TypeVarchar:
		return b.castText(n)
	default:
		return t, sqlerr.NotSupported("CAST AS " + strings.ToUpper(tp.CompactStr()))
	}
	return t, nil
}

func (b *binder) castText(n *ast.FuncCastExpr) (schema.Type, error) {
	tp := castTarget(n)
	length := tp.GetFlen()
	if length < 0 {
		length = schema.UnspecifiedLength
	}
	coll := b.collation()
	switch {
	case tp.GetCharset() == "binary":
		coll = schema.CollationBinary
	case n.ExplicitCharSet:
		c, ok := collate.DefaultForCharset(tp.GetCharset())
		if !ok {
			return schema.Type{}, sqlerr.UnknownCharset(tp.GetCharset())
		}
		coll = c.ID
	}
	if length == schema.UnspecifiedLength {
		t := types.VarcharOf(length, coll)
		return t, nil
	}
	t := types.VarcharOf(length, coll)
	if coll == schema.CollationBinary {
		// CAST(x AS BINARY(n)) pads with zero bytes up to n.
		t.ID = schema.TypeBinary
	}
	return t, nil
}

// defaultFunc is DEFAULT(col).
func (b *binder) defaultFunc(sc *scope, n *ast.DefaultExpr) (expr.Expr, error) {
	if n.Name == nil {
		return nil, sqlerr.Parse("", "DEFAULT", 1)
	}
	e, err := sc.resolve(n.Name.Schema.O, n.Name.Table.O, n.Name.Name.O)
	if err != nil {
		return nil, err
	}
	c, ok := e.(*expr.Col)
	if !ok {
		return nil, sqlerr.NoDefaultForField(n.Name.Name.O)
	}
	col := sc.tableColumn(c)
	if col == nil {
		return nil, sqlerr.NoDefaultForField(n.Name.Name.O)
	}
	if define.HasExprDefault(col) {
		return nil, sqlerr.DefaultOfExpression()
	}
	if col.AutoIncrement {
		return expr.NewConst(types.ImplicitDefault(col.Type), col.Type), nil
	}
	d, err := b.columnDefault(col)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, sqlerr.NoDefaultForField(col.Name)
	}
	return d, nil
}

// tableColumn is the column of a base table that c reads, nil if it reads none.
func (sc *scope) tableColumn(c *expr.Col) *schema.Column {
	if sc.insert != nil {
		return sc.insert.tableColumn(c)
	}
	if sc.src == nil {
		return nil
	}
	for _, t := range sc.src.tables {
		if t.scan == nil {
			continue
		}
		for i := range t.scan.Cols {
			if t.scan.Cols[i].ID == c.ID {
				return &t.scan.Table.Columns[i]
			}
		}
	}
	return nil
}

// valuesFunc is VALUES(col) in ON DUPLICATE KEY UPDATE; elsewhere NULL.
func (b *binder) valuesFunc(sc *scope, n *ast.ValuesExpr) (expr.Expr, error) {
	name := n.Column.Name
	if sc.insert == nil || !sc.insert.onDuplicate {
		e, err := sc.resolve(name.Schema.O, name.Table.O, name.Name.O)
		if err != nil {
			return nil, err
		}
		return &expr.Const{T: e.Type(), Text: "NULL"}, nil
	}
	return sc.insert.values(name.Table.O, name.Name.O)
}
