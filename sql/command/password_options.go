package command

import (
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/value"
)

// applyOptions changes an account by what a statement says of all its accounts.
func applyOptions(a *catalog.Account, o *logical.AccountOptions) {
	if r := o.Require; r != nil {
		a.RequireTLS, a.RequireX509 = r.TLS, r.X509
		a.TLSCipher, a.TLSIssuer, a.TLSSubject = r.Cipher, r.Issuer, r.Subject
	}
	set(&a.Locked, o.Lock)
	set(&a.MaxQueries, o.MaxQueries)
	set(&a.MaxUpdates, o.MaxUpdates)
	set(&a.MaxConnections, o.MaxConnections)
	set(&a.MaxUserConnections, o.MaxUserConnections)
	set(&a.FailedAttempts, o.FailedAttempts)
	set(&a.LockDays, o.LockDays)
	setOrDefault(&a.Lifetime, o.Lifetime)
	setOrDefault(&a.History, o.History)
	setOrDefault(&a.ReuseDays, o.ReuseDays)
	setOrDefault(&a.RequireCurrent, o.RequireCurrent)
	if o.Attributes != "" {
		a.Attributes = mergedAttributes(a.Attributes, o.Attributes)
	}
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

func setOrDefault[T any](field **T, to *logical.OrDefault[T]) {
	if to != nil {
		*field = to.Value
	}
}

// mergedAttributes are the attributes of an account after COMMENT or ATTRIBUTE. Both are
// JSON objects; old is "" for none.
func mergedAttributes(old, change string) string {
	if old == "" {
		return change
	}
	a, _ := value.ParseJSON([]byte(old)) // was valid when it was stored
	b, _ := value.ParseJSON([]byte(change))
	both, _ := value.JSONMergePatch(a, b, nil) // without work it has no error
	return string(value.AppendJSONText(nil, both))
}
