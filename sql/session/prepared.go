package session

import (
	"context"
	"strconv"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Prepare implements mysqlwire.Session.
func (s *Session) Prepare(ctx context.Context, text string) (*mysqlwire.Prepared, error) {
	text = s.fromClient(text)
	ctx, done := s.enter(ctx, "Prepare", text)
	defer done()
	if len(s.prepared) >= maxPrepared {
		s.Diagnostics.Clear()
		return nil, s.Finish(sqlerr.TooManyPrepared(maxPrepared))
	}
	s.Metrics.Start(metrics.StmtPrepare)
	p, header, err := s.st.Prepare(ctx, text)
	if err != nil {
		return nil, s.st.Ended(text, err, nil)
	}
	s.nextPrepared++
	s.prepared[s.nextPrepared] = p
	s.Metrics.Prepared.Add(1)
	p.Instance.SetID(uint64(s.nextPrepared))
	return &mysqlwire.Prepared{ID: s.nextPrepared, Params: p.Params, Columns: header, Warnings: s.Diagnostics.WarningCount}, nil
}

// Execute implements mysqlwire.Session.
func (s *Session) Execute(ctx context.Context, id uint32, params []mysqlwire.Param, w mysqlwire.ResultWriter) error {
	p := s.prepared[id]
	if p == nil {
		return s.Finish(sqlerr.UnknownStatementHandler(strconv.FormatUint(uint64(id), 10), "mysqld_stmt_execute"))
	}
	s.convertParams(params)
	ctx, done := s.enter(ctx, "Execute", p.Stmt.Text)
	defer done()
	s.Metrics.Start(metrics.StmtExecute)
	return s.st.Ended(p.Stmt.Text, s.st.Execute(ctx, p, params, false, w), w)
}

// CloseStatement implements mysqlwire.Session.
func (s *Session) CloseStatement(id uint32) {
	s.Metrics.Start(metrics.StmtClose)
	if s.prepared[id] == nil {
		return
	}
	s.Metrics.Prepared.Add(-1)
	s.Forget(s.prepared[id])
	delete(s.prepared, id)
}

// maxPrepared is MySQL's default of max_prepared_stmt_count.
const maxPrepared = 16382
