package session

import (
	"context"
	"strings"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Query implements mysqlwire.Session: COM_QUERY with one statement, or with
// several when the client said so.
func (s *Session) Query(ctx context.Context, text string, w mysqlwire.ResultWriter) error {
	text = s.fromClient(text)
	ctx, done := s.enter(ctx, "Query", text)
	defer done()
	s.st.beginTrace(w)
	if handled, err := s.st.queryTemplate(ctx, text, w); handled {
		err = s.finish(err)
		s.st.endTrace(text, err, w)
		return err
	}
	rest := text
	for first := true; ; first = false {
		stmt, tail, ok := parser.Next(rest, s.vars.Mode)
		if !ok {
			if !first {
				return nil
			}
			s.diag.clearDiagnostics()
			if strings.Trim(rest, " \t\r\n\f\v;") == "" {
				return s.finish(sqlerr.EmptyQuery())
			}
			return s.finish(s.st.ok(w, mysqlwire.OK{}, false)) // a comment
		}
		_, _, more := parser.Next(tail, s.vars.Mode)
		if more && !s.multi {
			return s.finish(sqlerr.Parse("", clipNear(strings.TrimLeft(tail, "; \t\r\n")), 1+strings.Count(stmt, "\n")))
		}
		if !first {
			s.st.beginTrace(w)
		}
		err := s.finish(s.st.one(ctx, stmt, more, w))
		s.st.endTrace(stmt, err, w)
		if err != nil {
			return err
		}
		if s.tx.lost || !more {
			return nil
		}
		rest = tail
	}
}

func clipNear(text string) string {
	if len(text) > 80 {
		text = text[:80]
	}
	return text
}

// enter marks the start of a command; the returned function its end.
func (s *Session) enter(ctx context.Context, command, text string) (context.Context, func()) {
	s.engine.Counters.Questions.Add(1)
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	s.process.Begin(command, text, now, cancel)
	s.note(command, text)
	var timer *time.Timer
	if limit := s.maxTime(text); limit > 0 {
		timer = time.AfterFunc(limit, func() { cancel(sqlerr.QueryTimeout()) })
	}
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		end := time.Now()
		if end.Sub(now) > s.vars.LongQuery {
			s.engine.Counters.Slow.Add(1)
		}
		s.st.dropTrace()
		s.process.End(end)
		cancel(nil)
		if s.tx.isOpen() && s.vars.IdleTxn > 0 {
			s.idle = time.AfterFunc(s.vars.IdleTxn, s.process.KillConnection)
		}
	}
}

// maxTime is how long a statement may run, by its hint or max_execution_time; 0
// for no limit.
func (s *Session) maxTime(text string) time.Duration {
	if !isSelect(text) {
		return 0
	}
	if n, ok := parser.MaxExecutionTime(text); ok {
		return time.Duration(n) * time.Millisecond
	}
	return s.vars.MaxTime
}

// isSelect reports whether max_execution_time is for a statement: a query.
func isSelect(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n(")
	if len(text) >= 4 && strings.EqualFold(text[:4], "with") {
		return parser.AfterWith(text) == "SELECT"
	}
	return len(text) >= 6 && strings.EqualFold(text[:6], "select")
}
