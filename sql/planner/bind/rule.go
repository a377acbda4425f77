package bind

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// ruleMode is the sql_mode under which expressions of descriptors are parsed
// and bound: the default one. Texts are printed by sqlText, which no mode
// that it has changes.
const ruleMode = types.DefaultSQLMode

// ruleLiterals is the sql_mode by which literals of times are read there: a
// statement's own judged them when it made the descriptor.
const ruleLiterals = types.ModeAllowInvalidDates

// ruleKind says what an expression of a descriptor is for. MySQL has errors of
// its own for each.
type ruleKind uint8

const (
	ruleCheck ruleKind = iota
	ruleGenerated
	ruleDefault
	ruleIndex
)

// rule is an expression of a descriptor with its owner: the name of the
// constraint or of the column.
type rule struct {
	kind  ruleKind
	owner string
}

// boundRule is a rule over the columns of a table.
type boundRule struct {
	node  ast.ExprNode
	e     expr.Expr
	text  string // with the names of the columns as the table has them
	reads []schema.ColumnID
}

// parseRule parses the text of an expression.
func parseRule(pool *parser.Pool, text string) (ast.ExprNode, error) {
	st, err := pool.Parse("SELECT "+text, ruleMode)
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
func (b *binder) storedText(r rule, n ast.ExprNode) (string, error) {
	text, err := sqlText(n, b.env.Mode, func(name string) string { return name })
	if banned, ok := errors.AsType[*bannedExpr](err); ok {
		return "", r.banned(banned)
	}
	return text, err
}

// banned is the error of something that must not be in the expression.
func (r rule) banned(b *bannedExpr) error {
	if r.kind == ruleIndex {
		return sqlerr.FunctionalIndexFunction(r.owner)
	}
	named := map[ruleKind]func(owner, function string) *sqlerr.Error{
		ruleCheck: sqlerr.CheckNamedFunction, ruleGenerated: sqlerr.GeneratedNamedFunction, ruleDefault: sqlerr.WrongSchemaOfDefault,
	}
	variables := map[ruleKind]func(owner string) *sqlerr.Error{
		ruleCheck: sqlerr.CheckVariables, ruleGenerated: sqlerr.GeneratedVariables, ruleDefault: sqlerr.DefaultVariables,
	}
	other := map[ruleKind]func(owner string) *sqlerr.Error{
		ruleCheck: sqlerr.CheckFunction, ruleGenerated: sqlerr.GeneratedFunction, ruleDefault: sqlerr.DefaultFunction,
	}
	switch {
	case b.variable:
		return variables[r.kind](r.owner)
	case b.function != "":
		return named[r.kind](r.owner, b.function)
	}
	return other[r.kind](r.owner)
}

func (r rule) rowValue() error {
	switch r.kind {
	case ruleGenerated:
		return sqlerr.GeneratedRowValue(r.owner)
	case ruleDefault:
		return sqlerr.DefaultRowValue(r.owner)
	case ruleIndex:
		return sqlerr.FunctionalIndexRowValue(r.owner)
	}
	return sqlerr.CheckRowValue(r.owner)
}

func (r rule) unknownColumn(name string) error {
	switch r.kind {
	case ruleGenerated:
		return sqlerr.UnknownColumn(name, "generated column function")
	case ruleDefault:
		return sqlerr.UnknownColumn(name, "default value expression")
	case ruleIndex:
		return sqlerr.UnknownColumn(name, "functional index")
	}
	return sqlerr.CheckUnknownColumn(r.owner, name)
}

func (r rule) autoIncrement() error {
	switch r.kind {
	case ruleGenerated:
		return sqlerr.GeneratedReadsAutoIncrement(r.owner)
	case ruleDefault:
		return sqlerr.DefaultReadsAutoIncrement(r.owner)
	case ruleIndex:
		return sqlerr.FunctionalIndexAutoIncrement(r.owner)
	}
	return sqlerr.CheckReadsAutoIncrement(r.owner)
}

// bind gives the text of a rule its meaning over t.
func (r rule) bind(pool *parser.Pool, t *schema.Table, text string) (*boundRule, error) {
	n, err := parseRule(pool, text)
	if err != nil {
		return nil, err
	}
	out := &boundRule{node: n}
	b := newBinder(&Env{Mode: ruleMode, Parser: pool})
	b.inRule = true
	sc := &scope{b: b, clause: clauseField}
	sc.column = func(_, _, name string) (expr.Expr, error) {
		i := t.ColumnByName(name)
		if attrs := t.AttributesColumn(); i < 0 && attrs >= 0 && checkColumnName(name) == nil {
			c := &t.Columns[attrs]
			if !slices.Contains(out.reads, c.ID) {
				out.reads = append(out.reads, c.ID)
			}
			return expr.NewAttribute(&expr.Col{ID: expr.ColID(-1 - attrs), Index: attrs, T: c.Type, Name: c.Name}, name), nil
		}
		if i < 0 || t.Columns[i].Hidden {
			return nil, r.unknownColumn(name)
		}
		c := &t.Columns[i]
		if c.AutoIncrement {
			return nil, r.autoIncrement()
		}
		if !slices.Contains(out.reads, c.ID) {
			out.reads = append(out.reads, c.ID)
		}
		return &expr.Col{ID: expr.ColID(-1 - i), Index: i, T: c.Type, Null: true, Name: c.Name}, nil
	}
	var e expr.Expr
	if c, ok := isCastArray(n); ok && r.kind == ruleIndex {
		e, err = b.castArray(sc, c, r.owner)
	} else {
		e, err = b.expr(sc, n)
	}
	if err != nil {
		return nil, err
	}
	if f, ok := e.(*expr.Func); ok && f.Name == "row" {
		return nil, r.rowValue()
	}
	if err := r.checkFunctions(e); err != nil {
		return nil, err
	}
	out.e = expr.Fold(&expr.Ctx{Env: types.Env{Mode: ruleMode}}, e)
	out.text, err = sqlText(n, ruleLiterals, func(name string) string {
		if i := t.ColumnByName(name); i >= 0 {
			return t.Columns[i].Name
		}
		return name
	})
	return out, err
}

// checkFunctions refuses functions whose value is not that of their arguments
// alone.
func (r rule) checkFunctions(e expr.Expr) error {
	var err error
	expr.Walk(e, func(x expr.Expr) bool {
		f, ok := x.(*expr.Func)
		if !ok || err != nil {
			return err == nil
		}
		switch f.Name {
		case "getvar", "getvar_each", "setvar", "sysvar":
			err = r.banned(&bannedExpr{variable: true})
		default:
			if r.kind == ruleDefault && !inDefault(f) || r.kind != ruleDefault && !isDeterministic(f) {
				err = r.banned(&bannedExpr{function: f.Name})
			}
		}
		return err == nil
	})
	return err
}

// isDeterministic reports a call that has the same value whoever evaluates it
// and when. The time zone does not count: MySQL lets it in. Nor do variables
// such as lc_time_names: these expressions are evaluated without a session,
// under the defaults.
func isDeterministic(f *expr.Func) bool {
	switch f.Name {
	case "timestamp", "from_unixtime", "convert_tz":
		return true
	case "unix_timestamp":
		return len(f.Args) > 0
	}
	return !f.B.Volatile && !expr.IsSessionFunc(f.Name)
}

// inDefault reports functions that MySQL allows in the default of a column:
// time and chance may be in it, the state of the session not.
func inDefault(f *expr.Func) bool {
	switch f.Name {
	case "sleep", "benchmark", "last_insert_id", "found_rows", "row_count", "get_lock", "release_lock", "is_free_lock", "is_used_lock",
		"release_all_locks":
		return false
	}
	return true
}

// CompileRules binds the rules of a table; nil when it has none.
func CompileRules(t *schema.Table) (*derive.Rules, error) {
	if !t.HasRules() {
		return nil, nil
	}
	pool := parser.NewPool()
	out := &derive.Rules{Table: t}
	var err error
	if out.Steps, err = compileSteps(pool, t); err != nil {
		return nil, err
	}
	for i := range t.Checks {
		c := &t.Checks[i]
		if c.NotEnforced {
			continue
		}
		var b *boundRule
		if b, err = (rule{kind: ruleCheck, owner: c.Name}).bind(pool, t, c.Expr); err != nil {
			return nil, err
		}
		out.Checks = append(out.Checks, derive.Check{Name: c.Name, Expr: b.e, Reads: positionsOf(t, b.reads)})
	}
	return out, nil
}

func positionsOf(t *schema.Table, ids []schema.ColumnID) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = t.ColumnIndex(id)
	}
	return out
}

// ResolveCheck completes a CHECK constraint of t, whose name is set, from its
// text: names of columns take the form that the table has, Reads is set.
// column is the one to which a column's own constraint belongs, -1 for none.
func ResolveCheck(pool *parser.Pool, t *schema.Table, c *schema.Check, column schema.ColumnID) error {
	r := rule{kind: ruleCheck, owner: c.Name}
	b, err := r.bind(pool, t, c.Expr)
	if err != nil {
		return err
	}
	if !isBoolean(b.node) {
		return sqlerr.CheckNotBoolean(c.Name)
	}
	if column != 0 {
		for _, id := range b.reads {
			if id != column {
				return sqlerr.ColumnCheckReadsOther(c.Name)
			}
		}
	}
	c.Expr, c.Reads = b.text, b.reads
	return nil
}

// isBoolean reports an expression that MySQL counts as a condition.
func isBoolean(n ast.ExprNode) bool {
	switch n := n.(type) {
	case *ast.ParenthesesExpr:
		return isBoolean(n.Expr)
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

// GeneratedCheckName is the name that MySQL gives a CHECK constraint without
// one: the highest number of such names of the table, plus one.
func GeneratedCheckName(t *schema.Table) string {
	highest := 0
	for i := range t.Checks {
		if n := CheckNumber(t.Name, t.Checks[i].Name); n > highest {
			highest = n
		}
	}
	return t.Name + checkInfix + itoa(highest+1)
}

const checkInfix = "_chk_"

// CheckNumber is the number of a generated name of a CHECK constraint of a
// table; 0 when the name is none.
func CheckNumber(table, name string) int {
	head := table + checkInfix
	if len(name) <= len(head) || !strings.EqualFold(name[:len(head)], head) {
		return 0
	}
	n, err := strconv.Atoi(name[len(head):])
	if err != nil || itoa(n) != name[len(head):] {
		return 0
	}
	return n
}
