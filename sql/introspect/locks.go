package introspect

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Transactions implements infoschema.Server: those that are open, and those of
// the statements that run in autocommit and write or lock.
func (e *Server) Transactions() []infoschema.Transaction {
	var out []infoschema.Transaction
	at := map[uint64]int{}
	for _, p := range e.engine.Processes.List() {
		x := e.engine.Processes.Get(p.ID)
		if x == nil {
			continue // it has just ended
		}
		t := infoschema.Transaction{ID: x.Latest.Load(), ThreadID: p.ID, Started: p.Since, State: "RUNNING", Isolation: "REPEATABLE READ", Query: p.Info}
		if open := x.Txn.Load(); open != nil {
			t.ID, t.Started, t.ReadOnly, t.Isolation, t.RowsModified = open.Id, open.Started, open.ReadOnly, strings.ReplaceAll(open.Isolation, "-", " "), uint64(max(open.Rows.Load(), 0))
		}
		if t.ID != 0 {
			at[t.ID] = len(out)
			out = append(out, t)
		}
	}
	tables := map[uint64]map[string]bool{}
	for _, l := range e.engine.Store.Locks() {
		for _, id := range l.Holders {
			i, ok := at[id]
			if !ok {
				continue
			}
			out[i].Locks++
			if !l.Range && isRow(l.Key) {
				out[i].RowsLocked++
			}
			if len(l.Key) >= lockedTable && !tables[id][string(l.Key[:lockedTable])] {
				if tables[id] == nil {
					tables[id] = map[string]bool{}
				}
				tables[id][string(l.Key[:lockedTable])] = true
				out[i].TablesLocked++
			}
		}
		for _, w := range l.Waits {
			if i, ok := at[w.Txn]; ok {
				out[i].State, out[i].Requested, out[i].WaitStarted = "LOCK WAIT", lockID(w.Txn, l), w.Since
			}
		}
	}
	return out
}

// A key of a table's data begins with its space, the table and the index.
const (
	lockedTable = 5
	lockedIndex = 7
)

func isRow(key []byte) bool {
	return len(key) >= lockedIndex && binary.BigEndian.Uint16(key[lockedTable:]) == uint16(schema.PrimaryIndexID)
}

// lockID names a transaction's lock of a key or range.
func lockID(txn uint64, l storage.LockInfo) string {
	h := fnv.New64a()
	_, _ = h.Write(l.Key) // never fails
	_, _ = h.Write(l.End)
	return fmt.Sprintf("%d:%x", txn, h.Sum64())
}

// RowLocks implements infoschema.Server.
func (e *Server) RowLocks() []infoschema.LockedKey {
	threads := map[uint64]uint64{}
	for _, p := range e.engine.Processes.List() {
		if x := e.engine.Processes.Get(p.ID); x != nil {
			threads[x.Latest.Load()] = p.ID
			if open := x.Txn.Load(); open != nil {
				threads[open.Id] = p.ID
			}
		}
	}
	delete(threads, 0)
	var out []infoschema.LockedKey
	snap := e.engine.Catalog.Snapshot()
	for _, l := range e.engine.Store.Locks() {
		k := e.lockedKey(snap, l.Key)
		if l.Range {
			k.Range = true
			k.Data = rangeText(k, e.lockedKey(snap, l.End), l)
		}
		for _, id := range l.Holders {
			k.Locks = append(k.Locks, infoschema.RowLock{ID: lockID(id, l), Txn: id, ThreadID: threads[id], Exclusive: l.Mode == storage.LockExclusive})
		}
		for _, w := range l.Waits {
			k.Locks = append(k.Locks, infoschema.RowLock{ID: lockID(w.Txn, l), Txn: w.Txn, ThreadID: threads[w.Txn], Exclusive: w.Mode == storage.LockExclusive, Waits: true, Since: w.Since})
		}
		out = append(out, k)
	}
	return out
}

// LastDeadlock implements infoschema.Server.
func (e *Server) LastDeadlock() *infoschema.Deadlock {
	d := e.engine.Store.LastDeadlock()
	if d == nil {
		return nil
	}
	out := &infoschema.Deadlock{Time: d.Time, Victim: d.Victim}
	for _, w := range d.Cycle {
		k := e.lockedKey(e.engine.Catalog.Snapshot(), w.Key)
		k.Range = w.Range
		out.Cycle = append(out.Cycle, infoschema.DeadlockWait{Txn: w.Txn, Exclusive: w.Mode == storage.LockExclusive, LockedKey: k})
	}
	return out
}

// lockedKey says in words what a key belongs to.
func (e *Server) lockedKey(snap *catalog.Snapshot, key []byte) infoschema.LockedKey {
	out := infoschema.LockedKey{Index: "PRIMARY", Data: fmt.Sprintf("0x%X", key)}
	if len(key) < lockedIndex || string(key[:1]) != string(table.TablePrefix(nil, 0, 0)[:1]) {
		return out
	}
	t := snap.TableByID(schema.TableID(binary.BigEndian.Uint32(key[1:])))
	if t == nil {
		return out
	}
	out.Database, out.Table, out.Data = t.Database, t.Name, fmt.Sprintf("0x%X", key[lockedIndex:])
	codec, err := e.engine.Codecs.Get(t)
	if err != nil {
		return out
	}
	parts := codec.Key
	if id := schema.IndexID(binary.BigEndian.Uint16(key[lockedTable:])); id != schema.PrimaryIndexID {
		x := codec.Index(id)
		if x == nil {
			return out
		}
		out.Index, parts = x.Desc.Name, x.Parts[:x.Own]
	}
	rest := key[lockedIndex:]
	if t.IsPartitionColumn(t.Columns[parts[0].Pos].ID) {
		d, after, err := parts[0].Decode(rest)
		if err != nil {
			return out
		}
		out.Partition, parts, rest = t.Partitioning.PartitionName(d.Int()), parts[1:], after
	}
	if text, ok := keyText(t, parts, rest); ok {
		out.Data = text
	}
	return out
}

// keyText is the values of a key; ok is false where the key does not give them
// back.
func keyText(t *schema.Table, parts []table.Part, key []byte) (text string, ok bool) {
	var list []string
	for i := range parts {
		if parts[i].Lossy {
			return "", false
		}
		var d value.Datum
		var err error
		if d, key, err = parts[i].Decode(key); err != nil {
			return "", false
		}
		switch {
		case d.IsNull():
			list = append(list, "NULL")
		case d.Kind() == value.KindBytes:
			list = append(list, "'"+strings.ToValidUTF8(d.Str(), "?")+"'")
		default:
			list = append(list, string(types.AppendText(nil, t.Columns[parts[i].Pos].Type, d)))
		}
	}
	return strings.Join(list, ", "), true
}

// rangeText is both ends of a range, of which end is not in it. Those of an index are
// called as InnoDB's records there.
func rangeText(from, end infoschema.LockedKey, l storage.LockInfo) string {
	if l.End == nil && len(l.Waits) > 0 && l.Waits[0].Mode == storage.LockExclusive {
		return from.Data // a key to be written
	}
	if len(l.Key) <= lockedIndex {
		from.Data = "infimum pseudo-record"
	}
	if len(l.End) <= lockedIndex {
		end.Data = "supremum pseudo-record"
	}
	return from.Data + " to " + end.Data
}
