package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/planner/logical"
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
