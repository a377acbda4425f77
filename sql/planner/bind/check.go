package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// checkDef is a CHECK constraint as it was written. column is the one in whose
// definition it stands, "" for a constraint of the table.
type checkDef struct {
	name        string
	expr        ast.ExprNode
	notEnforced bool
	column      string
}

func newCheck(name string, n ast.ExprNode, enforced bool) (checkDef, error) {
	return checkDef{name: name, expr: n, notEnforced: !enforced}, checkName(name)
}

// check is the constraint with the text of its expression. generated is the
// name that it will have if it was given none; only errors say it.
func (b *binder) check(d *checkDef, generated string) (schema.Check, error) {
	owner := d.name
	if owner == "" {
		owner = generated
	}
	text, err := b.storedText(rule{kind: ruleCheck, owner: owner}, d.expr)
	return schema.Check{Name: d.name, Expr: text, NotEnforced: d.notEnforced}, err
}

// tableChecks binds the CHECK constraints of CREATE TABLE, after the columns.
// Errors: 3822, and those of ResolveCheck.
func (b *binder) tableChecks(t *schema.Table, list []checkDef) error {
	for _, d := range list {
		if d.name != "" && t.CheckByName(d.name) >= 0 {
			return sqlerr.CheckDuplicateName(d.name)
		}
		c, err := b.check(&d, GeneratedCheckName(t))
		if err != nil {
			return err
		}
		if err := AddCheck(b.parser(), t, c, d.column); err != nil {
			return err
		}
	}
	return nil
}

// AddCheck adds a CHECK constraint as it was written to t, whose columns are
// complete. An empty name gets a generated one. column is the column in whose
// definition the constraint stands, if it does.
func AddCheck(pool *parser.Pool, t *schema.Table, c schema.Check, column string) error {
	if c.Name == "" {
		c.Name = GeneratedCheckName(t)
	}
	if err := checkName(c.Name); err != nil {
		return err
	}
	var own schema.ColumnID
	if i := t.ColumnByName(column); column != "" && i >= 0 {
		own = t.Columns[i].ID
	}
	if err := ResolveCheck(pool, t, &c, own); err != nil {
		return err
	}
	t.Checks = append(t.Checks, c)
	SortChecks(t)
	return nil
}

// SortChecks brings the constraints into the order in which MySQL lists and
// tests them: by name.
func SortChecks(t *schema.Table) {
	slices.SortStableFunc(t.Checks, func(a, b schema.Check) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
}

func (b *binder) parser() *parser.Pool {
	if b.env.Parser == nil {
		return parser.NewPool()
	}
	return b.env.Parser
}

// checkSpecs are constraints as clauses of ALTER TABLE.
func (b *binder) checkSpecs(t *schema.Table, list []checkDef) ([]logical.AlterSpec, error) {
	out := make([]logical.AlterSpec, len(list))
	for i := range list {
		c, err := b.check(&list[i], GeneratedCheckName(t))
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

// namedConstraints tells DROP CONSTRAINT from DROP CHECK, for which the
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
