package mysqlwire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Bytes of the exchange after the handshake response.
const (
	authSwitch     = 0xfe // AuthSwitchRequest: plugin NUL scramble NUL
	authMore       = 0x01 // AuthMoreData
	sha2FastOK     = 0x03
	sha2Full       = 0x04
	sha2RequestKey = 0x02
)

// loginKey makes the key for passwords over connections without TLS, at first use.
// All servers of a process share it, for it takes a third of a second to make. With
// it comes its public half as clients read it, in PEM.
var loginKey = sync.OnceValues(func() (*rsaKey, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	return &rsaKey{private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})}, err
})

type rsaKey struct {
	private *rsa.PrivateKey
	public  []byte
}

// authenticate checks the identity of l. An unknown user, an account that is refused and
// one without a password go through the same exchange as a known one with a wrong
// password.
func (c *conn) authenticate(l *login) (Account, error) {
	key := c.srv.failed.key(c.address, l.user)
	if err := c.pause(min(c.srv.failed.delay(key), c.loginTime/2)); err != nil {
		return Account{}, err
	}
	t := c.try(l)
	l.account = t.account
	if t.real {
		err := c.srv.backend.LoginTried(&t.account, c.host, t.err == nil)
		if err != nil && !errors.Is(t.err, errClientGone) {
			t.refusal, t.err = "account is blocked", err
		}
	}
	if t.err == nil {
		c.srv.failed.forget(key)
		return t.account, c.mayLogin(l, &t.account)
	}
	// Who leaves in the middle has learned from the answer to the fast check
	// whether it was right.
	c.srv.failed.add(key)
	if t.refusal != "" {
		c.denied(l, t.refusal)
	}
	return Account{}, t.err
}

func (c *conn) denied(l *login, reason string) {
	l.refusal = reason
	c.srv.log.warn("access denied", "event", "login.denied", "connection", c.id, "user", l.user, "host", c.host, "reason", reason)
}

// mayLogin refuses what a client with the right password may not do.
func (c *conn) mayLogin(l *login, a *Account) error {
	reason, err := a.admits(l.user, c.host, c.tls, c.caps.has(capExpiredPasswords) || c.srv.cfg.SandboxOldClients)
	if reason != "" {
		c.denied(l, reason)
	}
	return err
}

// admits refuses what a client with the right password may not do, with the reason for the
// log if the error does not say it. sandbox: the client can change an expired password.
func (a *Account) admits(user, host string, st *tls.ConnectionState, sandbox bool) (reason string, err error) {
	if a.Locked {
		return "", sqlerr.AccountLocked(user, host)
	}
	if reason := a.Require.refusal(st); reason != "" {
		return reason, sqlerr.AccessDenied(user, host, a.AuthString != "")
	}
	if a.Expired && !sandbox {
		return "", sqlerr.PasswordExpired()
	}
	return "", nil
}

// A loginTry is an exchange about a password.
type loginTry struct {
	account Account
	// real: the password was compared with that of the account.
	real bool
	// refusal is for the log, empty where the password was right; it comes with the error
	// for the client.
	refusal string
	err     error
}

// try is authenticate without its consequences.
func (c *conn) try(l *login) (t loginTry) {
	acct, known := c.srv.backend.Account(l.user, c.host)
	if acct.Open && c.loopback {
		return loginTry{account: acct, err: c.letIn(l)}
	}
	if t.refusal = c.visitor.refusalOf(&acct); !known {
		t.refusal = "unknown user"
	}
	if c.srv.fake[acct.Plugin] == "" {
		acct.Plugin = c.srv.cfg.DefaultPlugin
	}
	if t.refusal != "" {
		acct.AuthString, acct.SecondAuth = c.srv.fake[acct.Plugin], ""
	}
	t.account = acct
	answer := l.answer
	usedPassword := len(answer) > 0
	if plugin := l.usedPlugin(); plugin != acct.Plugin {
		if !c.caps.has(capPluginAuth) {
			t.refusal, t.err = "client knows no plugin", sqlerr.ClientAuthTooOld()
			return t
		}
		if answer, t.err = c.switchPlugin(acct.Plugin); t.err != nil {
			t.refusal = ""
			return t
		}
		usedPassword = len(answer) > 1
	}
	t.real = t.refusal == ""
	ok, err := c.verify(&acct, answer)
	switch {
	case err != nil:
		t.refusal, t.err = "", err
		return t
	case t.refusal == "" && !ok:
		t.refusal = "wrong password"
	}
	if t.refusal != "" {
		t.err = sqlerr.AccessDenied(l.user, c.host, usedPassword)
	}
	return t
}

// refusalOf is why no password of an account is right on this connection; empty if one is.
func (v *visitor) refusalOf(a *Account) string {
	switch {
	case a.Open:
		return "only this machine is let in without a password"
	case a.LoopbackOnly && !v.loopback:
		return "account is for local connections only"
	case a.SocketOnly && !v.unix:
		return "account without password is for the unix socket only"
	case !ValidAuthString(a.Plugin, a.AuthString):
		return "account has no usable password"
	}
	return ""
}

// letIn ends the exchange with a client whose password does not matter.
func (c *conn) letIn(l *login) error {
	if l.usedPlugin() == PluginCachingSHA2 && len(l.answer) > 1 {
		return c.moreData([]byte{sha2FastOK})
	}
	return nil
}

// usedPlugin is the plugin that made the answer.
func (l *login) usedPlugin() string {
	if l.caps.has(capPluginAuth) {
		return l.plugin
	}
	return PluginNative
}

// switchPlugin requests an answer of the client with another plugin. The scramble
// stays: COM_CHANGE_USER answers to the connection's last one, and clients disagree on
// which that is.
func (c *conn) switchPlugin(plugin string) ([]byte, error) {
	start := c.begin()
	out := append(c.out, authSwitch)
	out = append(out, plugin...)
	out = append(out, 0)
	out = append(out, c.scramble...)
	c.out = append(out, 0)
	c.end(start)
	if err := c.flush(); err != nil {
		return nil, err
	}
	return c.readPacket(maxHandshakePacket)
}

// verify checks an answer for the account.
func (c *conn) verify(acct *Account, answer []byte) (bool, error) {
	// Without a password some clients send a lone NUL.
	empty := len(answer) == 0 || len(answer) == 1 && answer[0] == 0
	stored := []string{acct.AuthString}
	switch {
	case empty:
		return acct.AuthString == "", nil
	case acct.AuthString == "":
		stored[0] = c.srv.fake[acct.Plugin]
	case acct.SecondAuth != "":
		stored = append(stored, acct.SecondAuth)
	}
	if acct.Plugin == PluginNative {
		return slices.ContainsFunc(stored, func(s string) bool { return checkNative(c.scramble, answer, s) }), nil
	}
	for _, s := range stored {
		digest, cached := c.srv.cache.get(s)
		if fits := checkSHA2(c.scramble, answer, digest); fits && cached {
			return true, c.moreData([]byte{sha2FastOK})
		}
	}
	sent, err := c.fullSHA2()
	if err != nil {
		return false, err
	}
	ok := false
	err = c.srv.turns.run(c.ctx, func() {
		password := c.decrypt(sent)
		if password != "" && len(password) <= maxPasswordLen {
			ok = slices.ContainsFunc(stored, func(s string) bool { return c.srv.cache.verify(s, password) })
		}
	})
	return ok, err
}

func (c *conn) moreData(b []byte) error {
	start := c.begin()
	c.out = append(append(c.out, authMore), b...)
	c.end(start)
	return c.flush()
}

// fullSHA2 requests the password itself, which comes in clear text over TLS
// and unix sockets, and encrypted otherwise.
func (c *conn) fullSHA2() ([]byte, error) {
	if err := c.moreData([]byte{sha2Full}); err != nil {
		return nil, err
	}
	b, err := c.readPacket(maxHandshakePacket)
	if err != nil || c.clear() {
		return b, err
	}
	key, err := loginKey()
	if err != nil {
		return nil, fmt.Errorf("making the key for passwords: %w", err)
	}
	if len(b) == 1 && b[0] == sha2RequestKey {
		if err := c.moreData(key.public); err != nil {
			return nil, err
		}
		return c.readPacket(maxHandshakePacket)
	}
	return b, nil
}

// clear reports that passwords come in clear text.
func (c *conn) clear() bool { return c.tls != nil || c.unix }

// decrypt is the password of what the client has sent, empty if it does not
// decrypt.
func (c *conn) decrypt(b []byte) string {
	if c.clear() {
		return string(bytes.TrimSuffix(b, []byte{0}))
	}
	key, err := loginKey()
	if err != nil {
		return "" // fullSHA2 has shown the error
	}
	if c.loopback && len(b) != key.private.Size() {
		// The MariaDB client without an RSA library sends clear text whatever
		// the transport. Taken from this machine only, where it was safe.
		return string(bytes.TrimSuffix(b, []byte{0}))
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key.private, b, nil)
	if err != nil {
		c.srv.log.warn("the client cannot encrypt its password: connect with TLS, or give the account mysql_native_password",
			"connection", c.id, "host", c.host)
		return ""
	}
	for i := range plain {
		plain[i] ^= c.scramble[i%scrambleLen]
	}
	return string(bytes.TrimSuffix(plain, []byte{0}))
}
