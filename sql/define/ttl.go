package define

import (
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// TTLChange are the options of TTL in CREATE and ALTER TABLE; what is empty does
// not change.
type TTLChange struct {
	Remove              bool
	Column, Value, Unit string
	Enable              *bool
	JobInterval         int64 // seconds
}

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

// AliveText is the condition that a row of a table with TTL has not expired. It
// names one column, the one at position column.
func AliveText(t *schema.Table) (text string, column int, err error) {
	i := t.ColumnIndex(t.TTL.Column)
	if i < 0 {
		return "", 0, internalf("table %s has no column %d for its TTL", t.Name, t.TTL.Column)
	}
	return "c IS NULL OR c > " + expiry(t), i, nil
}

// AliveRow is the condition over a row of a table with TTL that it has not
// expired: columns by their positions.
func AliveRow(b Binder, t *schema.Table) (expr.Expr, error) {
	text, i, err := AliveText(t)
	if err != nil {
		return nil, err
	}
	c := &t.Columns[i]
	x, err := b.Bind(text, Names{Column: func(_, _, _ string) (expr.Expr, error) {
		return &expr.Col{ID: expr.ColID(-1 - i), Index: i, T: c.Type, Null: true, Name: c.Name}, nil
	}})
	if err != nil {
		return nil, err
	}
	return expr.NewFilter(bindEnv(), x.Expr)
}

// SetTTL applies a change of TTL to a table: 1054, 8148, 8150, 8151.
func SetTTL(b Binder, t *schema.Table, c *TTLChange) error {
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
	if err := checkExpiry(b, t); err != nil {
		t.TTL = was
		return err
	}
	return nil
}

// checkExpiry refuses an interval that gives no time: NULL would hide all rows,
// and text that is no number would be 0.
func checkExpiry(b Binder, t *schema.Table) error {
	x, err := b.Bind(expiry(t), Names{Column: func(db, table, name string) (expr.Expr, error) {
		return nil, sqlerr.UnknownColumn(qualified(db, table, name), "field list")
	}})
	if err != nil {
		return err
	}
	if isRow(x.Expr) {
		return sqlerr.OperandColumns(1)
	}
	warned := false
	ec := &expr.Ctx{Env: types.Env{Mode: Mode, Loc: time.UTC, Now: time.Now(), Warn: func(sqlerr.Warning) { warned = true }}}
	d, err := expr.EvalRow(ec, x.Expr, nil)
	if err != nil {
		return err
	}
	if d.IsNull() || warned {
		return sqlerr.TTLInterval(t.TTL.Value + " " + t.TTL.Unit)
	}
	return nil
}
