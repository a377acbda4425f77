package statement

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/audit"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// audited is what the audit log needs to know of the statement that runs. But for the
// refusal it is empty while the log is off.
type audited struct {
	class    audit.Class
	kind     string // "" for statements that are logged only if they are refused
	text     string // "" for that of the command
	command  string // "" for that of the process
	mode     types.SQLMode
	bound    logical.Statement // nil while it is not
	settings []audit.Change    // that it has made
	denied   *priv.Denied
	refusal  error // that denied was made
}

var classes = [...]audit.Class{bind.OfRows: 0, bind.OfAccounts: audit.Account, bind.OfSchema: audit.Schema, bind.OfSettings: audit.Setting, bind.OfServer: audit.Admin}

// eventNames are those of statements.
var eventNames = map[audit.Class]string{audit.Account: "account", audit.Schema: "schema", audit.Setting: "setting", audit.Admin: "admin"}

// watch notes what a statement is, for the audit log. Of one that another one executes,
// it is called last.
func (s *Statement) watch(st *parser.Statement, mode types.SQLMode) {
	if !s.Engine.Audit.On() {
		return
	}
	s.audit = audited{text: st.Text, mode: mode}
	if subject, kind := bind.SubjectOf(st); kind != "" {
		s.audit.class, s.audit.kind = classes[subject], kind
	}
}

// Ended ends a statement, or the preparation of one: its diagnostics and its lines in the
// logs and metrics. It returns the error for the client; w is nil for a preparation.
func (s *Statement) Ended(text string, err error, w mysqlwire.ResultWriter) error {
	err = s.Finish(err)
	if w != nil {
		s.endEvent(text, err, w)
	}
	if s.audit.kind != "" || err != nil {
		s.auditEnd(text, err)
	}
	s.audit = audited{}
	return err
}

// Audited writes the line of a command that is no statement, if it has one: it is of a
// kind, or was refused. It returns err.
func (s *Statement) Audited(command, kind, text string, err error) error {
	if kind == "" && err == nil || !s.Engine.Audit.On() {
		return err
	}
	if kind != "" {
		s.audit.class, s.audit.kind = audit.Admin, kind
	}
	s.audit.command = command
	s.auditEnd(text, err)
	s.audit = audited{}
	return err
}

// auditEnd writes the line of a statement that has ended.
func (s *Statement) auditEnd(text string, err error) {
	a := &s.audit
	if !s.Engine.Audit.On() {
		return
	}
	if a.text == "" {
		a.text, a.mode = text, s.Vars.Mode
	}
	x := s.auditEvent(a.class, eventNames[a.class])
	refused := err != nil && (errors.Is(err, a.refusal) || sqlerr.IsAccessDenied(err))
	if refused && s.Engine.Audit.Takes(audit.Denied) {
		x.Class, x.Name = audit.Denied, "denied"
	}
	if x.Name == "" || !s.Engine.Audit.Takes(x.Class) {
		return
	}
	if a.command != "" {
		x.Command = a.command
	}
	x.Statement, x.Text, x.Settings = a.kind, parser.HideSecrets(a.text, a.mode), a.settings
	if a.kind != "" {
		x.Objects = s.objectsOf(a.bound)
	}
	if refused && a.denied != nil && errors.Is(err, a.refusal) {
		describeDenied(&x, a.denied)
	}
	failed(&x, err)
	s.Engine.Audit.Write(&x)
}

// auditEvent is an event of the connection.
func (s *Statement) auditEvent(c audit.Class, name string) audit.Event {
	x := audit.Event{Class: c, Name: name, Database: s.DB, Command: s.Process.Command}
	DescribeLogin(&x, &s.Info)
	for _, r := range s.rights.roles {
		x.Roles = append(x.Roles, accountText(r.User, r.Host))
	}
	return x
}

// DescribeLogin says in an event who a client is.
func DescribeLogin(x *audit.Event, info *mysqlwire.ConnInfo) {
	x.Connection, x.User = info.ID, info.User
	if info.Account.Host != "" || info.Account.User != "" {
		x.Account = accountText(info.Account.User, info.Account.Host)
	}
	switch a := info.RemoteAddr.(type) {
	case nil:
	case *net.UnixAddr:
		x.Client = "socket"
	default:
		x.Client = a.String()
	}
	if info.TLS != nil {
		x.TLS = tls.VersionName(info.TLS.Version)
	}
	for _, a := range info.Attributes {
		if a[0] == "program_name" {
			x.Program = a[1]
		}
	}
}

func accountText(user, host string) string { return user + "@" + host }

// failed says in an event how it ended.
func failed(x *audit.Event, err error) {
	if err == nil {
		return
	}
	x.Failed = true
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		x.Number, x.Message = e.Number, e.Message
		return
	}
	x.Message = err.Error()
}

// Connected writes the line of a login.
func (s *Statement) Connected() {
	if !s.Engine.Audit.Takes(audit.Connect) {
		return
	}
	x := s.auditEvent(audit.Connect, "connect")
	x.Command = "Connect"
	if s.Info.ChangesUser {
		x.Command = "Change user"
	}
	s.Engine.Audit.Write(&x)
}

// Disconnected writes the line of the end of a connection.
func (s *Statement) Disconnected() {
	if !s.Engine.Audit.Takes(audit.Connect) {
		return
	}
	x := s.auditEvent(audit.Connect, "disconnect")
	x.Command = "Quit"
	s.Engine.Audit.Write(&x)
}

// describeDenied says in an event what was refused.
func describeDenied(x *audit.Event, d *priv.Denied) {
	x.Privilege = d.Command
	switch {
	case d.NeedsOneOf != "":
		x.Privilege = d.NeedsOneOf
	case d.View != "":
		x.Objects = []string{d.ViewDB + "." + d.View}
	case d.Column != "":
		x.Objects = []string{d.DB + "." + d.Table + "." + d.Column}
	case d.Table != "":
		x.Objects = []string{d.DB + "." + d.Table}
	case d.DB != "":
		x.Objects = []string{d.DB}
	}
}

// objectsOf are the names of what a statement is about; none if it could not be bound.
func (s *Statement) objectsOf(stmt logical.Statement) []string {
	switch x := stmt.(type) {
	case *logical.CreateDatabase:
		return []string{x.Name}
	case *logical.AlterDatabase:
		return []string{x.Name}
	case *logical.DropDatabase:
		return []string{x.Name}
	case *logical.CreateTable:
		return tableTexts(x.Name)
	case *logical.DropTable:
		return tableTexts(x.Tables...)
	case *logical.TruncateTable:
		return tableTexts(x.Table)
	case *logical.RenameTable:
		return tableTexts(slices.Concat(x.From, x.To)...)
	case *logical.AlterTable:
		return tableTexts(x.Table)
	case *logical.CreateView:
		return []string{x.View.Database + "." + x.View.Name}
	case *logical.DropView:
		return tableTexts(x.Views...)
	case *logical.AnalyzeTable:
		return tableTexts(x.Tables...)
	case *logical.Maintain:
		return tableTexts(x.Tables...)
	case *logical.LoadData:
		return []string{x.Insert.Table.Database + "." + x.Insert.Table.Name}
	}
	return s.accountsOf(stmt)
}

// accountsOf is objectsOf for statements about accounts: roles and the level of
// privileges come before the accounts.
func (s *Statement) accountsOf(stmt logical.Statement) []string {
	switch x := stmt.(type) {
	case *logical.CreateUser:
		return s.userTexts(nil, x.Users)
	case *logical.AlterUser:
		if x.DefaultRole != nil {
			return s.userTexts(roleTexts(x.DefaultRole.Roles), x.DefaultRole.Users)
		}
		return s.userTexts(nil, x.Users)
	case *logical.DropUser:
		return s.userTexts(nil, x.Users)
	case *logical.RenameUser:
		return s.userTexts(nil, slices.Concat(x.From, x.To))
	case *logical.SetPassword:
		return s.userTexts(nil, []logical.UserSpec{x.User})
	case *logical.Grant:
		level := "*.*"
		switch {
		case x.Level.Table != "":
			level = x.Level.DB + "." + x.Level.Table
		case x.Level.DB != "":
			level = x.Level.DB + ".*"
		}
		return s.userTexts([]string{level}, x.Users)
	case *logical.GrantRole:
		return s.userTexts(roleTexts(x.Roles), x.Users)
	case *logical.SetDefaultRole:
		return s.userTexts(roleTexts(x.Roles), x.Users)
	case *logical.SetRole:
		return roleTexts(x.Roles)
	}
	return nil
}

func tableTexts(list ...logical.TableName) (out []string) {
	for _, n := range list {
		out = append(out, n.DB+"."+n.Name)
	}
	return out
}

func roleTexts(list []priv.Name) (out []string) {
	for _, n := range list {
		out = append(out, accountText(n.User, n.Host))
	}
	return out
}

func (s *Statement) userTexts(out []string, list []logical.UserSpec) []string {
	for i := range list {
		if u := &list[i]; u.CurrentUser {
			out = append(out, accountText(s.Info.Account.User, s.Info.Account.Host))
		} else {
			out = append(out, accountText(u.User, u.Host))
		}
	}
	return out
}

var scopeNames = map[logical.SetScope]string{logical.SetGlobal: "global", logical.SetPersist: "persist", logical.SetPersistOnly: "persist_only"}

// setGlobal is setItem for variables of the server. The audit log has a line about its own
// variables, before the change where it might switch the line off.
func (s *Statement) setGlobal(ctx context.Context, it logical.SetItem, val *value.Datum, t schema.Type) error {
	d := s.Vars.Globals.Lookup(it.Name)
	own := sysvar.IsOfAudit(it.Name)
	if own && s.Engine.AuditForced && d != nil {
		return sqlerr.ReadOnlyVariable(d.Name)
	}
	if d == nil || !d.Dynamic || !own && !s.Engine.Audit.On() {
		return s.setItem(ctx, it, val, t)
	}
	change := audit.Change{Scope: scopeNames[it.Scope], Name: d.Name, Old: d.Text(s.Vars.Globals.Get(d))}
	warn := s.Vars.Warn
	s.Vars.Warn = nil // setItem warns
	stored, err := s.Vars.Checked(d, val, t)
	s.Vars.Warn = warn
	if err != nil {
		return s.setItem(ctx, it, val, t) // which makes the error
	}
	change.New = d.Text(stored)
	before := own && s.Engine.Audit.On()
	if before {
		s.auditOwn(change)
	}
	if err := s.setItem(ctx, it, val, t); err != nil {
		return err
	}
	if it.Scope != logical.SetPersistOnly {
		change.New = d.Text(s.Vars.Globals.Get(d))
	}
	s.audit.settings = append(s.audit.settings, change)
	if own && !before {
		s.auditOwn(change)
	}
	return nil
}

// auditOwn writes the line of a change of the audit log's own settings.
func (s *Statement) auditOwn(list ...audit.Change) {
	x := s.auditEvent(audit.Always, "audit")
	x.Statement, x.Text, x.Settings = s.audit.kind, parser.HideSecrets(s.audit.text, s.audit.mode), list
	s.Engine.Audit.Write(&x)
}

// resetsAudit is for RESET PERSIST, name "" for all variables: those of the audit log need
// AUDIT_ADMIN, 1227, and have a line in it.
func (s *Statement) resetsAudit(name string) error {
	var list []audit.Change
	for n, x := range s.Engine.Catalog.Snapshot().Settings() {
		if sysvar.IsOfAudit(n) && (name == "" || n == name) {
			list = append(list, audit.Change{Scope: "reset_persist", Name: n, Old: x.Value, New: s.Vars.Globals.Lookup(n).Text(s.Vars.Globals.Lookup(n).Default)})
		}
	}
	if list == nil {
		return nil
	}
	if err := s.Require(0, priv.AuditAdmin); err != nil {
		return err
	}
	s.auditOwn(list...)
	return nil
}
