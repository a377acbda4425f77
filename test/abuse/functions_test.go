package abuse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/expr"
)

// arguments are texts of expressions; in those with %d a length is put.
var arguments = []string{
	"NULL", "0", "-1", "1", "3.5", "1e308", "9223372036854775807", "18446744073709551615", "-9223372036854775808", "123456789.123456789", "''", "'a'", "'%%'", "'$'", "'$.a'", "'$**.a'", "'one'", "'all'", "'UTC'",
	"x'00ff'", "b'101'", "DATE'2024-02-29'", "TIME'12:34:56'", "TIMESTAMP'9999-12-31 23:59:59.999999'", "JSON_ARRAY(1, 'a')", "'{\"a\": [1, 2]}'", "'[]'", "POINT(1, 2)", "ST_GeomFromText('POLYGON((0 0, 0 1, 1 1, 0 0))')",
	"REPEAT('a', %d)", "REPEAT('1', %d)", "REPEAT('9.', %d)", "REPEAT('ä', %d)", "REPEAT('%%_', %d)", "REPEAT('(', %d)", "REPEAT(',', %d)", "REPEAT('\\\\', %d)", "REPEAT('a ', %d)", "RANDOM_BYTES(1024)", "CONCAT('$', REPEAT('.a', %d))",
	"CONCAT('[', REPEAT('1,', %d), '1]')", "CONCAT('[', REPEAT('[1],', %d), '1]')", "CONCAT('{', REPEAT('\"a\":1,', %d), '\"b\":2}')", "REPEAT('[', %d)", "CONCAT('LINESTRING(', REPEAT('1 1, 2 2,', %d), '3 3)')",
	"CONCAT('<a>', REPEAT('<b/>', %d), '</a>')", "ST_GeomFromText(CONCAT('MULTIPOINT(', REPEAT('1 2,', %d), '3 4)'))", "k", "s", "b", "j",
}

var sizes = []int{0, 1, 1 << 10, 1 << 16, 1 << 20, 1 << 24}

// TestFunctions calls each function with random arguments of all kinds and lengths, also
// of rows, and within one another.
func TestFunctions(t *testing.T) {
	testflag.Normal(t)
	seed := testflag.Seed(1)
	rnd := rand.New(rand.NewPCG(seed, 5))
	v := start(t)
	db, admin := v.connect("abuse"), v.connect("")
	names := expr.FuncNames()
	slices.Sort(names)
	for range testflag.Rounds(1, 2, inCI(24, 12)) {
		for _, name := range names {
			if !expr.IsFunc(name) {
				continue
			}
			text := call(rnd, name)
			if rnd.IntN(4) == 0 {
				text = call(rnd, names[rnd.IntN(len(names))], text)
			}
			text = "SELECT " + text + []string{"", " FROM t LIMIT 20"}[rnd.IntN(2)]
			v.report()
			o, err := one(t.Context(), db, admin, attack{text: text}, 300*time.Millisecond)
			peak, p99, wrong := v.report()
			short := fmt.Sprintf("%.300s", text)
			switch {
			case err != nil && isFault(shortError(err)):
				t.Errorf("%s: %v", short, err)
			case wrong != nil:
				t.Errorf("%s: %v", short, wrong)
			case peak > mostResident():
				t.Errorf("%s: %d MiB are resident", short, peak>>20)
			case o.slow > mostKill():
				t.Errorf("%s: it ended %v after KILL", short, o.slow)
			case p99 > mostOther():
				t.Errorf("%s: others took %v", short, p99)
			}
			if v.c.Memory("VmRSS") == 0 {
				t.Fatalf("%s: the server has ended\n%s", short, tail(v.c.Log.String()))
			}
		}
	}
}

// call is a call of a function with some arguments.
func call(rnd *rand.Rand, name string, args ...string) string {
	for range rnd.IntN(5) {
		a := arguments[rnd.IntN(len(arguments))]
		if strings.Contains(a, "%d") {
			a = fmt.Sprintf(a, sizes[rnd.IntN(len(sizes))])
		}
		args = append(args, strings.ReplaceAll(a, "%%", "%"))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// isFault reports errors of the server itself.
func isFault(e string) bool {
	if strings.Contains(e, "XPATH") { // MySQL has no number for them
		return false
	}
	if strings.HasPrefix(e, "1105 ") || strings.HasPrefix(e, "1815 ") {
		return true
	}
	for _, s := range []string{"invalid connection", "bad connection", "EOF"} {
		if strings.Contains(e, s) {
			return true
		}
	}
	return false
}
