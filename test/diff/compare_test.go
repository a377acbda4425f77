package diff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// answer is what a statement answered.
type answer struct {
	rows     [][]string
	types    string // of the columns
	double   []bool // columns of approximate numbers
	float    []bool // those of FLOAT, of which text shows six digits
	affected int64
	err      error
}

func (a answer) errNumber() uint16 {
	var e *mysql.MySQLError
	if errors.As(a.err, &e) {
		return e.Number
	}
	return 0
}

// short is a form for reports.
func (a answer) short() string {
	if a.err != nil {
		return "error: " + a.err.Error()
	}
	var b strings.Builder
	for i, r := range a.rows {
		if i == 5 {
			fmt.Fprintf(&b, "\n    … %d rows", len(a.rows))
			break
		}
		b.WriteString("\n    " + strings.Join(r, " | "))
	}
	if a.rows == nil {
		fmt.Fprintf(&b, "%d affected", a.affected)
	}
	return b.String()
}

// runQuery runs a query, prepared or as text.
func runQuery(ctx context.Context, c *sql.Conn, text string, binary bool) (a answer) {
	var rows *sql.Rows
	if binary {
		st, err := c.PrepareContext(ctx, text)
		if err != nil {
			return answer{err: err}
		}
		defer st.Close()
		rows, a.err = st.QueryContext(ctx)
	} else {
		rows, a.err = c.QueryContext(ctx, text)
	}
	return read(rows, a)
}

// runPrepared prepares a query and runs it twice; the second time its plan is
// there.
func runPrepared(ctx context.Context, c *sql.Conn, text string, args []any) (a answer) {
	st, err := c.PrepareContext(ctx, text)
	if err != nil {
		return answer{err: err}
	}
	defer st.Close()
	for range 2 {
		var rows *sql.Rows
		rows, a.err = st.QueryContext(ctx, args...)
		if a = read(rows, a); a.err != nil {
			return a
		}
	}
	return a
}

// read reads the rows of a query unless it has failed.
func read(rows *sql.Rows, a answer) answer {
	if a.err != nil {
		return a
	}
	a = answer{}
	defer rows.Close()
	cols, err := rows.ColumnTypes()
	if err != nil {
		return answer{err: err}
	}
	for _, t := range cols {
		p, s, _ := t.DecimalSize()
		null, _ := t.Nullable()
		a.double = append(a.double, t.DatabaseTypeName() == "DOUBLE" || t.DatabaseTypeName() == "FLOAT")
		a.float = append(a.float, t.DatabaseTypeName() == "FLOAT")
		a.types += fmt.Sprintf("%s(%d,%d,%t) ", t.DatabaseTypeName(), p, s, null)
	}
	a.rows = [][]string{}
	vals := make([]sql.NullString, len(cols))
	ptrs := make([]any, len(cols))
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil {
			return answer{err: err}
		}
		row := make([]string, len(vals))
		for i, v := range vals {
			row[i] = "NULL"
			if v.Valid {
				row[i] = noMinus(v.String)
			}
		}
		a.rows = append(a.rows, row)
	}
	a.err = rows.Err()
	return a
}

// noMinus takes the sign off a zero.
func noMinus(s string) string {
	if rest, ok := strings.CutPrefix(s, "-0"); ok && strings.Trim(rest, ".0") == "" {
		return s[1:]
	}
	return s
}

// do runs a change.
func do(ctx context.Context, c *sql.Conn, text string, args ...any) (a answer) {
	r, err := c.ExecContext(ctx, text, args...)
	if err != nil {
		return answer{err: err}
	}
	a.affected, a.err = r.RowsAffected()
	return a
}

// A statement that has both errors: MariaDB looks at the aggregates first.
const (
	noColumn      = 1054
	groupFunction = 1111
)

// difference says how two answers differ, "" if they do not.
func difference(a, b answer, ordered, loose bool) string {
	na, nb := a.errNumber(), b.errNumber()
	switch {
	case a.err != nil && na == 0 || b.err != nil && nb == 0:
		return "broken"
	case na != nb && (na == 0 || nb == 0):
		if tolerated(na) || tolerated(nb) {
			return ""
		}
		return "one error"
	case na != nb:
		if tolerated(na) || tolerated(nb) || na == noColumn && nb == groupFunction {
			return ""
		}
		return "errors"
	case na != 0:
		return ""
	case len(a.rows) != len(b.rows):
		return "number of rows"
	case a.affected != b.affected:
		return "affected"
	}
	if !ordered {
		return unordered(a, b, loose)
	}
	for i := range a.rows {
		if j := unequal(a, b, a.rows[i], b.rows[i], loose); j >= 0 {
			return fmt.Sprintf("row %d, column %d\n  %q\n  %q\n", i, j, a.rows[i], b.rows[i])
		}
	}
	return ""
}

// unequal is the first column in which two rows differ, -1 if none.
func unequal(a, b answer, x, y []string, loose bool) int {
	for j := range x {
		tolerance := 0.0
		if a.double[j] && b.double[j] {
			if tolerance = 1e-9; a.float[j] || b.float[j] {
				tolerance = 1e-5
			}
		}
		if !same(x[j], y[j], tolerance, loose) {
			return j
		}
	}
	return -1
}

// unordered finds an equal row of b for each of a. Those that are exactly
// equal but for doubles form groups; inside of a group doubles that are nearly
// equal need not sort alike in both.
func unordered(a, b answer, loose bool) string {
	double := make([]bool, len(a.double))
	for i := range double {
		double[i] = a.double[i] && b.double[i]
	}
	groups := map[string][][]string{}
	for _, y := range b.rows {
		k := exactKey(double, y, loose)
		groups[k] = append(groups[k], y)
	}
	// Equal rows first: a row may be near to several.
	var rest []int
	for i, x := range a.rows {
		k := exactKey(double, x, loose)
		if at := slices.IndexFunc(groups[k], func(y []string) bool { return slices.Equal(x, y) }); at >= 0 {
			groups[k] = slices.Delete(groups[k], at, at+1)
			continue
		}
		rest = append(rest, i)
	}
	for _, i := range rest {
		x := a.rows[i]
		k := exactKey(double, x, loose)
		list := groups[k]
		at := slices.IndexFunc(list, func(y []string) bool { return unequal(a, b, x, y, loose) < 0 })
		if at < 0 {
			return fmt.Sprintf("row %d is not in the other\n  %q\n  %q\n", i, x, list[:min(len(list), 3)])
		}
		list[at] = list[len(list)-1]
		groups[k] = list[:len(list)-1]
	}
	return ""
}

// exactKey are the values of a row that are no doubles; infinities and NULL
// count as such.
func exactKey(double []bool, row []string, loose bool) string {
	list := make([]string, 0, len(row))
	for i, v := range row {
		if double[i] {
			if _, err := strconv.ParseFloat(v, 64); err == nil {
				continue
			}
		}
		if loose {
			v = foldText(v)
		}
		list = append(list, v)
	}
	return strings.Join(list, "\x00")
}

// same compares two values as text, numbers with a tolerance.
func same(a, b string, tolerance float64, loose bool) bool {
	if a == b || loose && foldText(a) == foldText(b) {
		return true
	}
	if tolerance == 0 {
		return false
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= tolerance*math.Max(1e-12, math.Max(math.Abs(x), math.Abs(y)))
}
