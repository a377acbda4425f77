package ranges

import (
	"slices"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// MaxSpans bounds the spans of one Set: a condition that would make more (a
// product of long IN lists) is left to the residual filter.
const MaxSpans = 1 << 16

// maxBranches bounds the expansion of ORs over several columns: a list of
// whole keys, (a, b) IN ((1, 2), …), is one such OR.
const maxBranches = 1 << 14

// Op is the operator of an atom.
type op uint8

const (
	opEq op = iota
	opNullEq
	opIn
	opLT
	opLE
	opGT
	opGE
	opIsNull
	opIsNotNull
	opLike
	opPartition
)

// node is a condition in the form from which spans are made: an *atom, an and
// or an or.
type node interface {
	// columns are the key columns that the condition is about.
	columns() mask
}

// maxKey is the most columns of a key: those of an index and of the primary
// key.
const maxKey = 32

// mask is a set of key columns.
type mask uint32

func (m mask) has(col int) bool { return m&(1<<col) != 0 }

func (m mask) single() bool { return m != 0 && m&(m-1) == 0 }

// pins are for each key column the number of values that a condition allows
// it at most, 0 for columns that it does not pin to values.
type pins [maxKey]int32

// atom restricts one key column by constants.
type atom struct {
	col   int
	op    op
	args  []expr.Expr
	exact bool
	// points is the most values that the atom allows, 0 when they are no
	// points of the key (cutPoints).
	points int
	// rounds: the column, a BIGINT, is compared as a double.
	rounds bool
	like   *likePrefix
	parts  *partitions
}

type and []node
type or []node

func (a *atom) columns() mask { return 1 << a.col }

func (a and) columns() (m mask) {
	for _, n := range a {
		m |= n.columns()
	}
	return m
}

func (o or) columns() (m mask) {
	for _, n := range o {
		m |= n.columns()
	}
	return m
}

// Build makes the Set of the conjuncts that restrict a key, or nil when none
// restricts its first column. residual are the conjuncts, all or those left,
// that still have to be checked on each row.
func Build(columns []Column, conds []expr.Expr) (set *Set, residual []expr.Expr) {
	if len(columns) > maxKey {
		columns = columns[:maxKey]
	}
	b := builder{columns: columns}
	if !b.mayRestrictFirst(conds) {
		return nil, conds
	}
	if set, residual := b.buildTuples(conds); set != nil {
		return set, residual
	}
	nodes := make([]node, len(conds))
	for i, c := range conds {
		nodes[i] = b.node(c)
	}
	limitBranches(nodes)
	keepPrefixesApart(nodes)
	var all and
	for _, n := range nodes {
		if n != nil {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return nil, conds
	}
	used := b.usedColumns(all)
	if used == 0 {
		return nil, conds
	}
	set = &Set{Columns: columns}
	for i, c := range conds {
		if n := nodes[i]; n != nil && n.columns()&(1<<used-1) != 0 {
			set.Conds = append(set.Conds, c)
			set.conj = append(set.conj, n)
		}
	}
	for i, c := range conds {
		n := nodes[i]
		// Only what makes the spans counts: a branch of an OR may need a column that
		// another condition pins, which is not in use.
		if n == nil || n.columns()&(1<<used-1) == 0 || !b.exact(n, set.conj, used) {
			residual = append(residual, c)
		}
	}
	var pin, notNull pins
	pinned(all, false, &pin)
	for set.EqPrefix < len(columns) && pin[set.EqPrefix] == 1 {
		set.EqPrefix++
	}
	pinned(all, true, &notNull)
	set.Point = used == len(columns)
	for i := range columns {
		set.Point = set.Point && notNull[i] > 0 && columns[i].Prefix == 0
	}
	if set.Point && set.EqPrefix == len(columns) {
		set.single()
	}
	set.findChain()
	return set, residual
}

// findChain fills chain.
func (s *Set) findChain() {
	chain := make([]*atom, len(s.conj))
	for _, n := range s.conj {
		a, ok := n.(*atom)
		if !ok || a.rounds || a.col >= len(chain) || chain[a.col] != nil || s.Columns[a.col].Prefix > 0 {
			return
		}
		switch a.op {
		case opEq:
		case opLT, opLE, opGT, opGE:
			if a.col != len(chain)-1 || s.Columns[a.col].Desc {
				return
			}
		default:
			return
		}
		chain[a.col] = a
	}
	s.chain = chain
}

// mayRestrictFirst is a quick test for long lists: a condition has to mention
// the key's first column, an OR in each branch.
func (b *builder) mayRestrictFirst(conds []expr.Expr) bool {
	found := false
	for _, c := range conds {
		for {
			f, ok := c.(*expr.Func)
			if !ok || f.Op != expr.OpOr {
				break
			}
			c = f.Args[0]
		}
		expr.Walk(c, func(e expr.Expr) bool {
			if x, ok := e.(*expr.Col); ok && len(b.columns) > 0 && x.Index == b.columns[0].Table {
				found = true
			}
			return !found
		})
	}
	return found
}

// single fills Keys when each column has exactly one equality and nothing
// else restricts it.
func (s *Set) single() {
	keys := make([]expr.Expr, len(s.Columns))
	for _, n := range s.conj {
		a, ok := n.(*atom)
		if !ok || a.op != opEq || keys[a.col] != nil {
			return
		}
		keys[a.col] = a.args[0]
	}
	s.SinglePoint, s.Keys = true, keys
}

// limitBranches drops ORs whose expansion would grow too large.
func limitBranches(nodes []node) {
	branches := 1
	for i, n := range nodes {
		o, ok := n.(or)
		if !ok || singleColumn(o) {
			continue
		}
		if branches*len(o) > maxBranches {
			nodes[i] = nil
			continue
		}
		branches *= len(o)
	}
}

// keepPrefixesApart drops LIKEs next to an OR over several columns: the spans of
// its branches could overlap with those of a prefix, which cannot be merged
// with others.
func keepPrefixesApart(nodes []node) {
	several := false
	for _, n := range nodes {
		o, ok := n.(or)
		several = several || ok && !singleColumn(o)
	}
	for i, n := range nodes {
		if several && n != nil && hasLike(n) {
			nodes[i] = nil
		}
	}
}

func singleColumn(n node) bool { return n.columns().single() }

// maxPins bounds the counts of pins, far above MaxSpans.
const maxPins = 1 << 24

// pinned sets in out, which is zero, how many values n allows each column at
// most. notNull leaves out pins that admit NULL.
func pinned(n node, notNull bool, out *pins) {
	switch n := n.(type) {
	case *atom:
		switch n.op {
		case opEq, opIn, opPartition:
			out[n.col] = int32(n.points)
		case opNullEq, opIsNull:
			if !notNull {
				out[n.col] = int32(n.points)
			}
		}
	case and:
		for _, x := range n {
			var p pins
			pinned(x, notNull, &p)
			for c, k := range p {
				if k > 0 && (out[c] == 0 || k < out[c]) {
					out[c] = k
				}
			}
		}
	case or:
		for i, x := range n {
			var p pins
			pinned(x, notNull, &p)
			if i == 0 {
				*out = p
				continue
			}
			for c := range out {
				if p[c] == 0 {
					out[c] = 0
				} else if out[c] > 0 {
					out[c] = min(out[c]+p[c], maxPins)
				}
			}
		}
	}
}

// restricted are the columns that the condition restricts whatever branch is
// taken.
func restricted(n node) (m mask) {
	switch n := n.(type) {
	case *atom:
		return 1 << n.col
	case and:
		for _, x := range n {
			m |= restricted(x)
		}
	case or:
		m = ^mask(0)
		for _, x := range n {
			m &= restricted(x)
		}
	}
	return m
}

// usedColumns is how many leading columns the spans of all can restrict: those
// pinned to values, as long as their product stays small, and the next one.
func (b *builder) usedColumns(all and) int {
	restr := restricted(all)
	if !restr.has(0) {
		return 0
	}
	var pin pins
	pinned(all, false, &pin)
	product := 1
	for i := range b.columns {
		k := int(pin[i])
		if k > 0 && product*k <= MaxSpans {
			product *= k
			continue
		}
		if restr.has(i) && k == 0 && product*2 <= MaxSpans {
			return i + 1
		}
		return i
	}
	return len(b.columns)
}

// exact reports whether the spans made of all, which use that many columns,
// check n completely. n is one of the conjuncts of all.
func (b *builder) exact(n node, all and, used int) bool {
	switch n := n.(type) {
	case *atom:
		return n.exact && n.col < used
	case and:
		for _, x := range n {
			if !b.exact(x, all, used) {
				return false
			}
		}
		return true
	case or:
		if singleColumn(n) {
			return n.columns()&(1<<used-1) != 0 && exactAtoms(n)
		}
		branch := make(and, 0, len(all)+2)
		for _, o := range all {
			if other, isOr := o.(or); isOr && sameOr(other, n) {
				continue
			}
			branch = append(branch, o)
		}
		for _, x := range n {
			whole := branch
			if sub, ok := x.(and); ok {
				whole = append(whole, sub...)
			} else {
				whole = append(whole, x)
			}
			if !b.exact(x, whole, b.usedColumns(whole)) {
				return false
			}
		}
		return true
	}
	return false
}

func sameOr(a, b or) bool { return len(a) == len(b) && &a[0] == &b[0] }

func exactAtoms(n node) bool {
	switch n := n.(type) {
	case unknown:
		return false
	case *atom:
		return n.exact
	case and:
		for _, x := range n {
			if !exactAtoms(x) {
				return false
			}
		}
	case or:
		for _, x := range n {
			if !exactAtoms(x) {
				return false
			}
		}
	}
	return true
}

type builder struct{ columns []Column }

// node translates a condition, or gives nil when it says nothing usable.
func (b *builder) node(e expr.Expr) node {
	f, ok := e.(*expr.Func)
	if !ok {
		return nil
	}
	switch f.Op {
	case expr.OpAnd:
		var out and
		for _, a := range f.Args {
			n := b.node(a)
			if n == nil {
				// Half an AND still restricts, but is not all of it.
				n = unknown{}
			}
			out = append(out, n)
		}
		return out.known()
	case expr.OpOr:
		var out or
		for _, a := range f.Args {
			n := b.node(a)
			if n == nil {
				return nil
			}
			if sub, isOr := n.(or); isOr {
				out = append(out, sub...)
			} else {
				out = append(out, n)
			}
		}
		if hasLike(out) || len(out) > MaxSpans {
			return nil
		}
		return out
	case expr.OpEQ, expr.OpNullEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE:
		return b.comparison(f.Op, f.Args[0], f.Args[1], f)
	case expr.OpIsNull:
		if col := b.column(f.Args[0]); col >= 0 {
			return &atom{col: col, op: opIsNull, exact: true, points: 1}
		}
	case expr.OpNot:
		if g, isFunc := f.Args[0].(*expr.Func); isFunc && g.Op == expr.OpIsNull {
			if col := b.column(g.Args[0]); col >= 0 {
				return &atom{col: col, op: opIsNotNull, exact: true}
			}
		}
	case expr.OpIn:
		return b.in(f)
	case expr.OpLike:
		return b.like(f)
	case expr.OpPartitionIn:
		return b.partitions(f)
	}
	return nil
}

// unknown marks in an AND a part that says nothing usable, so that the whole is
// not taken for exact.
type unknown struct{}

func (unknown) columns() mask { return 0 }

func (a and) known() node {
	for _, n := range a {
		if _, isUnknown := n.(unknown); !isUnknown {
			return a
		}
	}
	return nil
}

func hasLike(n node) bool {
	switch n := n.(type) {
	case *atom:
		return n.op == opLike
	case and:
		for _, x := range n {
			if hasLike(x) {
				return true
			}
		}
	case or:
		for _, x := range n {
			if hasLike(x) {
				return true
			}
		}
	}
	return false
}

// column is the key column that e is, or -1.
func (b *builder) column(e expr.Expr) int {
	c, ok := e.(*expr.Col)
	if !ok {
		return -1
	}
	for i := range b.columns {
		if b.columns[i].Table == c.Index {
			return i
		}
	}
	return -1
}

var comparisons = map[expr.Op]op{expr.OpEQ: opEq, expr.OpNullEQ: opNullEq, expr.OpLT: opLT, expr.OpLE: opLE, expr.OpGT: opGT, expr.OpGE: opGE}

func (b *builder) comparison(cmp expr.Op, left, right expr.Expr, f *expr.Func) node {
	if l, ok := left.(*expr.Func); ok && l.Op == expr.OpRow {
		if r, ok := right.(*expr.Func); ok && r.Op == expr.OpRow && len(l.Args) == len(r.Args) {
			return b.rows(cmp, l.Args, r.Args, f)
		}
		return nil
	}
	if expr.IsConst(left) {
		cmp, _ = cmp.Swapped()
		left, right = right, left
	}
	if !expr.IsConst(right) {
		return nil
	}
	col, rounds := b.operand(left)
	if col < 0 || !b.comparable(col, left, right, f) {
		return nil
	}
	return b.atom(&atom{col: col, op: comparisons[cmp], args: []expr.Expr{right}, points: 1, rounds: rounds})
}

// rows expands a comparison of rows into columns: (a,b) > (1,2) is a > 1 OR
// a = 1 AND b > 2.
func (b *builder) rows(cmp expr.Op, left, right []expr.Expr, f *expr.Func) node {
	if cmp == expr.OpEQ || cmp == expr.OpNullEQ {
		var out and
		for i := range left {
			n := b.comparison(cmp, left[i], right[i], f)
			if n == nil {
				n = unknown{}
			}
			out = append(out, n)
		}
		return out.known()
	}
	var out or
	for i := range left {
		var branch and
		for j := 0; j < i; j++ {
			n := b.comparison(expr.OpEQ, left[j], right[j], f)
			if n == nil {
				return b.leading(cmp, left, right, f)
			}
			branch = append(branch, n)
		}
		last := cmp.Strict()
		if i == len(left)-1 {
			last = cmp
		}
		n := b.comparison(last, left[i], right[i], f)
		if n == nil {
			return b.leading(cmp, left, right, f)
		}
		out = append(out, append(branch, n))
	}
	return out
}

// leading uses only the first column of a row comparison, which is not exact.
func (b *builder) leading(cmp expr.Op, left, right []expr.Expr, f *expr.Func) node {
	n := b.comparison(cmp.OrEqual(), left[0], right[0], f)
	if n == nil {
		return nil
	}
	return and{n, unknown{}}
}

func (b *builder) in(f *expr.Func) node {
	list := f.Args[1:]
	if l, ok := f.Args[0].(*expr.Func); ok && l.Op == expr.OpRow {
		var out or
		for _, e := range list {
			r, ok := e.(*expr.Func)
			if !ok || r.Op != expr.OpRow {
				return nil
			}
			n := b.rows(expr.OpEQ, l.Args, r.Args, f)
			if n == nil {
				return nil
			}
			out = append(out, n)
		}
		return out
	}
	col, rounds := b.operand(f.Args[0])
	if col < 0 || len(list) > MaxSpans {
		return nil
	}
	for _, e := range list {
		if !expr.IsConst(e) || !b.comparable(col, f.Args[0], e, f) {
			return nil
		}
	}
	return b.atom(&atom{col: col, op: opIn, args: list, points: len(list), rounds: rounds})
}

// atom completes a comparison with constants.
func (b *builder) atom(a *atom) node {
	k := &b.columns[a.col]
	a.exact = k.Prefix == 0 && !a.rounds
	if cutOf(k) == cutVaries || a.rounds {
		a.points = 0
	}
	return a
}

// operand is the key column that one side of a comparison is, perhaps converted
// to a wider type, or -1. rounds: this keeps the order, but the condition has to
// be tested on rows too. That holds for a BIGINT as a double, as from 2^53 on
// several integers are one double, and for a CAST of dates.
func (b *builder) operand(e expr.Expr) (col int, rounds bool) {
	if col = b.column(stripWidening(e)); col >= 0 {
		// CAST makes NULL of a zero date where sql_mode says so.
		return col, b.columns[col].Type.HasDate() && expr.IsExplicitCast(e)
	}
	f, ok := e.(*expr.Func)
	if !ok || f.Op != expr.OpCast || len(f.Args) != 1 || f.T.ID != schema.TypeDouble {
		return -1, false
	}
	if col = b.column(f.Args[0]); col >= 0 && b.columns[col].Type.ID == schema.TypeBigInt {
		return col, true
	}
	return -1, false
}

// stripWidening takes off a conversion of a number column to a wider number
// type, which keeps the order: the constant is brought to the column's type
// instead.
func stripWidening(e expr.Expr) expr.Expr {
	f, ok := e.(*expr.Func)
	if !ok || f.Op != expr.OpCast || len(f.Args) != 1 {
		return e
	}
	c, ok := f.Args[0].(*expr.Col)
	if !ok {
		return e
	}
	from, to := c.T, f.T
	switch {
	case from.IsInteger() && to.ID == schema.TypeDecimal && to.Len-to.Scale >= integerDigits(from):
		return c
	case from.IsInteger() && from.ID != schema.TypeBigInt && to.ID == schema.TypeDouble:
		return c
	case from.ID == schema.TypeDecimal && to.ID == schema.TypeDecimal && to.Scale >= from.Scale &&
		to.Len-to.Scale >= from.Len-from.Scale:
		return c
	case from.ID == schema.TypeDate && (to.ID == schema.TypeDatetime || to.ID == schema.TypeTimestamp):
		return c
	case (from.ID == schema.TypeDatetime || from.ID == schema.TypeTimestamp) && to.ID == schema.TypeDatetime &&
		to.Scale >= from.Scale:
		return c
	}
	return e
}

// integerDigits is the number of digits that any value of an integer type
// fits in.
func integerDigits(t schema.Type) int {
	switch t.ID {
	case schema.TypeTinyInt:
		return 3
	case schema.TypeSmallInt:
		return 5
	case schema.TypeMediumInt:
		return 8
	case schema.TypeInt:
		return 10
	}
	if t.Unsigned {
		return 20
	}
	return 19
}

// comparable reports whether comparing the column with the constant by the
// rules of f gives the order of the key.
func (b *builder) comparable(col int, left, right expr.Expr, f *expr.Func) bool {
	t := b.columns[col].Type
	rt := right.Type()
	switch {
	case t.IsString():
		if !rt.IsString() && rt.ID != schema.TypeNull || cutOf(&b.columns[col]) == cutUnknown {
			return false
		}
		want := t.Collation
		if t.IsBinary() {
			want = schema.CollationBinary
		}
		c, ok := expr.CompareCollation(f)
		return ok && c == want
	case t.IsNumeric():
		return rt.IsNumeric() && t.ID != schema.TypeBit || rt.ID == schema.TypeNull
	case t.HasDate():
		return rt.HasDate() || rt.ID == schema.TypeNull
	case t.ID == schema.TypeTime:
		return rt.ID == schema.TypeTime || rt.ID == schema.TypeNull
	case t.ID == schema.TypeEnum:
		return equalsMember(t, rt, f)
	}
	return false // SET and JSON order otherwise than their keys, as does ENUM
}

// equalsMember reports whether f is true of at most one value of ENUM t for each
// value of type rt: of the member that the text names. Text that is empty names
// the value of what was no member.
func equalsMember(t, rt schema.Type, f *expr.Func) bool {
	switch f.Op {
	case expr.OpEQ, expr.OpNullEQ, expr.OpIn:
	default:
		return false
	}
	if a, ok := f.Args[0].(*expr.Func); ok && a.Op == expr.OpRow {
		return false
	}
	if rt.ID == schema.TypeNull || rt.ID == schema.TypeEnum && slices.Equal(rt.Elems, t.Elems) {
		return true
	}
	c, ok := expr.CompareCollation(f)
	return rt.IsCharacter() && ok && c == t.Collation && member(t, nil) == 0
}

// member is the number of the member of an ENUM that text names, 0 for none.
func member(t schema.Type, text []byte) int {
	if c, ok := collate.Lookup(t.Collation); ok {
		return 1 + slices.IndexFunc(t.Elems, func(m string) bool { return c.Compare([]byte(m), text) == 0 })
	}
	return 0
}

// likePrefix is what a LIKE atom knows at plan time.
type likePrefix struct {
	escape    expr.Expr
	collation *collate.Collation
}

func (b *builder) like(f *expr.Func) node {
	col := b.column(f.Args[0])
	if col < 0 || !expr.IsConst(f.Args[1]) || len(f.Args) > 2 && !expr.IsConst(f.Args[2]) {
		return nil
	}
	t := b.columns[col].Type
	if !t.IsString() || b.columns[col].Prefix > 0 {
		return nil
	}
	id := t.Collation
	if t.IsBinary() {
		id = schema.CollationBinary
	} else if c, ok := expr.CompareCollation(f); !ok || c != id {
		return nil
	}
	c, ok := collate.Lookup(id)
	if !ok {
		return nil
	}
	lp := &likePrefix{collation: c}
	if len(f.Args) > 2 {
		lp.escape = f.Args[2]
	}
	return &atom{col: col, op: opLike, args: []expr.Expr{f.Args[1]}, like: lp}
}
