package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// expiryJob removes expired rows, which nobody sees any more, of one table
// after the other.
type expiryJob struct {
	engine *Engine
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	runs    []infoschema.Expiry // the last is the one that runs, if any does
	started map[schema.TableID]time.Time
}

const (
	expiryTick    = time.Second
	expiryBatch   = 500
	expiryDefault = time.Hour
	expiryHistory = 200
	// expirySession is the connection id of the job: those of clients count from 1.
	expirySession = 1 << 62
)

// StartExpiry starts the removal of expired rows. Close ends it.
func (e *Engine) StartExpiry() {
	ctx, cancel := context.WithCancel(context.Background())
	e.expiry.cancel, e.expiry.done = cancel, make(chan struct{})
	go func() {
		defer close(e.expiry.done)
		guard.Do(e.log, "removing expired rows", func() { e.expiry.loop(ctx) })
	}()
}

func (j *expiryJob) stop() {
	if j.cancel != nil {
		j.cancel()
		<-j.done
	}
}

func (j *expiryJob) loop(ctx context.Context) {
	tick := time.NewTicker(expiryTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		guard.Do(j.engine.log, "removing expired rows", func() { j.round(ctx) })
	}
}

// round goes over the tables once.
func (j *expiryJob) round(ctx context.Context) {
	if j.engine.globals.Value("sqlots_ttl_job_enable").Bits() == 0 {
		return
	}
	snap := j.engine.catalog.Snapshot()
	for _, db := range snap.Databases() {
		for _, t := range snap.Tables(db.Name) {
			if t.Expires() && j.due(t) && ctx.Err() == nil {
				j.run(ctx, t)
			}
		}
	}
}

func (j *expiryJob) due(t *schema.Table) bool {
	every := expiryDefault
	if n := t.TTL.JobInterval; n > 0 {
		every = time.Duration(n) * time.Second
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	last, ok := j.started[t.ID]
	return !ok || time.Since(last) >= every
}

// run removes the expired rows of a table and keeps a record of it.
func (j *expiryJob) run(ctx context.Context, t *schema.Table) {
	j.mu.Lock()
	j.started[t.ID] = time.Now()
	j.runs = append(j.runs, infoschema.Expiry{Database: t.Database, Table: t.Name, Started: time.Now()})
	j.mu.Unlock()
	err := guard.Run(func() error { return j.remove(ctx, t) })
	if err != nil {
		guard.Log(j.engine.log, "removing expired rows", err)
		j.engine.log.Warn("removing expired rows", "table", t.Database+"."+t.Name, "err", err)
	}
	if r, forget := j.ended(err); r != nil {
		if err := j.save(ctx, r, forget); err != nil && ctx.Err() == nil {
			j.engine.log.Warn("keeping the record of a removal", "table", t.Database+"."+t.Name, "err", err)
		}
	}
}

// ended closes the record of the run; nil when there is nothing to tell. forget
// are the records that make way.
func (j *expiryJob) ended(err error) (r *infoschema.Expiry, forget []infoschema.Expiry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := j.runs[len(j.runs)-1]
	if last.Removed == 0 && err == nil {
		j.runs = j.runs[:len(j.runs)-1]
		return nil, nil
	}
	now := time.Now()
	last.Ended = &now
	if err != nil {
		last.Error = err.Error()
	}
	j.runs[len(j.runs)-1] = last
	if n := len(j.runs) - expiryHistory; n > 0 {
		forget = slices.Clone(j.runs[:n])
		j.runs = slices.Delete(j.runs, 0, n)
	}
	return &last, forget
}

func (j *expiryJob) add(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs[len(j.runs)-1].Removed += uint64(n)
}

// Expiries implements infoschema.Server.
func (e *introspection) Expiries() []infoschema.Expiry {
	j := &e.expiry
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.runs)
}

// remove reads the keys of expired rows from a snapshot and deletes the rows,
// if they still have expired, in small transactions, with pauses as long as
// they took.
func (j *expiryJob) remove(ctx context.Context, t *schema.Table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := j.engine.NewSession(ctx, mysqlwire.ConnInfo{ID: expirySession, User: "ttl", Kill: cancel})
	if err != nil {
		return err
	}
	defer s.Close()
	for name, v := range map[string]value.Datum{"sqlots_show_expired": value.Uint(1), "transaction_isolation": value.String("REPEATABLE-READ"), "sql_safe_updates": value.Uint(0), "autocommit": value.Uint(1), "innodb_lock_wait_timeout": value.Uint(1)} {
		if s.engine.globals.defs.Lookup(name) != nil {
			s.vars.vals[name] = v
		}
	}
	s.vars.refresh()
	s.process.SetState("removing expired rows")
	if t.HasHiddenKey() {
		return j.removeLimited(ctx, s, t)
	}
	return j.removeByKey(ctx, s, t)
}

// removeLimited is for tables whose keys have no name.
func (j *expiryJob) removeLimited(ctx context.Context, s *Session, t *schema.Table) error {
	text := fmt.Sprintf("DELETE FROM %s.%s WHERE %s LIMIT %d", schema.QuoteName(t.Database), schema.QuoteName(t.Name), define.ExpiredSQL(t), expiryBatch)
	for {
		start := time.Now()
		c, err := s.planText(text, nil)
		if err != nil {
			return err
		}
		r, err := s.change(ctx, c, nil)
		if errors.Is(err, errStale) {
			return nil // the next turn plans again
		}
		if err != nil {
			return err
		}
		j.add(int(r.Affected))
		if r.Affected < expiryBatch {
			return nil
		}
		if err := pause(ctx, time.Since(start)); err != nil {
			return err
		}
	}
}

func (j *expiryJob) removeByKey(ctx context.Context, s *Session, t *schema.Table) error {
	var names, conds []string
	var ts []schema.Type
	for _, p := range t.PrimaryKey {
		c := t.Column(p.Column)
		names = append(names, schema.QuoteName(c.Name))
		conds = append(conds, schema.QuoteName(c.Name)+" = ?")
		ts = append(ts, c.Type)
	}
	table := schema.QuoteName(t.Database) + "." + schema.QuoteName(t.Name)
	find, err := s.planText("SELECT "+strings.Join(names, ", ")+" FROM "+table+" WHERE "+define.ExpiredSQL(t), nil)
	if err != nil {
		return err
	}
	remove := "DELETE FROM " + table + " WHERE " + strings.Join(conds, " AND ") + " AND " + define.ExpiredSQL(t)
	snap, err := s.engine.store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	if !s.current(find.plan) {
		return nil // the next turn plans again
	}
	env := s.execEnv(ctx, view{Reader: snap}, nil)
	defer env.Memory.Close()
	var keys [][]value.Datum
	flush := func() error {
		start := time.Now()
		n, err := s.removeKeys(ctx, remove, ts, keys)
		if sqlerr.IsLockConflict(err) {
			err = nil // rows in use go the next time
		}
		if err != nil {
			return err
		}
		j.add(n)
		keys = keys[:0]
		return pause(ctx, time.Since(start))
	}
	err = exec.RunQuery(ctx, env, find.plan, func(b *vec.Batch) error {
		for i := range b.Live() {
			row := i
			if b.HasSel {
				row = int(b.Sel[i])
			}
			key := make([]value.Datum, len(b.Cols))
			for k, c := range b.Cols {
				key[k] = c.Datum(row).Clone()
			}
			if keys = append(keys, key); len(keys) == expiryBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	return flush()
}

// removeKeys deletes rows in one transaction.
func (s *Session) removeKeys(ctx context.Context, text string, ts []schema.Type, keys [][]value.Datum) (int, error) {
	c, err := s.planText(text, ts)
	if err != nil {
		return 0, err
	}
	if err := s.begin(false); err != nil {
		return 0, err
	}
	defer s.rollback()
	n := 0
	for _, key := range keys {
		r, err := s.change(ctx, c, key)
		if err != nil {
			return 0, err
		}
		n += int(r.Affected)
	}
	return n, s.commit(ctx)
}

// planText plans a statement with parameters of the given types.
func (s *Session) planText(text string, params []schema.Type) (*cachedPlan, error) {
	stmt, err := s.engine.parsers.Parse(text, s.vars.mode)
	if err != nil {
		return nil, err
	}
	bound, err := bind.Bind(s.bindEnv(params), stmt)
	if err != nil {
		return nil, err
	}
	return s.plan(bound, nil, params)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d + time.Millisecond):
		return nil
	}
}
