package introspect

import (
	"log/slog"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/types"
)

// Metrics implements infoschema.Server.
func (e *Server) Metrics() *metrics.Server { return e.engine.Metrics }

// HideSecrets implements infoschema.Server.
func (e *Server) HideSecrets(text string, mode uint32) string {
	return parser.HideSecrets(text, types.SQLMode(mode))
}

// lockTypes are the names of MySQL for the modes of metadata locks.
var lockTypes = map[mdl.Mode]string{mdl.Read: "SHARED_READ", mdl.Write: "SHARED_WRITE", mdl.Freeze: "SHARED_READ_ONLY", mdl.Alone: "EXCLUSIVE"}

// MetadataLocks implements infoschema.Server.
func (e *Server) MetadataLocks() []infoschema.MetadataLock {
	list := e.engine.Locks.List()
	out := make([]infoschema.MetadataLock, len(list))
	for i, l := range list {
		db, table, changes := mdl.Parts(l.Key)
		out[i] = infoschema.MetadataLock{Database: db, Table: table, Type: lockTypes[l.Mode], Owner: uint64(l.Owner), Pending: l.Waits}
		if changes {
			out[i].Type = "SHARED_UPGRADABLE"
		}
	}
	return out
}

// PreparedStatements implements infoschema.Server.
func (e *Server) PreparedStatements() []infoschema.PreparedStatement {
	var out []infoschema.PreparedStatement
	for _, p := range e.engine.Processes.List() {
		x := e.engine.Processes.Get(p.ID)
		if x == nil {
			continue // it has just ended
		}
		for _, s := range x.Prepared.List() {
			out = append(out, infoschema.PreparedStatement{Thread: p.ID, ID: s.ID, Name: s.Name, Text: e.HideSecrets(s.Text, s.Mode), Prepare: s.Prepare,
				Count: s.Count, Sum: s.Sum, Min: s.Min, Max: s.Max})
		}
	}
	return out
}

// MemoryParts implements infoschema.Server.
func (e *Server) MemoryParts() []infoschema.MemoryPart {
	var out []infoschema.MemoryPart
	tracked := func(name string, t *exec.Tracker) {
		out = append(out, infoschema.MemoryPart{Name: name, Used: t.Used(), Most: max(t.Peak(), t.Used())})
	}
	tracked("statements", e.engine.Memory)
	tracked("transactions", e.engine.Writes)
	values := max(e.engine.Values.Used()-e.engine.Memory.Used(), 0)
	out = append(out, infoschema.MemoryPart{Name: "values", Used: values, Most: values})
	store := e.engine.Store.Metrics()
	for _, name := range []string{"block_cache", "memtable", "filter", "image"} {
		if n, ok := store[name+"_bytes"]; ok {
			out = append(out, infoschema.MemoryPart{Name: name + "s", Used: n, Most: n})
		}
	}
	return out
}

// LogLines implements infoschema.Server.
func (e *Server) LogLines() []infoschema.LogLine {
	list := e.engine.LogLines.Lines()
	out := make([]infoschema.LogLine, len(list))
	for i, l := range list {
		out[i] = infoschema.LogLine{Time: l.Time, Priority: "Note", Text: l.Text}
		switch {
		case l.Level >= slog.LevelError:
			out[i].Priority = "Error"
		case l.Level >= slog.LevelWarn:
			out[i].Priority = "Warning"
		}
	}
	return out
}
