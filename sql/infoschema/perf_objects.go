package infoschema

import (
	"crypto/tls"
	"strconv"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
)

// everyTable calls fn with the stored tables that the query needs, whoever it is of:
// who may read performance_schema sees the use of all tables.
func (q *query) everyTable(fn func(t *schema.Table) error) error {
	for _, d := range q.snap.Databases() {
		if d.Name == mysqlDB || q.provider.IsVirtual(d.Name) || !q.wants(d.Name, "OBJECT_SCHEMA", "object_schema", "table_schema") {
			continue
		}
		for _, t := range q.snap.Tables(d.Name) {
			if !q.wants(t.Name, "OBJECT_NAME", "object_name", "table_name") {
				continue
			}
			if err := fn(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// use is what was done by a key of a table, or without one.
type use struct {
	fetched, inserted, updated, deleted uint64
}

func (u *use) add(x *metrics.Use) {
	if x == nil {
		return
	}
	// A read that finds nothing is one, too.
	u.fetched += uint64(max(x.Fetched.Load(), x.Reads.Load()))
	u.inserted += uint64(x.Inserted.Load())
	u.updated += uint64(x.Updated.Load())
	u.deleted += uint64(x.Deleted.Load())
}

func (u *use) merge(o use) {
	u.fetched += o.fetched
	u.inserted += o.inserted
	u.updated += o.updated
	u.deleted += o.deleted
}

func (u *use) writes() uint64 { return u.inserted + u.updated + u.deleted }

// columns are STAR, READ, WRITE, FETCH, INSERT, UPDATE and DELETE. Times are not measured.
func (u *use) columns() []any {
	var out []any
	for _, n := range []uint64{u.fetched + u.writes(), u.fetched, u.writes(), u.fetched, u.inserted, u.updated, u.deleted} {
		out = append(out, n, uint64(0), uint64(0), uint64(0), uint64(0))
	}
	return out
}

// keyUse is the use of one key of a table; the last one of a table has no name and is
// what used none.
type keyUse struct {
	name   string
	unique bool
	use
}

func (q *query) usesOf(t *schema.Table) []keyUse {
	uses := &q.server.Metrics().Uses
	var out []keyUse
	add := func(name string, unique bool, index uint64) {
		x := keyUse{name: name, unique: unique}
		x.add(uses.Find(metrics.UseKey{Table: uint64(t.ID), Index: index}))
		out = append(out, x)
	}
	none := keyUse{}
	if hasPrimaryKey(t) {
		add("PRIMARY", true, 0)
	} else {
		none.add(uses.Find(metrics.UseKey{Table: uint64(t.ID)}))
	}
	for _, x := range publicIndexes(t) {
		add(x.Name, x.Unique, uint64(x.ID))
	}
	for i := range t.Search {
		add(t.Search[i].Name, false, uint64(t.Search[i].ID))
	}
	none.add(uses.Find(metrics.UseKey{Table: uint64(t.ID), Index: metrics.NoIndex}))
	return append(out, none)
}

func (q *query) useOf(t *schema.Table) (out use) {
	for _, k := range q.usesOf(t) {
		out.merge(k.use)
	}
	return out
}

func tableUses(q *query) error {
	return q.everyTable(func(t *schema.Table) error {
		u := q.useOf(t)
		return q.emitAll([]any{"TABLE", t.Database, t.Name}, u.columns())
	})
}

func indexUses(q *query) error {
	return q.everyTable(func(t *schema.Table) error {
		for _, k := range q.usesOf(t) {
			if err := q.emitAll([]any{"TABLE", t.Database, t.Name, orNull(k.name)}, k.columns()); err != nil {
				return err
			}
		}
		return nil
	})
}

func objectUses(q *query) error {
	return q.everyTable(func(t *schema.Table) error {
		u := q.useOf(t)
		return q.emit("TABLE", t.Database, t.Name, u.fetched+u.writes(), uint64(0), uint64(0), uint64(0), uint64(0))
	})
}

func metadataLocks(q *query) error {
	threads := map[uint64]bool{}
	for _, p := range q.server.Processes() {
		threads[p.ID] = true
	}
	for i, l := range q.server.MetadataLocks() {
		status, owner := "GRANTED", any(nil)
		if l.Pending {
			status = "PENDING"
		}
		if threads[l.Owner] { // a job of the server has no thread
			owner = l.Owner
		}
		if err := q.emit("TABLE", l.Database, l.Table, nil, uint64(i+1), l.Type, "TRANSACTION", status, nil, owner, nil); err != nil {
			return err
		}
	}
	return nil
}

// accountTables are those of accounts and their numbers.
func accountTables() []*table {
	var out []*table
	for _, x := range []struct {
		many, one, columns string
		by                 grouping
	}{
		{"accounts", "account", "USER s32?, HOST s255?, ", byAccount},
		{"users", "user", "USER s32?, ", byUser},
		{"hosts", "host", "HOST s255?, ", byHost},
	} {
		connections := "CURRENT_CONNECTIONS i, TOTAL_CONNECTIONS i, MAX_SESSION_CONTROLLED_MEMORY u, MAX_SESSION_TOTAL_MEMORY u"
		out = append(out,
			measured(newTable(performanceDB, x.many, x.columns+connections, func(q *query) error { return accounts(q, x.by) }), (*metrics.Server).ResetAccounts),
			measured(newTable(performanceDB, "status_by_"+x.one, x.columns+statusColumns, func(q *query) error { return statusBy(q, x.by) }), (*metrics.Server).ResetAccounts))
	}
	return append(out, measured(newTable(performanceDB, "status_by_thread", "THREAD_ID u, "+statusColumns, statusByThread), (*metrics.Server).ResetAccounts),
		measured(newTable(performanceDB, "variables_by_thread", "THREAD_ID u, "+statusColumns, nil), nil))
}

const statusColumns = "VARIABLE_NAME s64, VARIABLE_VALUE s1024?"

func accounts(q *query, by grouping) error {
	m := q.server.Metrics()
	return q.eachGroup(by, func(name []any, list []metrics.Account) error {
		var open, total int64
		for i := range list {
			open += list[i].Open
			total += list[i].Total
		}
		all := m.Of(list...).All()
		return q.emitAll(name, []any{open, total, all.MaxMemory, all.MaxMemory})
	})
}

func (q *query) statusOf(prefix []any, n *metrics.Numbers) error {
	return n.Variables(func(name string, v uint64) error {
		if !q.wants(name, "VARIABLE_NAME") {
			return nil
		}
		return q.emitAll(prefix, []any{name, strconv.FormatUint(v, 10)})
	})
}

func statusBy(q *query, by grouping) error {
	return q.eachGroup(by, func(name []any, list []metrics.Account) error {
		return q.statusOf(name, q.server.Metrics().Of(list...))
	})
}

func statusByThread(q *query) error {
	connections := map[uint64]*tls.ConnectionState{}
	for _, p := range q.server.Processes() {
		connections[p.ID] = p.TLS
	}
	for _, s := range q.server.Metrics().Sessions() {
		if err := q.statusOf([]any{s.ID}, s.Numbers()); err != nil {
			return err
		}
		own := TLSStatus(connections[s.ID])
		for _, name := range tlsVariables {
			if !q.wants(name, "VARIABLE_NAME") {
				continue
			}
			if err := q.emit(s.ID, name, own[name]); err != nil {
				return err
			}
		}
	}
	return nil
}
