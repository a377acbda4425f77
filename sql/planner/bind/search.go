package bind

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// matchAgainst binds MATCH … AGAINST: 1191 without a search index that has all
// columns as texts.
func (b *binder) matchAgainst(sc *scope, n *ast.MatchAgainst) (expr.Expr, error) {
	m := &expr.Match{}
	switch {
	case n.Modifier.IsBooleanMode():
		m.Mode = expr.MatchBoolean
	case n.Modifier.WithQueryExpansion():
		m.Mode = expr.MatchExpanded
	}
	return b.match(sc, "MATCH", n.ColumnNames, []ast.ExprNode{n.Against}, m)
}

// textMatch binds TEXT_MATCH, TEXT_MATCH_PHRASE and TEXT_MATCH_FUZZY.
func (b *binder) textMatch(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	name := n.FnName.L
	m, most := &expr.Match{Mode: expr.MatchText}, 4
	switch name {
	case "text_match_phrase":
		m.Mode, most = expr.MatchPhrase, 2
	case "text_match_fuzzy":
		m.Mode, most = expr.MatchFuzzy, 5
	}
	if len(n.Args) < 2 || len(n.Args) > most {
		return nil, sqlerr.WrongParamCount(strings.ToUpper(name))
	}
	if c, ok := n.Args[0].(*ast.ColumnNameExpr); ok {
		return b.match(sc, name, []*ast.ColumnName{c.Name}, n.Args[1:], m)
	}
	e, err := b.matchPart(sc, name, n.Args[0], m)
	if err != nil {
		return nil, err
	}
	against, err := b.texts(sc, n.Args[1:])
	if err != nil {
		return nil, err
	}
	return expr.NewMatch([]expr.Expr{e}, against, m)
}

// match binds the terms of m over columns: 1210 unless they are those of one
// table.
func (b *binder) match(sc *scope, name string, names []*ast.ColumnName, terms []ast.ExprNode, m *expr.Match) (expr.Expr, error) {
	var cols []expr.Expr
	var t *schema.Table
	var ids []schema.ColumnID
	if len(names) == 1 {
		e, err := b.matchMember(sc, names[0], m)
		if err != nil {
			return nil, err
		}
		if e != nil {
			against, err := b.texts(sc, terms)
			if err != nil {
				return nil, err
			}
			return expr.NewMatch([]expr.Expr{e}, against, m)
		}
	}
	for _, n := range names {
		c, of, pos, err := b.searched(sc, name, n)
		if err != nil {
			return nil, err
		}
		if t != nil && of != t {
			return nil, sqlerr.WrongArguments(name)
		}
		t = of
		cols, ids = append(cols, c), append(ids, t.Columns[pos].ID)
	}
	if err := findMatch(t, ids, m); err != nil {
		return nil, err
	}
	against, err := b.texts(sc, terms)
	if err != nil {
		return nil, err
	}
	if m.Mode == expr.MatchExpanded {
		best, err := b.bestTexts(t, ids, terms[0])
		if err != nil {
			return nil, err
		}
		against = append(against, best)
	}
	return expr.NewMatch(cols, against, m)
}

// bestTexts are the texts of the rows that a text finds best in NATURAL LANGUAGE
// MODE, as a JSON array of the columns of each.
func (b *binder) bestTexts(t *schema.Table, ids []schema.ColumnID, against ast.ExprNode) (expr.Expr, error) {
	var cols, order []string
	for _, id := range ids {
		cols = append(cols, quoteIdent(t.Column(id).Name))
	}
	for _, p := range t.PrimaryKey {
		if c := t.Column(p.Column); !c.Hidden {
			order = append(order, ", "+quoteIdent(c.Name))
		}
	}
	list := strings.Join(cols, ", ")
	match := "MATCH (" + list + ") AGAINST ('')"
	n, err := b.parseQuery("SELECT JSON_ARRAYAGG(JSON_ARRAY("+list+")) FROM (SELECT "+list+" FROM "+quoteIdent(t.Database)+"."+quoteIdent(t.Name)+
		" WHERE "+match+" ORDER BY "+match+" DESC"+strings.Join(order, "")+" LIMIT "+strconv.Itoa(text.ExpansionDocs)+") best", 0)
	if err != nil {
		return nil, err
	}
	n.Accept(&againstSetter{against})
	canon := b.canon
	b.canon = nil
	defer func() { b.canon = canon }()
	return b.scalarSubquery(b.scope(nil, nil, clauseField), &ast.SubqueryExpr{Query: n})
}

// againstSetter gives every MATCH of a query a text.
type againstSetter struct{ against ast.ExprNode }

// Enter implements ast.Visitor.
func (v *againstSetter) Enter(n ast.Node) (ast.Node, bool) {
	if m, ok := n.(*ast.MatchAgainst); ok {
		m.Against = v.against
		return n, true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *againstSetter) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// texts binds arguments as texts.
func (b *binder) texts(sc *scope, list []ast.ExprNode) ([]expr.Expr, error) {
	out, err := b.values(sc, list)
	if err != nil {
		return nil, err
	}
	for i, e := range out {
		if c, ok := e.(*expr.Const); ok && c.D.Kind() == value.KindInt {
			out[i] = expr.NewConst(value.Bytes(strconv.AppendInt(nil, c.D.Int(), 10)), types.Text(schema.CollationUTF8MB40900AICI))
			continue
		}
		if out[i], err = expr.NewCast(b.be, e, types.Text(schema.CollationUTF8MB40900AICI), false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// searched is a column of a base table, with its position there.
func (b *binder) searched(sc *scope, name string, n *ast.ColumnName) (*expr.Col, *schema.Table, int, error) {
	e, err := sc.resolve(n.Schema.O, n.Table.O, n.Name.O)
	if err != nil {
		return nil, nil, 0, err
	}
	if c := plainColumn(e); c != nil {
		if t, pos := sc.tableOf(c.ID); t != nil {
			b.canon.column(sc, n, e)
			return c, t, pos, nil
		}
	}
	return nil, nil, 0, sqlerr.WrongArguments(name)
}

// score binds SCORE(): the sum of the scores of MATCH and the functions like it
// in WHERE of the same query block; 1210 if it has none.
func (b *binder) score(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	if len(n.Args) != 0 {
		return nil, sqlerr.WrongParamCount("SCORE")
	}
	var sum expr.Expr
	for _, m := range expr.Matches(sc.where) {
		if sum == nil {
			sum = m
			continue
		}
		var err error
		if sum, err = expr.NewFunc(b.be, "+", sum, m); err != nil {
			return nil, err
		}
	}
	if sum == nil {
		return nil, sqlerr.WrongArguments("score")
	}
	return sum, nil
}

// highlight binds HIGHLIGHT: 1210 when WHERE of the same query block has no MATCH
// on the column.
func (b *binder) highlight(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	if len(n.Args) < 1 || len(n.Args) > 6 {
		return nil, sqlerr.WrongParamCount("HIGHLIGHT")
	}
	var shown expr.Expr
	var err error
	if c, ok := n.Args[0].(*ast.ColumnNameExpr); ok {
		shown, _, _, err = b.searched(sc, "highlight", c.Name)
	} else {
		shown, err = b.matchPart(sc, "highlight", n.Args[0], &expr.Match{})
	}
	if err != nil {
		return nil, err
	}
	options, err := b.texts(sc, n.Args[1:])
	if err != nil {
		return nil, err
	}
	return expr.NewHighlight(b.be, shown, options, expr.Matches(sc.where))
}

// findMatch finds the search index for columns: a FULLTEXT key has them and no
// others.
func findMatch(t *schema.Table, ids []schema.ColumnID, m *expr.Match) error {
	for i := range t.Search {
		x := &t.Search[i]
		if x.Form == schema.FormFulltext && len(x.Fields) != len(ids) {
			continue
		}
		m.Fields, m.Analyzer = m.Fields[:0], nil
		for _, id := range ids {
			f := x.Field(id, schema.SearchText)
			if f == nil {
				break
			}
			a, err := searchfield.Analyzer(x, f, t.Column(id))
			if err != nil {
				return err
			}
			if m.Analyzer != nil && m.Analyzer != a {
				break
			}
			m.Analyzer, m.Fields = a, append(m.Fields, f.ID)
		}
		if len(m.Fields) == len(ids) {
			m.Table, m.Index = t.ID, x.ID
			return nil
		}
	}
	return noText()
}

func noText() error {
	return sqlerr.NoFulltextIndex()
}

// tableOf is the base table of a column and its position there, also through
// views and derived tables that show it; nil if it has none.
func (sc *scope) tableOf(id expr.ColID) (*schema.Table, int) {
	for s := sc; s != nil; s = s.outer {
		if s.src == nil {
			continue
		}
		for _, r := range s.src.tables {
			scans := append(r.scans[:len(r.scans):len(r.scans)], r.scan)
			if r.opened != nil {
				scans = append(scans, r.opened.scans...)
			}
			for _, scan := range scans {
				if scan == nil {
					continue
				}
				if i := columnPosition(scan, id); i >= 0 {
					return scan.Table, i
				}
			}
			if r.derived == nil {
				continue
			}
			if c, ok := r.with[id].(*expr.Col); ok {
				id = c.ID
			}
			if t, i := shownColumn(r.derived, id); t != nil {
				return t, i
			}
		}
	}
	return nil, 0
}

// shownColumn is the base table of a column of a query that shows rows of tables
// unchanged, and its position there.
func shownColumn(n logical.Node, id expr.ColID) (*schema.Table, int) {
	switch x := n.(type) {
	case *logical.Scan:
		if i := columnPosition(x, id); i >= 0 {
			return x.Table, i
		}
	case *logical.Project:
		for i := range x.Cols {
			if x.Cols[i].ID != id {
				continue
			}
			if c, ok := x.Exprs[i].(*expr.Col); ok {
				return shownColumn(x.Input, c.ID)
			}
			return nil, 0
		}
	case *logical.Filter, *logical.Join, *logical.Sort:
		for _, in := range n.Inputs() {
			if t, i := shownColumn(in, id); t != nil {
				return t, i
			}
		}
	}
	return nil, 0
}

// matchPart is the text of a part of a JSON column, doc->>'$.a', that a search
// index has the words of, which m gets: 1210 for other expressions, 1191 without
// such an index.
func (b *binder) matchPart(sc *scope, name string, n ast.ExprNode, m *expr.Match) (expr.Expr, error) {
	e, err := b.value(sc, n)
	if err != nil {
		return nil, err
	}
	var col *expr.Col
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok && col == nil {
			col = c
		}
		return col == nil
	})
	if f, ok := e.(*expr.Func); !ok || f.Op != expr.OpJSONUnquote || col == nil {
		return nil, sqlerr.WrongArguments(name)
	}
	t, pos := sc.tableOf(col.ID)
	if t == nil {
		return nil, sqlerr.WrongArguments(name)
	}
	own := *sc
	own.column = func(_, _, name string) (expr.Expr, error) {
		if !strings.EqualFold(name, t.Columns[pos].Name) {
			return nil, sqlerr.WrongArguments(name)
		}
		return col, nil
	}
	for i := range t.Search {
		x := &t.Search[i]
		for j := range x.Fields {
			f, c := &x.Fields[j], t.Column(x.Fields[j].Column)
			if f.Kind != schema.SearchText || !c.Hidden {
				continue
			}
			rule, err := parseStored(b.parser(), c.Generated.Expr)
			if err != nil {
				return nil, err
			}
			if of, err := b.value(&own, rule); err != nil || !expr.Same(e, of) {
				continue
			}
			m.Table, m.Index, m.Fields = t.ID, x.ID, []uint16{f.ID}
			m.Analyzer, err = searchfield.Analyzer(x, f, c)
			return e, err
		}
	}
	return nil, noText()
}
