package crash

import (
	"database/sql"
	"testing"
)

// compareLogs replays the change logs with window functions, and looks at the
// earlier versions of the accounts.
func compareLogs(t *testing.T, db *sql.DB) {
	t.Helper()
	one := func(query string) string {
		var got sql.NullString
		if err := db.QueryRow(query).Scan(&got); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return got.String
	}
	for _, q := range []struct{ table, now, logged string }{
		{"entries", "SELECT CONCAT_WS(' ', COUNT(*), SUM(grp * 31 + part), SUM(gen), SUM(LENGTH(note))) FROM crash.entries",
			"SELECT CONCAT_WS(' ', COUNT(*), SUM(j->'$.grp' * 31 + j->'$.part'), SUM(j->'$.gen'), SUM(LENGTH(j->>'$.note'))) FROM"},
		{"accounts", "SELECT CONCAT_WS(' ', COUNT(*), SUM(id * balance)) FROM crash.accounts",
			"SELECT CONCAT_WS(' ', COUNT(*), SUM(j->'$.id' * j->'$.balance')) FROM"},
	} {
		from := " FROM stream('crash." + q.table + "') WHERE kind IN ('insert', 'update', 'delete')"
		last := " (SELECT kind, after_image AS j, ROW_NUMBER() OVER (PARTITION BY pk ORDER BY seq DESC, ordinal DESC) AS n" + from + ") x WHERE n = 1 AND kind <> 'delete'"
		if got, want := one(q.logged+last), one(q.now); got != want {
			t.Errorf("%s: %s by its change log, %s by its rows", q.table, got, want)
		}
		broken := "SELECT COUNT(*) FROM (SELECT before_image, LAG(after_image) OVER (PARTITION BY pk ORDER BY seq, ordinal) AS was" + from + ") x WHERE NOT before_image <=> was"
		if got := one(broken); got != "0" {
			t.Errorf("%s: %s records of the change log do not fit the ones before", q.table, got)
		}
	}
	gaps := `SELECT COUNT(*) FROM (SELECT _from, LAG(_until) OVER (PARTITION BY id ORDER BY _from) AS was, ROW_NUMBER() OVER (PARTITION BY id ORDER BY _from) AS n
		FROM versions('crash.accounts')) x WHERE n > 4 OR n > 1 AND NOT _from <=> was`
	if got := one(gaps); got != "0" {
		t.Errorf("%s versions of accounts do not fit the ones before", got)
	}
	if got := one("SELECT COUNT(*) FROM crash.accounts a LEFT JOIN versions('crash.accounts') v ON v.id = a.id AND v.balance = a.balance AND v._until IS NULL WHERE v.id IS NULL"); got != "0" {
		t.Errorf("%s accounts have no current version", got)
	}
}
