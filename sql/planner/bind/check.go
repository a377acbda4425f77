package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// checkDef is a CHECK constraint as it was written. column is the one in whose
// definition it is written, "" for a constraint of the table.
type checkDef struct {
	name        string
	expr        ast.ExprNode
	notEnforced bool
	column      string
}

func newCheck(name string, n ast.ExprNode, enforced bool) (checkDef, error) {
	return checkDef{name: name, expr: n, notEnforced: !enforced}, define.CheckName(name)
}

// check is the constraint with the text of its expression. generated is the
// name that it will have if it was given none; only errors say it.
func (b *binder) check(d *checkDef, generated string) (schema.Check, error) {
	owner := d.name
	if owner == "" {
		owner = generated
	}
	text, err := b.storedText(define.Owner{Kind: define.OfCheck, Name: owner}, d.expr)
	return schema.Check{Name: d.name, Expr: text, NotEnforced: d.notEnforced}, err
}

// tableChecks binds the CHECK constraints of CREATE TABLE, after the columns.
// Errors: 3822, and those of define.AddCheck.
func (b *binder) tableChecks(t *schema.Table, list []checkDef) error {
	for _, d := range list {
		if d.name != "" && t.CheckByName(d.name) >= 0 {
			return sqlerr.CheckDuplicateName(d.name)
		}
		c, err := b.check(&d, define.GeneratedCheckName(t))
		if err != nil {
			return err
		}
		if err := define.AddCheck(b.stored(), t, c, d.column); err != nil {
			return err
		}
	}
	return nil
}

// checkSpecs are constraints as clauses of ALTER TABLE.
func (b *binder) checkSpecs(t *schema.Table, list []checkDef) ([]logical.AlterSpec, error) {
	out := make([]logical.AlterSpec, len(list))
	for i := range list {
		c, err := b.check(&list[i], define.GeneratedCheckName(t))
		if err != nil {
			return nil, err
		}
		out[i] = logical.AlterSpec{Kind: logical.AlterAddCheck, Name: c.Name, Check: c, CheckColumn: list[i].column}
	}
	return out, nil
}

// addCheck is ADD CHECK.
func (b *binder) addCheck(t *schema.Table, n *ast.Constraint) ([]logical.AlterSpec, error) {
	d, err := newCheck(n.Name, n.Expr, n.Enforced)
	if err != nil {
		return nil, err
	}
	return b.checkSpecs(t, []checkDef{d})
}

// changeCheck is DROP CHECK and ALTER CHECK.
func changeCheck(s *ast.AlterTableSpec) []logical.AlterSpec {
	spec := logical.AlterSpec{Kind: logical.AlterDropCheck, Name: s.Constraint.Name}
	if s.Tp == ast.AlterTableAlterCheck {
		spec.Kind = logical.AlterEnforceCheck
		spec.Check.NotEnforced = !s.Constraint.Enforced
	}
	return one(spec)
}

// namedConstraints distinguishes DROP CONSTRAINT from DROP CHECK, for which the
// grammar has the same tree: a statement with the first in its text means
// constraints of any kind.
func namedConstraints(n *ast.AlterTableStmt, out *logical.AlterTable) {
	if !strings.Contains(strings.ToUpper(strings.Join(strings.Fields(n.Text()), " ")), "DROP CONSTRAINT") {
		return
	}
	for i := range out.Specs {
		if out.Specs[i].Kind == logical.AlterDropCheck {
			out.Specs[i].Kind = logical.AlterConstraint
		}
	}
}
