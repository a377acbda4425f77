package ranges

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// bound is one end of an interval of column values. NULL is the least value.
type bound struct {
	d    value.Datum
	inf  bool
	open bool
}

// interval is a set of values of one column. prefix: all strings that start
// with lo.d.
type interval struct {
	lo, hi bound
	prefix bool
}

var (
	full    = interval{lo: bound{inf: true}, hi: bound{inf: true}}
	notNull = interval{lo: bound{d: value.Null, open: true}, hi: bound{inf: true}}
)

func (iv interval) isPoint() bool {
	return !iv.prefix && !iv.lo.inf && !iv.hi.inf && !iv.lo.open && !iv.hi.open
}

// Spans evaluates the set: its disjoint spans in ascending key order, none
// when no row can match.
func (s *Set) Spans(c *expr.Ctx) ([]Span, error) { return s.SpansIn(c, nil) }

// Room is memory for a span, which may be used again.
type Room struct {
	vals []value.Datum
	span [1]Span
}

// SpansIn is Spans with a result that may be in room.
func (s *Set) SpansIn(c *expr.Ctx, room *Room) ([]Span, error) {
	if s.SinglePoint {
		return s.singleSpan(c)
	}
	e := evaluator{set: s, ctx: c}
	if s.chain != nil {
		if room == nil {
			room = new(Room)
		}
		return e.chain(s.chain, room)
	}
	if t, ok := s.conj[0].(*tuples); ok {
		spans, err := e.tuples(t)
		return e.normalise(spans), err
	}
	spans, err := e.conjunction(s.conj)
	if err != nil {
		return nil, err
	}
	return e.normalise(spans), nil
}

// singleSpan is the fast path of a point read.
func (s *Set) singleSpan(c *expr.Ctx) ([]Span, error) {
	key := make([]value.Datum, len(s.Keys))
	for i, k := range s.Keys {
		d, err := expr.EvalConst(c, k)
		if err != nil {
			return nil, err
		}
		if d.IsNull() {
			return nil, nil
		}
		d, cmp, err := toColumn(c, d, k.Type(), s.Columns[i].Type)
		if err != nil {
			return nil, err
		}
		if cmp != 0 {
			return nil, nil // no value of the column's type equals it
		}
		key[i] = d
	}
	return []Span{{Low: key, High: key}}, nil
}

// chain is the fast path of Set.chain: one span, without lists of intervals.
func (e *evaluator) chain(atoms []*atom, room *Room) ([]Span, error) {
	n := len(atoms)
	if len(room.vals) < 2*n {
		room.vals = make([]value.Datum, 2*n)
	}
	out := Span{Low: room.vals[:0:n], High: room.vals[n:n]}
	for _, a := range atoms {
		arg := a.args[0]
		d, err := expr.EvalConst(e.ctx, arg)
		if err != nil || d.IsNull() {
			return nil, err
		}
		iv, some, err := e.against(a.col, a.op, d, arg.Type())
		if err != nil || !some {
			return nil, err
		}
		out = extend(out, iv)
	}
	room.span[0] = out
	return room.span[:], nil
}

type evaluator struct {
	set *Set
	ctx *expr.Ctx
}

// conjunction makes the spans of an AND: ORs over several columns are
// multiplied out, the others become intervals of their column.
func (e *evaluator) conjunction(nodes []node) ([]Span, error) {
	for i, n := range nodes {
		o, ok := n.(or)
		if !ok || singleColumn(o) {
			continue
		}
		var out []Span
		for _, branch := range o {
			rest := make([]node, 0, len(nodes)+1)
			rest = append(append(rest, nodes[:i]...), nodes[i+1:]...)
			spans, err := e.conjunction(append(rest, branch))
			if err != nil {
				return nil, err
			}
			out = append(out, spans...)
		}
		return out, nil
	}
	for i, n := range nodes {
		if a, ok := n.(and); ok && !singleColumn(a) {
			rest := make([]node, 0, len(nodes)+len(a))
			rest = append(append(append(rest, nodes[:i]...), nodes[i+1:]...), a...)
			return e.conjunction(rest)
		}
	}
	columns := make([][]interval, len(e.set.Columns))
	for _, n := range nodes {
		col, ok := onlyColumn(n)
		if !ok {
			continue
		}
		ivs, err := e.intervals(n, col)
		if err != nil {
			return nil, err
		}
		if columns[col] == nil {
			columns[col] = ivs
		} else {
			columns[col] = e.intersect(columns[col], ivs, col)
		}
		if len(columns[col]) == 0 {
			return nil, nil
		}
	}
	return e.cross(columns), nil
}

func onlyColumn(n node) (int, bool) {
	m := n.columns()
	return bits.TrailingZeros32(uint32(m)), m.single()
}

// cross multiplies the intervals of the leading columns into spans of the key.
func (e *evaluator) cross(columns [][]interval) []Span {
	spans := []Span{{Low: make([]value.Datum, 0, len(columns)), High: make([]value.Datum, 0, len(columns))}}
	for i, ivs := range columns {
		if ivs == nil || len(spans)*len(ivs) > MaxSpans {
			break
		}
		ivs = e.prefixPart(ivs, i)
		if e.set.Columns[i].Desc {
			ivs = reversed(ivs)
		}
		if len(spans) == 1 && len(ivs) == 1 {
			spans[0] = extend(spans[0], ivs[0])
			if !ivs[0].isPoint() {
				break
			}
			continue
		}
		allPoints := true
		next := make([]Span, 0, len(spans)*len(ivs))
		for _, s := range spans {
			for _, iv := range ivs {
				s.Low, s.High = slices.Clip(s.Low), slices.Clip(s.High)
				next = append(next, extend(s, iv))
				allPoints = allPoints && iv.isPoint()
			}
		}
		spans = next
		if !allPoints {
			break
		}
	}
	return spans
}

// extend takes over the slices of s.
func extend(s Span, iv interval) Span {
	out := Span{Low: s.Low, High: s.High, Prefix: iv.prefix}
	if !iv.lo.inf {
		out.Low = append(s.Low, iv.lo.d)
		out.LowOpen = iv.lo.open
	}
	if !iv.hi.inf {
		out.High = append(s.High, iv.hi.d)
		out.HighOpen = iv.hi.open
	}
	return out
}

func reversed(ivs []interval) []interval {
	out := make([]interval, len(ivs))
	for i, iv := range ivs {
		out[len(ivs)-1-i] = interval{lo: iv.hi, hi: iv.lo, prefix: iv.prefix}
	}
	return out
}

// intervals evaluates a condition on one column: disjoint and ascending.
func (e *evaluator) intervals(n node, col int) ([]interval, error) {
	switch n := n.(type) {
	case *atom:
		return e.atom(n)
	case and:
		out := []interval{full}
		for _, x := range n {
			if _, isUnknown := x.(unknown); isUnknown {
				continue
			}
			ivs, err := e.intervals(x, col)
			if err != nil {
				return nil, err
			}
			out = e.intersect(out, ivs, col)
		}
		return out, nil
	case or:
		var out []interval
		for _, x := range n {
			ivs, err := e.intervals(x, col)
			if err != nil {
				return nil, err
			}
			out = append(out, ivs...)
		}
		return e.union(out, col), nil
	}
	return []interval{full}, nil
}

func (e *evaluator) atom(a *atom) ([]interval, error) {
	switch a.op {
	case opIsNull:
		return e.null(a.col), nil
	case opIsNotNull:
		return []interval{e.values(a.col)}, nil
	case opIn:
		out := make([]interval, 0, len(a.args))
		for _, x := range a.args {
			ivs, err := e.compare(a, opEq, x)
			if err != nil {
				return nil, err
			}
			out = append(out, ivs...)
		}
		return e.union(out, a.col), nil
	case opLike:
		return e.like(a)
	case opPartition:
		return a.parts.points(e.ctx)
	}
	return e.compare(a, a.op, a.args[0])
}

// values are all values of a column but NULL. Keys of columns that are not
// nullable have no NULL to use as a bound.
func (e *evaluator) values(col int) interval {
	if e.set.Columns[col].Null {
		return notNull
	}
	return full
}

func (e *evaluator) null(col int) []interval {
	if !e.set.Columns[col].Null {
		return nil
	}
	return []interval{{lo: bound{d: value.Null}, hi: bound{d: value.Null}}}
}

func (e *evaluator) compare(a *atom, o op, arg expr.Expr) ([]interval, error) {
	col := a.col
	d, err := expr.EvalConst(e.ctx, arg)
	if err != nil {
		return nil, err
	}
	if d.IsNull() {
		if o == opNullEq {
			return e.null(col), nil
		}
		return nil, nil
	}
	if a.rounds {
		f, err := types.ToFloat(&e.ctx.Env, d, arg.Type())
		if err != nil {
			return nil, err
		}
		if math.Abs(f) >= 1<<53 {
			return e.rounded(col, o, f)
		}
		d = value.Float(f)
	}
	iv, some, err := e.against(col, o, d, arg.Type())
	if err != nil || !some {
		return nil, err
	}
	return []interval{iv}, nil
}

// against are the values of a column that compare as o says with d, which is
// not NULL; some is false for none.
func (e *evaluator) against(col int, o op, d value.Datum, from schema.Type) (iv interval, some bool, err error) {
	d, cmp, err := toColumn(e.ctx, d, from, e.set.Columns[col].Type)
	if err != nil {
		return iv, false, err
	}
	// cmp < 0: the constant is less than d, the least value of the column's type
	// that is not less; cmp > 0: greater than d, the greatest that is not
	// greater.
	iv = e.values(col)
	switch o {
	case opEq, opNullEq:
		if cmp != 0 {
			return iv, false, nil
		}
		iv = interval{lo: bound{d: d}, hi: bound{d: d}}
	case opLT:
		iv.hi = bound{d: d, open: cmp <= 0}
	case opLE:
		iv.hi = bound{d: d, open: cmp < 0}
	case opGT:
		iv.lo = bound{d: d, open: cmp >= 0}
	case opGE:
		iv.lo = bound{d: d, open: cmp > 0}
	}
	return iv, true, nil
}

// rounded is compare for a BIGINT column and a double to which several integers
// round: the range between the doubles next to it, which has more rows than
// match.
func (e *evaluator) rounded(col int, o op, f float64) ([]interval, error) {
	at := func(f float64) (value.Datum, error) {
		d, _, err := toInteger(value.Float(f), e.set.Columns[col].Type)
		return d, err
	}
	below, err := at(math.Nextafter(f, math.Inf(-1)))
	if err != nil {
		return nil, err
	}
	above, err := at(math.Nextafter(f, math.Inf(1)))
	if err != nil {
		return nil, err
	}
	iv := e.values(col)
	if o != opLT && o != opLE {
		iv.lo = bound{d: below}
	}
	if o != opGT && o != opGE {
		iv.hi = bound{d: above}
	}
	return []interval{iv}, nil
}

func (e *evaluator) like(a *atom) ([]interval, error) {
	pattern, err := expr.EvalConst(e.ctx, a.args[0])
	if err != nil || pattern.IsNull() {
		return nil, err
	}
	escape := byte('\\')
	if e.ctx.Mode&types.ModeNoBackslashEscapes != 0 {
		escape = 0
	}
	if a.like.escape != nil {
		d, err := expr.EvalConst(e.ctx, a.like.escape)
		if err != nil {
			return nil, err
		}
		if d.Kind() != value.KindBytes || len(d.Bytes()) > 1 {
			return []interval{e.values(a.col)}, nil
		}
		escape = 0
		if len(d.Bytes()) == 1 {
			escape = d.Bytes()[0]
		}
	}
	prefix := literalPrefix(pattern.Bytes(), escape, a.like.collation.IsBinary())
	if len(prefix) == 0 {
		return []interval{e.values(a.col)}, nil
	}
	p := bound{d: value.Bytes(prefix)}
	return []interval{{lo: p, hi: p, prefix: true}}, nil
}

// literalPrefix is the text before the first wildcard. Outside binary collations
// it ends before the first non-ASCII character (a following mark may change the
// weight of the character before it) and has no spaces at its end (they may carry
// no weight).
func literalPrefix(p []byte, escape byte, binary bool) (prefix []byte) {
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c == '%' || c == '_' {
			break
		}
		if escape != 0 && c == escape && i+1 < len(p) {
			i++
			c = p[i]
		}
		if c >= 0x80 && !binary {
			break
		}
		prefix = append(prefix, c)
	}
	if !binary {
		for len(prefix) > 0 && prefix[len(prefix)-1] == ' ' {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}

// cmpBound orders two values of a column; infinite bounds are the caller's.
func (e *evaluator) cmp(a, b value.Datum, col int) int {
	return types.CompareNull(a, b, e.set.Columns[col].Type)
}

// intersect of two ascending lists. A prefix interval gives way to whatever it
// meets: LIKE stays in the residual filter anyway.
func (e *evaluator) intersect(a, b []interval, col int) []interval {
	if len(a) == 1 && a[0].prefix && !isFull(b) {
		return b
	}
	if len(b) == 1 && b[0].prefix {
		if isFull(a) {
			return b
		}
		return a
	}
	if len(a) == 1 && a[0].prefix {
		return a
	}
	var out []interval
	for i, j := 0, 0; i < len(a) && j < len(b); {
		iv := interval{lo: e.maxLow(a[i].lo, b[j].lo, col), hi: e.minHigh(a[i].hi, b[j].hi, col)}
		if e.nonEmpty(iv, col) {
			out = append(out, iv)
		}
		if e.highLess(a[i].hi, b[j].hi, col) {
			i++
		} else {
			j++
		}
	}
	return out
}

func isFull(ivs []interval) bool {
	if len(ivs) != 1 || ivs[0].prefix || !ivs[0].hi.inf {
		return false
	}
	lo := ivs[0].lo
	return lo.inf || lo.open && lo.d.IsNull()
}

func (e *evaluator) nonEmpty(iv interval, col int) bool {
	if iv.lo.inf || iv.hi.inf {
		return true
	}
	c := e.cmp(iv.lo.d, iv.hi.d, col)
	return c < 0 || c == 0 && !iv.lo.open && !iv.hi.open
}

func (e *evaluator) maxLow(a, b bound, col int) bound {
	if a.inf {
		return b
	}
	if b.inf {
		return a
	}
	switch c := e.cmp(a.d, b.d, col); {
	case c > 0 || c == 0 && a.open:
		return a
	}
	return b
}

func (e *evaluator) minHigh(a, b bound, col int) bound {
	if e.highLess(a, b, col) {
		return a
	}
	return b
}

func (e *evaluator) highLess(a, b bound, col int) bool {
	if a.inf || b.inf {
		return !a.inf
	}
	c := e.cmp(a.d, b.d, col)
	return c < 0 || c == 0 && a.open && !b.open
}

// union sorts intervals and merges those that overlap or touch.
func (e *evaluator) union(ivs []interval, col int) []interval {
	if len(ivs) <= 1 {
		return ivs
	}
	order := func(a, b interval) int {
		switch {
		case e.lowLess(a.lo, b.lo, col):
			return -1
		case e.lowLess(b.lo, a.lo, col):
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(ivs, order) {
		slices.SortFunc(ivs, order)
	}
	out := ivs[:1]
	for _, iv := range ivs[1:] {
		last := &out[len(out)-1]
		if e.touches(last.hi, iv.lo, col) {
			if e.highLess(last.hi, iv.hi, col) {
				last.hi = iv.hi
			}
			continue
		}
		out = append(out, iv)
	}
	return out
}

func (e *evaluator) lowLess(a, b bound, col int) bool {
	if a.inf || b.inf {
		return a.inf && !b.inf
	}
	c := e.cmp(a.d, b.d, col)
	return c < 0 || c == 0 && !a.open && b.open
}

func (e *evaluator) touches(hi, lo bound, col int) bool {
	if hi.inf || lo.inf {
		return true
	}
	c := e.cmp(hi.d, lo.d, col)
	return c > 0 || c == 0 && !(hi.open && lo.open)
}

// normalise sorts spans in key order and merges overlapping ones.
func (e *evaluator) normalise(spans []Span) []Span {
	if len(spans) <= 1 {
		return spans
	}
	e.sortSpans(spans)
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if e.overlap(*last, s) {
			if e.compareHigh(*last, s) < 0 {
				last.High, last.HighOpen = s.High, s.HighOpen
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// edge is a position between keys: a prefix of key values, before (side -1) or
// after (side +1) all keys that start with it.
type edge struct {
	key  []value.Datum
	side int
}

func (s Span) low() edge {
	if s.LowOpen {
		return edge{s.Low, 1}
	}
	return edge{s.Low, -1}
}

func (s Span) high() edge {
	if s.HighOpen {
		return edge{s.High, -1}
	}
	return edge{s.High, 1}
}

func (e *evaluator) compareEdges(a, b edge) int {
	for i := 0; i < len(a.key) && i < len(b.key); i++ {
		c := e.cmp(a.key[i], b.key[i], i)
		if e.set.Columns[i].Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	switch {
	case len(a.key) < len(b.key):
		return a.side
	case len(a.key) > len(b.key):
		return -b.side
	}
	return a.side - b.side
}

func (e *evaluator) compareLow(a, b Span) int  { return e.compareEdges(a.low(), b.low()) }
func (e *evaluator) compareHigh(a, b Span) int { return e.compareEdges(a.high(), b.high()) }

func (e *evaluator) overlap(a, b Span) bool { return e.compareEdges(a.high(), b.low()) > 0 }

// toColumn brings a constant to the column's type. cmp compares the constant with
// the result: 0 equal, -1 less, +1 greater.
func toColumn(c *expr.Ctx, d value.Datum, from, to schema.Type) (value.Datum, int, error) {
	switch {
	case to.IsInteger() || to.ID == schema.TypeYear:
		return toInteger(d, to)
	case to.ID == schema.TypeDecimal:
		return toDecimal(c, d, from, to)
	case to.IsFloat():
		f, err := types.ToFloat(&c.Env, d, from)
		if err != nil {
			return d, 0, err
		}
		if to.ID == schema.TypeFloat {
			return toSingle(f)
		}
		return value.Float(f), 0, nil
	case to.ID == schema.TypeDate && d.Kind() == value.KindTime:
		if t := d.Time(); t != t.Date() {
			return value.TimeOf(t.Date()), 1, nil
		}
		return d, 0, nil
	case to.ID == schema.TypeEnum && d.Kind() == value.KindBytes:
		n := member(to, d.Bytes())
		if coll, ok := collate.Lookup(to.Collation); n == 0 && ok && coll.Compare(d.Bytes(), nil) != 0 {
			return value.Uint(0), 1, nil
		}
		return value.Uint(uint64(n)), 0, nil
	case d.Kind() == types.KindOf(to):
		return d, 0, nil
	}
	out, err := types.Cast(&c.Env, d, from, to)
	return out, 0, err
}
