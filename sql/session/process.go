package session

import (
	"context"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Processes are the connections of a server, for KILL and SHOW PROCESSLIST.
type Processes struct {
	mu   sync.RWMutex
	list map[uint64]*Process
}

// Process is one connection.
type Process struct {
	ID         uint64
	User, Host string

	mu      sync.Mutex
	db      string
	command string
	info    string
	state   string
	since   time.Time
	cancel  context.CancelCauseFunc // of the running statement
	kill    func()                  // ends the connection
	killed  atomic.Bool
	txn     atomic.Pointer[processTxn]    // nil: none is open
	latest  atomic.Uint64                 // the store's transaction of the statement that runs, 0 for none
	plan    atomic.Pointer[physical.Plan] // that runs, for EXPLAIN FOR CONNECTION
}

// processTxn is the open transaction of a connection.
type processTxn struct {
	id        uint64
	started   time.Time
	readOnly  bool
	isolation string
	rows      atomic.Int64 // inserted, changed and deleted
}

// ProcessInfo is a line of SHOW PROCESSLIST.
type ProcessInfo struct {
	ID                                   uint64
	User, Host, DB, Command, State, Info string
	Since                                time.Time
	HasInfo, HasDB                       bool
}

func newProcesses() *Processes { return &Processes{list: map[uint64]*Process{}} }

func (p *Processes) add(x *Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[x.ID] = x
}

func (p *Processes) remove(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.list, id)
}

// Get finds a connection; nil if there is none.
func (p *Processes) Get(id uint64) *Process {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.list[id]
}

// Len is the number of connections.
func (p *Processes) Len() int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.list)
}

// List describes all connections by id.
func (p *Processes) List() []ProcessInfo {
	p.mu.RLock()
	defer p.mu.RUnlock()
	out := make([]ProcessInfo, 0, len(p.list))
	for _, x := range p.list {
		out = append(out, x.describe())
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

func (x *Process) describe() ProcessInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	return ProcessInfo{ID: x.ID, User: x.User, Host: x.Host, DB: x.db, HasDB: x.db != "", Command: x.command,
		State: x.state, Info: x.info, HasInfo: x.info != "", Since: x.since}
}

// begin marks the start of a command whose context cancel ends.
func (x *Process) begin(command, info string, now time.Time, cancel context.CancelCauseFunc) {
	x.mu.Lock()
	x.command, x.info, x.state, x.since, x.cancel = command, info, "executing", now, cancel
	x.mu.Unlock()
}

// end marks the connection idle.
func (x *Process) end(now time.Time) {
	x.plan.Store(nil)
	x.latest.Store(0)
	x.mu.Lock()
	x.command, x.info, x.state, x.since, x.cancel = "Sleep", "", "", now, nil
	x.mu.Unlock()
}

func (x *Process) setDB(db string) {
	x.mu.Lock()
	x.db = db
	x.mu.Unlock()
}

// SetState says what the statement does now.
func (x *Process) SetState(state string) {
	x.mu.Lock()
	x.state = state
	x.mu.Unlock()
}

// waitForTable is mdl.Locks.Waits.
func (p *Processes) waitForTable(o mdl.Owner, begins bool) {
	x := p.Get(uint64(o))
	switch {
	case x == nil: // a job of the server
	case begins:
		x.SetState("Waiting for table metadata lock")
	default:
		x.SetState("executing")
	}
}

// KillQuery interrupts the running statement, if there is one.
func (x *Process) KillQuery() {
	x.mu.Lock()
	cancel := x.cancel
	x.mu.Unlock()
	if cancel != nil {
		cancel(sqlerr.QueryInterrupted())
	}
}

// KillConnection ends the connection.
func (x *Process) KillConnection() {
	x.killed.Store(true)
	x.KillQuery()
	if x.kill != nil {
		x.kill()
	}
}
