package tikvkv

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/storage"
)

// A store has these keys in its cluster, after "sqlots/", its name and "/":
//
//	format   formatRecord
//	node     nodeRecord, of the node that has the store, or had it last
//	data/…   the keys of the store
const (
	rootKey   = "sqlots/"
	formatKey = "format"
	nodeKey   = "node"
	dataKey   = "data/"
)

// FormatVersion is the format that this program writes.
const FormatVersion = 1

// formatRecord says how a store is written.
type formatRecord struct {
	Format int `json:"format"`
	// Store is a random name that no other store has.
	Store string `json:"store"`
}

// Node says who has a store, for messages.
type Node struct {
	// Address is where clients reach the node.
	Address string `json:"address"`
	// Host and PID are its machine and process.
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Version is that of the program.
	Version string `json:"version"`
}

// nodeRecord is the membership of a node.
type nodeRecord struct {
	Node
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	// Until is the timestamp at which the lease ends; 0 when the node has left.
	Until uint64 `json:"until"`
	// Clock is the latest time of a stamp, in microseconds since 1970: those that the
	// next node gives are later.
	Clock int64 `json:"clock"`
}

// leaseTime is how long a lease goes on after it was renewed, by the clock of the
// placement driver. renewEvery is the pause between renewals.
const (
	leaseTime  = 20 * time.Second
	renewEvery = time.Second
)

// member is the membership of this process in a store. It is its Lease.
type member struct {
	kv     *tikv.KVStore
	root   string
	record nodeRecord
	store  string // formatRecord.Store
	log    *slog.Logger
	lost   func(error)
	clock  func() int64 // flight.latest, once there is a store
	// release ends what belongs to the client, after it.
	release func()

	until atomic.Uint64
	// fresh is how long reads may trust the lease, in nanoseconds since began.
	fresh atomic.Int64
	began time.Time

	// lease and every are leaseTime and renewEvery, or those of Options.
	lease, every time.Duration
	// life ends with the membership, by end.
	life context.Context
	end  context.CancelFunc
	done sync.WaitGroup
	once sync.Once
}

var _ Lease = (*member)(nil)

// Until implements Lease.
func (m *member) Until() uint64 { return m.until.Load() }

// Fresh implements Lease.
func (m *member) Fresh() bool { return int64(time.Since(m.began)) < m.fresh.Load() }

// left is how long the lease lasts, about: it is counted from before its last renewal, for
// which the node trusts half of it.
func (m *member) left() time.Duration {
	fresh := time.Duration(m.fresh.Load())
	if fresh == 0 {
		return 0
	}
	return max(fresh+m.lease/2-time.Since(m.began), 0)
}

// Join makes a store of an open client, which it closes with itself, also when it fails.
// The node has the store alone: while another one's lease goes on, Join fails with
// storage.ErrLocked; if it is not renewed, Join waits until it has ended.
func Join(ctx context.Context, kv *tikv.KVStore, name string, n Node, opts Options) (*Store, error) {
	return join(ctx, kv, name, n, opts, func() {})
}

// join is Join; release is called when the client has been closed.
func join(ctx context.Context, kv *tikv.KVStore, name string, n Node, opts Options, release func()) (*Store, error) {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	logTo(opts.Log)
	m := &member{kv: kv, root: rootKey + name + "/", log: opts.Log, lost: opts.Lost, release: release, lease: cmp.Or(opts.lease, leaseTime), every: cmp.Or(opts.renew, renewEvery), began: time.Now()}
	m.life, m.end = context.WithCancel(context.WithoutCancel(ctx))
	m.record = nodeRecord{Node: n, ID: randomName(), Started: time.Now().UTC().Truncate(time.Second)}
	if err := m.join(ctx); err != nil {
		m.end()
		_ = kv.Close() // the error is what matters
		release()
		return nil, err
	}
	opts.Lease, opts.Prefix = m, []byte(m.root+dataKey)
	s, err := newStore(ctx, kv, opts, m)
	if err != nil {
		return nil, err
	}
	m.clock = s.flight.latest
	s.flight.pass(m.record.Clock)
	m.done.Add(1)
	go guard.Do(m.log, "renewing the lease", func() {
		defer m.done.Done()
		m.renew()
	})
	return s, nil
}

func randomName() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return hex.EncodeToString(b[:])
}

// takenError is storage.ErrLocked with the node that has the store.
type takenError struct{ by nodeRecord }

// Error implements error.
func (e *takenError) Error() string {
	return fmt.Sprintf("the server %s (host %s, process %d, since %s) has this store", e.by.Address, e.by.Host, e.by.PID, e.by.Started.Format(time.RFC3339))
}

// Unwrap gives the class.
func (e *takenError) Unwrap() error { return storage.ErrLocked }

// join enters the record of the node.
func (m *member) join(ctx context.Context) error {
	var first uint64 // the end of the other one's lease when it was seen first
	for {
		err := m.update(ctx, m.enter)
		var taken *takenError
		if !errors.As(err, &taken) {
			return err
		}
		if first == 0 {
			first = taken.by.Until
			m.log.Warn("waiting for the end of another server's lease", "event", "cluster.wait", "server", taken.by.Address, "host", taken.by.Host, "process", taken.by.PID)
		}
		if taken.by.Until > first {
			return err // it is alive
		}
		if err := m.pause(ctx); err != nil {
			return err
		}
	}
}

func (m *member) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(m.every):
		return nil
	}
}

// update runs fn in a transaction, again after conflicts, and notes the end of the lease
// that it writes.
func (m *member) update(ctx context.Context, fn func(ctx context.Context, t *transaction.KVTxn) error) error {
	for {
		began := time.Since(m.began)
		t, err := m.begin(ctx)
		if err != nil {
			return err
		}
		until := oracle.ComposeTS(oracle.ExtractPhysical(t.StartTS())+m.lease.Milliseconds(), 0)
		m.record.Until = until
		if err := fn(ctx, t); err != nil {
			_ = t.Rollback() // nothing was sent
			return err
		}
		err = t.Commit(ctx)
		if tikverr.IsErrWriteConflict(err) {
			continue
		}
		if err != nil {
			return class(err)
		}
		m.until.Store(until)
		m.fresh.Store(int64(began + m.lease/2))
		return nil
	}
}

// begin starts a transaction. client-go would wait for its timestamp without a context.
func (m *member) begin(ctx context.Context) (*transaction.KVTxn, error) {
	ts, err := m.kv.GetTimestampWithRetry(tikv.NewBackofferWithVars(ctx, tsoPatience, nil), oracle.GlobalTxnScope)
	if err != nil {
		return nil, class(err)
	}
	t, err := m.kv.Begin(tikv.WithStartTS(ts))
	return t, class(err)
}

// enter checks the store, and that no other node has it, and writes the record.
func (m *member) enter(ctx context.Context, t *transaction.KVTxn) error {
	if err := m.checkFormat(ctx, t); err != nil {
		return err
	}
	var other nodeRecord
	found, err := m.get(ctx, t, nodeKey, &other)
	if err != nil {
		return err
	}
	if found && other.Until > t.StartTS() {
		return &takenError{other}
	}
	m.record.Clock = other.Clock
	return m.put(t, nodeKey, m.record)
}

// checkFormat reads the format of the store, or writes that of a new one.
func (m *member) checkFormat(ctx context.Context, t *transaction.KVTxn) error {
	var f formatRecord
	found, err := m.get(ctx, t, formatKey, &f)
	switch {
	case err != nil:
		return err
	case found && (f.Format < 1 || f.Format > FormatVersion):
		return fmt.Errorf("%w: the store has format %d, this program knows up to %d", storage.ErrFormat, f.Format, FormatVersion)
	case found:
		m.store = f.Store
		return nil
	}
	it, err := t.Iter([]byte(m.root), prefixEnd([]byte(m.root)))
	if err != nil {
		return class(err)
	}
	defer it.Close()
	if it.Valid() {
		return fmt.Errorf("%w: the cluster has other data under %s", storage.ErrFormat, m.root)
	}
	m.store = randomName()
	return m.put(t, formatKey, formatRecord{Format: FormatVersion, Store: m.store})
}

// get reads a record.
func (m *member) get(ctx context.Context, t *transaction.KVTxn, key string, record any) (found bool, err error) {
	e, err := t.Get(ctx, []byte(m.root+key))
	if tikverr.IsErrNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, class(err)
	}
	if err := json.Unmarshal(e.Value, record); err != nil {
		return false, fmt.Errorf("%w: the record %s%s: %v", storage.ErrFormat, m.root, key, err)
	}
	return true, nil
}

func (m *member) put(t *transaction.KVTxn, key string, record any) error {
	b, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return t.Set([]byte(m.root+key), b)
}

// errTaken says that another node has taken the store, whose lease had ended.
var errTaken = errors.New("another server has taken the store while this one was cut off")

// mine checks that the record is still that of this node.
func (m *member) mine(ctx context.Context, t *transaction.KVTxn) error {
	var now nodeRecord
	found, err := m.get(ctx, t, nodeKey, &now)
	if err == nil && (!found || now.ID != m.record.ID) {
		err = errTaken
	}
	return err
}

// renew renews the lease until the node leaves or has lost the store.
func (m *member) renew() {
	over := false
	for {
		select {
		case <-m.life.Done():
			return
		case <-time.After(m.every):
		}
		ctx, cancel := context.WithTimeout(m.life, m.lease/2)
		err := m.update(ctx, func(ctx context.Context, t *transaction.KVTxn) error {
			if err := m.mine(ctx, t); err != nil {
				return err
			}
			m.record.Clock = m.clock()
			return m.put(t, nodeKey, m.record)
		})
		cancel()
		switch {
		case errors.Is(err, errTaken):
			m.lose(err)
			return
		case err != nil && !over && !m.Fresh():
			over = true
			m.log.Error("the cluster does not answer: the lease of this server ends", "event", "cluster.lease", "error", oneLine(err))
		case err == nil && over:
			over = false
			m.log.Warn("the cluster answers again", "event", "cluster.lease")
		}
	}
}

// lose ends the membership for good.
func (m *member) lose(err error) {
	m.until.Store(0)
	m.fresh.Store(0)
	m.log.Error("the store is lost for this server", "event", "cluster.lost", "error", err)
	if m.lost != nil {
		m.lost(err)
	}
}

// leave ends the lease, so that the next node need not wait.
func (m *member) leave() {
	m.once.Do(func() {
		m.end()
		m.done.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
		defer cancel()
		m.until.Store(0)
		m.fresh.Store(0)
		t, err := m.begin(ctx)
		if err != nil {
			return // the lease ends by itself
		}
		m.record.Until = 0
		if m.clock != nil {
			m.record.Clock = m.clock()
		}
		if m.mine(ctx, t) != nil || m.put(t, nodeKey, m.record) != nil {
			_ = t.Rollback() // the same
			return
		}
		_ = t.Commit(ctx) // the same
	})
}

// leavePatience bounds the wait for the end of the membership.
const leavePatience = 2 * time.Second
