package statement

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/source/write"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
)

// event is the statement that runs, as metrics and the slow query log see it.
type event struct {
	metrics.Event
	// usage is what its operators do; its Read adds to the event.
	usage exec.Usage
	mu    sync.Mutex // parallel parts read at the same time
	// What the connection had before: bytes of its traffic, the time for which it
	// waited for metadata locks, temporary files of the server.
	received, sent uint64
	tableWaits     int64
	tmpFiles       int64
	peak           int64         // of the trackers before memory
	memory         *exec.Tracker // the last one
	prepared       *Prepared     // nil: the statement is not prepared
	end            time.Time
	trace          metrics.Trace // if there is a tracer
}

// BeginEvent starts the event of a statement at the given time.
func (s *Statement) BeginEvent(at time.Time) {
	e := &s.event
	e.Event = metrics.Event{Start: at, Command: metrics.Other, Schema: s.DB, Mode: uint32(s.Vars.Mode)}
	e.peak, e.memory, e.prepared, e.end = 0, nil, nil, time.Time{}
	e.usage.Tables.Store(0)
	e.usage.Merges.Store(0)
	e.usage.Sorted.Store(0)
	if e.usage.Read == nil {
		e.usage.Read = s.hasRead
	}
	if s.Engine.Tracer != nil {
		e.trace.Parsed, e.trace.Planned = time.Time{}, time.Time{}
	}
	e.tableWaits = s.Process.TableWaits.Load()
	if s.Engine.Logs.SlowOn.Load() {
		s.Process.Plan.Store(nil)
		e.tmpFiles = s.tmpFiles()
	}
}

// BelongsTo says of the statements of a command which trace their request belongs to.
func (s *Statement) BelongsTo(ctx context.Context) {
	if s.Engine.Tracer != nil {
		s.event.trace.Parent = metrics.ParentOf(ctx)
	}
}

// parsed marks the end of the first step of a statement, for the tracer.
func (s *Statement) parsed() {
	if s.Engine.Tracer != nil {
		s.event.trace.Parsed = time.Now()
	}
}

// planned marks the end of the second step.
func (s *Statement) planned() {
	if s.Engine.Tracer != nil {
		s.event.trace.Planned = time.Now()
	}
}

// identify says what kind of statement runs, and of which digest.
func (s *Statement) identify(c metrics.Command, d *metrics.Digest) {
	s.event.Command, s.event.Digest = c, d
}

// maxDigested is how much of a text its digest is made of, in bytes.
const maxDigested = 4 << 10

// digestOf finds or makes the digest of a text in the current database.
func (s *Statement) digestOf(text string, mode types.SQLMode) *metrics.Digest {
	cut := ""
	if len(text) > maxDigested {
		text, cut = text[:maxDigested], " ..."
	}
	hash, norm := parser.HiddenDigest(text, mode)
	return s.Engine.Metrics.Digests.Get(s.DB, hash, norm+cut)
}

// hasRead is exec.Usage.Read.
func (s *Statement) hasRead(n physical.TableNode, rows, entries exec.Counters) {
	leaf := n.Leaf()
	e := &s.event
	e.mu.Lock()
	w := &e.Work
	c := entries
	if leaf == n {
		c = rows
	} else {
		w[metrics.RowsExamined] += uint64(rows.Pairs)
	}
	w[metrics.RowsExamined] += uint64(c.Pairs)
	switch {
	case leaf.Access.ReadsAll() && leaf.Access.Key().Index == nil:
		w[metrics.HandlerReadFirst] += uint64(min(c.Seeks, 1))
		w[metrics.HandlerReadRndNext] += uint64(c.Pairs)
	case leaf.Access.ReadsAll():
		w[metrics.HandlerReadFirst] += uint64(min(c.Seeks, 1))
		w[metrics.HandlerReadNext] += uint64(c.Pairs)
	case leaf.Access.FewKeys():
		w[metrics.HandlerReadKey] += uint64(c.Seeks)
	case leaf.Reverse:
		w[metrics.HandlerReadKey] += uint64(c.Seeks)
		w[metrics.HandlerReadPrev] += uint64(c.Pairs)
	default:
		w[metrics.HandlerReadKey] += uint64(c.Seeks)
		w[metrics.HandlerReadNext] += uint64(c.Pairs)
	}
	e.mu.Unlock()
	t := n.Reads().Table
	if t.Derived != nil {
		return
	}
	key := metrics.UseKey{Table: uint64(t.ID)}
	switch search := leaf.Search(); {
	case search != nil:
		key.Index = uint64(search.Index.ID)
	case leaf.Access.Key().Index != nil:
		key.Index = uint64(leaf.Access.Key().Index.ID)
	case leaf.Access.ReadsAll():
		key.Index = metrics.NoIndex
	}
	u := s.Engine.Metrics.Uses.Get(key)
	u.Reads.Add(max(c.Seeks, 1))
	u.Fetched.Add(c.Pairs)
}

// remember makes t the tracker whose most bytes the event has.
func (e *event) remember(t *exec.Tracker) {
	e.peak = max(e.peak, e.memory.Peak())
	e.memory = t
}

// wrote counts what a change has written.
func (s *Statement) wrote(sink any) {
	x, ok := sink.(interface {
		Wrote(fn func(t *schema.Table, w write.Written))
	})
	if !ok {
		return
	}
	x.Wrote(func(t *schema.Table, w write.Written) { s.wroteTable(t, w) })
}

func (s *Statement) wroteTable(t *schema.Table, w write.Written) {
	work := &s.event.Work
	work[metrics.HandlerWrite] += w.Inserted
	work[metrics.HandlerUpdate] += w.Updated
	work[metrics.HandlerDelete] += w.Deleted
	u := s.Engine.Metrics.Uses.Get(metrics.UseKey{Table: uint64(t.ID), Index: metrics.NoIndex})
	u.Inserted.Add(int64(w.Inserted))
	u.Updated.Add(int64(w.Updated))
	u.Deleted.Add(int64(w.Deleted))
}

func (s *Statement) tmpFiles() int64 {
	if s.Engine.Spill == nil {
		return 0
	}
	files, _ := s.Engine.Spill.Total()
	return files
}

// traffic is implemented by results that count the bytes of their connection.
type traffic interface {
	Traffic() (received, sent uint64)
}

// EndedAt is when the last statement of the command that runs has ended; zero for none.
func (s *Statement) EndedAt() time.Time { return s.event.end }

// endEvent ends the event of a statement and records it, also in the slow query log
// if it is slow. err is what the client gets.
func (s *Statement) endEvent(text string, err error, w mysqlwire.ResultWriter) {
	e := &s.event
	end := time.Now()
	e.end = end
	e.Text, e.Duration = text, end.Sub(e.Start)
	if waited := s.Process.TableWaits.Load() - e.tableWaits; waited > 0 {
		e.Lock += time.Duration(waited)
		s.Metrics.Add(metrics.TableLocksWaited, 1)
	}
	e.Warnings = uint64(s.Diagnostics.WarningCount)
	if n := s.Functions.Rows; n > 0 {
		e.Affected = uint64(n)
	}
	e.Work[metrics.CreatedTmpDiskTables] += uint64(e.usage.Tables.Load())
	e.Work[metrics.SortMergePasses] += uint64(e.usage.Merges.Load())
	e.Work[metrics.SortRows] += uint64(e.usage.Sorted.Load())
	e.remember(nil)
	e.Memory = uint64(e.peak)
	if x, ok := errors.AsType[*sqlerr.Error](err); ok {
		e.Errno, e.State, e.Message = x.Number, x.State, x.Message
	} else if err != nil {
		e.Errno, e.State, e.Message = 1105, "HY000", err.Error()
	}
	if e.Errno != 0 {
		e.Warnings = 0 // the error is one of the diagnostics
	}
	slow := e.Duration > s.Vars.LongQuery
	received, sent := e.received, e.sent
	if t, ok := w.(traffic); ok {
		received, sent = t.Traffic()
	}
	e.ReceivedBytes, e.SentBytes, e.Slow = received-e.received, sent-e.sent, slow
	e.received, e.sent = received, sent
	s.Metrics.Record(&e.Event)
	if p := e.prepared; p != nil {
		p.Instance.Ran(e.Duration)
		e.prepared = nil
	}
	if s.Engine.Logs.SlowOn.Load() {
		s.logSlow(text, end, slow)
	}
	if t := s.Engine.Tracer; t != nil {
		e.trace.Event, e.trace.Connection = &e.Event, s.Process.ID
		t.Trace(&e.trace)
	}
}

// CountTraffic adds what has gone over the connection since the last statement.
func (s *Statement) CountTraffic(received, sent uint64) {
	e := &s.event
	s.Metrics.Add(metrics.BytesReceived, received-e.received)
	s.Metrics.Add(metrics.BytesSent, sent-e.sent)
	e.received, e.sent = received, sent
}

// logSlow adds a statement to the slow query log, if it belongs there.
func (s *Statement) logSlow(text string, end time.Time, slow bool) {
	e := &s.event
	if !slow && (s.Engine.Globals.Value("log_queries_not_using_indexes").Bits() == 0 || !readsAll(s.Process.Plan.Load())) {
		return
	}
	examined := e.Work[metrics.RowsExamined]
	if examined < s.Vars.Number("min_examined_row_limit") || isAdministrative(text) && s.Engine.Globals.Value("log_slow_admin_statements").Bits() == 0 {
		return
	}
	host, ip := s.hostAndAddress()
	s.Engine.Logs.Log(querylog.Statement{ID: s.Process.ID, User: s.Info.User, Host: host, IP: ip, Database: s.DB, Text: parser.HideSecrets(text, types.SQLMode(e.Mode)), Start: e.Start, End: end,
		Locked: e.Lock, RowsSent: int64(e.Sent), RowsExamined: int64(examined), BytesSent: int64(e.SentBytes), LastInsertID: s.Functions.lastInsertID,
		TmpDiskTables: int64(e.Work[metrics.CreatedTmpDiskTables]), TmpFiles: s.tmpFiles() - e.tmpFiles, Errno: e.Errno})
}

// sent counts rows.
func (s *Statement) sent(n int64) { s.event.Sent += uint64(n) }

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

// workOf is what each run of a plan counts: how it reads its tables and sorts.
func workOf(p *physical.Plan) (w metrics.Work) {
	for _, n := range p.Roots() {
		first := true
		addWork(&w, n, &first)
	}
	w[metrics.CreatedTmpTables] += uint64(len(p.CTEs))
	return w
}

// addWork is workOf for a node; first: no table of the query block was met.
func addWork(w *metrics.Work, n physical.Node, first *bool) {
	switch x := n.(type) {
	case physical.TableNode:
		addAccess(w, x.Leaf(), *first)
		*first = false
		return
	case *physical.LookupJoin:
		addWork(w, x.Left, first)
		w[metrics.ReadsByIndex]++
		return
	case *physical.HashAggregate:
		if len(x.GroupBy) > 0 {
			w[metrics.CreatedTmpTables]++
		}
	case *physical.Distinct, *physical.Window, *physical.SetOperation:
		w[metrics.CreatedTmpTables]++
	case *physical.Sort, *physical.TopK:
		switch leaf := firstLeaf(n); {
		case leaf == nil || leaf.Access.ReadsAll():
			w[metrics.SortScan]++
		default:
			w[metrics.SortRange]++
		}
	}
	for _, in := range n.Inputs() {
		addWork(w, in, first)
	}
}

func addAccess(w *metrics.Work, leaf *physical.Scan, first bool) {
	key := leaf.Access.Key()
	switch {
	case leaf.Search() != nil:
		w[metrics.ReadsBySearch]++
	case leaf.Access.FewKeys():
		w[metrics.ReadsByPoint]++
	case leaf.Access.ReadsAll():
		w[metrics.ReadsOfAll]++
	case key.Index != nil:
		w[metrics.ReadsByIndex]++
	default:
		w[metrics.ReadsByRange]++
	}
	// A ref of MySQL, all of whose columns are given, is counted by none of these.
	isRange := leaf.Access.ByKey() && !leaf.Access.FewKeys() && key.Ranges != nil && key.Ranges.EqPrefix == 0
	switch {
	case leaf.Access.ReadsAll() && first:
		w[metrics.SelectScan]++
	case leaf.Access.ReadsAll():
		w[metrics.SelectFullJoin]++
	case isRange && first:
		w[metrics.SelectRange]++
	case isRange:
		w[metrics.SelectFullRangeJoin]++
	}
}

// firstLeaf is the scan that a plan begins with; nil without a table.
func firstLeaf(n physical.Node) *physical.Scan {
	if x, ok := n.(physical.TableNode); ok {
		return x.Leaf()
	}
	for _, in := range n.Inputs() {
		if leaf := firstLeaf(in); leaf != nil {
			return leaf
		}
	}
	return nil
}

// useOf is the use of a key of a table.
func useOf(e *engine.Engine, t *schema.Table, index schema.IndexID) *metrics.Use {
	return e.Metrics.Uses.Get(metrics.UseKey{Table: uint64(t.ID), Index: uint64(index)})
}
