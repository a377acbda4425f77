package infoschema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

const fewGrants = "GRANT USAGE ON *.* TO `few`@`%`;GRANT INSERT ON `shared`.* TO `few`@`%`;GRANT SELECT ON `d`.`mine` TO `few`@`%`;" +
	"GRANT SELECT (`a`), INSERT (`b`), UPDATE (`a`) ON `d`.`part` TO `few`@`%`;GRANT SELECT ON `d`.`v` TO `few`@`%`;" +
	"GRANT SELECT, SHOW VIEW ON `d`.`w` TO `few`@`%`;GRANT SELECT ON `d`.`whole` TO `few`@`%` WITH GRANT OPTION;"

func TestShowGrants(t *testing.T) {
	root := newBusy(t)
	few, active := root.as("few", 8), root.as("few", 8, roleName)
	withRole := strings.Replace(fewGrants, "GRANT SELECT ON `d`.`mine`",
		"GRANT SELECT, REFERENCES (`c`), CREATE VIEW ON `d`.`byrole` TO `few`@`%`;GRANT SELECT ON `d`.`mine`", 1)
	for _, c := range []struct {
		who  *fake
		args []string
		want string
	}{
		{few, []string{"", ""}, fewGrants + "GRANT `must`@`%`,`r`@`%` TO `few`@`%`"},
		{few, []string{"few", "%"}, fewGrants + "GRANT `r`@`%` TO `few`@`%`"},
		{active, []string{"", ""}, withRole + "GRANT `must`@`%`,`r`@`%` TO `few`@`%`"},
		{active, []string{"few", "%"}, fewGrants + "GRANT `r`@`%` TO `few`@`%`"},
		{root, []string{"few", "%", "r", "%"}, withRole + "GRANT `r`@`%` TO `few`@`%`"},
		{few, []string{"few", "%", "must", "%"}, fewGrants + "GRANT `r`@`%` TO `few`@`%`"},
		{root, []string{"r", "%"}, "GRANT USAGE ON *.* TO `r`@`%`;GRANT SELECT, CREATE VIEW ON `d`.`byrole` TO `r`@`%`;GRANT `inner`@`%` TO `r`@`%` WITH ADMIN OPTION"},
		{root, []string{"other", "%"}, "GRANT PROCESS ON *.* TO `other`@`%`;GRANT BACKUP_ADMIN ON *.* TO `other`@`%`;" +
			"GRANT SELECT ON `hidd\\_n%`.* TO `other`@`%` WITH GRANT OPTION;GRANT INSERT (`a`), DELETE ON `hidden`.`s` TO `other`@`%`"},
		{few, []string{"few", "%", "inner", "%"}, "3530 `inner`@`%` is not granted to `few`@`%`"},
		{root, []string{"few", "%", "gone", "%"}, "3530 `gone`@`%` is not granted to `few`@`%`"},
		{root, []string{"nobody", "%"}, "1141 There is no such grant defined for user 'nobody' on host '%'"},
		{few, []string{"other", "%"}, "1142 SELECT command denied to user 'few'@'localhost' for table 'user'"},
	} {
		rows, err := c.who.show(c.who, "grants", c.args)
		got := strings.Join(rows, ";")
		if e, ok := err.(*sqlerr.Error); ok {
			got = fmt.Sprintf("%d %s", e.Number, e.Message)
		}
		if got != c.want {
			t.Errorf("SHOW GRANTS %v\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	v, _, err := root.p.For(root).Virtual(logical.ShowDatabase, "grants", "few", "%")
	if err != nil || v.Cols[0].Name != "Grants for few@%" {
		t.Errorf("%v %v", v.Cols, err)
	}
	rows, err := root.show(root, "grants", []string{"", ""})
	if err != nil || len(rows) != 3 || !strings.HasPrefix(rows[0], "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD,") ||
		!strings.HasSuffix(rows[0], "CREATE ROLE, DROP ROLE ON *.* TO `root`@`%` WITH GRANT OPTION") || !strings.HasSuffix(rows[1], ",XA_RECOVER_ADMIN ON *.* TO `root`@`%` WITH GRANT OPTION") {
		t.Errorf("root: %v %v", rows, err)
	}
}

func TestShowCreateUser(t *testing.T) {
	root := newBusy(t)
	const rest = " PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"
	for sql, want := range map[string]string{
		"SHOW CREATE USER few":    "CREATE USER `few`@`%` IDENTIFIED WITH 'caching_sha2_password' AS 'secret' DEFAULT ROLE `r`@`%` REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK" + rest,
		"SHOW CREATE USER r":      "CREATE USER `r`@`%` IDENTIFIED WITH 'caching_sha2_password' AS 'secret' REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT LOCK" + rest,
		"SHOW CREATE USER nobody": "1396 Operation SHOW CREATE USER failed for 'nobody'@'%'",
	} {
		if got := root.answer(sql); got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

func TestShowPrivileges(t *testing.T) {
	_, rows := newBusy(t).read("SHOW PRIVILEGES")
	want := 33
	for range priv.AllDynamic.Each() {
		want++
	}
	if len(rows) != want || !slices.Contains(rows, "XA_RECOVER_ADMIN|Server Admin|") || slices.Contains(rows, "SET_USER_ID|Server Admin|") {
		t.Errorf("%d rows, want %d: %v", len(rows), want, rows)
	}
}

// TestGrantTables: what was granted, in the tables of mysql and information_schema.
func TestGrantTables(t *testing.T) {
	root := newBusy(t)
	const at = "2023-11-14 22:13:20"
	n, y := "N|", "Y|"
	for _, c := range []struct{ name, who, want string }{
		{"mysql.db", "few", "%|shared|few|N|" + y + strings.Repeat(n, 17)},
		{"mysql.db", "other", `%|hidd\_n%|other|Y|` + strings.Repeat(n, 5) + y + strings.Repeat(n, 12)},
		{"mysql.tables_priv", "few", "%|d|few|mine|root@%|" + at + "|Select||;%|d|few|part|root@%|" + at + "||Select,Insert,Update|;%|d|few|v|root@%|" + at + "|Select||;" +
			"%|d|few|w|root@%|" + at + "|Select,Show view||;%|d|few|whole|root@%|" + at + "|Select,Grant||"},
		{"mysql.tables_priv", "|r|", "%|d|r|byrole|root@%|" + at + "|Select,Create View||"},
		{"mysql.columns_priv", "few", "%|d|few|part|a|" + at + "|Select,Update|;%|d|few|part|b|" + at + "|Insert|"},
		{"mysql.role_edges", "", "%|r|%|few|N|;%|inner|%|r|Y|"},
		{"mysql.default_roles", "", "%|few|%|r|"},
		{"mysql.global_grants", "other", "other|%|BACKUP_ADMIN|N|"},
		{"mysql.proxies_priv", "", "%|root|||1||" + at + "|"},
		{"information_schema.USER_PRIVILEGES", "other", "'other'@'%'|def|PROCESS|NO|;'other'@'%'|def|BACKUP_ADMIN|NO|"},
		{"information_schema.USER_PRIVILEGES", "few", "'few'@'%'|def|USAGE|NO|"},
		{"information_schema.SCHEMA_PRIVILEGES", "", `'few'@'%'|def|shared|INSERT|NO|;'other'@'%'|def|hidd\_n%|SELECT|YES|`},
		{"information_schema.TABLE_PRIVILEGES", "few", "'few'@'%'|def|d|mine|SELECT|NO|;'few'@'%'|def|d|v|SELECT|NO|;'few'@'%'|def|d|w|SELECT|NO|;'few'@'%'|def|d|w|SHOW VIEW|NO|;" +
			"'few'@'%'|def|d|whole|SELECT|YES|"},
		{"information_schema.COLUMN_PRIVILEGES", "few", "'few'@'%'|def|d|part|a|SELECT|NO|;'few'@'%'|def|d|part|a|UPDATE|NO|;'few'@'%'|def|d|part|b|INSERT|NO|"},
		{"information_schema.USER_ATTRIBUTES", "", "few|%|NULL|;inner|%|NULL|;must|%|NULL|;other|%|NULL|;r|%|NULL|;root|%|NULL|"},
	} {
		db, name, _ := strings.Cut(c.name, ".")
		rows, err := root.table(db, name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var got []string
		for _, r := range rows {
			if strings.Contains(r, c.who) {
				got = append(got, r+"|")
			}
		}
		if g := strings.Join(got, ";"); g != c.want {
			t.Errorf("%s of %s\n got %s\nwant %s", c.name, c.who, g, c.want)
		}
	}
}

func TestUserTable(t *testing.T) {
	root := newBusy(t)
	names, rows := root.read("SELECT * FROM mysql.user")
	got := map[string]string{}
	for _, r := range rows {
		values := strings.Split(r, "|")
		var yes []string
		for i, name := range names {
			if values[i] == "Y" {
				yes = append(yes, name)
			}
		}
		got[values[1]] = strings.Join(yes, " ")
	}
	if len(got) != 6 || got["few"] != "" || got["other"] != "Process_priv" || got["r"] != "account_locked" || strings.Count(got["root"], "_priv") != 31 {
		t.Errorf("%v", got)
	}
}

// TestRoleTables: the roles of an account that has one active.
func TestRoleTables(t *testing.T) {
	root := newBusy(t)
	few, active := root.as("few", 8), root.as("few", 8, roleName)
	for _, c := range []struct {
		who        *fake
		name, want string
	}{
		{few, "APPLICABLE_ROLES", "few|%|few|%|must|%|NO|NO|YES;few|%|few|%|r|%|NO|YES|NO;few|%|r|%|inner|%|YES|NO|NO"},
		{active, "APPLICABLE_ROLES", "few|%|few|%|must|%|NO|NO|YES;few|%|few|%|r|%|NO|YES|NO;few|%|r|%|inner|%|YES|NO|NO"},
		{few, "ADMINISTRABLE_ROLE_AUTHORIZATIONS", "few|%|r|%|inner|%|YES|NO|NO"},
		{few, "ENABLED_ROLES", ""},
		{active, "ENABLED_ROLES", "r|%|YES|NO"},
		{few, "ROLE_TABLE_GRANTS", ""},
		{active, "ROLE_TABLE_GRANTS", "root|%|r|%|def|d|byrole|Select,Create View|NO"},
		{active, "ROLE_COLUMN_GRANTS", "root|%|inner|%|def|d|byrole|c|References|NO"},
		{root, "APPLICABLE_ROLES", "root|%|root|%|must|%|NO|NO|YES"},
	} {
		rows, err := c.who.table(infoDB, c.name)
		if got := strings.Join(rows, ";"); got != c.want || err != nil {
			t.Errorf("%s\n got %s %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

// TestUserAttributes: who creates accounts sees them, but for those of the system.
func TestUserAttributes(t *testing.T) {
	f := newBusy(t)
	f.change(func(ch *catalog.Change) {
		g := &priv.Grants{Name: priv.Name{User: "creator", Host: "%"}, Global: priv.CreateUser}
		ch.PutAccount(&catalog.Account{User: "creator", Host: "%"})
		ch.PutGrants(g)
	})
	if got := f.as("creator", 12).answer("SELECT * FROM information_schema.USER_ATTRIBUTES"); got != "creator|%|NULL;few|%|NULL;inner|%|NULL;must|%|NULL;other|%|NULL;r|%|NULL" {
		t.Error(got)
	}
}
