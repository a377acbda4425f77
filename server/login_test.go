package server_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/server"
)

// TestAdminListen: root gets in by the administrative address when all other
// connections are taken.
func TestAdminListen(t *testing.T) {
	s, dsn := startServer(t, func(c *server.Config) { c.MaxConnections, c.AdminListen = 3, "127.0.0.1:0" })
	c := dial(t, dsn)
	admitAll(c)
	c.exec("CREATE USER app")
	app := strings.Replace(dsn, "root", "app", 1)
	admin := strings.Replace(dsn, s.Addr(), s.AdminAddr(), 1)
	eventually(t, func() bool { return s.OpenConnections() == 1 })
	dial(t, app)
	dial(t, app)
	if got := login(t, app); got != 1040 {
		t.Errorf("error %d", got)
	}
	dial(t, dsn)
	if got := login(t, dsn); got != 1040 {
		t.Errorf("error %d for root", got)
	}
	var roots []*client
	for range 5 {
		roots = append(roots, dial(t, admin))
	}
	if got := login(t, strings.Replace(admin, "root", "app", 1)); got != 1227 {
		t.Errorf("error %d for app at the administrative address", got)
	}
	_, port, _ := net.SplitHostPort(s.AdminAddr())
	roots[0].rows("127.0.0.1,"+port, "SELECT @@admin_address, @@admin_port")
	roots[0].exec("SET GLOBAL max_connections = 5")
	dial(t, app)
	if got := login(t, app); got != 1040 {
		t.Errorf("error %d", got)
	}
}

// TestLimitsOfLogins: the variables that say them.
func TestLimitsOfLogins(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.rows("80,10,0", "SELECT @@sqlots_max_address_share, @@connect_timeout, @@max_user_connections")
	admitAll(c)
	c.exec("CREATE USER app")
	c.exec("SET GLOBAL max_user_connections = 2")
	app := strings.Replace(dsn, "root", "app", 1)
	a := dial(t, app)
	dial(t, app)
	if got := login(t, app); got != 1203 {
		t.Errorf("error %d", got)
	}
	a.close()
	eventually(t, func() bool { return login(t, app) == 0 })
	c.exec("SET GLOBAL connect_timeout = 2")
	nc, err := net.Dial("tcp", dsn[strings.IndexByte(dsn, '(')+1:strings.IndexByte(dsn, ')')])
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = nc.Write([]byte{40}) // half a header
	var b [1000]byte
	for err == nil {
		_, err = nc.Read(b[:]) // to its end
	}
}

// TestLongPasswords: those that no login takes are refused.
func TestLongPasswords(t *testing.T) {
	cert, key := selfSigned(t)
	_, dsn := startServer(t, func(c *server.Config) { c.TLSCert, c.TLSKey = cert, key })
	c := dial(t, dsn)
	long := strings.Repeat("x", 257)
	admitAll(c)
	c.exec("CREATE USER app IDENTIFIED BY '" + long[:256] + "', nat IDENTIFIED WITH mysql_native_password BY '" + long + "'")
	for _, q := range []string{"CREATE USER x IDENTIFIED BY '%s'", "ALTER USER app IDENTIFIED BY '%s'", "SET PASSWORD FOR app = '%s'"} {
		c.fails(1396, fmt.Sprintf(q, long))
	}
	for user, password := range map[string]string{"app": long[:256], "nat": long} {
		if got := login(t, strings.Replace(dsn, "root", user+":"+password, 1)+"?tls=skip-verify"); got != 0 {
			t.Errorf("%s: error %d", user, got)
		}
	}
}

// TestDecoys: unknown users are refused with one of the plugins that accounts
// have, each always with the same, also after a restart.
func TestDecoys(t *testing.T) {
	dir := t.TempDir()
	disk := func(c *server.Config) { c.InMemory, c.DataDir = false, dir }
	plugins := func(s *server.Server) string {
		var b strings.Builder
		for i := range 40 {
			a, known := s.Engine().Account(fmt.Sprint("user", i), "10.0.0.1")
			if known {
				t.Fatal("there is no such account")
			}
			b.WriteByte(a.Plugin[0])
		}
		return b.String()
	}
	s, dsn := startOnce(t, disk)
	if got := plugins(s); strings.Trim(got, "c") != "" {
		t.Errorf("%s where all accounts have %s", got, mysqlwire.PluginCachingSHA2)
	}
	dial(t, dsn).exec("CREATE USER nat IDENTIFIED WITH mysql_native_password BY 'x'")
	got := plugins(s)
	if n := strings.Count(got, "m"); n < 5 || n > 35 {
		t.Errorf("%d of 40 are %s", n, mysqlwire.PluginNative)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	s, dsn = startOnce(t, disk)
	if again := plugins(s); again != got {
		t.Errorf("%s after a restart, %s before", again, got)
	}
	dial(t, dsn).exec("ALTER USER root IDENTIFIED WITH mysql_native_password BY ''")
	if again := plugins(s); strings.Trim(again, "m") != "" {
		t.Errorf("%s where all accounts have %s", again, mysqlwire.PluginNative)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	other, _ := startServer(t, func(c *server.Config) {})
	dial(t, "root@tcp("+other.Addr()+")/").exec("CREATE USER nat IDENTIFIED WITH mysql_native_password BY 'x'")
	if plugins(other) == got {
		t.Error("two stores have the same secret")
	}
}

// TestReloadTLS: certificates are read again without an end to connections.
func TestReloadTLS(t *testing.T) {
	cert, key := selfSigned(t)
	_, dsn := startServer(t, func(c *server.Config) { c.TLSCert, c.TLSKey = cert, key })
	c, secure := dial(t, dsn), dial(t, dsn+"?tls=skip-verify")
	c.rows("YES,YES", "SELECT @@have_ssl, @@have_openssl")
	var seen []byte // the certificate that the server shows
	err := mysql.RegisterTLSConfig("see", &tls.Config{InsecureSkipVerify: true, VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
		seen = raw[0]
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer mysql.DeregisterTLSConfig("see")
	shows := func(want []byte) {
		t.Helper()
		if got := login(t, dsn+"?tls=see"); got != 0 {
			t.Errorf("error %d with TLS", got)
		}
		if b, _ := pem.Decode(want); !bytes.Equal(seen, b.Bytes) {
			t.Error("another certificate")
		}
	}
	replace := func(from, to string) (content []byte) {
		t.Helper()
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	old := replace(cert, cert)
	newCert, newKey := selfSigned(t)
	replace(newCert, cert)
	c.fails(3888, "ALTER INSTANCE RELOAD TLS") // the key is of the old one
	shows(old)
	replace(newKey, key)
	c.exec("ALTER INSTANCE RELOAD TLS")
	shows(replace(newCert, cert))
	secure.rows("1", "SELECT 1")
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	c.exec("ALTER INSTANCE RELOAD TLS NO ROLLBACK ON ERROR")
	c.rows("DISABLED,DISABLED", "SELECT @@have_ssl, @@have_openssl")
	db, err := sql.Open("mysql", dsn+"?tls=skip-verify")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("TLS without a certificate: %v", err)
	}
	secure.rows("1", "SELECT 1")
	again := replace(newCert, cert)
	c.exec("ALTER INSTANCE RELOAD TLS")
	c.rows("YES", "SELECT @@have_ssl")
	shows(again)
}

// TestNoTLS: without a certificate the server does not claim to have TLS.
func TestNoTLS(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.rows("DISABLED,DISABLED", "SELECT @@have_ssl, @@have_openssl")
	c.fails(3888, "ALTER INSTANCE RELOAD TLS")
}

// TestKeepAlive: the system notices clients that have gone without a word.
func TestKeepAlive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/net/tcp")
	}
	s, dsn := startServer(t)
	dial(t, dsn)
	_, p, _ := net.SplitHostPort(s.Addr())
	port, _ := strconv.Atoi(p)
	eventually(t, func() bool {
		text, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			t.Skip(err)
		}
		with, without := 0, 0 // the timer of keepalive
		for line := range strings.SplitSeq(string(text), "\n") {
			f := strings.Fields(line)
			switch {
			case len(f) < 6 || !strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) || f[3] != "01":
			case strings.HasPrefix(f[5], "02:"):
				with++
			default:
				without++
			}
		}
		return with == 1 && without == 0
	})
}
