package mysqlwire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"fmt"
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
	acct, refusal, err := c.check(l)
	if refusal == "" && err == nil {
		c.srv.failed.forget(key)
		if acct.Locked {
			return Account{}, sqlerr.AccountLocked(l.user, c.host)
		}
		return acct, nil
	}
	// Who leaves in the middle has learned from the answer to the fast check
	// whether it was right.
	c.srv.failed.add(key)
	if refusal != "" {
		c.srv.log.warn("access denied", "connection", c.id, "user", l.user, "host", c.host, "reason", refusal)
	}
	return Account{}, err
}

// check is authenticate without a count of failures. A refusal, which is for the
// log, comes with the error for the client.
func (c *conn) check(l *login) (acct Account, refusal string, err error) {
	acct, known := c.srv.backend.Account(l.user, c.host)
	switch {
	case !known:
		refusal = "unknown user"
	case acct.LoopbackOnly && !c.loopback:
		refusal = "account is for local connections only"
	case acct.SocketOnly && !c.unix:
		refusal = "account without password is for the unix socket only"
	case !ValidAuthString(acct.Plugin, acct.AuthString):
		refusal = "account has no usable password"
	}
	if c.srv.fake[acct.Plugin] == "" {
		acct.Plugin = c.srv.cfg.DefaultPlugin
	}
	if refusal != "" {
		acct.AuthString = c.srv.fake[acct.Plugin]
	}
	answer := l.answer
	usedPassword := len(answer) > 0
	if plugin := l.usedPlugin(); plugin != acct.Plugin {
		if !c.caps.has(capPluginAuth) {
			return Account{}, "client knows no plugin", sqlerr.ClientAuthTooOld()
		}
		if answer, err = c.switchPlugin(acct.Plugin); err != nil {
			return Account{}, "", err
		}
		usedPassword = len(answer) > 1
	}
	ok, err := c.verify(&acct, answer)
	switch {
	case err != nil:
		return Account{}, "", err
	case refusal != "":
	case !ok:
		refusal = "wrong password"
	case acct.RequireTLS && c.tls == nil:
		refusal = "account requires TLS"
	}
	if refusal != "" {
		return Account{}, refusal, sqlerr.AccessDenied(l.user, c.host, usedPassword)
	}
	return acct, "", nil
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
	stored := acct.AuthString
	switch {
	case empty:
		return stored == "", nil
	case stored == "":
		stored = c.srv.fake[acct.Plugin]
	}
	if acct.Plugin == PluginNative {
		return checkNative(c.scramble, answer, stored), nil
	}
	digest, cached := c.srv.cache.get(stored)
	if fits := checkSHA2(c.scramble, answer, digest); fits && cached {
		return true, c.moreData([]byte{sha2FastOK})
	}
	sent, err := c.fullSHA2()
	if err != nil {
		return false, err
	}
	ok := false
	err = c.srv.turns.run(c.ctx, func() {
		password := c.decrypt(sent)
		if password == "" || len(password) > maxPasswordLen {
			return
		}
		d := sha2Digest(password)
		if digest, cached := c.srv.cache.get(stored); cached && d == digest {
			ok = true // another connection has come first
		} else if VerifyCachingSHA2(stored, password) {
			ok = true
			c.srv.cache.put(stored, d)
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
