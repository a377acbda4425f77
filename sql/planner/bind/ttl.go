package bind

import (
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// expiry is the time before which rows have expired, in SQL. TIMESTAMP columns
// have instants, the others are taken for UTC, so that the same rows expire in
// every session.
func expiry(t *schema.Table) string {
	now := "UTC_TIMESTAMP(6)"
	if t.Column(t.TTL.Column).Type.ID == schema.TypeTimestamp {
		now = "NOW(6)"
	}
	return now + " - INTERVAL " + t.TTL.Value + " " + t.TTL.Unit
}

// ExpiredSQL is the condition that a row of a table with TTL has expired.
func ExpiredSQL(t *schema.Table) string {
	return schema.QuoteName(t.Column(t.TTL.Column).Name) + " <= " + expiry(t)
}

// alive is the condition that a row has not expired; column is the column of
// the time.
func (b *binder) alive(t *schema.Table, column func(i int) expr.Expr) (expr.Expr, error) {
	i := t.ColumnIndex(t.TTL.Column)
	if i < 0 {
		return nil, internalf("table %s has no column %d for its TTL", t.Name, t.TTL.Column)
	}
	n, err := parseRule(b.parser(), "c IS NULL OR c > "+expiry(t))
	if err != nil {
		return nil, err
	}
	sc := b.scope(nil, nil, clauseField)
	sc.column = func(string, string, string) (expr.Expr, error) { return column(i), nil }
	return b.condition(sc, n)
}

// onlyAlive hides the expired rows of a scan.
func (b *binder) onlyAlive(s *logical.Scan) (logical.Node, error) {
	if !s.Table.Expires() || b.env.ShowExpired {
		return s, nil
	}
	e, err := b.alive(s.Table, func(i int) expr.Expr {
		c := &s.Cols[i]
		return &expr.Col{ID: c.ID, Index: -1, T: c.T, Null: c.Null, Table: c.Table, Name: c.Name}
	})
	if err != nil {
		return nil, err
	}
	return &logical.Filter{Input: s, Conds: []expr.Expr{e}}, nil
}

// AliveRow is the condition over a row of a table with TTL that it has not
// expired: columns by their positions.
func AliveRow(t *schema.Table) (expr.Expr, error) {
	return newBinder(&Env{Mode: ruleMode}).alive(t, func(i int) expr.Expr {
		c := &t.Columns[i]
		return &expr.Col{ID: expr.ColID(-1 - i), Index: i, T: c.Type, Null: true, Name: c.Name}
	})
}

// ttlChange collects the options of TTL; nil when there are none.
func ttlChange(list []*ast.TableOption) (*logical.TTLChange, error) {
	var c *logical.TTLChange
	for _, o := range list {
		switch o.Tp {
		case ast.TableOptionTTL, ast.TableOptionTTLEnable, ast.TableOptionTTLJobInterval:
			if c == nil {
				c = &logical.TTLChange{}
			}
		}
		switch o.Tp {
		case ast.TableOptionTTL:
			text, err := restore(o.Value)
			if err != nil {
				return nil, err
			}
			c.Column, c.Value, c.Unit = o.ColumnName.Name.O, text, o.TimeUnitValue.Unit.String()
		case ast.TableOptionTTLEnable:
			c.Enable = &o.BoolValue
		case ast.TableOptionTTLJobInterval:
			seconds, ok := duration(o.StrValue)
			if !ok {
				return nil, sqlerr.TTLJobInterval(o.StrValue)
			}
			c.JobInterval = seconds
		}
	}
	return c, nil
}

// SetTTL applies a change of TTL to a table: 1054, 8148, 8150, 8151.
func SetTTL(t *schema.Table, c *logical.TTLChange) error {
	if c.Remove {
		t.TTL = nil
		return nil
	}
	ttl := schema.TTL{}
	if t.TTL != nil {
		ttl = *t.TTL
	}
	if c.Column != "" {
		i := t.ColumnByName(c.Column)
		if i < 0 || t.Columns[i].Hidden {
			return sqlerr.UnknownColumn(c.Column, "TTL config")
		}
		switch t.Columns[i].Type.ID {
		case schema.TypeDate, schema.TypeDatetime, schema.TypeTimestamp:
		default:
			return sqlerr.TTLColumnType(t.Columns[i].Name)
		}
		ttl.Column, ttl.Value, ttl.Unit = t.Columns[i].ID, c.Value, strings.ToUpper(c.Unit)
	}
	if ttl.Column == 0 {
		return sqlerr.TTLOptionWithoutTTL()
	}
	if c.Enable != nil {
		ttl.Off = !*c.Enable
	}
	if c.JobInterval != 0 {
		ttl.JobInterval = c.JobInterval
	}
	was := t.TTL
	t.TTL = &ttl
	if err := checkExpiry(t); err != nil {
		t.TTL = was
		return err
	}
	return nil
}

// checkExpiry refuses an interval that gives no time: NULL would hide all rows,
// and text that is no number would be 0.
func checkExpiry(t *schema.Table) error {
	b := newBinder(&Env{Mode: ruleMode})
	n, err := parseRule(b.parser(), expiry(t))
	if err != nil {
		return err
	}
	e, err := b.value(b.scope(nil, nil, clauseField), n)
	if err != nil {
		return err
	}
	warned := false
	ec := &expr.Ctx{Env: types.Env{Mode: ruleMode, Loc: time.UTC, Now: time.Now(), Warn: func(sqlerr.Warning) { warned = true }}}
	d, err := expr.EvalRow(ec, e, nil)
	if err != nil {
		return err
	}
	if d.IsNull() || warned {
		return sqlerr.TTLInterval(t.TTL.Value + " " + t.TTL.Unit)
	}
	return nil
}
