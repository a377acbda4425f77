package parser

import (
	"context"
	"errors"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"

	perrors "github.com/pingcap/errors"
	tidb "github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Statement is one parsed statement.
type Statement struct {
	// Node is the AST; nil when Admin is set.
	Node ast.StmtNode
	// Text is the statement as it was written, without the final semicolon.
	Text string
	// Params are the ? in the order of the text.
	Params []*Param
	// Into are the variables of SELECT … INTO @a, @b.
	Into []string
	// RowAlias is the AS new of INSERT … VALUES; nil if none exists.
	RowAlias *RowAlias
	// Returning is the select list of RETURNING; nil without.
	Returning *ast.SelectStmt
	// Explain is INTO and FOR SCHEMA of EXPLAIN; nil without.
	Explain *Explain
	// KillQuery is set for KILL QUERY with an expression.
	KillQuery bool
	// Limit is the LIMIT of SHOW WARNINGS and SHOW ERRORS.
	Limit *RowLimit
	// File is INTO OUTFILE or INTO DUMPFILE; nil without.
	File *IntoFile
	// View is set for CREATE VIEW and ALTER VIEW.
	View *View
	// Account has the clauses of a statement about accounts that TiDB's AST has no
	// place for; nil where the text has none of them.
	Account *AccountClauses
	// Admin is a statement that TiDB's AST has no form for.
	Admin *Admin
	// Warnings are about what the parser ignored, such as unknown hints.
	Warnings []*sqlerr.Error
	// Hinted: a query block has optimizer hints.
	Hinted bool
	// ReadsDiagnostics: it shows the conditions of the statement before, or counts them,
	// and must not clear them.
	ReadsDiagnostics bool
	// SetVars are the hints SET_VAR of all query blocks, inner ones first.
	SetVars []Hint

	jsonTables []*JSONTable // by their numbers in the parsed text
	rewrites   []rewrite    // of the shim, by their position in the parsed text
}

// RowLimit is LIMIT offset, count.
type RowLimit struct{ Offset, Count uint64 }

// Admin is a statement of few words: Op is check, checksum, repair (with
// Tables; Words is quick for CHECKSUM TABLE … QUICK), begin (with Words, its characteristics),
// engine_status, show (Words: what and its names), reset_persist (Words: the
// variable, "" for all, then if exists) or drop_stored (IF EXISTS; Words: of
// what kind, Tables: its name).
type Admin struct {
	Op     string
	Tables [][2]string // database ("" for the current one), name
	Words  []string
}

// largeText is the number of bytes from which parsing takes so long that its
// statement may be ended meanwhile.
const largeText = 256 << 10

// Pool lends parsers, which are expensive to make and serve one goroutine at a
// time.
type Pool struct {
	pool sync.Pool
	// large has room for the parses of large texts that run at a time, also of
	// those whose statement has ended: they bound the memory of all trees.
	large chan struct{}
}

// NewPool makes a pool.
func NewPool() *Pool {
	p := &Pool{large: make(chan struct{}, runtime.GOMAXPROCS(0))}
	p.pool.New = func() any { return New() }
	return p
}

// Parse parses with a parser of the pool; see Parser.Parse.
func (p *Pool) Parse(text string, mode types.SQLMode) (Statement, error) {
	return p.ParseContext(context.Background(), text, mode)
}

// ParseContext is Parse that ends with its context. The parser of TiDB cannot be
// stopped: the parse of a large text goes on and is thrown away.
func (p *Pool) ParseContext(ctx context.Context, text string, mode types.SQLMode) (Statement, error) {
	return p.lend(ctx, text, func(ps *Parser, text string) (Statement, error) { return ps.Parse(text, mode) })
}

// ParseTemplate is ParseContext for a template; see Parser.ParseTemplate.
func (p *Pool) ParseTemplate(ctx context.Context, t *Template, mode types.SQLMode) (Statement, error) {
	return p.lend(ctx, string(t.Text), func(ps *Parser, text string) (Statement, error) { return ps.parseOne(text, mode) })
}

func (p *Pool) lend(ctx context.Context, text string, parse func(*Parser, string) (Statement, error)) (Statement, error) {
	lent := func() (Statement, error) {
		ps := p.pool.Get().(*Parser)
		defer p.pool.Put(ps)
		return parse(ps, text)
	}
	if len(text) < largeText || ctx.Done() == nil {
		return lent()
	}
	text = strings.Clone(text) // the caller may use the memory again
	return p.detached(ctx, lent)
}

// detached runs the parse of a large text in a goroutine of its own.
func (p *Pool) detached(ctx context.Context, parse func() (Statement, error)) (st Statement, err error) {
	select {
	case p.large <- struct{}{}:
	case <-ctx.Done():
		return st, context.Cause(ctx)
	}
	var parsed Statement
	done := make(chan error, 1)
	go func() {
		defer func() { <-p.large }()
		done <- guard.Run(func() (err error) {
			parsed, err = parse()
			return err
		})
	}()
	select {
	case err = <-done:
		return parsed, err
	case <-ctx.Done():
		return st, context.Cause(ctx)
	}
}

// Parser parses statements one after the other. It belongs to one goroutine.
type Parser struct{ p *tidb.Parser }

// New makes a parser.
func New() *Parser {
	installDriver()
	return &Parser{p: tidb.New()}
}

// Parse reads one statement; a semicolon may end it. Errors: 1064, 1065 for a
// text without statement, 1235 for statements out of scope, and what MySQL's
// parser checks by itself (unknown character sets 1115, collations 1273).
func (p *Parser) Parse(text string, mode types.SQLMode) (Statement, error) {
	text, rest, ok := Next(text, mode)
	if !ok {
		return Statement{}, sqlerr.EmptyQuery()
	}
	if _, _, more := Next(rest, mode); more {
		return Statement{}, TrailingText(text, rest, mode)
	}
	return p.parseOne(text, mode)
}

// TrailingText is the error of a text with more than one statement where only one
// is allowed: 1064 at what follows the first, or 1235 for a stored program, whose body
// has statements.
func TrailingText(first, rest string, mode types.SQLMode) error {
	if len(first) < largeText {
		if _, err := New().parseOne(first, mode); sqlerr.IsNotSupported(err) {
			return err
		}
	}
	return sqlerr.Parse("", near(strings.TrimLeft(rest, " \t\r\n;"), 0, mode), 1+strings.Count(first, "\n"))
}

// NearRest is an error of the first statement of text, which ends at end, as MySQL shows
// it: a syntax error with the statements that follow.
func NearRest(err error, text string, end int, mode types.SQLMode) error {
	return sqlerr.WithNear(err, func(shown string) string {
		if len(shown) >= maxNear || !strings.HasSuffix(text[:end], shown) {
			return shown
		}
		return near(strings.TrimRight(text, "; \t\r\n"), end-len(shown), mode)
	})
}

// ParseTemplate parses the text of a template: parameter i is literal i.
func (p *Parser) ParseTemplate(t *Template, mode types.SQLMode) (Statement, error) {
	return p.parseOne(string(t.Text), mode)
}

func (p *Parser) parseOne(text string, mode types.SQLMode) (Statement, error) {
	src, hints := versionComments(text, mode)
	src, adjacent, err := checkNesting(src, mode)
	if err != nil {
		return Statement{}, err
	}
	st := Statement{Text: text}
	sh := shim{src: src, mode: mode, st: &st, adjacent: adjacent}
	if sh.first() {
		if st.Admin != nil {
			return st, nil
		}
		src = sh.out()
	}
	var list string
	node, err := p.run(&st, src, mode)
	if err != nil {
		changed, serr := sh.repair()
		if serr != nil {
			return Statement{}, serr
		}
		if !changed {
			return Statement{}, parseError(src, err, mode)
		}
		if st.Admin != nil {
			return st, nil
		}
		src, list = sh.cut(sh.out())
		var err2 error
		if node, err2 = p.run(&st, src, mode); err2 != nil {
			if sh.accounts || sh.word(0) == "KILL" {
				return Statement{}, syntaxError(sh.src, sh.writtenAt(errorOffset(src, err2.Error())), mode)
			}
			return Statement{}, parseError(src, err2, mode)
		}
		if node != nil {
			node.Accept(dropNoTables{})
		}
	} else if err := checkGrant(src, mode, node); err != nil {
		return Statement{}, err
	}
	if node == nil {
		return Statement{}, sqlerr.EmptyQuery()
	}
	if err := p.parseInto(&sh, mode); err != nil {
		return Statement{}, err
	}
	returning, err := p.parseReturning(&st, node, list, mode)
	if err != nil {
		return Statement{}, err
	}
	if err := p.parseJSONTables(&st, mode, node, returning); err != nil {
		return Statement{}, err
	}
	if len(hints) > 0 {
		node.Accept(&hintReader{st: &st, mode: mode, comments: hintsOf(hints)})
	}
	st.Node = node
	st.Params, st.ReadsDiagnostics = collect(node, returning)
	return st, nil
}

func (p *Parser) run(st *Statement, src string, mode types.SQLMode) (_ ast.StmtNode, err error) {
	defer func() {
		// Rules of TiDB's grammar take some numbers for an int64 unchecked, as in
		// PASSWORD HISTORY 18446744073709551615.
		if x := recover(); x != nil {
			bad, ok := x.(*runtime.TypeAssertionError)
			if !ok {
				panic(x)
			}
			p.p, err = tidb.New(), bad
		}
	}()
	p.p.SetSQLMode(tidbMode(mode))
	nodes, warns, err := p.p.ParseSQL(src)
	if err != nil {
		return nil, err
	}
	for _, w := range warns {
		if strings.Contains(w.Error(), "parsed but ignored") {
			continue // of TiDB's own storage, not MySQL's
		}
		if strings.Contains(w.Error(), "Optimizer hint") {
			continue // a comment of hints where MySQL has a comment; hintReader warns of others
		}
		st.Warnings = append(st.Warnings, sqlerr.Unknown("%s", w.Error()))
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	return nodes[0], nil
}

func tidbMode(m types.SQLMode) mysql.SQLMode {
	var out mysql.SQLMode
	for _, f := range [...]struct {
		ours   types.SQLMode
		theirs mysql.SQLMode
	}{
		{types.ModeANSIQuotes, mysql.ModeANSIQuotes},
		{types.ModePipesAsConcat, mysql.ModePipesAsConcat},
		{types.ModeNoBackslashEscapes, mysql.ModeNoBackslashEscapes},
		{types.ModeHighNotPrecedence, mysql.ModeHighNotPrecedence},
		{types.ModeIgnoreSpace, mysql.ModeIgnoreSpace},
		{types.ModeRealAsFloat, mysql.ModeRealAsFloat},
	} {
		if m&f.ours != 0 {
			out |= f.theirs
		}
	}
	return out
}

// collect finds the parameters and numbers them by their position in the text: the
// AST's order is another one (LIMIT 1 OFFSET 2). diagnostics is Statement.ReadsDiagnostics.
func collect(nodes ...ast.StmtNode) (params []*Param, diagnostics bool) {
	c := collector{}
	for _, n := range nodes {
		if n != nil {
			n.Accept(&c)
		}
	}
	sort.SliceStable(c.list, func(i, j int) bool { return c.list[i].Offset < c.list[j].Offset })
	list := c.list[:0]
	for _, p := range c.list {
		// A node may hang in the tree twice.
		if len(list) == 0 || list[len(list)-1] != p {
			p.Index = len(list)
			list = append(list, p)
		}
	}
	return list, c.diagnostics
}

type collector struct {
	list        []*Param
	diagnostics bool
}

// Enter implements ast.Visitor.
func (c *collector) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *Param:
		c.list = append(c.list, n)
		return n, true
	case *ast.VariableExpr:
		if n.IsSystem && (strings.EqualFold(n.Name, "warning_count") || strings.EqualFold(n.Name, "error_count")) {
			c.diagnostics = true
		}
	case *ast.KillStmt:
		if n.Expr != nil { // which its own Accept leaves out
			n.Expr.Accept(c)
		}
	case *ast.ShowStmt:
		if n.Tp == ast.ShowWarnings || n.Tp == ast.ShowErrors {
			c.diagnostics = true
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (c *collector) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// maxNear is how much of the text an error message shows.
const maxNear = 80

func clip(s string) string {
	if len(s) > maxNear {
		return s[:maxNear]
	}
	return s
}

// parseError translates an error of TiDB's parser.
func parseError(src string, err error, mode types.SQLMode) error {
	var te *perrors.Error
	if errors.As(err, &te) || asTerror(err, &te) {
		code := uint16(te.Code())
		if code != mysql.ErrParse && code != mysql.ErrSyntax && code < 4000 && code >= 1000 {
			state, ok := mysql.MySQLState[code]
			if !ok {
				state = mysql.DefaultMySQLState
			}
			return sqlerr.FromGrammar(code, state, te.GetMsg())
		}
		return syntaxError(src, 0, mode)
	}
	return syntaxError(src, errorOffset(src, err.Error()), mode)
}

func asTerror(err error, te **perrors.Error) bool {
	e, ok := perrors.Cause(err).(*perrors.Error)
	if ok {
		*te = e
	}
	return ok
}

// errorOffset finds the place of an error in TiDB's message, which quotes the
// rest of the text from the offending token on, cut at 2,048 bytes.
func errorOffset(src, msg string) int {
	_, after, ok := strings.Cut(msg, ` near "`)
	if !ok {
		return 0
	}
	if i := strings.LastIndex(after, "(total length "); i >= 0 {
		digits, _, _ := strings.Cut(after[i+len("(total length "):], ")")
		if n, err := strconv.Atoi(digits); err == nil && n <= len(src) {
			return len(src) - n
		}
	}
	for end := strings.LastIndexByte(after, '"'); end >= 0; end = strings.LastIndexByte(after[:end], '"') {
		if strings.HasSuffix(src, after[:end]) {
			return len(src) - end
		}
	}
	return 0
}
