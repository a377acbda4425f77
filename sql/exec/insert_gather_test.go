package exec

import (
	"testing"

	"github.com/sqlots/sqlots/sql/planner/physical"
)

// TestInsertGathered: where the locks of rows are taken together, an INSERT does what it
// does elsewhere, with the same error where several rows are wrong.
func TestInsertGathered(t *testing.T) {
	for _, remote := range []bool{false, true} {
		c := newChangeTest(t)
		c.sink.remote = remote
		r, err := c.insert(nil, []int{0, 1, 2}, []any{nil, 2, "a"}, []any{0, 3, "DEFAULT"}, []any{100, 4, nil}, []any{"DEFAULT", 5, "b"})
		c.want("1|2|a|NULL 2|3|x|NULL 100|4|NULL|NULL 101|5|b|NULL", r, err, 4, 1, "Records: 4  Duplicates: 0  Warnings: 0")
		if r.GeneratedID != 1 || (c.sink.reserved == 4) != remote {
			t.Fatalf("remote %t: first value %d, %d rows reserved", remote, r.GeneratedID, c.sink.reserved)
		}
		before := c.rows()
		for _, bad := range []struct {
			rows   [][]any
			number uint16
		}{
			{[][]any{{200, 20}, {200, 21}, {201, nil}}, 1062}, {[][]any{{200, 20}, {201, nil}, {200, 21}}, 1048}, {[][]any{{200, 20}, {201, 1000}}, 1264},
		} {
			rows := bad.rows
			if _, err := c.insert(nil, []int{0, 1}, rows...); !isNumber(err, bad.number) {
				t.Errorf("remote %t: %v gives %v, not %d", remote, rows, err, bad.number)
			}
			c.removeFrom(200) // the statement's savepoint is not here
			if c.rows() != before {
				t.Fatal(c.rows())
			}
		}
		reserved := c.sink.reserved
		if _, err := c.insert(func(x *physical.Insert) { x.Ignore = true }, []int{0, 1}, []any{1, 9}, []any{300, 30}); err != nil || c.sink.reserved != reserved {
			t.Errorf("remote %t: INSERT IGNORE of given numbers: %v, %d rows reserved", remote, err, c.sink.reserved-reserved)
		}
	}
}

// removeFrom removes the rows whose first column is id or greater.
func (c *changeTest) removeFrom(id int64) {
	tab := c.src.tables[c.tab]
	kept := tab.rows[:0]
	for _, row := range tab.rows {
		if row[0].Int() < id {
			kept = append(kept, row)
		}
	}
	tab.rows = kept
}
