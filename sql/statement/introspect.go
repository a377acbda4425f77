package statement

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/introspect"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// introspected is what information_schema and SHOW see of a session.
type introspected Connection

// ConnectionID implements infoschema.Session.
func (s *introspected) ConnectionID() uint64 { return s.Process.ID }

// Database implements infoschema.Session.
func (s *introspected) Database() string { return s.DB }

// Account implements infoschema.Session.
func (s *introspected) Account() (user, host string) { return s.Info.Account.User, s.Info.Account.Host }

// ClientHost implements infoschema.Session.
func (s *introspected) ClientHost() string { return (*Connection)(s).ClientHost() }

// Privileges implements infoschema.Session.
func (s *introspected) Privileges() *priv.Set { return s.rights.set }

// Warnings implements infoschema.Session.
func (s *introspected) Warnings() []sqlerr.Warning { return s.Diagnostics.warnings }

// Variables implements infoschema.Session.
func (s *introspected) Variables() []infoschema.Variable {
	return introspect.ConvertVariables(s.Vars.List(false))
}

// NameQuotes implements infoschema.Session.
func (s *introspected) NameQuotes() (ansi, always bool) {
	return s.Vars.Mode&types.ModeANSIQuotes != 0, s.Vars.Number("sql_quote_show_create") != 0
}

// Location implements infoschema.Session.
func (s *introspected) Location() *time.Location { return s.Vars.Location }

// DescribeView implements infoschema.ViewDescriber.
func (s *introspected) DescribeView(v *schema.View) ([]schema.Column, bool, error) {
	return (*Connection)(s).DescribeView(v)
}

// DescribeView gives the columns of a view, and whether it can be changed.
func (cn *Connection) DescribeView(v *schema.View) (cols []schema.Column, updatable bool, err error) {
	env := cn.bindEnv(context.Background(), nil)
	env.Warn = nil
	cols, updatable, _, err = bind.DescribeView(env, v)
	return cols, updatable, err
}

// TemporaryTable implements infoschema.TemporaryTables.
func (s *introspected) TemporaryTable(db, name string) *schema.Table {
	return (*Connection)(s).Temps.Find(db, name)
}
