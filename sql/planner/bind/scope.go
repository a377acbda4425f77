package bind

import (
	"strings"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Names of clauses in messages.
const (
	clauseField       = "field list"
	clauseWhere       = "where clause"
	clauseOn          = "on clause"
	clauseFrom        = "from clause"
	clauseGroup       = "group statement"
	clauseHave        = "having clause"
	clauseOrder       = "order clause"
	clausePartitionBy = "partition function"
)

// tableRef is a table in FROM under the name by which columns mention it.
type tableRef struct {
	alias, db string
	cols      []logical.Column
	// scan is set for base tables; right: outer joins may make all its columns
	// NULL.
	scan *logical.Scan
	// derived is set for derived tables.
	derived logical.Node
	// with are the expressions of columns that derived does not have.
	with map[expr.ColID]expr.Expr
	// scans are the base tables of a view that shows their rows unchanged.
	scans []*logical.Scan
	// opened is set for a view that is replaced by its tables.
	opened *openedView
	// right is what is needed of it; nil for what is no table.
	right *tableRight
}

// source is a FROM clause or a part of it.
type source struct {
	node   logical.Node
	tables []*tableRef
	// star are the columns that * and names without a table mean, in their
	// order: those of USING and NATURAL joins come once.
	star []logical.Column
	// conds are the conditions of WHERE and inner ON, and outer joins' ON with
	// their sides, from which functional dependencies follow.
	inner []expr.Expr
	outer []outerCond
}

// outerCond is the ON of a left join: right columns depend on left ones.
type outerCond struct {
	on    []expr.Expr
	right map[expr.ColID]bool
}

// scope is where names are looked for.
type scope struct {
	b     *binder
	src   *source
	outer *scope
	// level is the number of correlations around the scope: what is used below
	// more of them is an outer value there.
	level int
	// lateral is the scope of the tables to the left in FROM, for LATERAL.
	lateral *scope
	ctes    []*cte
	// clause names the clause that is being bound, for messages.
	clause string
	// nullSide: tables on the side of an outer join that may be NULL are bound.
	nullSide bool
	// innerOn: the ON of an inner join that such a side does not contain.
	innerOn bool
	// agg collects aggregate calls; nil where they are not allowed.
	agg *aggScope
	// inAgg: inside the argument of an aggregate.
	inAgg bool
	// win collects window function calls; nil where they are not allowed.
	// inWindow is the window whose definition is bound.
	win      *winScope
	inWindow string
	// rollup: GROUPING is allowed where aggregates are.
	rollup bool
	// alias resolves names before (aliasFirst) or after the columns of FROM:
	// ORDER BY, HAVING.
	alias func(table, name string) (expr.Expr, bool, error)
	// aliasOnly: names of FROM are not visible (HAVING).
	aliasOnly bool
	// fallback resolves names that FROM does not have: aliases of earlier
	// select-list items, for subqueries in the select list.
	fallback func(name string) (expr.Expr, error)
	// inHaving resolves them for arguments of aggregates in HAVING.
	inHaving func(table, name string) (expr.Expr, bool, error)
	// where are the conditions of WHERE, for SCORE() and HIGHLIGHT().
	where []expr.Expr
	// insert resolves VALUES(c) in ON DUPLICATE KEY UPDATE.
	insert *insertScope
	// isGrouped reports whether GROUP BY or the select list has e (HAVING).
	isGrouped func(e expr.Expr) bool
	// column, if set, replaces the lookup in src (DML over table positions).
	column func(db, table, name string) (expr.Expr, error)
}

// find looks a column up in src: (nil, nil) if it has none, 1052 if it has
// several.
func (s *source) find(db, table, name, clause string) (*logical.Column, error) {
	if s == nil {
		return nil, nil
	}
	var found *logical.Column
	if table == "" {
		for i := range s.star {
			if c := &s.star[i]; strings.EqualFold(c.Name, name) {
				if found != nil {
					return nil, sqlerr.AmbiguousColumn(name, clause)
				}
				found = c
			}
		}
		return found, nil
	}
	for _, t := range s.tables {
		if !strings.EqualFold(t.alias, table) || db != "" && !strings.EqualFold(t.db, db) {
			continue
		}
		for i := range t.cols {
			if c := &t.cols[i]; !c.Hidden && strings.EqualFold(c.Name, name) {
				if found != nil {
					return nil, sqlerr.AmbiguousColumn(qualified(db, table, name), clause)
				}
				found = c
			}
		}
	}
	return found, nil
}

func qualified(parts ...string) string {
	out := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ".")
}

// scope makes a scope inside outer.
func (b *binder) scope(outer *scope, ctes []*cte, clause string) *scope {
	return &scope{b: b, outer: outer, ctes: ctes, clause: clause, level: len(b.correlations)}
}

// resolve binds a column name: one of this block, or else of those around, from
// the inside out.
func (sc *scope) resolve(db, table, name string) (expr.Expr, error) {
	for s := sc; s != nil; s = s.outer {
		e, err := s.inContext().lookUp(db, table, name)
		if err == nil && e == nil {
			e, err = s.lookUp(db, table, name)
		}
		if err == nil && e == nil && s != sc && s.fallback != nil && table == "" {
			if e, err = s.fallback(name); err == nil && e != nil {
				// It takes no aggregate to its block: it is a value there.
				return sc.b.correlate(e, s.level), nil
			}
		}
		if err != nil {
			return nil, err
		}
		if e != nil {
			sc.b.used(s)
			return sc.b.correlate(e, s.level), nil
		}
	}
	if e, err := sc.attribute(db, table, name); e != nil || err != nil {
		return e, err
	}
	if sc.column != nil {
		return sc.column(db, table, name)
	}
	return nil, sqlerr.UnknownColumn(qualified(db, table, name), sc.clause)
}

// lookUp finds a name in this block alone; nil if it has none.
func (sc *scope) lookUp(db, table, name string) (expr.Expr, error) {
	if sc.column != nil {
		e, err := sc.column(db, table, name)
		if sqlerr.IsUnknownColumn(err) {
			return nil, nil
		}
		return e, err
	}
	if sc.alias != nil && !sc.inAgg && sc.aliasOnly {
		e, _, err := sc.alias(table, name)
		return e, err
	}
	c, err := sc.src.find(db, table, name, sc.clause)
	if err != nil {
		return nil, err
	}
	if c != nil {
		return sc.b.columnExpr(c), nil
	}
	if sc.alias != nil && !sc.inAgg && db == "" {
		e, _, err := sc.alias(table, name)
		return e, err
	}
	if sc.inHaving != nil && db == "" {
		e, _, err := sc.inHaving(table, name)
		if err == nil && e != nil && sc.agg.uses(e) {
			return nil, sqlerr.InvalidGroupFunctionUse()
		}
		return e, err
	}
	return nil, nil
}

func colExpr(c *logical.Column) *expr.Col {
	return &expr.Col{ID: c.ID, Index: -1, T: c.T, Null: c.Null, Table: c.Table, Name: c.Name}
}

// findCTE looks for a common table expression by name, inside out.
func (sc *scope) findCTE(name string) *cte {
	for s := sc; s != nil; s = s.outer {
		for i := len(s.ctes) - 1; i >= 0; i-- {
			if strings.EqualFold(s.ctes[i].name, name) {
				return s.ctes[i]
			}
		}
	}
	return nil
}

// markNull sets Null of the columns that node says may be NULL (outer joins).
func (s *source) markNull(ids map[expr.ColID]bool) {
	for i := range s.star {
		s.star[i].Null = s.star[i].Null || ids[s.star[i].ID]
	}
	for _, t := range s.tables {
		for i := range t.cols {
			t.cols[i].Null = t.cols[i].Null || ids[t.cols[i].ID]
		}
	}
}

// ids are the ids of all columns of s.
func (s *source) ids() map[expr.ColID]bool {
	m := map[expr.ColID]bool{}
	for _, t := range s.tables {
		for i := range t.cols {
			m[t.cols[i].ID] = true
		}
	}
	return m
}
