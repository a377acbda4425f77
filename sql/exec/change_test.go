package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func isNumber(err error, number uint16) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && e.Number == number
}

// memSink writes to the source's tables: primary key is column 0, indexes with
// Unique hold.
type memSink struct {
	src  *memSource
	next uint64
	// remote is what Remote says; reserved counts the rows of Reserve.
	remote   bool
	reserved int
}

func sameKey(t *schema.Table, parts []schema.KeyPart, a, b []value.Datum) bool {
	for _, p := range parts {
		c := t.ColumnIndex(p.Column)
		if !equalNN(a[c], b[c], t.Columns[c].Type) {
			return false
		}
	}
	return true
}

func (m *memSink) find(t *schema.Table, row []value.Datum, not int) (*schema.Index, int) {
	for i, r := range m.src.tables[t].rows {
		if i == not {
			continue
		}
		if sameKey(t, t.PrimaryKey, r, row) {
			return nil, i
		}
		for x := range t.Indexes {
			if t.Indexes[x].Unique && sameKey(t, t.Indexes[x].Parts, r, row) {
				return &t.Indexes[x], i
			}
		}
	}
	return nil, -1
}

func (m *memSink) Insert(_ context.Context, t *schema.Table, row []value.Datum, conflict ConflictFunc) error {
	for {
		x, i := m.find(t, row, -1)
		if i < 0 {
			m.src.tables[t].rows = append(m.src.tables[t].rows, slices.Clone(row))
			return nil
		}
		act, err := conflict(x, m.src.tables[t].rows[i])
		switch {
		case err != nil:
			return err
		case act == ConflictFail:
			return duplicateEntry(t, x, row)
		case act == ConflictRetry:
			continue
		}
		return nil
	}
}

func (m *memSink) at(t *schema.Table, old []value.Datum) int {
	for i, r := range m.src.tables[t].rows {
		if slices.EqualFunc(r, old, SameDatum) {
			return i
		}
	}
	return -1
}

func (m *memSink) Update(_ context.Context, t *schema.Table, old, row []value.Datum) error {
	i := m.at(t, old)
	if i < 0 {
		return errors.New("no such row")
	}
	if x, j := m.find(t, row, i); j >= 0 {
		return duplicateEntry(t, x, row)
	}
	m.src.tables[t].rows[i] = slices.Clone(row)
	return nil
}

func (m *memSink) Delete(_ context.Context, t *schema.Table, old []value.Datum) error {
	i := m.at(t, old)
	if i < 0 {
		return errors.New("no such row")
	}
	m.src.tables[t].rows = slices.Delete(slices.Clone(m.src.tables[t].rows), i, i+1)
	return nil
}

func (m *memSink) Current(_ context.Context, t *schema.Table, row []value.Datum) ([]value.Datum, bool, error) {
	for _, r := range m.src.tables[t].rows {
		if sameKey(t, t.PrimaryKey, r, row) {
			return slices.Clone(r), true, nil
		}
	}
	return nil, false, nil
}

func (m *memSink) NextAutoIncrement(_ context.Context, _ *schema.Table, n int) (uint64, error) {
	first := m.next + 1
	m.next += uint64(n)
	return first, nil
}

func (m *memSink) NextInKey(context.Context, *schema.Table, []value.Datum) (uint64, error) {
	return 0, errors.New("not here")
}

func (m *memSink) RaiseInKey(context.Context, *schema.Table, []value.Datum, uint64) error {
	return errors.New("not here")
}

func (m *memSink) Remote() bool { return m.remote }

func (m *memSink) Reserve(_ context.Context, _ *schema.Table, _, rows [][]value.Datum, _ bool) error {
	m.reserved += len(rows)
	return nil
}

func (m *memSink) BumpAutoIncrement(_ context.Context, _ *schema.Table, v uint64) error {
	m.next = max(m.next, v)
	return nil
}

func (m *memSink) TableExprs(*schema.Table) (*derive.Exprs, error) { return nil, nil }

func (m *memSink) NextHiddenKey(context.Context, *schema.Table) (int64, error) { return 0, nil }

// changeTest is a table (id auto increment, n not null unique, s default 'x',
// ts on update now) with its sink.
type changeTest struct {
	t    *testing.T
	tab  *schema.Table
	src  *memSource
	sink *memSink
	warn []string
	mode types.SQLMode
	env  *Env
}

func newChangeTest(t *testing.T) *changeTest {
	tab := makeTable("t", col{"id", types.BigInt}, col{"n", schema.Type{ID: schema.TypeTinyInt, Len: 4}}, col{"s", types.VarcharOf(3, schema.CollationUTF8MB40900AICI)}, col{"ts", types.DatetimeOf(0)})
	tab.Columns[0].AutoIncrement = true
	tab.Columns[1].Nullable = false
	tab.Columns[3].OnUpdateNow = true
	tab.Indexes = []schema.Index{{Name: "un", Unique: true, Parts: []schema.KeyPart{{Column: 2}}}}
	c := &changeTest{t: t, tab: tab, src: newSource(&memTable{t: tab}), mode: types.DefaultSQLMode}
	c.sink = &memSink{src: c.src}
	return c
}

func (c *changeTest) run(plan *physical.Plan) (Result, error) {
	c.warn = nil
	c.env = testEnv(c.src)
	c.env.Sink = c.sink
	c.env.Ctx.Mode = c.mode
	c.env.Ctx.Warn = func(w sqlerr.Warning) { c.warn = append(c.warn, fmt.Sprint(w.Err.Number)) }
	return RunChange(context.Background(), c.env, plan)
}

// insert runs INSERT with rows given as Go values for columns cols.
func (c *changeTest) insert(set func(*physical.Insert), cols []int, rows ...[]any) (Result, error) {
	x := &physical.Insert{Table: c.tab, Columns: cols, Defaults: []expr.Expr{nil, nil, expr.NewConst(value.String("x"), types.VarcharOf(1, 255)), expr.NewConst(value.Null, types.Null)}}
	for _, r := range rows {
		x.Rows = append(x.Rows, exprsOf(r))
	}
	if set != nil {
		set(x)
	}
	return c.run(&physical.Plan{Change: x})
}

func exprsOf(vals []any) []expr.Expr {
	var out []expr.Expr
	for _, v := range vals {
		switch v := v.(type) {
		case nil:
			out = append(out, expr.NewConst(value.Null, types.Null))
		case int:
			out = append(out, num(int64(v)))
		case string:
			if v == "DEFAULT" {
				out = append(out, nil)
				continue
			}
			out = append(out, expr.NewConst(value.String(v), types.VarcharOf(10, 255)))
		case expr.Expr:
			out = append(out, v)
		}
	}
	return out
}

func (c *changeTest) rows() string {
	var out []string
	cols := scanOf(c.tab).Cols
	for _, r := range c.src.tables[c.tab].rows {
		out = append(out, rowText(cols, r))
	}
	return strings.Join(out, " ")
}

func (c *changeTest) want(rows string, r Result, err error, affected, id uint64, info string, warn ...string) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
	if got := c.rows(); got != rows {
		c.t.Fatalf("rows %q, want %q", got, rows)
	}
	if r.Affected != affected || r.InsertID != id || r.Info != info || !slices.Equal(c.warn, warn) {
		c.t.Fatalf("%+v %v, want affected %d id %d info %q warnings %v", r, c.warn, affected, id, info, warn)
	}
}

func TestInsert(t *testing.T) {
	c := newChangeTest(t)
	r, err := c.insert(nil, []int{1}, []any{1})
	c.want("1|1|x|NULL", r, err, 1, 1, "")
	r, err = c.insert(nil, []int{0, 1, 2}, []any{nil, 2, "a"}, []any{0, 3, "DEFAULT"}, []any{100, 4, nil}, []any{"DEFAULT", 5, "b"})
	c.want("1|1|x|NULL 2|2|a|NULL 3|3|x|NULL 100|4|NULL|NULL 101|5|b|NULL", r, err, 4, 2, "Records: 4  Duplicates: 0  Warnings: 0")
	if r.GeneratedID != 2 {
		t.Fatal(r)
	}
	r, err = c.insert(nil, []int{0, 1}, []any{110, 10})
	if err != nil || r.InsertID != 110 || r.GeneratedID != 0 {
		t.Fatal(r, err)
	}
	for _, bad := range []struct {
		cols   []int
		row    []any
		number uint16
	}{
		{[]int{1}, []any{1}, 1062}, {[]int{0, 1}, []any{1, 77}, 1062}, {[]int{1}, []any{nil}, 1048}, {[]int{1}, []any{1000}, 1264},
		{[]int{2}, []any{"a"}, 1364}, {[]int{1}, []any{"DEFAULT"}, 1364}, {[]int{1, 2}, []any{70, "long"}, 1406}, {[]int{1, 2}, []any{70}, 1136},
	} {
		before := c.rows()
		if _, err := c.insert(nil, bad.cols, bad.row); !isNumber(err, bad.number) || c.rows() != before {
			t.Fatalf("%v %v: %v, want %d", bad.cols, bad.row, err, bad.number)
		}
	}
	c = newChangeTest(t)
	// An expression sees the columns to its left.
	r, err = c.insert(nil, []int{1, 0}, []any{5, fn("+", at(1, types.BigInt), num(1))})
	c.want("6|5|x|NULL", r, err, 1, 6, "")
	c.mode |= types.ModeNoAutoValueOnZero
	r, err = c.insert(nil, []int{0, 1}, []any{0, 6}, []any{nil, 7})
	c.want("6|5|x|NULL 0|6|x|NULL 7|7|x|NULL", r, err, 2, 7, "Records: 2  Duplicates: 0  Warnings: 0")
}

func TestInsertNonStrict(t *testing.T) {
	c := newChangeTest(t)
	c.mode = 0
	r, err := c.insert(nil, []int{0, 1, 2}, []any{1, 300, "long"}, []any{2, nil, "b"})
	c.want("1|127|lon|NULL 2|0|b|NULL", r, err, 2, 2, "Records: 2  Duplicates: 0  Warnings: 3", "1264", "1265", "1048")
	if _, err := c.insert(nil, []int{1}, []any{nil}); !isNumber(err, 1048) {
		t.Fatal("a single row with NULL", err)
	}
	r, err = c.insert(func(x *physical.Insert) { x.Table = c.tab }, []int{2}, []any{"q"})
	if err == nil || !isNumber(err, 1062) { // n = 0 is there
		t.Fatal(r, err)
	}
	if !slices.Equal(c.warn, []string{"1364"}) {
		t.Fatal(c.warn)
	}
}

func TestInsertConflicts(t *testing.T) {
	c := newChangeTest(t)
	c.insert(nil, []int{0, 1, 2}, []any{1, 1, "a"}, []any{2, 2, "b"}, []any{3, 3, "c"})
	r, err := c.insert(func(x *physical.Insert) { x.Ignore = true }, []int{0, 1, 2}, []any{1, 9, "z"}, []any{4, 4, "d"}, []any{5, 2, "z"})
	c.want("1|1|a|NULL 2|2|b|NULL 3|3|c|NULL 4|4|d|NULL", r, err, 1, 4, "Records: 3  Duplicates: 2  Warnings: 2", "1062", "1062")
	// REPLACE removes two rows for one.
	r, err = c.insert(func(x *physical.Insert) { x.Replace = true }, []int{0, 1, 2}, []any{1, 2, "r"})
	c.want("3|3|c|NULL 4|4|d|NULL 1|2|r|NULL", r, err, 3, 1, "")
	now := time.Unix(1700000000, 0).UTC().Format("2006-01-02 15:04:05")
	dup := func(list ...physical.Assignment) func(*physical.Insert) {
		return func(x *physical.Insert) { x.OnDuplicate = list }
	}
	col := func(i int) expr.Expr { return at(i, c.tab.Columns[i%4].Type) }
	add := dup(physical.Assignment{Column: 1, Value: fn("+", col(1), fn("+", col(5), num(10)))}, physical.Assignment{Column: 2, Value: col(6)})
	r, err = c.insert(add, []int{0, 1, 2}, []any{3, 50, "n"}, []any{9, 9, "q"})
	c.want("3|63|n|"+now+" 4|4|d|NULL 1|2|r|NULL 9|9|q|NULL", r, err, 3, 9, "Records: 2  Duplicates: 1  Warnings: 0")
	same := dup(physical.Assignment{Column: 1, Value: col(1)})
	r, err = c.insert(same, []int{0, 1}, []any{9, 9})
	if err != nil || r.Affected != 0 {
		t.Fatal(r, err)
	}
	// Assignments see each other from left to right.
	chain := dup(physical.Assignment{Column: 0, Value: fn("+", col(0), num(100))}, physical.Assignment{Column: 1, Value: fn("-", col(0), num(60))})
	r, err = c.insert(chain, []int{0, 1}, []any{9, 9})
	if err != nil || r.Affected != 2 || !strings.Contains(c.rows(), "109|49|q|"+now) {
		t.Fatal(r, err, c.rows())
	}
	clash := dup(physical.Assignment{Column: 1, Value: num(4)})
	if _, err = c.insert(clash, []int{0, 1}, []any{1, 9}); !isNumber(err, 1062) {
		t.Fatal(err)
	}
}

func (c *changeTest) update(root physical.Node, list ...physical.Assignment) (Result, error) {
	return c.run(&physical.Plan{Root: root, Change: &physical.Update{Table: c.tab, Assignments: list}})
}

func TestUpdateAndDelete(t *testing.T) {
	now := time.Unix(1700000000, 0).UTC().Format("2006-01-02 15:04:05")
	c := newChangeTest(t)
	c.insert(nil, []int{0, 1, 2}, []any{1, 1, "a"}, []any{2, 2, "b"}, []any{3, 3, "c"})
	scan := scanOf(c.tab)
	r, err := c.update(scan, physical.Assignment{Column: 2, Value: expr.NewConst(value.String("b"), types.VarcharOf(1, 255))})
	c.want("1|1|b|"+now+" 2|2|b|NULL 3|3|b|"+now, r, err, 2, 0, "Rows matched: 3  Changed: 2  Warnings: 0")
	// Case is a change, whatever the collation says.
	r, err = c.update(scan, physical.Assignment{Column: 2, Value: expr.NewConst(value.String("B"), types.VarcharOf(1, 255))})
	if err != nil || r.Changed != 3 {
		t.Fatal(r, err)
	}
	// Moving the scanned key must not meet a row twice.
	r, err = c.update(scan, physical.Assignment{Column: 0, Value: fn("+", ref(scan, 0), num(10))}, physical.Assignment{Column: 1, Value: ref(scan, 0)})
	c.want("11|11|B|"+now+" 12|12|B|"+now+" 13|13|B|"+now, r, err, 3, 0, "Rows matched: 3  Changed: 3  Warnings: 0")
	if _, err := c.update(scan, physical.Assignment{Column: 1, Value: num(12)}); !isNumber(err, 1062) {
		t.Fatal(err)
	}
	if _, err := c.update(scan, physical.Assignment{Column: 1, Value: expr.NewConst(value.Null, types.Null)}); !isNumber(err, 1048) {
		t.Fatal(err)
	}
	if _, err := c.update(scan, physical.Assignment{Column: 1, Default: true}); !isNumber(err, 1364) {
		t.Fatal(err)
	}
	f := &physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{fn("<>", ref(scan, 0), num(12))}}
	r, err = c.run(&physical.Plan{Root: f, Change: &physical.Delete{Table: c.tab}})
	c.want("12|12|B|"+now, r, err, 2, 0, "")
}

func TestInsertSelect(t *testing.T) {
	c := newChangeTest(t)
	c.insert(nil, []int{0, 1, 2}, []any{1, 1, "a"}, []any{2, 2, "b"})
	scan := scanOf(c.tab)
	p := &physical.Project{Base: outCols(types.BigInt, scan.Cols[2].T), Input: scan, Exprs: []expr.Expr{fn("+", ref(scan, 1), num(10)), ref(scan, 2)}}
	x := &physical.Insert{Table: c.tab, Columns: []int{1, 2}, Defaults: make([]expr.Expr, 4)}
	x.Defaults[3] = expr.NewConst(value.Null, types.Null)
	r, err := c.run(&physical.Plan{Root: p, Change: x})
	c.want("1|1|a|NULL 2|2|b|NULL 3|11|a|NULL 4|12|b|NULL", r, err, 2, 3, "Records: 2  Duplicates: 0  Warnings: 0")
}
