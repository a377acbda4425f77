package abuse

import (
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestLargeRows reads rows of a megabyte each, more than fit into the memory at once, and
// what functions make of them.
func TestLargeRows(t *testing.T) {
	testflag.Normal(t)
	v := start(t)
	db := v.connect("abuse")
	v.exec(db, "CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB)")
	for range 15 {
		v.exec(db, "INSERT INTO large SELECT id + (SELECT COUNT(*) FROM large), REPEAT(CHAR(65 + id % 26), 1000000) FROM t WHERE id < 20")
	}
	texts := []string{
		"SELECT REPEAT(LEFT(b, 1), 9000000 + id % 2) r, COUNT(*) FROM large WHERE id < 40 GROUP BY r",
		"SELECT REPEAT(LEFT(b, 1), 9000000 + id) r FROM large WHERE id < 20 ORDER BY r",
		"SELECT b FROM large",
		"SELECT HEX(b) FROM large",
		"SELECT CONCAT(b, b) FROM large",
		"SELECT SUM(LENGTH(CONCAT(b, b))) FROM large",
		"SELECT COUNT(*) FROM large WHERE CONCAT(b, 'x') LIKE 'A%'",
		"SELECT id, MD5(CONCAT(b, id)) FROM large ORDER BY 2",
		"SELECT CASE WHEN id % 2 = 0 THEN CONCAT(b, 'x') ELSE UPPER(b) END FROM large",
		"SELECT MAX(CONCAT(b, 'x')) FROM large",
		"UPDATE large SET b = CONCAT(b, 'x') WHERE id < 20",
		"SELECT COUNT(DISTINCT MD5(REVERSE(b))) FROM large",
	}
	for _, text := range texts[:testflag.Pick(0, 1, len(texts))] {
		v.report()
		o := v.attack(attack{text: text, runs: 60e9})
		peak, _, err := v.report()
		t.Logf("%-70s peak %4d MiB %v", text, peak>>20, o.errs)
		if len(o.errs) > 0 || err != nil || peak > mostResident() {
			t.Errorf("%s: %v, other client: %v, %d MiB resident", text, o.errs, err, peak>>20)
		}
	}
}
