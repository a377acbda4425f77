package infoschema

import (
	"fmt"
	"strings"
	"time"
)

// lockWaits is sys.innodb_lock_waits.
const lockWaits = "wait_started d?, wait_age s10?, wait_age_secs i?, locked_table t?, locked_table_schema n64?, locked_table_name n64?, locked_table_partition s64?, locked_table_subpartition s64?, locked_index s64?, locked_type s32, waiting_trx_id u, waiting_trx_started d, waiting_trx_age s10?, waiting_trx_rows_locked u, waiting_trx_rows_modified u, waiting_pid u, waiting_query t?, waiting_lock_id s128, waiting_lock_mode s32, blocking_trx_id u, blocking_pid u, blocking_query t?, blocking_lock_id s128, blocking_lock_mode s32, blocking_trx_started d, blocking_trx_age s10?, blocking_trx_rows_locked u, blocking_trx_rows_modified u, sql_kill_blocking_query s32, sql_kill_blocking_connection s26"

func transactions(q *query) error {
	for _, t := range q.server.Transactions() {
		var operation any
		if t.Requested != "" {
			operation = "starting index read"
		}
		// A lock costs about 200 bytes in its table.
		err := q.emit(t.ID, t.State, t.Started, orNull(t.Requested), t.WaitStarted, t.Locks+t.RowsModified, t.ThreadID, orNull(t.Query), operation, uint64(0), t.TablesLocked,
			t.Locks, 200*t.Locks, t.RowsLocked, t.RowsModified, uint64(0), t.Isolation, 1, 1, nil, 0, uint64(0), t.ReadOnly, 0, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// mode is the lock as InnoDB names it: of the key, without the gap before it, or of
// keys and the gaps between them.
func (k *LockedKey) mode(exclusive bool) string {
	switch {
	case k.Range && exclusive:
		return "X,INSERT_INTENTION"
	case k.Range:
		return "S"
	case exclusive:
		return "X,REC_NOT_GAP"
	}
	return "S,REC_NOT_GAP"
}

func dataLocks(q *query) error {
	type lock struct {
		id    string
		waits bool
	}
	shown, sees := map[lock]bool{}, q.threadFilter()
	for _, k := range q.server.RowLocks() {
		for i := range k.Locks {
			l := &k.Locks[i]
			if shown[lock{l.ID, l.Waits}] || !sees(l.ThreadID) {
				continue // a range in which several wait, or of another account
			}
			shown[lock{l.ID, l.Waits}] = true
			status := "GRANTED"
			if l.Waits {
				status = "WAITING"
			}
			err := q.emit("INNODB", l.ID, l.Txn, threadOf(l), nil, k.Database, k.Table, orNull(k.Partition), nil, k.Index, uint64(0), "RECORD", k.mode(l.Exclusive), status, k.Data)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// threadOf is NULL for transactions of no connection.
func threadOf(l *RowLock) any {
	if l.ThreadID == 0 {
		return nil
	}
	return l.ThreadID
}

// eachWait calls fn with each request that waits and each lock, or earlier
// request, that it waits for, of connections that the account sees.
func (q *query) eachWait(fn func(k *LockedKey, waits, blocks *RowLock) error) error {
	keys, sees := q.server.RowLocks(), q.threadFilter()
	for i := range keys {
		k := &keys[i]
		for j := range k.Locks {
			w := &k.Locks[j]
			if !sees(w.ThreadID) {
				continue
			}
			for b := range k.Locks[:j] {
				before := &k.Locks[b]
				if w.Waits && before.Txn != w.Txn && (w.Exclusive || before.Exclusive) && sees(before.ThreadID) {
					if err := fn(k, w, before); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func dataLockWaits(q *query) error {
	return q.eachWait(func(_ *LockedKey, w, b *RowLock) error {
		return q.emit("INNODB", w.ID, w.Txn, threadOf(w), nil, uint64(0), b.ID, b.Txn, threadOf(b), nil, uint64(0))
	})
}

func innodbLockWaits(q *query) error {
	txns := map[uint64]Transaction{}
	for _, t := range q.server.Transactions() {
		txns[t.ID] = t
	}
	now := time.Now()
	return q.eachWait(func(k *LockedKey, w, b *RowLock) error {
		waits, blocks := txns[w.Txn], txns[b.Txn]
		return q.emit(w.Since, age(now, w.Since), int64(now.Sub(w.Since)/time.Second), fmt.Sprintf("`%s`.`%s`", k.Database, k.Table), k.Database, k.Table, nil, nil, k.Index, "RECORD",
			w.Txn, waits.Started, age(now, waits.Started), waits.RowsLocked, waits.RowsModified, w.ThreadID, orNull(waits.Query), w.ID, k.mode(w.Exclusive),
			b.Txn, b.ThreadID, orNull(blocks.Query), b.ID, k.mode(b.Exclusive), blocks.Started, age(now, blocks.Started), blocks.RowsLocked, blocks.RowsModified,
			fmt.Sprintf("KILL QUERY %d", b.ThreadID), fmt.Sprintf("KILL %d", b.ThreadID))
	})
}

// age is the time since t, as TIME prints it.
func age(now, t time.Time) string {
	s := int64(max(now.Sub(t), 0) / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// engineStatus is SHOW ENGINE INNODB STATUS: the latest deadlock and the open
// transactions, in the order and words of InnoDB's monitor.
func engineStatus(q *query) error {
	if !strings.EqualFold(q.arg(0), "innodb") && !strings.EqualFold(q.arg(0), "sqlots") {
		return nil
	}
	var b strings.Builder
	now := time.Now()
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	title := func(s string) {
		rule := strings.Repeat("-", len(s))
		line("%s\n%s\n%s", rule, s, rule)
	}
	line("\n=====================================\n%s INNODB MONITOR OUTPUT (sqlots)\n=====================================", now.In(q.sess.Location()).Format("2006-01-02 15:04:05"))
	if d := q.server.LastDeadlock(); d != nil {
		title("LATEST DETECTED DEADLOCK")
		line("%s", d.Time.In(q.sess.Location()).Format("2006-01-02 15:04:05"))
		for i, w := range d.Cycle {
			line("*** (%d) TRANSACTION %d WAITING FOR THIS LOCK TO BE GRANTED:", i+1, w.Txn)
			line("RECORD LOCKS index %s of table `%s`.`%s` lock_mode %s key %s", w.Index, w.Database, w.Table, w.mode(w.Exclusive), w.Data)
		}
		for i, w := range d.Cycle {
			if w.Txn == d.Victim {
				line("*** WE ROLL BACK TRANSACTION (%d)", i+1)
			}
		}
	}
	title("TRANSACTIONS")
	list := q.server.Transactions()
	line("%d open transactions", len(list))
	for _, t := range list {
		line("---TRANSACTION %d, ACTIVE %d sec", t.ID, int64(now.Sub(t.Started)/time.Second))
		if t.Requested != "" {
			line("LOCK WAIT %d sec", int64(now.Sub(t.WaitStarted)/time.Second))
		}
		line("%d lock struct(s), %d row lock(s), rows modified %d, %s", t.Locks, t.RowsLocked, t.RowsModified, t.Isolation)
		line("MySQL thread id %d", t.ThreadID)
		if t.Query != "" {
			line("%s", t.Query)
		}
	}
	line("----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================")
	return q.emit("InnoDB", "", b.String())
}
