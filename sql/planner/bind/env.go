package bind

import (
	"context"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Catalog is the schema as one statement sees it: it does not change while
// the statement is bound. Descriptors are not to be changed.
type Catalog interface {
	Database(name string) (*schema.Database, bool)
	Table(db, name string) (*schema.Table, bool)
}

// VirtualTables knows the tables that the server makes up: those of
// information_schema, performance_schema, mysql and sys by database and name,
// and those of SHOW statements under the database logical.ShowDatabase.
type VirtualTables interface {
	// Virtual gives the table's name as written, its columns (Name, T and Null
	// are read) and the handle for logical.Virtual. ok is false if the table does
	// not exist. args are the words of a SHOW statement. An error is one that the
	// statement gets, such as 1146 for SHOW COLUMNS of a missing table.
	Virtual(db, name string, args ...string) (t logical.VirtualTable, ok bool, err error)
	// IsVirtual reports whether db is a database of virtual tables only.
	IsVirtual(db string) bool
}

// Env is what binding needs to know of the session.
type Env struct {
	// Context ends binding with its cause; nil for none.
	Context context.Context
	Catalog Catalog
	// Virtual may be nil: there are no virtual tables then.
	Virtual VirtualTables
	// Database is the current one, "" if none.
	Database string
	Mode     types.SQLMode
	// Collation is the connection's (collation_connection).
	Collation schema.CollationID
	// Client is the character set in which the statement was sent, if it is not
	// UTF-8: literals after an introducer have its bytes.
	Client schema.CollationID
	// ServerCollation is the default of new databases (collation_server).
	ServerCollation schema.CollationID
	// ParamTypes are the types of the parameters; missing ones (TypeNull in
	// PREPARE) are taken from the context, else VARCHAR.
	ParamTypes []schema.Type
	// SysVar is the type of @@scope.name; scope is "", "session" or "global".
	// Errors: 1193, 1238. A nil function types all variables as text.
	SysVar func(scope, name string) (schema.Type, error)
	// UserVar is the type of @name; nil for text.
	UserVar func(name string) schema.Type
	// Parser parses default expressions of columns; nil makes one when needed.
	Parser *parser.Pool
	// ShowExpired: rows that are past their TTL are seen.
	ShowExpired bool
	// Warn takes warnings of binding; may be nil.
	Warn func(sqlerr.Warning)
	// Account is that which runs the statement.
	Account priv.Name
	// Check refuses what the account may not do; nil refuses nothing.
	Check func(*priv.Needs) error
	// DivIncrement is div_precision_increment; a nil one is 4.
	DivIncrement *int
}

// binder is the state of binding one statement.
type binder struct {
	env        *Env
	be         *expr.BindEnv
	nextCol    expr.ColID
	subqueries []logical.Node
	bound      int // parts of the statement, those that nest included
	locks      bool
	// locksForUpdate: some of them exclusively.
	locksForUpdate bool
	depth          int // nesting of query blocks and expressions
	blocks         int // nesting of query blocks
	expansions     int // queries of views and CTEs that were bound
	// block has the optimizer hints of the block that is being bound, nil without
	// any; blockCount counts the blocks.
	block      *hintBlock
	blockCount int
	// addressed are the hints of the statement that name query blocks.
	addressed []*parser.Hint
	// correlations are the subqueries and lateral tables around what is being
	// bound, outermost first; crossing is the least level of a scope that was
	// read across one of them.
	correlations []*correlation
	crossing     int
	// aggArgs are the aggregate calls whose arguments are being bound.
	aggArgs   []*aggArg
	views     []*schema.View // that are read
	viewStack []*schema.View // that are being bound
	// opening is the scope of the FROM in which views are replaced by their
	// tables, computed the replacements of the columns of such views.
	opening  *scope
	computed map[expr.ColID]expr.Expr
	// digits are the types of columns that have more digits than they show.
	digits   map[expr.ColID]schema.Type
	inStored bool       // an expression of a descriptor is being bound
	canon    *canonical // of the view that is being made
	// targets are the tables that the statement changes, while what may not read
	// it directly (1093) is bound; derived counts the derived tables around.
	targets   []*schema.Table
	inDerived int
	params    []schema.Type
	// hasNested: a table has a search index with nested objects. nested are the
	// columns of such objects, nestedNext those of the next JSON_TABLE.
	hasNested  bool
	nested     map[expr.ColID]nestedColumn
	nestedNext *nestedLevel
	// rights are what the part of the statement that is being bound needs.
	rights *rights
	// written has texts as they were before the parser rewrote them.
	written *parser.Statement
}

// maxNesting bounds recursion over the AST.
const maxNesting = parser.MaxNesting

// Bounds of what a short text may stand for: uses of views and CTEs, each of
// which is bound again, and columns of all operators.
const (
	maxExpansions = 8192
	maxColumns    = 1 << 20
	// maxOperands is the number of queries in a chain of UNION, each of which is
	// a level of the plan.
	maxOperands = 10_000
)

func newBinder(env *Env) *binder {
	coll := env.Collation
	if coll == schema.CollationNone {
		coll = schema.CollationUTF8MB40900AICI
	}
	return &binder{rights: &rights{}, env: env, be: &expr.BindEnv{Collation: coll, Mode: env.Mode, DivIncrement: env.DivIncrement}, params: env.ParamTypes}
}

func (b *binder) newID() expr.ColID {
	b.nextCol++
	return b.nextCol
}

func (b *binder) collation() schema.CollationID { return b.be.Collation }

func (b *binder) warn(e *sqlerr.Error) {
	if b.env.Warn != nil {
		b.env.Warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: e})
	}
}

// database is db or the current database; 1046 if neither is set.
func (b *binder) database(db string) (string, error) {
	if db != "" {
		return db, nil
	}
	if b.env.Database == "" {
		return "", sqlerr.NoDatabaseSelected()
	}
	return b.env.Database, nil
}

func (b *binder) isVirtual(db string) bool {
	return b.env.Virtual != nil && b.env.Virtual.IsVirtual(db)
}

// table finds a base table for reading or writing: 1046, 1049, 1146,
// 1347 for a view.
func (b *binder) table(db, name string) (*schema.Table, error) {
	db, err := b.database(db)
	if err != nil {
		return nil, err
	}
	d, ok := b.env.Catalog.Database(db)
	if !ok {
		return nil, sqlerr.UnknownDatabase(db)
	}
	t, ok := b.env.Catalog.Table(d.Name, name)
	if !ok {
		if v, ok := b.view(d.Name, name); ok {
			return nil, sqlerr.ViewInvalid(v.Database, v.Name, "BASE TABLE")
		}
		return nil, sqlerr.NoSuchTable(db, name)
	}
	return t, nil
}

// partsPerCheck is how many parts of a statement are bound between two looks at the
// context.
const partsPerCheck = 256

// nest guards recursion: a statement that nests deeper than maxNesting is
// refused, so that no text can exhaust the stack. It ends what was killed.
func (b *binder) nest() (func(), error) {
	if b.depth++; b.depth > maxNesting {
		b.depth--
		return nil, sqlerr.StackOverrun(maxNesting)
	}
	if b.nextCol > maxColumns {
		b.depth--
		return nil, sqlerr.TooManyColumns()
	}
	if b.bound++; b.bound%partsPerCheck == 0 && b.env.Context != nil && b.env.Context.Err() != nil {
		b.depth--
		return nil, context.Cause(b.env.Context)
	}
	return func() { b.depth-- }, nil
}

// expand counts a use of a view or CTE whose query is bound: views that read
// others twice double with each level.
func (b *binder) expand() error {
	if b.expansions++; b.expansions > maxExpansions {
		return sqlerr.SelectTooNested()
	}
	return nil
}

func internalf(format string, args ...any) error {
	return sqlerr.Internal("%s", fmt.Sprintf(format, args...))
}
