package define

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// AddCheck adds a CHECK constraint as it was written to t, whose columns are
// complete. An empty name gets a generated one. column is the column in whose
// definition the constraint is written, "" for a constraint of the table.
//
// Errors: 3812, 3813 and those of the expression.
func AddCheck(b Binder, t *schema.Table, c schema.Check, column string) error {
	if c.Name == "" {
		c.Name = GeneratedCheckName(t)
	}
	if err := CheckName(c.Name); err != nil {
		return err
	}
	var own schema.ColumnID
	if i := t.ColumnByName(column); column != "" && i >= 0 {
		own = t.Columns[i].ID
	}
	if err := resolveCheck(b, t, &c, own); err != nil {
		return err
	}
	t.Checks = append(t.Checks, c)
	SortChecks(t)
	return nil
}

// resolveCheck completes a CHECK constraint of t, whose name is set, from its
// text: names of columns take the form that the table has, Reads is set.
// column is the one to which a column's own constraint belongs, 0 for none.
func resolveCheck(b Binder, t *schema.Table, c *schema.Check, column schema.ColumnID) error {
	x, err := Owner{OfCheck, c.Name}.bind(b, t, c.Expr)
	if err != nil {
		return err
	}
	if !x.condition {
		return sqlerr.CheckNotBoolean(c.Name)
	}
	if column != 0 {
		for _, id := range x.reads {
			if id != column {
				return sqlerr.ColumnCheckReadsOther(c.Name)
			}
		}
	}
	c.Expr, c.Reads = x.text, x.reads
	return nil
}

// SortChecks brings the constraints into the order in which MySQL lists and
// tests them: by name.
func SortChecks(t *schema.Table) {
	slices.SortStableFunc(t.Checks, func(a, b schema.Check) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
}

// GeneratedCheckName is the name that MySQL gives a CHECK constraint without
// one: the highest number of such names of the table, plus one.
func GeneratedCheckName(t *schema.Table) string {
	highest := 0
	for i := range t.Checks {
		if n := CheckNumber(t.Name, t.Checks[i].Name); n > highest {
			highest = n
		}
	}
	return t.Name + checkInfix + strconv.Itoa(highest+1)
}

const checkInfix = "_chk_"

// CheckNumber is the number of a generated name of a CHECK constraint of a
// table; 0 when the name is none.
func CheckNumber(table, name string) int {
	head := table + checkInfix
	if len(name) <= len(head) || !strings.EqualFold(name[:len(head)], head) {
		return 0
	}
	n, err := strconv.Atoi(name[len(head):])
	if err != nil || strconv.Itoa(n) != name[len(head):] {
		return 0
	}
	return n
}
