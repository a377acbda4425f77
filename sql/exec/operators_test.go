package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

func data(name string, seed uint64, n, groups int) *memTable {
	return &memTable{t: makeTable(name, dataCols...), rows: randomRows(rand.New(rand.NewPCG(seed, 1)), n, groups)}
}

func texts(cols []physical.Column, rows [][]value.Datum) []string {
	var out []string
	for _, r := range rows {
		out = append(out, rowText(cols, r))
	}
	return out
}

func TestPipeline(t *testing.T) {
	tab := data("t", 1, 500, 10)
	src := newSource(tab)
	scan := scanOf(tab.t)
	filter := &physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{fn(">", ref(scan, 1), num(2)), fn("<", ref(scan, 0), num(400))}}
	project := &physical.Project{Base: outCols(types.BigInt, types.BigInt), Input: filter,
		Exprs: []expr.Expr{ref(scan, 0), fn("+", ref(scan, 0), ref(scan, 1))}}
	var want []string
	for _, r := range tab.rows {
		if !r[1].IsNull() && r[1].Int() > 2 && r[0].Int() < 400 {
			want = append(want, fmt.Sprintf("%d|%d", r[0].Int(), r[0].Int()+r[1].Int()))
		}
	}
	check(t, src, &physical.Plan{Root: project}, want, true)
	for _, c := range [][2]int64{{0, 0}, {5, 0}, {5, 7}, {1000, 0}, {1000, 190}, {3, 10000}} {
		limit := &physical.Limit{Base: project.Base, Input: project, Count: num(c[0]), Offset: num(c[1])}
		lo := min(int(c[1]), len(want))
		hi := min(lo+int(c[0]), len(want))
		check(t, src, &physical.Plan{Root: limit}, want[lo:hi], true)
	}
	offset := &physical.Limit{Base: project.Base, Input: project, Offset: num(5)}
	check(t, src, &physical.Plan{Root: offset}, want[5:], true)
}

func TestFoundRows(t *testing.T) {
	tab := data("t", 1, 500, 10)
	src := newSource(tab)
	scan := scanOf(tab.t)
	scan.Limit = num(5)
	for _, n := range []physical.Node{
		&physical.Limit{Base: scan.Base, Input: scan, Count: num(5)},
		&physical.TopK{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: ref(scan, 1)}}, Count: num(5)},
		&physical.TopK{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: ref(scan, 1)}}, Count: num(0)},
		scan,
	} {
		env := testEnv(src)
		if _, err := collect(t.Context(), env, &physical.Plan{Root: n, CalcFoundRows: true}); err != nil {
			t.Fatal(err)
		}
		if env.FoundRowsTotal != 500 {
			t.Fatalf("%T: %d rows", n, env.FoundRowsTotal)
		}
	}
}

func TestValues(t *testing.T) {
	v := &physical.Values{Base: outCols(types.BigInt, types.Double), Rows: [][]expr.Expr{{num(1), expr.NewConst(value.Float(2.5), types.Double)}, {num(2), expr.NewConst(value.Null, types.Null)}, {num(3), num(4)}}}
	check(t, newSource(), &physical.Plan{Root: v}, []string{"1|2.5", "2|NULL", "3|4"}, true)
	one := &physical.Values{Rows: [][]expr.Expr{{}}}
	p := &physical.Project{Base: outCols(types.BigInt), Input: one, Exprs: []expr.Expr{fn("+", num(1), num(1))}}
	check(t, newSource(), &physical.Plan{Root: p}, []string{"2"}, true)
}

// equalNN is SQL equality of values that are not NULL.
func equalNN(a, b value.Datum, t schema.Type) bool {
	return !a.IsNull() && !b.IsNull() && types.Compare(a, b, t) == 0
}

func TestJoins(t *testing.T) {
	left, right := data("l", 3, 60, 12), data("right", 4, 45, 15)
	for i := range left.rows { // some left rows without partner
		if i%9 == 0 {
			left.rows[i][1] = value.Int(1000)
		}
	}
	src := newSource(left, right)
	l, r := scanOf(left.t), scanOf(right.t)
	n := len(dataCols)
	cond := fn("<", at(0, types.BigInt), at(n, types.BigInt)) // l.k < r.k
	for _, keys := range testflag.InShort([][]int{{2}, {3}, {4, 7}}, [][]int{{1}, {2}, {3}, {1, 2}, {5}, {4, 7}}) {
		for _, kind := range []physical.JoinKind{physical.JoinInner, physical.JoinLeft, physical.JoinSemi, physical.JoinAnti} {
			for _, filter := range [][]expr.Expr{nil, {cond}} {
				// Half of them have an order to keep.
				ordered := *scanOf(left.t)
				ordered.Ordered = (len(keys)+keys[0]+int(kind))%2 == 0
				l := &ordered
				want, base := naiveJoin(left, right, l, r, keys, kind, filter != nil)
				h := &physical.HashJoin{Base: base, Kind: kind, Left: l, Right: r, Filter: filter}
				for _, k := range keys {
					h.LeftKeys, h.RightKeys = append(h.LeftKeys, ref(l, k)), append(h.RightKeys, ref(r, k))
				}
				name := fmt.Sprintf("%s on %v filter %v", kind, keys, filter != nil)
				t.Run("hash "+name, func(t *testing.T) { check(t, src, &physical.Plan{Root: h}, want, true) })
				if kind != physical.JoinLeft {
					hb := *h
					hb.BuildLeft = true
					t.Run("build left "+name, func(t *testing.T) { check(t, src, &physical.Plan{Root: &hb}, want, false) })
				}
				// The same as a nested loop.
				nl := &physical.NestedLoop{Base: base, Kind: kind, Left: l, Right: r, Filter: slices.Clone(filter)}
				for _, k := range keys {
					nl.Filter = append(nl.Filter, fn("=", at(k, dataCols[k].t), at(n+k, dataCols[k].t)))
				}
				t.Run("loop "+name, func(t *testing.T) { check(t, src, &physical.Plan{Root: nl}, want, true) })
				// And as a lookup: the key columns come first in Read.
				lj := lookupOf(base, kind, l, right.t, keys, filter != nil)
				lwant := reorder(want, keys, kind, n)
				t.Run("lookup "+name, func(t *testing.T) { check(t, src, &physical.Plan{Root: lj}, lwant, true) })
			}
		}
	}
	h := &physical.HashJoin{Base: joinCols(l, r), Left: l, Right: r, LeftKeys: []expr.Expr{ref(l, 1)}, RightKeys: []expr.Expr{ref(r, 1)}}
	checkMemory(t, src, &physical.Plan{Root: h}, "hash join")
	nl := &physical.NestedLoop{Base: joinCols(l, r), Left: l, Right: r}
	checkMemory(t, src, &physical.Plan{Root: nl}, "nested loop")
	empty := &memTable{t: makeTable("emptytable", dataCols...)}
	src.tables[empty.t] = empty
	e := scanOf(empty.t)
	for _, kind := range []physical.JoinKind{physical.JoinInner, physical.JoinLeft, physical.JoinSemi, physical.JoinAnti} {
		want, base := naiveJoin(left, empty, l, e, []int{1}, kind, false)
		check(t, src, &physical.Plan{Root: &physical.HashJoin{Base: base, Kind: kind, Left: l, Right: e, LeftKeys: []expr.Expr{ref(l, 1)}, RightKeys: []expr.Expr{ref(e, 1)}}}, want, true)
		check(t, src, &physical.Plan{Root: &physical.NestedLoop{Base: base, Kind: kind, Left: l, Right: e}}, want, true)
		if kind == physical.JoinLeft {
			continue
		}
		h := &physical.HashJoin{Base: base, Kind: kind, Left: l, Right: e, LeftKeys: []expr.Expr{ref(l, 1)}, RightKeys: []expr.Expr{ref(e, 1)}, BuildLeft: true}
		check(t, src, &physical.Plan{Root: h}, want, false)
		checkMemory(t, src, &physical.Plan{Root: h}, "hash join")
		h = &physical.HashJoin{Base: joinCols(e, l), Kind: kind, Left: e, Right: l, LeftKeys: h.RightKeys, RightKeys: h.LeftKeys, BuildLeft: true}
		if kind != physical.JoinInner {
			h.Base = e.Base
		}
		check(t, src, &physical.Plan{Root: h}, nil, false)
	}
}

func naiveJoin(left, right *memTable, l, r *physical.Scan, keys []int, kind physical.JoinKind, less bool) ([]string, physical.Base) {
	base := joinCols(l, r)
	if kind == physical.JoinSemi || kind == physical.JoinAnti {
		base = l.Base
	}
	var want []string
	for _, a := range left.rows {
		found := false
		for _, b := range right.rows {
			ok := !less || a[0].Int() < b[0].Int()
			for _, k := range keys {
				ok = ok && equalNN(a[k], b[k], dataCols[k].t)
			}
			if !ok {
				continue
			}
			found = true
			if kind == physical.JoinInner || kind == physical.JoinLeft {
				want = append(want, rowText(base.Cols, append(slices.Clone(a), b...)))
			}
		}
		switch {
		case kind == physical.JoinLeft && !found:
			want = append(want, rowText(base.Cols, append(slices.Clone(a), make([]value.Datum, len(dataCols))...)))
		case kind == physical.JoinSemi && found, kind == physical.JoinAnti && !found:
			want = append(want, rowText(base.Cols, a))
		}
	}
	return want, base
}

func readOrder(keys []int) []int {
	read := slices.Clone(keys)
	for i := range dataCols {
		if !slices.Contains(keys, i) {
			read = append(read, i)
		}
	}
	return read
}

func lookupOf(base physical.Base, kind physical.JoinKind, l *physical.Scan, t *schema.Table, keys []int, less bool) *physical.LookupJoin {
	inner := &physical.Scan{TableRead: physical.TableRead{Table: t, Read: readOrder(keys), Lock: physical.Lock{None: true}}, Access: &physical.FullScan{}}
	kAt := 0
	for i, c := range inner.Read {
		inner.Cols = append(inner.Cols, physical.Column{T: dataCols[c].t, Null: true})
		if c == 0 {
			kAt = i
		}
	}
	j := &physical.LookupJoin{Kind: kind, Left: l, Inner: inner}
	for _, k := range keys {
		j.Keys = append(j.Keys, ref(l, k))
	}
	if less {
		j.Filter = []expr.Expr{fn("<", at(0, types.BigInt), at(len(dataCols)+kAt, types.BigInt))}
	}
	j.Base = base
	if kind == physical.JoinInner || kind == physical.JoinLeft {
		j.Base = joinCols(l, inner)
	}
	return j
}

// reorder moves the columns of the right side as Read of the lookup has them.
func reorder(rows []string, keys []int, kind physical.JoinKind, n int) []string {
	if kind == physical.JoinSemi || kind == physical.JoinAnti {
		return rows
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		f := strings.Split(r, "|")
		o := slices.Clone(f[:n])
		for _, c := range readOrder(keys) {
			o = append(o, f[n+c])
		}
		out[i] = strings.Join(o, "|")
	}
	return out
}

func compareRows(a, b []value.Datum, keys []physical.SortKey) int {
	for _, k := range keys {
		i := k.Expr.(*expr.Col).Index
		c := types.CompareNull(a[i], b[i], k.Expr.Type())
		if k.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// TestUniqueJoin: a build side without duplicates takes the path that leaves
// the probe columns in place.
func TestUniqueJoin(t *testing.T) {
	left, right := data("l", 3, 300, 60), data("right", 4, 40, 15)
	src := newSource(left, right)
	l, r := scanOf(left.t), scanOf(right.t)
	for _, kind := range []physical.JoinKind{physical.JoinInner, physical.JoinLeft, physical.JoinSemi, physical.JoinAnti} {
		base := l.Base
		if kind == physical.JoinInner || kind == physical.JoinLeft {
			base = joinCols(l, r)
		}
		var want []string
		for _, a := range left.rows {
			match := -1
			for i, b := range right.rows {
				if equalNN(a[1], b[0], types.BigInt) {
					match = i
				}
			}
			switch {
			case (kind == physical.JoinInner || kind == physical.JoinLeft) && match >= 0:
				want = append(want, rowText(base.Cols, append(slices.Clone(a), right.rows[match]...)))
			case kind == physical.JoinLeft:
				want = append(want, rowText(base.Cols, append(slices.Clone(a), make([]value.Datum, len(dataCols))...)))
			case (kind == physical.JoinSemi) == (match >= 0) && kind != physical.JoinInner:
				want = append(want, rowText(base.Cols, a))
			}
		}
		h := &physical.HashJoin{Base: base, Kind: kind, Left: l, Right: r, LeftKeys: []expr.Expr{ref(l, 1)}, RightKeys: []expr.Expr{ref(r, 0)}}
		check(t, src, &physical.Plan{Root: h}, want, true)
	}
}

// TestManyWords: small words take the table without hashing after a while.
func TestManyWords(t *testing.T) {
	tab := &memTable{t: makeTable("t", dataCols[:2]...)}
	rng := rand.New(rand.NewPCG(3, 3))
	counts := map[int64]int{}
	var order []int64
	for i := range 20000 {
		g := int64(rng.IntN(300)) - 20
		if i%5 == 0 {
			g += smallWords - 100
		}
		if counts[g] == 0 {
			order = append(order, g)
		}
		counts[g]++
		tab.rows = append(tab.rows, []value.Datum{value.Int(int64(i)), value.Int(g)})
	}
	src := newSource(tab)
	src.size = 1000
	scan := scanOf(tab.t)
	aggs := []*expr.Agg{agg("count", false)}
	base, group := aggBase(scan, []int{1}, aggs)
	h := &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs}
	var want []string
	for _, g := range order {
		want = append(want, fmt.Sprintf("%d|%d", g, counts[g]))
	}
	got, err := collect(t.Context(), testEnv(src), &physical.Plan{Root: h})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v: %d groups, want %d", err, len(got), len(want))
	}
	j := &physical.HashJoin{Base: scan.Base, Kind: physical.JoinSemi, Left: scan, Right: h, LeftKeys: []expr.Expr{ref(scan, 1)}, RightKeys: []expr.Expr{ref(h, 0)}}
	got, err = collect(t.Context(), testEnv(src), &physical.Plan{Root: j})
	if err != nil || len(got) != len(tab.rows) {
		t.Fatalf("%v: %d rows, want %d", err, len(got), len(tab.rows))
	}
}

func TestSortAndTopK(t *testing.T) {
	tab := data("t", 5, 250, 30)
	src := newSource(tab)
	scan := scanOf(tab.t)
	rng := rand.New(rand.NewPCG(9, 9))
	for trial := range 14 {
		var keys []physical.SortKey
		for range 1 + rng.IntN(3) {
			keys = append(keys, physical.SortKey{Expr: ref(scan, 1+rng.IntN(len(dataCols)-1)), Desc: rng.IntN(2) == 0})
		}
		if trial < len(dataCols) {
			keys = keys[:1]
			keys[0].Expr = ref(scan, trial)
		}
		rows := slices.Clone(tab.rows)
		slices.SortStableFunc(rows, func(a, b []value.Datum) int { return compareRows(a, b, keys) })
		want := texts(scan.Cols, rows)
		check(t, src, &physical.Plan{Root: &physical.Sort{Base: scan.Base, Input: scan, Keys: keys}}, want, true)
		count, offset := rng.IntN(50), rng.IntN(30)
		top := &physical.TopK{Base: scan.Base, Input: scan, Keys: keys, Count: num(int64(count)), Offset: num(int64(offset))}
		check(t, src, &physical.Plan{Root: top}, want[offset:offset+count], true)
		top = &physical.TopK{Base: scan.Base, Input: scan, Keys: keys, Count: num(100000), Offset: num(3)}
		check(t, src, &physical.Plan{Root: top}, want[3:], true)
	}
	sort := &physical.Sort{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: ref(scan, 2)}}}
	checkMemory(t, src, &physical.Plan{Root: sort}, "sort")
}

// TestSortRun compares the order of a long run with that of its keys and rows.
func TestSortRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	enc := &sortEncoder{}
	for _, n := range []int{0, 1, radixRows - 1, radixRows, 3000} {
		for _, differ := range []int{0, 3, 20, 64} {
			run := &sortRun{}
			for row := range uint32(n) {
				key := binary.BigEndian.AppendUint64(nil, 0x0102030405060708^rng.Uint64()>>(64-differ)<<(rng.IntN(2)*(64-differ)/2))
				if rng.IntN(2) == 0 {
					key = append(key, make([]byte, rng.IntN(3))...)
				} else if rng.IntN(4) == 0 {
					key = key[:rng.IntN(8)]
				}
				run.entries = append(run.entries, sortEntry{prefix: enc.prefix(key), off: uint32(len(run.arena)), row: row})
				run.arena = append(binary.LittleEndian.AppendUint32(run.arena, uint32(len(key))), key...)
			}
			want := slices.Clone(run.entries)
			slices.SortStableFunc(want, func(a, b sortEntry) int { return bytes.Compare(run.key(a), run.key(b)) })
			if run.sort(enc); !slices.Equal(run.entries, want) {
				t.Fatalf("%d rows whose keys differ in %d bits are not in order", n, differ)
			}
		}
	}
}

func TestSortRuns(t *testing.T) {
	tab := &memTable{t: makeTable("t", dataCols[:2]...)}
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 3*runRows + 17 {
		tab.rows = append(tab.rows, []value.Datum{value.Int(int64(i)), value.Int(int64(rng.IntN(1000) + 100*(i/runRows)))}) // the last run comes first
	}
	src := newSource(tab)
	src.size = 1000
	scan := scanOf(tab.t)
	keys := []physical.SortKey{{Expr: ref(scan, 1), Desc: true}}
	got, err := collect(t.Context(), testEnv(src), &physical.Plan{Root: &physical.Sort{Base: scan.Base, Input: scan, Keys: keys}})
	if err != nil {
		t.Fatal(err)
	}
	rows := slices.Clone(tab.rows)
	slices.SortStableFunc(rows, func(a, b []value.Datum) int { return compareRows(a, b, keys) })
	if !slices.Equal(got, texts(scan.Cols, rows)) {
		t.Fatal("merged runs are not in order")
	}
}

// TestRunHeap: the heap of many runs gives their rows in order, equal ones by their
// numbers.
func TestRunHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for n := range 40 {
		s := &sorter{run: &sortRun{}}
		s.enc.addPart(&Env{}, at(0, types.BigInt), false)
		v := newOut([]value.Kind{value.KindInt})
		var want []int64
		row := uint32(0)
		for range n {
			rows := 1 + rng.IntN(9)
			v.Cols[0].Init(value.KindInt, rows)
			for i := range rows {
				v.Cols[0].I64[i] = int64(rng.IntN(20))
				want = append(want, v.Cols[0].I64[i]<<32+int64(row))
				s.addKey(row, v.Cols, i)
				row++
			}
			s.endRun()
		}
		slices.Sort(want)
		s.startMerge()
		s.pop(len(want)+1, nil)
		for i, r := range s.rows {
			if r != uint32(want[i]) {
				t.Fatalf("%d runs: row %d comes at %d, want %d", n, r, i, uint32(want[i]))
			}
		}
		if len(s.rows) != len(want) {
			t.Fatalf("%d runs: %d rows, want %d", n, len(s.rows), len(want))
		}
	}
}

// TestSortKeys holds the encoded order of decimals, floats and bytes against
// Compare.
func TestSortKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var decs, floats, blobs []value.Datum
	for range 120 {
		d, _ := value.ParseDecimal(fmt.Sprintf("%d.%0*d", rng.IntN(2000)-1000, 1+rng.IntN(5), rng.IntN(10)))
		decs = append(decs, value.Dec(d))
		floats = append(floats, value.Float((rng.Float64()-0.5)*float64(int64(1)<<rng.IntN(60))))
		b := make([]byte, rng.IntN(4))
		for i := range b {
			b[i] = []byte{0, 1, 255, 'a'}[rng.IntN(4)]
		}
		blobs = append(blobs, value.Bytes(b))
	}
	floats = append(floats, value.Float(0), value.Float(-1), value.Float(1))
	for _, c := range []struct {
		t    schema.Type
		vals []value.Datum
	}{{types.DecimalOf(20, 5), decs}, {types.Double, floats}, {types.VarbinaryOf(9), blobs}} {
		for _, desc := range []bool{false, true} {
			var e sortEncoder
			e.addPart(&Env{}, at(0, c.t), desc)
			key := func(d value.Datum) []byte {
				v := newOut(exprKinds([]expr.Expr{at(0, c.t)})).Cols[0]
				v.Init(v.Kind, 1)
				v.SetDatum(0, d)
				return e.append(nil, append(newOut(nil).Cols, v), 0)
			}
			for _, a := range c.vals {
				for _, b := range c.vals {
					want := types.Compare(a, b, c.t)
					if desc {
						want = -want
					}
					if got := e.compare(key(a), key(b)); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
						t.Fatalf("%s %s desc=%v: %d, want %d", rowText([]physical.Column{{T: c.t}}, []value.Datum{a}), rowText([]physical.Column{{T: c.t}}, []value.Datum{b}), desc, got, want)
					}
				}
			}
		}
	}
}

func TestDistinctAndSetOperations(t *testing.T) {
	l, r := data("l", 7, 300, 6), data("right", 8, 200, 6)
	src := newSource(l, r)
	for _, cols := range [][]int{{1}, {2}, {1, 2}, {3, 7}} {
		side := func(tab *memTable) (physical.Node, []string) {
			scan := scanOf(tab.t)
			p := &physical.Project{Input: scan}
			for _, c := range cols {
				p.Exprs = append(p.Exprs, ref(scan, c))
				p.Cols = append(p.Cols, scan.Cols[c])
			}
			var keys []string
			for _, row := range tab.rows {
				k := ""
				for _, c := range cols {
					k += string(types.HashKey(nil, row[c], dataCols[c].t))
				}
				keys = append(keys, k)
			}
			return p, keys
		}
		a, ka := side(l)
		b, kb := side(r)
		text := func(tab *memTable, i int) string {
			var row []value.Datum
			for _, c := range cols {
				row = append(row, tab.rows[i][c])
			}
			return rowText(a.Columns(), row)
		}
		var want []string
		seen := map[string]bool{}
		for i, k := range ka {
			if !seen[k] {
				seen[k] = true
				want = append(want, text(l, i))
			}
		}
		base := physical.Base{Cols: a.Columns()}
		for _, ordered := range []bool{false, true} {
			a.(*physical.Project).Input.(*physical.Scan).Ordered = ordered
			check(t, src, &physical.Plan{Root: &physical.Distinct{Base: base, Input: a}}, want, true)
		}
		keys := []physical.SortKey{}
		for i := range cols {
			keys = append(keys, physical.SortKey{Expr: ref(a, i)})
		}
		sorted := &physical.Sort{Base: base, Input: a, Keys: keys}
		check(t, src, &physical.Plan{Root: &physical.Distinct{Base: base, Input: sorted, Sorted: true}}, want, false)

		counts := map[string]int{}
		for _, k := range kb {
			counts[k]++
		}
		for _, op := range []physical.SetOp{physical.SetUnion, physical.SetIntersect, physical.SetExcept} {
			for _, all := range []bool{false, true} {
				want := naiveSetOp(op, all, ka, kb, counts, func(right bool, i int) string {
					if right {
						return text(r, i)
					}
					return text(l, i)
				})
				s := &physical.SetOperation{Base: base, Op: op, All: all, Left: a, Right: b}
				check(t, src, &physical.Plan{Root: s}, want, true)
			}
		}
	}
}

// TestDistinctWithoutColumns: all rows are the same.
func TestDistinctWithoutColumns(t *testing.T) {
	for rows, want := range map[int][]string{0: nil, 1: {""}, 700: {""}} {
		tab := data("t", 7, rows, 6)
		none := &physical.Project{Input: scanOf(tab.t)}
		check(t, newSource(tab), &physical.Plan{Root: &physical.Distinct{Input: none}}, want, true)
	}
}

func naiveSetOp(op physical.SetOp, all bool, ka, kb []string, counts map[string]int, text func(right bool, i int) string) []string {
	left := map[string]int{}
	for k, n := range counts {
		left[k] = n
	}
	var want []string
	seen := map[string]bool{}
	add := func(k, s string) {
		if all || !seen[k] {
			want = append(want, s)
		}
		seen[k] = true
	}
	for i, k := range ka {
		switch op {
		case physical.SetUnion:
			add(k, text(false, i))
		case physical.SetIntersect:
			if left[k] > 0 {
				if all {
					left[k]--
				}
				add(k, text(false, i))
			}
		case physical.SetExcept:
			if left[k] == 0 {
				add(k, text(false, i))
			} else if all {
				left[k]--
			}
		}
	}
	if op == physical.SetUnion {
		for i, k := range kb {
			add(k, text(true, i))
		}
	}
	return want
}

// TestCancelInside cancels after the leaves have delivered everything: the
// operators themselves have to notice.
func TestCancelInside(t *testing.T) {
	l, r := data("l", 3, 300, 5), data("right", 4, 300, 5)
	left, right := scanOf(l.t), scanOf(r.t)
	never := fn("<", at(0, types.BigInt), num(-1))
	sortKeys := []physical.SortKey{{Expr: ref(left, 1)}}
	aggs := []*expr.Agg{agg("count", false)}
	base, group := aggBase(left, []int{0}, aggs)
	for _, n := range []physical.Node{
		&physical.NestedLoop{Base: joinCols(left, right), Left: left, Right: right, Filter: []expr.Expr{never}},
		&physical.HashJoin{Base: joinCols(left, right), Left: left, Right: right, LeftKeys: []expr.Expr{ref(left, 1)}, RightKeys: []expr.Expr{ref(right, 1)}},
		&physical.Sort{Base: left.Base, Input: left, Keys: sortKeys},
		&physical.TopK{Base: left.Base, Input: left, Keys: sortKeys, Count: num(100)},
		&physical.HashAggregate{Base: base, Input: left, GroupBy: group, Aggs: aggs},
	} {
		src := newSource(l, r)
		src.size = 300
		ctx, cancel := context.WithCancelCause(context.Background())
		src.hook = func(n *physical.Scan) {
			if n == left {
				cancel(sqlerr.QueryTimeout())
			}
		}
		if _, err := collect(ctx, testEnv(src), &physical.Plan{Root: n}); !isNumber(err, 3024) {
			t.Fatalf("%T: %v", n, err)
		}
	}
}

// TestWorkerPanic: a panic in a worker is an error of the query.
func TestWorkerPanic(t *testing.T) {
	tab := data("t", 22, 300, 40)
	src := newSource(tab)
	src.parts = 2
	scan := scanOf(tab.t)
	aggs := []*expr.Agg{agg("count", false)}
	base, _ := aggBase(scan, nil, aggs)
	src.hook = func(*physical.Scan) { panic("boom") }
	env := testEnv(src)
	env.Parallelism = 2
	_, err := collect(t.Context(), env, &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, Aggs: aggs, Parallel: 2}})
	if !isNumber(err, 1105) {
		t.Fatal(err)
	}
}

func TestExchange(t *testing.T) {
	tab := data("t", 11, 2000, 10)
	src := newSource(tab)
	src.parts = 3
	scan := scanOf(tab.t)
	filter := &physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{fn(">", ref(scan, 1), num(1))}}
	filter.Estimate.Cost = 1e9
	var want []string
	var rows [][]value.Datum
	for _, r := range tab.rows {
		if !r[1].IsNull() && r[1].Int() > 1 {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b []value.Datum) int { return types.Compare(b[0], a[0], types.BigInt) })
	want = texts(scan.Cols, rows)
	sort := &physical.Sort{Base: scan.Base, Input: filter, Keys: []physical.SortKey{{Expr: ref(scan, 0), Desc: true}}}
	check(t, src, &physical.Plan{Root: sort}, want, true)
	top := &physical.TopK{Base: scan.Base, Input: filter, Keys: sort.Keys, Count: num(10)}
	check(t, src, &physical.Plan{Root: top}, want[:10], true)
}

// batches is an operator over batches that there are.
type batches []*vec.Batch

func (b *batches) Next(context.Context) (*vec.Batch, error) {
	if len(*b) == 0 {
		return nil, nil
	}
	next := (*b)[0]
	*b = (*b)[1:]
	return next, nil
}

func (b *batches) Close() error { return nil }

// TestSlices: the steps of a batch grow while their values are small.
func TestSlices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	cols := outCols(types.BigInt).Cols
	in, n := &batches{}, 0
	for _, size := range []int{300, 500, 200} {
		var rows [][]value.Datum
		for range size {
			rows = append(rows, []value.Datum{value.Int(int64(n))})
			n++
		}
		*in = append(*in, batchOf(cols, rows, []int{0}, true, rng))
	}
	ec := &expr.Ctx{}
	s := &sliceOp{ec: ec, in: in}
	most, at := ec.StepRows(), 0
	for {
		b, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		left := n - at
		for _, end := range []int{300, 800} {
			if at < end {
				left = end - at
				break
			}
		}
		if want := min(most, left); b.Live() != want {
			t.Fatalf("a step of %d rows from row %d on, want %d", b.Live(), at, want)
		}
		for r := range b.Live() {
			if b.Cols[0].I64[b.Row(r)] != int64(at) {
				t.Fatalf("row %d of a step is %d, want %d", r, b.Cols[0].I64[b.Row(r)], at)
			}
			at++
		}
		most = min(2*most, vec.MaxRows)
	}
	if at != n {
		t.Fatalf("%d rows, want %d", at, n)
	}
}
