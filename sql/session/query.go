package session

import (
	"context"
	"strings"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
)

// Query implements mysqlwire.Session: COM_QUERY with one statement, or with
// several when the client said so.
func (s *Session) Query(ctx context.Context, text string, w mysqlwire.ResultWriter) error {
	text = s.fromClient(text)
	ctx, done := s.enter(ctx, "Query", text)
	defer done()
	if handled, err := s.st.QueryTemplate(ctx, text, w); handled {
		return s.st.Ended(text, err, w)
	}
	rest := text
	for first := true; ; first = false {
		stmt, tail, ok := parser.Next(rest, s.Vars.Mode)
		if !ok {
			if !first {
				return nil
			}
			s.Diagnostics.Clear()
			if strings.Trim(rest, " \t\r\n\f\v;") == "" {
				return s.Finish(sqlerr.EmptyQuery())
			}
			return s.Finish(s.st.OK(w, mysqlwire.OK{}, false)) // a comment
		}
		_, _, more := parser.Next(tail, s.Vars.Mode)
		if more && !s.multi {
			return s.Finish(parser.TrailingText(stmt, tail, s.Vars.Mode))
		}
		if !first {
			s.st.BeginEvent(s.st.EndedAt())
		}
		if more {
			w.ColumnFlags(mysqlwire.StatusMoreResults)
		}
		err := s.st.RunText(ctx, stmt, more, w)
		if err != nil && more {
			from := rest[strings.Index(rest, stmt):]
			err = parser.NearRest(err, from, len(stmt), s.Vars.Mode)
		}
		if err = s.st.Ended(stmt, err, w); err != nil {
			return err
		}
		if s.Tx.Lost || !more {
			return nil
		}
		rest = tail
	}
}

// enter marks the start of a command; the returned function its end.
func (s *Session) enter(ctx context.Context, command, text string) (context.Context, func()) {
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	s.Process.Begin(command, text, s.Vars.Mode, now, cancel)
	s.st.BeginEvent(now)
	s.st.BelongsTo(ctx)
	s.Note(command, text)
	var timer *time.Timer
	if limit := s.maxTime(text); limit > 0 {
		s.Metrics.Add(metrics.MaxExecutionTimeSet, 1)
		timer = time.AfterFunc(limit, func() { cancel(sqlerr.QueryTimeout()) })
	}
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		end := s.st.EndedAt()
		if end.IsZero() {
			end = time.Now()
		}
		s.Process.End(end)
		cancel(nil)
		if s.Tx.IsOpen() && s.Vars.IdleTxn > 0 {
			s.idle = time.AfterFunc(s.Vars.IdleTxn, s.Process.KillConnection)
		}
	}
}

// maxTime is how long a statement may run, by its hint or max_execution_time; 0
// for no limit.
func (s *Session) maxTime(text string) time.Duration {
	if !statement.IsSelect(text) {
		return 0
	}
	if n, ok := parser.MaxExecutionTime(text); ok {
		return time.Duration(n) * time.Millisecond
	}
	return s.Vars.MaxTime
}
