package ttl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/value"
)

// expiry removes expired rows, which no statement sees any more, of one table
// after the other.
type expiry struct {
	shared *statement.Shared
	engine *engine.Engine
}

const (
	expiryTick  = time.Second
	expiryBatch = 500
	// expirySession is the connection id of the job: those of clients count from 1.
	expirySession = 1 << 62
)

// Start starts the removal of expired rows, which ends with the engine's
// jobs.
func Start(sh *statement.Shared) {
	j := &expiry{shared: sh, engine: sh.Engine}
	sh.Engine.Jobs.Every("removing expired rows", expiryTick, func(ctx context.Context, _ time.Time) error {
		j.round(ctx)
		return nil
	})
}

// Remove removes the expired rows of a table now, and keeps a record of it.
func Remove(ctx context.Context, sh *statement.Shared, t *schema.Table) {
	(&expiry{shared: sh, engine: sh.Engine}).run(ctx, t)
}

// round goes over the tables once.
func (j *expiry) round(ctx context.Context) {
	if j.engine.Globals.Value("sqlots_ttl_job_enable").Bits() == 0 {
		return
	}
	snap := j.engine.Catalog.Snapshot()
	for _, db := range snap.Databases() {
		for _, t := range snap.Tables(db.Name) {
			if t.Expires() && j.engine.Expiries.Due(t) && ctx.Err() == nil {
				j.run(ctx, t)
			}
		}
	}
}

// run is Remove.
func (j *expiry) run(ctx context.Context, t *schema.Table) {
	log := j.engine.Expiries
	log.Begin(t)
	err := guard.Run(func() error { return j.remove(ctx, t) })
	if err != nil {
		guard.Log(j.engine.Log, "removing expired rows", err)
		j.engine.Log.Warn("removing expired rows", "event", "job.failed", "table", t.Database+"."+t.Name, "error", err)
	}
	if err := log.End(ctx, err); err != nil && ctx.Err() == nil {
		j.engine.Log.Warn("keeping the record of a removal", "table", t.Database+"."+t.Name, "error", err)
	}
}

// remove reads the keys of expired rows from a snapshot and deletes the rows,
// if they still have expired, in small transactions, with pauses as long as
// they took.
func (j *expiry) remove(ctx context.Context, t *schema.Table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	info := mysqlwire.ConnInfo{ID: expirySession, User: "ttl", Kill: cancel}
	writer := j.connect(info)
	defer writer.End()
	j.engine.Processes.Add(writer.Process)
	defer j.engine.Processes.Remove(writer.Process.ID)
	writer.Process.SetState("removing expired rows")
	if t.HasHiddenKey() {
		return j.removeLimited(ctx, writer, t)
	}
	// Both have one id, so that metadata locks of one do not hold up the other.
	reader := j.connect(info)
	defer reader.End()
	return j.removeByKey(ctx, reader, writer, t)
}

// connect makes a connection with the settings of the job.
func (j *expiry) connect(info mysqlwire.ConnInfo) *statement.Statement {
	st := statement.Open(j.shared, info)
	st.ActAsServer()
	st.Vars.Override(map[string]value.Datum{
		"sqlots_show_expired": value.Uint(1), "transaction_isolation": value.String("REPEATABLE-READ"),
		"sql_safe_updates": value.Uint(0), "autocommit": value.Uint(1), "innodb_lock_wait_timeout": value.Uint(1),
	})
	return st
}

// removeLimited is for tables whose keys have no name.
func (j *expiry) removeLimited(ctx context.Context, st *statement.Statement, t *schema.Table) error {
	text := fmt.Sprintf("DELETE FROM %s.%s WHERE %s LIMIT %d", schema.QuoteName(t.Database), schema.QuoteName(t.Name), define.ExpiredSQL(t), expiryBatch)
	for {
		start := time.Now()
		c, err := st.PlanText(ctx, text, nil)
		if err != nil {
			return err
		}
		r, err := st.Change(ctx, c, nil)
		if errors.Is(err, statement.ErrStale) {
			return nil // the next turn plans again
		}
		if err != nil {
			return err
		}
		j.engine.Expiries.Add(int(r.Affected))
		if r.Affected < expiryBatch {
			return nil
		}
		if err := pause(ctx, time.Since(start)); err != nil {
			return err
		}
	}
}

// removeByKey reads keys by one connection and deletes by the other.
func (j *expiry) removeByKey(ctx context.Context, reader, writer *statement.Statement, t *schema.Table) error {
	var names []string
	var ts []schema.Type
	for _, p := range t.DeclaredKey() {
		c := t.Column(p.Column)
		names = append(names, schema.QuoteName(c.Name))
		ts = append(ts, c.Type)
	}
	columns := strings.Join(names, ", ")
	table := schema.QuoteName(t.Database) + "." + schema.QuoteName(t.Name)
	find, err := reader.PlanText(ctx, "SELECT "+columns+" FROM "+table+" WHERE "+define.ExpiredSQL(t), nil)
	if err != nil {
		return err
	}
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(ts)), ", ") + "), "
	var keys []value.Datum // of up to expiryBatch rows
	flush := func() error {
		start := time.Now()
		rows := len(keys) / len(ts)
		n, err := removeKeys(ctx, writer, fmt.Sprintf("DELETE FROM %s WHERE (%s) IN (%s) AND %s",
			table, columns, strings.TrimSuffix(strings.Repeat(one, rows), ", "), define.ExpiredSQL(t)), slices.Repeat(ts, rows), keys)
		if sqlerr.IsLockConflict(err) {
			err = nil // rows in use go the next time
		}
		if err != nil {
			return err
		}
		j.engine.Expiries.Add(n)
		keys = keys[:0]
		return pause(ctx, time.Since(start))
	}
	err = reader.EachRow(ctx, find, nil, func(row []value.Datum) error {
		for _, d := range row {
			keys = append(keys, d.Clone())
		}
		if len(keys) < expiryBatch*len(ts) {
			return nil
		}
		return flush()
	})
	if errors.Is(err, statement.ErrStale) {
		return nil // the next turn plans again
	}
	if err != nil || len(keys) == 0 {
		return err
	}
	return flush()
}

// removeKeys deletes rows in one transaction.
func removeKeys(ctx context.Context, st *statement.Statement, text string, ts []schema.Type, keys []value.Datum) (int, error) {
	c, err := st.PlanText(ctx, text, ts)
	if err != nil {
		return 0, err
	}
	if err := st.Tx.Begin(ctx, false); err != nil {
		return 0, err
	}
	defer st.Tx.Rollback()
	r, err := st.Change(ctx, c, keys)
	if err != nil {
		return 0, err
	}
	return int(r.Affected), st.Tx.Commit(ctx)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d + time.Millisecond):
		return nil
	}
}
