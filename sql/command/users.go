package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

func (s *commands) userName(u logical.UserSpec) (user, host string) {
	if u.CurrentUser {
		return s.Info.Account.User, s.Info.Account.Host
	}
	if u.Host == "" {
		return u.User, "%"
	}
	return u.User, u.Host
}

func quoteUser(user, host string) string { return "'" + user + "'@'" + host + "'" }

func quoteUsers(names []string) string { return strings.Join(names, ",") }

// accounts runs the statements about accounts that may answer with passwords.
func (s *commands) accounts(ctx context.Context, stmt logical.Statement, more bool, w mysqlwire.ResultWriter) error {
	var list []generatedPassword
	var err error
	switch x := stmt.(type) {
	case *logical.CreateUser:
		list, err = s.createUser(ctx, x)
	case *logical.AlterUser:
		list, err = s.alterUser(ctx, x)
	case *logical.SetPassword:
		list, err = s.setPassword(ctx, x)
	}
	if err != nil {
		return err
	}
	return s.answer(list, more, w)
}

// accountEdit is what a statement makes of accounts.
type accountEdit struct {
	s         *commands
	operation string // for messages
	base      *catalog.Snapshot
	now       time.Time
	// seen are the accounts as they were found, nil for those that did not exist; changed
	// are the new ones, in their order.
	seen      map[priv.Name]*catalog.Account
	changed   []*catalog.Account
	notes     []*sqlerr.Error
	orphans   []*sqlerr.Error // warnings of checkDefiners
	generated []generatedPassword
	defaults  []priv.Name // DEFAULT ROLE
}

// find is an account with the changes made so far; nil if it does not exist.
func (e *accountEdit) find(user, host string) *catalog.Account {
	for _, a := range slices.Backward(e.changed) {
		if a.User == user && a.Host == host {
			return a
		}
	}
	a := e.base.Account(user, host)
	e.seen[priv.Name{User: user, Host: host}] = a
	return a
}

// errAccountsChanged: another statement has changed an account meanwhile.
var errAccountsChanged = errors.New("an account has changed")

// apply puts the changed accounts into the catalog.
func (e *accountEdit) apply(ch accountChange) error {
	for n, a := range e.seen {
		if ch.Base.Account(n.User, n.Host) != a {
			return errAccountsChanged
		}
	}
	for _, a := range e.changed {
		ch.PutAccount(a)
		if len(e.defaults) > 0 {
			g := ch.Grants(a.Name()).Clone()
			for _, r := range e.defaults { // CREATE USER grants its default roles
				g.AddRole(priv.Role{Name: r})
			}
			g.SetDefault(e.defaults)
			ch.PutGrants(g)
		}
	}
	return nil
}

// editAccounts runs edit and puts what it made into the catalog, all or nothing. It makes
// that without the lock of the catalog, since hashes of passwords take a while, and again
// if the accounts have changed meanwhile.
func (s *commands) editAccounts(ctx context.Context, operation string, edit func(e *accountEdit) error) (*accountEdit, error) {
	if err := s.Tx.Commit(ctx); err != nil {
		return nil, err
	}
	for {
		e := &accountEdit{s: s, operation: operation, base: s.Engine.Catalog.Snapshot(), now: time.Now(), seen: map[priv.Name]*catalog.Account{}}
		if err := edit(e); err != nil {
			return nil, err
		}
		err := s.change(ctx, e.apply)
		if errors.Is(err, errAccountsChanged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, n := range e.orphans {
			s.note(sqlerr.LevelWarning, n)
		}
		for _, n := range e.notes {
			s.note(sqlerr.LevelNote, n)
		}
		return e, nil
	}
}

func (s *commands) createUser(ctx context.Context, x *logical.CreateUser) ([]generatedPassword, error) {
	operation := "CREATE USER"
	if x.Role {
		operation = "CREATE ROLE"
	}
	e, err := s.editAccounts(ctx, operation, func(e *accountEdit) error {
		var failed []string
		e.defaults = x.DefaultRoles
		var err error
		if e.orphans, err = s.checkDefiners(e.base, operation, x.Users); err != nil {
			return err
		}
		if err := s.grantableDefaults(e.base, x.DefaultRoles); err != nil {
			return err
		}
		for i := range x.Users {
			u := &x.Users[i]
			user, host := s.userName(*u)
			if e.find(user, host) != nil {
				if x.IfNotExists {
					e.notes = append(e.notes, sqlerr.UserAlreadyExists(user, host))
				} else {
					failed = append(failed, quoteUser(user, host))
				}
				continue
			}
			// MySQL refuses all forms, also the one that its SHOW CREATE USER prints.
			if user == "" && x.Options.Expire {
				return sqlerr.UserOperationFailed("CREATE USER", "anonymous user")
			}
			a := &catalog.Account{User: user, Host: host}
			applyOptions(a, &x.Options)
			if err := e.setPasswordOf(a, u, nil); err != nil {
				return err
			}
			a.Expired = x.Options.Expire
			if x.Role { // an account without a login
				a.Locked, a.Expired = true, true
			}
			e.changed = append(e.changed, a)
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed(operation, quoteUsers(failed))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, a := range e.changed {
		s.forgetLogins(a.Name())
	}
	return e.generated, nil
}

func (s *commands) alterUser(ctx context.Context, x *logical.AlterUser) ([]generatedPassword, error) {
	if err := s.checkSandbox(x.Users, x.Options.IsEmpty()); err != nil {
		return nil, err
	}
	if x.DefaultRole != nil {
		return nil, s.setDefaultRole(ctx, x.DefaultRole)
	}
	e, err := s.editAccounts(ctx, "ALTER USER", func(e *accountEdit) error {
		var failed []string
		for i := range x.Users {
			user, host := s.userName(x.Users[i])
			if user == "" && x.Options.Expire {
				return sqlerr.AnonymousUserExpires()
			}
			old := e.find(user, host)
			if old == nil {
				if x.IfExists {
					e.notes = append(e.notes, sqlerr.UserDoesNotExist(user, host))
				} else {
					failed = append(failed, quoteUser(user, host))
				}
				continue
			}
			if err := s.mayAlter(user, host); err != nil {
				return err
			}
			a, err := e.altered(old, &x.Users[i], &x.Options)
			if err != nil {
				return err
			}
			e.changed = append(e.changed, a)
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed("ALTER USER", quoteUsers(failed))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.resetCounts(e.changed, &x.Options)
	s.leaveSandbox(e)
	return e.generated, nil
}

// resetCounts begins the counts of what ALTER USER has given another limit.
func (s *commands) resetCounts(changed []*catalog.Account, o *logical.AccountOptions) {
	for _, a := range changed {
		if o.FailedAttempts != nil || o.LockDays != nil || o.Lock != nil && !*o.Lock {
			s.Engine.Logins.Unblock(a.Name())
		}
		if o.MaxQueries != nil || o.MaxUpdates != nil || o.MaxConnections != nil || o.MaxUserConnections != nil {
			s.Engine.Logins.ResetUsage(a.Name())
		}
	}
}

// altered is an account after ALTER USER.
func (e *accountEdit) altered(old *catalog.Account, u *logical.UserSpec, o *logical.AccountOptions) (*catalog.Account, error) {
	a := *old
	applyOptions(&a, o)
	if u.HasAuth {
		if err := e.setPasswordOf(&a, u, old); err != nil {
			return nil, err
		}
	}
	if u.Discard {
		a.SecondAuth = ""
	}
	a.Expired = a.Expired || o.Expire
	return &a, nil
}

func (s *commands) setPassword(ctx context.Context, x *logical.SetPassword) ([]generatedPassword, error) {
	if err := s.checkSandbox([]logical.UserSpec{x.User}, true); err != nil {
		return nil, err
	}
	if s.Info.Account.User == "" {
		return nil, sqlerr.PasswordOfAnonymousUser()
	}
	e, err := s.editAccounts(ctx, "SET PASSWORD", func(e *accountEdit) error {
		old := e.find(s.userName(x.User))
		if old == nil {
			return sqlerr.NoSuchUser()
		}
		if err := s.mayAlter(old.User, old.Host); err != nil {
			return err
		}
		a := *old
		if err := e.setPasswordOf(&a, &x.User, old); err != nil {
			return err
		}
		e.changed = append(e.changed, &a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.leaveSandbox(e)
	return e.generated, nil
}

// checkSandbox refuses what a connection with an expired password may not do: anything
// other than to change its own password. 1820.
func (s *commands) checkSandbox(users []logical.UserSpec, nothingElse bool) error {
	if !s.Sandbox {
		return nil
	}
	for i := range users {
		if !nothingElse || !s.changesOwn(&users[i]) {
			return sqlerr.MustChangePassword()
		}
	}
	return nil
}

// leaveSandbox ends the sandbox of a connection that has changed its password, and begins
// that of one whose password the statement let expire.
func (s *commands) leaveSandbox(e *accountEdit) {
	for _, a := range e.changed {
		if old := e.seen[a.Name()]; s.isSelf(a.User, a.Host) {
			s.Sandbox = a.Expired && (s.Sandbox || !old.Expired)
		}
	}
}

// forgetLogins begins the counts of failed logins and of what an account uses.
func (s *commands) forgetLogins(n priv.Name) {
	s.Engine.Logins.Unblock(n)
	s.Engine.Logins.ResetUsage(n)
}

func (s *commands) dropUser(ctx context.Context, x *logical.DropUser) error {
	var dropped []priv.Name
	operation := "DROP USER"
	if x.Role {
		operation = "DROP ROLE"
	}
	err := s.changeAccounts(ctx, func(ch *catalog.Change) error {
		orphans, err := s.checkDefiners(ch.Base, operation, x.Users)
		if err != nil {
			return err
		}
		for _, w := range orphans {
			s.note(sqlerr.LevelWarning, w)
		}
		var failed []string
		for _, u := range x.Users {
			user, host := s.userName(u)
			if ch.Current().Account(user, host) == nil {
				if !x.IfExists {
					failed = append(failed, quoteUser(user, host))
				}
				continue
			}
			n := priv.Name{User: user, Host: host}
			if err := s.mayChange(ch.Grants(n)); err != nil {
				return err
			}
			if slices.Contains(ch.Base.Privileges().Mandatory(), n) {
				return sqlerr.MandatoryRole(n.String())
			}
			ch.DropAccount(user, host)
			dropped = append(dropped, priv.Name{User: user, Host: host})
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed(operation, quoteUsers(failed))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range dropped {
		s.forgetLogins(n)
	}
	return nil
}

// checkDefiners are the warnings (4005) of a statement about accounts that are the definers
// of views, which would be left without a definer, or get one that their creator did not
// mean. It is refused without ALLOW_NONEXISTENT_DEFINER: 4006.
func (s *commands) checkDefiners(snap *catalog.Snapshot, operation string, users []logical.UserSpec) (warnings []*sqlerr.Error, err error) {
	definers := map[priv.Name]bool{}
	for _, d := range snap.Databases() {
		for _, v := range snap.Views(d.Name) {
			definers[priv.Name{User: v.DefinerUser, Host: v.DefinerHost}] = true
		}
	}
	for _, u := range users {
		user, host := s.userName(u)
		switch {
		case !definers[priv.Name{User: user, Host: host}]:
		case s.Privileges().Has(0, priv.AllowNonexistentDefiner):
			warnings = append(warnings, sqlerr.ReferencedAsDefiner(quoteUser(user, host), "a view"))
		default:
			return nil, sqlerr.CannotChangeDefiner(operation, quoteUser(user, host), "a view")
		}
	}
	return warnings, nil
}

// accountChange is a change of the catalog that concerns accounts.
type accountChange = *catalog.Change

func (s *commands) changeAccounts(ctx context.Context, fn func(ch accountChange) error) error {
	if err := s.Tx.Commit(ctx); err != nil {
		return err
	}
	return s.change(ctx, fn)
}

// change changes accounts and grants by fn, and checks what that has made.
func (s *commands) change(ctx context.Context, fn func(ch accountChange) error) error {
	return s.Engine.Catalog.Change(ctx, func(ch accountChange) error {
		if err := fn(ch); err != nil {
			return err
		}
		return mandatorySystem(ch)
	})
}

// mandatorySystem refuses a change by which a mandatory role gets SYSTEM_USER, which every
// account would have then: 3897.
func mandatorySystem(ch accountChange) error {
	before := ch.Base.Privileges()
	if len(before.Mandatory()) == 0 {
		return nil
	}
	after := ch.Privileges()
	for _, m := range after.Mandatory() {
		if after.MakesSystem(m) && !before.MakesSystem(m) {
			return sqlerr.SystemPrivilegeToMandatoryRole(m.User, m.Host, "SYSTEM_USER")
		}
	}
	return nil
}

// renameUser is RENAME USER.
func (s *commands) renameUser(ctx context.Context, x *logical.RenameUser) error {
	return s.changeAccounts(ctx, func(ch accountChange) error {
		var both []logical.UserSpec
		for i := range x.From {
			both = append(both, x.From[i], x.To[i])
		}
		orphans, err := s.checkDefiners(ch.Base, "RENAME USER", both)
		if err != nil {
			return err
		}
		for _, w := range orphans {
			s.note(sqlerr.LevelWarning, w)
		}
		var failed []string
		for i := range x.From {
			user, host := s.userName(x.From[i])
			newUser, newHost := s.userName(x.To[i])
			old := ch.Current().Account(user, host)
			if old == nil || ch.Current().Account(newUser, newHost) != nil {
				failed = append(failed, quoteUser(user, host))
				continue
			}
			if err := s.mayChange(ch.Grants(old.Name())); err != nil {
				return err
			}
			if slices.Contains(ch.Base.Privileges().Mandatory(), old.Name()) {
				return sqlerr.MandatoryRole(old.Name().String())
			}
			ch.RenameAccount(old, priv.Name{User: newUser, Host: newHost})
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed("RENAME USER", quoteUsers(failed))
		}
		return nil
	})
}
