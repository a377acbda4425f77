package physical

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
)

// Access is how a Scan finds rows: *FullScan, *RangeScan, *PointGet, *SkipScan,
// *OrderedMerge, *LooseScan, *IndexMerge or *SearchScan. What the rest of the
// system needs of it are methods: only the code that makes an access path
// (planner/access) and the code that opens it (sql/source) distinguish the types.
type Access interface {
	// Key is the key whose entries are read. It is zero, the whole primary key, where
	// rows are found in another way.
	Key() KeyRange
	// Name is the index, or PRIMARY, or how several are merged.
	Name() string
	// ReadsAll reports that no condition bounds what is read.
	ReadsAll() bool
	// ByKey reports that entries of Key are read.
	ByKey() bool
	// Direct reports that what is read are the spans of the key's Ranges.
	Direct() bool
	// Splits reports that what is read can be cut into parts, which are read at
	// the same time.
	Splits() bool
	// Skip describes a scan that reads spans for each combination of values of
	// the first columns of its key: how many these are, 0 for other scans, and
	// the ranges of the columns after them, nil for all. merge: the spans are
	// merged by these.
	Skip() (columns int, following *ranges.Set, merge bool)
	// FewKeys reports that rows are read by keys that are known: no work to share
	// among goroutines.
	FewKeys() bool
	// Conds are the conditions that the rows satisfy by how they are found.
	Conds() []expr.Expr
	// Rank orders paths of the same cost: the least is the best.
	Rank() int
	// String is a word or two for traces: "range", "range skip".
	String() string

	// title names the scan in EXPLAIN, details are the lines below it; row makes
	// the line of EXPLAIN's traditional format and adds to the Extra column, and
	// ranges are the spans shown there.
	title(s *Scan) string
	details(p *Printer, s *Scan) []string
	row(p *Printer, s *Scan, r *Row, extra []string) []string
	ranges() []*ranges.Set
	verify(s *Scan) error
}

// KeyRange is a key of a table and what is read of it.
type KeyRange struct {
	// Index is nil for the primary key.
	Index *schema.Index
	// Ranges is nil for all entries.
	Ranges *ranges.Set
}

// Key is k, for those that embed it.
func (k KeyRange) Key() KeyRange { return k }

// ReadsAll implements Access.
func (k KeyRange) ReadsAll() bool { return false }

// ByKey implements Access.
func (k KeyRange) ByKey() bool { return true }

// Direct implements Access.
func (k KeyRange) Direct() bool { return false }

// Splits implements Access.
func (k KeyRange) Splits() bool { return true }

// Skip implements Access.
func (k KeyRange) Skip() (columns int, following *ranges.Set, merge bool) { return 0, nil, false }

// FewKeys implements Access.
func (k KeyRange) FewKeys() bool { return false }

// Conds are the conditions that the ranges stand for.
func (k KeyRange) Conds() []expr.Expr {
	if k.Ranges == nil {
		return nil
	}
	return k.Ranges.Conds
}

// Name is the index, or PRIMARY.
func (k KeyRange) Name() string {
	if k.Index == nil {
		return "PRIMARY"
	}
	return k.Index.Name
}

// rank is Access.Rank: the primary key before indexes.
func (k KeyRange) rank(kind int) int {
	if k.Index != nil {
		return 2*kind + 1
	}
	return 2 * kind
}

// scanTitle names a scan: rows of the primary key, entries of an index.
func (k KeyRange) scanTitle(s *Scan, rows, entries string) string {
	what := rows
	switch {
	case k.Index != nil && s.Keys:
		what = entries
	case k.Index != nil:
		what = "covering " + entries
	}
	return what + " on " + tableAt(s) + s.orderText()
}

// details are the spans.
func (k KeyRange) details(p *Printer, _ *Scan) []string {
	if k.Ranges == nil {
		return nil
	}
	return []string{"spans: " + p.spans(k.Ranges)}
}

func (k KeyRange) ranges() []*ranges.Set {
	if k.Ranges == nil {
		return nil
	}
	return []*ranges.Set{k.Ranges}
}

// covering adds what EXPLAIN's traditional format says of entries that are enough.
func (k KeyRange) covering(s *Scan, extra []string) []string {
	if k.Index != nil && !s.Keys {
		return append(extra, "Using index")
	}
	return extra
}

// rangeType is the type of the traditional format.
func (k KeyRange) rangeType(r *Row) {
	r.Type = "range"
	if k.Ranges.EqPrefix > 0 && k.Index != nil {
		r.Type, r.Ref = "ref", "const"
	}
}

// FullScan reads all entries of a key.
type FullScan struct{ KeyRange }

// ReadsAll implements Access.
func (a *FullScan) ReadsAll() bool { return true }

// Rank implements Access.
func (a *FullScan) Rank() int { return a.rank(3) }

// String implements Access.
func (a *FullScan) String() string { return "full" }

func (a *FullScan) title(s *Scan) string { return a.scanTitle(s, "full scan", "index scan") }

func (a *FullScan) row(_ *Printer, s *Scan, r *Row, extra []string) []string {
	r.Type = "index"
	if a.Index == nil {
		r.Type = "ALL"
		if !s.Ordered {
			r.Key, r.PossibleKeys = "", ""
		}
	}
	return a.covering(s, extra)
}

func (a *FullScan) verify(*Scan) error {
	if a.Ranges != nil {
		return fmt.Errorf("a full scan of %s", a.Ranges.Conds)
	}
	return nil
}

// RangeScan reads spans of a key.
type RangeScan struct{ KeyRange }

// Direct implements Access.
func (a *RangeScan) Direct() bool { return true }

// Rank implements Access.
func (a *RangeScan) Rank() int { return a.rank(2) }

// String implements Access.
func (a *RangeScan) String() string { return "range" }

func (a *RangeScan) title(s *Scan) string { return a.scanTitle(s, "range scan", "index scan") }

func (a *RangeScan) row(_ *Printer, s *Scan, r *Row, extra []string) []string {
	a.rangeType(r)
	return a.covering(s, extra)
}

func (a *RangeScan) verify(*Scan) error { return needsRanges(a.KeyRange) }

func needsRanges(k KeyRange) error {
	if k.Ranges == nil {
		return fmt.Errorf("no ranges of %s", k.Name())
	}
	return nil
}

// PointGet reads one or several whole keys of the primary key or of a unique
// index: Ranges.Point holds.
type PointGet struct{ KeyRange }

// Splits implements Access.
func (a *PointGet) Splits() bool { return false }

// FewKeys implements Access.
func (a *PointGet) FewKeys() bool { return true }

// Direct implements Access.
func (a *PointGet) Direct() bool { return true }

// Rank implements Access.
func (a *PointGet) Rank() int { return a.rank(1) }

// String implements Access.
func (a *PointGet) String() string { return "point" }

func (a *PointGet) title(s *Scan) string {
	what := "multi-point get"
	if a.Ranges.SinglePoint {
		what = "point get"
	}
	return what + " on " + tableAt(s) + s.orderText()
}

func (a *PointGet) row(_ *Printer, s *Scan, r *Row, extra []string) []string {
	r.Type = "range"
	if a.Ranges.SinglePoint {
		r.Type, r.Ref = "const", "const"
	}
	return a.covering(s, extra)
}

func (a *PointGet) verify(*Scan) error { return needsRanges(a.KeyRange) }

// SkipScan reads, for each combination of values of the first Columns columns of
// the key, which Ranges is about, the spans of the columns after them.
type SkipScan struct {
	KeyRange
	Columns int
	Behind  *ranges.Set // of the columns after the first ones
}

// Conds implements Access.
func (a *SkipScan) Conds() []expr.Expr { return slices.Concat(a.KeyRange.Conds(), a.Behind.Conds) }

// Skip implements Access.
func (a *SkipScan) Skip() (columns int, following *ranges.Set, merge bool) {
	return a.Columns, a.Behind, false
}

// Rank implements Access.
func (a *SkipScan) Rank() int { return a.rank(2) }

// String implements Access.
func (a *SkipScan) String() string { return "range skip" }

func (a *SkipScan) title(s *Scan) string { return a.scanTitle(s, "range scan", "index skip scan") }

func (a *SkipScan) details(p *Printer, s *Scan) []string {
	return append(a.KeyRange.details(p, s), fmt.Sprintf("for each value of %s: %s", keyNames(s, 0, a.Columns), p.spans(a.Behind)))
}

func (a *SkipScan) row(p *Printer, _ *Scan, r *Row, extra []string) []string {
	r.Type = "range"
	return append(extra, "Using index for skip scan")
}

func (a *SkipScan) ranges() []*ranges.Set {
	if a.Behind == nil {
		return a.KeyRange.ranges()
	}
	return append(a.KeyRange.ranges(), a.Behind)
}

func (a *SkipScan) verify(*Scan) error {
	if a.Index == nil || a.Behind == nil || a.Columns < 1 || a.Columns >= len(a.Index.Parts) {
		return fmt.Errorf("skips %d columns", a.Columns)
	}
	return nil
}

// OrderedMerge reads, for each combination of values of the first Columns columns of
// the key, which Ranges is about, the spans of the columns after them, and merges
// them: entries come in the order of the By columns after the first ones, equal ones
// in the order of these.
type OrderedMerge struct {
	KeyRange
	Columns, By int
	Behind      *ranges.Set // of the columns after the first ones; nil for all entries
	// Values is the estimate of how many combinations there are.
	Values float64
}

// Conds implements Access.
func (a *OrderedMerge) Conds() []expr.Expr {
	if a.Behind == nil {
		return a.KeyRange.Conds()
	}
	return slices.Concat(a.KeyRange.Conds(), a.Behind.Conds)
}

// Skip implements Access.
func (a *OrderedMerge) Skip() (columns int, following *ranges.Set, merge bool) {
	return a.Columns, a.Behind, true
}

// Rank implements Access.
func (a *OrderedMerge) Rank() int { return a.rank(2) }

// String implements Access.
func (a *OrderedMerge) String() string { return "range merge" }

func (a *OrderedMerge) title(s *Scan) string {
	return "merged " + a.scanTitle(s, "range scan", "index scan")
}

// text says what the merge does; the number of ranges is an estimate where it is
// not written in the query.
func (a *OrderedMerge) text(s *Scan) string {
	noun := "ranges"
	if math.Round(a.Values) == 1 {
		noun = "range"
	}
	return fmt.Sprintf("merge over %.0f %s by %s, one for each value of %s", a.Values, noun, keyNames(s, a.Columns, a.Columns+a.By), keyNames(s, 0, a.Columns))
}

func (a *OrderedMerge) details(p *Printer, s *Scan) []string {
	text := a.text(s)
	if a.Behind != nil {
		text += ": " + p.spans(a.Behind)
	}
	return append(a.KeyRange.details(p, s), text)
}

func (a *OrderedMerge) row(p *Printer, s *Scan, r *Row, extra []string) []string {
	r.Type = "range"
	return a.covering(s, append(extra, "Using "+a.text(s)))
}

func (a *OrderedMerge) ranges() []*ranges.Set {
	if a.Behind == nil {
		return a.KeyRange.ranges()
	}
	return append(a.KeyRange.ranges(), a.Behind)
}

func (a *OrderedMerge) verify(s *Scan) error {
	if !s.Ordered || s.Distinct || a.Columns < 1 || a.By < 1 {
		return fmt.Errorf("merges by %d columns behind %d", a.By, a.Columns)
	}
	return nil
}

// LooseScan reads, of the entries with the same values in the first Columns
// columns, the first one, with Last the last one too, and with Value also those
// next to the NULLs in the column after them.
type LooseScan struct {
	KeyRange
	Columns     int
	Last, Value bool
}

// ReadsAll implements Access.
func (a *LooseScan) ReadsAll() bool { return a.Ranges == nil }

// Splits implements Access.
func (a *LooseScan) Splits() bool { return false }

// Rank implements Access.
func (a *LooseScan) Rank() int {
	if a.Ranges == nil {
		return a.rank(3)
	}
	return a.rank(2)
}

// String implements Access.
func (a *LooseScan) String() string {
	if a.Ranges == nil {
		return "full loose"
	}
	return "range loose"
}

func (a *LooseScan) title(s *Scan) string {
	if a.Index == nil {
		return "loose scan on " + tableAt(s) + s.orderText()
	}
	return "covering loose index scan on " + tableAt(s) + s.orderText()
}

func (a *LooseScan) details(p *Printer, s *Scan) []string {
	return append(a.KeyRange.details(p, s), "ends of each value of "+keyNames(s, 0, a.Columns))
}

func (a *LooseScan) row(_ *Printer, _ *Scan, r *Row, extra []string) []string {
	r.Type = "range"
	return append(extra, "Using index for group-by")
}

func (a *LooseScan) verify(s *Scan) error {
	if s.Latest || s.Keys {
		return fmt.Errorf("a loose scan whose entries lead to rows")
	}
	return nil
}

// IndexMerge is the rows that several keys lead to: those of any part, or, with
// Intersect, those of all. They come in the order of the primary key, and the
// scan's Filter has all conditions.
type IndexMerge struct {
	Intersect bool
	Parts     []KeyRange
}

// Key implements Access.
func (a *IndexMerge) Key() KeyRange { return KeyRange{} }

// ReadsAll implements Access.
func (a *IndexMerge) ReadsAll() bool { return false }

// ByKey implements Access.
func (a *IndexMerge) ByKey() bool { return false }

// Direct implements Access.
func (a *IndexMerge) Direct() bool { return false }

// Splits implements Access.
func (a *IndexMerge) Splits() bool { return false }

// Skip implements Access.
func (a *IndexMerge) Skip() (columns int, following *ranges.Set, merge bool) { return 0, nil, false }

// FewKeys implements Access.
func (a *IndexMerge) FewKeys() bool { return false }

// Conds implements Access: the scan's Filter has all.
func (a *IndexMerge) Conds() []expr.Expr { return nil }

// Rank implements Access.
func (a *IndexMerge) Rank() int { return 8 }

// String implements Access.
func (a *IndexMerge) String() string { return "merge" }

// names are the indexes of the parts.
func (a *IndexMerge) names() string {
	list := make([]string, len(a.Parts))
	for i := range a.Parts {
		list[i] = a.Parts[i].Name()
	}
	return strings.Join(list, ",")
}

// Sorts reports whether the entries of a part do not come in the order of the
// rows: MySQL's sort_union.
func (a *IndexMerge) Sorts() bool {
	for _, part := range a.Parts {
		if part.Index != nil && part.Ranges.EqPrefix < min(len(part.Index.Parts), len(part.Ranges.Columns)) {
			return true
		}
	}
	return false
}

// Name implements Access.
func (a *IndexMerge) Name() string {
	if a.Intersect {
		return "intersect(" + a.names() + ")"
	}
	if a.Sorts() {
		return "sort_union(" + a.names() + ")"
	}
	return "union(" + a.names() + ")"
}

func (a *IndexMerge) title(s *Scan) string {
	return "index merge on " + tableName(&s.TableRead) + ", " + a.Name() + s.orderText()
}

func (a *IndexMerge) details(p *Printer, _ *Scan) []string {
	out := make([]string, len(a.Parts))
	for i, part := range a.Parts {
		out[i] = part.Name() + ": " + p.spans(part.Ranges)
	}
	return out
}

func (a *IndexMerge) row(_ *Printer, _ *Scan, r *Row, extra []string) []string {
	r.Type, r.Key = "index_merge", a.names()
	r.PossibleKeys = r.Key
	return append([]string{"Using " + a.Name()}, extra...)
}

func (a *IndexMerge) ranges() []*ranges.Set { return nil }

func (a *IndexMerge) verify(s *Scan) error {
	if len(a.Parts) < 2 || s.Keys {
		return fmt.Errorf("a merge of %d parts", len(a.Parts))
	}
	return nil
}
