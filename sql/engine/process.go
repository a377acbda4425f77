package engine

import (
	"context"
	"crypto/tls"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
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
	Account    priv.Name            // that it runs as
	Attributes [][2]string          // that the client gave
	TLS        *tls.ConnectionState // nil without

	mu      sync.Mutex
	db      string
	Command string
	info    string        // the text that runs
	mode    types.SQLMode // by which it is read
	shown   bool          // info is as others may see it
	secret  bool          // something is hidden in it
	state   string
	Since   time.Time
	cancel  context.CancelCauseFunc // of the running statement
	Kill    func()                  // ends the connection
	killed  atomic.Bool
	System  atomic.Bool                   // it has SYSTEM_USER, directly or by an active role
	Txn     atomic.Pointer[ProcessTxn]    // nil: none is open
	Latest  atomic.Uint64                 // the store's transaction of the statement that runs, 0 for none
	Plan    atomic.Pointer[physical.Plan] // that runs, for EXPLAIN FOR CONNECTION
	// TableWaits are the nanoseconds for which it has waited for metadata locks.
	TableWaits atomic.Int64
	waitsSince time.Time // for such a lock; of the goroutine that runs the statement
	// Prepared are its prepared statements.
	Prepared PreparedStatements
}

// ProcessTxn is the open transaction of a connection.
type ProcessTxn struct {
	Id        uint64
	Started   time.Time
	ReadOnly  bool
	Isolation string
	Rows      atomic.Int64 // inserted, changed and deleted
}

// ProcessInfo is a line of SHOW PROCESSLIST.
type ProcessInfo struct {
	ID                                   uint64
	User, Host, DB, Command, State, Info string
	Since                                time.Time
	HasInfo, HasDB                       bool
	Attributes                           [][2]string
	TLS                                  *tls.ConnectionState
	// Secret: Info is not the whole text.
	Secret bool
}

func newProcesses() *Processes { return &Processes{list: map[uint64]*Process{}} }

// Add registers a connection.
func (p *Processes) Add(x *Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[x.ID] = x
}

// Remove forgets a connection.
func (p *Processes) Remove(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.list, id)
}

// Get finds a connection; nil if none exists.
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

// ProcessSum is what connections do, in numbers.
type ProcessSum struct {
	// Running is how many connections run a statement. Of the others, Waiting are in a
	// transaction, and Idle not.
	Running, Waiting, Idle int64
	// Transactions are open, and Oldest is when the first of them began, zero for none.
	Transactions int64
	Oldest       time.Time
}

// Sum counts the connections.
func (p *Processes) Sum() (sum ProcessSum) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, x := range p.list {
		x.mu.Lock()
		running := x.Command != "Sleep"
		x.mu.Unlock()
		open := x.Txn.Load()
		if open != nil {
			sum.Transactions++
			if sum.Oldest.IsZero() || open.Started.Before(sum.Oldest) {
				sum.Oldest = open.Started
			}
		}
		switch {
		case running:
			sum.Running++
		case open != nil:
			sum.Waiting++
		default:
			sum.Idle++
		}
	}
	return sum
}

// List describes all connections by id.
func (p *Processes) List() []ProcessInfo {
	p.mu.RLock()
	list := slices.Collect(maps.Values(p.list))
	p.mu.RUnlock()
	out := make([]ProcessInfo, 0, len(list))
	for _, x := range list {
		out = append(out, x.Describe())
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

// Describe is its line of SHOW PROCESSLIST, without secrets. They are taken out when
// somebody looks, so that statements do not wait for it.
func (x *Process) Describe() ProcessInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.shown {
		text := parser.HideSecrets(x.info, x.mode)
		x.secret, x.info, x.shown = text != x.info, text, true
	}
	return ProcessInfo{ID: x.ID, User: x.User, Host: x.Host, DB: x.db, HasDB: x.db != "", Command: x.Command,
		State: x.state, Info: x.info, HasInfo: x.info != "", Secret: x.secret, Since: x.Since, Attributes: x.Attributes, TLS: x.TLS}
}

// Begin marks the start of a command with a text in a mode, whose context cancel
// ends.
func (x *Process) Begin(command, text string, mode types.SQLMode, now time.Time, cancel context.CancelCauseFunc) {
	x.mu.Lock()
	x.Command, x.info, x.mode, x.shown, x.secret, x.state, x.Since, x.cancel = command, text, mode, false, false, "executing", now, cancel
	x.mu.Unlock()
}

// End marks the connection idle.
func (x *Process) End(now time.Time) {
	x.Plan.Store(nil)
	x.Latest.Store(0)
	x.mu.Lock()
	x.Command, x.info, x.secret, x.state, x.Since, x.cancel = "Sleep", "", false, "", now, nil
	x.mu.Unlock()
}

// SetDB says which database is the current one, "" for none.
func (x *Process) SetDB(db string) {
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
		x.waitsSince = time.Now()
		x.SetState("Waiting for table metadata lock")
	default:
		x.TableWaits.Add(int64(time.Since(x.waitsSince)))
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
	if x.Kill != nil {
		x.Kill()
	}
}
