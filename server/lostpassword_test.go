package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/server"
)

// TestSkipGrantTables: everybody is let in, may do everything, and sets the password that
// was lost; over loopback only.
func TestSkipGrantTables(t *testing.T) {
	testflag.Normal(t)
	dir, log := t.TempDir(), &testutil.Buffer{}
	disk := func(c *server.Config) { c.InMemory, c.DataDir, c.Memory = false, dir, 64<<20 }
	s, dsn := startOnce(t, disk)
	c := dial(t, dsn)
	c.exec("CREATE TABLE secret (id INT PRIMARY KEY)")
	c.exec("CREATE USER app IDENTIFIED BY 'x' ACCOUNT LOCK")
	c.exec("ALTER USER root IDENTIFIED BY 'hunter2' REQUIRE X509 PASSWORD EXPIRE")
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "10.1.2.3:4000", "example.com:4000"} {
		cfg := server.Config{DataDir: dir, Listen: listen, SkipGrantTables: true}
		if _, err := server.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "--skip-grant-tables") {
			t.Errorf("%s: %v", listen, err)
		}
		cfg.Listen, cfg.AdminListen = "127.0.0.1:0", listen
		if _, err := server.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "--skip-grant-tables") {
			t.Errorf("%s for administrators: %v", listen, err)
		}
	}
	s, dsn = startOnce(t, disk, func(c *server.Config) {
		c.SkipGrantTables, c.RequireRootPassword, c.Log = true, true, slog.New(slog.NewTextHandler(log, nil))
	})
	at := dsn[strings.IndexByte(dsn, '@'):]
	for _, login := range []string{"root", "root:wrong", "app", "nobody:x"} {
		c := dial(t, login+at)
		c.rows("0", "SELECT COUNT(*) FROM secret")
		c.rows("root@%", "SELECT CURRENT_USER()")
		c.exec("FLUSH PRIVILEGES")
	}
	dial(t, "nobody"+at).exec("ALTER USER root IDENTIFIED BY 'new' REQUIRE NONE")
	if got := log.String(); !strings.Contains(got, "level=ERROR") || strings.Count(got, "is let in without a password") < 5 || strings.Contains(got, "new'") {
		t.Error(got)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	s, dsn = startOnceAs(t, "root:new", disk)
	defer s.Stop(0)
	at = dsn[strings.IndexByte(dsn, '@'):]
	if got := login(t, "root"+at); got != 1045 {
		t.Errorf("error %d", got)
	}
	dial(t, "root:new"+at).rows("0", "SELECT COUNT(*) FROM secret")
}

// startOnceAs is startOnce for a server that wants a password.
func startOnceAs(t *testing.T, login string, change ...func(*server.Config)) (*server.Server, string) {
	t.Helper()
	cfg := server.Config{InMemory: true, Listen: "127.0.0.1:0", Durability: 1}
	for _, fn := range change {
		fn(&cfg)
	}
	s, err := server.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, login + "@tcp(" + s.Addr() + ")/t"
}

// TestInitialRootPassword: root of a new directory has a password from the beginning, of
// another one keeps its own.
func TestInitialRootPassword(t *testing.T) {
	dir, log := t.TempDir(), &testutil.Buffer{}
	start := func(password string, err error) (*server.Server, error) {
		return server.Start(t.Context(), server.Config{DataDir: dir, Listen: "127.0.0.1:0", Memory: 64 << 20, RequireRootPassword: true, Log: slog.New(slog.NewTextHandler(log, nil)),
			InitialRootPassword: func() (string, error) { return password, err }})
	}
	for password, err := range map[string]error{"": nil, strings.Repeat("x", 257): nil, "x": errors.New("no file")} {
		if _, got := start(password, err); got == nil || !strings.Contains(got.Error(), "initial password of root") {
			t.Errorf("%q: %v", password, got)
		}
	}
	for i, want := range []string{"has its initial password", "is ignored"} {
		s, err := start([]string{"hunter2", "other"}[i], []error{nil, errors.New("not called")}[i])
		if err != nil {
			t.Fatal(err)
		}
		for password, number := range map[string]uint16{"hunter2": 0, "": 1045, "other": 1045} {
			if got := login(t, "root:"+password+"@tcp("+s.Addr()+")/"); got != number {
				t.Errorf("%q: error %d, want %d", password, got, number)
			}
		}
		if !strings.Contains(log.String(), want) || leak(log.String()) != "" {
			t.Error(log.String())
		}
		if err := s.Stop(0); err != nil {
			t.Fatal(err)
		}
	}
}

// clientCertificate writes a certificate of an authority, which signs it, for a client, and
// registers the client's with the driver under a name.
func clientCertificate(t *testing.T, name string) (authority string, cert tls.Certificate) {
	t.Helper()
	var keys [2]*ecdsa.PrivateKey
	for i := range keys {
		var err error
		if keys[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &keys[0].PublicKey, keys[0])
	if err != nil {
		t.Fatal(err)
	}
	client := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{Organization: []string{"sqlots"}, CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, client, ca, &keys[1].PublicKey, keys[0])
	if err != nil {
		t.Fatal(err)
	}
	authority = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}), 0o600); err != nil {
		t.Fatal(err)
	}
	cert = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: keys[1]}
	if err := mysql.RegisterTLSConfig(name, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{cert}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mysql.DeregisterTLSConfig(name) })
	return authority, cert
}

// TestClientCertificates is --tls-ca, and REQUIRE with it, over the protocol and HTTPS.
func TestClientCertificates(t *testing.T) {
	cert, key := selfSigned(t)
	ca, ours := clientCertificate(t, "clientcert")
	for _, bad := range []server.Config{{TLSCA: ca}, {TLSCA: ca + "x", TLSCert: cert, TLSKey: key}, {TLSCA: key, TLSCert: cert, TLSKey: key}} {
		bad.InMemory, bad.Listen = true, "127.0.0.1:0"
		if _, err := server.Start(t.Context(), bad); err == nil {
			t.Errorf("%s is a file of authorities", bad.TLSCA)
		}
	}
	a := newAccountTest(t, func(c *server.Config) {
		c.TLSCert, c.TLSKey, c.TLSCA, c.HTTP.Listen = cert, key, ca, "127.0.0.1:0"
	})
	a.root.exec("CREATE USER c IDENTIFIED BY 'x'")
	bare, certified := clientOf(t, a.s).as("c", "x"), clientOf(t, a.s).as("c", "x")
	bare.base = "https://" + a.s.HTTPAddr()
	certified.base = bare.base
	certified.client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{ours}
	for _, x := range []struct {
		require string
		want    [3]uint16 // without TLS, with, with a certificate
	}{
		{"NONE", [3]uint16{0, 0, 0}},
		{"SSL", [3]uint16{1045, 0, 0}},
		{"X509", [3]uint16{1045, 1045, 0}},
		{"ISSUER '/CN=authority'", [3]uint16{1045, 1045, 0}},
		{"ISSUER '/CN=other'", [3]uint16{1045, 1045, 1045}},
		{"SUBJECT '/O=sqlots/CN=clientcert' AND ISSUER '/CN=authority'", [3]uint16{1045, 1045, 0}},
		{"SUBJECT '/CN=clientcert'", [3]uint16{1045, 1045, 1045}},
		{"CIPHER 'ECDHE-RSA-AES128-GCM-SHA256'", [3]uint16{1045, 1045, 1045}},
	} {
		a.root.exec("ALTER USER c REQUIRE " + x.require)
		for i, options := range []string{"", "&tls=skip-verify", "&tls=clientcert"} {
			if got := login(t, a.as("c:x", options)); got != x.want[i] {
				t.Errorf("%s with %q: error %d, want %d", x.require, options, got, x.want[i])
			}
		}
		for i, h := range []*httpClient{bare, certified} {
			status, body := h.do("POST", "/v1/query", "SELECT 1")
			if want := x.want[i+1]; (status == 200) != (want == 0) || want != 0 && (status != 401 || !strings.Contains(body, fmt.Sprint(want))) {
				t.Errorf("%s by HTTPS: %d %s, want %d", x.require, status, body, want)
			}
		}
	}
	// A certificate that another authority has signed; and what is read again.
	other, _ := clientCertificate(t, "othercert")
	a.root.exec("ALTER USER c REQUIRE X509")
	if err := tryLogin(a.as("c:x", "&tls=othercert")); err == nil {
		t.Error("a certificate of an unknown authority is accepted")
	}
	text, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	a.root.exec("ALTER INSTANCE RELOAD TLS")
	if err := tryLogin(a.as("c:x", "&tls=othercert")); err != nil {
		t.Error(err)
	}
}

func tryLogin(dsn string) error {
	c, err := mysql.MySQLDriver{}.Open(dsn)
	if err == nil {
		c.Close()
	}
	return err
}

// TestRequireSecureTransport is the variable.
func TestRequireSecureTransport(t *testing.T) {
	cert, key := selfSigned(t)
	socket := filepath.Join(t.TempDir(), "s")
	a := newAccountTest(t, func(c *server.Config) { c.TLSCert, c.TLSKey, c.Socket = cert, key, socket })
	a.root.rows("0", "SELECT @@require_secure_transport")
	a.root.exec("SET GLOBAL require_secure_transport = ON")
	a.check(3159, "root", "root:wrong", "nobody")
	for _, dsn := range []string{a.as("root", "&tls=skip-verify"), "root@unix(" + socket + ")/t"} {
		if err := tryLogin(dsn); err != nil {
			t.Error(err)
		}
	}
	a.root.exec("SET GLOBAL require_secure_transport = OFF")
	a.check(0, "root")
}
