package command

import (
	"context"
	"errors"
	"time"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// maintain is ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE: a line for
// each table.
func (s *commands) maintain(ctx context.Context, stmt logical.Statement, more bool, w mysqlwire.ResultWriter) error {
	op, tables := "analyze", []logical.TableName(nil)
	switch x := stmt.(type) {
	case *logical.AnalyzeTable:
		tables = x.Tables
	case *logical.Maintain:
		if x.Op == "checksum" {
			return s.checksum(ctx, x, more, w)
		}
		op, tables = x.Op, x.Tables
	}
	text := types.VarcharOf(128, schema.CollationUTF8MB40900AICI)
	long := types.Text(schema.CollationUTF8MB40900AICI)
	err := w.Header(mysqlwire.NewHeader([]mysqlwire.Column{{Name: "Table", Type: text}, {Name: "Op", Type: text}, {Name: "Msg_type", Type: text}, {Name: "Msg_text", Type: long}}))
	if err != nil {
		return err
	}
	for _, n := range tables {
		db := n.DB
		if db == "" {
			db = s.DB
		}
		lines, err := s.maintainTable(ctx, op, db, n.Name)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := w.Row([]value.Datum{value.String(db + "." + n.Name), value.String(op), value.String(l[0]), value.String(l[1])}); err != nil {
				return err
			}
		}
	}
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}

// maintainTable yields pairs of message type and text.
func (s *commands) maintainTable(ctx context.Context, op, db, name string) ([][2]string, error) {
	t, ok := s.Temps.Visible().Table(db, name)
	if !ok {
		return [][2]string{{"Error", sqlerr.NoSuchTable(db, name).Message}, {"status", "Operation failed"}}, nil
	}
	switch op {
	case "analyze":
		if err := s.Engine.Stats.Analyze(ctx, t); err != nil {
			return nil, err
		}
		s.Shared.Plans.Clear()
	case "check":
		return s.checkTable(ctx, t)
	case "repair":
		return [][2]string{{"note", "The storage engine for the table doesn't support repair"}}, nil
	}
	return [][2]string{{"status", "OK"}}, nil
}

// maxProblems is how many problems CHECK TABLE lists.
const maxProblems = 100

// checkTable proves rows and index entries against each other.
func (s *commands) checkTable(ctx context.Context, t *schema.Table) ([][2]string, error) {
	snap, err := s.Engine.Store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	codec, err := s.Engine.Codecs.Get(t)
	if err != nil {
		return nil, err
	}
	report, err := scrub.Check(ctx, snap, codec)
	if errors.Is(err, storage.ErrCorruption) {
		return [][2]string{{"error", corruptText(err)}, {"status", "Corrupt"}}, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := s.checkSearch(ctx, snap, t, report)
	if err != nil {
		return nil, err
	}
	for i, p := range report.Problems {
		if i == maxProblems {
			break
		}
		out = append(out, [2]string{"error", p.String()})
	}
	if !report.OK() {
		return append(out, [2]string{"status", "Corrupt"}), nil
	}
	return append(out, [2]string{"status", "OK"}), nil
}

// corruptText is what CHECK TABLE says of damage: the message without its number.
func corruptText(err error) string {
	var e *sqlerr.Error
	if errors.As(statement.Translate(err), &e) {
		return e.Message
	}
	return err.Error()
}

// checkWait is how long CHECK TABLE waits for a search index that is being built.
const checkWait = 2 * time.Second

// checkSearch adds to a report what is wrong with the documents of search indexes,
// and gives notes about those that cannot be checked.
func (s *commands) checkSearch(ctx context.Context, snap storage.Snapshot, t *schema.Table, report *scrub.Report) (notes [][2]string, err error) {
	if s.Engine.Search == nil {
		return nil, nil
	}
	for i := range t.Search {
		x := &t.Search[i]
		check := func() error {
			_, err := s.Engine.Search.Check(ctx, snap, t, x, func(key []byte, text string) { report.Add(x.Name, key, text) })
			return err
		}
		err := check()
		for end := time.Now().Add(checkWait); errors.Is(err, search.ErrUnavailable) && time.Now().Before(end); err = check() {
			select { // one of an emptied or renamed table is ready soon
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(checkWait / 100):
			}
		}
		if errors.Is(err, search.ErrUnavailable) {
			notes = append(notes, [2]string{"note", "search index " + x.Name + " is not ready, and was not checked"})
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return notes, nil
}
