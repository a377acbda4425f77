package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// memTable is a table of the test source: rows in table order.
type memTable struct {
	t    *schema.Table
	rows [][]value.Datum
}

// memSource is a Source over memTables. It makes batches of the given size
// and, with holes, adds dead rows at random.
type memSource struct {
	tables map[*schema.Table]*memTable
	size   int
	holes  bool
	parts  int
	failAt int // fail after this many rows, 0 never
	hook   func(*physical.Scan)

	mu     sync.Mutex
	open   int
	closed int
}

func TestMain(m *testing.M) { testflag.Main(m) }

func (s *memSource) Scan(_ context.Context, ec *expr.Ctx, t physical.TableNode, part Partition) (Operator, error) {
	n := t.Leaf()
	rows := s.tables[n.Table].rows
	if part != nil {
		p := part.(*memPart)
		if p.closed {
			return nil, errors.New("a scan of a partition that is closed")
		}
		rows = rows[p.from:p.to]
	}
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	return &memScan{s: s, ec: ec, n: n, rows: rows, rng: rand.New(rand.NewPCG(1, uint64(len(rows))))}, nil
}

func (s *memSource) Partitions(_ context.Context, _ *expr.Ctx, t physical.TableNode, max int, _ float64) ([]Partition, error) {
	n := t.Leaf()
	rows := len(s.tables[n.Table].rows)
	parts := min(s.parts, max)
	if parts < 2 || rows < parts {
		return nil, nil
	}
	var out []Partition
	for i := range parts {
		s.open++
		out = append(out, &memPart{s: s, from: rows * i / parts, to: rows * (i + 1) / parts})
	}
	return out, nil
}

func (s *memSource) Lookup(_ context.Context, ec *expr.Ctx, t physical.TableNode, nkeys int) (Lookup, error) {
	n := t.Leaf()
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	return &memLookup{s: s, ec: ec, n: n, nkeys: nkeys}, nil
}

func (s *memSource) Virtual(context.Context, *expr.Ctx, *physical.Virtual) (Operator, error) {
	return nil, errors.New("no virtual tables")
}

// memPart is a partition of a memSource.
type memPart struct {
	s        *memSource
	from, to int
	closed   bool
}

func (p *memPart) Close() error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.s.open--
	}
	return nil
}

type memScan struct {
	s      *memSource
	ec     *expr.Ctx
	n      *physical.Scan
	rows   [][]value.Datum
	rng    *rand.Rand
	sent   int
	closed bool
}

func (m *memScan) Next(ctx context.Context) (*vec.Batch, error) {
	for len(m.rows) > 0 {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if m.s.failAt > 0 && m.sent >= m.s.failAt {
			return nil, errors.New("broken disk")
		}
		if m.s.hook != nil {
			m.s.hook(m.n)
		}
		n := min(m.s.size, len(m.rows))
		b := batchOf(m.n.Columns(), m.rows[:n], m.n.Read, m.s.holes, m.rng)
		m.rows, m.sent = m.rows[n:], m.sent+n
		if err := filterBatch(m.ec, m.n.Filter, b); err != nil {
			return nil, err
		}
		if b.Live() > 0 {
			return b, nil
		}
	}
	return nil, nil
}

func (m *memScan) Close() error {
	if !m.closed {
		m.closed = true
		m.s.mu.Lock()
		m.s.closed++
		m.s.mu.Unlock()
	}
	return nil
}

// batchOf makes a fresh batch of rows; with holes, there are garbage rows
// between.
func batchOf(cols []physical.Column, rows [][]value.Datum, read []int, holes bool, rng *rand.Rand) *vec.Batch {
	var at []uint16
	n := 0
	for range rows {
		for holes && rng.IntN(3) == 0 && n < vec.MaxRows-len(rows) {
			n++
		}
		at = append(at, uint16(n))
		n++
	}
	b := newOut(kindsOf(cols))
	b.N = n
	for c, v := range b.Cols {
		v.Init(v.Kind, n)
		for r, row := range rows {
			v.SetDatum(int(at[r]), row[read[c]])
		}
	}
	if holes {
		b.SetSel(append(b.SelBuf(), at...))
	}
	return b
}

type memLookup struct {
	s     *memSource
	ec    *expr.Ctx
	n     *physical.Scan
	nkeys int
}

// Find looks keys up by the first columns of Read, in reverse order.
func (m *memLookup) Find(_ context.Context, keys []*vec.Vec, live []uint16, _ bool, emit func(*vec.Batch, []uint16) error) error {
	rng := rand.New(rand.NewPCG(7, 7))
	for l := len(live) - 1; l >= 0; l-- {
		var found [][]value.Datum
		for _, row := range m.s.tables[m.n.Table].rows {
			ok := true
			for k := range m.nkeys {
				d := row[m.n.Read[k]]
				ok = ok && !d.IsNull() && types.Compare(d, keys[k].Datum(int(live[l])), m.n.Cols[k].T) == 0
			}
			if ok {
				found = append(found, row)
			}
		}
		for len(found) > 0 {
			n := min(len(found), m.s.size)
			b := batchOf(m.n.Columns(), found[:n], m.n.Read, m.s.holes, rng)
			key := make([]uint16, n)
			for i := range key {
				key[i] = live[l]
			}
			if err := emit(b, key); err != nil {
				return err
			}
			found = found[n:]
		}
	}
	return nil
}

func (m *memLookup) Close() error {
	m.s.mu.Lock()
	m.s.closed++
	m.s.mu.Unlock()
	return nil
}

// col describes a test column.
type col struct {
	name string
	t    schema.Type
}

func makeTable(name string, cols ...col) *schema.Table {
	t := &schema.Table{ID: schema.TableID(len(name) + 10), Name: name}
	for i, c := range cols {
		t.Columns = append(t.Columns, schema.Column{ID: schema.ColumnID(i + 1), Name: c.name, Type: c.t, Nullable: i > 0})
	}
	t.PrimaryKey = []schema.KeyPart{{Column: 1}}
	return t
}

// scanOf is a full scan of all columns.
func scanOf(t *schema.Table) *physical.Scan {
	s := &physical.Scan{TableRead: physical.TableRead{Table: t, Alias: t.Name, Lock: physical.Lock{None: true}}, Access: &physical.FullScan{}}
	for i, c := range t.Columns {
		s.Read = append(s.Read, i)
		s.Cols = append(s.Cols, physical.Column{Name: c.Name, T: c.Type, Null: c.Nullable})
	}
	return s
}

func ref(n physical.Node, i int) *expr.Col {
	c := n.Columns()[i]
	return &expr.Col{Index: i, T: c.T, Null: true, Name: c.Name}
}

func at(i int, t schema.Type) *expr.Col { return &expr.Col{Index: i, T: t, Null: true} }

func fn(name string, args ...expr.Expr) expr.Expr {
	e, err := expr.NewFunc(nil, name, args...)
	if err != nil {
		panic(err)
	}
	return e
}

func num(n int64) expr.Expr { return expr.NewConst(value.Int(n), types.BigInt) }

func agg(name string, distinct bool, args ...expr.Expr) *expr.Agg {
	a, err := expr.NewAgg(nil, name, distinct, args...)
	if err != nil {
		panic(err)
	}
	return a
}

func outCols(ts ...schema.Type) physical.Base {
	var b physical.Base
	for i, t := range ts {
		b.Cols = append(b.Cols, physical.Column{Name: fmt.Sprintf("c%d", i), T: t, Null: true})
	}
	return b
}

func joinCols(a, b physical.Node) physical.Base {
	return physical.Base{Cols: append(append([]physical.Column(nil), a.Columns()...), b.Columns()...)}
}

// rowText is a row in comparable text.
func rowText(cols []physical.Column, row []value.Datum) string {
	var b strings.Builder
	for i, d := range row {
		if i > 0 {
			b.WriteByte('|')
		}
		if d.IsNull() {
			b.WriteString("NULL")
		} else {
			b.Write(types.AppendText(nil, cols[i].T, d))
		}
	}
	return b.String()
}

func testEnv(src Source) *Env {
	return &Env{Source: src, Ctx: &expr.Ctx{Env: types.Env{Mode: types.DefaultSQLMode, Loc: time.UTC, Now: time.Unix(1700000000, 0)}},
		Memory: NewTracker("query", 0), GroupConcatMaxLen: 1 << 20}
}

// collect runs a plan and gives its rows as text.
func collect(ctx context.Context, env *Env, plan *physical.Plan) ([]string, error) {
	var out []string
	cols := plan.Root.Columns()
	row := make([]value.Datum, len(cols))
	err := RunQuery(ctx, env, plan, func(b *vec.Batch) error {
		if b.Live() == 0 {
			return errors.New("empty batch")
		}
		if len(b.Cols) != len(cols) {
			return fmt.Errorf("%d columns, want %d", len(b.Cols), len(cols))
		}
		for r := range b.Live() {
			for c, v := range b.Cols {
				row[c] = v.Datum(b.Row(r))
			}
			out = append(out, rowText(cols, row))
		}
		return nil
	})
	return out, err
}

// check runs a plan under all harness variants: batch sizes, selections,
// stats, early close, cancelled context and memory limit.
func check(t *testing.T, src *memSource, plan *physical.Plan, want []string, ordered bool) {
	t.Helper()
	inOrder := want
	want = slices.Clone(want)
	sort.Strings(want)
	for _, size := range []int{1, 3, 1024} {
		for _, mode := range []int{0, 1, 2} {
			if testflag.InShort(size == 1 && mode != 1 || size == 3 && mode != 2 || size == 1024 && mode != 0, false) {
				continue // each size and each mode once
			}
			holes, spills := mode > 0, mode > 1
			s := &memSource{tables: src.tables, size: min(size, 300), holes: holes, parts: src.parts}
			env := testEnv(s)
			env.BatchSize, env.Parallelism, env.Stats = size, max(1, src.parts), NewStats()
			if spills {
				env.spillAlways(t, 2000+500*len(plan.Root.Columns()))
			}
			got, err := collect(context.Background(), env, plan)
			if err != nil {
				t.Fatalf("size %d holes %v spills %v: %v", size, holes, spills, err)
			}
			want := want
			// What is spilled keeps an order only where a plan relies on it.
			if ordered && (!spills || comesOrdered(plan.Root)) {
				want = inOrder
			} else {
				sort.Strings(got)
			}
			if !slices.Equal(got, want) {
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Logf("row %d: got  %s\nwant %s", i, got[i], want[i])
						break
					}
				}
				t.Fatalf("size %d holes %v spills %v: got %d rows, want %d\ngot  %.600s\nwant %.600s", size, holes, spills, len(got), len(want),
					strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
			if s.open != s.closed {
				t.Fatalf("%d leaves opened, %d closed", s.open, s.closed)
			}
			env.checkReleased(t, plan)
			if a, ok := env.Stats.Actual(plan.Root); !ok || a.Rows != int64(len(want)) {
				t.Fatalf("stats %+v, want %d rows", a, len(want))
			}
		}
	}
	checkAborts(t, src, plan)
	checkFaults(t, src, plan)
}

// checkFaults lets calls of the file system fail, one after the other: the
// query ends with 1021 and leaves nothing.
func checkFaults(t *testing.T, src *memSource, plan *physical.Plan) {
	t.Helper()
	for at := 1; ; at += testflag.InShort(1+3*at, 1+at/3) {
		s := &memSource{tables: src.tables, size: 100, parts: src.parts}
		env, fs := testEnv(s), &memFS{failAt: at}
		env.BatchSize, env.Parallelism = 100, max(1, src.parts)
		env.spillTo(t, fs, 2000+500*len(plan.Root.Columns()))
		_, err := collect(context.Background(), env, plan)
		if fs.calls < at {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Number != 1021 {
			t.Fatalf("call %d of the disk fails: %v", at, err)
		}
		if s.open != s.closed {
			t.Fatalf("call %d of the disk fails: %d leaves opened, %d closed", at, s.open, s.closed)
		}
		env.checkReleased(t, plan)
	}
}

// spillAlways makes operators spill when they hold more than over bytes.
func (env *Env) spillAlways(t *testing.T, over int) {
	t.Helper()
	env.spillTo(t, &memFS{}, over)
}

func (env *Env) spillTo(t *testing.T, fs spill.FS, over int) {
	t.Helper()
	disk, err := spill.Open(spill.Options{Dir: ".", FS: fs, Files: 10000}) // fs makes no files there
	if err != nil {
		t.Fatal(err)
	}
	env.Spill, env.SpillOver = disk, int64(over)
}

// memFS keeps temporary files in memory. The failAt-th call fails.
type memFS struct {
	mu            sync.Mutex
	calls, failAt int
}

var errNoDisk = fmt.Errorf("write: %w", syscall.ENOSPC)

func (fs *memFS) call() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.calls++; fs.calls == fs.failAt {
		return errNoDisk
	}
	return nil
}

func (fs *memFS) Create(string) (spill.Handle, error) { return &memFile{fs: fs}, fs.call() }

type memFile struct {
	fs   *memFS
	mu   sync.Mutex
	data []byte
}

func (f *memFile) WriteAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data = append(f.data, make([]byte, max(0, int(at)+len(p)-len(f.data)))...)
	return copy(f.data[at:], p), f.fs.call()
}

func (f *memFile) ReadAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return copy(p, f.data[at:]), f.fs.call()
}

func (f *memFile) Close() error { return nil }

// checkReleased expects that neither memory nor files are held any more.
func (env *Env) checkReleased(t *testing.T, plan *physical.Plan) {
	t.Helper()
	if len(plan.Subplans) == 0 && env.Memory.Used() != 0 {
		t.Fatalf("%d bytes still accounted", env.Memory.Used())
	}
	if env.Spill != nil && len(plan.Subplans) == 0 {
		env.Spill.Wait()
		if bytes, files := env.Spill.Used(); bytes != 0 || files != 0 {
			t.Fatalf("%d bytes in %d temporary files are left", bytes, files)
		}
	}
}

// checkAborts closes early, cancels and breaks the leaves.
func checkAborts(t *testing.T, src *memSource, plan *physical.Plan) {
	t.Helper()
	stop := errors.New("stop")
	for _, mode := range []string{"early", "cancel", "fail", "unread"} {
		s := &memSource{tables: src.tables, size: 3, parts: src.parts}
		if mode == "fail" {
			s.failAt = 4
		}
		env := testEnv(s)
		env.BatchSize, env.Parallelism = 2, max(1, src.parts)
		ctx, cancel := context.WithCancelCause(context.Background())
		switch mode {
		case "unread":
			op, err := Build(env, plan.Root)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(op.Close(), op.Close()); err != nil {
				t.Fatal(err)
			}
		case "cancel":
			cancel(sqlerr.QueryInterrupted())
			if _, err := collect(ctx, env, plan); !errors.Is(err, sqlerr.QueryInterrupted()) {
				t.Fatalf("cancelled: %v", err)
			}
		default:
			_ = RunQuery(ctx, env, plan, func(*vec.Batch) error { return stop })
		}
		cancel(nil)
		if s.open != s.closed {
			t.Fatalf("%s: %d leaves opened, %d closed", mode, s.open, s.closed)
		}
		if len(plan.Subplans) == 0 && env.Memory.Used() != 0 {
			t.Fatalf("%s: %d bytes still accounted", mode, env.Memory.Used())
		}
	}
}

// checkMemory expects 3170 under a small limit.
func checkMemory(t *testing.T, src *memSource, plan *physical.Plan, operator string) {
	t.Helper()
	s := &memSource{tables: src.tables, size: 100, parts: src.parts}
	env := testEnv(s)
	env.Memory = NewTracker("server", 0).Child("query", 1000)
	env.Parallelism = max(1, src.parts)
	_, err := collect(context.Background(), env, plan)
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Number != 3170 || !strings.Contains(e.Message, operator) {
		t.Fatalf("memory limit: %v", err)
	}
	if s.open != s.closed || env.Memory.Used() != 0 {
		t.Fatalf("after 3170: %d opened, %d closed, %d bytes", s.open, s.closed, env.Memory.Used())
	}
}

// Test data: k int, g int (few values), s text (few, with case), d decimal,
// f float, u bigint unsigned, w datetime.
var dataCols = []col{
	{"k", types.BigInt}, {"g", types.BigInt}, {"s", types.VarcharOf(20, schema.CollationUTF8MB40900AICI)},
	{"d", types.DecimalOf(10, 2)}, {"f", types.Double}, {"u", types.UBigInt}, {"w", types.DatetimeOf(0)},
	{"b", types.VarbinaryOf(20)},
}

func randomRows(rng *rand.Rand, n, groups int) [][]value.Datum {
	words := []string{"a", "A", "b", "straße", "STRASSE", "", "ab", "a b", "é", "e"}
	rows := make([][]value.Datum, n)
	for i := range rows {
		null := func(d value.Datum) value.Datum {
			if rng.IntN(6) == 0 {
				return value.Null
			}
			return d
		}
		rows[i] = []value.Datum{
			value.Int(int64(i)), null(value.Int(int64(rng.IntN(groups)) - 2)), null(value.String(words[rng.IntN(len(words))])),
			null(value.Dec(value.DecimalFromInt128(0, uint64(rng.IntN(5000)), 2))), null(value.Float(float64(rng.IntN(100)) / 4)),
			null(value.Uint(uint64(rng.IntN(50)) - 3)), null(value.TimeOf(value.MakeTime(2000+rng.IntN(30), 1, 1, 0, 0, 0, 0))),
			null(value.Bytes([]byte{byte(rng.IntN(3)), 0, byte(rng.IntN(2))})),
		}
	}
	return rows
}

func newSource(tables ...*memTable) *memSource {
	s := &memSource{tables: map[*schema.Table]*memTable{}, size: 100}
	for _, t := range tables {
		s.tables[t.t] = t
	}
	return s
}
