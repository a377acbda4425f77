package parser

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// JSONTableFunc is the function as which the shim writes JSON_TABLE, in a
// derived table: a number, whose Literal holds the JSONTable, the document, and
// the strings of its clauses in the order of the text.
const JSONTableFunc = "__sqlots_json_table"

// JSONTable is the COLUMNS of JSON_TABLE and of NESTED PATH. Strings are
// positions among the arguments of JSONTableFunc.
type JSONTable struct {
	Path    int
	Columns []JSONColumn
}

// JSONColumn is a column of JSON_TABLE, or a NESTED PATH.
type JSONColumn struct {
	// Def has the name and the type; nil for NESTED.
	Def        *ast.ColumnDef
	Ordinality bool
	Exists     bool
	Path       int
	OnEmpty    JSONClause
	OnError    JSONClause
	Nested     *JSONTable

	def string
}

// JSONClause is ON EMPTY or ON ERROR: Kind is null, error or default.
type JSONClause struct {
	Kind    string
	Default int
}

// jsonTable rewrites JSON_TABLE (doc, path COLUMNS (…)) [AS] name as
// LATERAL (SELECT JSONTableFunc(…)) [AS] name.
func (h *shim) jsonTable() error {
	for i := 0; i < len(h.toks); i++ {
		if h.word(i) != "JSON_TABLE" || !h.op(i+1, "(") {
			continue
		}
		end := h.closing(i + 1)
		if end < 0 {
			continue
		}
		comma := h.firstComma(i+2, end)
		if comma < 0 {
			return h.unexpected(end)
		}
		p := jsonTableParser{h: h, i: comma + 1, end: end}
		t, err := p.table(false)
		if err != nil {
			return err
		}
		if p.i != end {
			return h.unexpected(p.i)
		}
		args := ""
		if len(p.strings) > 0 {
			args = ", " + strings.Join(p.strings, ", ")
		}
		h.replace(i, i+1, "LATERAL (SELECT "+JSONTableFunc+"("+strconv.Itoa(len(h.st.jsonTables))+", ")
		h.replace(comma, end, args+"))")
		h.st.jsonTables = append(h.st.jsonTables, t)
		i = end
	}
	return nil
}

// firstComma is the first comma outside of parentheses, -1 if none exists.
func (h *shim) firstComma(from, end int) int {
	for i := from; i < end; i++ {
		switch {
		case h.op(i, "("):
			i = h.closing(i)
		case h.op(i, ","):
			return i
		}
	}
	return -1
}

func (h *shim) unexpected(i int) error {
	at := len(h.src)
	if i < len(h.toks) {
		at = h.toks[i].start
	}
	return syntaxError(h.src, at, h.mode)
}

// jsonTableParser reads the clauses of one JSON_TABLE.
type jsonTableParser struct {
	h       *shim
	i, end  int
	strings []string
}

func (p *jsonTableParser) fail() error { return p.h.unexpected(p.i) }

// text takes a string and gives its number.
func (p *jsonTableParser) text() (int, error) {
	if p.i >= p.end || p.h.toks[p.i].kind != tokString {
		return 0, p.fail()
	}
	p.strings = append(p.strings, p.h.text(p.i))
	p.i++
	return len(p.strings) - 1, nil
}

func (p *jsonTableParser) take(words ...string) bool {
	if p.i+len(words) > p.end || !p.h.words(p.i, words...) {
		return false
	}
	p.i += len(words)
	return true
}

// table is path COLUMNS (column, …).
func (p *jsonTableParser) table(nested bool) (*JSONTable, error) {
	if nested {
		p.take("PATH")
	}
	t := &JSONTable{}
	var err error
	if t.Path, err = p.text(); err != nil {
		return nil, err
	}
	if !p.take("COLUMNS") || !p.h.op(p.i, "(") {
		return nil, p.fail()
	}
	for {
		p.i++
		c, err := p.column()
		if err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, c)
		if p.i >= p.end {
			return nil, p.fail()
		}
		if p.h.op(p.i, ")") {
			p.i++
			return t, nil
		}
		if !p.h.op(p.i, ",") {
			return nil, p.fail()
		}
	}
}

func (p *jsonTableParser) column() (JSONColumn, error) {
	c := JSONColumn{OnEmpty: JSONClause{Kind: "null"}, OnError: JSONClause{Kind: "null"}}
	if p.h.word(p.i) == "NESTED" && (p.h.word(p.i+1) == "PATH" || p.i+1 < p.end && p.h.toks[p.i+1].kind == tokString) {
		p.i++
		t, err := p.table(true)
		c.Nested = t
		return c, err
	}
	if !p.h.isName(p.i) {
		return c, p.fail()
	}
	name := "`" + strings.ReplaceAll(p.h.name(p.i), "`", "``") + "`"
	p.i++
	if p.take("FOR", "ORDINALITY") {
		c.Ordinality, c.def = true, name+" INT UNSIGNED"
		return c, nil
	}
	from := p.i
	for ; p.i < p.end; p.i++ {
		if w := p.h.word(p.i); w == "PATH" || w == "EXISTS" || p.h.op(p.i, ")") {
			break
		}
		if p.h.op(p.i, "(") {
			p.i = p.h.closing(p.i)
		}
	}
	if p.i >= p.end || p.i == from || p.h.op(p.i, ")") {
		return c, p.fail()
	}
	c.def = name + " " + p.h.src[p.h.toks[from].start:p.h.toks[p.i-1].end]
	c.Exists = p.take("EXISTS")
	if !p.take("PATH") {
		return c, p.fail()
	}
	var err error
	if c.Path, err = p.text(); err != nil || c.Exists {
		return c, err
	}
	return c, p.clauses(&c)
}

// clauses are ON EMPTY and ON ERROR, in any order as MySQL takes them.
func (p *jsonTableParser) clauses(c *JSONColumn) error {
	seen := map[string]bool{}
	for p.i < p.end && !p.h.op(p.i, ",") && !p.h.op(p.i, ")") {
		var x JSONClause
		switch {
		case p.take("NULL"):
			x.Kind = "null"
		case p.take("ERROR"):
			x.Kind = "error"
		case p.take("DEFAULT"):
			x.Kind = "default"
			var err error
			if x.Default, err = p.text(); err != nil {
				return err
			}
		default:
			return p.fail()
		}
		to, when := &c.OnEmpty, "EMPTY"
		if p.h.words(p.i, "ON", "ERROR") {
			to, when = &c.OnError, "ERROR"
		}
		if seen[when] || !p.take("ON", when) {
			return p.fail()
		}
		seen[when], *to = true, x
	}
	return nil
}

// parseJSONTables parses the types of the columns, and puts the tables into
// the literals of nodes that stand for them.
func (p *Parser) parseJSONTables(st *Statement, mode types.SQLMode, nodes ...ast.StmtNode) error {
	if len(st.jsonTables) == 0 {
		return nil
	}
	for _, t := range st.jsonTables {
		if err := p.parseJSONTable(st, t, mode); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if n != nil {
			n.Accept(jsonTableVisitor(st.jsonTables))
		}
	}
	return nil
}

type jsonTableVisitor []*JSONTable

// Enter implements ast.Visitor.
func (v jsonTableVisitor) Enter(n ast.Node) (ast.Node, bool) { return n, false }

// Leave implements ast.Visitor.
func (v jsonTableVisitor) Leave(n ast.Node) (ast.Node, bool) {
	if f, ok := n.(*ast.FuncCallExpr); ok && f.FnName.L == JSONTableFunc {
		if l, ok := f.Args[0].(*Literal); ok && l.Datum.Int() < int64(len(v)) {
			l.JSONTable = v[l.Datum.Int()]
		}
	}
	return n, true
}

func (p *Parser) parseJSONTable(st *Statement, t *JSONTable, mode types.SQLMode) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Nested != nil {
			if err := p.parseJSONTable(st, c.Nested, mode); err != nil {
				return err
			}
			continue
		}
		src := "CREATE TABLE t (" + c.def + ")"
		n, err := p.run(st, src, mode)
		if err != nil {
			return parseError(src, err, mode)
		}
		x, ok := n.(*ast.CreateTableStmt)
		if !ok || len(x.Cols) != 1 {
			return sqlerr.Parse("", near(c.def, 0, mode), 1)
		}
		c.Def = x.Cols[0]
	}
	return nil
}
