package define_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

var binder = bind.NewBinder(parser.NewPool())

// written is a table t(a BIGINT, b VARCHAR(9) DEFAULT …, c BIGINT AS …) whose
// expressions are as a statement has them.
func written() *schema.Table {
	t := &schema.Table{Name: "t", Collation: schema.CollationUTF8MB40900AICI, NextColumnID: 4, NextIndexID: 2, Columns: []schema.Column{
		{ID: 1, Name: "a", Type: types.BigInt},
		{ID: 2, Name: "b", Type: types.VarcharOf(9, schema.CollationUTF8MB40900AICI), Default: &schema.Default{Expr: "(CONCAT(A, 'x'))"}},
		{ID: 3, Name: "c", Type: types.BigInt, Nullable: true, Generated: &schema.Generated{Expr: "a + 1"}},
	}}
	t.PrimaryKey = []schema.KeyPart{{Column: 1}}
	return t
}

func number(err error) uint16 {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		return uint16(e.Number)
	}
	return 0
}

// TestCompletingTwice holds I3: complete texts do not change.
func TestCompletingTwice(t *testing.T) {
	tab := written()
	complete := func() {
		t.Helper()
		if err := define.ResolveColumns(binder, tab); err != nil {
			t.Fatal(err)
		}
	}
	complete()
	if err := define.AddCheck(binder, tab, schema.Check{Expr: "A > 0 AND b LIKE 'x%'"}, ""); err != nil {
		t.Fatal(err)
	}
	cols, err := define.KeyExpressions(binder, tab, "k", []define.IndexColumn{{Expr: "(a % 7)"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "(`a` % 7)"; tab.Columns[3].Generated.Expr != want || cols[0].Name != tab.Columns[3].Name {
		t.Fatalf("the key part is %q of column %s, want %q", tab.Columns[3].Generated.Expr, cols[0].Name, want)
	}
	if want := "((`a` > 0) and (`b` like _utf8mb4'x%'))"; tab.Checks[0].Expr != want || tab.Checks[0].Name != "t_chk_1" {
		t.Fatalf("the constraint %s is %q, want %q", tab.Checks[0].Name, tab.Checks[0].Expr, want)
	}
	before := tab.Clone()
	complete()
	if !reflect.DeepEqual(before.Columns, tab.Columns) {
		t.Errorf("columns change when they are completed again:\n%+v\n%+v", before.Columns, tab.Columns)
	}
	x, err := define.Compile(binder, tab)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Steps) != 3 || len(x.Checks) != 1 || !reflect.DeepEqual(x.Checks[0].Reads, []int{0, 1}) {
		t.Errorf("compiled: %+v", x)
	}
}

// TestErrorsNameTheOwner holds that the same mistake has the number of what the
// expression is for.
func TestErrorsNameTheOwner(t *testing.T) {
	key := func(text string) error {
		_, err := define.KeyExpressions(binder, written(), "k", []define.IndexColumn{{Expr: text}})
		return err
	}
	check := func(text string) error {
		return define.AddCheck(binder, written(), schema.Check{Expr: text}, "")
	}
	column := func(of func(t *schema.Table, text string)) func(string) error {
		return func(text string) error {
			tab := written()
			of(tab, text)
			return define.ResolveColumns(binder, tab)
		}
	}
	generated := column(func(t *schema.Table, text string) { t.Columns[2].Generated.Expr = text })
	def := column(func(t *schema.Table, text string) { t.Columns[1].Default.Expr = "(" + text + ")" })
	for _, c := range []struct {
		text                       string
		check, generated, def, key uint16
	}{
		{"missing + 1", 3820, 1054, 1054, 1054},
		{"rand()", 3814, 3763, 0, 3758},
		{"sleep(1)", 3814, 3763, 3770, 3758},
		{"(a, 1)", 3817, 3764, 3771, 3800},
	} {
		for i, run := range []func(string) error{check, generated, def, key} {
			if got, want := number(run(c.text)), []uint16{c.check, c.generated, c.def, c.key}[i]; got != want {
				t.Errorf("%s for owner %d: %d, want %d", c.text, i, got, want)
			}
		}
	}
}
