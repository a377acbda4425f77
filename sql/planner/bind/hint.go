package bind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// hintBlock is what the optimizer hints say of one query block.
type hintBlock struct {
	// name is that of QB_NAME, or MySQL's select#1.
	name  string
	hints []*blockHint
}

// blockHint is a hint about a table of a query block, or about all of it.
type blockHint struct {
	*parser.Hint
	table string // "" for the block
	found bool
}

// is reports whether a name in a hint means the block.
func (k *hintBlock) is(name string) bool { return name == "" || strings.EqualFold(name, k.name) }

// hints takes the optimizer hints of a query block, which apply to its tables
// until the function that it returns is called. Hints about what is not there
// are warnings 3128, those that others contradict 3126.
func (b *binder) hints(list []*ast.TableOptimizerHint) (done func()) {
	outer := b.block
	b.blockCount++
	own := parser.HintsOf(list)
	if len(own) == 0 && len(b.addressed) == 0 {
		b.block = nil
		return func() { b.block = outer }
	}
	k := &hintBlock{name: "select#" + strconv.Itoa(b.blockCount)}
	if name := blockName(own); name != "" {
		k.name = name
	}
	b.block = k
	taken := map[string]bool{}
	for i := range own {
		k.take(b, &own[i], taken, true)
	}
	for _, h := range b.addressed {
		if !slices.ContainsFunc(own, func(o parser.Hint) bool { return sameHint(&o, h) }) {
			k.take(b, h, taken, false)
		}
	}
	return func() {
		b.block = outer
		for _, h := range k.hints {
			if h.table != "" && !h.found {
				b.warn(sqlerr.UnresolvedHintName("`"+h.table+"`@`"+k.name+"`", h.Name))
			}
		}
	}
}

// sameHint reports one hint, met by two ways.
func sameHint(a, b *parser.Hint) bool {
	return a.Name == b.Name && a.Block == b.Block && slices.Equal(a.Tables, b.Tables) && slices.Equal(a.Indexes, b.Indexes)
}

// take adds a hint if it concerns the block; own: it is written in the block.
func (k *hintBlock) take(b *binder, h *parser.Hint, taken map[string]bool, own bool) {
	isHere := func(name string) bool { return k.is(name) && (own || name != "") }
	// add notes a hint by what it decides on: 3126 if that is decided.
	add := func(what, table string) {
		if taken[what] {
			b.warn(sqlerr.ConflictingHint(h.String()))
			return
		}
		taken[what] = true
		k.hints = append(k.hints, &blockHint{Hint: h, table: table})
	}
	topic := strings.TrimPrefix(h.Name, "NO_")
	switch topic {
	case "SET_VAR", "RESOURCE_GROUP":
	case "QB_NAME", "MAX_EXECUTION_TIME":
		if own {
			add(topic, "")
		}
	case "JOIN_ORDER":
		if isHere(h.Block) || !own && h.Block == "" && len(h.Tables) > 0 && isHere(h.Tables[0].Block) {
			if !taken["JOIN_FIXED_ORDER"] {
				taken["order"] = true
				k.hints = append(k.hints, &blockHint{Hint: h})
			} else {
				b.warn(sqlerr.ConflictingHint(h.String()))
			}
		}
	case "JOIN_PREFIX", "JOIN_SUFFIX", "JOIN_FIXED_ORDER":
		if !isHere(h.Block) {
			return
		}
		if taken["JOIN_FIXED_ORDER"] || topic == "JOIN_FIXED_ORDER" && taken["order"] {
			b.warn(sqlerr.ConflictingHint(h.String()))
			return
		}
		taken["order"] = true
		add(topic, "")
	case "SEMIJOIN", "SUBQUERY":
		if isHere(h.Block) {
			add("SEMIJOIN", "")
		}
	default:
		if len(h.Tables) == 0 {
			if isHere(h.Block) {
				add(topic+" ", "")
			}
			return
		}
		for _, t := range h.Tables {
			block := t.Block
			if block == "" {
				block = h.Block
			}
			if isHere(block) {
				add(topic+" "+strings.ToLower(t.Name+" "+strings.Join(h.Indexes, ",")), t.Name)
			}
		}
	}
}

// blockName is the QB_NAME among the hints of a query block, "" without.
func blockName(list []parser.Hint) string {
	for i := range list {
		if list[i].Name == "QB_NAME" {
			return list[i].Block
		}
	}
	return ""
}

// addressHints finds the hints that name query blocks: 3127 for a name that no
// block has.
func (b *binder) addressHints(st *parser.Statement) {
	if st.Node == nil || !st.Hinted {
		return
	}
	v := hintVisitor{blocks: map[string]bool{}}
	st.Node.Accept(&v)
	for _, h := range v.hints {
		names := []string{h.Block}
		for _, t := range h.Tables {
			names = append(names, t.Block)
		}
		addressed := false
		for _, name := range names {
			switch {
			case name == "":
			case v.blocks[strings.ToLower(name)]:
				addressed = true
			default:
				b.warn(sqlerr.UnknownQueryBlock(name, h.Name))
			}
		}
		if addressed {
			b.addressed = append(b.addressed, h)
		}
	}
}

type hintVisitor struct {
	blocks map[string]bool
	hints  []*parser.Hint
}

// Enter implements ast.Visitor.
func (v *hintVisitor) Enter(n ast.Node) (ast.Node, bool) {
	list := parser.BlockHints(n)
	if name := blockName(list); name != "" {
		v.blocks[strings.ToLower(name)] = true
	}
	for i := range list {
		if list[i].Name != "QB_NAME" {
			v.hints = append(v.hints, &list[i])
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *hintVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// tableHints gives a table the hints of its block.
func (b *binder) tableHints(s *logical.Scan) {
	if b.block == nil {
		return
	}
	chosen := false // by hints about which indexes are read
	for _, h := range b.block.hints {
		if h.table == "" || !strings.EqualFold(h.table, s.Alias) {
			continue
		}
		h.found = true
		names, ok := b.hintIndexes(s, h)
		if !ok {
			continue
		}
		switch h.Name {
		case "INDEX_MERGE":
			s.Opt.Merge = &names
		case "NO_INDEX_MERGE":
			s.Opt.NoMerge = &names
		case "SKIP_SCAN":
			s.Opt.Skip = &names
		case "NO_SKIP_SCAN":
			s.Opt.NoSkip = &names
		case "MERGE_JOIN":
			s.Opt.MergeJoin = true
		case "NO_MERGE_JOIN":
			s.Opt.NoMergeJoin = true
		case "ORDER_INDEX":
			s.Opt.Order = &names
		case "NO_ORDER_INDEX":
			s.Opt.NoOrder = &names
		case "GROUP_INDEX":
			s.Opt.Group = &names
		case "NO_GROUP_INDEX":
			s.Opt.NoGroup = &names
		case "INDEX", "JOIN_INDEX", "NO_INDEX", "NO_JOIN_INDEX":
			if !chosen { // FORCE INDEX in the text is ignored then
				s.Hint, chosen = logical.IndexHint{}, true
			}
			chooseIndexes(s, names, strings.HasPrefix(h.Name, "NO_"))
		}
	}
}

// chooseIndexes is FORCE INDEX, or IGNORE INDEX; no names are all indexes.
func chooseIndexes(s *logical.Scan, names []string, not bool) {
	switch {
	case not && len(names) == 0:
		s.Hint.UseSet = true
	case not:
		s.Hint.Ignore = append(s.Hint.Ignore, names...)
	case len(names) == 0:
		if !s.Table.HasHiddenKey() {
			s.Hint.Force = append(s.Hint.Force, "PRIMARY")
		}
		for i := range s.Table.Indexes {
			if x := &s.Table.Indexes[i]; x.State == schema.IndexPublic && !x.Invisible {
				s.Hint.Force = append(s.Hint.Force, x.Name)
			}
		}
	default:
		s.Hint.Force = append(s.Hint.Force, names...)
	}
}

// hintIndexes are the names of the indexes of a hint, those that are not there
// left out; ok is false when none is.
func (b *binder) hintIndexes(s *logical.Scan, h *blockHint) (names []string, ok bool) {
	names = []string{}
	for _, n := range h.Indexes {
		x := s.Table.IndexByName(n)
		switch {
		case strings.EqualFold(n, "PRIMARY") && !s.Table.HasHiddenKey():
			names = append(names, "PRIMARY")
		case x != nil && x.State == schema.IndexPublic:
			names = append(names, x.Name)
		case s.Table.SearchByName(n) != nil:
			names = append(names, s.Table.SearchByName(n).Name)
		default:
			b.warn(sqlerr.UnresolvedHintName("`"+h.table+"`@`"+b.block.name+"` `"+n+"`", h.Name))
		}
	}
	return names, len(names) > 0 || len(h.Indexes) == 0
}

// mergeHint is what MERGE (1) and NO_MERGE (-1) say of a derived table of the
// block, 0 for nothing.
func (b *binder) mergeHint(alias string) int {
	if b.block == nil {
		return 0
	}
	all, one := 0, 0
	for _, h := range b.block.hints {
		sign := 0
		switch h.Name {
		case "MERGE":
			sign = 1
		case "NO_MERGE":
			sign = -1
		}
		switch {
		case h.table == "":
			if sign != 0 {
				all = sign
			}
		case strings.EqualFold(h.table, alias):
			h.found = true
			if sign != 0 {
				one = sign
			}
		}
	}
	if one != 0 {
		return one
	}
	return all
}

// semiJoinHint is what SEMIJOIN, NO_SEMIJOIN and SUBQUERY say of a subquery.
// There is one way to do a semi join here, so that a list of strategies is as
// good as none, and NO_SEMIJOIN with some of them leaves the others.
func (b *binder) semiJoinHint(q ast.ResultSetNode) expr.SemiJoinHint {
	first := firstSelect(q)
	if first == nil {
		return expr.SemiJoinFree
	}
	own := parser.HintsOf(first.TableHints)
	name := blockName(own)
	list := make([]*parser.Hint, 0, len(own))
	for i := range own {
		if h := &own[i]; h.Block == "" || strings.EqualFold(h.Block, name) {
			list = append(list, h)
		}
	}
	for _, h := range b.addressed {
		if name != "" && strings.EqualFold(h.Block, name) {
			list = append(list, h)
		}
	}
	for _, h := range list {
		switch {
		case h.Name == "SUBQUERY":
			return expr.SemiJoinNever
		case h.Name == "SEMIJOIN":
			return expr.SemiJoinAlways
		case h.Name == "NO_SEMIJOIN" && len(h.Words) == 0:
			return expr.SemiJoinNever
		case h.Name == "NO_SEMIJOIN":
			return expr.SemiJoinFree
		}
	}
	return expr.SemiJoinFree
}

// orderJoins puts the hints about the order of joins into those of a FROM.
func (b *binder) orderJoins(src *source) {
	if b.block == nil {
		return
	}
	var orders []*logical.JoinOrder
	for _, h := range b.block.hints {
		o := &logical.JoinOrder{}
		switch h.Name {
		case "JOIN_FIXED_ORDER":
			straighten(src.node)
			continue
		case "JOIN_ORDER":
		case "JOIN_PREFIX":
			o.Kind = logical.OrderPrefix
		case "JOIN_SUFFIX":
			o.Kind = logical.OrderSuffix
		default:
			continue
		}
		if b.orderTables(src, h, o) {
			orders = append(orders, o)
		}
	}
	if len(orders) > 0 {
		setOrders(src.node, orders)
	}
}

// orderTables finds the tables of a hint about the order: 3128, and false, when
// one is not there. Tables of other blocks are not joined with these.
func (b *binder) orderTables(src *source, h *blockHint, o *logical.JoinOrder) bool {
	for _, t := range h.Tables {
		if !b.block.is(t.Block) && !(t.Block == "" && h.Block != "") {
			continue
		}
		at := slices.IndexFunc(src.tables, func(r *tableRef) bool { return strings.EqualFold(r.alias, t.Name) })
		if at < 0 {
			name := "`" + t.Name + "`"
			if t.Block != "" {
				name += "@`" + t.Block + "`"
			}
			b.warn(sqlerr.UnresolvedHintName(name, h.Name))
			return false
		}
		ref := src.tables[at]
		ids := map[expr.ColID]bool{}
		for _, c := range ref.cols {
			ids[c.ID] = true
		}
		if ref.derived != nil {
			addLeaves(ref.derived, ids)
		}
		o.Tables = append(o.Tables, ids)
	}
	return true
}

// addLeaves adds the columns of the tables below n, which stand for n where it
// is merged into the query around.
func addLeaves(n logical.Node, ids map[expr.ColID]bool) {
	in := n.Inputs()
	if len(in) == 0 {
		for _, c := range n.Columns() {
			ids[c.ID] = true
		}
	}
	for _, x := range in {
		addLeaves(x, ids)
	}
}

func setOrders(n logical.Node, orders []*logical.JoinOrder) {
	if j, ok := n.(*logical.Join); ok {
		j.Orders = orders
		setOrders(j.Left, orders)
		setOrders(j.Right, orders)
	}
}
