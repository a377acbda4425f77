package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// showTable is the virtual table of one SHOW statement; like is the column
// that LIKE looks at, "" for the first.
type showTable struct {
	name string
	args []string
	like string
}

func word(set bool, s string) string {
	if set {
		return s
	}
	return ""
}

// show binds SHOW and DESCRIBE.
func (b *binder) show(st *parser.Statement, n *ast.ShowStmt) (logical.Statement, error) {
	s, err := b.showTable(n)
	if err != nil {
		return nil, err
	}
	src, err := b.showSource(s)
	if err != nil {
		return nil, err
	}
	node, err := b.showFilter(src, s, n)
	if err != nil {
		return nil, err
	}
	if n.Tp == ast.ShowTables || n.Tp == ast.ShowDatabases {
		node = b.patternHeader(node, n)
	}
	if st.Limit != nil {
		node = &logical.Limit{Input: node, Count: ubig(st.Limit.Count), Offset: ubig(st.Limit.Offset)}
	}
	return &logical.Query{Root: node, Subqueries: b.subqueries}, nil
}

func ubig(v uint64) expr.Expr { return expr.NewConst(value.Uint(v), types.UBigInt) }

func (b *binder) showSource(s showTable) (*source, error) {
	if b.env.Virtual == nil {
		return nil, sqlerr.NotSupported("SHOW " + strings.ToUpper(strings.ReplaceAll(s.name, "_", " ")))
	}
	v, ok, err := b.env.Virtual.Virtual(logical.ShowDatabase, s.name, s.args...)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sqlerr.NotSupported("SHOW " + strings.ToUpper(strings.ReplaceAll(s.name, "_", " ")))
	}
	return b.virtual(v, "", ""), nil
}

// showFilter adds LIKE, WHERE and the column of DESCRIBE.
func (b *binder) showFilter(src *source, s showTable, n *ast.ShowStmt) (logical.Node, error) {
	sc := &scope{b: b, src: src, clause: clauseWhere}
	var conds []expr.Expr
	if n.Pattern != nil || n.Column != nil {
		col := &src.star[0]
		for i := range src.star {
			if strings.EqualFold(src.star[i].Name, s.like) {
				col = &src.star[i]
			}
		}
		var pattern expr.Expr
		name := "like"
		if n.Column != nil {
			name = "="
			pattern = expr.NewConst(value.String(n.Column.Name.O), types.VarcharOf(len(n.Column.Name.O), b.collation()))
		} else {
			var err error
			if pattern, err = b.value(sc, n.Pattern.Pattern); err != nil {
				return nil, err
			}
		}
		e, err := expr.NewFunc(b.be, name, colExpr(col), pattern)
		if err != nil {
			return nil, err
		}
		if e, err = expr.NewFilter(b.be, e); err != nil {
			return nil, err
		}
		conds = append(conds, e)
	}
	if n.Where != nil {
		e, err := b.condition(sc, n.Where)
		if err != nil {
			return nil, err
		}
		conds = expr.SplitAnd(conds, e)
	}
	if len(conds) == 0 {
		return src.node, nil
	}
	return &logical.Filter{Input: src.node, Conds: conds}, nil
}

// patternHeader: SHOW TABLES LIKE 'a%' names its column "Tables_in_db (a%)".
func (b *binder) patternHeader(node logical.Node, n *ast.ShowStmt) logical.Node {
	if n.Pattern == nil {
		return node
	}
	l, ok := n.Pattern.Pattern.(*parser.Literal)
	if !ok {
		return node
	}
	p := &logical.Project{Input: node}
	for i, c := range node.Columns() {
		p.Exprs = append(p.Exprs, colExpr(&c))
		c.ID = b.newID()
		if i == 0 {
			c.Name += " (" + l.GetString() + ")"
		}
		p.Cols = append(p.Cols, c)
	}
	return p
}

// showDB is the database of SHOW … FROM db: 1046, 1049.
func (b *binder) showDB(name string) (string, error) {
	db, err := b.database(name)
	if err != nil {
		return "", err
	}
	b.seesDatabase(db)
	return b.knownDatabase(db)
}

// knownDatabase is the name of a database that exists: 1049.
func (b *binder) knownDatabase(db string) (string, error) {
	if d, ok := b.env.Catalog.Database(db); ok {
		return d.Name, nil
	}
	if b.isVirtual(db) {
		return strings.ToLower(db), nil
	}
	return "", sqlerr.UnknownDatabase(db)
}

// showName is the table of SHOW … FROM t [FROM db]: 1146.
func (b *binder) showName(n *ast.TableName, db string) (string, string, error) {
	if db == "" {
		db = n.Schema.O
	}
	db, err := b.database(db)
	if err == nil {
		db, err = b.knownDatabase(db)
	}
	if err != nil {
		return "", "", err
	}
	if t, ok := b.env.Catalog.Table(db, n.Name.O); ok {
		return db, t.Name, nil
	}
	if v, ok := b.view(db, n.Name.O); ok {
		return db, v.Name, nil
	}
	if b.isVirtual(db) {
		if v, ok, err := b.env.Virtual.Virtual(db, n.Name.O); err != nil {
			return "", "", err
		} else if ok {
			return db, v.Name, nil
		}
	}
	return "", "", sqlerr.NoSuchTable(db, n.Name.O)
}

func (b *binder) showTable(n *ast.ShowStmt) (showTable, error) {
	switch n.Tp {
	case ast.ShowTables, ast.ShowTableStatus, ast.ShowTriggers, ast.ShowEvents:
		return b.showOfDB(n)
	case ast.ShowColumns, ast.ShowIndex, ast.ShowCreateTable, ast.ShowCreateView:
		return b.showOfTable(n)
	case ast.ShowDatabases:
		return showTable{name: "databases"}, nil
	case ast.ShowOpenTables:
		return showTable{name: "open_tables", args: []string{n.DBName}, like: "Table"}, nil
	case ast.ShowCreateDatabase:
		db, err := b.showDB(n.DBName)
		return showTable{name: "create_database", args: []string{db, word(n.IfNotExists, "if not exists")}}, err
	case ast.ShowCreateUser:
		u, err := userSpec(n.User)
		return showTable{name: "create_user", args: []string{u.User, u.Host}}, err
	case ast.ShowGrants:
		u, err := userSpec(n.User)
		if err != nil {
			return showTable{}, err
		}
		roles, err := roleNames(n.Roles)
		if err != nil {
			return showTable{}, err
		}
		args := []string{u.User, u.Host}
		for _, r := range roles {
			args = append(args, r.User, r.Host)
		}
		return showTable{name: "grants", args: args}, nil
	case ast.ShowVariables, ast.ShowStatus:
		name, scope := "variables", "session"
		if n.Tp == ast.ShowStatus {
			name = "status"
		}
		if n.GlobalScope {
			scope = "global"
		}
		return showTable{name: name, args: []string{scope}}, nil
	case ast.ShowWarnings, ast.ShowErrors:
		name := "warnings"
		if n.Tp == ast.ShowErrors {
			name = "errors"
		}
		if n.CountWarningsOrErrors {
			name = "count_" + name
		}
		return showTable{name: name}, nil
	case ast.ShowProcessList:
		return showTable{name: "processlist", args: []string{word(n.Full, "full")}}, nil
	}
	return simpleShow(n)
}

func (b *binder) showOfDB(n *ast.ShowStmt) (showTable, error) {
	db, err := b.showDB(n.DBName)
	if err != nil {
		return showTable{}, err
	}
	switch n.Tp {
	case ast.ShowTables:
		return showTable{name: "tables", args: []string{db, word(n.Full, "full")}}, nil
	case ast.ShowTableStatus:
		return showTable{name: "table_status", args: []string{db}}, nil
	case ast.ShowTriggers:
		return showTable{name: "triggers", args: []string{db}, like: "Table"}, nil
	}
	return showTable{name: "events", args: []string{db}, like: "Name"}, nil
}

// seesShown adds what SHOW of a table needs: any privilege on it.
func (b *binder) seesShown(n *ast.ShowStmt) {
	db := n.DBName
	if db == "" {
		db = n.Table.Schema.O
	}
	if db == "" {
		db = b.env.Database
	}
	command := "SELECT"
	if n.Tp == ast.ShowCreateTable || n.Tp == ast.ShowCreateView {
		command = "SHOW"
	}
	b.seesTable(db, n.Table.Name.O, command)
}

func (b *binder) showOfTable(n *ast.ShowStmt) (showTable, error) {
	b.seesShown(n)
	db, table, err := b.showName(n.Table, n.DBName)
	if err != nil {
		return showTable{}, err
	}
	switch n.Tp {
	case ast.ShowColumns:
		return showTable{name: "columns", args: []string{db, table, word(n.Full, "full")}, like: "Field"}, nil
	case ast.ShowIndex:
		return showTable{name: "index", args: []string{db, table}}, nil
	}
	if _, ok := b.env.Catalog.Table(db, table); !ok {
		if _, ok := b.view(db, table); ok {
			return showTable{name: "create_view", args: []string{db, table}}, nil
		}
	}
	if n.Tp == ast.ShowCreateView {
		return showTable{}, sqlerr.ViewInvalid(db, table, "VIEW")
	}
	return showTable{name: "create_table", args: []string{db, table}}, nil
}

func simpleShow(n *ast.ShowStmt) (showTable, error) {
	switch n.Tp {
	case ast.ShowEngines:
		return showTable{name: "engines"}, nil
	case ast.ShowCharset:
		return showTable{name: "character_set"}, nil
	case ast.ShowCollation:
		return showTable{name: "collation"}, nil
	case ast.ShowPrivileges:
		return showTable{name: "privileges"}, nil
	case ast.ShowPlugins:
		return showTable{name: "plugins"}, nil
	case ast.ShowProcedureStatus:
		return showTable{name: "procedure_status", like: "Name"}, nil
	case ast.ShowFunctionStatus:
		return showTable{name: "function_status", like: "Name"}, nil
	case ast.ShowProfiles:
		return showTable{name: "profiles"}, nil
	case ast.ShowCreateProcedure:
		return showTable{}, sqlerr.NoSuchProgram("PROCEDURE", n.Procedure.Name.O)
	case ast.ShowProfile:
		return showTable{name: "profile"}, nil
	case ast.ShowMasterStatus, ast.ShowBinlogStatus:
		return showTable{name: "binary_log_status"}, nil
	case ast.ShowReplicaStatus:
		return showTable{name: "replica_status"}, nil
	}
	return showTable{}, sqlerr.NotSupported("this SHOW statement")
}

// showRare binds the SHOW statements that the parser reads without an AST, and
// the errors of stored programs, which do not exist.
func (b *binder) showRare(words []string) (logical.Statement, error) {
	switch words[0] {
	case "create_program":
		return nil, sqlerr.NoSuchProgram(words[1], words[2])
	}
	src, err := b.showSource(showTable{name: words[0]})
	if err != nil {
		return nil, err
	}
	return &logical.Query{Root: src.node}, nil
}
