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

// rsaKey is the key for passwords over connections without TLS, made at first use.
type rsaKey struct {
	once sync.Once
	key  *rsa.PrivateKey
	pem  []byte
	err  error
}

func (k *rsaKey) get() (*rsa.PrivateKey, []byte, error) {
	k.once.Do(func() {
		if k.key, k.err = rsa.GenerateKey(rand.Reader, 2048); k.err != nil {
			return
		}
		var der []byte
		der, k.err = x509.MarshalPKIXPublicKey(&k.key.PublicKey)
		k.pem = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	})
	return k.key, k.pem, k.err
}

// authenticate checks the identity of l. An unknown user and a refused one go through
// the same exchange as a known one with a wrong password.
func (c *conn) authenticate(l *login) (Account, error) {
	acct, known := c.srv.backend.Account(l.user, c.host)
	refusal := ""
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
	if refusal != "" {
		acct = Account{Plugin: c.srv.cfg.DefaultPlugin, AuthString: c.srv.fake}
		if acct.Plugin == PluginNative {
			acct.AuthString = HashNative(c.srv.fake)
		}
	}
	answer := l.answer
	usedPassword := len(answer) > 0
	if plugin := l.usedPlugin(); plugin != acct.Plugin {
		if !c.caps.has(capPluginAuth) {
			return Account{}, sqlerr.ClientAuthTooOld()
		}
		var err error
		if answer, err = c.switchPlugin(acct.Plugin); err != nil {
			return Account{}, err
		}
		usedPassword = len(answer) > 1
	}
	ok, err := c.verify(&acct, answer)
	if err != nil {
		return Account{}, err
	}
	if ok && refusal == "" && acct.RequireTLS && c.tls == nil {
		refusal = "account requires TLS"
	}
	if ok && refusal == "" && acct.Locked {
		return Account{}, sqlerr.AccountLocked(l.user, c.host)
	}
	if !ok || refusal != "" {
		if refusal == "" {
			refusal = "wrong password"
		}
		c.srv.cfg.Logger.Warn("access denied", "connection", c.id, "user", l.user, "host", c.host, "reason", refusal)
		return Account{}, sqlerr.AccessDenied(l.user, c.host, usedPassword)
	}
	return acct, nil
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
	if acct.Plugin == PluginNative {
		return checkNative(c.scramble, answer, acct.AuthString), nil
	}
	// Without a password some clients send a lone NUL.
	if empty := len(answer) == 0 || len(answer) == 1 && answer[0] == 0; empty || acct.AuthString == "" {
		return empty && acct.AuthString == "", nil
	}
	if digest, ok := c.srv.cache.get(acct.AuthString); ok && checkSHA2(c.scramble, answer, digest) {
		return true, c.moreData([]byte{sha2FastOK})
	}
	password, err := c.fullSHA2()
	if err != nil || password == "" || !VerifyCachingSHA2(acct.AuthString, password) {
		return false, err
	}
	c.srv.cache.put(acct.AuthString, sha2Digest(password))
	return true, nil
}

func (c *conn) moreData(b []byte) error {
	start := c.begin()
	c.out = append(append(c.out, authMore), b...)
	c.end(start)
	return c.flush()
}

// fullSHA2 requests the password itself, which comes in clear text over TLS and unix
// sockets, and encrypted otherwise. It is empty if it does not decrypt.
func (c *conn) fullSHA2() (string, error) {
	if err := c.moreData([]byte{sha2Full}); err != nil {
		return "", err
	}
	b, err := c.readPacket(maxHandshakePacket)
	if err != nil {
		return "", err
	}
	if c.tls != nil || c.unix {
		return string(bytes.TrimSuffix(b, []byte{0})), nil
	}
	key, public, err := c.srv.keys.get()
	if err != nil {
		return "", fmt.Errorf("making the key for passwords: %w", err)
	}
	if len(b) == 1 && b[0] == sha2RequestKey {
		if err := c.moreData(public); err != nil {
			return "", err
		}
		if b, err = c.readPacket(maxHandshakePacket); err != nil {
			return "", err
		}
	}
	if c.loopback && len(b) != key.Size() {
		// The MariaDB client without an RSA library sends clear text whatever
		// the transport. Taken from this machine only, where it was safe.
		return string(bytes.TrimSuffix(b, []byte{0})), nil
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key, b, nil)
	if err != nil {
		c.srv.cfg.Logger.Warn("the client cannot encrypt its password: connect with TLS, or give the account mysql_native_password",
			"connection", c.id, "host", c.host)
		return "", nil
	}
	for i := range plain {
		plain[i] ^= c.scramble[i%scrambleLen]
	}
	return string(bytes.TrimSuffix(plain, []byte{0})), nil
}
