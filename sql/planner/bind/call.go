package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// procedureDatabase is the database of the server's own procedures.
const procedureDatabase = "sqlots"

// procedures are the numbers of arguments, least and most, of the server's own
// procedures.
var procedures = map[string][2]int{
	"stream_consumer":      {2, 4},
	"stream_checkpoint":    {2, 3},
	"stream_drop_consumer": {1, 1},
	"stream_purge":         {2, 2},
}

// sysDatabase is the database of MySQL's procedures for performance_schema.
const sysDatabase = "sys"

// sysProcedure binds CALL sys.ps_truncate_all_tables(…), which needs DROP on the
// tables: 1305, 1318.
func (b *binder) sysProcedure(n *ast.CallStmt) (logical.Statement, error) {
	name := n.Procedure.FnName
	if name.L != "ps_truncate_all_tables" {
		return nil, sqlerr.NoSuchProgram("PROCEDURE", sysDatabase+"."+name.O)
	}
	if got := len(n.Procedure.Args); got != 1 {
		return nil, sqlerr.WrongProcedureArguments(sysDatabase+"."+name.O, 1, 1, got)
	}
	if _, err := b.value(&scope{b: b, clause: clauseField}, n.Procedure.Args[0]); err != nil {
		return nil, err
	}
	b.needTable(logical.TableName{DB: performanceDatabase, Name: "events_statements_summary_by_digest"}, priv.Drop)
	return &logical.TruncateAll{}, nil
}

// performanceDatabase is the database whose summaries TRUNCATE resets.
const performanceDatabase = "performance_schema"

// truncateVirtual is TRUNCATE of a table of performance_schema; nil for another table.
// 1683.
func (b *binder) truncateVirtual(n *ast.TableName) (logical.Statement, error) {
	db := n.Schema.O
	if db == "" {
		db = b.env.Database
	}
	if !strings.EqualFold(db, performanceDatabase) || b.env.Virtual == nil {
		return nil, nil
	}
	t, ok, err := b.env.Virtual.Virtual(db, n.Name.O)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sqlerr.NoSuchTable(performanceDatabase, n.Name.O)
	}
	if !t.Truncates {
		return nil, sqlerr.WrongPerformanceSchemaUsage()
	}
	return &logical.TruncateTable{Table: logical.TableName{DB: performanceDatabase, Name: t.Name}}, nil
}

// procedure binds CALL sqlots.name(…): 1305, 1318.
func (b *binder) procedure(n *ast.CallStmt) (logical.Statement, error) {
	name := n.Procedure.FnName
	count, ok := procedures[name.L]
	if !ok {
		return nil, sqlerr.NoSuchProgram("PROCEDURE", procedureDatabase+"."+name.O)
	}
	if got := len(n.Procedure.Args); got < count[0] || got > count[1] {
		return nil, sqlerr.WrongProcedureArguments(procedureDatabase+"."+name.O, count[0], count[1], got)
	}
	c := &logical.Call{Name: name.L, Database: b.env.Database}
	for _, a := range n.Procedure.Args {
		e, err := b.value(&scope{b: b, clause: clauseField}, a)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, e)
	}
	c.Reads = b.reads()
	return c, nil
}
