package mysqlwire

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// TestExpiredPassword: a client that does not know of expired passwords is refused, unless
// the server lets it in; a sandbox runs few commands.
func TestExpiredPassword(t *testing.T) {
	for _, old := range []bool{false, true} {
		_, b, addr := startServer(t, Config{SandboxOldClients: old})
		b.accounts["native"] = Account{User: "native", Plugin: PluginNative, AuthString: HashNative("secret"), Expired: true}
		c := dialGreeting(t, addr)
		c.send(c.loginPacket(rawCaps, "native", nativeAnswer(c.salt, "wrong"), "d", PluginNative))
		c.expectError(1045) // it does not say that the password has expired
		c = dialGreeting(t, addr)
		c.send(c.loginPacket(rawCaps, "native", nativeAnswer(c.salt, "secret"), "d", PluginNative))
		if old {
			c.expect(0)
		} else {
			c.expectError(1862)
			c.expectEnd()
		}
		c = dialGreeting(t, addr)
		c.send(c.loginPacket(rawCaps|capExpiredPasswords, "native", nativeAnswer(c.salt, "secret"), "d", PluginNative))
		c.expect(0)
		for _, cmd := range []byte{comInitDB, comFieldList, comRefresh, comStatistics, comProcessKill, comChangeUser, comStmtPrepare, comStmtExecute, comStmtReset, comSetOption, comStmtFetch, comResetConnection, 0xee} {
			c.command(cmd, make([]byte, 11)...)
			c.expectError(1820)
		}
		c.command(comStmtClose, 1, 0, 0, 0)
		c.command(comPing)
		c.expect(0)
		c.command(comQuery, []byte("ok")...) // the session decides
		c.expect(0)
	}
}

// TestBlocked: the backend learns of each password, and of nothing else, and what it
// refuses is refused.
func TestBlocked(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, b, addr := startServer(t, Config{})
	var told testutil.Buffer
	seen := 0 // of told
	news := func() string {
		text := told.String()[seen:]
		seen += len(text)
		return text
	}
	b.blocked = func(a *Account, right bool) error {
		fmt.Fprintln(&told, a.User, right)
		if a.User == "locked" {
			return sqlerr.AccountBlocked(a.User, "localhost", "1", "1", 2)
		}
		return nil
	}
	try := func(user, password, plugin string) string {
		a := attempt{user: user, plugin: plugin, password: password}
		return a.transcript(t, addr)
	}
	for _, c := range []struct{ user, password, plugin, told string }{
		{"native", "secret", PluginNative, "native true\n"},
		{"native", "wrong", PluginNative, "native false\n"},
		{"native", "", PluginNative, "native false\n"},
		{"sha", "secret", PluginCachingSHA2, "sha true\n"},
		{"sha", "wrong", PluginCachingSHA2, "sha false\n"},
		{"nobody", "wrong", PluginNative, ""},
		{"nobody-native", "", PluginNative, ""},
		{"tls", "secret", PluginNative, "tls true\n"}, // refused later
	} {
		try(c.user, c.password, c.plugin)
		if got := news(); got != c.told {
			t.Errorf("%v: told %q", c, got)
		}
	}
	for _, password := range []string{"secret", "wrong"} {
		c := dialGreeting(t, addr)
		c.send(c.loginPacket(rawCaps, "locked", nativeAnswer(c.salt, password), "d", PluginNative))
		c.expectError(3955)
		c.expectEnd()
	}
	// Who leaves after the answer to the fast check has tried a password.
	news()
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "sha", sha2Answer(c.salt, "wrong"), "d", PluginCachingSHA2))
	c.expect(authMore)
	c.nc.Close()
	waitFor(t, func() bool { return s.Connections() == 0 })
	if got := news(); got != "sha false\n" {
		t.Errorf("told %q", got)
	}
}

// TestTwoPasswords: of an account with two, both are right, also from the cache.
func TestTwoPasswords(t *testing.T) {
	_, b, addr := startServer(t, Config{})
	b.accounts["native"] = Account{User: "native", Plugin: PluginNative, AuthString: HashNative("new"), SecondAuth: HashNative("old")}
	b.accounts["sha"] = Account{User: "sha", Plugin: PluginCachingSHA2, AuthString: HashCachingSHA2("new", nil), SecondAuth: HashCachingSHA2("old", nil)}
	for _, user := range []string{"native", "sha"} {
		for range 2 {
			for _, password := range []string{"old", "new"} {
				if err := tryLogin(addr, user+":"+password); err != nil {
					t.Errorf("%s with %s: %v", user, password, err)
				}
			}
		}
		for _, password := range []string{"", "third"} {
			wantNumber(t, tryLogin(addr, user+":"+password), 1045)
		}
	}
}

// TestOpenAccount: everyone is let in.
func TestOpenAccount(t *testing.T) {
	_, b, addr := startServer(t, Config{TLS: &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}})
	b.accounts["native"] = Account{User: "root", Plugin: PluginCachingSHA2, Open: true, Locked: false}
	for _, params := range []string{"", "?tls=skip-verify"} {
		for _, user := range []string{"native", "native:x"} {
			nc, err := mysql.MySQLDriver{}.Open(user + "@tcp(" + addr + ")/d" + params)
			if err != nil {
				t.Errorf("%s%s: %v", user, params, err)
				continue
			}
			nc.Close()
		}
	}
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "native", nativeAnswer(c.salt, "x"), "d", PluginNative))
	c.expect(0)
	c = dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "native", []byte("x"), "d", "unknown_plugin"))
	c.expect(0)
}

// TestAccountConnections is MAX_USER_CONNECTIONS of an account, which precedes the limit
// of the server.
func TestAccountConnections(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, b, addr := startServer(t, Config{Limits: Limits{UserConnections: 1}})
	b.accounts["native"] = Account{User: "native", Plugin: PluginNative, AuthString: HashNative("secret"), MaxConnections: 2}
	b.accounts["root"] = Account{User: "root", Plugin: PluginCachingSHA2, Administrator: true, MaxConnections: 1}
	for range 2 {
		dialGreeting(t, addr).login("native", "secret")
	}
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "native", nativeAnswer(c.salt, "secret"), "d", PluginNative))
	if got := c.expect(0xff); !strings.HasSuffix(string(got), "User 'native' has exceeded the 'max_user_connections' resource (current value: 2)") {
		t.Errorf("%q", got)
	}
	dialRaw(t, addr, 0)
	c = dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "root", nil, "d", PluginCachingSHA2))
	c.expectError(1226)
	waitFor(t, func() bool { return s.Connections() == 3 })
}

// TestSecureTransport: with it, TLS and sockets are left.
func TestSecureTransport(t *testing.T) {
	s, _, addr := startServer(t, Config{TLS: &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}})
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	before := dialRaw(t, addr, 0)
	s.SetLimits(Limits{SecureTransport: true})
	for _, user := range []string{"native:secret", "native:wrong", "nobody"} {
		wantNumber(t, open(t, addr, user, "").Ping(), 3159)
	}
	if err := open(t, addr, "native:secret", "tls=skip-verify").Ping(); err != nil {
		t.Error(err)
	}
	nc, err := mysql.MySQLDriver{}.Open("native:secret@unix(" + path + ")/d")
	if err != nil {
		t.Error(err)
	} else {
		nc.Close()
	}
	before.command(comPing) // who is there stays
	before.expect(0)
	before.command(comChangeUser, []byte("native\x00\x00d\x00\xff\x00mysql_native_password\x00")...)
	before.expectError(3159)
	before.expectEnd()
}

// authority makes certificates for clients.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{Country: []string{"SE"}, CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, cert, key}
}

func (a *authority) client(subject pkix.Name) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: subject, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestRequirements is REQUIRE in all its forms.
func TestRequirements(t *testing.T) {
	ca, other := newAuthority(t, "authority"), newAuthority(t, "another")
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	pool.AddCert(other.cert)
	var log bytes.Buffer
	_, b, addr := startServer(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), TLS: &tls.Config{
		Certificates: []tls.Certificate{selfSigned(t)}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven,
		MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
	}})
	none := tls.Certificate{}
	ann, bob := ca.client(pkix.Name{Organization: []string{"O/1"}, CommonName: "ann"}), other.client(pkix.Name{CommonName: "bob"})
	for i, c := range []struct {
		cert tls.Certificate
		name string
	}{{none, ""}, {none, "none"}, {ann, "ann"}, {bob, "bob"}} {
		if c.name == "" {
			continue
		}
		if err := mysql.RegisterTLSConfig(c.name, &tls.Config{InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &c.cert, nil }}); err != nil {
			t.Fatal(i, err)
		}
		defer mysql.DeregisterTLSConfig(c.name)
	}
	for _, c := range []struct {
		require Requirements
		allowed string // of "", none, ann and bob
	}{
		{Requirements{}, "plain none ann bob"},
		{Requirements{TLS: true}, "none ann bob"},
		{Requirements{TLS: true, Certificate: true}, "ann bob"},
		{Requirements{TLS: true, Cipher: "ECDHE-ECDSA-AES256-GCM-SHA384"}, "none ann bob"},
		{Requirements{TLS: true, Cipher: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}, "none ann bob"},
		{Requirements{TLS: true, Cipher: "ECDHE-ECDSA-AES128-GCM-SHA256"}, ""},
		{Requirements{TLS: true, Issuer: "/C=SE/CN=authority"}, "ann"},
		{Requirements{TLS: true, Issuer: "/C=SE/CN=another"}, "bob"},
		{Requirements{TLS: true, Issuer: "/CN=authority"}, ""},
		{Requirements{TLS: true, Subject: `/O=O\/1/CN=ann`}, "ann"},
		{Requirements{TLS: true, Subject: "/CN=bob"}, "bob"},
		{Requirements{TLS: true, Subject: "/CN=bob", Issuer: "/C=SE/CN=authority"}, ""},
		{Requirements{TLS: true, Subject: "/CN=bob", Issuer: "/C=SE/CN=another", Cipher: "ECDHE-ECDSA-AES256-GCM-SHA384"}, "bob"},
	} {
		b.accounts["native"] = Account{User: "native", Plugin: PluginNative, AuthString: HashNative("secret"), Require: c.require}
		for _, who := range []string{"plain", "none", "ann", "bob"} {
			params := "?tls=" + who
			if who == "plain" {
				params = ""
			}
			nc, err := mysql.MySQLDriver{}.Open("native:secret@tcp(" + addr + ")/d" + params)
			switch allowed := strings.Contains(" "+c.allowed+" ", " "+who+" "); {
			case allowed && err != nil:
				t.Errorf("%+v: %s: %v", c.require, who, err)
			case allowed:
				nc.Close()
			default:
				wantNumber(t, err, 1045)
			}
		}
	}
	for _, reason := range []string{"account requires TLS", "requires a certificate", "requires another cipher"} {
		if !strings.Contains(log.String(), reason) {
			t.Errorf("the log does not have %q", reason)
		}
	}
}

// TestOneLine: the names are those that OpenSSL prints.
func TestOneLine(t *testing.T) {
	name := pkix.Name{ExtraNames: []pkix.AttributeTypeAndValue{
		{Type: asn1.ObjectIdentifier{2, 5, 4, 6}, Value: "SE"},
		{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: "a/b+c=d, e"},
		{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "Åsa\n"},
		{Type: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}, Value: "a@example.com"},
		{Type: asn1.ObjectIdentifier{1, 2, 3, 4}, Value: "x"},
	}}
	der, err := asn1.Marshal(name.ToRDNSequence())
	if err != nil {
		t.Fatal(err)
	}
	const want = `/C=SE/O=a\/b\+c=d, e/CN=\xC3\x85sa\x0A/emailAddress=a@example.com/1.2.3.4=x`
	if got := oneLine(der); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := oneLine(der[:len(der)-1]); got != "" {
		t.Errorf("half a name: %q", got)
	}
	for id, want := range map[uint16]string{
		tls.TLS_AES_128_GCM_SHA256:                        "TLS_AES_128_GCM_SHA256",
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256:   "ECDHE-RSA-CHACHA20-POLY1305",
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256:         "ECDHE-RSA-AES128-GCM-SHA256",
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA:          "ECDHE-ECDSA-AES256-SHA",
		tls.TLS_RSA_WITH_AES_256_GCM_SHA384:               "AES256-GCM-SHA384",
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
	} {
		if got := openSSLName(id); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
