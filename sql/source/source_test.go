package source

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/storage/table/tabletest"
	"github.com/sqlots/sqlots/value"
)

var ctx = context.Background()

func ectx(loc *time.Location) *expr.Ctx {
	return &expr.Ctx{Env: types.Env{Loc: loc, Mode: types.DefaultSQLMode}, Context: ctx}
}

// fixture is a store with one filled table, and its rows as the session sees
// them.
type fixture struct {
	store  storage.Store
	codecs *decode.Codecs
	t      *schema.Table
	loc    *time.Location
	rows   [][]value.Datum
}

func newFixture(t testing.TB, r *rand.Rand, tab *schema.Table, loc *time.Location, n int) *fixture {
	t.Helper()
	f := &fixture{store: memkv.New(memkv.Options{}), codecs: decode.NewCodecs(nil), t: tab, loc: loc}
	txn := f.begin(t)
	s := f.source(txn, txn)
	for range n {
		row := tabletest.Row(r, tab)
		err := s.Insert(ctx, tab, row, nil)
		if e, ok := errors.AsType[*sqlerr.Error](err); ok && e.Number == 1062 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		f.rows = append(f.rows, row)
	}
	if _, err := txn.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	return f
}

// usePebble moves the table to the engine on disk.
func (f *fixture) usePebble(t testing.TB) {
	t.Helper()
	store, err := pebblekv.Open(pebblekv.Options{Dir: t.TempDir(), CacheBytes: 8 << 20, MemTableBytes: 1 << 20, DiskReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f.store = store
	txn := f.begin(t)
	s := f.source(txn, txn)
	for _, row := range f.rows {
		if err := s.Insert(ctx, f.t, row, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := txn.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) begin(t testing.TB) storage.Txn {
	t.Helper()
	txn, err := f.store.Begin(ctx, storage.TxnOptions{LockTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return txn
}

func (f *fixture) source(r storage.Reader, txn storage.Txn) *Source {
	return New(Env{Store: f.store, View: r, Txn: txn, Loc: f.loc, Codecs: f.codecs, Sequences: table.NewSequences(f.store)})
}

func (f *fixture) check(t testing.TB) {
	t.Helper()
	c, err := f.codecs.Get(f.t)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := scrub.Check(ctx, f.store.Latest(), c)
	if err != nil || !rep.OK() || rep.Rows != int64(len(f.rows)) {
		t.Fatalf("scrub %+v %v, want %d rows", rep, err, len(f.rows))
	}
}

// drain reads an operator to its end.
func drain(t testing.TB, op exec.Operator) [][]value.Datum {
	t.Helper()
	defer op.Close()
	var out [][]value.Datum
	for {
		b, err := op.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return out
		}
		if b.Live() == 0 {
			t.Fatal("empty batch")
		}
		for i := range b.Live() {
			row := make([]value.Datum, len(b.Cols))
			for c, v := range b.Cols {
				row[c] = v.Datum(b.Row(i)).Clone()
			}
			out = append(out, row)
		}
	}
}

func show(tab *schema.Table, read []int, row []value.Datum) string {
	var b strings.Builder
	for i, d := range row {
		if i > 0 {
			b.WriteByte('|')
		}
		if d.IsNull() {
			b.WriteString("NULL")
			continue
		}
		fmt.Fprintf(&b, "%q", types.AppendText(nil, tab.Columns[read[i]].Type, d))
	}
	return b.String()
}

func keyColumns(t *schema.Table, x *schema.Index) []ranges.Column {
	parts := t.PrimaryKey
	if x != nil {
		parts = t.EntryParts(x)
	}
	cols := make([]ranges.Column, len(parts))
	for i, p := range parts {
		pos := t.ColumnIndex(p.Column)
		c := t.Columns[pos]
		cols[i] = ranges.Column{Table: pos, Type: c.Type, Desc: p.Desc, Null: c.Nullable, Prefix: p.Prefix}
	}
	return cols
}

func col(t *schema.Table, pos int) *expr.Col {
	return &expr.Col{ID: expr.ColID(pos), Index: pos, T: t.Columns[pos].Type, Null: t.Columns[pos].Nullable, Name: t.Columns[pos].Name}
}

// comparable types whose constants have the stored form.
func isPlain(t schema.Type) bool {
	switch t.ID {
	case schema.TypeEnum, schema.TypeSet, schema.TypeBit, schema.TypeYear, schema.TypeJSON:
		return false
	}
	return true
}

func (f *fixture) randomConds(t testing.TB, r *rand.Rand, x *schema.Index) []expr.Expr {
	t.Helper()
	env := &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI}
	var out []expr.Expr
	add := func(name string, args ...expr.Expr) {
		e, err := expr.NewFunc(env, name, args...)
		if err == nil {
			out = append(out, e)
		}
	}
	cols := keyColumns(f.t, x)
	for i, c := range cols[:1+r.Intn(len(cols))] {
		if !isPlain(c.Type) || len(f.rows) == 0 {
			break
		}
		pick := func() expr.Expr {
			d := f.rows[r.Intn(len(f.rows))][c.Table]
			if d.IsNull() || r.Intn(4) == 0 {
				d = tabletest.Value(r, c.Type)
			}
			return expr.NewConst(d, c.Type)
		}
		switch r.Intn(11) {
		case 10:
			if d := f.rows[r.Intn(len(f.rows))][c.Table]; c.Type.IsString() && !d.IsNull() {
				prefix := []rune(d.Str())
				text := string(prefix[:r.Intn(min(len(prefix), 4)+1)]) + "%"
				add("like", col(f.t, c.Table), expr.NewConst(value.String(text), c.Type))
			}
		case 8:
			add("<=>", col(f.t, c.Table), pick())
		case 9:
			a, err1 := expr.NewFunc(env, "=", col(f.t, c.Table), pick())
			b, err2 := expr.NewFunc(env, "is_null", col(f.t, c.Table))
			if err1 == nil && err2 == nil {
				add("or", a, b)
			}
		case 0, 1, 2:
			add("=", col(f.t, c.Table), pick())
		case 3:
			add("in", col(f.t, c.Table), pick(), pick(), pick())
		case 4:
			add([]string{">", ">=", "<", "<="}[r.Intn(4)], col(f.t, c.Table), pick())
		case 5:
			add("between", col(f.t, c.Table), pick(), pick())
		case 6:
			add("is_null", col(f.t, c.Table))
		case 7:
			if i == 0 {
				continue
			}
		}
	}
	return out
}

// matching are the rows for which all conditions are true.
func (f *fixture) matching(t testing.TB, conds []expr.Expr) [][]value.Datum {
	t.Helper()
	var out [][]value.Datum
	ec := ectx(f.loc)
	for _, row := range f.rows {
		ok := true
		for _, c := range conds {
			d, err := expr.EvalRow(ec, c, row)
			if err != nil {
				t.Fatal(err)
			}
			ok = ok && !d.IsNull() && d.Bits() != 0
		}
		if ok {
			out = append(out, row)
		}
	}
	return out
}

func mapTo(conds []expr.Expr, at map[int]int) []expr.Expr {
	out := make([]expr.Expr, len(conds))
	for i, c := range conds {
		out[i] = expr.Map(c, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Col); ok {
				p := *c
				p.Index = at[c.Index]
				return &p
			}
			return e
		})
	}
	return out
}

func exprColumns(conds []expr.Expr, set map[int]bool) {
	for _, c := range conds {
		expr.Walk(c, func(e expr.Expr) bool {
			if c, ok := e.(*expr.Col); ok {
				set[c.Index] = true
			}
			return true
		})
	}
}

// testScan is a scan as a test thinks of it; IndexFilter is over positions in Read.
type testScan struct {
	physical.TableRead
	Cols                            []physical.Column
	Index                           *schema.Index
	Ranges                          *ranges.Set
	Point, Lookup, Ordered, Reverse bool
	IndexFilter                     []expr.Expr
}

// node is the plan of n.
func (n *testScan) node() physical.TableNode {
	key := physical.KeyRange{Index: n.Index, Ranges: n.Ranges}
	s := &physical.Scan{Base: physical.Base{Cols: n.Cols}, TableRead: n.TableRead, Access: &physical.FullScan{KeyRange: key}, Ordered: n.Ordered, Reverse: n.Reverse}
	switch {
	case n.Point:
		s.Access = &physical.PointGet{KeyRange: key}
	case n.Ranges != nil:
		s.Access = &physical.RangeScan{KeyRange: key}
	}
	if n.Index == nil || !n.Lookup && !n.Latest {
		return s
	}
	join := &physical.IndexJoin{Base: s.Base, TableRead: n.TableRead, Entries: s, Again: n.IndexFilter}
	s.Keys, s.Filter, s.Limit, s.Read, s.Cols = true, nil, nil, nil, nil
	for _, f := range n.IndexFilter {
		s.Filter = append(s.Filter, expr.Map(f, func(e expr.Expr) expr.Expr {
			c, ok := e.(*expr.Col)
			if !ok {
				return e
			}
			placed, pos := *c, n.Read[c.Index]
			if placed.Index = slices.Index(s.Read, pos); placed.Index < 0 {
				placed.Index = len(s.Read)
				s.Read = append(s.Read, pos)
			}
			return &placed
		}))
	}
	if !n.Latest {
		join.Again = nil
	}
	return join
}

// randomScan is a scan of conds by x and the conditions.
func (f *fixture) randomScan(r *rand.Rand, x *schema.Index, conds []expr.Expr) *testScan {
	n := &testScan{TableRead: physical.TableRead{Table: f.t, Lock: physical.Lock{None: true}}, Index: x}
	set, residual := ranges.Build(keyColumns(f.t, x), conds)
	if x != nil && x.Unique {
		if own, rest := ranges.Build(keyColumns(f.t, x)[:len(x.Parts)], conds); own != nil && own.Point {
			set, residual = own, rest
		}
	}
	n.Ranges = set
	if set != nil {
		if set.Point && (x == nil || x.Unique && len(set.Columns) == len(x.Parts)) {
			n.Point = true
		}
	}
	need := map[int]bool{}
	exprColumns(conds, need)
	for i := range f.t.Columns {
		if r.Intn(2) == 0 {
			need[i] = true
		}
	}
	holds := map[int]bool{}
	if x != nil {
		for _, p := range f.t.EntryParts(x) {
			if p.Prefix == 0 {
				holds[f.t.ColumnIndex(p.Column)] = true
			}
		}
		for _, id := range x.Include {
			holds[f.t.ColumnIndex(id)] = true
		}
		for pos := range need {
			n.Lookup = n.Lookup || !holds[pos]
		}
	}
	at := map[int]int{}
	for i := range f.t.Columns {
		if need[i] {
			at[i] = len(n.Read)
			n.Read = append(n.Read, i)
			n.Cols = append(n.Cols, physical.Column{T: f.t.Columns[i].Type})
		}
	}
	for _, c := range residual {
		cols := map[int]bool{}
		exprColumns([]expr.Expr{c}, cols)
		inEntry := n.Lookup
		for pos := range cols {
			inEntry = inEntry && holds[pos]
		}
		if inEntry {
			n.IndexFilter = append(n.IndexFilter, mapTo([]expr.Expr{c}, at)...)
		} else {
			n.Filter = append(n.Filter, mapTo([]expr.Expr{c}, at)...)
		}
	}
	n.Ordered = r.Intn(2) == 0
	n.Reverse = n.Ordered && r.Intn(2) == 0
	return n
}

func project(rows [][]value.Datum, read []int) [][]value.Datum {
	out := make([][]value.Datum, len(rows))
	for i, row := range rows {
		out[i] = make([]value.Datum, len(read))
		for j, pos := range read {
			out[i][j] = row[pos]
		}
	}
	return out
}

func (f *fixture) lines(read []int, rows [][]value.Datum, ordered bool) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = show(f.t, read, row)
	}
	if !ordered {
		slices.Sort(out)
	}
	return out
}

func (f *fixture) sortBy(rows [][]value.Datum, parts []schema.KeyPart, reverse bool) {
	slices.SortStableFunc(rows, func(a, b []value.Datum) int {
		for _, p := range parts {
			i := f.t.ColumnIndex(p.Column)
			typ := f.t.Columns[i].Type
			x, y := cutTo(a[i], typ, p.Prefix), cutTo(b[i], typ, p.Prefix)
			c := types.CompareNull(x, y, typ)
			if p.Desc != reverse {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
}

func cutTo(d value.Datum, t schema.Type, n int) value.Datum {
	if n == 0 || d.IsNull() || d.Kind() != value.KindBytes {
		return d
	}
	s := d.Bytes()
	if t.IsCharacter() {
		r := []rune(string(s))
		return value.String(string(r[:min(n, len(r))]))
	}
	return value.Bytes(s[:min(n, len(s))])
}

func TestScanAgainstNaive(t *testing.T) {
	testflag.Normal(t)
	r := rand.New(rand.NewSource(1))
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]int{}
	for round := range 120 {
		tab := tabletest.Table(r, schema.TableID(1000+round), 7)
		loc := time.UTC
		if round%2 == 1 {
			loc = shanghai
		}
		f := newFixture(t, r, tab, loc, 5+r.Intn(60))
		if round%12 == 0 {
			f.usePebble(t)
		}
		f.check(t)
		for range 25 {
			var x *schema.Index
			if n := len(tab.Indexes); n > 0 && r.Intn(3) > 0 {
				x = &tab.Indexes[r.Intn(n)]
				if x.Sparse {
					x = nil
				}
			}
			f.compareScan(t, r, x, used)
		}
	}
	t.Log(used)
}

func (f *fixture) compareScan(t *testing.T, r *rand.Rand, x *schema.Index, used map[string]int) {
	t.Helper()
	txn := f.begin(t)
	defer txn.Rollback()
	src := f.source(txn, txn)
	committed := f.rows
	defer func() { f.rows = committed }()
	f.rows = slices.Clone(committed)
	if r.Intn(3) == 0 {
		f.scribble(t, r, src)
	}
	conds := f.randomConds(t, r, x)
	n := f.randomScan(r, x, conds)
	want := f.matching(t, conds)
	parts := f.t.PrimaryKey
	if x != nil {
		parts = f.t.EntryParts(x)
	}
	f.sortBy(want, parts, n.Reverse)
	total := len(want)
	src.state.BatchSize = []int{1, 3, 1024}[r.Intn(3)]
	if r.Intn(3) == 0 {
		n.Latest = true
		n.Lock = physical.Lock{Exclusive: r.Intn(2) == 0}
		if x != nil && !n.Lookup {
			n.Lookup, n.IndexFilter, n.Filter = true, n.Filter, nil
		}
	}
	if r.Intn(3) == 0 {
		n.Limit = expr.NewConst(value.Int(int64(r.Intn(5))), types.BigInt)
	}
	op, err := src.Scan(ctx, ectx(f.loc), n.node(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := drain(t, op)
	used[fmt.Sprintf("%s index=%v lookup=%v latest=%v", n.node().Leaf().Access, x != nil, n.Lookup, n.Latest)]++
	if n.Limit != nil {
		k := int(n.Limit.(*expr.Const).D.Int())
		if len(got) != min(k, total) {
			t.Fatalf("%d rows of %d, limit %d: %s", len(got), total, k, describe(n))
		}
		if !n.Ordered {
			all := map[string]bool{}
			for _, l := range f.lines(n.Read, project(want, n.Read), false) {
				all[l] = true
			}
			for _, l := range f.lines(n.Read, got, false) {
				if !all[l] {
					t.Fatalf("row %s does not match", l)
				}
			}
			return
		}
		want = want[:len(got)]
	}
	a, b := f.lines(n.Read, got, n.Ordered), f.lines(n.Read, project(want, n.Read), n.Ordered)
	if !slices.Equal(a, b) {
		t.Fatalf("%s\ngot  %v\nwant %v\nkey %+v\nall %v", describe(n), a, b, parts, f.lines(seq(len(f.t.Columns)), f.rows, false))
	}
}

// scribble changes some rows in a transaction.
func (f *fixture) scribble(t *testing.T, r *rand.Rand, src *Source) {
	t.Helper()
	isDuplicate := func(err error) bool {
		e, ok := errors.AsType[*sqlerr.Error](err)
		return ok && e.Number == 1062
	}
	for range 4 {
		row := tabletest.Row(r, f.t)
		i := 0
		if len(f.rows) > 0 {
			i = r.Intn(len(f.rows))
		}
		var err error
		switch op := r.Intn(3); {
		case op == 0 || len(f.rows) == 0:
			if err = src.Insert(ctx, f.t, row, nil); err == nil {
				f.rows = append(f.rows, row)
			}
		case op == 1:
			if err = src.Update(ctx, f.t, f.rows[i], row); err == nil {
				f.rows[i] = row
			}
		default:
			if err = src.Delete(ctx, f.t, f.rows[i]); err == nil {
				f.rows = slices.Delete(f.rows, i, i+1)
			}
		}
		if err != nil && !isDuplicate(err) {
			t.Fatal(err)
		}
	}
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func describe(n *testScan) string {
	s := fmt.Sprintf("%s index %+v read %v lookup %v ordered %v reverse %v latest %v", n.node().Leaf().Access, n.Index, n.Read, n.Lookup, n.Ordered, n.Reverse, n.Latest)
	if n.Ranges != nil {
		for _, c := range n.Ranges.Conds {
			s += " range " + c.String()
		}
	}
	for _, c := range n.IndexFilter {
		s += " entry " + c.String()
	}
	for _, c := range n.Filter {
		s += " filter " + c.String()
	}
	return s
}

func TestLookupAgainstNaive(t *testing.T) {
	testflag.Normal(t)
	r := rand.New(rand.NewSource(2))
	for round := range 80 {
		tab := tabletest.Table(r, schema.TableID(1000+round), 7)
		f := newFixture(t, r, tab, time.UTC, 5+r.Intn(60))
		if len(f.rows) == 0 {
			continue
		}
		for range 15 {
			var x *schema.Index
			if n := len(tab.Indexes); n > 0 && r.Intn(3) > 0 {
				x = &tab.Indexes[r.Intn(n)]
			}
			f.compareLookup(t, r, x)
		}
	}
}

// restrictLookup gives n a filter on the key column after those of the lookup,
// and returns the rows that it accepts.
func (f *fixture) restrictLookup(t *testing.T, r *rand.Rand, n *testScan, c ranges.Column) [][]value.Datum {
	t.Helper()
	at := slices.Index(n.Read, c.Table)
	if at < 0 || !c.Type.IsInteger() {
		return f.rows
	}
	op := []string{"=", "<", "<=", ">", ">="}[r.Intn(5)]
	d := f.rows[r.Intn(len(f.rows))][c.Table]
	if d.IsNull() {
		d = tabletest.Value(r, c.Type)
	}
	cond := func(index int) expr.Expr {
		ref := col(f.t, c.Table)
		ref.Index = index
		e, err := expr.NewFunc(nil, op, ref, expr.NewConst(d, c.Type))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	n.Filter = append(slices.Clone(n.Filter), cond(at))
	return f.matching(t, []expr.Expr{cond(c.Table)})
}

func (f *fixture) compareLookup(t *testing.T, r *rand.Rand, x *schema.Index) {
	t.Helper()
	cols := keyColumns(f.t, x)
	nkeys := 0
	for nkeys < len(cols) && cols[nkeys].Prefix == 0 && (nkeys == 0 || r.Intn(3) > 0) {
		nkeys++
	}
	if nkeys == 0 || x != nil && x.Sparse {
		return
	}
	n := f.randomScan(r, x, nil)
	if r.Intn(3) == 0 {
		n.Latest = true
	}
	rows := f.rows
	if nkeys < len(cols) && r.Intn(2) == 0 {
		rows = f.restrictLookup(t, r, n, cols[nkeys])
	}
	// Outer rows: values of rows, or others.
	k := 1 + r.Intn(40)
	keys := make([]*vec.Vec, nkeys)
	outer := make([][]value.Datum, k)
	var live []uint16
	for i := range k {
		row := f.rows[r.Intn(len(f.rows))]
		null := false
		for j := range nkeys {
			d := row[cols[j].Table]
			if r.Intn(8) == 0 {
				d = tabletest.Value(r, cols[j].Type)
			}
			outer[i] = append(outer[i], d)
			null = null || d.IsNull()
		}
		if !null {
			live = append(live, uint16(i))
		}
	}
	for j := range keys {
		keys[j] = vec.NewSized(types.KindOf(cols[j].Type), k)
		for i := range k {
			keys[j].SetDatum(i, outer[i][j])
		}
	}
	var want []string
	for _, i := range live {
		for _, row := range rows {
			same := true
			for j := range nkeys {
				same = same && !row[cols[j].Table].IsNull() && types.Compare(row[cols[j].Table], outer[i][j], cols[j].Type) == 0
			}
			if same {
				want = append(want, fmt.Sprint(i, show(f.t, n.Read, project([][]value.Datum{row}, n.Read)[0])))
			}
		}
	}
	txn := f.begin(t)
	defer txn.Rollback()
	src := f.source(txn, txn)
	src.state.BatchSize = []int{1, 3, 1024}[r.Intn(3)]
	l, err := src.Lookup(ctx, ectx(f.loc), n.node(), nkeys)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ordered := r.Intn(4) == 0
	for range 2 {
		var got []string
		last := uint16(0)
		err = l.Find(ctx, keys, live, ordered, func(b *vec.Batch, key []uint16) error {
			if len(key) != b.Live() {
				t.Fatal(len(key), b.Live())
			}
			for i := range b.Live() {
				row := make([]value.Datum, len(b.Cols))
				for c, v := range b.Cols {
					row[c] = v.Datum(b.Row(i)).Clone()
				}
				if ordered && key[i] < last {
					t.Fatal("keys are not in order")
				}
				last = key[i]
				got = append(got, fmt.Sprint(key[i], show(f.t, n.Read, row)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("by %d columns of %v ordered %v: %s\ngot  %v\nwant %v", nkeys, cols, ordered, describe(n), got, want)
		}
	}
}

func bigint() schema.Type {
	return schema.Type{ID: schema.TypeBigInt, Len: -1, Collation: schema.CollationBinary}
}

// callTable is the table of the benchmarks: calls by cell and start.
func callTable() *schema.Table {
	cols := []string{"cell", "start", "called", "duration", "station"}
	t := &schema.Table{ID: 2000, Database: "d", Name: "calls", PrimaryKey: []schema.KeyPart{{Column: 1}, {Column: 2}}}
	for i, name := range cols {
		t.Columns = append(t.Columns, schema.Column{ID: schema.ColumnID(i + 1), Name: name, Type: bigint()})
	}
	t.Indexes = []schema.Index{{ID: 1, Name: "by_station", Parts: []schema.KeyPart{{Column: 5}, {Column: 2}}, Include: []schema.ColumnID{4}}}
	return t
}

func fillCalls(t testing.TB, store storage.Store, n int) (*schema.Table, *decode.Codecs) {
	t.Helper()
	tab, codecs := callTable(), decode.NewCodecs(nil)
	for i := 0; i < n; {
		txn, err := store.Begin(ctx, storage.TxnOptions{Durability: storage.DurabilityNone})
		if err != nil {
			t.Fatal(err)
		}
		s := New(Env{Store: store, View: txn, Txn: txn, Codecs: codecs})
		for range min(2000, n-i) {
			row := []value.Datum{value.Int(int64(i / 2)), value.Int(int64(1_600_000_000 + i)), value.Int(int64(i * 7919 % n)), value.Int(int64(i % 600)), value.Int(int64(i * 31 % 1000))}
			if err := s.Insert(ctx, tab, row, nil); err != nil {
				t.Fatal(err)
			}
			i++
		}
		if _, err := txn.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return tab, codecs
}

func TestPartitions(t *testing.T) {
	store := memkv.New(memkv.Options{})
	const rows = 30_000
	tab, codecs := fillCalls(t, store, rows)
	s := New(Env{Store: store, View: store.Latest(), Codecs: codecs})
	ec := ectx(time.UTC)
	for _, x := range []*schema.Index{nil, &tab.Indexes[0]} {
		n := &testScan{TableRead: physical.TableRead{Table: tab, Read: []int{0, 1}, Lock: physical.Lock{None: true}}, Index: x}
		parts, err := s.Partitions(ctx, ec, n.node(), 4, 0)
		if err != nil || len(parts) < 2 {
			t.Fatal(len(parts), err)
		}
		seen := map[string]bool{}
		for _, p := range parts {
			op, err := s.Scan(ctx, ec, n.node(), p)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range drain(t, op) {
				seen[show(tab, n.Read, row)] = true
			}
		}
		if len(seen) != rows {
			t.Fatalf("%d rows", len(seen))
		}
	}
	// COUNT(*): no columns.
	n := &testScan{TableRead: physical.TableRead{Table: tab, Lock: physical.Lock{None: true}}}
	op, err := s.Scan(ctx, ec, n.node(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(drain(t, op)); got != rows {
		t.Fatal(got)
	}
	cancelled, cancel := context.WithCancel(ctx)
	if op, err = s.Scan(ctx, ec, n.node(), nil); err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if _, err = op.Next(cancelled); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err = op.Next(cancelled); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// smallTable has an id, a unique u, an indexed v, and a TIMESTAMP.
func smallTable() *schema.Table {
	null := func(id int, name string, typ schema.Type) schema.Column {
		return schema.Column{ID: schema.ColumnID(id), Name: name, Type: typ, Nullable: true}
	}
	return &schema.Table{ID: 3000, Database: "d", Name: "t", Columns: []schema.Column{
		{ID: 1, Name: "id", Type: bigint()}, null(2, "u", bigint()), null(3, "v", bigint()), null(4, "ts", schema.Type{ID: schema.TypeTimestamp})},
		PrimaryKey: []schema.KeyPart{{Column: 1}},
		Indexes: []schema.Index{{ID: 1, Name: "u", Unique: true, Parts: []schema.KeyPart{{Column: 2}}}, {ID: 2, Name: "v", Parts: []schema.KeyPart{{Column: 3}}},
			{ID: 3, Name: "ts", Parts: []schema.KeyPart{{Column: 4}}}}}
}

func (f *fixture) where(t testing.TB, x *schema.Index, name string, pos int, v int64) *testScan {
	t.Helper()
	e, err := expr.NewFunc(nil, name, col(f.t, pos), expr.NewConst(value.Int(v), bigint()))
	if err != nil {
		t.Fatal(err)
	}
	n := &testScan{TableRead: physical.TableRead{Table: f.t, Read: seq(len(f.t.Columns)), Lock: physical.Lock{None: true}}, Index: x, Lookup: x != nil}
	n.Ranges, n.Filter = ranges.Build(keyColumns(f.t, x), []expr.Expr{e})
	return n
}

func smallFixture(t testing.TB, n int) *fixture {
	t.Helper()
	f := newFixture(t, rand.New(rand.NewSource(1)), smallTable(), time.UTC, 0)
	txn := f.begin(t)
	s := f.source(txn, txn)
	for i := range int64(n) {
		row := []value.Datum{value.Int(i), value.Int(i * 10), value.Int(i % 3), value.Null}
		if err := s.Insert(ctx, f.t, row, nil); err != nil {
			t.Fatal(err)
		}
		f.rows = append(f.rows, row)
	}
	if _, err := txn.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	return f
}

// A row that changed between the search and the lock is checked again.
func TestLockedRecheck(t *testing.T) {
	f := smallFixture(t, 10)
	v := &f.t.Indexes[1]
	for _, x := range []*schema.Index{nil, v} {
		n := f.where(t, x, "=", 2, 1)
		n.Latest, n.Lock = true, physical.Lock{Exclusive: true}
		txn := f.begin(t)
		src := f.source(txn, txn)
		src.state.BatchSize = 1
		op, err := src.Scan(ctx, ectx(time.UTC), n.node(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := op.Next(ctx)
		if err != nil || b.Live() != 1 || b.Cols[0].I64[0] != 1 {
			t.Fatal(b, err)
		}
		// Rows 4 and 7 follow; 4 gets another v, 7 vanishes.
		other := f.begin(t)
		o := f.source(other, other)
		if err := o.Update(ctx, f.t, f.rows[4], []value.Datum{value.Int(4), value.Int(40), value.Int(99), value.Null}); err != nil {
			t.Fatal(err)
		}
		if err := o.Delete(ctx, f.t, f.rows[7]); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if b, err = op.Next(ctx); b != nil || err != nil {
			t.Fatalf("index %v: %v %v", x != nil, b.Cols[0].I64[0], err)
		}
		op.Close()
		txn.Rollback()
		// As it was.
		again := f.begin(t)
		o = f.source(again, again)
		if err := o.Update(ctx, f.t, []value.Datum{value.Int(4), value.Int(40), value.Int(99), value.Null}, f.rows[4]); err != nil {
			t.Fatal(err)
		}
		if err := o.Insert(ctx, f.t, f.rows[7], nil); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	f.check(t)
}

func TestLockWaits(t *testing.T) {
	f := smallFixture(t, 6)
	holder := f.begin(t)
	defer holder.Rollback()
	lock := func(txn storage.Txn, l physical.Lock) ([][]value.Datum, error) {
		n := f.where(t, nil, "<", 0, 4)
		n.Latest, n.Lock = true, l
		op, err := f.source(txn, txn).Scan(ctx, ectx(time.UTC), n.node(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer op.Close()
		b, err := op.Next(ctx)
		if err != nil {
			return nil, err
		}
		var out [][]value.Datum
		for i := range b.Live() {
			out = append(out, []value.Datum{b.Cols[0].Datum(b.Row(i))})
		}
		return out, nil
	}
	c, _ := f.codecs.Get(f.t)
	if _, err := holder.Lock(ctx, [][]byte{c.AppendKey(nil, f.rows[2])}, storage.LockOptions{}); err != nil {
		t.Fatal(err)
	}
	txn := f.begin(t)
	defer txn.Rollback()
	rows, err := lock(txn, physical.Lock{Exclusive: true, SkipLocked: true})
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	if _, err = lock(txn, physical.Lock{Exclusive: true, NoWait: true}); !errors.Is(err, storage.ErrNoWait) {
		t.Fatal(err)
	}
	if _, err = lock(txn, physical.Lock{Exclusive: true}); !errors.Is(err, storage.ErrLockTimeout) {
		t.Fatal(err)
	}
}

func TestSinkConflicts(t *testing.T) {
	f := smallFixture(t, 5)
	txn := f.begin(t)
	s := f.source(txn, txn)
	row := []value.Datum{value.Int(100), value.Int(20), value.Int(7), value.Null}
	err := s.Insert(ctx, f.t, row, nil)
	if e, ok := errors.AsType[*sqlerr.Error](err); !ok || e.Number != 1062 || e.Message != "Duplicate entry '20' for key 't.u'" {
		t.Fatal(err)
	}
	// REPLACE: both rows in the way go.
	row[0] = value.Int(3)
	var seen []string
	err = s.Insert(ctx, f.t, row, func(x *schema.Index, old []value.Datum) (exec.ConflictAction, error) {
		name := "PRIMARY"
		if x != nil {
			name = x.Name
		}
		seen = append(seen, fmt.Sprint(name, old[0].Int()))
		return exec.ConflictRetry, s.Delete(ctx, f.t, old)
	})
	if err != nil || fmt.Sprint(seen) != "[PRIMARY3 u2]" {
		t.Fatal(seen, err)
	}
	f.rows = [][]value.Datum{f.rows[0], f.rows[1], f.rows[4], row}
	err = s.Update(ctx, f.t, f.rows[0], []value.Datum{value.Int(50), value.Int(40), value.Int(1), value.Null})
	if e, ok := errors.AsType[*sqlerr.Error](err); !ok || e.Number != 1062 || e.Message != "Duplicate entry '40' for key 't.u'" {
		t.Fatal(err)
	}
	if _, err := txn.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	f.check(t)
}

// TIMESTAMPs in the hour that clocks show twice keep their instant and their
// index entries.
func TestAmbiguousTimestamps(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, rand.New(rand.NewSource(1)), smallTable(), time.UTC, 0)
	txn := f.begin(t)
	s := f.source(txn, txn)
	utc := []value.Time{value.MakeTime(2021, 11, 7, 5, 30, 0, 0), value.MakeTime(2021, 11, 7, 6, 30, 0, 0), value.MakeTime(2021, 7, 1, 12, 0, 0, 0)}
	for i, tm := range utc {
		row := []value.Datum{value.Int(int64(i)), value.Null, value.Null, value.TimeOf(tm)}
		if err := s.Insert(ctx, f.t, row, nil); err != nil {
			t.Fatal(err)
		}
		f.rows = append(f.rows, row)
	}
	f.loc = newYork
	local := f.source(txn, txn)
	n := &testScan{TableRead: physical.TableRead{Table: f.t, Read: seq(4), Lock: physical.Lock{None: true}}}
	op, err := local.Scan(ctx, ectx(newYork), n.node(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := drain(t, op)
	if a, b := rows[0][3].Time(), rows[1][3].Time(); a != b || a.Hour() != 1 {
		t.Fatal(a, b)
	}
	for _, row := range rows[:2] {
		upd := slices.Clone(row)
		upd[2] = value.Int(5)
		if err := local.Update(ctx, f.t, row, upd); err != nil {
			t.Fatal(err)
		}
	}
	f.loc = time.UTC
	if op, err = f.source(txn, txn).Scan(ctx, ectx(time.UTC), n.node(), nil); err != nil {
		t.Fatal(err)
	}
	for i, row := range drain(t, op) {
		if row[3].Time() != utc[i] {
			t.Errorf("row %d is at %s, was at %s", i, row[3].Time(), utc[i])
		}
	}
	row := slices.Clone(rows[1])
	row[2] = value.Int(5)
	if err := local.Delete(ctx, f.t, row); err != nil {
		t.Fatal(err)
	}
	f.rows = f.rows[:2]
	if _, err := txn.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	f.check(t)
}

func TestKindsAgree(t *testing.T) {
	for _, typ := range tabletest.Types() {
		if table.KindOf(typ) != types.KindOf(typ) {
			t.Errorf("%s is stored as %s and computed as %s", typ, table.KindOf(typ), types.KindOf(typ))
		}
	}
}

func TestAddedDefaults(t *testing.T) {
	v, err := decode.AddedDefault(&schema.Column{Name: "c", Type: schema.Type{ID: schema.TypeDecimal, Len: 10, Scale: 2}, AddedDefault: &schema.Default{Literal: "1.5"}})
	if err != nil || v.Decimal().String() != "1.50" {
		t.Fatal(v, err)
	}
	if _, err = decode.AddedDefault(&schema.Column{Name: "c", Type: bigint(), AddedDefault: &schema.Default{Expr: "now()"}}); err == nil {
		t.Fatal("an expression was taken for a literal")
	}
}

// Batches of large values stay small.
func TestLargeValues(t *testing.T) {
	tab := &schema.Table{ID: 4000, Database: "d", Name: "t", Columns: []schema.Column{{ID: 1, Name: "id", Type: bigint()}, {ID: 2, Name: "k", Type: bigint()},
		{ID: 3, Name: "b", Type: schema.Type{ID: schema.TypeLongBlob, Len: -1, Collation: schema.CollationBinary}}},
		PrimaryKey: []schema.KeyPart{{Column: 1}}, Indexes: []schema.Index{{ID: 1, Name: "k", Parts: []schema.KeyPart{{Column: 2, Desc: true}}}}}
	f := newFixture(t, rand.New(rand.NewSource(1)), tab, time.UTC, 0)
	txn := f.begin(t)
	defer txn.Rollback()
	s := f.source(txn, txn)
	const rows = 40
	for i := range int64(rows) {
		b := make([]byte, 1<<20)
		b[0] = byte(i)
		if err := s.Insert(ctx, tab, []value.Datum{value.Int(i), value.Int(i), value.Bytes(b)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []*testScan{
		{}, {Index: &tab.Indexes[0], Lookup: true}, {Index: &tab.Indexes[0], Lookup: true, Ordered: true},
		{TableRead: physical.TableRead{Latest: true}},
	} {
		n.Table, n.Read = tab, []int{0, 2}
		op, err := s.Scan(ctx, ectx(time.UTC), n.node(), nil)
		if err != nil {
			t.Fatal(err)
		}
		seen, batches := 0, 0
		for {
			b, err := op.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			batches++
			for i := range b.Live() {
				if v := b.Cols[1].Bytes[b.Row(i)]; len(v) != 1<<20 || v[0] != byte(b.Cols[0].I64[b.Row(i)]) {
					t.Fatal(len(v))
				}
				seen++
			}
		}
		op.Close()
		if seen != rows || batches < 5 {
			t.Errorf("%d rows in %d batches", seen, batches)
		}
	}
}
