package physical

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// Row is a line of EXPLAIN's traditional format.
type Row struct {
	ID                        int
	SelectType, Table         string
	Partitions                string // their names, "" for a table without any
	Type                      string
	PossibleKeys, Key, KeyLen string
	Ref                       string
	Rows                      int64
	Filtered                  float64
	Extra                     string
}

// Rows is the plan in EXPLAIN's traditional format, one line a table access.
func (p *Printer) Rows(plan *Plan) []Row {
	var out []Row
	selectType := "SIMPLE"
	if len(plan.Subplans)+len(plan.CTEs) > 0 {
		selectType = "PRIMARY"
	}
	switch c := plan.Change.(type) {
	case *Insert:
		verb := "INSERT"
		if c.Replace {
			verb = "REPLACE"
		}
		out = append(out, Row{ID: 1, SelectType: verb, Table: c.Table.Name, Type: "ALL", Filtered: 100})
	case *Update, *MultiUpdate:
		selectType = "UPDATE"
	case *Delete, *MultiDelete:
		selectType = "DELETE"
	}
	if plan.Root != nil {
		p.rows(&out, plan.Root, 1, selectType, nil)
	}
	for i, s := range plan.Subplans {
		if s == nil {
			continue
		}
		kind := "SUBQUERY"
		if plan.IsDependent(i) {
			kind = "DEPENDENT SUBQUERY"
		}
		p.rows(&out, s, i+2, kind, nil)
	}
	for i, c := range plan.CTEs {
		id := len(plan.Subplans) + i + 2
		p.rows(&out, c.Seed, id, "DERIVED", nil)
		for _, r := range c.Recursive {
			p.rows(&out, r, id, "UNION", []string{"Recursive"})
		}
	}
	return out
}

func (p *Printer) rows(out *[]Row, n Node, id int, selectType string, extra []string) {
	switch x := n.(type) {
	case TableNode:
		*out = append(*out, p.scanRow(x, id, selectType, extra, ""))
		return
	case *Virtual:
		*out = append(*out, Row{ID: id, SelectType: selectType, Table: x.Name, Type: "ALL", Rows: 100, Filtered: 100, Extra: strings.Join(extra, "; ")})
		return
	case *JSONTable:
		*out = append(*out, Row{ID: id, SelectType: selectType, Table: x.Spec.Name, Type: "ALL", Rows: int64(math.Ceil(x.Est().Rows)), Filtered: 100,
			Extra: strings.Join(append([]string{"Table function: json_table", "Using temporary"}, extra...), "; ")})
		return
	case *CTEScan:
		*out = append(*out, Row{ID: id, SelectType: selectType, Table: x.CTE.Name, Type: "ALL", Rows: int64(math.Ceil(x.Est().Rows)), Filtered: 100, Extra: strings.Join(extra, "; ")})
		return
	case *Values:
		text := "No tables used"
		if len(x.Rows) == 0 {
			text = "Impossible WHERE"
		}
		*out = append(*out, Row{ID: id, SelectType: selectType, Filtered: 100, Extra: strings.Join(append([]string{text}, extra...), "; ")})
		return
	case *Sort, *TopK:
		extra = append(extra, "Using filesort")
	case *HashAggregate:
		if len(x.GroupBy) > 0 {
			extra = append(extra, "Using temporary")
		}
	case *Distinct:
		if !x.Sorted {
			extra = append(extra, "Using temporary")
		}
	case *Filter:
		extra = append(extra, "Using where")
	case *LookupJoin:
		p.rows(out, x.Left, id, selectType, extra)
		*out = append(*out, p.lookupRow(x, id, selectType))
		return
	}
	in := n.Inputs()
	for i, c := range in {
		e := extra
		if i > 0 {
			e = nil
			switch n.(type) {
			case *HashJoin:
				e = []string{"Using join buffer (hash join)"}
			case *MergeJoin:
				e = []string{"Using merge join"}
			case *Apply:
				e = []string{"Run for each row"}
			}
		}
		st := selectType
		if _, ok := n.(*SetOperation); ok && i > 0 {
			st = "UNION"
		}
		p.rows(out, c, id, st, e)
	}
}

func (p *Printer) lookupRow(l *LookupJoin, id int, selectType string) Row {
	r := p.scanRow(l.Inner, id, selectType, nil, join(l.Keys, ","))
	r.Type = "ref"
	if l.Unique {
		r.Type = "eq_ref"
	}
	return r
}

// scanRow is the line of a table; ref is what a join looks up in it, "" for none.
func (p *Printer) scanRow(n TableNode, id int, selectType string, extra []string, ref string) Row {
	t, s := n.Reads(), n.Leaf()
	r := Row{ID: id, SelectType: selectType, Table: t.Alias, Rows: int64(math.Ceil(math.Min(n.Est().Rows, 1e18))), Filtered: 100, Ref: ref}
	if r.Table == "" {
		r.Table = t.Table.Name
	}
	key := s.Key()
	r.Partitions = p.partitions(t.Table, s)
	r.Key = key.Name()
	r.PossibleKeys = r.Key
	if ref == "" {
		extra = s.Access.row(p, s, &r, extra)
	}
	if len(t.Filter) > 0 {
		extra = append([]string{"Using where"}, extra...)
	}
	if s.Keys && len(s.Filter) > 0 {
		extra = append(extra, "Using index condition")
	}
	if ref != "" {
		extra = key.covering(s, extra)
	}
	if s.Reverse {
		extra = append(extra, "Backward index scan")
	}
	for _, set := range s.Access.ranges() {
		extra = append(extra, "spans: "+p.spans(set))
	}
	if len(t.Filter) > 0 {
		extra = append(extra, "filter: "+join(t.Filter, " and "))
	}
	r.Extra = strings.Join(extra, "; ")
	return r
}

// jsonNode is a node of FORMAT=JSON.
type jsonNode struct {
	Operation string     `json:"operation"`
	Details   []string   `json:"details,omitempty"`
	Rows      float64    `json:"estimated_rows"`
	Cost      float64    `json:"estimated_cost_ns"`
	Actual    *Actual    `json:"actual,omitempty"`
	Inputs    []jsonNode `json:"inputs,omitempty"`
}

// JSON is the plan as JSON text.
func (p *Printer) JSON(plan *Plan) string {
	top := struct {
		Change     string     `json:"change,omitempty"`
		Actual     *Actual    `json:"actual,omitempty"`
		Plan       *jsonNode  `json:"plan,omitempty"`
		Subqueries []jsonNode `json:"subqueries,omitempty"`
		CTEs       []jsonNode `json:"ctes,omitempty"`
	}{}
	if plan.Change != nil {
		top.Change, top.Actual = changeTitle(plan.Change), p.Change
	}
	if plan.Root != nil {
		n := p.json(plan.Root)
		top.Plan = &n
	}
	for _, s := range plan.Subplans {
		if s == nil {
			continue
		}
		top.Subqueries = append(top.Subqueries, p.json(s))
	}
	for _, c := range plan.CTEs {
		n := jsonNode{Operation: "materialize " + c.Name}
		for _, r := range c.Roots() {
			n.Inputs = append(n.Inputs, p.json(r))
		}
		top.CTEs = append(top.CTEs, n)
	}
	out, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		return fmt.Sprintf("{\"error\": %q}", err)
	}
	return string(out)
}

func (p *Printer) json(n Node) jsonNode {
	e := n.Est()
	out := jsonNode{Operation: Title(n), Details: p.Details(n), Rows: e.Rows, Cost: e.Cost}
	if p.Actual != nil {
		if a, ok := p.Actual(n); ok {
			out.Actual = &a
		}
	}
	for _, in := range n.Inputs() {
		out.Inputs = append(out.Inputs, p.json(in))
	}
	if l, ok := n.(*LookupJoin); ok {
		in := p.json(l.Inner)
		in.Operation = LookupTitle(l)
		if x, ok := l.Inner.(*IndexJoin); ok {
			in.Inputs[0].Operation = lookupTitle(l, x.Entries)
		}
		out.Inputs = append(out.Inputs, in)
	}
	return out
}

// partitions are the names of the partitions that a scan reads: those of the spans of
// the primary key, where these are known, or all.
func (p *Printer) partitions(t *schema.Table, s *Scan) string {
	if t.Partitioning == nil || t.Derived != nil {
		return ""
	}
	var read map[int64]bool
	if sets := s.Access.ranges(); s.Key().Index == nil && s.Search() == nil && len(sets) > 0 && p.Ctx != nil && expr.KnownBefore(sets[0].Conds) {
		if list, err := sets[0].Spans(p.Ctx); err == nil {
			read = map[int64]bool{}
			for _, sp := range list {
				if len(sp.Low) == 0 || len(sp.High) == 0 || sp.Low[0].Bits() != sp.High[0].Bits() {
					read = nil
					break
				}
				read[sp.Low[0].Int()] = true
			}
		}
	}
	var names []string
	for i := range t.Partitioning.Partitions {
		if x := &t.Partitioning.Partitions[i]; read == nil || read[x.Number] {
			names = append(names, x.Name)
		}
	}
	return strings.Join(names, ",")
}
