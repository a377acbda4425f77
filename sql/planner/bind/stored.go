package bind

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/types"
)

// Descriptors keep expressions as text. Statements write such texts, with
// storedText, and use them (storedValue); package define binds them without a
// statement, with the Binder of NewBinder.

// storedLiterals is the sql_mode by which literals of times are read in stored
// expressions: a statement's own judged them when it made the descriptor.
const storedLiterals = types.ModeAllowInvalidDates

// NewBinder makes the binder of expressions that descriptors keep. It parses with
// the parsers of pool.
func NewBinder(pool *parser.Pool) define.Binder { return storedBinder{pool} }

// storedBinder implements define.Binder.
type storedBinder struct{ pool *parser.Pool }

// Bind implements define.Binder.
func (s storedBinder) Bind(text string, in define.Names) (define.Bound, error) {
	var out define.Bound
	n, err := parseStored(s.pool, text)
	if err != nil {
		return out, err
	}
	b := newBinder(&Env{Mode: define.Mode, Parser: s.pool})
	b.inStored = true
	sc := &scope{b: b, clause: clauseField, column: in.Column}
	if c, ok := isCastArray(n); ok && in.Index != nil {
		out.Expr, err = b.castArray(sc, c, *in.Index)
	} else {
		out.Expr, err = b.expr(sc, n)
	}
	if err != nil {
		return out, err
	}
	out.Condition = isCondition(n)
	if in.Stored != nil {
		out.Text, err = sqlText(n, storedLiterals, in.Stored)
	}
	return out, err
}

// stored is the binder of stored expressions with the statement's parsers.
func (b *binder) stored() define.Binder { return NewBinder(b.parser()) }

func (b *binder) parser() *parser.Pool {
	if b.env.Parser == nil {
		return parser.NewPool()
	}
	return b.env.Parser
}

// parseStored parses the text of an expression.
func parseStored(pool *parser.Pool, text string) (ast.ExprNode, error) {
	st, err := pool.Parse("SELECT "+text, define.Mode)
	if err != nil {
		return nil, err
	}
	s, ok := st.Node.(*ast.SelectStmt)
	if !ok || s.Fields == nil || len(s.Fields.Fields) != 1 || s.Fields.Fields[0].Expr == nil {
		return nil, internalf("expression %q of a table definition", text)
	}
	return s.Fields.Fields[0].Expr, nil
}

// storedText gives an expression of a statement for a descriptor.
func (b *binder) storedText(o define.Owner, n ast.ExprNode) (string, error) {
	text, err := sqlText(n, b.env.Mode, func(name string) string { return name })
	if banned, ok := errors.AsType[*bannedExpr](err); ok {
		return "", o.Banned(banned.variable, banned.function)
	}
	return text, err
}

// storedValue binds an expression of a descriptor for a statement.
func (b *binder) storedValue(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	b.inStored = true
	defer func() { b.inStored = false }()
	return b.value(sc, n)
}

// assignedDefault is the value of "c = DEFAULT", which may read the row; nil if
// the column has no default.
func (b *binder) assignedDefault(sc *scope, t *schema.Table, alias string, i int) (expr.Expr, error) {
	c := &t.Columns[i]
	if c.Default == nil || len(c.Default.Reads) == 0 {
		return b.columnDefault(c)
	}
	n, err := parseStored(b.parser(), define.DefaultText(c))
	if err != nil {
		return nil, err
	}
	own := *sc
	own.column = func(_, _, name string) (expr.Expr, error) { return sc.resolve("", alias, name) }
	return b.storedValue(&own, n)
}

// isCondition reports an expression that MySQL counts as a condition.
func isCondition(n ast.ExprNode) bool {
	switch n := n.(type) {
	case *ast.ParenthesesExpr:
		return isCondition(n.Expr)
	case *parser.Literal:
		return n.Kind == parser.LiteralBool
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor, opcode.GE, opcode.LE, opcode.EQ, opcode.NE, opcode.LT, opcode.GT, opcode.NullEQ:
			return true
		}
	case *ast.UnaryOperationExpr:
		return n.Op == opcode.Not || n.Op == opcode.Not2
	case *ast.BetweenExpr, *ast.IsNullExpr, *ast.IsTruthExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr:
		return true
	case *ast.FuncCallExpr:
		switch n.FnName.L {
		case "isnull", "regexp_like", "json_valid", "json_contains", "json_contains_path", "json_overlaps", ast.JSONMemberOf,
			"json_schema_valid", "is_uuid", "is_ipv4", "is_ipv6", "is_ipv4_compat", "is_ipv4_mapped":
			return true
		}
	}
	return false
}
