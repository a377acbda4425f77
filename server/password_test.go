package server_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/sql/catalog"
)

// connect is dial without a statement.
func connect(t testing.TB, dsn string) *client {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := &client{t: t, db: db, c: c}
	t.Cleanup(out.close)
	return out
}

// accountTest is a server and who may log in.
type accountTest struct {
	t    *testing.T
	s    *server.Server
	dsn  string
	root *client
}

func newAccountTest(t *testing.T, change ...func(*server.Config)) *accountTest {
	t.Helper()
	s, dsn := startServer(t, change...)
	root := dial(t, dsn)
	admitAll(root)
	return &accountTest{t, s, dsn, root}
}

// as is the data source name of an account; login is its name, and its password after a
// colon.
func (a *accountTest) as(login string, options ...string) string {
	return login + a.dsn[strings.IndexByte(a.dsn, '@'):] + "?interpolateParams=true" + strings.Join(options, "")
}

// check logs in, which has to end with an error number, 0 for none.
func (a *accountTest) check(want uint16, logins ...string) {
	a.t.Helper()
	for _, l := range logins {
		if got := login(a.t, a.as(l)); got != want {
			a.t.Errorf("%s: error %d, want %d", l, got, want)
		}
	}
}

// account is what the catalog has of a user.
func (a *accountTest) account(user string) *catalog.Account {
	return a.s.Engine().Catalog.Snapshot().Account(user, "%")
}

// backdate makes everything of an account older.
func (a *accountTest) backdate(user string, d time.Duration) {
	a.t.Helper()
	err := a.s.Engine().Catalog.Change(a.t.Context(), func(ch *catalog.Change) error {
		old := *ch.Current().Account(user, "%")
		old.PasswordChanged -= int64(d.Seconds())
		hashes := old.OldHashes
		old.OldHashes = nil
		for _, h := range hashes {
			old.OldHashes = append(old.OldHashes, catalog.OldHash{Auth: h.Auth, At: h.At - int64(d.Seconds())})
		}
		ch.PutAccount(&old)
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// TestExpiredAccount: a client that knows of expired passwords, or any if the server says
// so, may change the password and nothing else, and goes on then.
func TestExpiredAccount(t *testing.T) {
	a := newAccountTest(t, func(c *server.Config) { c.SandboxOldClients = true })
	a.root.rows("0", "SELECT @@disconnect_on_expired_password")
	a.root.exec("CREATE USER e IDENTIFIED BY 'one' PASSWORD EXPIRE")
	for _, x := range []struct{ password, change string }{
		{"one", "ALTER USER USER() IDENTIFIED BY 'two'"}, {"two", "SET PASSWORD = 'three'"}, {"three", "SET PASSWORD FOR e = 'four'"},
		{"four", "ALTER USER e IDENTIFIED BY 'three'"}, {"three", "ALTER USER CURRENT_USER() IDENTIFIED BY 'two' REPLACE 'three'"},
	} {
		c := connect(t, a.as("e:"+x.password))
		for _, q := range []string{
			"SELECT 1", "SELECT * FROM nowhere", "SHOW TABLES", "USE t", "BEGIN", "INSERT INTO t.x VALUES (1)", "DO 1", "SET @a = (SELECT 1)", "PREPARE p FROM 'SELECT 1'", "EXECUTE p", "SHOW WARNINGS", "FLUSH PRIVILEGES", "EXPLAIN SELECT 1",
			"CREATE USER x", "DROP USER e", "ALTER USER root IDENTIFIED BY 'x'", "SET PASSWORD FOR root = 'x'", "ALTER USER e PASSWORD EXPIRE NEVER", "ALTER USER e IDENTIFIED BY 'x' PASSWORD EXPIRE NEVER", "ALTER USER e IDENTIFIED BY 'x' COMMENT 'x'",
			"ALTER USER e IDENTIFIED BY 'x', root IDENTIFIED BY 'x'", "ALTER USER e DISCARD OLD PASSWORD", "ALTER USER e IDENTIFIED WITH mysql_native_password BY 'x'", "ALTER USER e IDENTIFIED WITH caching_sha2_password",
		} {
			c.fails(1820, q)
		}
		if _, err := c.c.PrepareContext(t.Context(), "SELECT 1"); errorNumber(err) != 1820 {
			t.Errorf("a statement is prepared: %v", err)
		}
		c.fails(1064, "SELEC")
		c.exec("SET @a = 1, NAMES utf8mb4")
		c.exec(x.change)
		c.rows("1", "SELECT 1")
		a.root.exec("ALTER USER e PASSWORD EXPIRE")
		c.rows("1", "SELECT 1") // who is there stays
	}
	// Of itself it counts at once.
	c := connect(t, a.as("e:two"))
	a.root.exec("GRANT CREATE USER ON *.* TO e")
	c.exec("ALTER USER e IDENTIFIED BY 'four'")
	c.exec("ALTER USER e PASSWORD EXPIRE")
	c.fails(1820, "SELECT 1")
	c.exec("ALTER USER e IDENTIFIED BY 'four'")
	c.rows("1", "SELECT 1")
	// A password that another sets is the account's.
	a.root.exec("ALTER USER e PASSWORD EXPIRE")
	a.root.exec("ALTER USER e IDENTIFIED BY 'five'")
	connect(t, a.as("e:five")).rows("1", "SELECT 1")
	a.root.exec("ALTER USER e IDENTIFIED WITH caching_sha2_password") // no one knows it
	connect(t, a.as("e")).fails(1820, "SELECT 1")
}

// TestPasswordLifetime: passwords get old.
func TestPasswordLifetime(t *testing.T) {
	a := newAccountTest(t)
	a.root.rows("1,0", "SELECT @@disconnect_on_expired_password, @@default_password_lifetime")
	a.root.exec("CREATE USER never IDENTIFIED BY 'x' PASSWORD EXPIRE NEVER")
	a.root.exec("CREATE USER def IDENTIFIED BY 'x', ten IDENTIFIED BY 'x', now IDENTIFIED BY 'x'")
	a.root.exec("ALTER USER ten PASSWORD EXPIRE INTERVAL 10 DAY")
	a.root.exec("ALTER USER now PASSWORD EXPIRE")
	for _, u := range []string{"never", "def", "ten"} {
		a.backdate(u, 5*24*time.Hour)
	}
	a.check(0, "never:x", "def:x", "ten:x")
	a.check(1862, "now:x")
	a.check(1045, "now:y")
	a.root.exec("SET GLOBAL default_password_lifetime = 5")
	a.check(0, "never:x", "ten:x")
	a.check(1862, "def:x")
	a.backdate("ten", 5*24*time.Hour)
	a.check(1862, "ten:x")
	a.root.exec("ALTER USER ten, def PASSWORD EXPIRE DEFAULT")
	a.check(1862, "ten:x", "def:x")
	a.root.exec("ALTER USER ten IDENTIFIED BY 'x'")
	a.root.exec("ALTER USER def PASSWORD EXPIRE NEVER")
	a.check(0, "ten:x", "def:x")
	a.root.fails(3016, "ALTER USER '' PASSWORD EXPIRE")
	a.root.fails(1396, "CREATE USER '' PASSWORD EXPIRE")
}

// TestPasswordHistory: passwords that must not be used again.
func TestPasswordHistory(t *testing.T) {
	a := newAccountTest(t)
	change := func(want uint16, user, password string) {
		t.Helper()
		query := fmt.Sprintf("ALTER USER %s IDENTIFIED BY '%s'", user, password)
		if want == 0 {
			a.root.exec(query)
		} else {
			a.root.fails(want, query)
		}
	}
	for _, plugin := range []string{"caching_sha2_password", "mysql_native_password"} {
		a.root.exec("CREATE USER h IDENTIFIED WITH " + plugin + " BY 'a' PASSWORD HISTORY 2")
		change(3638, "h", "a")
		change(0, "h", "b")
		change(3638, "h", "a")
		change(3638, "h", "b")
		a.root.fails(3638, "SET PASSWORD FOR h = 'a'")
		change(0, "h", "") // is no password
		change(0, "h", "c")
		change(0, "h", "a")
		change(3638, "h", "c")
		if n := len(a.account("h").OldHashes); n != 2 {
			t.Errorf("%d passwords are remembered", n)
		}
		// As a stored form any is taken, and remembered.
		auth := a.account("h").AuthString
		a.root.exec("ALTER USER h IDENTIFIED BY 'd'")
		a.root.exec(fmt.Sprintf("ALTER USER h IDENTIFIED WITH %s AS 0x%x", plugin, auth))
		change(3638, "h", "a")
		a.root.exec("RENAME USER h TO i")
		change(3638, "i", "d")
		a.root.exec("DROP USER i")
	}
	a.root.exec("CREATE USER h IDENTIFIED BY 'a' PASSWORD HISTORY 5")
	a.root.exec("ALTER USER h IDENTIFIED WITH mysql_native_password BY 'a'") // another plugin
	change(3638, "h", "a")
	a.root.exec("ALTER USER h PASSWORD HISTORY DEFAULT")
	change(0, "h", "a")
	if n := len(a.account("h").OldHashes); n != 0 {
		t.Errorf("%d passwords are remembered", n)
	}
	a.root.exec("SET GLOBAL password_history = 1")
	change(0, "h", "a")
	change(3638, "h", "a")
	a.root.exec("SET GLOBAL password_history = DEFAULT, GLOBAL password_reuse_interval = 3")
	change(0, "h", "r") // the rule before has kept no other
	change(3638, "h", "a")
	a.backdate("h", 71*time.Hour)
	change(0, "h", "s")
	change(3638, "h", "r")
	a.backdate("h", 2*time.Hour)
	change(0, "h", "r")
	a.root.exec("ALTER USER h PASSWORD REUSE INTERVAL 0 DAY")
	change(0, "h", "r")
	a.root.exec("ALTER USER h IDENTIFIED BY 'q' PASSWORD REUSE INTERVAL 1 DAY")
	change(3638, "h", "q")
	a.check(0, "h:q")
	_, err := a.root.query("ALTER USER h IDENTIFIED BY 'q'")
	if want := "Cannot use these credentials for 'h@%' because they contradict the password history policy"; err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// TestReplacePassword is REPLACE.
func TestReplacePassword(t *testing.T) {
	a := newAccountTest(t)
	a.root.exec("CREATE USER p IDENTIFIED BY 'one', q IDENTIFIED BY 'x'")
	a.root.fails(3893, "ALTER USER p IDENTIFIED BY 'x' REPLACE 'one'")
	a.root.fails(3893, "SET PASSWORD FOR p = 'x' REPLACE 'one'")
	c := connect(t, a.as("p:one"))
	c.fails(3891, "ALTER USER p IDENTIFIED BY 'x' REPLACE 'two'")
	c.fails(3891, "SET PASSWORD = 'x' REPLACE ''")
	c.exec("ALTER USER p IDENTIFIED BY 'two' REPLACE 'one'")
	c.exec("SET PASSWORD = 'one' REPLACE 'two'")
	for _, on := range []string{"SET GLOBAL password_require_current = ON", "ALTER USER p PASSWORD REQUIRE CURRENT"} {
		c.exec("SET PASSWORD = 'one'")
		a.root.exec(on)
		c.fails(3892, "SET PASSWORD = 'x'")
		c.fails(3892, "ALTER USER USER() IDENTIFIED BY 'x'")
		c.fails(3892, "ALTER USER p IDENTIFIED BY RANDOM PASSWORD")
		c.fails(3891, "ALTER USER USER() IDENTIFIED BY 'x' REPLACE 'x'")
		c.exec("ALTER USER p IDENTIFIED BY 'two' REPLACE 'one'")
		c.exec("SET PASSWORD = 'one' REPLACE 'two'")
		a.root.exec("ALTER USER p IDENTIFIED BY 'one'") // of another
		a.root.exec("ALTER USER root IDENTIFIED BY ''") // who may change all
		a.root.exec("SET GLOBAL password_require_current = OFF")
	}
	a.root.exec("ALTER USER p PASSWORD REQUIRE CURRENT OPTIONAL")
	a.root.exec("SET GLOBAL password_require_current = ON")
	c.exec("SET PASSWORD = 'one'")
	a.root.exec("ALTER USER p PASSWORD REQUIRE CURRENT DEFAULT")
	c.fails(3892, "SET PASSWORD = 'one'")
	a.root.exec("ALTER USER p IDENTIFIED BY ''")
	c.fails(3891, "SET PASSWORD = 'one' REPLACE 'x'")
	c.exec("SET PASSWORD = 'one' REPLACE ''")
	a.check(0, "p:one")
	// Nothing of a statement that fails is done.
	a.root.fails(3893, "ALTER USER q IDENTIFIED BY 'y', p IDENTIFIED BY 'y' REPLACE 'one'")
	a.check(0, "q:x", "p:one")
}

// TestFailedLoginAttempts: an account is blocked after failures.
func TestFailedLoginAttempts(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	a := newAccountTest(t)
	a.root.exec("CREATE USER f IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 3")
	a.root.exec("CREATE USER half IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 1")
	block := func() {
		t.Helper()
		a.check(1045, "f:y")
		a.check(3955, "f:y", "f:x", "f")
	}
	a.check(1045, "f:y")
	a.check(0, "f:x") // begins again
	block()
	db, err := sql.Open("mysql", a.as("f:x"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err == nil || !strings.Contains(err.Error(), "Access denied for user 'f'@'localhost'. Account is blocked for 3 day(s) (3 day(s) remaining) due to 2 consecutive failed logins.") {
		t.Error(err)
	}
	a.root.exec("ALTER USER f IDENTIFIED BY 'x'")
	a.check(3955, "f:x")
	a.root.exec("ALTER USER f ACCOUNT UNLOCK")
	a.check(0, "f:x")
	block()
	a.root.exec("FLUSH PRIVILEGES")
	a.check(0, "f:x")
	block()
	a.root.exec("ALTER USER f PASSWORD_LOCK_TIME UNBOUNDED")
	a.check(0, "f:x")
	a.check(1045, "f:y")
	if err := db.Ping(); err != nil {
		t.Error(err)
	}
	block()
	a.root.exec("ALTER USER f FAILED_LOGIN_ATTEMPTS 0")
	a.check(1045, "f:y", "f:y", "f:y", "half:y", "half:y")
	a.check(0, "f:x", "half:x")
	a.root.exec("ALTER USER f FAILED_LOGIN_ATTEMPTS 2 ACCOUNT LOCK")
	a.check(3118, "f:x")
	block()
	a.root.exec("DROP USER f")
	a.root.exec("CREATE USER f IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 3")
	a.check(0, "f:x")
}

// TestRetainPassword: an account with two passwords.
func TestRetainPassword(t *testing.T) {
	a := newAccountTest(t)
	a.root.exec("CREATE USER d IDENTIFIED BY 'one', n IDENTIFIED WITH mysql_native_password BY 'one', empty")
	for _, u := range []string{"d", "n"} {
		a.root.exec("ALTER USER " + u + " IDENTIFIED BY 'two' RETAIN CURRENT PASSWORD")
		a.check(0, u+":one", u+":two", u+":one")
		a.root.exec("SET PASSWORD FOR " + u + " = 'three' RETAIN CURRENT PASSWORD")
		a.check(0, u+":two", u+":three")
		a.check(1045, u+":one")
		a.root.exec("ALTER USER " + u + " IDENTIFIED BY 'four'") // the second one stays
		a.check(0, u+":two", u+":four")
		a.check(1045, u+":three")
		a.root.exec("ALTER USER " + u + " DISCARD OLD PASSWORD")
		a.check(1045, u+":two")
		a.check(0, u+":four")
		a.root.exec("ALTER USER " + u + " DISCARD OLD PASSWORD")
		a.root.fails(3895, "ALTER USER "+u+" IDENTIFIED BY '' RETAIN CURRENT PASSWORD")
		a.root.exec("ALTER USER " + u + " IDENTIFIED BY 'five' RETAIN CURRENT PASSWORD")
		a.root.exec("ALTER USER " + u + " IDENTIFIED BY ''")
		a.check(1045, u+":four", u+":five")
		a.check(0, u)
	}
	a.root.fails(3878, "ALTER USER empty IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD")
	a.root.exec("ALTER USER d IDENTIFIED BY 'one'")
	a.root.exec("ALTER USER d IDENTIFIED BY 'two' RETAIN CURRENT PASSWORD")
	a.root.fails(3894, "ALTER USER d IDENTIFIED WITH mysql_native_password BY 'x' RETAIN CURRENT PASSWORD")
	a.root.exec("ALTER USER d IDENTIFIED WITH caching_sha2_password BY 'three'") // the same
	a.check(0, "d:one", "d:three")
	a.root.exec("ALTER USER d IDENTIFIED WITH mysql_native_password BY 'four'")
	a.check(1045, "d:one")
	a.check(0, "d:four")
}

// TestRandomPasswords: the server answers what it has chosen.
func TestRandomPasswords(t *testing.T) {
	a := newAccountTest(t)
	chosen := func(query string, want ...string) (passwords []string) {
		t.Helper()
		rows, err := a.root.c.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		if cols, err := rows.Columns(); err != nil || strings.Join(cols, ",") != "user,host,generated password,auth_factor" {
			t.Errorf("columns %v, %v", cols, err)
		}
		for rows.Next() {
			var user, host, password string
			var factor uint64
			if err := rows.Scan(&user, &host, &password, &factor); err != nil || factor != 1 {
				t.Fatal(factor, err)
			}
			if len(passwords) < len(want) && user+"@"+host != want[len(passwords)] {
				t.Errorf("%s@%s, want %s", user, host, want[len(passwords)])
			}
			passwords = append(passwords, password)
		}
		if len(passwords) != len(want) {
			t.Errorf("%s: %d passwords", query, len(passwords))
		}
		return passwords
	}
	c := chosen("CREATE USER r IDENTIFIED BY RANDOM PASSWORD, fixed IDENTIFIED BY 'x', s@localhost IDENTIFIED WITH mysql_native_password BY RANDOM PASSWORD", "r@%", "s@localhost")
	if utf8.RuneCountInString(c[0]) != 20 || c[0] == c[1] {
		t.Errorf("%q", c)
	}
	a.checkPassword(0, "r", c[0])
	a.checkPassword(0, "s", c[1])
	a.checkPassword(1045, "r", c[1])
	a.root.exec("SET generated_random_password_length = 200")
	a.checkPassword(0, "r", chosen("ALTER USER r IDENTIFIED BY RANDOM PASSWORD", "r@%")[0])
	a.root.exec("SET generated_random_password_length = 1") // is 5
	c = chosen("SET PASSWORD FOR r TO RANDOM", "r@%")
	if len(c[0]) != 5 {
		t.Errorf("%q", c)
	}
	a.checkPassword(0, "r", c[0])
	// In the other protocol, and of itself.
	stmt, err := a.root.c.PrepareContext(t.Context(), "ALTER USER r IDENTIFIED BY RANDOM PASSWORD RETAIN CURRENT PASSWORD")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	var user, host, password string
	var factor int
	if err := stmt.QueryRow().Scan(&user, &host, &password, &factor); err != nil || user != "r" {
		t.Error(user, err)
	}
	a.checkPassword(0, "r", c[0])
	a.checkPassword(0, "r", password)
	a.root.exec("CREATE USER IF NOT EXISTS r IDENTIFIED BY RANDOM PASSWORD")
	a.checkPassword(0, "r", password)
}

// checkPassword is check for a password with any characters.
func (a *accountTest) checkPassword(want uint16, user, password string) {
	a.t.Helper()
	cfg, err := mysql.ParseDSN(a.dsn)
	if err != nil {
		a.t.Fatal(err)
	}
	cfg.User, cfg.Passwd = user, password
	if got := login(a.t, cfg.FormatDSN()); got != want {
		a.t.Errorf("%s with %q: error %d, want %d", user, password, got, want)
	}
}

// TestAccountLimits is WITH of an account.
func TestAccountLimits(t *testing.T) {
	a := newAccountTest(t)
	a.root.exec("CREATE TABLE x (id INT PRIMARY KEY)")
	a.root.exec("CREATE USER m IDENTIFIED BY 'x' WITH MAX_USER_CONNECTIONS 1")
	c := dial(t, a.as("m:x"))
	a.check(1226, "m:x")
	a.root.exec("ALTER USER m WITH MAX_USER_CONNECTIONS 0")
	a.check(0, "m:x")
	c.close()

	a.root.exec("CREATE USER h IDENTIFIED BY 'x' WITH MAX_CONNECTIONS_PER_HOUR 2")
	a.check(0, "h:x", "h:x")
	a.check(1226, "h:x")
	a.root.exec("ALTER USER h WITH MAX_CONNECTIONS_PER_HOUR 3")
	a.check(0, "h:x", "h:x", "h:x")
	a.check(1226, "h:x")
	a.root.exec("FLUSH PRIVILEGES")
	a.check(0, "h:x")

	a.root.exec("CREATE USER u IDENTIFIED BY 'x' WITH MAX_QUERIES_PER_HOUR 7 MAX_UPDATES_PER_HOUR 2")
	c = connect(t, a.as("u:x"))
	c.rows("1", "SELECT 1")
	c.exec("INSERT INTO x VALUES (1)")
	c.exec("INSERT INTO x VALUES (2)")
	c.fails(1226, "INSERT INTO x VALUES (3)")
	c.fails(1226, "CREATE TABLE y (id INT PRIMARY KEY)")
	stmt, err := c.c.PrepareContext(t.Context(), "SELECT COUNT(*) FROM x WHERE id > ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for i := range 4 {
		var n int
		err := stmt.QueryRow(0).Scan(&n)
		if want := map[bool]uint16{true: 0, false: 1226}[i < 2]; errorNumber(err) != want || want == 0 && n != 2 {
			t.Errorf("execution %d: %d, %v", i, n, err)
		}
	}
	_, err = c.query("SELECT 1")
	if err == nil || !strings.Contains(err.Error(), "User 'u' has exceeded the 'max_questions' resource (current value: 7)") {
		t.Error(err)
	}
	other := connect(t, a.as("u:x"))
	other.fails(1226, "SELECT 1") // they are the account's
	a.root.exec("ALTER USER u WITH MAX_QUERIES_PER_HOUR 1")
	other.rows("2", "SELECT COUNT(*) FROM x")
}

// TestAccountClauses: what ALTER USER keeps and changes, in the words of SHOW CREATE USER.
func TestAccountClauses(t *testing.T) {
	dir := t.TempDir()
	s, dsn := startOnce(t, func(c *server.Config) { c.InMemory, c.DataDir, c.Memory = false, dir, 64<<20 })
	a := &accountTest{t, s, dsn, dial(t, dsn)}
	a.root.exec("CREATE USER c COMMENT 'one'")
	for _, step := range []struct{ alter, want string }{
		{"REQUIRE X509", "REQUIRE X509 PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT ATTRIBUTE '{\"comment\": \"one\"}'"},
		{"REQUIRE SSL PASSWORD EXPIRE NEVER ATTRIBUTE '{\"a\": 1}'", "REQUIRE SSL PASSWORD EXPIRE NEVER ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT ATTRIBUTE '{\"a\": 1, \"comment\": \"one\"}'"},
		{"REQUIRE ISSUER '/CN=x' PASSWORD HISTORY 3 ATTRIBUTE '{\"a\": null}'", "REQUIRE ISSUER '/CN=x' PASSWORD EXPIRE NEVER ACCOUNT UNLOCK PASSWORD HISTORY 3 PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT ATTRIBUTE '{\"comment\": \"one\"}'"},
		{"REQUIRE NONE WITH MAX_QUERIES_PER_HOUR 9 PASSWORD REQUIRE CURRENT FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED COMMENT 'two'", "REQUIRE NONE WITH MAX_QUERIES_PER_HOUR 9 PASSWORD EXPIRE NEVER ACCOUNT UNLOCK PASSWORD HISTORY 3 PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED ATTRIBUTE '{\"comment\": \"two\"}'"},
	} {
		a.root.exec("ALTER USER c " + step.alter)
		if got := a.account("c").Clauses(); got != step.want {
			t.Errorf("got  %s\nwant %s", got, step.want)
		}
	}
	want := a.account("c").Clauses()
	// What SHOW CREATE USER shows makes the same account, and a restart keeps it.
	a.root.exec("CREATE USER copied " + want)
	if got := a.account("copied").Clauses(); got != want {
		t.Errorf("copied %s", got)
	}
	a.root.fails(3982, "ALTER USER c PASSWORD HISTORY 9 ATTRIBUTE '[]'")
	a.root.fails(1396, "ALTER USER c, nobody PASSWORD HISTORY 9")
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	s, _ = startServer(t, func(c *server.Config) { c.InMemory, c.DataDir, c.Memory = false, dir, 64<<20 })
	a.s = s
	if got := a.account("c").Clauses(); got != want {
		t.Errorf("after a restart %s", got)
	}
}

// TestConcurrentAccounts: changes of one account at a time lose none.
func TestConcurrentAccounts(t *testing.T) {
	a := newAccountTest(t)
	a.root.exec("CREATE USER c")
	const n = 8
	errs := make(chan error, n)
	for i := range n {
		c := dial(t, a.dsn)
		go func() {
			_, err := c.query(fmt.Sprintf(`ALTER USER c IDENTIFIED BY 'p%d' PASSWORD HISTORY 20 ATTRIBUTE '{"k%d": 1}'`, i, i))
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	c := a.account("c")
	if got := strings.Count(c.Attributes, `"k`); got != n || len(c.OldHashes) != n {
		t.Errorf("%d attributes of %d, %d passwords: %s", got, n, len(c.OldHashes), c.Attributes)
	}
}
