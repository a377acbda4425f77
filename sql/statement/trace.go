package statement

import (
	"errors"
	"strings"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// trace is what the slow query log needs to know of a statement; nil while it is
// off.
type trace struct {
	start    time.Time
	mode     types.SQLMode // by which the text is read
	stats    *exec.Stats
	locked   time.Duration
	sent     int64
	examined int64 // next to what stats has
	bytes    uint64
	tmp      [2]int64
}

// BeginTrace starts the trace of a statement, if it may have to be logged.
func (s *Statement) BeginTrace(w mysqlwire.ResultWriter) {
	if !s.Engine.Logs.SlowOn.Load() {
		return
	}
	s.trace = &trace{start: time.Now(), mode: s.Vars.Mode, stats: exec.NewStats(), bytes: sentBytes(w)}
	s.trace.tmp = s.spillCounts()
	s.Tx.timed, s.Tx.waited = true, 0
	s.Process.Plan.Store(nil)
}

// DropTrace ends the trace with the command.
func (s *Statement) DropTrace() { s.trace, s.Tx.timed = nil, false }

func (s *Statement) spillCounts() [2]int64 {
	if s.Engine.Spill == nil {
		return [2]int64{}
	}
	files, _ := s.Engine.Spill.Total()
	return [2]int64{s.Engine.Spilled.Tables.Load(), files}
}

// sentBytes is how much the client was sent so far.
func sentBytes(w mysqlwire.ResultWriter) uint64 {
	if c, ok := w.(interface{ SentBytes() uint64 }); ok {
		return c.SentBytes()
	}
	return 0
}

// EndTrace ends the trace of a statement and logs it if it is slow.
func (s *Statement) EndTrace(text string, err error, w mysqlwire.ResultWriter) {
	t := s.trace
	if t == nil {
		return
	}
	s.trace, s.Tx.timed = nil, false
	if !s.Engine.Logs.SlowOn.Load() {
		return
	}
	t.locked += s.Tx.waited
	end := time.Now()
	slow := end.Sub(t.start) > s.Vars.LongQuery
	if !slow {
		if s.Engine.Globals.Value("log_queries_not_using_indexes").Bits() == 0 || !readsAll(s.Process.Plan.Load()) {
			return
		}
	}
	t.examined += t.stats.Keys()
	if uint64(t.examined) < s.Vars.Number("min_examined_row_limit") || isAdministrative(text) && s.Engine.Globals.Value("log_slow_admin_statements").Bits() == 0 {
		return
	}
	host, ip := s.hostAndAddress()
	now := s.spillCounts()
	x := querylog.Statement{ID: s.Process.ID, User: s.Info.User, Host: host, IP: ip, Database: s.DB, Text: parser.HideSecrets(text, t.mode), Start: t.start, End: end,
		Locked: t.locked, RowsSent: t.sent, RowsExamined: t.examined, BytesSent: int64(sentBytes(w) - t.bytes), LastInsertID: s.Functions.lastInsertID,
		TmpDiskTables: now[0] - t.tmp[0], TmpFiles: now[1] - t.tmp[1]}
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		x.Errno = e.Number
	}
	s.Engine.Logs.Log(x)
}

// sent counts rows for the trace.
func (s *Statement) sent(n int64) {
	s.Engine.Counters.RowsSent.Add(n)
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
	if x, ok := n.(*physical.Scan); ok && x.Access.ReadsAll() {
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

// checkLogFile refuses log files outside of the directory of logs, those that
// cannot be written, and files that are no query logs: 1231.
func (cn *Connection) checkLogFile(name string, val *value.Datum) error {
	if val == nil || name != "slow_query_log_file" && name != "general_log_file" {
		return nil
	}
	path := querylog.InDir(cn.Engine.LogDir, val.Str())
	if path == "" || !querylog.CanWrite(path) {
		return sqlerr.WrongValueForVariable(name, val.Str())
	}
	return nil
}
