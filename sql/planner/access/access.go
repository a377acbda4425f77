package access

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/value"
)

// Estimator knows sizes. A nil index is the primary key. Its methods may be called
// concurrently. They do not fail: where the store does, they guess. When ctx ends they
// return soon, and with a guess that must not be used: planner.Plan fails then.
type Estimator interface {
	// TableRows is about the number of rows.
	TableRows(ctx context.Context, t *schema.Table) float64
	// SpanRows is about the number of entries in spans; ok is false when it is
	// unknown.
	SpanRows(ctx context.Context, t *schema.Table, x *schema.Index, spans []ranges.Span) (rows float64, ok bool)
	// Distinct is about the number of different values of the columns
	// together; 0 when unknown.
	Distinct(ctx context.Context, t *schema.Table, columns []schema.ColumnID) float64
}

// OrderColumn is a column of a wanted order, by position in the table; or Expr, over
// such positions, in place of a column: then Column is -1.
type OrderColumn struct {
	Column int
	Expr   expr.Expr
	Desc   bool
}

// Request is what a query wants of one table.
type Request struct {
	// Context is that of the planning.
	Context context.Context
	Scan    *logical.Scan
	// Conds are the conjuncts on this table; expr.Col.Index is the position in
	// the table.
	Conds []expr.Expr
	// Needed are the table positions whose values the plan needs above the
	// conditions.
	Needed []int
	// Scores are calls of "match" over table positions, which are needed as well;
	// ForScores tells of Needed what is needed for them alone.
	Scores    []*expr.Func
	ForScores map[int]bool
	// Order is the order that would spare a sort, nil for none.
	Order []OrderColumn
	// Grouping: the order is wanted for GROUP BY.
	Grouping bool
	// Counting: nothing but the number of rows is wanted.
	Counting bool
	// Limit is the number of rows after which the consumer stops when the
	// order is delivered (or none is wanted); 0 for all.
	Limit float64
	// LimitKnown: execution can tell what Limit is.
	LimitKnown bool
	Est        Estimator
	// Invisible indexes may be used (optimizer_switch).
	Invisible bool
	// Ctx evaluates constants for estimates; nil leaves them unknown.
	Ctx *expr.Ctx
	// Shares keeps what samples told of conditions; nil for none.
	Shares *Shares
	// Parallel is the number of workers that a full scan may use.
	Parallel int
	// ValuesMatter is set when paths are right only for the parameters that Ctx
	// has, or others might be possible for other parameters.
	ValuesMatter bool
	// Off tells the ways of access that are switched off (planner.Operators);
	// nil for none.
	Off func(name string) bool
	// Subqueries are those of the statement, by ID, as they were bound; nil where
	// they are part of it already.
	Subqueries []logical.Node
}

func (r *Request) off(name string) bool { return r.Off != nil && r.Off(name) }

// Path is one way to read the table.
type Path struct {
	Access physical.Access
	// Residual conditions, split by whether the index entry has their columns
	// (EntryFilter, only with Lookup).
	EntryFilter, Residual []expr.Expr
	// Lookup: the entries lead to rows, which are read too.
	Lookup           bool
	Ordered, Reverse bool
	// Entries are the keys read, Fetched the rows that are read for them with
	// Lookup, Rows those that pass all conditions.
	Entries, Fetched, Rows float64
	// Cost is of reading all, FindCost, with Lookup, the part of it for the entries;
	// LimitedCost is that of reading until Limit rows passed.
	Cost, FindCost, LimitedCost float64
	// Unique: at most one row.
	Unique bool
	// Distinct: entries may lead to the same row, which is read once.
	Distinct bool
	// All are all conditions, where Access is a search.
	All []expr.Expr
}

// Key is the key whose entries are read; see physical.Access.
func (p *Path) Key() physical.KeyRange { return p.Access.Key() }

// String is a line about the path for the trace.
func (p *Path) String() string {
	b := make([]byte, 0, 96)
	b = append(append(append(b, p.Access.Name()...), ' '), p.Access.String()...)
	if p.Distinct {
		b = append(b, " distinct"...)
	}
	if p.Lookup {
		b = append(b, " lookup"...)
	} else if p.Key().Index != nil {
		b = append(b, " covering"...)
	}
	if p.Ordered {
		b = append(b, " ordered"...)
	}
	b = strconv.AppendInt(append(b, " entries="...), whole(p.Entries), 10)
	b = strconv.AppendInt(append(b, " rows="...), whole(p.Rows), 10)
	b = strconv.AppendInt(append(b, " cost="...), whole(p.LimitedCost), 10)
	return string(b)
}

func whole(f float64) int64 { return int64(math.Min(math.Round(f), 1e18)) }

// KeyColumns are the columns of the key that index x (nil: the primary key)
// keeps its entries by.
func KeyColumns(t *schema.Table, x *schema.Index) []ranges.Column {
	parts := t.PrimaryKey
	if x != nil {
		parts = t.EntryParts(x)
	}
	cols := make([]ranges.Column, len(parts))
	for i, p := range parts {
		pos := t.ColumnIndex(p.Column)
		c := t.Columns[pos]
		cols[i] = ranges.Column{Table: pos, Type: c.KeyType(), Desc: p.Desc, Null: c.Nullable, Prefix: p.Prefix}
	}
	return cols
}

// Paths are the ways to answer r. There is always at least one; hints that
// forbid all leave the full scan.
func Paths(r *Request) []*Path {
	var paths []*Path
	t := r.Scan.Table
	allowed := newHints(&r.Scan.Hint)
	if allowed.index("PRIMARY", false) {
		if p := r.path(nil); p != nil {
			paths = append(paths, p)
			if p.Unique && p.Key().Index == nil {
				return paths // nothing is cheaper
			}
		}
		if !wants(r.Scan.Opt.NoSkip, nil) {
			if p := r.orderedMerge(nil); p != nil {
				paths = append(paths, p)
			}
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State != schema.IndexPublic || !allowed.index(x.Name, x.Invisible && !r.Invisible) {
			continue
		}
		if p := r.path(x); p != nil {
			paths = append(paths, p)
		}
		if wants(r.Scan.Opt.NoSkip, x) {
			continue
		}
		if p := r.orderedMerge(x); p != nil {
			paths = append(paths, p)
		}
		if p := r.skipPath(x); p != nil {
			if wants(r.Scan.Opt.Skip, x) {
				return []*Path{p}
			}
			paths = append(paths, p)
		}
	}
	paths = append(paths, r.searchPaths(allowed)...)
	merges := r.merges(allowed, paths)
	if len(merges) > 0 && r.Scan.Opt.Merge != nil {
		return merges
	}
	paths = append(append(paths, r.fullScan()), merges...)
	if len(r.Scan.Hint.Force) > 0 {
		paths = allowed.preferForced(paths)
	}
	return paths
}

// hints answers which indexes the hints allow.
type hints struct {
	use, force, ignore map[string]bool
	useSet             bool
}

func newHints(h *logical.IndexHint) *hints {
	set := func(names []string) map[string]bool {
		if len(names) == 0 {
			return nil
		}
		m := make(map[string]bool, len(names))
		for _, n := range names {
			m[strings.ToUpper(n)] = true
		}
		return m
	}
	return &hints{use: set(h.Use), force: set(h.Force), ignore: set(h.Ignore), useSet: h.UseSet}
}

func (h *hints) index(name string, invisible bool) bool {
	if !h.useSet && h.force == nil && h.ignore == nil {
		return !invisible
	}
	n := strings.ToUpper(name)
	switch {
	case h.ignore[n]:
		return false
	case len(h.force) > 0:
		return h.force[n]
	case h.useSet:
		return h.use[n]
	}
	return !invisible
}

// wants reports whether an optimizer hint is about index x, nil for the primary
// key: it names it, or none.
func wants(hint *[]string, x *schema.Index) bool {
	if hint == nil {
		return false
	}
	name := "PRIMARY"
	if x != nil {
		name = x.Name
	}
	return len(*hint) == 0 || slices.Contains(*hint, name)
}

// preferForced drops the scan of all rows when a forced index can be used: for
// ranges, for the order, or because it covers the query.
func (h *hints) preferForced(paths []*Path) []*Path {
	var out []*Path
	for _, p := range paths {
		if p.Key().Index != nil || !p.Access.ReadsAll() || h.force["PRIMARY"] {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return paths
	}
	return out
}

// path is the path by one key, nil when it makes no sense: neither ranges nor
// order nor covering.
func (r *Request) path(x *schema.Index) *Path {
	if x != nil && x.Sparse && !r.excludesNull(x) {
		return nil
	}
	if x != nil {
		if part := r.Scan.Table.ArrayPart(x); part >= 0 {
			return r.arrayPath(x, part)
		}
		if x.Where != 0 {
			return r.partialPath(x, r.Conds)
		}
	}
	return r.byKey(x, r.Conds)
}

// byKey is the path by one key under conditions. The probes among them are
// only for the key: the rows are found to satisfy them by what they stand for.
func (r *Request) byKey(x *schema.Index, conds []expr.Expr, probes ...expr.Expr) *Path {
	cols := KeyColumns(r.Scan.Table, x)
	unique := x == nil || x.Unique
	set, residual := ranges.Build(cols, conds)
	if x != nil && unique {
		// A point of a unique index is made of its own columns alone.
		if own, rest := ranges.Build(cols[:len(x.Parts)], conds); own != nil && (own.Point || len(probes) > 0) {
			set, residual = own, rest
		}
	}
	residual = slices.DeleteFunc(residual, func(e expr.Expr) bool { return slices.Contains(probes, e) })
	partial := x != nil && x.Where != 0
	if partial {
		residual = r.withoutImplied(x, residual)
	}
	key := physical.KeyRange{Index: x, Ranges: set}
	p := &Path{Access: &physical.RangeScan{KeyRange: key}}
	p.Lookup = x != nil && (len(probes) > 0 || !r.covered(x, residual))
	if part := r.arrayPart(x); part >= 0 {
		p.Distinct = !pinsArray(set, part)
	}
	p.Residual = residual
	if p.Lookup {
		p.EntryFilter, p.Residual = r.splitEntry(x, residual)
	}
	p.Ordered, p.Reverse = r.delivers(cols, set)
	if len(r.Order) > 0 && p.Ordered && !r.mayOrder(x) {
		p.Ordered, p.Reverse = false, false
	}
	if set == nil {
		if x == nil {
			if !p.Ordered || len(r.Order) == 0 {
				return nil // that is the full scan
			}
		} else if (!p.Ordered || len(r.Order) == 0) && p.Lookup && !partial {
			return nil
		}
		p.Access = &physical.FullScan{KeyRange: key}
	} else if unique && set.Point {
		p.Access = &physical.PointGet{KeyRange: key}
		p.Unique = set.SinglePoint || set.EqPrefix == len(set.Columns)
	}
	r.estimate(p)
	return p
}

func (r *Request) arrayPart(x *schema.Index) int {
	if x == nil {
		return -1
	}
	return r.Scan.Table.ArrayPart(x)
}

// fullScan reads the table by its primary key.
func (r *Request) fullScan() *Path {
	p := &Path{Access: &physical.FullScan{}, Residual: r.Conds}
	p.Ordered = len(r.Order) == 0
	r.estimate(p)
	return p
}

// excludesNull reports whether the conditions exclude NULL in every column of
// a sparse index, so that it holds all rows that can match.
func (r *Request) excludesNull(x *schema.Index) bool {
	t := r.Scan.Table
	for _, part := range x.Parts {
		pos := t.ColumnIndex(part.Column)
		if !t.Columns[pos].Nullable {
			continue
		}
		found := false
		for _, c := range r.Conds {
			found = found || rejectsNull(c, pos)
		}
		if !found {
			return false
		}
	}
	return true
}

func rejectsNull(e expr.Expr, pos int) bool {
	f, ok := e.(*expr.Func)
	if !ok {
		return false
	}
	isCol := func(e expr.Expr) bool {
		c, ok := e.(*expr.Col)
		return ok && c.Index == pos
	}
	switch f.Op {
	case expr.OpEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpNE:
		return isCol(f.Args[0]) || isCol(f.Args[1])
	case expr.OpIn, expr.OpLike:
		return isCol(f.Args[0])
	case expr.OpNot:
		g, ok := f.Args[0].(*expr.Func)
		return ok && g.Op == expr.OpIsNull && isCol(g.Args[0])
	}
	return false
}

// entryColumns are the table positions that an entry of x holds whole.
func entryColumns(t *schema.Table, x *schema.Index) map[int]bool {
	m := map[int]bool{}
	array := t.ArrayPart(x)
	for i, p := range t.EntryParts(x) {
		if p.Prefix == 0 && i != array {
			m[t.ColumnIndex(p.Column)] = true
		}
	}
	for _, id := range x.Include {
		m[t.ColumnIndex(id)] = true
	}
	return m
}

func (r *Request) covered(x *schema.Index, residual []expr.Expr) bool {
	have := entryColumns(r.Scan.Table, x)
	for _, pos := range r.Needed {
		if !have[pos] {
			return false
		}
	}
	for _, c := range residual {
		if !readsOnly(c, have) {
			return false
		}
	}
	return true
}

func readsOnly(e expr.Expr, have map[int]bool) bool {
	ok := true
	expr.Walk(e, func(x expr.Expr) bool {
		if c, isCol := x.(*expr.Col); isCol && !have[c.Index] {
			ok = false
		}
		return ok
	})
	return ok
}

func (r *Request) splitEntry(x *schema.Index, residual []expr.Expr) (entry, rest []expr.Expr) {
	have := entryColumns(r.Scan.Table, x)
	for _, c := range residual {
		if readsOnly(c, have) {
			entry = append(entry, c)
		} else {
			rest = append(rest, c)
		}
	}
	return entry, rest
}

// delivers reports whether reading the key forward or in reverse gives the
// wanted order. Columns that are fixed to one value may be left out.
func (r *Request) delivers(cols []ranges.Column, set *ranges.Set) (ordered, reverse bool) {
	if len(r.Order) == 0 {
		return true, false
	}
	if set != nil && set.SinglePoint {
		return true, false
	}
	fixed := r.fixedColumns()
	k, first := 0, true
	for _, want := range r.Order {
		if fixed[want.Column] {
			continue
		}
		// A fixed column whose key has only the first characters may still have
		// several keys: 'ß' and 'ss' are equal, their first letters are not.
		for k < len(cols) && cols[k].Table != want.Column && fixed[cols[k].Table] && cols[k].Prefix == 0 {
			k++
		}
		if k == len(cols) {
			return false, false
		}
		c := cols[k]
		if c.Table != want.Column || c.Prefix > 0 {
			return false, false
		}
		rev := c.Desc != want.Desc
		if first {
			reverse, first = rev, false
		} else if rev != reverse {
			return false, false
		}
		k++
		if r.isWholeKey(cols[:k]) {
			break
		}
	}
	return true, reverse
}

// isWholeKey reports whether cols contain the primary key: later columns of an
// order cannot matter.
func (r *Request) isWholeKey(cols []ranges.Column) bool {
	t := r.Scan.Table
	for _, p := range t.PrimaryKey {
		found := false
		for _, c := range cols {
			found = found || c.Table == t.ColumnIndex(p.Column)
		}
		if !found {
			return false
		}
	}
	return true
}

// fixedColumns are the columns that a condition fixes to one value.
func (r *Request) fixedColumns() map[int]bool {
	var fixed map[int]bool
	for _, c := range r.Conds {
		pos := fixes(c)
		if pos < 0 {
			continue
		}
		if fixed == nil {
			fixed = map[int]bool{}
		}
		fixed[pos] = true
	}
	return fixed
}

// fixes is the column that a condition fixes to one value, -1 if none. Strings
// that are equal in another collation than their column's are not one value
// of the column: name = 'x' COLLATE utf8mb4_general_ci.
func fixes(e expr.Expr) int {
	f, ok := e.(*expr.Func)
	if !ok {
		return -1
	}
	var col *expr.Col
	switch f.Op {
	case expr.OpIsNull:
		if col, ok = f.Args[0].(*expr.Col); ok {
			return col.Index
		}
		return -1
	case expr.OpEQ, expr.OpNullEQ:
		if col, ok = f.Args[0].(*expr.Col); !ok || !expr.IsConst(f.Args[1]) {
			if col, ok = f.Args[1].(*expr.Col); !ok || !expr.IsConst(f.Args[0]) {
				return -1
			}
		}
	default:
		return -1
	}
	if col.T.IsString() || isMember(col.T) && !slices.ContainsFunc(f.Args, func(e expr.Expr) bool { return e != expr.Expr(col) && e.Type().ID == col.T.ID }) {
		if coll, known := expr.CompareCollation(f); !known || coll != col.T.Collation {
			return -1
		}
	}
	return col.Index
}

func isMember(t schema.Type) bool { return t.ID == schema.TypeEnum || t.ID == schema.TypeSet }

// estimate fills in rows and costs.
func (r *Request) estimate(p *Path) {
	t := r.Scan.Table
	total := math.Max(r.Est.TableRows(r.Context, t), 1)
	spans := 1.0
	p.Entries = total
	key := p.Key()
	if key.Ranges != nil {
		p.Entries, spans = r.setRows(key, p.Access.FewKeys(), total)
	} else if key.Index != nil && key.Index.Where != 0 {
		n, ok := r.Est.SpanRows(r.Context, t, key.Index, []ranges.Span{{}})
		if !ok {
			n = total * r.partialShare(key.Index, total)
		}
		p.Entries = math.Max(n, 1)
	}
	given := key.Conds()
	fetched := p.Entries * r.share(given, p.EntryFilter, total)
	rest := p.EntryFilter
	for _, c := range p.Residual {
		if key.Index == nil || t.ArrayPart(key.Index) < 0 || !asksArray(c) { // not what the entries were chosen by
			rest = append(rest[:len(rest):len(rest)], c)
		}
	}
	p.Rows = math.Min(p.Entries*r.share(given, rest, total), fetched)
	if p.Unique {
		p.Entries, fetched, p.Rows = math.Min(p.Entries, 1), math.Min(fetched, 1), math.Min(p.Rows, 1)
	}
	r.setCost(p, fetched, spans, total)
}

// setCost sets what p costs that fetches so many rows by its entries.
func (r *Request) setCost(p *Path, fetched, spans, total float64) {
	find, fetch := r.pathCost(p, p.Entries, fetched, spans, total)
	p.Fetched, p.FindCost, p.Cost = fetched, find, find+fetch
	p.LimitedCost = p.Cost
	if r.Limit > 0 && p.Ordered && p.Rows > r.Limit {
		part := r.Limit / p.Rows
		find, fetch = r.pathCost(p, p.Entries*part, fetched*part, math.Max(spans*part, 1), total)
		p.LimitedCost = find + fetch
	}
}

// wideOr is the number of branches from which an OR costs more than other
// conditions: most rows are compared with each of them.
const wideOr = 16

// matchFilters is how many other conditions a MATCH costs: it cuts the text into
// words.
const matchFilters = 700

func isMatch(e expr.Expr) bool {
	f, ok := e.(*expr.Func)
	return ok && f.Match() != nil
}

// filterCost is the cost of checking conditions on a row.
func filterCost(list []expr.Expr) float64 {
	n, texts := len(list), 0
	for _, c := range list {
		f, ok := c.(*expr.Func)
		if ok && (comparesText(f) || f.Op == expr.OpNot && comparesText(f.Args[0])) {
			texts++
		}
		switch {
		case ok && f.Op == expr.OpOr && len(f.Args) > wideOr:
			n += len(f.Args)
		case ok && (isMatch(f) || f.Op == expr.OpGT && isMatch(f.Args[0])):
			n += matchFilters
		}
	}
	return float64(n)*cost.FilterRow + float64(texts)*cost.FilterText
}

// comparesText reports conditions that look into a text.
func comparesText(e expr.Expr) bool {
	f, ok := e.(*expr.Func)
	return ok && (f.Op == expr.OpLike || f.Op == expr.OpRegexp)
}

// pathCost is the cost of reading entries, and of the rows that are fetched by
// them with Lookup.
func (r *Request) pathCost(p *Path, entries, fetched, spans, total float64) (find, fetch float64) {
	index := p.Key().Index
	columns := float64(len(r.Needed)) * cost.ScanColumn
	if p.Access.FewKeys() {
		if p.Lookup {
			fetch = fetched * cost.Get
		}
		return spans * cost.Get, fetch
	}
	row := float64(cost.ScanRow)
	if index != nil {
		row = cost.EntryRow
	}
	find = spans*cost.Seek + entries*(row+columns+(filterCost(p.EntryFilter)+filterCost(p.Residual)))
	if p.Lookup {
		fetch = cost.Lookup(fetched, total) + fetched*columns
	}
	if p.Access.ReadsAll() && r.Parallel > 1 && entries > 50000 && len(r.Order) == 0 {
		n := math.Min(float64(r.Parallel), 4)
		find, fetch = find/n*1.2+cost.ParallelStart, fetch/n*1.2
	}
	return find, fetch
}

// setRows estimates the entries in the spans of a key, and their number. points: each
// span is one of them.
func (r *Request) setRows(k physical.KeyRange, points bool, total float64) (rows, spans float64) {
	if r.Ctx != nil && expr.KnownBefore(k.Ranges.Conds) {
		if list, err := k.Ranges.Spans(r.Ctx); err == nil {
			n := float64(len(list))
			if n == 0 {
				return 0, 0
			}
			if points {
				return n, n
			}
			if rows, ok := r.Est.SpanRows(r.Context, r.Scan.Table, k.Index, list); ok {
				return rows, n
			}
		}
	}
	sel := r.share(nil, k.Ranges.Conds, total)
	if k.Index != nil && k.Index.Where != 0 {
		sel *= r.partialShare(k.Index, total)
	}
	return math.Max(total*sel, 1), 1
}

// guessOne is the fraction of the table's rows that satisfy a condition, by its form and
// the number of different values of its columns.
func (r *Request) guessOne(e expr.Expr, total float64) float64 {
	f, ok := e.(*expr.Func)
	if !ok {
		return 0.5
	}
	switch f.Op {
	case expr.OpEQ, expr.OpNullEQ:
		return r.guessEqual(f, total)
	case expr.OpIsNull:
		return 0.05
	case expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE:
		return 0.33
	case expr.OpNE:
		return 0.9
	case expr.OpIn:
		return math.Min(0.5, float64(len(f.Args)-1)*r.guessEqual(f, total))
	case expr.OpLike:
		return guessLike(f)
	case expr.OpRegexp:
		return 0.1
	case expr.OpMatch, expr.OpTextMatch, expr.OpTextMatchPhrase, expr.OpTextMatchFuzzy:
		return 0.02
	case expr.OpMemberOf, expr.OpJSONContains, expr.OpJSONOverlaps:
		return 0.05
	case expr.OpAnd:
		s := 1.0
		for _, a := range f.Args {
			s *= r.guessOne(a, total)
		}
		return s
	case expr.OpOr:
		// The branches of a long list are alike.
		s, looked := 0.0, f.Args[:min(len(f.Args), 64)]
		for _, a := range looked {
			s += r.guessOne(a, total)
		}
		return math.Min(s*float64(len(f.Args))/float64(len(looked)), 1)
	case expr.OpNot:
		return math.Max(0.05, 1-r.guessOne(f.Args[0], total))
	}
	return 0.5
}

// guessLike is a guess from the pattern: each character that must be at
// the beginning makes the rows fewer, and so do those that must be anywhere.
func guessLike(f *expr.Func) float64 {
	c, ok := f.Args[1].(*expr.Const)
	if !ok || c.D.Kind() != value.KindBytes {
		return 0.1
	}
	pattern := c.D.Bytes()
	prefix, letters := 0, 0
	for i, ch := range pattern {
		switch {
		case ch == '%' || ch == '_':
		case ch >= 0x80 && ch < 0xC0: // not the first byte of a character
		default:
			letters++
			if prefix == i {
				prefix++
			}
		}
	}
	switch {
	case letters == 0:
		return 1
	case prefix > 0:
		return math.Max(0.2*math.Pow(0.5, float64(prefix)), 0.002)
	}
	return math.Max(0.2*math.Pow(0.8, float64(letters)), 0.02)
}

func (r *Request) guessEqual(f *expr.Func, total float64) float64 {
	t := r.Scan.Table
	for _, a := range f.Args[:min(len(f.Args), 2)] { // lists are constants
		c, ok := a.(*expr.Col)
		if !ok || c.Index < 0 || c.Index >= len(t.Columns) {
			continue
		}
		return 1 / DistinctValues(r.Context, t, c.Index, r.Est, total)
	}
	return 0.1
}

// DistinctValues is about the number of different values of a column.
func DistinctValues(ctx context.Context, t *schema.Table, pos int, est Estimator, total float64) float64 {
	id := t.Columns[pos].ID
	if len(t.PrimaryKey) == 1 && t.PrimaryKey[0].Column == id {
		return math.Max(total, 1)
	}
	for _, x := range t.Indexes {
		if x.Unique && t.HoldsAll(&x) && len(x.Parts) == 1 && x.Parts[0].Column == id {
			return math.Max(total, 1)
		}
	}
	if d := est.Distinct(ctx, t, []schema.ColumnID{id}); d > 0 {
		return d
	}
	return math.Max(math.Min(total/10, 1000), math.Min(total, 10))
}

// orderHints are the indexes that must give the order, and those that must not.
func (r *Request) orderHints() (only, not *[]string) {
	if r.Grouping {
		return r.Scan.Opt.Group, r.Scan.Opt.NoGroup
	}
	return r.Scan.Opt.Order, r.Scan.Opt.NoOrder
}

// mayOrder reports whether hints let an index (nil: the primary key) give the
// wanted order.
func (r *Request) mayOrder(x *schema.Index) bool {
	only, not := r.orderHints()
	return !wants(not, x) && (only == nil || wants(only, x))
}

// Forced is the cheapest path that gives the wanted order by an index which a
// hint asks for; nil without.
func (r *Request) Forced(paths []*Path) *Path {
	only, _ := r.orderHints()
	if only == nil || len(r.Order) == 0 {
		return nil
	}
	var best *Path
	for _, p := range paths {
		if p.Ordered && p.Access.ByKey() && wants(only, p.Key().Index) && (best == nil || p.LimitedCost < best.LimitedCost) {
			best = p
		}
	}
	return best
}

// Best is the cheapest path, by the cost up to the limit; forSort is the cost
// that a path pays which does not deliver the wanted order.
func Best(paths []*Path, forSort func(p *Path) float64) *Path {
	var best *Path
	bestCost := math.Inf(1)
	for _, p := range paths {
		c := p.LimitedCost
		if !p.Ordered {
			c = p.Cost + forSort(p)
		}
		if c < bestCost || c == bestCost && best != nil && prefer(p, best) {
			best, bestCost = p, c
		}
	}
	return best
}

// prefer breaks ties: points before ranges before scans, the primary key
// before indexes.
func prefer(a, b *Path) bool { return a.Access.Rank() < b.Access.Rank() }

// Conditions are all conditions that the path's rows satisfy.
func (p *Path) Conditions() []expr.Expr {
	return slices.Concat(p.Access.Conds(), p.EntryFilter, p.Residual)
}

// HintAllows reports whether the hints of a table occurrence allow an index.
func HintAllows(h *logical.IndexHint, name string) bool { return newHints(h).index(name, false) }

// Coverage says whether reading by entries of x needs a look-up, and splits
// the request's conditions into those on the entry and the others.
func Coverage(r *Request, x *schema.Index) (lookup bool, entry, rest []expr.Expr) {
	if r.covered(x, r.Conds) {
		return false, nil, r.Conds
	}
	entry, rest = r.splitEntry(x, r.Conds)
	return true, entry, rest
}
