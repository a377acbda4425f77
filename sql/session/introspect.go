package session

import (
	"context"
	"strings"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// introspection is what information_schema sees of an engine.
type introspection Engine

// Catalog implements infoschema.Server.
func (e *introspection) Catalog() *catalog.Snapshot { return e.catalog.Snapshot() }

// Processes implements infoschema.Server.
func (e *introspection) Processes() []infoschema.Process {
	list := e.processes.List()
	out := make([]infoschema.Process, len(list))
	for i, p := range list {
		out[i] = infoschema.Process{ID: p.ID, User: p.User, Host: p.Host, DB: p.DB, Command: p.Command, State: p.State, Info: p.Info, Since: p.Since}
	}
	return out
}

// GlobalVariables implements infoschema.Server.
func (e *introspection) GlobalVariables() []infoschema.Variable {
	return convertVariables(newVars(e.globals).list(true))
}

func convertVariables(list []Variable) []infoschema.Variable {
	out := make([]infoschema.Variable, len(list))
	for i, v := range list {
		out[i] = infoschema.Variable(v)
	}
	return out
}

// Started implements infoschema.Server.
func (e *introspection) Started() time.Time { return e.started }

// TableRows implements infoschema.Server.
func (e *introspection) TableRows(t *schema.Table) float64 { return e.stats.TableRows(t) }

// TableSize implements infoschema.Server.
func (e *introspection) TableSize(t *schema.Table) (data, index int64) {
	all, err := e.store.EstimateSize(table.TableSpan(t.ID))
	if err != nil {
		return 0, 0
	}
	data, err = e.store.EstimateSize(table.IndexSpan(t.ID, schema.PrimaryIndexID))
	if err != nil {
		return 0, 0
	}
	return data, max(all-data, 0)
}

// Distinct implements infoschema.Server.
func (e *introspection) Distinct(t *schema.Table, columns []schema.ColumnID) float64 {
	return e.stats.Distinct(t, columns)
}

// NextAutoIncrement implements infoschema.Server.
func (e *introspection) NextAutoIncrement(t *schema.Table) uint64 {
	for _, c := range t.Columns {
		if c.AutoIncrement {
			next, err := e.sequences.Peek(context.Background(), t, table.AutoIncrement)
			if err != nil {
				return 0
			}
			return next
		}
	}
	return 0
}

// introspected is what information_schema and SHOW see of a session.
type introspected Session

// ConnectionID implements infoschema.Session.
func (s *introspected) ConnectionID() uint64 { return s.process.ID }

// Database implements infoschema.Session.
func (s *introspected) Database() string { return s.database }

// Account implements infoschema.Session.
func (s *introspected) Account() (user, host string) { return s.info.Account.User, s.info.Account.Host }

// Warnings implements infoschema.Session.
func (s *introspected) Warnings() []sqlerr.Warning { return s.warnings }

// Variables implements infoschema.Session.
func (s *introspected) Variables() []infoschema.Variable { return convertVariables(s.vars.list(false)) }

// Location implements infoschema.Session.
func (s *introspected) Location() *time.Location { return s.vars.loc }

// openVirtual reads a virtual table into memory: none is large, and the state
// that it shows must not change while it is read.
func (s *Session) openVirtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error) {
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
	err := s.engine.info.Rows(ctx, (*introspected)(s), v.Key, equal, func(row []value.Datum) error {
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
	snap := s.engine.catalog.Snapshot()
	if v, ok := snap.View(s.database, name); ok && s.temporary(s.database, name) == nil {
		cols, _, err := (*introspected)(s).DescribeView(v)
		for _, c := range cols {
			out = append(out, mysqlwire.Column{Database: v.Database, Table: v.Name, OrgTable: v.Name, Name: c.Name, OrgName: c.Name, Type: c.Type, NotNull: !c.Nullable})
		}
		return out, err
	}
	t, ok := s.visible().Table(s.database, name)
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
	env := (*Session)(s).bindEnv(nil)
	env.Warn = nil
	cols, updatable, _, err := bind.DescribeView(env, v)
	return cols, updatable, err
}

// TemporaryTable implements infoschema.TemporaryTables.
func (s *introspected) TemporaryTable(db, name string) *schema.Table {
	return (*Session)(s).temporary(db, name)
}
