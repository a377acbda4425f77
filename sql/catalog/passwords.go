package catalog

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// OldHash is a password that an account has or had: its stored form, and when it was set,
// in seconds since 1970.
type OldHash struct {
	Auth string `json:"auth"`
	At   int64  `json:"at"`
}

const day = 24 * time.Hour

// HasExpired reports whether the password must be changed; defaultDays is
// default_password_lifetime. A password of which it is not known when it was set does not
// get old.
func (a *Account) HasExpired(now time.Time, defaultDays int) bool {
	days := defaultDays
	if a.Lifetime != nil {
		days = *a.Lifetime
	}
	return a.Expired || days > 0 && a.PasswordChanged != 0 && now.Unix() >= a.PasswordChanged+int64(days)*int64(day/time.Second)
}

// BlocksLogins reports whether too many failed logins block the account.
func (a *Account) BlocksLogins() bool { return a.FailedAttempts != 0 && a.LockDays != 0 }

// ssl_type in mysql.user.
const (
	tlsNone      = ""
	tlsAny       = "ANY"
	tlsX509      = "X509"
	tlsSpecified = "SPECIFIED"
)

// TLSType is ssl_type in mysql.user: empty, ANY, X509 or SPECIFIED.
func (a *Account) TLSType() string {
	switch {
	case a.TLSCipher != "" || a.TLSIssuer != "" || a.TLSSubject != "":
		return tlsSpecified
	case a.RequireX509:
		return tlsX509
	case a.RequireTLS:
		return tlsAny
	}
	return tlsNone
}

// Clauses is what follows IDENTIFIED in SHOW CREATE USER, from REQUIRE on.
func (a *Account) Clauses() string {
	var b strings.Builder
	b.WriteString("REQUIRE")
	b.WriteString(a.requirements())
	b.WriteString(a.limits())
	b.WriteString(" PASSWORD EXPIRE")
	switch {
	case a.Expired:
	case a.Lifetime == nil:
		b.WriteString(" DEFAULT")
	case *a.Lifetime == 0:
		b.WriteString(" NEVER")
	default:
		fmt.Fprintf(&b, " INTERVAL %d DAY", *a.Lifetime)
	}
	b.WriteString(" ACCOUNT ")
	if !a.Locked {
		b.WriteString("UN")
	}
	b.WriteString("LOCK PASSWORD HISTORY " + orDefault(a.History, ""))
	b.WriteString(" PASSWORD REUSE INTERVAL " + orDefault(a.ReuseDays, " DAY"))
	b.WriteString(" PASSWORD REQUIRE CURRENT")
	switch {
	case a.RequireCurrent == nil:
		b.WriteString(" DEFAULT")
	case !*a.RequireCurrent:
		b.WriteString(" OPTIONAL")
	}
	if a.FailedAttempts != 0 {
		fmt.Fprintf(&b, " FAILED_LOGIN_ATTEMPTS %d", a.FailedAttempts)
	}
	switch {
	case a.LockDays < 0:
		b.WriteString(" PASSWORD_LOCK_TIME UNBOUNDED")
	case a.LockDays > 0:
		fmt.Fprintf(&b, " PASSWORD_LOCK_TIME %d", a.LockDays)
	}
	if a.Attributes != "" {
		b.WriteString(" ATTRIBUTE " + literal(a.Attributes))
	}
	return b.String()
}

// requirements is what follows REQUIRE.
func (a *Account) requirements() string {
	switch a.TLSType() {
	case tlsNone:
		return " NONE"
	case tlsAny:
		return " SSL"
	case tlsX509:
		return " X509"
	}
	out := ""
	for _, r := range [...]struct{ word, value string }{{"SUBJECT", a.TLSSubject}, {"ISSUER", a.TLSIssuer}, {"CIPHER", a.TLSCipher}} {
		if r.value != "" {
			out += " " + r.word + " " + literal(r.value)
		}
	}
	return out
}

// limits is the clause WITH; empty without limits.
func (a *Account) limits() string {
	out := ""
	for _, l := range [...]struct {
		word string
		n    int
	}{
		{"MAX_QUERIES_PER_HOUR", a.MaxQueries}, {"MAX_UPDATES_PER_HOUR", a.MaxUpdates},
		{"MAX_CONNECTIONS_PER_HOUR", a.MaxConnections}, {"MAX_USER_CONNECTIONS", a.MaxUserConnections},
	} {
		if l.n != 0 {
			out += fmt.Sprintf(" %s %d", l.word, l.n)
		}
	}
	if out != "" {
		out = " WITH" + out
	}
	return out
}

func orDefault(n *int, unit string) string {
	if n == nil {
		return "DEFAULT"
	}
	return fmt.Sprint(*n, unit)
}

// literal is a string in quotes.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// UserAttributes is the column User_attributes of mysql.user, a JSON object; "" for NULL.
func (a *Account) UserAttributes() string {
	var members []string
	if a.Attributes != "" {
		members = append(members, `"metadata": `+a.Attributes)
	}
	if a.FailedAttempts != 0 || a.LockDays != 0 {
		members = append(members, fmt.Sprintf(`"Password_locking": {"failed_login_attempts": %d, "password_lock_time_days": %d}`, a.FailedAttempts, a.LockDays))
	}
	if a.SecondAuth != "" {
		members = append(members, `"additional_password": `+string(value.AppendJSONQuoted(nil, []byte(a.SecondAuth))))
	}
	if members == nil {
		return ""
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// CreateRoot makes the account root@% of a new store with the password of hash, in its
// stored form for caching_sha2_password. created is false, and hash is not called, for a
// store that has accounts. It has to precede Open.
func CreateRoot(ctx context.Context, store storage.Store, hash func() (string, error)) (created bool, err error) {
	s, err := load(ctx, store)
	if err != nil {
		return false, fmt.Errorf("loading the catalog: %w", err)
	}
	if len(s.accounts) > 0 {
		return false, nil
	}
	auth, err := hash()
	if err != nil {
		return false, err
	}
	c := &Catalog{store: store}
	c.current.Store(s)
	err = c.Change(ctx, func(ch *Change) error {
		root := &Account{User: "root", Host: "%", Plugin: "caching_sha2_password", AuthString: auth, PasswordChanged: time.Now().Unix()}
		ch.PutAccount(root)
		ch.PutGrants(allPrivileges(root.Name()))
		return nil
	})
	return err == nil, err
}
