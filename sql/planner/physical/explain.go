package physical

import (
	"fmt"
	"math"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Actual is what EXPLAIN ANALYZE measured of a node.
type Actual struct {
	Rows, Batches, Loops int64
	Seconds              float64
	// Keys and Bytes were read from the store, by Seeks scans and point reads.
	Keys, Bytes, Seeks int64 `json:",omitempty"`
	// Segments, Candidates, Hits, Overlay and Waited are of a search index, see
	// exec.Counters; of the hits, Aggregated were aggregated in it.
	Segments, Candidates, Hits, Overlay, Waited, Aggregated int64 `json:",omitempty"`
	// Memory is the most bytes held at a time, Spilled the bytes put aside in
	// Files, cut into Partitions.
	Memory, Spilled, Files, Partitions int64 `json:",omitempty"`
}

// String is the measurements behind rows, times and loops.
func (a *Actual) String() string {
	var b strings.Builder
	for _, x := range []struct {
		name string
		n    int64
	}{{"segments", a.Segments}, {"candidates", a.Candidates}, {"hits", a.Hits}, {"overlay", a.Overlay}, {"waited_ns", a.Waited}, {"aggregated", a.Aggregated},
		{"keys", a.Keys}, {"bytes", a.Bytes}, {"seeks", a.Seeks}, {"memory", a.Memory}, {"spilled", a.Spilled}, {"files", a.Files}, {"partitions", a.Partitions}} {
		if x.n > 0 {
			fmt.Fprintf(&b, " %s=%d", x.name, x.n)
		}
	}
	return b.String()
}

// Printer prints plans.
type Printer struct {
	// Ctx evaluates spans; nil prints conditions instead.
	Ctx *expr.Ctx
	// Actual gives the measurements of a node; nil for EXPLAIN without ANALYZE.
	Actual func(n Node) (Actual, bool)
	// Change are the rows that a change changed, and its time; nil without
	// ANALYZE.
	Change *Actual
	// Estimates are left out when set (golden tests that do not depend on them).
	HideEstimates bool
	// Why adds the paths that were compared.
	Why bool
}

// Tree is the plan as an indented tree, one operator a line with its details
// below, as EXPLAIN FORMAT=TREE prints it.
func (p *Printer) Tree(plan *Plan) string {
	var b strings.Builder
	depth := 0
	if plan.Change != nil {
		b.WriteString("-> " + changeTitle(plan.Change))
		if c := p.Change; c != nil {
			fmt.Fprintf(&b, " (actual time=%.3fms rows=%d)", c.Seconds*1e3, c.Rows)
		}
		b.WriteByte('\n')
		if c, ok := plan.Change.(*Insert); ok && plan.Root == nil {
			fmt.Fprintf(&b, "    -> values (rows=%d)\n", len(c.Rows))
		}
		depth = 1
	}
	if plan.Root != nil {
		p.node(&b, plan.Root, depth)
	}
	for i, s := range plan.Subplans {
		if s == nil {
			continue
		}
		how := "run once"
		if plan.IsDependent(i) {
			how = "dependent"
		}
		fmt.Fprintf(&b, "-> subquery#%d (%s)\n", i+1, how)
		p.node(&b, s, 1)
	}
	for _, c := range plan.CTEs {
		p.cte(&b, c)
	}
	return b.String()
}

// changeTitle is what a change does to which tables.
func changeTitle(change any) string {
	verb := "update"
	var tables []string
	switch c := change.(type) {
	case *Insert:
		verb, tables = "insert", []string{c.Table.Name}
		if c.Replace {
			verb = "replace"
		}
	case *Update:
		tables = []string{c.Table.Name}
	case *Delete:
		verb, tables = "delete", []string{c.Table.Name}
		if c.Limit != nil {
			tables = append(tables, "limit "+c.Limit.String())
		}
	case *MultiUpdate:
		for _, t := range c.Targets {
			tables = append(tables, t.Table.Name)
		}
	case *MultiDelete:
		verb = "delete"
		for _, t := range c.Targets {
			tables = append(tables, t.Table.Name)
		}
	}
	return verb + " " + strings.Join(tables, " ")
}

func (p *Printer) node(b *strings.Builder, n Node, depth int) {
	indent := strings.Repeat("    ", depth)
	b.WriteString(indent + "-> " + Title(n))
	if !p.HideEstimates {
		e := n.Est()
		fmt.Fprintf(b, "  (cost=%s rows=%s)", number(e.Cost), number(e.Rows))
	}
	p.actual(b, n)
	b.WriteByte('\n')
	for _, d := range p.Details(n) {
		b.WriteString(indent + "     " + d + "\n")
	}
	for _, in := range n.Inputs() {
		p.node(b, in, depth+1)
	}
	if l, ok := n.(*LookupJoin); ok {
		p.inner(b, l, depth+1)
	}
}

// cte prints a common table expression that is computed once.
func (p *Printer) cte(b *strings.Builder, c *CTE) {
	what := "materialize"
	if len(c.Recursive) > 0 {
		what = "materialize recursive"
	}
	how := "run once"
	if c.Dependent {
		how = "dependent"
	}
	fmt.Fprintf(b, "-> %s %s (%s)\n", what, c.Name, how)
	if c.Distinct {
		b.WriteString("     distinct\n")
	}
	if c.Count != nil || c.Offset != nil {
		b.WriteString("     " + limitText(c.Count, c.Offset) + "\n")
	}
	p.node(b, c.Seed, 1)
	for _, r := range c.Recursive {
		b.WriteString("    -> repeat until there are no new rows\n")
		p.node(b, r, 2)
	}
}

// inner prints the table side of a lookup join, which is no operator of its
// own.
func (p *Printer) inner(b *strings.Builder, l *LookupJoin, depth int) {
	indent := strings.Repeat("    ", depth)
	b.WriteString(indent + "-> " + LookupTitle(l))
	if !p.HideEstimates {
		fmt.Fprintf(b, "  (rows=%s each)", number(l.Inner.Est().Rows))
	}
	p.actual(b, l.Inner)
	b.WriteByte('\n')
	for _, d := range p.Details(l.Inner) {
		b.WriteString(indent + "     " + d + "\n")
	}
}

// LookupTitle names the table side of a lookup join.
func LookupTitle(l *LookupJoin) string {
	what := "look-up on "
	if l.Unique {
		what = "unique look-up on "
	}
	out := what + tableAt(l.Inner)
	if l.Inner.Index != nil && !l.Inner.Lookup {
		out += " covering"
	}
	return out + lockText(l.Inner)
}

func lockText(s *Scan) string {
	switch {
	case !s.Latest:
		return ""
	case s.Lock.Exclusive:
		return " for update"
	}
	return " for share"
}

// tableAt is table alias@index.
func tableAt(s *Scan) string {
	name := s.Table.Name
	if s.Alias != "" && s.Alias != name {
		name += " " + s.Alias
	}
	if s.Index != nil {
		return name + "@" + s.Index.Name
	}
	return name + "@PRIMARY"
}

func (p *Printer) actual(b *strings.Builder, n Node) {
	if p.Actual == nil {
		return
	}
	a, ok := p.Actual(n)
	if !ok {
		b.WriteString(" (never executed)")
		return
	}
	fmt.Fprintf(b, " (actual time=%.3fms rows=%d loops=%d", a.Seconds*1e3, a.Rows, a.Loops)
	b.WriteString(a.String() + ")")
}

// number prints estimates without false precision.
func number(f float64) string {
	switch {
	case f < 10:
		s := fmt.Sprintf("%.1f", f)
		return strings.TrimSuffix(s, ".0")
	case f < 1e9:
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

// Title is the operator's name with its object.
func Title(n Node) string {
	switch n := n.(type) {
	case *Scan:
		return scanTitle(n)
	case *Virtual:
		return "virtual table " + n.Name
	case *Values:
		return fmt.Sprintf("values (%d rows)", len(n.Rows))
	case *JSONTable:
		return "json_table " + n.Spec.Name
	case *CTEScan:
		if n.Work {
			return "scan on " + n.CTE.Name + ", rows of the last iteration"
		}
		return "scan on " + n.CTE.Name
	case *Filter:
		return "filter"
	case *Project:
		return "project"
	case *HashJoin:
		s := "hash join (" + n.Kind.String() + ")"
		if n.BuildLeft {
			s += " build left"
		}
		return s
	case *MergeJoin:
		return "merge join (" + n.Kind.String() + ")"
	case *LookupJoin:
		return "lookup join (" + n.Kind.String() + ")"
	case *NestedLoop:
		return "nested loop (" + n.Kind.String() + ")"
	case *Apply:
		return "apply (" + n.Kind.String() + ")"
	case *HashAggregate:
		if n.Parallel > 1 {
			return fmt.Sprintf("hash aggregate, %d partial", n.Parallel)
		}
		if len(n.GroupBy) == 0 {
			return "aggregate"
		}
		return "hash aggregate"
	case *StreamAggregate:
		return "stream aggregate"
	case *Rollup:
		return "rollup"
	case *Window:
		return "window"
	case *Distinct:
		if n.Sorted {
			return "sorted distinct"
		}
		return "distinct"
	case *Sort:
		return "sort"
	case *TopK:
		return "top-k"
	case *Limit:
		return "limit"
	case *SetOperation:
		s := [...]string{"union", "intersect", "except"}[n.Op]
		if n.All {
			s += " all"
		}
		return s
	}
	return fmt.Sprintf("%T", n)
}

// keyNames are columns of the scan's key.
func keyNames(s *Scan, from, to int) string {
	parts := s.Table.PrimaryKey
	if s.Index != nil {
		parts = s.Table.EntryParts(s.Index)
	}
	names := make([]string, 0, to-from)
	for _, part := range parts[from:to] {
		names = append(names, s.Table.Columns[s.Table.ColumnIndex(part.Column)].Name)
	}
	return strings.Join(names, ", ")
}

// mergeText says what a merge of ranges does; their number is an estimate
// where it is not written in the query.
func mergeText(s *Scan) string {
	n, ranges := s.Skip.Columns, "ranges"
	if math.Round(s.Skip.Values) == 1 {
		ranges = "range"
	}
	return fmt.Sprintf("merge over %.0f %s by %s, one for each value of %s", s.Skip.Values, ranges, keyNames(s, n, n+s.Skip.By), keyNames(s, 0, n))
}

func (p *MergePart) name() string {
	if p.Index == nil {
		return "PRIMARY"
	}
	return p.Index.Name
}

// names are the indexes of the parts.
func (m *IndexMerge) names() string {
	list := make([]string, len(m.Parts))
	for i := range m.Parts {
		list[i] = m.Parts[i].name()
	}
	return strings.Join(list, ",")
}

// Sorts reports whether the entries of a part do not come in the order of the
// rows: MySQL's sort_union.
func (m *IndexMerge) Sorts() bool {
	for _, part := range m.Parts {
		if part.Index != nil && part.Ranges.EqPrefix < min(len(part.Index.Parts), len(part.Ranges.Columns)) {
			return true
		}
	}
	return false
}

// String is how EXPLAIN names the merge.
func (m *IndexMerge) String() string {
	if m.Intersect {
		return "intersect(" + m.names() + ")"
	}
	if m.Sorts() {
		return "sort_union(" + m.names() + ")"
	}
	return "union(" + m.names() + ")"
}

func scanTitle(s *Scan) string {
	var what string
	switch {
	case s.Kind == AccessMerge:
		out := "index merge on " + strings.TrimSuffix(tableAt(s), "@PRIMARY") + ", " + s.Merge.String()
		if s.Reverse {
			out += " reverse"
		}
		if s.Ordered {
			out += " in order"
		}
		return out + lockText(s)
	case s.Search != nil:
		what = "search"
		if s.Search.Covering {
			what = "covering search"
		}
		out := what + " on " + strings.TrimSuffix(tableAt(s), "@PRIMARY") + "@" + s.Search.Index.Name
		if s.Search.Order != nil {
			out += " of the first"
		}
		return out + lockText(s)
	case s.Kind == AccessPoint && s.Ranges != nil && s.Ranges.SinglePoint:
		what = "point get"
	case s.Kind == AccessPoint:
		what = "multi-point get"
	case s.Index == nil && s.Kind == AccessFull:
		what = "full scan"
	case s.Index == nil:
		what = "range scan"
	case s.Lookup:
		what = "index scan with look-up"
	default:
		what = "covering index scan"
	}
	switch {
	case s.Skip != nil && s.Skip.Merge:
		what = "merged " + what
	case s.Skip != nil:
		what = strings.Replace(what, "index scan", "index skip scan", 1)
	case s.Loose != nil && s.Index == nil:
		what = "loose scan"
	case s.Loose != nil:
		what = strings.Replace(what, "index scan", "loose index scan", 1)
	}
	out := what + " on " + tableAt(s)
	if s.Distinct {
		out += " distinct"
	}
	if s.Reverse {
		out += " reverse"
	}
	if s.Ordered {
		out += " in order"
	}
	return out + lockText(s)
}

func joinKeys(left, right []expr.Expr) string {
	keys := make([]string, len(left))
	for i := range keys {
		keys[i] = left[i].String() + " = " + right[i].String()
	}
	return strings.Join(keys, " and ")
}

// Details are the lines below an operator: spans, filters, keys, limits.
func (p *Printer) Details(n Node) []string {
	var out []string
	add := func(label string, list []expr.Expr) {
		if len(list) > 0 {
			out = append(out, label+": "+join(list, " and "))
		}
	}
	switch n := n.(type) {
	case *Scan:
		if n.Ranges != nil {
			out = append(out, "spans: "+p.spans(n.Ranges))
		}
		switch {
		case n.Skip != nil && n.Skip.Merge:
			text := mergeText(n)
			if n.Skip.Ranges != nil {
				text += ": " + p.spans(n.Skip.Ranges)
			}
			out = append(out, text)
		case n.Skip != nil:
			out = append(out, fmt.Sprintf("for each value of %s: %s", keyNames(n, 0, n.Skip.Columns), p.spans(n.Skip.Ranges)))
		}
		if n.Loose != nil {
			out = append(out, "ends of each value of "+keyNames(n, 0, n.Loose.Columns))
		}
		if n.Search != nil {
			out = append(out, n.Search.details(p, n)...)
		}
		if n.Merge != nil {
			for _, part := range n.Merge.Parts {
				out = append(out, part.name()+": "+p.spans(part.Ranges))
			}
		}
		if n.Attributes != nil {
			out = append(out, "attributes: "+strings.Join(n.Attributes, ", "))
		}
		add("index filter", n.IndexFilter)
		add("filter", n.Filter)
		if n.Limit != nil {
			out = append(out, "limit hint: "+n.Limit.String())
		}
		if p.Why {
			for _, w := range n.Why {
				out = append(out, "considered: "+w)
			}
		}
	case *JSONTable:
		out = append(out, "document: "+n.Doc.String())
	case *Filter:
		add("filter", n.Conds)
	case *Project:
		out = append(out, "exprs: "+join(n.Exprs, ", "))
	case *HashJoin:
		out = append(out, "on: "+joinKeys(n.LeftKeys, n.RightKeys))
		add("filter", n.Filter)
	case *MergeJoin:
		out = append(out, "on: "+joinKeys(n.LeftKeys, n.RightKeys))
		add("filter", n.Filter)
	case *LookupJoin:
		out = append(out, "keys: "+join(n.Keys, ", "))
		add("filter", n.Filter)
	case *NestedLoop:
		add("filter", n.Filter)
	case *Apply:
		out = append(out, "for each: "+join(n.Params, ", "))
		add("filter", n.Filter)
	case *HashAggregate:
		out = append(out, groupDetails(n.GroupBy, n.Aggs)...)
	case *StreamAggregate:
		out = append(out, groupDetails(n.GroupBy, n.Aggs)...)
	case *Rollup:
		out = append(out, groupDetails(n.GroupBy, n.Aggs)...)
	case *Window:
		out = append(out, windowDetails(n)...)
	case *Sort:
		out = append(out, "by: "+keyText(n.Keys))
	case *TopK:
		out = append(out, "by: "+keyText(n.Keys), limitText(n.Count, n.Offset))
	case *Limit:
		out = append(out, limitText(n.Count, n.Offset))
	}
	return out
}

func groupDetails(groups []expr.Expr, aggs []*expr.Agg) []string {
	var out []string
	if len(groups) > 0 {
		out = append(out, "group by: "+join(groups, ", "))
	}
	if len(aggs) > 0 {
		parts := make([]string, len(aggs))
		for i, a := range aggs {
			parts[i] = a.String()
		}
		out = append(out, "aggregates: "+strings.Join(parts, ", "))
	}
	return out
}

func limitText(count, offset expr.Expr) string {
	var s string
	if count != nil {
		s = "limit: " + count.String()
	}
	if offset != nil {
		if s != "" {
			s += " "
		}
		s += "offset: " + offset.String()
	}
	return s
}

func keyText(keys []SortKey) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = k.Expr.String()
		if k.Desc {
			parts[i] += " desc"
		}
	}
	return strings.Join(parts, ", ")
}

func join(list []expr.Expr, sep string) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = e.String()
	}
	return strings.Join(parts, sep)
}

// maxSpansShown is how many spans EXPLAIN prints.
const maxSpansShown = 5

// spans prints the spans of a set with their values, or its conditions when
// they cannot be evaluated yet.
func (p *Printer) spans(s *ranges.Set) string {
	if p.Ctx == nil || !expr.KnownBefore(s.Conds) {
		return join(s.Conds, " and ")
	}
	list, err := s.Spans(p.Ctx)
	if err != nil {
		return join(s.Conds, " and ")
	}
	if len(list) == 0 {
		return "none"
	}
	var parts []string
	for i, sp := range list {
		if i == maxSpansShown {
			parts = append(parts, fmt.Sprintf("… %d in all", len(list)))
			break
		}
		parts = append(parts, SpanText(s, sp))
	}
	return strings.Join(parts, " ")
}

// SpanText prints a span in key order: [/2/10 - /2/20), with ∞ for open ends.
func SpanText(s *ranges.Set, sp ranges.Span) string {
	if sp.Prefix {
		return "[" + keyValues(s, sp.Low) + "…]"
	}
	low, high := keyValues(s, sp.Low), keyValues(s, sp.High)
	if low == high && !sp.LowOpen && !sp.HighOpen && low != "" {
		return "[" + low + "]"
	}
	open, shut := "[", "]"
	if sp.LowOpen || low == "" {
		open = "("
	}
	if sp.HighOpen || high == "" {
		shut = ")"
	}
	if low == "" {
		low = "-∞"
	}
	if high == "" {
		high = "∞"
	}
	return open + low + " - " + high + shut
}

func keyValues(s *ranges.Set, vals []value.Datum) string {
	var b strings.Builder
	for i, d := range vals {
		b.WriteByte('/')
		switch {
		case d.IsNull():
			b.WriteString("NULL")
		case d.Kind() == value.KindBytes || d.Kind() == value.KindTime || d.Kind() == value.KindDuration:
			b.WriteString("'" + string(types.AppendText(nil, s.Columns[i].Type, d)) + "'")
		default:
			b.Write(types.AppendText(nil, boundType(s.Columns[i].Type, d), d))
		}
	}
	return b.String()
}

// boundType is the type in which the end of a span is printed: that of its column,
// with all digits of the value.
func boundType(t schema.Type, d value.Datum) schema.Type {
	if t.ID == schema.TypeDecimal && d.Kind() == value.KindDecimal {
		t.Scale = max(t.Scale, d.Decimal().Scale())
	}
	return t
}
