package expr

import (
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func partitionDefs() []entry {
	return []entry{
		special("partition_of", unboundUnit, def{b: Builtin{Row: rowPartitionOf}}),
		special("partition_in", unboundUnit, def{b: Builtin{impl: impl{lazy: lazyPartitionIn}}}),
		special("computed", unboundUnit, def{b: Builtin{Row: rowComputed}}),
	}
}

// Partitioner finds the partitions of values. It is immutable; package define makes
// it of a descriptor.
type Partitioner struct {
	Kind   schema.PartitionKind
	Linear bool
	// Value is the expression of RANGE, LIST and HASH over the columns of the table;
	// nil where the values of the columns are taken.
	Value Expr
	// Reads are the positions of the columns that are read, in the order in which
	// values of them are given; Types are their types.
	Reads []int
	Types []schema.Type
	// Numbers are those of the partitions, in their order.
	Numbers []int64
	// Bounds are those of RANGE, each with a value for each column or one for Value; a
	// shorter one ends with MAXVALUE.
	Bounds [][]value.Datum
	// List are the values of LIST, sorted.
	List []PartitionEntry
}

// PartitionEntry is one value of LIST and the position of its partition.
type PartitionEntry struct {
	Values []value.Datum
	At     int
}

// keyTypes are the types of what partitions are found by.
func (p *Partitioner) keyTypes() []schema.Type {
	if p.Value != nil {
		return []schema.Type{p.Value.Type()}
	}
	return p.Types
}

// compare orders two lists of values, as far as both go.
func comparePartition(a, b []value.Datum, ts []schema.Type) int {
	for i := range min(len(a), len(b)) {
		if c := types.CompareNull(a[i], b[i], ts[i]); c != 0 {
			return c
		}
	}
	return 0
}

// SortList brings List into its order.
func (p *Partitioner) SortList() {
	ts := p.keyTypes()
	slices.SortStableFunc(p.List, func(a, b PartitionEntry) int { return comparePartition(a.Values, b.Values, ts) })
}

// HasSame reports whether LIST has a value twice.
func (p *Partitioner) HasSame() bool {
	ts := p.keyTypes()
	for i := 1; i < len(p.List); i++ {
		if comparePartition(p.List[i-1].Values, p.List[i].Values, ts) == 0 {
			return true
		}
	}
	return false
}

// Ascends reports whether each bound of RANGE is greater than the one before it.
func (p *Partitioner) Ascends() bool {
	ts := p.keyTypes()
	for i := 1; i < len(p.Bounds); i++ {
		a, b := p.Bounds[i-1], p.Bounds[i]
		c := comparePartition(a, b, ts)
		if c > 0 || c == 0 && len(a) <= len(b) { // a shorter one has MAXVALUE
			return false
		}
	}
	return true
}

// SameBounds reports whether the first two partitions of RANGE have the same bound.
func (p *Partitioner) SameBounds() bool {
	a, b := p.Bounds[0], p.Bounds[1]
	return len(a) == len(b) && comparePartition(a, b, p.keyTypes()) == 0
}

// At is the position of the partition of values, of Value or of the columns; -1 for
// none.
func (p *Partitioner) At(vals []value.Datum) int {
	ts := p.keyTypes()
	switch p.Kind {
	case schema.PartitionRange:
		if p.Value != nil && vals[0].IsNull() {
			return 0
		}
		i := sort.Search(len(p.Bounds), func(i int) bool {
			c := comparePartition(vals, p.Bounds[i], ts)
			return c < 0 || c == 0 && len(p.Bounds[i]) < len(vals)
		})
		if i == len(p.Bounds) {
			return -1
		}
		return i
	case schema.PartitionList:
		i := sort.Search(len(p.List), func(i int) bool { return comparePartition(p.List[i].Values, vals, ts) >= 0 })
		if i == len(p.List) || comparePartition(p.List[i].Values, vals, ts) != 0 {
			return -1
		}
		return p.List[i].At
	}
	return p.hashed(vals, ts)
}

// hashed is At of HASH and KEY.
// (https://dev.mysql.com/doc/refman/8.4/en/partitioning-linear-hash.html)
func (p *Partitioner) hashed(vals []value.Datum, ts []schema.Type) int {
	n := uint64(len(p.Numbers))
	h := uint64(1 << 63) // NULL is the least integer
	if p.Kind == schema.PartitionKey {
		h = partitionHash(vals, ts)
	} else if !vals[0].IsNull() {
		h = vals[0].Bits()
	}
	if p.Linear {
		mask := uint64(1)<<bits.Len64(n-1) - 1
		if at := h & mask; at < n {
			return int(at)
		}
		return int(h & (mask >> 1))
	}
	if p.Kind == schema.PartitionHash {
		if at := int64(h) % int64(n); at < 0 {
			return int(-at)
		}
		return int(int64(h) % int64(n))
	}
	return int(h % n)
}

// partitionScale is the greatest scale of a decimal column.
const partitionScale = 30

// partitionHash is the FNV-1a hash of values. It never changes: rows are stored by it.
func partitionHash(vals []value.Datum, ts []schema.Type) uint64 {
	f := fnv.New64a()
	var buf []byte
	for i, d := range vals {
		buf = buf[:0]
		switch d.Kind() {
		case value.KindNull:
			buf = append(buf, 0)
		case value.KindBytes:
			if c := ts[i].Collation; c == schema.CollationBinary || c == schema.CollationNone {
				buf = append(buf, d.Bytes()...)
			} else {
				buf = collate.Must(c).AppendKey(buf, d.Bytes())
			}
			buf = append(buf, 0, 1)
		case value.KindDecimal:
			buf = append(append(buf, strings.TrimRight(d.Decimal().Rescale(partitionScale).String(), "0")...), 0)
		default:
			n := d.Bits()
			if d.Kind() == value.KindFloat && d.Float() == 0 {
				n = 0 // -0 is 0
			}
			for range 8 {
				buf = append(buf, byte(n))
				n >>= 8
			}
		}
		f.Write(buf)
	}
	return f.Sum64()
}

// Mark marks the partitions that have values between two bounds, which are values of
// the first columns of Reads; an open one is not among them. Empty bounds are none.
func (p *Partitioner) Mark(c *Ctx, low, high []value.Datum, lowOpen, highOpen bool, mark []bool) error {
	if p.repeatsHours(c) {
		low, high = p.widened(low, high)
		lowOpen, highOpen = false, false
	}
	n := len(p.Reads)
	point := len(low) == n && len(high) == n && !lowOpen && !highOpen && comparePartition(low, high, p.Types) == 0
	if point {
		vals, err := p.Values(c, low)
		if err != nil {
			return err
		}
		if at := p.At(vals); at >= 0 {
			mark[at] = true
		}
		return nil
	}
	from, to := 0, len(p.Numbers)-1
	switch {
	case p.Kind == schema.PartitionRange && p.Value == nil:
		from, to = p.first(low, lowOpen), p.last(high, highOpen)
	case p.Kind == schema.PartitionRange && n == 1 && ascending(p.Value):
		var err error
		if len(low) == 1 && !low[0].IsNull() {
			vals, err := p.Values(c, low)
			if err != nil {
				return err
			}
			if !vals[0].IsNull() {
				from = p.first(vals, false)
				// Dates with parts that are zero have no value and are in the first one.
				mark[0] = mark[0] || mayBeNull(p.Value)
			}
		}
		if len(high) == 1 {
			if to, err = p.lastOf(c, high[0], highOpen); err != nil {
				return err
			}
		}
	case p.Kind == schema.PartitionList && p.Value == nil:
		for i := range p.List {
			e := &p.List[i]
			if cl := comparePartition(low, e.Values, p.Types); cl > 0 || cl == 0 && lowOpen && len(low) == n {
				continue
			}
			if ch := comparePartition(high, e.Values, p.Types); ch < 0 || ch == 0 && highOpen && len(high) == n {
				continue
			}
			mark[e.At] = true
		}
		return nil
	default:
		if done, err := p.markFew(c, low, high, lowOpen, highOpen, mark); done || err != nil {
			return err
		}
	}
	for i := max(from, 0); i <= min(to, len(mark)-1); i++ {
		mark[i] = true
	}
	return nil
}

// repeatsHours reports whether local times may stand for two instants, of which only
// one gives the partition of a row.
func (p *Partitioner) repeatsHours(c *Ctx) bool {
	return p.Value != nil && len(p.Types) == 1 && p.Types[0].ID == schema.TypeTimestamp && types.HasTwoOrders(p.Types[0], c.Loc)
}

// widened are bounds an hour farther out.
func (p *Partitioner) widened(low, high []value.Datum) (wideLow, wideHigh []value.Datum) {
	move := func(vals []value.Datum, by int64) []value.Datum {
		if len(vals) == 0 || vals[0].IsNull() {
			return vals
		}
		if t, ok := vals[0].Time().AddMicros(by); ok {
			return []value.Datum{value.TimeOf(t)}
		}
		return vals
	}
	const hour = 3600e6
	return move(low, -hour), move(high, hour)
}

// fewIntegers is how many integers between two bounds are looked at one by one.
const fewIntegers = 64

// markFew is Mark of a short range of integers.
func (p *Partitioner) markFew(c *Ctx, low, high []value.Datum, lowOpen, highOpen bool, mark []bool) (done bool, err error) {
	if len(p.Reads) != 1 || len(low) != 1 || len(high) != 1 || !p.Types[0].IsInteger() || low[0].IsNull() {
		return false, nil
	}
	a, b := low[0].Bits(), high[0].Bits()
	if b-a > fewIntegers || types.Compare(low[0], high[0], p.Types[0]) > 0 {
		return false, nil
	}
	for n := a; ; n++ {
		d := value.Int(int64(n))
		if p.Types[0].Unsigned {
			d = value.Uint(n)
		}
		if !(n == a && lowOpen || n == b && highOpen) {
			vals, err := p.Values(c, []value.Datum{d})
			if err != nil {
				return true, err
			}
			if at := p.At(vals); at >= 0 {
				mark[at] = true
			}
		}
		if n == b {
			return true, nil
		}
	}
}

// Values are what partitions are found by, for values of the columns.
func (p *Partitioner) Values(c *Ctx, vals []value.Datum) ([]value.Datum, error) {
	if p.Value == nil {
		return vals, nil
	}
	row := make([]value.Datum, slices.Max(p.Reads)+1)
	for i, pos := range p.Reads {
		row[pos] = vals[i]
	}
	d, err := EvalRow(c, p.Value, row)
	return []value.Datum{d}, err
}

// first is the first partition that may have values from low on.
func (p *Partitioner) first(low []value.Datum, open bool) int {
	ts := p.keyTypes()
	return sort.Search(len(p.Bounds), func(i int) bool {
		b := p.Bounds[i]
		switch c := comparePartition(low, b, ts); {
		case c != 0:
			return c < 0
		case len(b) <= len(low): // MAXVALUE follows, or nothing
			return len(b) < len(ts)
		}
		// Later columns of the bound leave room below it, unless low excludes them.
		return !open
	})
}

// last is the last partition that may have values up to high.
func (p *Partitioner) last(high []value.Datum, open bool) int {
	ts := p.keyTypes()
	if len(high) == 0 {
		return len(p.Bounds) - 1
	}
	i := sort.Search(len(p.Bounds), func(i int) bool {
		b := p.Bounds[i]
		c := comparePartition(high, b, ts)
		return c < 0 || c == 0 && (open || len(b) < len(high) || len(b) == len(high) && len(b) < len(ts))
	})
	return min(i, len(p.Bounds)-1)
}

// lastOf is last for a value of the column that an ascending expression reads.
func (p *Partitioner) lastOf(c *Ctx, high value.Datum, open bool) (int, error) {
	if high.IsNull() {
		return 0, nil
	}
	vals, err := p.Values(c, []value.Datum{high})
	if err != nil || vals[0].IsNull() {
		return len(p.Bounds) - 1, err
	}
	if open && isStartOfUnit(p.Value, high) {
		return p.last(vals, true), nil
	}
	return p.last(vals, false), nil
}

// ascending reports expressions of one column whose value does not fall when that of
// the column rises.
func ascending(e Expr) bool {
	switch x := e.(type) {
	case *Col:
		return true
	case *Func:
		switch x.Op {
		case OpToDays, OpToSeconds, OpYear, OpUnixTimestamp:
			arg := x.Args[0]
			if f, ok := arg.(*Func); ok && (f.Op == OpFullDate || f.Op == OpFullDateTime || f.Op == OpFullYear) {
				arg = f.Args[0]
			}
			_, ok := arg.(*Col)
			return ok && arg.Type().HasDate()
		}
	}
	return false
}

// mayBeNull reports expressions that are NULL for some dates.
func mayBeNull(e Expr) bool {
	f, ok := e.(*Func)
	return ok && f.Op != OpYear && f.Op != OpUnixTimestamp
}

// isStartOfUnit reports whether an ascending expression has a lower value for all that
// is less than d: it starts a day or a second.
func isStartOfUnit(e Expr, d value.Datum) bool {
	f, ok := e.(*Func)
	if !ok {
		return true
	}
	switch t := d.Time(); f.Op {
	case OpToDays:
		return t == t.Date()
	case OpYear:
		return false // dates without a month come before the first of January
	default:
		return t.Micro() == 0
	}
}

// Args are what NewPartitionOf takes: Value, or the columns.
func (p *Partitioner) Args() []Expr {
	if p.Value != nil {
		return []Expr{p.Value}
	}
	out := make([]Expr, len(p.Reads))
	for i, pos := range p.Reads {
		out[i] = &Col{ID: ColID(-1 - pos), Index: pos, T: p.Types[i], Null: true}
	}
	return out
}

// NewPartitionOf is the number of the partition of a row: of values of Value, or of
// the columns. It is error 1526 if no partition takes it.
func NewPartitionOf(p *Partitioner, args []Expr) Expr {
	return mustLookup("partition_of").call("partition_of", args, types.BigInt, true, p)
}

// AsPartitionOf takes what NewPartitionOf made apart.
func AsPartitionOf(e Expr) (p *Partitioner, ok bool) {
	f, isFunc := e.(*Func)
	if !isFunc || f.Op != OpPartitionOf {
		return nil, false
	}
	return f.partitioner(), true
}

func rowPartitionOf(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	p := f.partitioner()
	at := p.At(a)
	if at >= 0 {
		return value.Int(p.Numbers[at]), nil
	}
	text := "from column_list"
	if p.Value != nil {
		text = "NULL"
		if !a[0].IsNull() {
			text = string(types.AppendText(nil, p.Value.Type(), a[0]))
		}
	}
	return value.Null, sqlerr.NoPartitionForValue(text)
}

// NewPartitionIn is a condition on the partition column: it has one of the numbers of
// the partitions that may have rows for which conds are true. Conds stay conditions of
// their own: only ranges of keys are made of it, and on a row it is true.
func NewPartitionIn(p *Partitioner, column Expr, conds []Expr) Expr {
	args := append([]Expr{column}, conds...)
	return mustLookup("partition_in").call("partition_in", args, types.BigInt, false, p)
}

// AsPartitionIn takes what NewPartitionIn made apart.
func AsPartitionIn(e Expr) (p *Partitioner, column Expr, conds []Expr, ok bool) {
	f, isFunc := e.(*Func)
	if !isFunc || f.Op != OpPartitionIn {
		return nil, nil, nil, false
	}
	return f.partitioner(), f.Args[0], f.Args[1:], true
}

func lazyPartitionIn(*Ctx, *Func, []value.Datum) (value.Datum, error) { return value.Int(1), nil }

// NewComputed is a value that fn computes of the values of args. It is constant where
// these are.
func NewComputed(name string, args []Expr, t schema.Type, fn func(c *Ctx, args []value.Datum) (value.Datum, error)) Expr {
	return mustLookup("computed").call("computed", args, t, true, &computed{name, fn})
}

type computed struct {
	name string
	fn   func(c *Ctx, args []value.Datum) (value.Datum, error)
}

func rowComputed(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return f.computed().fn(c, a)
}

// NoPartition is the number of no partition.
const NoPartition = math.MaxInt64
