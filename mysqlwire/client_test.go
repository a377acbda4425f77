package mysqlwire

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/big"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/sqlots/sqlots/internal/testflag"
)

func open(t testing.TB, addr, user, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", user+"@tcp("+addr+")/d?"+params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// wantNumber checks for a server's error of the number.
func wantNumber(t testing.TB, err error, number uint16) {
	t.Helper()
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != number {
		t.Errorf("error %v, want %d", err, number)
	}
}

func TestQueries(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	for _, params := range []string{"", "compress=true", "interpolateParams=true"} {
		db := open(t, addr, "root", "multiStatements=true&"+params)
		var n int
		if err := db.QueryRow("SELECT 1").Scan(&n); err != nil || n != 1 {
			t.Fatalf("%d, %v", n, err)
		}
		res, err := db.Exec("other")
		if err != nil {
			t.Fatal(err)
		}
		affected, _ := res.RowsAffected()
		id, _ := res.LastInsertId()
		if affected != 3 || id != 42 {
			t.Errorf("affected %d, id %d", affected, id)
		}
		_, err = db.Exec("bad")
		wantNumber(t, err, 1146)
		_, err = db.Exec("odd")
		wantNumber(t, err, 1105)
		_, err = db.Exec("silent")
		wantNumber(t, err, 1815)
		if err := db.QueryRow("SELECT 1").Scan(&n); err != nil {
			t.Fatal(err)
		}
		testStream(t, db)
		testMulti(t, db)
	}
}

func testStream(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, args := range [][]any{nil, {1}} { // text and prepared
		q := "rows 5000"
		if args != nil {
			q += " ?"
			q = strings.Replace(q, "5000 ?", "5000", 1)
		}
		var rows *sql.Rows
		var err error
		if args == nil {
			rows, err = db.Query(q)
		} else {
			var st *sql.Stmt
			if st, err = db.Prepare(q); err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			rows, err = st.Query()
		}
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for rows.Next() {
			var id, u int64
			var n sql.NullInt64
			var name, at string
			if err := rows.Scan(&id, &n, &u, &name, &at); err != nil {
				t.Fatal(err)
			}
			i := int64(count % 1024)
			if id != i+1000000 || u != i || n.Valid != (i%10 != 0) || n.Valid && n.Int64 != i*7 || !strings.HasPrefix(name, "name-") || at != "2024-02-29 12:30:15" {
				t.Fatalf("row %d: %d %v %d %s %s", count, id, n, u, name, at)
			}
			count++
		}
		if rows.Err() != nil || count != 5000 {
			t.Fatalf("%d rows, %v", count, rows.Err())
		}
	}
}

func testMulti(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.Query("SELECT 1; rows 3; SELECT 1; half")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var counts []int
	for {
		n := 0
		for rows.Next() {
			n++
		}
		counts = append(counts, n)
		if !rows.NextResultSet() {
			break
		}
	}
	if len(counts) != 4 || counts[0] != 1 || counts[1] != 3 || counts[2] != 1 || counts[3] != 1 {
		t.Errorf("result sets of %v rows", counts)
	}
	wantNumber(t, rows.Err(), 1317)
}

func TestParams(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	db := open(t, addr, "root", "parseTime=true")
	st, err := db.Prepare("echo ?,?,?,?,?,?,?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	when := time.Date(2024, 2, 29, 1, 2, 3, 4000, time.UTC)
	long := strings.Repeat("long", 20<<10)
	for range 2 {
		var i int64
		var u uint64
		var f float64
		var s, big string
		var null sql.NullString
		var at string
		err := st.QueryRow(int64(math.MinInt64), uint64(math.MaxUint64), 1.25, "héllo", nil, when, long).Scan(&i, &u, &f, &s, &null, &at, &big)
		if err != nil {
			t.Fatal(err)
		}
		if i != math.MinInt64 || u != math.MaxUint64 || f != 1.25 || s != "héllo" || null.Valid || at != "2024-02-29 01:02:03.000004" || big != long {
			t.Errorf("%v %v %v %v %v %v, %d bytes", i, u, f, s, null, at, len(big))
		}
	}
	_, err = db.Prepare("bad ?")
	wantNumber(t, err, 1064)
}

// TestLongData makes the driver send parameters by COM_STMT_SEND_LONG_DATA.
func TestLongData(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	db := open(t, addr, "root", "maxAllowedPacket=40000")
	a, b := pattern(100_000), pattern(30_000)
	var x, y []byte
	if err := db.QueryRow("echo ?,?", a, b).Scan(&x, &y); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, x) || !bytes.Equal(b, y) {
		t.Errorf("%d and %d bytes", len(x), len(y))
	}
}

func TestAuth(t *testing.T) {
	cert := selfSigned(t)
	var log bytes.Buffer
	_, b, addr := startServer(t, Config{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ping := func(user, params string) error {
		db := open(t, addr, user, params)
		return db.Ping()
	}
	for _, params := range []string{"", "tls=skip-verify", "tls=skip-verify&compress=true"} {
		for _, user := range []string{"native:secret", "sha:secret", "sha:secret", "root"} {
			if err := ping(user, params); err != nil {
				t.Errorf("%s %s: %v", user, params, err)
			}
		}
		for _, user := range []string{"native:wrong", "native", "sha:wrong", "sha", "root:x", "nobody", "nobody:x"} {
			wantNumber(t, ping(user, params), 1045)
		}
		wantNumber(t, ping("locked:secret", params), 3118)
		wantNumber(t, ping("locked:wrong", params), 1045)
	}
	wantNumber(t, ping("tls:secret", ""), 1045)
	if err := ping("tls:secret", "tls=skip-verify"); err != nil {
		t.Error(err)
	}
	// A changed password invalidates what is cached of the old one.
	a := b.accounts["sha"]
	a.AuthString = HashCachingSHA2("other", nil)
	b.accounts["sha"] = a
	wantNumber(t, ping("sha:secret", ""), 1045)
	if err := ping("sha:other", ""); err != nil {
		t.Error(err)
	}
	db, err := sql.Open("mysql", "root@tcp("+addr+")/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	wantNumber(t, db.Ping(), 1049)
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestNativeDefault(t *testing.T) {
	_, _, addr := startServer(t, Config{DefaultPlugin: PluginNative})
	for _, user := range []string{"native:secret", "sha:secret", "root"} {
		if err := open(t, addr, user, "").Ping(); err != nil {
			t.Errorf("%s: %v", user, err)
		}
	}
	wantNumber(t, open(t, addr, "nobody:x", "").Ping(), 1045)
}

func TestUnixSocket(t *testing.T) {
	s, _, _ := startServer(t, Config{})
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	go func() { _ = s.Serve(l) }()
	for _, user := range []string{"root", "sha:secret"} {
		db, err := sql.Open("mysql", user+"@unix("+path+")/d")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Ping(); err != nil {
			t.Errorf("%s: %v", user, err)
		}
		db.Close()
	}
}

func TestLoadLocal(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	db := open(t, addr, "root", "")
	db.SetMaxOpenConns(1)
	data := pattern(3 << 20)
	mysql.RegisterReaderHandler("data", func() io.Reader { return bytes.NewReader(data) })
	mysql.RegisterReaderHandler("empty", func() io.Reader { return strings.NewReader("") })
	for name, want := range map[string]int64{"Reader::data": int64(len(data)), "Reader::empty": 0} {
		res, err := db.Exec("load " + name)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n != want {
			t.Errorf("%s: %d bytes, want %d", name, n, want)
		}
	}
	var one int
	if err := db.QueryRow("SELECT 1").Scan(&one); err != nil {
		t.Fatal(err)
	}
}

// TestLoadLocalHalf has the session give up in the middle of the file.
func TestLoadLocalHalf(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	c := dialRaw(t, addr, 0)
	c.command(comQuery, []byte("load half")...)
	c.expect(0xfb)
	c.send(pattern(50000))
	c.send(pattern(50000))
	c.send(nil)
	c.expectError(1062)
	c.command(comPing)
	c.expect(0x00)
	// A broken sequence in the file ends the connection.
	c.command(comQuery, []byte("load all")...)
	c.expect(0xfb)
	c.seq += 3
	c.send([]byte("x"))
	c.seq = 2
	c.expectError(1156)
	c.expectEnd()
}

func TestLoadLocalRefused(t *testing.T) {
	_, _, addr := startServer(t, Config{DisableLocalInfile: true})
	_, err := open(t, addr, "root", "").Exec("load x")
	wantNumber(t, err, 3948)
}

func TestLargePackets(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	db := open(t, addr, "root", "maxAllowedPacket=67108864")
	for _, n := range testflag.Pick([]int{1 << 10, maxPayload}, []int{maxPayload - 1, maxPayload}, []int{1 << 10, maxPayload - 1, maxPayload, 17 << 20, 2 * maxPayload, 40 << 20}) {
		res, err := db.Exec("length " + string(pattern(n-8)))
		if err != nil {
			t.Fatal(n, err)
		}
		if got, _ := res.RowsAffected(); got != int64(n-1) {
			t.Errorf("%d bytes arrive as %d", n, got)
		}
	}
	for _, n := range testflag.Pick([]int{maxPayload}, []int{maxPayload - 4, maxPayload}, []int{maxPayload - 4, maxPayload, 17 << 20, 40 << 20}) {
		var got []byte
		if err := db.QueryRow("blob " + strconv.Itoa(n)).Scan(&got); err != nil {
			t.Fatal(n, err)
		}
		if !bytes.Equal(got, pattern(n)) {
			t.Errorf("%d bytes come back as %d or differ", n, len(got))
		}
	}
}

func TestPacketTooLarge(t *testing.T) {
	_, b, addr := startServer(t, Config{})
	b.maxPacket.Store(1 << 20)
	for _, n := range []int{1<<20 + 1, 17 << 20} {
		c := dialRaw(t, addr, 0)
		go func() {
			out := make([]byte, 4, 4+n)
			putHeader(out, min(n, maxPayload), 0)
			_, _ = c.nc.Write(append(out, pattern(n)...))
		}()
		c.seq = 1
		c.expectError(1153)
		c.expectEnd()
	}
}

func TestMariaDBShell(t *testing.T) {
	bin, err := exec.LookPath("mariadb")
	if err != nil {
		t.Skip("no mariadb shell")
	}
	_, _, addr := startServer(t, Config{})
	host, port, _ := net.SplitHostPort(addr)
	run := func(args ...string) string {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		out, err := exec.CommandContext(ctx, bin, append([]string{"--no-defaults", "-h", host, "-P", port, "--protocol=tcp"}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := run("-uroot", "-N", "-e", "SELECT 1; rows 2"); out != "1\n1000000\tNULL\t0\tname-0\t2024-02-29 12:30:15\n1000001\t7\t1\tname-1\t2024-02-29 12:30:15\n" {
		t.Errorf("%q", out)
	}
	if out := run("-usha", "-psecret", "-N", "-e", "whoami", "dbname"); !strings.HasPrefix(out, "sha\tdbname\t") {
		t.Errorf("%q", out)
	}
	if out := run("-unative", "-psecret", "-N", "--compress", "-e", "SELECT 1"); out != "1\n" {
		t.Errorf("%q", out)
	}
}
