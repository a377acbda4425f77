package engine

import (
	"slices"
	"sync"
	"time"
)

// PreparedStatements are those of a connection. Its methods may be called concurrently.
type PreparedStatements struct {
	mu   sync.Mutex
	list []*PreparedStatement
}

// PreparedStatement is one of them.
type PreparedStatement struct {
	owner *PreparedStatements
	PreparedInfo
}

// PreparedInfo is what others see of it.
type PreparedInfo struct {
	ID            uint64 // of the binary protocol; 0 for PREPARE
	Name          string // of PREPARE; "" for the binary protocol
	Text          string // with secrets
	Mode          uint32 // the sql_mode by which it was read
	Prepare       time.Duration
	Count         uint64
	Sum, Min, Max time.Duration // of executions
}

// Add adds a statement that took so long to prepare.
func (p *PreparedStatements) Add(text string, mode uint32, took time.Duration) *PreparedStatement {
	x := &PreparedStatement{owner: p, PreparedInfo: PreparedInfo{Text: text, Mode: mode, Prepare: took}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, x)
	return x
}

// Remove forgets one of them.
func (p *PreparedStatements) Remove(x *PreparedStatement) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.list, x); i >= 0 {
		p.list = slices.Delete(p.list, i, i+1)
	}
}

// Clear forgets all.
func (p *PreparedStatements) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = nil
}

// List are the statements in the order in which they were prepared.
func (p *PreparedStatements) List() []PreparedInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]PreparedInfo, len(p.list))
	for i, x := range p.list {
		out[i] = x.PreparedInfo
	}
	return out
}

// SetID says the number that the client has for it.
func (x *PreparedStatement) SetID(id uint64) {
	x.owner.mu.Lock()
	x.ID = id
	x.owner.mu.Unlock()
}

// SetName says its name.
func (x *PreparedStatement) SetName(name string) {
	x.owner.mu.Lock()
	x.Name = name
	x.owner.mu.Unlock()
}

// Ran counts an execution.
func (x *PreparedStatement) Ran(took time.Duration) {
	x.owner.mu.Lock()
	defer x.owner.mu.Unlock()
	if x.Count == 0 || took < x.Min {
		x.Min = took
	}
	x.Count++
	x.Sum += took
	x.Max = max(x.Max, took)
}
