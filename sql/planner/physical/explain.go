package physical

import (
	"fmt"
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
	// Memory is the most bytes held at a time, Spilled the bytes spilled to
	// Files, cut into Partitions.
	Memory, Spilled, Files, Partitions int64 `json:",omitempty"`
}

// String is the measurements that follow rows, times and loops.
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
	p.lookup(b, l.Inner, LookupTitle(l), depth)
	if x, ok := l.Inner.(*IndexJoin); ok {
		p.lookup(b, x.Entries, lookupTitle(l, x.Entries), depth+1)
	}
}

func (p *Printer) lookup(b *strings.Builder, n TableNode, title string, depth int) {
	indent := strings.Repeat("    ", depth)
	b.WriteString(indent + "-> " + title)
	if !p.HideEstimates {
		fmt.Fprintf(b, "  (rows=%s each)", number(n.Est().Rows))
	}
	p.actual(b, n)
	b.WriteByte('\n')
	details := p.Details(n)
	if s, ok := n.(*Scan); ok && s.Spread != nil {
		details = append([]string{"in each of: " + p.spans(s.Spread)}, details...)
	}
	for _, d := range details {
		b.WriteString(indent + "     " + d + "\n")
	}
}

// LookupTitle names the table side of a lookup join.
func LookupTitle(l *LookupJoin) string {
	if x, ok := l.Inner.(*IndexJoin); ok {
		return Title(x)
	}
	return lookupTitle(l, l.Inner.Leaf())
}

func lookupTitle(l *LookupJoin, s *Scan) string {
	what := "look-up on "
	if l.Unique {
		what = "unique look-up on "
	}
	out := what + tableAt(s)
	if s.Keys {
		return out
	}
	if s.Key().Index != nil {
		out += " covering"
	}
	return out + lockText(&s.TableRead)
}

func lockText(s *TableRead) string {
	switch {
	case !s.Latest:
		return ""
	case s.Lock.Exclusive:
		return " for update"
	}
	return " for share"
}

// tableName is the table with its alias, tableAt with the key of a scan after an
// @.
func tableName(t *TableRead) string {
	if t.Alias != "" && t.Alias != t.Table.Name {
		return t.Table.Name + " " + t.Alias
	}
	return t.Table.Name
}

func tableAt(s *Scan) string { return tableName(&s.TableRead) + "@" + s.Key().Name() }

func (p *Printer) actual(b *strings.Builder, n Node) {
	if p.Actual == nil {
		return
	}
	a, ok := p.Actual(n)
	if !ok {
		b.WriteString(" (never executed)")
		return
	}
	b.WriteString(" (actual ")
	if a.Seconds > 0 { // entries of an index join have no time of their own
		fmt.Fprintf(b, "time=%.3fms ", a.Seconds*1e3)
	}
	fmt.Fprintf(b, "rows=%d loops=%d", a.Rows, a.Loops)
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
		title := n.Access.title(n)
		if n.Keys { // the join locks
			return title
		}
		return title + lockText(&n.TableRead)
	case *IndexJoin:
		return "index join on " + tableName(&n.TableRead) + lockText(&n.TableRead)
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

// keyParts are the columns of the scan's key.
func keyParts(s *Scan) []schema.KeyPart {
	if x := s.Key().Index; x != nil {
		return s.Table.EntryParts(x)
	}
	return s.Table.PrimaryKey
}

// keyNames are the names of some of them.
func keyNames(s *Scan, from, to int) string {
	names := make([]string, 0, to-from)
	for _, part := range keyParts(s)[from:to] {
		names = append(names, s.Table.Columns[s.Table.ColumnIndex(part.Column)].Name)
	}
	return strings.Join(names, ", ")
}

// orderText says in which order a scan gives what it reads.
func (n *Scan) orderText() string {
	out := ""
	if n.Distinct {
		out += " distinct"
	}
	if n.Reverse {
		out += " reverse"
	}
	if n.Ordered {
		out += " in order"
	}
	return out
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
		out = append(n.Access.details(p, n), p.readDetails(&n.TableRead, n.Keys)...)
	case *IndexJoin:
		out = p.readDetails(&n.TableRead, false)
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

// readDetails are the lines about what is read of rows, or, with keys, of the entries
// that lead to them.
func (p *Printer) readDetails(t *TableRead, keys bool) (out []string) {
	if t.Attributes != nil {
		out = append(out, "attributes: "+strings.Join(t.Attributes, ", "))
	}
	if len(t.Filter) > 0 {
		label := "filter: "
		if keys {
			label = "index filter: "
		}
		out = append(out, label+join(t.Filter, " and "))
	}
	if t.Limit != nil {
		out = append(out, "limit hint: "+t.Limit.String())
	}
	if p.Why {
		for _, w := range t.Why {
			out = append(out, "considered: "+w)
		}
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
