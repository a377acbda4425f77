package bind

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// generatedColumn reads [GENERATED ALWAYS] AS (expr) [VIRTUAL | STORED]. Its
// columns are resolved when all of the table are known.
func (b *binder) generatedColumn(d *columnDef, n ast.ExprNode, stored bool) error {
	text, err := b.storedText(rule{kind: ruleGenerated, owner: d.col.Name}, n)
	d.col.Generated = &schema.Generated{Expr: text, Stored: stored}
	return err
}

// checkGeneratedOptions refuses what a generated column cannot have: 1221 as
// MySQL's grammar has it, 3106.
func checkGeneratedOptions(d *columnDef, hasDefault bool) error {
	c := &d.col
	switch {
	case c.Generated == nil:
		return nil
	case hasDefault:
		return sqlerr.WrongUsage("DEFAULT", "generated column")
	case c.AutoIncrement:
		return sqlerr.WrongUsage("AUTO_INCREMENT", "generated column")
	case c.OnUpdateNow:
		return sqlerr.WrongUsage("ON UPDATE", "generated column")
	case d.primary && c.IsVirtual():
		return virtualPrimaryKey()
	}
	return nil
}

func virtualPrimaryKey() error {
	return sqlerr.GeneratedAction("Defining a virtual generated column as primary key")
}

// ResolveColumns completes the expressions of the columns of t, which is
// complete but for them: generated columns and defaults. Names of columns take
// the form that the table has, Reads is set.
//
// Errors: 1054, 3102, 3107, 3109, 3763 to 3772 of the expressions, 3106 for a
// virtual column in the primary key.
func ResolveColumns(pool *parser.Pool, t *schema.Table) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		var err error
		switch {
		case c.Generated != nil:
			err = resolveGenerated(pool, t, i)
		case hasExprDefault(c):
			err = resolveDefault(pool, t, i)
		}
		if err != nil {
			return err
		}
	}
	steps, err := compileSteps(pool, t)
	if err != nil {
		return err
	}
	return checkGeneratedKeys(t, steps)
}

func resolveGenerated(pool *parser.Pool, t *schema.Table, i int) error {
	c := &t.Columns[i]
	b, err := generatedRule(c).bind(pool, t, c.Generated.Expr)
	if err != nil {
		return err
	}
	for _, id := range b.reads {
		if j := t.ColumnIndex(id); !c.Hidden && t.Columns[j].Generated != nil && j >= i {
			return sqlerr.GeneratedNonPrior()
		}
	}
	g := *c.Generated
	g.Expr, g.Reads = b.text, b.reads
	c.Generated = &g
	return nil
}

// generatedRule is the rule of a generated column, or of the expression of an
// index behind a hidden one.
func generatedRule(c *schema.Column) rule {
	if c.Hidden {
		return rule{kind: ruleIndex, owner: indexOfHidden(c.Name)}
	}
	return rule{kind: ruleGenerated, owner: c.Name}
}

// hasExprDefault reports DEFAULT (expr).
func hasExprDefault(c *schema.Column) bool {
	return c.Default != nil && len(c.Default.Expr) > 2 && c.Default.Expr[0] == '('
}

// DefaultExpr is the expression of DEFAULT (expr) without its parentheses.
func defaultExpr(c *schema.Column) string { return c.Default.Expr[1 : len(c.Default.Expr)-1] }

func resolveDefault(pool *parser.Pool, t *schema.Table, i int) error {
	c := &t.Columns[i]
	r := rule{kind: ruleDefault, owner: c.Name}
	b, err := r.bind(pool, t, defaultExpr(c))
	if err != nil {
		return err
	}
	for _, id := range b.reads {
		j := t.ColumnIndex(id)
		if o := &t.Columns[j]; j >= i && (o.Generated != nil || hasExprDefault(o)) {
			return sqlerr.DefaultNonPrior(c.Name)
		}
	}
	d := *c.Default
	d.Expr, d.Reads = "("+b.text+")", b.reads
	c.Default = &d
	return nil
}

// compileSteps binds generated columns and the defaults that read columns, in
// an order in which each reads only what is computed: generated columns may
// read columns with defaults behind them, which may read generated ones before.
// 3767 when they go in a circle.
func compileSteps(pool *parser.Pool, t *schema.Table) ([]derive.Step, error) {
	c := &stepCompiler{pool: pool, t: t, state: make([]stepState, len(t.Columns))}
	for i := range t.Columns {
		if err := c.visit(i); err != nil {
			return nil, err
		}
	}
	return c.steps, nil
}

type stepState uint8

const (
	stepNew stepState = iota
	stepOpen
	stepDone
)

type stepCompiler struct {
	pool  *parser.Pool
	t     *schema.Table
	state []stepState
	steps []derive.Step
}

func (s *stepCompiler) visit(i int) error {
	c := &s.t.Columns[i]
	r, text := generatedRule(c), ""
	switch {
	case c.Generated != nil:
		text = c.Generated.Expr
	case hasExprDefault(c) && len(c.Default.Reads) > 0:
		r.kind, text = ruleDefault, defaultExpr(c)
	default:
		return nil
	}
	switch s.state[i] {
	case stepDone:
		return nil
	case stepOpen:
		return sqlerr.DefaultNonPrior(c.Name)
	}
	s.state[i] = stepOpen
	b, err := r.bind(s.pool, s.t, text)
	if err != nil {
		return err
	}
	step := derive.Step{Pos: i, Expr: b.e, Reads: positionsOf(s.t, b.reads), Default: r.kind == ruleDefault, ReadOnly: s.t.IsSearchForm(c.ID)}
	for _, pos := range step.Reads {
		if err := s.visit(pos); err != nil {
			return err
		}
	}
	step.Zoned = s.zoned(i, b)
	s.state[i] = stepDone
	s.steps = append(s.steps, step)
	return nil
}

// zoned reports whether a column's value depends on the time zone, or the day,
// of whoever computes it.
func (s *stepCompiler) zoned(i int, b *boundRule) bool {
	if s.t.Columns[i].Type.ID == schema.TypeTimestamp {
		return true
	}
	zoned := false
	for _, id := range b.reads {
		c := s.t.Column(id)
		zoned = zoned || c.Type.ID == schema.TypeTimestamp || c.IsVirtual() && s.isZoned(s.t.ColumnIndex(id))
	}
	expr.Walk(b.e, func(e expr.Expr) bool {
		if f, ok := e.(*expr.Func); ok {
			// A TIME becomes a DATETIME of the current day.
			toDay := f.Name == "cast" && f.T.HasDate() && f.Args[0].Type().ID == schema.TypeTime
			zoned = zoned || toDay || f.Name == "unix_timestamp" || f.Name == "from_unixtime"
		}
		return !zoned
	})
	return zoned
}

func (s *stepCompiler) isZoned(pos int) bool {
	return slices.ContainsFunc(s.steps, func(x derive.Step) bool { return x.Pos == pos && x.Zoned })
}

// checkGeneratedKeys refuses virtual columns in the primary key, and in indexes
// those whose value depends on the time zone of the session.
func checkGeneratedKeys(t *schema.Table, steps []derive.Step) error {
	for _, p := range t.PrimaryKey {
		if c := t.Column(p.Column); c != nil && c.IsVirtual() {
			return virtualPrimaryKey()
		}
	}
	for _, s := range steps {
		c := &t.Columns[s.Pos]
		if !s.Zoned || !c.IsVirtual() {
			continue
		}
		for i := range t.Indexes {
			x := &t.Indexes[i]
			if c.Hidden && indexOfHidden(c.Name) == x.Name {
				return sqlerr.NotSupported("functional index that depends on the time zone")
			}
			if slices.ContainsFunc(x.Parts, func(p schema.KeyPart) bool { return p.Column == c.ID }) || slices.Contains(x.Include, c.ID) {
				return sqlerr.NotSupported("index on a virtual column that depends on the time zone")
			}
		}
		for i := range t.Search {
			for _, x := range t.Search[i].Generations() {
				if slices.ContainsFunc(x.Fields, func(f schema.SearchField) bool { return f.Column == c.ID }) {
					return sqlerr.NotSupported("search index on an expression that depends on the time zone")
				}
			}
		}
	}
	return nil
}

// assignedDefault is the value of "c = DEFAULT", which may read the row; nil if
// the column has no default.
func (b *binder) assignedDefault(sc *scope, t *schema.Table, alias string, i int) (expr.Expr, error) {
	c := &t.Columns[i]
	if c.Default == nil || len(c.Default.Reads) == 0 {
		return b.columnDefault(c)
	}
	n, err := parseRule(b.parser(), defaultExpr(c))
	if err != nil {
		return nil, err
	}
	own := *sc
	own.column = func(_, _, name string) (expr.Expr, error) { return sc.resolve("", alias, name) }
	return b.ruleValue(&own, n)
}

// ruleValue binds an expression of a descriptor for a statement.
func (b *binder) ruleValue(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	b.inRule = true
	defer func() { b.inRule = false }()
	return b.value(sc, n)
}
