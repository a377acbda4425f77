package session

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/command"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// textSink keeps rows as text: values joined by blanks.
type textSink struct {
	sink
	types []schema.Type
	lines []string
}

func (s *textSink) Header(h *mysqlwire.Header) error {
	s.types = nil
	for _, c := range h.Columns() {
		s.types = append(s.types, c.Type)
	}
	return nil
}

func (s *textSink) Batch(b *vec.Batch) error {
	for i := range b.Live() {
		var line []string
		for j, c := range b.Cols {
			text := "NULL"
			if d := c.Datum(b.Row(i)); !d.IsNull() {
				text = string(types.AppendText(nil, s.types[j], d))
			}
			line = append(line, text)
		}
		s.lines = append(s.lines, strings.Join(line, " "))
	}
	return nil
}

func (s *textSink) Row(row []value.Datum) error {
	line := make([]string, len(row))
	for i, d := range row {
		line[i] = string(types.AppendText(nil, s.types[i], d))
	}
	s.lines = append(s.lines, strings.Join(line, " "))
	return nil
}

// mustCheck proves the rows and entries of a table against each other.
func (s *Session) mustCheck(t *testing.T, table string) {
	t.Helper()
	if lines := s.rowsOf(t, "CHECK TABLE "+table); !strings.HasSuffix(lines, " check status OK") || strings.Contains(lines, " error ") {
		t.Errorf("check of %s: %s", table, lines)
	}
}

// rowsOf are the rows of a query, joined by slashes.
func (s *Session) rowsOf(t testing.TB, sql string) string {
	t.Helper()
	w := &textSink{}
	if err := s.Query(context.Background(), sql, w); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return strings.Join(w.lines, "/")
}

// errorOf is the number of the error that a statement ends with, 0 for none.
func (s *Session) errorOf(sql string) int {
	err := s.Query(context.Background(), sql, &textSink{})
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		return int(e.Number)
	}
	if err != nil {
		return -1
	}
	return 0
}

// sharedOf is what the sessions of a test's engine share.
func sharedOf(t testing.TB, e *engine.Engine) *statement.Shared {
	t.Helper()
	return statement.NewShared(e, command.Runner{})
}
