package command

import (
	"crypto/rand"
	"math/big"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

const defaultPlugin = mysqlwire.PluginCachingSHA2

// isSelf reports whether an account is the one that runs the statement.
func (s *commands) isSelf(user, host string) bool {
	return s.AccountName() == priv.Name{User: user, Host: host}
}

// changesOwn reports that a statement sets the password of the account that runs it. If it
// says nothing else, it needs no privilege; with RETAIN CURRENT PASSWORD and DISCARD OLD
// PASSWORD it needs APPLICATION_PASSWORD_ADMIN.
func (s *commands) changesOwn(u *logical.UserSpec) bool {
	user, host := s.userName(*u)
	return u.ChangesPassword() && s.isSelf(user, host)
}

// changesOthers reports whether the account may change the passwords of others, and so
// need not say its own.
func (s *commands) changesOthers() bool {
	set := s.Privileges()
	return set.Check(&priv.Needs{Global: []priv.GlobalNeed{{Mask: priv.CreateUser}}}) == nil ||
		set.Check(&priv.Needs{Databases: []priv.DatabaseNeed{{DB: "mysql", Mask: priv.Update}}}) == nil
}

// setPasswordOf gives the account a the password that the statement says; old is the account
// before, nil for a new one.
func (e *accountEdit) setPasswordOf(a *catalog.Account, u *logical.UserSpec, old *catalog.Account) error {
	if err := e.choosePlugin(a, u, old); err != nil {
		return err
	}
	password := u.Password
	if u.Random {
		password = randomPassword(int(e.s.Vars.Number("generated_random_password_length")))
	}
	auth := u.Hash
	if !u.IsHash {
		var ok bool
		if auth, ok = hashOf(a.Plugin, password); !ok {
			return sqlerr.UserOperationFailed(e.operation, quoteUser(a.User, a.Host))
		}
		if err := e.remember(a, password, auth); err != nil {
			return err
		}
	}
	if old != nil {
		if err := e.checkCurrent(u, old); err != nil {
			return err
		}
	}
	if u.IsHash {
		if !mysqlwire.ValidAuthString(a.Plugin, auth) {
			return sqlerr.PasswordFormat()
		}
		if err := e.remember(a, "", auth); err != nil {
			return err
		}
	}
	if err := retain(a, u, auth); err != nil {
		return err
	}
	a.AuthString, a.PasswordChanged = auth, e.now.Unix()
	// An account whose plugin alone was named has no password that its user knows.
	a.Expired = old != nil && u.PluginOnly
	if u.Random {
		e.generated = append(e.generated, generatedPassword{a.User, a.Host, password})
	}
	return nil
}

// choosePlugin sets the plugin of the account. With another one than before, what is known
// of the passwords before is of no use.
func (e *accountEdit) choosePlugin(a *catalog.Account, u *logical.UserSpec, old *catalog.Account) error {
	switch {
	case u.Plugin != "":
		a.Plugin = u.Plugin
	case old == nil:
		a.Plugin = defaultPlugin
	}
	if old != nil && a.Plugin != old.Plugin {
		if u.Retain {
			return sqlerr.RetainedOnPluginChange(a.User, a.Host)
		}
		a.SecondAuth, a.OldHashes = "", nil
	}
	if a.Plugin != mysqlwire.PluginCachingSHA2 && a.Plugin != mysqlwire.PluginNative {
		return sqlerr.PluginNotLoaded(a.Plugin)
	}
	return nil
}

// hashOf is the stored form of a password; false for one that is too long.
func hashOf(plugin, password string) (auth string, ok bool) {
	if password == "" {
		return "", true
	}
	return mysqlwire.HashPassword(plugin, password)
}

// retain keeps the present password as the second one, if the statement says so, and
// forgets that with an empty password.
func retain(a *catalog.Account, u *logical.UserSpec, auth string) error {
	switch {
	case u.Retain && a.AuthString == "":
		return sqlerr.EmptyPasswordRetained(a.User, a.Host)
	case u.Retain && auth == "":
		return sqlerr.RetainedWithEmptyPassword(a.User, a.Host)
	case u.Retain:
		a.SecondAuth = a.AuthString
	case auth == "":
		a.SecondAuth = ""
	}
	return nil
}

// checkCurrent checks REPLACE: 3891, 3892, 3893.
func (e *accountEdit) checkCurrent(u *logical.UserSpec, old *catalog.Account) error {
	if u.Replace == nil {
		required := e.s.Engine.Globals.Value("password_require_current").Bits() != 0
		if old.RequireCurrent != nil {
			required = *old.RequireCurrent
		}
		if required && !e.s.changesOthers() {
			return sqlerr.CurrentPasswordMissing()
		}
		return nil
	}
	if !e.s.isSelf(old.User, old.Host) {
		return sqlerr.CurrentPasswordNotRequired()
	}
	if !mysqlwire.VerifyPassword(old.Plugin, old.AuthString, *u.Replace) {
		return sqlerr.WrongCurrentPassword()
	}
	return nil
}

// maxOldHashes is the most passwords that are remembered of an account, however long they
// must not be used again.
const maxOldHashes = 1000

// remember puts a new password, with its stored form, before those that must not be used
// again, and refuses one of these: 3638. The password itself is empty where only its stored
// form is known.
func (e *accountEdit) remember(a *catalog.Account, password, auth string) error {
	if auth == "" {
		return nil
	}
	number := func(own *int, name string) int {
		if own != nil {
			return *own
		}
		return int(e.s.Engine.Globals.Value(name).Bits())
	}
	history, days := number(a.History, "password_history"), number(a.ReuseDays, "password_reuse_interval")
	since := e.now.Add(-time.Duration(days) * 24 * time.Hour).Unix()
	kept := []catalog.OldHash{{Auth: auth, At: e.now.Unix()}}
	for i, h := range a.OldHashes {
		young := days > 0 && h.At > since
		if i >= history && !young {
			continue
		}
		if password != "" && mysqlwire.VerifyPassword(a.Plugin, h.Auth, password) {
			return sqlerr.PasswordUsedBefore(a.User, a.Host)
		}
		if i+1 < history || young {
			kept = append(kept, h)
		}
	}
	a.OldHashes = kept[:min(len(kept), maxOldHashes)]
	if history == 0 && days == 0 {
		a.OldHashes = nil
	}
	return nil
}

// passwordCharacters are those of random passwords.
const passwordCharacters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,.-;:_+*!%&/(){}[]<>@"

func randomPassword(n int) string {
	most := big.NewInt(int64(len(passwordCharacters)))
	out := make([]byte, n)
	for i := range out {
		x, _ := rand.Int(rand.Reader, most) // never fails
		out[i] = passwordCharacters[x.Int64()]
	}
	return string(out)
}

// generatedPassword is a row of what a statement with RANDOM answers.
type generatedPassword struct{ user, host, password string }

// answer is the generated passwords as rows, or OK without any.
func (s *commands) answer(list []generatedPassword, more bool, w mysqlwire.ResultWriter) error {
	s.Functions.Rows = 0
	if list == nil {
		return s.OK(w, mysqlwire.OK{}, more)
	}
	text := types.VarcharOf(255, schema.CollationUTF8MB40900AICI)
	err := w.Header(mysqlwire.NewHeader([]mysqlwire.Column{{Name: "user", Type: text}, {Name: "host", Type: text}, {Name: "generated password", Type: text}, {Name: "auth_factor", Type: types.UBigInt, NotNull: true}}))
	if err != nil {
		return err
	}
	for _, g := range list {
		if err := w.Row([]value.Datum{value.String(g.user), value.String(g.host), value.String(g.password), value.Uint(1)}); err != nil {
			return err
		}
	}
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}
