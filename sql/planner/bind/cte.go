package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// cte is a common table expression. One that is used once, or that costs
// nothing to read again, is put into the query at each use; the others are
// computed once (shared).
type cte struct {
	name  string
	query ast.ResultSetNode
	cols  []ast.CIStr
	// scope is where the WITH is: it sees the CTEs before it.
	scope *scope
	// uses counts the places that name it, as far as the text shows.
	uses      int
	recursive bool
	shared    *logical.CTE
	// shown are the types that the columns of shared show; nil for their own.
	shown []schema.Type
	// open is set while the recursive members are bound.
	open *recursion
}

// recursion is the state of binding one recursive member.
type recursion struct {
	// block is the depth of the member's own FROM: a reference anywhere deeper is
	// in a subquery.
	block int
	refs  int
	// cols are the columns of the reference.
	cols []logical.Column
}

// withClause adds the CTEs of WITH to sc. n is the statement that they are for.
func (b *binder) withClause(sc *scope, w *ast.WithClause, n ast.Node) error {
	if w == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, c := range w.CTEs {
		if seen[c.Name.L] {
			return sqlerr.NotUniqueTable(c.Name.O)
		}
		seen[c.Name.L] = true
		at := b.scope(sc.outer, append([]*cte(nil), sc.ctes...), clauseField)
		x := &cte{name: c.Name.O, query: c.Query.Query, cols: c.ColNameList, scope: at, uses: mentions(n, c.Name.L)}
		x.recursive = w.IsRecursive && mentions(c.Query, c.Name.L) > 0
		sc.ctes = append(sc.ctes, x)
	}
	return nil
}

// mentions counts the tables of that name that are read somewhere in n.
func mentions(n ast.Node, name string) int {
	v := &mentionVisitor{name: name}
	n.Accept(v)
	return v.found
}

type mentionVisitor struct {
	name  string
	found int
}

// Enter implements ast.Visitor.
func (v *mentionVisitor) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok && t.Schema.L == "" && t.Name.L == v.name {
		v.found++
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *mentionVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// cteSource is a use of a CTE in FROM.
func (b *binder) cteSource(sc *scope, c *cte, alias string) (*source, error) {
	merge := b.mergeHint(alias)
	if c.open == nil && (c.shared == nil || merge > 0) {
		if err := b.expand(); err != nil {
			return nil, err
		}
	}
	switch {
	case c.open != nil:
		return b.workSource(c, alias)
	case c.shared == nil && c.recursive:
		outward, err := b.readsOutward(func() error { return b.recursiveCTE(c) })
		if err != nil {
			return nil, err
		}
		if outward {
			x := c.shared
			c.shared, x.Dependent = nil, true // each use has its own
			return derivedSource(b.cteScan(x, false, alias)), nil
		}
	case c.shared == nil:
		var src *source
		outward, err := b.readsOutward(func() (err error) {
			src, err = b.derived(c.inner(), c.query, alias, c.cols)
			return err
		})
		if err != nil || outward || merge >= 0 && !b.shares(c, src.node) || merge > 0 && isMergeable(src.node) {
			return src, err
		}
		if c.shared, c.shown, err = computedOnce(src, c.name, c.cols); err != nil {
			return nil, err
		}
	case merge > 0 && !c.recursive:
		if src, err := b.derived(c.inner(), c.query, alias, c.cols); err != nil || isMergeable(src.node) {
			return src, err
		}
	}
	return b.useOf(c.shared, c.shown, alias), nil
}

// isMergeable reports whether MySQL would merge a derived table into the query
// around: it has no groups, order or limit, and nothing that differs from run to
// run.
func isMergeable(n logical.Node) bool {
	var list []expr.Expr
	switch x := n.(type) {
	case *logical.Scan, *logical.Virtual, *logical.CTEScan:
	case *logical.Filter:
		list = x.Conds
	case *logical.Project:
		list = x.Exprs
	case *logical.Join:
		list = x.On
	default:
		return false
	}
	return !slices.ContainsFunc(list, volatile) && !slices.ContainsFunc(n.Inputs(), func(in logical.Node) bool { return !isMergeable(in) })
}

// computedOnce makes a CTE of a derived table. shown are its types as they show.
func computedOnce(src *source, name string, names []ast.CIStr) (x *logical.CTE, shown []schema.Type, err error) {
	cols, err := renamed(src.node.Columns(), names)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range src.tables[0].cols {
		shown = append(shown, c.T)
	}
	return &logical.CTE{Name: name, Seed: src.node, Cols: cols}, shown, nil
}

// useOf reads a CTE.
func (b *binder) useOf(x *logical.CTE, shown []schema.Type, alias string) *source {
	node, cols, _ := b.cteScan(x, false, alias)
	if shown != nil {
		have := append([]logical.Column(nil), cols...)
		for i := range cols {
			cols[i].T = shown[i]
		}
		b.showColumns(have, cols)
	}
	return derivedSource(node, cols, alias)
}

// inner is the scope in which c's query is bound.
func (c *cte) inner() *scope {
	return c.scope.b.scope(c.scope.outer, c.scope.ctes, clauseField)
}

// shares reports whether c is computed once: it is used several times and is
// more than a selection from one table, or it would differ between the uses.
func (b *binder) shares(c *cte, n logical.Node) bool {
	if c.uses < 2 {
		return false
	}
	scans := 0
	return !isCheap(n, &scans) || scans != 1
}

func isCheap(n logical.Node, scans *int) bool {
	var list []expr.Expr
	switch x := n.(type) {
	case *logical.Scan:
		*scans++
		return x.Lock.Strength == logical.LockNone
	case *logical.Filter:
		list = x.Conds
	case *logical.Project:
		list = x.Exprs
	default:
		return false
	}
	for _, e := range list {
		if volatile(e) || readsSubquery(e) {
			return false
		}
	}
	return isCheap(n.Inputs()[0], scans)
}

func readsSubquery(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if _, ok := x.(*expr.Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}

// cteScan reads a shared CTE, or the rows of the last iteration.
func (b *binder) cteScan(x *logical.CTE, work bool, alias string) (logical.Node, []logical.Column, string) {
	cols := make([]logical.Column, len(x.Cols))
	for i, c := range x.Cols {
		c.ID, c.Hidden, c.Invisible, c.Table, c.DB = b.newID(), false, false, alias, ""
		cols[i] = c
	}
	return &logical.CTEScan{CTE: x, Work: work, Alias: alias, Cols: append([]logical.Column(nil), cols...)}, cols, alias
}

// workSource is the recursive reference: 3577.
func (b *binder) workSource(c *cte, alias string) (*source, error) {
	c.open.refs++
	if c.open.refs > 1 || c.open.block != b.blocks {
		return nil, sqlerr.RecursiveRequiresSingleReference(c.name)
	}
	src := derivedSource(b.cteScan(c.shared, true, alias))
	c.open.cols = src.star
	return src, nil
}

// recursiveCTE binds the members of a recursive CTE: first those that do not
// read it, which give the names and types of its columns, then the others.
func (b *binder) recursiveCTE(c *cte) error {
	body, err := recursiveBody(c)
	if err != nil {
		return err
	}
	sc := c.inner()
	if err := b.withClause(sc, body.with, body.list); err != nil {
		return err
	}
	seedList := *body.list
	seedList.Selects = seedList.Selects[:body.seeds]
	seedList.OrderBy, seedList.Limit = nil, nil
	b.inDerived++
	defer func() { b.inDerived-- }()
	seed, err := b.setOprList(sc, &seedList)
	if err != nil {
		return err
	}
	cols, err := renamed(seed.cols, c.cols)
	if err != nil {
		return err
	}
	x := &logical.CTE{Name: c.name, Seed: seed.node, Cols: cols}
	for i := range cols {
		// A member may yield NULL where the seed does not.
		cols[i].Null = true
		if cols[i].T.ID == schema.TypeNull {
			cols[i].T = types.VarbinaryOf(0)
		}
		cols[i].Table, cols[i].DB, cols[i].OrgTable, cols[i].OrgName = "", "", "", ""
		cols[i].Role = 0
	}
	if x.Count, x.Offset, err = b.limit(sc, body.limit); err != nil {
		return err
	}
	c.shared = x
	self := *sc
	self.ctes = append(append([]*cte(nil), sc.ctes...), c)
	for _, m := range body.list.Selects[body.seeds:] {
		node, distinct, err := b.recursiveMember(&self, c, m)
		if err != nil {
			c.shared = nil
			return err
		}
		x.Recursive = append(x.Recursive, node)
		x.Distinct = x.Distinct || distinct
	}
	return nil
}

// recursiveQuery is the union that a recursive CTE consists of.
type recursiveQuery struct {
	with  *ast.WithClause
	list  *ast.SetOprSelectList
	seeds int // members that do not read the CTE
	limit *ast.Limit
}

// recursiveBody finds the members of a recursive CTE: 3573, 3574.
func recursiveBody(c *cte) (*recursiveQuery, error) {
	n, ok := c.query.(*ast.SetOprStmt)
	if !ok {
		return nil, sqlerr.RecursiveRequiresUnion(c.name)
	}
	out := &recursiveQuery{with: n.With, list: n.SelectList, limit: n.Limit}
	if n.OrderBy != nil || n.SelectList.OrderBy != nil {
		return nil, sqlerr.NotSupported("ORDER BY over UNION in recursive Common Table Expression")
	}
	if out.limit == nil {
		out.limit = n.SelectList.Limit
	}
	if out.with == nil {
		out.with = n.SelectList.With
	}
	name := strings.ToLower(c.name)
	all := false
	for i, m := range out.list.Selects {
		if mentions(m, name) == 0 {
			if i > out.seeds {
				return nil, sqlerr.RecursiveRequiresNonrecursiveFirst(c.name)
			}
			out.seeds++
			continue
		}
		if i == 0 {
			return nil, sqlerr.RecursiveRequiresNonrecursiveFirst(c.name)
		}
		if memberBlock(m) == nil {
			return nil, sqlerr.NotSupported("parenthesized set operation with a recursive reference")
		}
		after := setOperator(m)
		switch {
		case after == nil:
		case *after == ast.UnionAll:
			all = true
		case *after == ast.Union && i > out.seeds && all:
			// DISTINCT after ALL: all rows up to here are made distinct.
		case *after == ast.Union:
		default:
			return nil, sqlerr.NotSupported("INTERSECT and EXCEPT with a recursive reference")
		}
		if i > out.seeds && *after == ast.UnionAll && isUnionDistinct(out.list.Selects[i-1]) {
			return nil, sqlerr.NotSupported("recursive query blocks with UNION DISTINCT then UNION ALL, in recursive Common Table Expression")
		}
	}
	return out, nil
}

// memberBlock is the one block of a member of a union, possibly in parentheses;
// nil if it is more.
func memberBlock(n ast.Node) *ast.SelectStmt {
	switch x := n.(type) {
	case *ast.SelectStmt:
		return x
	case *ast.SetOprSelectList:
		if len(x.Selects) == 1 && x.With == nil && x.OrderBy == nil && x.Limit == nil {
			return memberBlock(x.Selects[0])
		}
	}
	return nil
}

// setOperator is the operator before a member; nil for the first.
func setOperator(n ast.Node) *ast.SetOprType {
	switch x := n.(type) {
	case *ast.SelectStmt:
		return x.AfterSetOperator
	case *ast.SetOprSelectList:
		return x.AfterSetOperator
	}
	return nil
}

func isUnionDistinct(n ast.Node) bool {
	op := setOperator(n)
	return op != nil && *op == ast.Union
}

// recursiveMember binds a member that reads the CTE. distinct is its operator.
func (b *binder) recursiveMember(sc *scope, c *cte, m ast.Node) (node logical.Node, distinct bool, err error) {
	s := memberBlock(m)
	if s.OrderBy != nil || s.Limit != nil || s.Distinct {
		return nil, false, sqlerr.NotSupported("ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression")
	}
	c.open = &recursion{block: b.blocks + 1}
	defer func() { c.open = nil }()
	r, err := b.selectStmt(sc, s)
	if err != nil {
		return nil, false, err
	}
	if c.open.refs == 0 { // only in a place that is not read, such as another WITH
		return nil, false, sqlerr.RecursiveRequiresSingleReference(c.name)
	}
	if len(r.cols) != len(c.shared.Cols) {
		return nil, false, sqlerr.WrongNumberOfSelectColumns()
	}
	if err := checkRecursive(c, r.node); err != nil {
		return nil, false, err
	}
	return r.node, isUnionDistinct(m), nil
}

// checkRecursive refuses what a recursive member must not be: grouped (3575),
// or an outer join that may add rows without a recursive one (3576).
func checkRecursive(c *cte, n logical.Node) error {
	switch x := n.(type) {
	case *logical.Aggregate, *logical.Rollup, *logical.Window:
		if readsWork(n, c.shared) {
			return sqlerr.RecursiveForbidsAggregation(c.name)
		}
	case *logical.Join:
		if x.Kind == logical.JoinLeft && readsWork(x.Right, c.shared) {
			return sqlerr.RecursiveForbiddenJoinOrder(c.name)
		}
	}
	for _, in := range n.Inputs() {
		if err := checkRecursive(c, in); err != nil {
			return err
		}
	}
	return nil
}

func readsWork(n logical.Node, x *logical.CTE) bool {
	if s, ok := n.(*logical.CTEScan); ok {
		return s.Work && s.CTE == x
	}
	for _, in := range n.Inputs() {
		if readsWork(in, x) {
			return true
		}
	}
	return false
}
