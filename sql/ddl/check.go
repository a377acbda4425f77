package ddl

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// addCheck notes a new constraint: it is bound when all columns are there.
func (a *alteration) addCheck(s *logical.AlterSpec) {
	a.newChecks = append(a.newChecks, s)
	a.changed = true
}

// dropCheck is DROP CHECK: 3821.
func (a *alteration) dropCheck(s *logical.AlterSpec) error {
	i := a.t.CheckByName(s.Name)
	if i < 0 {
		return sqlerr.CheckNotFound(s.Name)
	}
	a.t.Checks, a.changed = slices.Delete(a.t.Checks, i, i+1), true
	return nil
}

// dropConstraint is DROP CONSTRAINT: of a CHECK, a unique key or the primary
// key. 3940 when no constraint has the name.
func (a *alteration) dropConstraint(s *logical.AlterSpec) error {
	if a.t.CheckByName(s.Name) >= 0 {
		return a.dropCheck(s)
	}
	if strings.EqualFold(s.Name, "PRIMARY") && a.hasPrimaryKey() {
		return a.dropPrimaryKey()
	}
	if a.t.ForeignKeyByName(s.Name) != nil {
		return a.dropForeignKey(s)
	}
	if i := a.findIndex(s.Name); i >= 0 && a.t.Indexes[i].Unique {
		a.removeIndex(i)
		return nil
	}
	return sqlerr.ConstraintNotFound(s.Name)
}

// enforceCheck is ALTER CHECK … [NOT] ENFORCED: 3821, 3941.
func (a *alteration) enforceCheck(s *logical.AlterSpec) error {
	i := a.t.CheckByName(s.Name)
	if i < 0 {
		if a.findIndex(s.Name) >= 0 {
			return sqlerr.ConstraintEnforcement(s.Name)
		}
		return sqlerr.CheckNotFound(s.Name)
	}
	c := &a.t.Checks[i]
	if c.NotEnforced && !s.Check.NotEnforced {
		a.validate = true
	}
	c.NotEnforced, a.changed = s.Check.NotEnforced, true
	return nil
}

// finishChecks completes the constraints when all columns are there. One that
// reads nothing but a dropped column goes with it; 3959 where it reads others
// too, or the column got another name.
func (a *alteration) finishChecks() error {
	var keep []schema.Check
	for _, c := range a.t.Checks {
		gone := false
		for _, id := range c.Reads {
			was, now := a.old.Column(id), a.t.Column(id)
			if now == nil && len(c.Reads) == 1 {
				gone = true
				continue
			}
			if now == nil || was != nil && now.Name != was.Name {
				return sqlerr.DependentByCheck(c.Name, was.Name)
			}
		}
		if !gone {
			keep = append(keep, c)
		}
	}
	a.t.Checks = keep
	// Given names come first: a generated one must not take them.
	for _, s := range a.newChecks {
		if s.Check.Name != "" && a.t.CheckByName(s.Check.Name) >= 0 {
			return sqlerr.CheckDuplicateName(s.Check.Name)
		}
		if err := define.AddCheck(a.c.r.Binder, a.t, s.Check, s.CheckColumn); err != nil {
			return err
		}
		a.validate = a.validate || !s.Check.NotEnforced
	}
	if a.target != nil {
		renameChecks(a.t, a.old.Name, a.target.Name)
	}
	return nil
}

// renameChecks gives the constraints of a table that gets another name, and
// whose names were generated from the old one, names of the new one.
func renameChecks(t *schema.Table, from, to string) {
	for i := range t.Checks {
		if n := define.CheckNumber(from, t.Checks[i].Name); n > 0 {
			t.Checks[i].Name = to + "_chk_" + strconv.Itoa(n)
		}
	}
	define.SortChecks(t)
}

// checkNames: the names of CHECK constraints are unique within a database,
// 3822. s is the catalog before t is put into it; without is the table that t
// replaces.
func checkNames(s *catalog.Snapshot, t *schema.Table, without schema.TableID) error {
	if len(t.Checks) == 0 {
		return nil
	}
	for _, o := range s.Tables(t.Database) {
		if o.ID == without {
			continue
		}
		for i := range t.Checks {
			if o.CheckByName(t.Checks[i].Name) >= 0 {
				return sqlerr.CheckDuplicateName(t.Checks[i].Name)
			}
		}
	}
	return nil
}

// exprCtx is where the expressions of a table are evaluated in a schema change.
func (c *change) exprCtx(ctx context.Context) *expr.Ctx {
	env := c.env.Types
	env.Write, env.Warn = true, c.env.Warn
	return &expr.Ctx{Env: env, Context: ctx}
}

// errFirst ends a scan at the first row that violates a constraint.
var errFirst = errors.New("a row violates a constraint")

// validateRows tests the constraints of the new form of the table on the existing
// rows: 3819. No other session uses the table.
func (a *alteration) validateRows(ctx context.Context) error {
	exprs, err := define.Compile(a.c.r.Binder, a.t)
	if err != nil || exprs == nil {
		return err
	}
	codec, err := a.c.codec(a.t)
	if err != nil {
		return err
	}
	a.c.state("checking constraints")
	v := newRowChecker(ctx, a.c, exprs)
	err = readRows(ctx, a.c.r.Store, codec, func(row []value.Datum) error {
		v.add(row)
		if v.batch.N < vec.MaxRows {
			return nil
		}
		return v.flush()
	})
	if err == nil {
		err = v.flush()
	}
	if errors.Is(err, errFirst) {
		return v.violation
	}
	return err
}

// rowChecker tests rows in batches.
type rowChecker struct {
	c         *change
	derive    *derive.Writer
	ctx       context.Context
	batch     *vec.Batch
	used      []bool // columns that constraints read
	violation error
}

func newRowChecker(ctx context.Context, c *change, exprs *derive.Exprs) *rowChecker {
	v := &rowChecker{c: c, derive: exprs.NewWriter(c.exprCtx(ctx)), ctx: ctx, used: make([]bool, len(exprs.Table.Columns))}
	kinds := make([]value.Kind, len(v.used))
	for i := range kinds {
		kinds[i] = types.KindOf(exprs.Table.Columns[i].Type)
	}
	for i := range exprs.Checks {
		for _, pos := range exprs.Checks[i].Reads {
			v.used[pos] = true
		}
	}
	v.batch = vec.NewBatch(kinds)
	v.reset()
	return v
}

func (v *rowChecker) reset() {
	v.batch.Reset()
	for i, col := range v.batch.Cols {
		if v.used[i] {
			col.Init(col.Kind, vec.MaxRows)
		}
	}
}

// add takes a row in its stored form.
func (v *rowChecker) add(row []value.Datum) {
	n := v.batch.N
	for i, used := range v.used {
		if used {
			v.batch.Cols[i].SetDatum(n, v.c.toSession(row[i], v.derive.Table.Columns[i].Type))
		}
	}
	v.batch.N++
}

func (v *rowChecker) flush() error {
	err := context.Cause(v.ctx)
	if err == nil {
		err = v.derive.CheckBatch(v.batch)
	}
	if err != nil {
		v.violation = err
		return errFirst
	}
	v.reset()
	return nil
}
