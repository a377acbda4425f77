package introspect

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Server is what information_schema sees of an engine.
type Server struct{ engine *engine.Engine }

// New makes the server that information_schema describes.
func New(e *engine.Engine) *Server { return &Server{engine: e} }

// Catalog implements infoschema.Server.
func (e *Server) Catalog() *catalog.Snapshot { return e.engine.Catalog.Snapshot() }

// Processes implements infoschema.Server.
func (e *Server) Processes() []infoschema.Process {
	list := e.engine.Processes.List()
	out := make([]infoschema.Process, len(list))
	for i, p := range list {
		out[i] = infoschema.Process{ID: p.ID, User: p.User, Host: p.Host, DB: p.DB, Command: p.Command, State: p.State, Info: p.Info, Since: p.Since, Attributes: p.Attributes, TLS: p.TLS}
	}
	return out
}

// GlobalVariables implements infoschema.Server.
func (e *Server) GlobalVariables() []infoschema.Variable {
	return ConvertVariables(sysvar.NewValues(e.engine.Globals).List(true))
}

// ConvertVariables is a list of SHOW VARIABLES in the types of infoschema.
func ConvertVariables(list []sysvar.Variable) []infoschema.Variable {
	out := make([]infoschema.Variable, len(list))
	for i, v := range list {
		out[i] = infoschema.Variable(v)
	}
	return out
}

// Started implements infoschema.Server.
func (e *Server) Started() time.Time { return e.engine.Started }

// TableRows implements infoschema.Server.
func (e *Server) TableRows(ctx context.Context, t *schema.Table) float64 {
	return e.engine.Stats.TableRows(ctx, t)
}

// TableSize implements infoschema.Server.
func (e *Server) TableSize(ctx context.Context, t *schema.Table) (data, index int64) {
	all, err := e.engine.Store.EstimateSize(ctx, table.TableSpan(t.ID))
	if err != nil {
		return 0, 0
	}
	data, err = e.engine.Store.EstimateSize(ctx, table.IndexSpan(t.ID, schema.PrimaryIndexID))
	if err != nil {
		return 0, 0
	}
	return data, max(all-data, 0)
}

// PartitionSize implements infoschema.Server.
func (e *Server) PartitionSize(ctx context.Context, t *schema.Table, number int64) (rows float64, data int64) {
	key := []value.Datum{value.Int(number)}
	rows, _ = e.engine.Stats.SpanRows(ctx, t, nil, []ranges.Span{{Low: key, High: key}})
	data, err := e.engine.Store.EstimateSize(ctx, table.PartitionSpan(t.ID, schema.PrimaryIndexID, number))
	if err != nil {
		return rows, 0
	}
	return rows, data
}

// Distinct implements infoschema.Server.
func (e *Server) Distinct(ctx context.Context, t *schema.Table, columns []schema.ColumnID) float64 {
	return e.engine.Stats.Distinct(ctx, t, columns)
}

// NextAutoIncrement implements infoschema.Server.
func (e *Server) NextAutoIncrement(t *schema.Table) uint64 {
	for _, c := range t.Columns {
		if c.AutoIncrement {
			next, err := e.engine.Sequences.Peek(context.Background(), t, table.AutoIncrement)
			if err != nil {
				return 0
			}
			return next
		}
	}
	return 0
}

// VariablesInfo implements infoschema.Server.
func (e *Server) VariablesInfo() []infoschema.VariableInfo {
	settings := e.engine.Catalog.Snapshot().Settings()
	var out []infoschema.VariableInfo
	for _, name := range e.engine.Globals.Defs.Names() {
		d := e.engine.Globals.Defs.Lookup(name)
		x := infoschema.VariableInfo{Name: d.Name, Source: "COMPILED", Min: d.Min, Max: d.Max}
		if _, ok := e.engine.Globals.Changed(name); ok {
			x.Source = "DYNAMIC"
		}
		if p, ok := settings[name]; ok {
			x.Source, x.Persisted, x.Value = "PERSISTED", true, p.Value
			x.SetTime, x.SetUser, x.SetHost = time.Unix(p.At, 0), p.User, p.Host
		}
		out = append(out, x)
	}
	return out
}

// Expiries implements infoschema.Server.
func (e *Server) Expiries() []infoschema.Expiry { return e.engine.Expiries.List() }

// Backups implements infoschema.Server.
func (e *Server) Backups() []infoschema.Backup {
	return e.engine.Backups.List()
}

// Jobs implements infoschema.Server.
func (e *Server) Jobs() []infoschema.Job {
	list := e.engine.Jobs.List()
	out := make([]infoschema.Job, len(list))
	for i, j := range list {
		out[i] = infoschema.Job{ID: j.ID, Name: j.Name, Started: j.Started, Turns: j.Turns, Failed: j.Failed, Error: j.Error}
		if !j.Running.IsZero() {
			out[i].Turn = &list[i].Running
		}
	}
	return out
}

// IndexBuilds implements infoschema.Server.
func (e *Server) IndexBuilds() []infoschema.IndexBuild {
	var out []infoschema.IndexBuild
	for _, b := range e.engine.DDL.Builds() {
		out = append(out, infoschema.IndexBuild{ID: b.ID, Database: b.Database, Table: b.Table, Indexes: b.Indexes, Statement: b.Statement, State: b.State,
			Rows: b.Rows, Estimate: b.Estimate, Started: b.Started, Ended: b.Ended, Resumed: b.Resumed, Error: b.Error})
	}
	return out
}

// Loads implements infoschema.Server.
func (e *Server) Loads() ([]infoschema.Load, error) {
	var out []infoschema.Load
	err := engine.EachLoad(e.engine.Store, func(token string, val []byte) error {
		var r engine.LoadRecord
		if err := json.Unmarshal(val, &r); err != nil {
			return fmt.Errorf("token %q of a load: %w", token, err)
		}
		rejects, err := json.Marshal(r.Rejects)
		if err != nil {
			return err
		}
		out = append(out, infoschema.Load{Token: token, Time: r.Time, Rows: uint64(r.Rows), Rejected: uint64(len(r.Rejects)), Rejects: string(rejects)})
		return nil
	})
	return out, err
}

// SlowLog implements infoschema.Server.
func (e *Server) SlowLog() []infoschema.SlowStatement {
	var out []infoschema.SlowStatement
	for _, x := range e.engine.Logs.Statements() {
		out = append(out, infoschema.SlowStatement{Start: x.Start, UserHost: x.User + "[" + x.User + "] @ " + x.Host + " [" + x.IP + "]", Took: x.End.Sub(x.Start), Locked: x.Locked,
			Sent: x.RowsSent, Examined: x.RowsExamined, Database: x.Database, LastInsertID: x.LastInsertID, Text: x.Text, Thread: x.ID})
	}
	return out
}

// GeneralLog implements infoschema.Server.
func (e *Server) GeneralLog() []infoschema.LoggedCommand {
	var out []infoschema.LoggedCommand
	for _, x := range e.engine.Logs.Commands() {
		out = append(out, infoschema.LoggedCommand{At: x.At, UserHost: x.User + "[" + x.User + "] @ " + x.Host + " []", Thread: x.ID, Command: x.Name, Text: x.Text})
	}
	return out
}

var _ infoschema.Server = (*Server)(nil)
