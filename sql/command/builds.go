package command

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/engine/job"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
)

// buildSession is the connection id of the first of them.
const buildSession = 1 << 61

// ContinueBuilds goes on with what the last run of the server has left: removals of data,
// and index builds, one after the other. The end of the engine's jobs suspends them.
func ContinueBuilds(sh *statement.Shared) {
	e := sh.Engine
	e.DDL.ContinueRemovals()
	list := e.DDL.Unfinished()
	if len(list) == 0 {
		return
	}
	e.Jobs.Start("continuing index builds", func(ctx context.Context, j *job.Job) {
		for i, b := range list {
			if ctx.Err() != nil {
				return
			}
			err := j.Turn(ctx, func(ctx context.Context) error { return continueBuild(ctx, sh, b, buildSession+uint64(i)) })
			if err != nil {
				e.Log.Warn("index build", "event", "ddl.failed", "database", b.Database(), "error", err)
			}
		}
	})
}

// continueBuild runs a build as a connection of its own, which can be killed.
func continueBuild(ctx context.Context, sh *statement.Shared, b ddl.Continuation, id uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	st := statement.Open(sh, mysqlwire.ConnInfo{ID: id, User: "ddl", Kill: func() { cancel(sqlerr.QueryInterrupted()) }})
	st.ActAsServer()
	defer st.End()
	e := sh.Engine
	e.Processes.Add(st.Process)
	defer e.Processes.Remove(id)
	st.Process.SetDB(b.Database())
	st.Process.Begin("Query", b.Statement(), types.DefaultSQLMode, time.Now(), cancel)
	return statement.Translate(b.Continue(ctx, st.DDLEnv()))
}
