package define

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

func virtualPrimaryKey() error {
	return sqlerr.GeneratedAction("Defining a virtual generated column as primary key")
}

// ResolveColumns completes the expressions of the columns of t: generated columns
// and defaults. All else in t is complete. Names of columns take the form that
// the table has, Reads is set.
//
// Errors: 1054, 3102, 3107, 3109, 3763 to 3772 of the expressions, 3106 for a
// virtual column in the primary key.
func ResolveColumns(b Binder, t *schema.Table) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		var err error
		switch {
		case t.IsPartitionColumn(c.ID):
		case c.Generated != nil:
			err = resolveGenerated(b, t, i)
		case HasExprDefault(c):
			err = resolveDefault(b, t, i)
		}
		if err != nil {
			return err
		}
	}
	steps, err := compileSteps(b, t)
	if err != nil {
		return err
	}
	return checkGeneratedKeys(t, steps)
}

func resolveGenerated(b Binder, t *schema.Table, i int) error {
	c := &t.Columns[i]
	x, err := generatedOwner(c).bind(b, t, c.Generated.Expr)
	if err != nil {
		return err
	}
	for _, id := range x.reads {
		if j := t.ColumnIndex(id); !c.Hidden && t.Columns[j].Generated != nil && j >= i {
			return sqlerr.GeneratedNonPrior()
		}
	}
	g := *c.Generated
	g.Expr, g.Reads = x.text, x.reads
	c.Generated = &g
	return nil
}

// generatedOwner is the owner of a generated column, or of the expression of an
// index that has a hidden one.
func generatedOwner(c *schema.Column) Owner {
	if c.Hidden {
		return Owner{OfIndex, indexOfHidden(c.Name)}
	}
	return Owner{OfGenerated, c.Name}
}

// HasExprDefault reports DEFAULT (expr).
func HasExprDefault(c *schema.Column) bool {
	return c.Default != nil && len(c.Default.Expr) > 2 && c.Default.Expr[0] == '('
}

// DefaultText is the expression of DEFAULT (expr) without its parentheses.
func DefaultText(c *schema.Column) string { return c.Default.Expr[1 : len(c.Default.Expr)-1] }

func resolveDefault(b Binder, t *schema.Table, i int) error {
	c := &t.Columns[i]
	x, err := Owner{OfDefault, c.Name}.bind(b, t, DefaultText(c))
	if err != nil {
		return err
	}
	for _, id := range x.reads {
		j := t.ColumnIndex(id)
		if o := &t.Columns[j]; j >= i && (o.Generated != nil || HasExprDefault(o)) {
			return sqlerr.DefaultNonPrior(c.Name)
		}
	}
	d := *c.Default
	d.Expr, d.Reads = "("+x.text+")", x.reads
	c.Default = &d
	return nil
}

// compileSteps binds generated columns and the defaults that read columns, in
// an order in which each reads only what is computed: generated columns may
// read later columns with defaults, which may read earlier generated ones.
// 3767 when they go in a circle.
func compileSteps(b Binder, t *schema.Table) ([]derive.Step, error) {
	c := &stepCompiler{binder: b, t: t, state: make([]stepState, len(t.Columns))}
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
	binder Binder
	t      *schema.Table
	state  []stepState
	steps  []derive.Step
}

func (s *stepCompiler) visit(i int) error {
	c := &s.t.Columns[i]
	if s.t.IsPartitionColumn(c.ID) {
		return s.partition(i)
	}
	o, text := generatedOwner(c), ""
	switch {
	case c.Generated != nil:
		text = c.Generated.Expr
	case HasExprDefault(c) && len(c.Default.Reads) > 0:
		o.Kind, text = OfDefault, DefaultText(c)
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
	x, err := o.bind(s.binder, s.t, text)
	if err != nil {
		return err
	}
	step := derive.Step{Pos: i, Expr: x.e, Reads: x.positions(s.t), Default: o.Kind == OfDefault, ReadOnly: s.t.IsSearchForm(c.ID)}
	for _, pos := range step.Reads {
		if err := s.visit(pos); err != nil {
			return err
		}
	}
	step.Zoned = s.zoned(i, x)
	s.state[i] = stepDone
	s.steps = append(s.steps, step)
	return nil
}

// partition is visit for the column that has the partition, which no other reads.
func (s *stepCompiler) partition(i int) error {
	of, err := Partitioner(s.binder, s.t)
	if err != nil {
		return err
	}
	for _, pos := range of.Reads {
		if err := s.visit(pos); err != nil {
			return err
		}
	}
	s.state[i] = stepDone
	s.steps = append(s.steps, derive.Step{Pos: i, Expr: expr.NewPartitionOf(of, of.Args()), Reads: of.Reads})
	return nil
}

// zoned reports whether a column's value depends on the time zone, or the day,
// of whoever computes it.
func (s *stepCompiler) zoned(i int, x *expression) bool {
	if s.t.Columns[i].Type.ID == schema.TypeTimestamp {
		return true
	}
	zoned := false
	for _, id := range x.reads {
		c := s.t.Column(id)
		zoned = zoned || c.Type.ID == schema.TypeTimestamp || c.IsVirtual() && s.isZoned(s.t.ColumnIndex(id))
	}
	expr.Walk(x.e, func(e expr.Expr) bool {
		if f, ok := e.(*expr.Func); ok {
			// A TIME becomes a DATETIME of the current day.
			toDay := f.Op == expr.OpCast && f.T.HasDate() && f.Args[0].Type().ID == schema.TypeTime
			zoned = zoned || toDay || f.Op == expr.OpUnixTimestamp || f.Op == expr.OpFromUnixTime
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
