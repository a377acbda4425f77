package session

import (
	"context"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Prepare implements mysqlwire.Session.
func (s *Session) Prepare(ctx context.Context, text string) (*mysqlwire.Prepared, error) {
	text = s.fromClient(text)
	_, done := s.enter(ctx, "Prepare", text)
	defer done()
	if !readsDiagnostics(text) {
		s.diag.clearDiagnostics()
	}
	if len(s.prepared) >= maxPrepared {
		return nil, s.finish(sqlerr.TooManyPrepared(maxPrepared))
	}
	p, header, err := s.st.prepare(text)
	if err != nil {
		return nil, s.finish(err)
	}
	s.nextPrepared++
	s.prepared[s.nextPrepared] = p
	return &mysqlwire.Prepared{ID: s.nextPrepared, Params: p.params, Columns: header, Warnings: s.diag.warningCount}, nil
}

// Execute implements mysqlwire.Session.
func (s *Session) Execute(ctx context.Context, id uint32, params []mysqlwire.Param, w mysqlwire.ResultWriter) error {
	p := s.prepared[id]
	if p == nil {
		return s.finish(sqlerr.UnknownStatementHandler(itoa(uint64(id)), "mysqld_stmt_execute"))
	}
	s.convertParams(params)
	ctx, done := s.enter(ctx, "Execute", p.stmt.Text)
	defer done()
	s.st.beginTrace(w)
	err := s.finish(s.st.execute(ctx, p, params, false, w))
	s.st.endTrace(p.stmt.Text, err, w)
	return err
}

// CloseStatement implements mysqlwire.Session.
func (s *Session) CloseStatement(id uint32) { delete(s.prepared, id) }

// maxPrepared is MySQL's default of max_prepared_stmt_count.
const maxPrepared = 16382
