package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// selfSigned writes a certificate and its key.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	kb, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: kb}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// login tries to connect and returns the error number, 0 when it went well.
func login(t *testing.T, dsn string) uint16 {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Ping()
	if n := errorNumber(err); n != 0 || err == nil {
		return n
	}
	t.Fatalf("%s: %v", dsn, err)
	return 0
}

func TestAccounts(t *testing.T) {
	cert, key := selfSigned(t)
	_, dsn := startServer(t, func(c *server.Config) { c.TLSCert, c.TLSKey = cert, key })
	c := dial(t, dsn)
	at := func(user, password, options string) string {
		return user + ":" + password + dsn[strings.IndexByte(dsn, '@'):] + "?allowNativePasswords=true&allowCleartextPasswords=false" + options
	}
	check := func(want uint16, user, password string, options ...string) {
		t.Helper()
		if got := login(t, at(user, password, strings.Join(options, ""))); got != want {
			t.Errorf("%s with %q: error %d, want %d", user, password, got, want)
		}
	}
	const tls = "&tls=skip-verify"
	admitAll(c)
	c.exec("CREATE USER nat IDENTIFIED WITH mysql_native_password BY 'one', sha IDENTIFIED BY 'two', empty")
	for _, o := range []string{"", tls} {
		check(0, "nat", "one", o)
		check(0, "sha", "two", o)
		check(0, "sha", "two", o) // from the cache
		check(0, "empty", "", o)
		check(1045, "nat", "two", o)
		check(1045, "sha", "one", o)
		check(1045, "sha", "", o)
		check(1045, "empty", "x", o)
		check(1045, "nobody", "", o)
	}
	c.exec("ALTER USER nat IDENTIFIED BY 'three'")
	c.exec("SET PASSWORD FOR sha = 'four'")
	check(0, "nat", "three")
	check(1045, "nat", "one")
	check(0, "sha", "four")
	check(1045, "sha", "two")
	c.exec("ALTER USER sha ACCOUNT LOCK")
	check(3118, "sha", "four")
	c.exec("ALTER USER sha ACCOUNT UNLOCK")
	c.exec("RENAME USER sha TO sha2")
	check(1045, "sha", "four")
	check(0, "sha2", "four")
	c.exec("ALTER USER sha2 REQUIRE SSL")
	check(1045, "sha2", "four")
	check(0, "sha2", "four", tls)
	// The hash as a dump has it.
	hash, err := c.query("SELECT HEX(authentication_string) FROM mysql.user WHERE user = 'sha2'")
	if err != nil {
		t.Fatal(err)
	}
	for _, literal := range []string{"0x" + hash, "X'" + hash + "'"} {
		c.exec("CREATE USER copied IDENTIFIED WITH caching_sha2_password AS " + literal)
		c.rows("1", "SELECT a.authentication_string = b.authentication_string FROM mysql.user a, mysql.user b WHERE a.user = 'sha2' AND b.user = 'copied'")
		c.exec("DROP USER copied")
	}
	c.fails(1827, "CREATE USER copied IDENTIFIED WITH caching_sha2_password AS 0x41")
	c.exec("CREATE USER away@'10.1.2.3' IDENTIFIED BY 'x'")
	check(1045, "away", "x")
	own := dial(t, at("nat", "three", ""))
	own.rows("nat@localhost,nat@%", "SELECT USER(), CURRENT_USER()")
	own.exec("SET PASSWORD = 'five'")
	check(0, "nat", "five")
	c.fails(1396, "CREATE USER nat")
	c.fails(1396, "DROP USER nobody")
	c.fails(1396, "ALTER USER nobody IDENTIFIED BY 'x'")
	c.fails(1524, "CREATE USER other IDENTIFIED WITH unix_socket")
	c.exec("DROP USER nat, sha2, empty")
	check(1045, "nat", "five")
	own.rows("1", "SELECT 1") // a connected user stays connected
	if got := login(t, strings.Replace(dsn, "/t", "/nope", 1)); got != 1049 {
		t.Errorf("unknown database: error %d", got)
	}
}

func TestWaitTimeout(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	_, dsn := startServer(t)
	watcher, c := dial(t, dsn), dial(t, dsn)
	c.exec("CREATE TABLE w (id INT PRIMARY KEY)")
	c.exec("SET wait_timeout=1")
	c.exec("BEGIN")
	c.exec("INSERT INTO w VALUES (1)")
	eventually(t, func() bool {
		n, err := watcher.query("SELECT COUNT(*) FROM information_schema.processlist WHERE id=?", c.id)
		return err == nil && n == "0"
	})
	watcher.exec("INSERT INTO w VALUES (1)") // the transaction went with it
}

func TestTooManyConnections(t *testing.T) {
	_, dsn := startServer(t, func(c *server.Config) { c.MaxConnections = 5 })
	for range 5 {
		dial(t, dsn)
	}
	// One more is for those who may end others.
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 2 {
		var c *sql.Conn
		if c, err = db.Conn(t.Context()); err != nil {
			break
		}
		defer c.Close()
	}
	if got := errorNumber(err); got != 1040 {
		t.Errorf("%v instead of error 1040", err)
	}
}

func TestStopInterrupts(t *testing.T) {
	s := servertest.Open(t, server.Config{Durability: 1})
	dsn := servertest.DSN(s)
	watcher, c, tx := dial(t, dsn), dial(t, dsn), dial(t, dsn)
	c.exec("CREATE DATABASE t")
	tx.exec("CREATE TABLE t.x (id INT PRIMARY KEY)")
	tx.exec("BEGIN")
	tx.exec("INSERT INTO t.x VALUES (1)")
	p := c.start(watcher, "SELECT SLEEP(1000)")
	if err := s.Stop(0); err != nil {
		t.Error(err)
	}
	if err := p.wait(); err == nil {
		t.Error("a statement outlived the server")
	}
}
