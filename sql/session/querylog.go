package session

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// trace is what the slow query log wants to know of a statement; there is none
// while it is off.
type trace struct {
	start    time.Time
	stats    *exec.Stats
	locked   time.Duration
	sent     int64
	examined int64 // beside what stats has
	bytes    uint64
	tmp      [2]int64
}

// openLogs makes the logs of an engine as its global variables say.
func (e *Engine) openLogs() {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	for name, file := range map[string]string{"slow_query_log_file": host + "-slow.log", "general_log_file": host + ".log"} {
		if _, set := e.globals.changed(name); !set {
			e.globals.Set(name, value.String(filepath.Join(e.logDir, file)))
		}
	}
	e.logs = querylog.New(e.log, expr.ServerVersion, e.globals.Value("port").Bits(), "")
	e.logsChanged()
}

// logVariables are those that logsChanged looks at.
func isLogVariable(name string) bool {
	switch name {
	case "slow_query_log", "slow_query_log_file", "general_log", "general_log_file", "log_output", "log_slow_extra":
		return true
	}
	return false
}

// logsChanged brings the logs in line with the global variables.
func (e *Engine) logsChanged() {
	output := "," + e.globals.Value("log_output").Str() + ","
	files, tables := strings.Contains(output, ",FILE,"), strings.Contains(output, ",TABLE,")
	if strings.Contains(output, ",NONE,") {
		files, tables = false, false
	}
	e.logs.Output(files, tables)
	e.logs.SetPaths(querylog.InDir(e.logDir, e.globals.Value("slow_query_log_file").Str()), querylog.InDir(e.logDir, e.globals.Value("general_log_file").Str()))
	e.logs.Extra.Store(e.globals.Value("log_slow_extra").Bits() != 0)
	some := files || tables
	e.logs.SlowOn.Store(some && e.globals.Value("slow_query_log").Bits() != 0)
	e.logs.GeneralOn.Store(some && e.globals.Value("general_log").Bits() != 0)
}

// checkLogFile refuses log files outside of the directory of logs, and those
// that cannot be written: 1231.
func (s *Session) checkLogFile(name string, val *value.Datum) error {
	if val == nil || name != "slow_query_log_file" && name != "general_log_file" {
		return nil
	}
	path := querylog.InDir(s.engine.logDir, val.Str())
	if path == "" || !querylog.CanWrite(path) {
		return sqlerr.WrongValueForVariable(name, val.Str())
	}
	return nil
}

// beginTrace starts the trace of a statement, if it may have to be logged.
func (s *Session) beginTrace(w mysqlwire.ResultWriter) {
	if !s.engine.logs.SlowOn.Load() {
		return
	}
	s.trace = &trace{start: time.Now(), stats: exec.NewStats(), bytes: sentBytes(w)}
	s.trace.tmp = s.spillCounts()
	s.process.plan.Store(nil)
}

func (s *Session) spillCounts() [2]int64 {
	if s.engine.spill == nil {
		return [2]int64{}
	}
	files, _ := s.engine.spill.Total()
	return [2]int64{s.engine.spilled.Tables.Load(), files}
}

// sentBytes is how much the client was sent so far.
func sentBytes(w mysqlwire.ResultWriter) uint64 {
	if c, ok := w.(interface{ SentBytes() uint64 }); ok {
		return c.SentBytes()
	}
	return 0
}

// endTrace ends the trace of a statement and logs it if it is slow.
func (s *Session) endTrace(text string, err error, w mysqlwire.ResultWriter) {
	t := s.trace
	if t == nil {
		return
	}
	s.trace = nil
	if !s.engine.logs.SlowOn.Load() {
		return
	}
	end := time.Now()
	slow := end.Sub(t.start) > s.vars.longQuery
	if !slow {
		if s.engine.globals.Value("log_queries_not_using_indexes").Bits() == 0 || !readsAll(s.process.plan.Load()) {
			return
		}
	}
	t.examined += t.stats.Keys()
	if uint64(t.examined) < s.vars.number("min_examined_row_limit") || isAdministrative(text) && s.engine.globals.Value("log_slow_admin_statements").Bits() == 0 {
		return
	}
	host, ip := s.hostAndAddress()
	now := s.spillCounts()
	x := querylog.Statement{ID: s.process.ID, User: s.info.User, Host: host, IP: ip, Database: s.database, Text: text, Start: t.start, End: end,
		Locked: t.locked, RowsSent: t.sent, RowsExamined: t.examined, BytesSent: int64(sentBytes(w) - t.bytes), LastInsertID: s.lastInsertID,
		TmpDiskTables: now[0] - t.tmp[0], TmpFiles: now[1] - t.tmp[1]}
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		x.Errno = e.Number
	}
	s.engine.logs.Log(x)
}

func (s *Session) hostAndAddress() (host, ip string) {
	host = s.clientHost()
	if s.info.RemoteAddr != nil {
		if h, _, err := net.SplitHostPort(s.info.RemoteAddr.String()); err == nil {
			ip = h
		}
	}
	if host == ip {
		host = ""
	}
	return host, ip
}

// note is for the general log.
func (s *Session) note(command, text string) {
	if !s.engine.logs.GeneralOn.Load() || s.vars.number("sql_log_off") != 0 {
		return
	}
	host, ip := s.hostAndAddress()
	if host == "" {
		host = ip
	}
	s.engine.logs.Note(querylog.Command{At: time.Now(), ID: s.process.ID, User: s.info.User, Host: host, Name: command, Text: text})
}

// sent counts rows for the trace.
func (s *Session) sent(n int64) {
	s.engine.counters.rowsSent.Add(n)
	if s.trace != nil {
		s.trace.sent += n
	}
}

// lockWait is how long a transaction has waited for row locks.
func lockWait(txn storage.Txn) time.Duration {
	if w, ok := txn.(interface{ LockWait() time.Duration }); ok {
		return w.LockWait()
	}
	return 0
}

// lockTimer measures a wait for metadata locks; there is a trace.
func (s *Session) lockTimer() func() {
	t, start := s.trace, time.Now()
	return func() { t.locked += time.Since(start) }
}

// readsAll reports whether a plan reads a whole table or index, as
// log_queries_not_using_indexes means it.
func readsAll(p *physical.Plan) bool {
	if p == nil {
		return false
	}
	if p.Root != nil && nodeReadsAll(p.Root) {
		return true
	}
	for _, n := range p.Subplans {
		if n != nil && nodeReadsAll(n) {
			return true
		}
	}
	return false
}

func nodeReadsAll(n physical.Node) bool {
	if x, ok := n.(*physical.Scan); ok && x.Kind != physical.AccessNone && x.Kind != physical.AccessMerge && x.Kind != physical.AccessSearch && x.Ranges == nil {
		return true
	}
	for _, in := range n.Inputs() {
		if nodeReadsAll(in) {
			return true
		}
	}
	return false
}

// isAdministrative reports whether a statement is one of those that
// log_slow_admin_statements is about.
func isAdministrative(text string) bool {
	words := strings.Fields(strings.ToUpper(text[:min(len(text), 200)]))
	if len(words) < 2 {
		return false
	}
	switch words[0] {
	case "ANALYZE", "CHECK", "OPTIMIZE", "REPAIR":
		return true
	case "ALTER":
		return words[1] == "TABLE"
	case "CREATE", "DROP":
		return words[1] == "INDEX" || words[1] == "UNIQUE"
	}
	return false
}

// flushLogs is FLUSH [SLOW | GENERAL] LOGS.
func (s *Session) flushLogs(_ context.Context, what string) {
	switch what {
	case "logs":
		s.engine.logs.Reopen(true, true)
	case "slow logs":
		s.engine.logs.Reopen(true, false)
	case "general logs":
		s.engine.logs.Reopen(false, true)
	}
}

// SlowLog implements infoschema.Server.
func (e *introspection) SlowLog() []infoschema.SlowStatement {
	var out []infoschema.SlowStatement
	for _, x := range e.logs.Statements() {
		out = append(out, infoschema.SlowStatement{Start: x.Start, UserHost: x.User + "[" + x.User + "] @ " + x.Host + " [" + x.IP + "]", Took: x.End.Sub(x.Start), Locked: x.Locked,
			Sent: x.RowsSent, Examined: x.RowsExamined, Database: x.Database, LastInsertID: x.LastInsertID, Text: x.Text, Thread: x.ID})
	}
	return out
}

// GeneralLog implements infoschema.Server.
func (e *introspection) GeneralLog() []infoschema.LoggedCommand {
	var out []infoschema.LoggedCommand
	for _, x := range e.logs.Commands() {
		out = append(out, infoschema.LoggedCommand{At: x.At, UserHost: x.User + "[" + x.User + "] @ " + x.Host + " []", Thread: x.ID, Command: x.Name, Text: x.Text})
	}
	return out
}
