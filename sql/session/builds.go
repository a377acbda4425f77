package session

import (
	"context"
	"sync"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// buildJobs are the index builds that the last run of the server has left
// unfinished.
type buildJobs struct {
	cancel context.CancelCauseFunc
	done   sync.WaitGroup
}

// buildSession is the connection id of the first of them.
const buildSession = 1 << 61

// ContinueBuilds goes on with the index builds that the last run of the server
// has left, one after the other. Close suspends them.
func (e *Engine) ContinueBuilds() {
	list := e.ddl.Unfinished()
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	e.builds.cancel = cancel
	e.builds.done.Go(func() {
		for i, b := range list {
			if ctx.Err() != nil {
				return
			}
			err := guard.Run(func() error { return e.continueBuild(ctx, b, buildSession+uint64(i)) })
			if err != nil {
				guard.Log(e.log, "index build", err)
				e.log.Warn("index build", "statement", b.Statement(), "err", err)
			}
		}
	})
}

func (j *buildJobs) stop() {
	if j.cancel != nil {
		j.cancel(sqlerr.ServerShutdown())
		j.done.Wait()
	}
}

// continueBuild runs a build as a connection of its own, which can be killed.
func (e *Engine) continueBuild(ctx context.Context, b ddl.Continuation, id uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := e.NewSession(ctx, mysqlwire.ConnInfo{ID: id, User: "ddl", Kill: func() { cancel(sqlerr.QueryInterrupted()) }})
	if err != nil {
		return err
	}
	defer s.Close()
	s.process.setDB(b.Database())
	s.process.begin("Query", b.Statement(), time.Now(), cancel)
	return translate(b.Continue(ctx, s.ddlEnv()))
}

// IndexBuilds implements infoschema.Server.
func (e *introspection) IndexBuilds() []infoschema.IndexBuild {
	var out []infoschema.IndexBuild
	for _, b := range e.ddl.Builds() {
		out = append(out, infoschema.IndexBuild{ID: b.ID, Database: b.Database, Table: b.Table, Indexes: b.Indexes, Statement: b.Statement, State: b.State,
			Rows: b.Rows, Estimate: b.Estimate, Started: b.Started, Ended: b.Ended, Resumed: b.Resumed, Error: b.Error})
	}
	return out
}
