package bind

import (
	"math"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// accountOptions are the clauses after the accounts of CREATE USER and ALTER USER. Of
// those of one kind the last one counts.
func accountOptions(a *parser.AccountClauses, tls []*ast.AuthTokenOrTLSOption, resources []*ast.ResourceOption, list []*ast.PasswordOrLockOption, attribute *ast.CommentOrAttributeOption) (logical.AccountOptions, error) {
	var o logical.AccountOptions
	var err error
	if o.Require, err = require(tls); err != nil {
		return o, err
	}
	if err := resourceLimits(&o, resources); err != nil {
		return o, err
	}
	for _, p := range list {
		if err := passwordOption(&o, p); err != nil {
			return o, err
		}
	}
	if a != nil && a.RequireCurrent != "" {
		required := a.RequireCurrent == "REQUIRED"
		o.RequireCurrent = &logical.OrDefault[bool]{Value: &required}
	}
	o.Attributes, err = attributes(attribute)
	return o, err
}

// require is REQUIRE; nil without.
func require(list []*ast.AuthTokenOrTLSOption) (*logical.Require, error) {
	if len(list) == 0 {
		return nil, nil
	}
	r := &logical.Require{TLS: list[0].Type != ast.TlsNone}
	for _, o := range list {
		var text *string
		switch o.Type {
		case ast.TlsNone, ast.Ssl:
		case ast.X509:
			r.X509 = true
		case ast.Cipher:
			text = &r.Cipher
		case ast.Issuer:
			text = &r.Issuer
		case ast.Subject:
			text = &r.Subject
		default:
			return nil, sqlerr.NotSupported("REQUIRE " + o.Type.String())
		}
		if text == nil {
			continue
		}
		if *text != "" {
			return nil, sqlerr.DuplicateOption(o.Type.String())
		}
		*text = o.Value
	}
	return r, nil
}

// resourceLimits reads WITH. MySQL takes any number of 32 bits.
func resourceLimits(o *logical.AccountOptions, list []*ast.ResourceOption) error {
	for _, r := range list {
		n := int(min(uint64(r.Count), math.MaxUint32))
		switch r.Type {
		case ast.MaxQueriesPerHour:
			o.MaxQueries = &n
		case ast.MaxUpdatesPerHour:
			o.MaxUpdates = &n
		case ast.MaxConnectionsPerHour:
			o.MaxConnections = &n
		case ast.MaxUserConnections:
			o.MaxUserConnections = &n
		default:
			return sqlerr.NotSupported("resource limits of this kind")
		}
	}
	return nil
}

// The most of PASSWORD EXPIRE INTERVAL, and of FAILED_LOGIN_ATTEMPTS and
// PASSWORD_LOCK_TIME.
const (
	maxLifetime = math.MaxUint16
	maxFailures = math.MaxInt16
)

// passwordOption reads a clause about passwords or ACCOUNT.
func passwordOption(o *logical.AccountOptions, p *ast.PasswordOrLockOption) error {
	n := int(p.Count)
	days := func(what string, least, most int) error {
		if n < least || n > most {
			return sqlerr.WrongValue(what, strconv.FormatUint(uint64(p.Count), 10))
		}
		return nil
	}
	number := &logical.OrDefault[int]{Value: &n}
	switch p.Type {
	case ast.Lock, ast.Unlock:
		lock := p.Type == ast.Lock
		o.Lock = &lock
	case ast.PasswordExpire:
		o.Expire, o.Lifetime = true, nil
	case ast.PasswordExpireDefault:
		o.Expire, o.Lifetime = false, &logical.OrDefault[int]{}
	case ast.PasswordExpireNever:
		n = 0
		o.Expire, o.Lifetime = false, number
	case ast.PasswordExpireInterval:
		o.Expire, o.Lifetime = false, number
		return days("DAY", 1, maxLifetime)
	case ast.PasswordHistoryDefault:
		o.History = &logical.OrDefault[int]{}
	case ast.PasswordHistory:
		o.History = number
	case ast.PasswordReuseDefault:
		o.ReuseDays = &logical.OrDefault[int]{}
	case ast.PasswordReuseInterval:
		o.ReuseDays = number
	case ast.PasswordRequireCurrentDefault:
		o.RequireCurrent = &logical.OrDefault[bool]{}
	case ast.FailedLoginAttempts:
		o.FailedAttempts = &n
		return days("FAILED_LOGIN_ATTEMPTS", 0, maxFailures)
	case ast.PasswordLockTime:
		o.LockDays = &n
		return days("PASSWORD_LOCK_TIME", 0, maxFailures)
	case ast.PasswordLockTimeUnbounded:
		n = -1
		o.LockDays = &n
	default:
		return sqlerr.NotSupported("password options of this kind")
	}
	return nil
}

// attributes is the JSON object of COMMENT or ATTRIBUTE; "" without.
func attributes(a *ast.CommentOrAttributeOption) (string, error) {
	if a == nil {
		return "", nil
	}
	if a.Type == ast.UserCommentType {
		return `{"comment": ` + string(value.AppendJSONQuoted(nil, []byte(a.Value))) + "}", nil
	}
	doc, err := value.ParseJSON([]byte(a.Value))
	if err != nil || value.JSONType(doc) != "OBJECT" {
		return "", sqlerr.UserAttributeNotObject()
	}
	return string(value.AppendJSONText(nil, doc)), nil
}
