package engine

import (
	"path/filepath"

	"github.com/sqlots/sqlots/sql/audit"
	"github.com/sqlots/sqlots/value"
)

// auditFile is not a name that a query log may have.
const auditFile = "audit.jsonl"

// openAudit makes the audit log as the global variables say, or on.
func (e *Engine) openAudit(on, forced bool) {
	path := ""
	if e.LogDir != "" {
		path = filepath.Join(e.LogDir, auditFile)
	}
	e.Globals.Set("sqlots_audit_log_file", value.String(path))
	if on {
		e.Globals.Set("sqlots_audit_log", value.Bool(true))
	}
	e.Audit, e.AuditForced = audit.New(e.Log, path), forced
	e.auditChanged()
}

// auditChanged brings the audit log in line with the global variables.
func (e *Engine) auditChanged() {
	e.auditChange.Lock()
	defer e.auditChange.Unlock()
	number := func(name string) int64 { return int64(e.Globals.Value("sqlots_audit_log" + name).Bits()) }
	classes, _ := audit.ParseClasses(e.Globals.Value("sqlots_audit_log_events").Str())
	e.Audit.Set(audit.Settings{
		On: number("") != 0, Classes: classes, RotateSize: number("_rotate_on_size"), Rotations: int(number("_rotations")),
		TextSize: int(number("_text_size")), Sync: e.Globals.Value("sqlots_audit_log_strategy").Str() == "SYNCHRONOUS",
	})
}

// ReopenLogs closes the files of all logs, which are opened again at their paths: FLUSH
// LOGS.
func (e *Engine) ReopenLogs() {
	e.Logs.Reopen(true, true)
	e.Audit.Reopen()
}
