package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/go-sql-driver/mysql"
	errors "gopkg.in/src-d/go-errors.v1"
)

// account is who runs a step.
type account struct {
	user string
	// passwords are tried in their order.
	passwords []string
	// database is the current one. The corpus has one also for accounts that may
	// do nothing in it.
	database string
}

// denials are MySQL's errors of who lacks a privilege or does not get in.
var denials = []int{1044, 1045, 1095, 1142, 1143, 1227, 1370, 1410, 3530}

// isDenial reports that an error kind of the corpus is a refusal. Which of MySQL's
// numbers it has, go-mysql-server does not say.
func isDenial(k *errors.Kind, text string) bool {
	return k != nil && slices.Contains([]*errors.Kind{sql.ErrPrivilegeCheckFailed, sql.ErrDatabaseAccessDeniedForUser, sql.ErrTableAccessDeniedForUser}, k) ||
		strings.Contains(text, "denied")
}

// isHere reports that a connection from this machine comes from the host. Two
// cases of the corpus have hosts elsewhere.
func isHere(host string) bool {
	return slices.Contains([]string{"", "localhost", "127.0.0.1", "%"}, host)
}

// passwordOf finds the passwords that the statements of a case give accounts.
var passwordOf = regexp.MustCompile(`(?i)identified (?:with \S+ )?by '([^']*)'`)

func passwordsIn(statements []string) []string {
	out := []string{""}
	for _, q := range statements {
		for _, m := range passwordOf.FindAllStringSubmatch(q, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

func ofUserPrivileges(setUp [][]setup.SetupScript) suite {
	s := suite{name: "UserPrivileges", accounts: true, setUp: append(setUp, []setup.SetupScript{{"DROP DATABASE foo"}})}
	for _, t := range queries.UserPrivTests {
		c := testCase{name: t.Name, setUp: t.SetUpScript}
		passwords := passwordsIn(t.SetUpScript)
		for _, a := range t.Assertions {
			if !isHere(a.Host) {
				continue
			}
			st := step{sql: a.Query, check: a.Expected != nil, expected: a.Expected}
			if a.ExpectedErr != nil || a.ExpectedErrStr != "" {
				st = failure(a.Query, nil, a.ExpectedErr, a.ExpectedErrStr)
				st.denied = isDenial(a.ExpectedErr, a.ExpectedErrStr)
			}
			// Without a user the corpus means root, except where it names a host.
			if a.User != "root" && (a.User != "" || a.Host == "%") {
				st.as = &account{user: a.User, passwords: passwords, database: "mydb"}
			}
			c.steps = append(c.steps, st)
		}
		s.cases = append(s.cases, c)
	}
	return s
}

func ofQuickPrivileges() suite {
	s := suite{name: "QuickPrivileges", accounts: true, setUp: [][]setup.SetupScript{{{"DROP DATABASE foo", "CREATE DATABASE otherdb"}}}}
	begin := []string{
		"CREATE USER tester@localhost",
		"CREATE TABLE mydb.test (pk BIGINT PRIMARY KEY, v1 BIGINT)",
		"CREATE TABLE mydb.test2 (pk BIGINT PRIMARY KEY, v1 BIGINT)",
		"CREATE TABLE otherdb.test (pk BIGINT PRIMARY KEY, v1 BIGINT)",
		"CREATE TABLE otherdb.test2 (pk BIGINT PRIMARY KEY, v1 BIGINT)",
		"INSERT INTO mydb.test VALUES (0, 0), (1, 1)",
		"INSERT INTO mydb.test2 VALUES (0, 1), (1, 2)",
		"INSERT INTO otherdb.test VALUES (1, 1), (2, 2)",
		"INSERT INTO otherdb.test2 VALUES (1, 1), (2, 2)",
	}
	for _, t := range queries.QuickPrivTests {
		last := len(t.Queries) - 1
		st := step{sql: t.Queries[last], check: t.Expected != nil, expected: t.Expected}
		if t.ExpectingErr || t.ExpectedErr != nil {
			st = failure(st.sql, nil, t.ExpectedErr, "")
			st.denied = t.ExpectedErr == nil || isDenial(t.ExpectedErr, "")
		}
		st.as = &account{user: "tester", passwords: []string{""}, database: "mydb"}
		for _, q := range t.Queries[:last] {
			if m := uses.FindStringSubmatch(q); m != nil {
				st.as.database = m[1]
			}
		}
		s.cases = append(s.cases, testCase{name: strings.Join(t.Queries[:last], "; "), setUp: append(slices.Clone(begin), t.Queries[:last]...), steps: []step{st}})
	}
	return s
}

var uses = regexp.MustCompile(`(?i)^use (\w+)`)

// ofServerAuthentication leaves out the cases that change go-mysql-server itself.
func ofServerAuthentication(setUp [][]setup.SetupScript) suite {
	s := suite{name: "ServerAuthentication", accounts: true, setUp: setUp}
	for _, t := range queries.ServerAuthTests {
		if t.SetUpFunc != nil {
			continue
		}
		c := testCase{name: t.Name, setUp: t.SetUpScript}
		for _, a := range t.Assertions {
			as := &account{user: a.Username, passwords: []string{a.Password}}
			st := step{sql: a.Query}
			if a.ExpectedErr || a.ExpectedErrKind != nil || a.ExpectedErrStr != "" {
				st = failure(a.Query, nil, a.ExpectedErrKind, a.ExpectedErrStr)
				st.denied = a.ExpectedErrStr == "" || isDenial(a.ExpectedErrKind, a.ExpectedErrStr)
			}
			st.as = as
			c.steps = append(c.steps, st)
			if a.ExpectedAuthPlugin != "" {
				c.steps = append(c.steps, step{as: as, check: true, expected: []sql.Row{{a.ExpectedAuthPlugin}},
					sql: "SELECT plugin FROM mysql.user WHERE user=SUBSTRING_INDEX(USER(),'@',1)"})
			}
		}
		s.cases = append(s.cases, c)
	}
	return s
}

// onlyRoot drops all accounts but root, which becomes the root@localhost of the
// corpus.
func (r *runner) onlyRoot(ctx context.Context) error {
	list, err := r.session.query(ctx, "SELECT user, host FROM mysql.user WHERE user NOT IN ('mysql.sys', 'mysql.session', 'mysql.infoschema', 'mariadb.sys')", nil)
	if err != nil {
		return err
	}
	for _, row := range list.values {
		user, host := textOf(row[0]), textOf(row[1])
		q := "DROP USER '" + user + "'@'" + host + "'"
		switch {
		case user == "root" && host == "%":
			q = "RENAME USER root@'%' TO root@localhost"
		case user == "root":
			continue
		}
		_, _, err := r.session.exec(ctx, q, nil)
		if numberOfError(err) == 1396 { // MariaDB drops roles only as such
			_, _, err = r.session.exec(ctx, "DROP ROLE '"+user+"'", nil)
		}
		if err != nil {
			return err
		}
		if user == "root" { // its session has lost its account
			if err := r.reconnect(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// grantsOn finds the table of a GRANT.
var grantsOn = regexp.MustCompile(`(?i)^grant .* on (\w+)\.(\w+) to `)

// lendTable makes the table of a GRANT for this moment, where there is none: unlike
// MySQL, go-mysql-server grants on tables that do not exist.
func (r *runner) lendTable(ctx context.Context, s *suite, q string) (drop func()) {
	m := grantsOn.FindStringSubmatch(q)
	if m == nil || !s.accounts {
		return func() {}
	}
	_, _, _ = r.session.exec(ctx, "CREATE DATABASE IF NOT EXISTS "+m[1], nil)
	table := m[1] + "." + m[2]
	if _, _, err := r.session.exec(ctx, "CREATE TABLE "+table+" (i INT)", nil); err != nil {
		return func() {} // it exists
	}
	return func() { _, _, _ = r.session.exec(ctx, "DROP TABLE "+table, nil) }
}

// login opens a session of an account.
func (r *runner) login(ctx context.Context, a *account) (*session, error) {
	cfg, err := mysql.ParseDSN(r.dsn)
	if err != nil {
		return nil, err
	}
	var s *session
	for _, password := range a.passwords {
		cfg.User, cfg.Passwd = a.user, password
		if s, err = connect(ctx, cfg.FormatDSN()); err == nil {
			break
		}
	}
	if err != nil || a.database == "" {
		return s, err
	}
	return s, r.enter(ctx, s, a.database)
}

// enter makes a database the current one of a session. An account that may do
// nothing in it has a privilege for this moment.
func (r *runner) enter(ctx context.Context, s *session, database string) error {
	_, _, err := s.exec(ctx, "USE "+database, nil)
	if numberOfError(err) != 1044 {
		return err
	}
	me, err := s.query(ctx, "SELECT CURRENT_USER()", nil)
	if err != nil {
		return err
	}
	user, host, _ := strings.Cut(textOf(me.values[0][0]), "@")
	name := "'" + user + "'@'" + host + "'"
	for _, q := range []struct {
		by   *session
		text string
	}{
		{r.session, "GRANT EVENT ON " + database + ".* TO " + name},
		{s, "USE " + database},
		{r.session, "REVOKE EVENT ON " + database + ".* FROM " + name},
	} {
		if _, _, err := q.by.exec(ctx, q.text, nil); err != nil {
			return err
		}
	}
	return nil
}

// stepAs runs a step as its account.
func (r *runner) stepAs(ctx context.Context, st *step, key string) *difference {
	if st.as == nil {
		return r.step(ctx, st, key)
	}
	s, err := r.login(ctx, st.as)
	if err != nil {
		r.observe(key, err.Error())
		d := &difference{key: key, number: numberOfError(err), got: err.Error()}
		if d.want = st.failsBut(err); d.want == "" {
			return nil
		}
		return d
	}
	root := r.session
	r.session = s
	d := r.step(ctx, st, key)
	_ = r.session.conn.Close() // may be lost
	r.session = root
	return d
}
