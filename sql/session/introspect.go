package session

import (
	"context"
	"strings"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/introspect"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// introspected is what information_schema and SHOW see of a session.
type introspected Connection

// ConnectionID implements infoschema.Session.
func (s *introspected) ConnectionID() uint64 { return s.process.ID }

// Database implements infoschema.Session.
func (s *introspected) Database() string { return s.database }

// Account implements infoschema.Session.
func (s *introspected) Account() (user, host string) { return s.info.Account.User, s.info.Account.Host }

// Warnings implements infoschema.Session.
func (s *introspected) Warnings() []sqlerr.Warning { return s.diag.warnings }

// Variables implements infoschema.Session.
func (s *introspected) Variables() []infoschema.Variable {
	return introspect.ConvertVariables(s.vars.List(false))
}

// Location implements infoschema.Session.
func (s *introspected) Location() *time.Location { return s.vars.Location }

// openVirtual reads a virtual table into memory: none is large, and the state
// that it shows must not change while it is read.
func (s *Statement) openVirtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error) {
	cols := v.Columns()
	equal := map[int]string{}
	for _, x := range v.Equal {
		d, err := expr.EvalConst(ec, x.Value)
		if err != nil {
			return nil, err
		}
		if d.Kind() == value.KindBytes {
			equal[x.Pos] = strings.Clone(d.Str())
		}
	}
	op := &rowsOperator{batch: vec.NewBatch(kindsOf(cols))}
	env := s.typesEnv()
	err := s.shared.info.Rows(ctx, (*introspected)(s.Connection), v.Key, equal, func(row []value.Datum) error {
		out := make([]value.Datum, len(v.Read))
		for i, pos := range v.Read {
			d, err := types.Cast(&env, row[pos], naturalType(row[pos]), cols[i].T)
			if err != nil {
				return err
			}
			out[i] = d.Clone()
		}
		op.rows = append(op.rows, out)
		return nil
	})
	return op, err
}

// naturalType is the type of a value that a provider made.
func naturalType(d value.Datum) schema.Type {
	switch d.Kind() {
	case value.KindInt:
		return types.BigInt
	case value.KindUint:
		return types.UBigInt
	case value.KindFloat:
		return types.Double
	case value.KindTime:
		return types.DatetimeOf(0)
	case value.KindNull:
		return types.Null
	}
	return types.Text(schema.CollationUTF8MB40900AICI)
}

func kindsOf(cols []physical.Column) []value.Kind {
	out := make([]value.Kind, len(cols))
	for i, c := range cols {
		out[i] = types.KindOf(c.T)
	}
	return out
}

// rowsOperator yields rows that are in memory.
type rowsOperator struct {
	rows  [][]value.Datum
	batch *vec.Batch
}

// Next implements exec.Operator.
func (o *rowsOperator) Next(context.Context) (*vec.Batch, error) {
	if len(o.rows) == 0 {
		return nil, nil
	}
	n := min(len(o.rows), vec.MaxRows)
	o.batch.Reset()
	for i, row := range o.rows[:n] {
		for j, d := range row {
			o.batch.Cols[j].SetDatum(i, d)
		}
	}
	o.batch.N = n
	o.rows = o.rows[n:]
	return o.batch, nil
}

// Close implements exec.Operator.
func (o *rowsOperator) Close() error { return nil }

// FieldList implements mysqlwire.Session: COM_FIELD_LIST.
func (s *Session) FieldList(ctx context.Context, name, wildcard string) ([]mysqlwire.Column, error) {
	if s.database == "" {
		return nil, sqlerr.NoDatabaseSelected()
	}
	var out []mysqlwire.Column
	snap := s.engine.Catalog.Snapshot()
	if v, ok := snap.View(s.database, name); ok && s.temps.temporary(s.database, name) == nil {
		cols, _, err := (*introspected)(s.Connection).DescribeView(v)
		for _, c := range cols {
			out = append(out, mysqlwire.Column{Database: v.Database, Table: v.Name, OrgTable: v.Name, Name: c.Name, OrgName: c.Name, Type: c.Type, NotNull: !c.Nullable})
		}
		return out, err
	}
	t, ok := s.temps.visible().Table(s.database, name)
	if !ok {
		return nil, sqlerr.NoSuchTable(s.database, name)
	}
	roles := t.Roles()
	for i, c := range t.Columns {
		if c.Hidden {
			continue
		}
		out = append(out, mysqlwire.Column{Database: t.Database, Table: t.Name, OrgTable: t.Name, Name: c.Name, OrgName: c.Name, Type: c.Type,
			NotNull: !c.Nullable, Role: roles[i]})
	}
	return out, nil
}

// DescribeView implements infoschema.ViewDescriber.
func (s *introspected) DescribeView(v *schema.View) ([]schema.Column, bool, error) {
	env := (*Connection)(s).bindEnv(nil)
	env.Warn = nil
	cols, updatable, _, err := bind.DescribeView(env, v)
	return cols, updatable, err
}

// TemporaryTable implements infoschema.TemporaryTables.
func (s *introspected) TemporaryTable(db, name string) *schema.Table {
	return (*Connection)(s).temps.temporary(db, name)
}
