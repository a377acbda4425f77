package ddl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// partitionNew partitions a new table: 1506, 1562, and the errors of
// define.SetPartitions.
func (c *change) partitionNew(ctx context.Context, t *schema.Table, x *logical.CreateTable) error {
	switch {
	case c.r.temporary:
		return sqlerr.TemporaryPartitions()
	case len(x.ForeignKeys) > 0:
		return sqlerr.PartitionForeignKey()
	}
	if err := define.SetPartitions(c.r.Binder, t, x.PartitionBy, c.exprCtx(ctx)); err != nil {
		return err
	}
	define.KeyPartitions(t)
	return nil
}

// partitionClause is a clause of ALTER TABLE about partitions. The key of a.t does not
// have the partition meanwhile: see finishPartitioning.
func (a *alteration) partitionClause(ctx context.Context, s *logical.AlterSpec) error {
	a.changed = true
	t := a.t
	if s.Kind == logical.AlterPartitionBy {
		return a.partitionBy(ctx, s.PartitionBy)
	}
	p := t.Partitioning
	if p == nil {
		return sqlerr.NotPartitioned()
	}
	switch s.Kind {
	case logical.AlterRemovePartitioning:
		define.DropPartitioning(t)
		a.rebuild = true
		return nil
	case logical.AlterAddPartition:
		return a.addPartitions(ctx, s)
	case logical.AlterDropPartition:
		return a.dropPartitions(s)
	case logical.AlterTruncatePartition:
		return a.truncatePartitions(s)
	case logical.AlterCoalescePartition:
		return a.coalescePartitions(s)
	case logical.AlterReorganizePartition:
		return a.reorganizePartitions(ctx, s)
	}
	a.changed = false // REBUILD: rows are where they belong
	_, err := a.listed(s, "REBUILD")
	return err
}

func (a *alteration) partitionBy(ctx context.Context, by *define.PartitionBy) error {
	if a.c.r.temporary {
		return sqlerr.TemporaryPartitions()
	}
	if a.t.Partitioning != nil {
		define.DropPartitioning(a.t)
	}
	a.rebuild = true
	return define.SetPartitions(a.c.r.Binder, a.t, by, a.c.exprCtx(ctx))
}

// listed are the positions of the partitions that a clause names, in their order: 1507.
func (a *alteration) listed(s *logical.AlterSpec, what string) ([]int, error) {
	p := a.t.Partitioning
	marked := make([]bool, len(p.Partitions))
	for _, name := range s.Partitions {
		i := p.PartitionByName(name)
		if i < 0 || marked[i] {
			if i < 0 && s.IfExists {
				a.c.note(sqlerr.PartitionListError(what))
				continue
			}
			return nil, sqlerr.PartitionListError(what)
		}
		marked[i] = true
	}
	var out []int
	for i := range marked {
		if marked[i] || s.AllPartitions {
			out = append(out, i)
		}
	}
	return out, nil
}

// newPartitions makes the partitions of definitions.
func (a *alteration) newPartitions(ctx context.Context, defs []define.PartitionDefinition) ([]schema.Partition, error) {
	of, err := define.Partitioner(a.c.r.Binder, a.t)
	if err != nil {
		return nil, err
	}
	return define.NewPartitions(a.t, of, defs, a.c.exprCtx(ctx))
}

func (a *alteration) addPartitions(ctx context.Context, s *logical.AlterSpec) error {
	p := a.t.Partitioning
	defs := s.Definitions
	switch {
	case p.Kind.Listed() && len(defs) == 0:
		return sqlerr.PartitionsMustBeDefined(p.Kind.String())
	case len(defs) == 0:
		if s.Number == 0 {
			return sqlerr.AddNoPartition()
		}
		defs = define.MorePartitions(a.t, s.Number)
	default:
		p.Named = true
	}
	if n := len(p.Partitions); p.Kind == schema.PartitionRange && !p.ByColumns && p.Partitions[n-1].Less[0].Max {
		return sqlerr.PartitionMaxValue()
	}
	more, err := a.newPartitions(ctx, defs)
	if err != nil {
		return err
	}
	fits := define.NumberPartitions(p, more, len(p.Partitions), len(p.Partitions))
	p.Partitions = append(p.Partitions, more...)
	a.renumber(!fits)
	a.rebuild = a.rebuild || !p.Kind.Listed()
	return nil
}

func (a *alteration) dropPartitions(s *logical.AlterSpec) error {
	p := a.t.Partitioning
	if !p.Kind.Listed() {
		return sqlerr.OnlyRangeOrList("DROP")
	}
	at, err := a.listed(s, "DROP")
	if err != nil {
		return err
	}
	if len(at) == len(p.Partitions) {
		return sqlerr.DropAllPartitions()
	}
	for n, i := range at {
		a.removed = append(a.removed, p.Partitions[i-n].Number)
		p.Partitions = slices.Delete(p.Partitions, i-n, i-n+1)
	}
	a.changed = len(at) > 0
	return nil
}

// truncatePartitions gives partitions other numbers.
func (a *alteration) truncatePartitions(s *logical.AlterSpec) error {
	p := a.t.Partitioning
	at, err := a.listed(s, "TRUNCATE")
	if err != nil {
		return err
	}
	for _, i := range at {
		a.removed = append(a.removed, p.Partitions[i].Number)
		p.Removed = append(p.Removed, p.Partitions[i].Number) // not to be given again
		if !define.NumberPartitions(p, p.Partitions[i:i+1], i, i+1) {
			return sqlerr.NotSupported("TRUNCATE PARTITION of a partition without a free number: reorganize its neighbours")
		}
	}
	return nil
}

func (a *alteration) coalescePartitions(s *logical.AlterSpec) error {
	p := a.t.Partitioning
	switch n := uint64(len(p.Partitions)); {
	case p.Kind.Listed():
		return sqlerr.CoalesceOnlyHash()
	case s.Number == 0:
		return sqlerr.CoalesceNoPartition()
	case s.Number >= n:
		return sqlerr.DropAllPartitions()
	}
	p.Partitions = p.Partitions[:len(p.Partitions)-int(s.Number)]
	a.rebuild = true
	return nil
}

// reorganizePartitions puts new partitions in the place of others, whose rows move, see
// runMove.
func (a *alteration) reorganizePartitions(ctx context.Context, s *logical.AlterSpec) error {
	p := a.t.Partitioning
	if len(s.Partitions) == 0 {
		return sqlerr.ReorganizeNoNames()
	}
	if len(s.Partitions) > len(p.Partitions) {
		return sqlerr.ReorganizeTooMany()
	}
	at, err := a.listed(s, "REORGANIZE")
	if err != nil {
		return err
	}
	from, to := at[0], at[len(at)-1]+1
	switch {
	case to-from != len(at):
		return sqlerr.ReorganizeNotConsecutive()
	case !p.Kind.Listed() && len(s.Definitions) != len(at):
		return sqlerr.ReorganizeHashCount()
	}
	more, err := a.newPartitions(ctx, s.Definitions)
	if err != nil {
		return err
	}
	old := p.Partitions[from:to:to]
	if p.Kind == schema.PartitionRange {
		// The last one may take more than before, never less.
		same, err := define.SameBound(a.c.r.Binder, a.t, old[len(old)-1], more[len(more)-1], to == len(p.Partitions))
		if err != nil {
			return err
		}
		if !same {
			return sqlerr.ReorganizeOutsideRange()
		}
	}
	p.Named = true
	fits := true
	if !p.Kind.Listed() { // other names
		for i := range more {
			more[i].Number = old[i].Number
		}
	} else {
		fits = define.NumberPartitions(p, more, from, to)
		for i := range old {
			a.emptied = append(a.emptied, old[i].Number)
		}
	}
	p.Partitions = slices.Concat(p.Partitions[:from], more, p.Partitions[to:])
	a.renumber(!fits)
	return nil
}

// renumber gives all partitions new numbers where some did not fit between the others,
// which takes a copy.
func (a *alteration) renumber(needed bool) {
	if needed {
		define.RenumberPartitions(a.t.Partitioning)
		a.rebuild = true
	}
}

// finishPartitioning checks the partitions of the finished table and makes them part of
// its key. Errors: 1503, 1506, 3855.
func (a *alteration) finishPartitioning() error {
	t := a.t
	p := t.Partitioning
	if p == nil {
		return nil
	}
	if len(t.ForeignKeys)+len(a.newForeignKeys) > 0 || len(children(a.c.snapshot(), logical.TableName{DB: a.old.Database, Name: a.old.Name})) > 0 {
		return sqlerr.PartitionForeignKey()
	}
	if was := a.old.Partitioning; was != nil && p.Column == was.Column {
		if name := a.missing(p.Reads); name != "" && !p.OfKey {
			return sqlerr.DependentByPartitioning(name)
		}
		if p.OfKey {
			if err := define.SetKeyColumns(t, p); err != nil {
				return err
			}
		}
		a.rebuild = a.rebuild || !slices.Equal(p.Reads, was.Reads)
	}
	if err := define.CheckPartitions(a.c.r.Binder, t); err != nil {
		return err
	}
	define.KeyPartitions(t)
	return nil
}

// needsCopy reports whether partitions that were reorganized have rows. No other session
// uses the table.
func (a *alteration) needsCopy(ctx context.Context) (bool, error) {
	for _, n := range a.emptied {
		scan, err := a.c.r.Store.Latest().Scan(ctx, table.PartitionSpan(a.old.ID, schema.PrimaryIndexID, n), storage.ScanOptions{KeyOnly: true, Limit: 1})
		if err != nil {
			return false, err
		}
		found := false
		_, err = scan.Visit(ctx, func(_, _ []byte) bool {
			found = true
			return false
		})
		scan.Close()
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// movesRows reports whether the rows of some partitions can move while their old form
// is still there: not where an index has one entry for both, or a change log records
// them.
func (a *alteration) movesRows() bool {
	return !a.rebuild && len(a.build)+len(a.dropped) == 0 && !keepsOrder(a.t)
}

// runMove copies the rows of the partitions that are reorganized into the new ones, which
// are marked as removed until all rows are there: an interrupted copy is never seen.
func (a *alteration) runMove(ctx context.Context) error {
	a.c.state("copying rows of partitions")
	hidden := a.old.Clone()
	hidden.Version++
	was := a.old.Partitioning.Numbers()
	for _, n := range a.t.Partitioning.Numbers() {
		if !slices.Contains(was, n) {
			hidden.Partitioning.Removed = append(hidden.Partitioning.Removed, n)
		}
	}
	if err := a.publish(ctx, hidden); err != nil {
		return err
	}
	a.old = a.c.snapshot().TableByID(a.old.ID)
	a.t.Version = a.old.Version + 1
	if err := a.moveRows(ctx); err != nil {
		a.c.releaseTables()
		a.c.leaveRemoval(ctx, a.old)
		return err
	}
	a.removed = a.emptied
	return a.runRemoval(ctx)
}

// moveRows writes the rows of a.emptied under their new numbers.
func (a *alteration) moveRows(ctx context.Context) error {
	src, err := a.c.codec(a.old)
	if err != nil {
		return err
	}
	dst, err := a.c.codec(a.t)
	if err != nil {
		return err
	}
	of, err := define.Partitioner(a.c.r.Binder, a.t)
	if err != nil {
		return err
	}
	part := a.t.ColumnIndex(a.t.Partitioning.Column)
	place := expr.NewPartitionOf(of, of.Args())
	ec := a.c.exprCtx(ctx)
	w := &batchWriter{a: a, codec: dst}
	defer w.abort()
	local := make([]value.Datum, len(a.t.Columns))
	for _, n := range a.emptied {
		err := readSpan(ctx, a.c.r.Store, src, table.PartitionSpan(a.old.ID, schema.PrimaryIndexID, n), func(row []value.Datum) error {
			for i, d := range row {
				local[i] = a.c.toSession(d, a.t.Columns[i].Type)
			}
			number, err := expr.EvalRow(ec, place, local)
			if err != nil {
				return err
			}
			row[part] = number
			return w.insert(ctx, row)
		})
		if err != nil {
			return err
		}
	}
	return w.commit(ctx)
}

// runRemoval publishes a.t, which does not have the partitions of a.removed any more,
// and then has their rows removed. Once the first is done, the statement has succeeded.
func (a *alteration) runRemoval(ctx context.Context) error {
	r := a.c.r
	p := a.t.Partitioning
	p.Removed = slices.DeleteFunc(slices.Clone(a.old.Partitioning.Removed), func(n int64) bool { return slices.Contains(p.Numbers(), n) })
	p.Removed = append(p.Removed, a.removed...)
	r.step("before publish")
	if err := a.publish(ctx, a.t); err != nil {
		return err
	}
	r.step("after publish")
	if !keepsOrder(a.t) {
		a.c.releaseTables()
	}
	a.c.state("removing rows of partitions")
	a.c.leaveRemoval(ctx, a.t)
	return nil
}

// keepsOrder reports whether rows of removed partitions hinder new ones: an entry of a
// unique index, or a change log that has to have them first.
func keepsOrder(t *schema.Table) bool {
	return t.IsLogged() || slices.ContainsFunc(t.Indexes, func(x schema.Index) bool { return x.Unique })
}

// leaveRemoval leaves the rows of the removed partitions of t to a job. Other changes of
// the table wait for it, and all statements where keepsOrder.
func (c *change) leaveRemoval(ctx context.Context, t *schema.Table) {
	id := t.ID
	c.leave(ctx, removalName(t), func(ctx context.Context, c *change) error { return c.removePartitions(ctx, id) })
}

func removalName(t *schema.Table) string {
	return "removing partitions of " + t.Database + "." + t.Name
}

// removePartitions removes the rows of the removed partitions of a table, with all that
// belongs to them. What is interrupted can be repeated.
func (c *change) removePartitions(ctx context.Context, id schema.TableID) error {
	r := c.r
	t := r.Catalog.Snapshot().TableByID(id)
	if t == nil {
		return nil
	}
	if t.IsLogged() || len(t.Indexes) > 0 {
		codec, err := c.codec(t)
		if err != nil {
			return err
		}
		for _, n := range t.Partitioning.Removed {
			if err := c.removeRows(ctx, codec, n); err != nil {
				return err
			}
		}
	}
	if key := mdl.Key(t.Database, t.Name); !slices.Contains(c.held, key) {
		if err := c.lockBetween(ctx, key); err != nil {
			return err
		}
		defer c.unlock(key)
	}
	for _, n := range t.Partitioning.Removed {
		for _, x := range []schema.IndexID{schema.PrimaryIndexID, table.CellIndexID} {
			// Another partition may get the number.
			if err := storage.Clear(ctx, r.Store, table.PartitionSpan(t.ID, x, n)); err != nil {
				return err
			}
		}
	}
	r.step("before job end")
	return c.publish(ctx, func(ch *catalog.Change) error {
		now := ch.Base.TableByID(t.ID)
		if now == nil {
			return nil
		}
		n := now.Clone()
		n.Version++
		n.Partitioning.Removed = slices.DeleteFunc(n.Partitioning.Removed, func(k int64) bool { return slices.Contains(t.Partitioning.Removed, k) })
		ch.PutTable(n)
		return nil
	})
}

// removeRows removes the rows of a partition one by one, with their entries and their
// records in the change log.
func (c *change) removeRows(ctx context.Context, codec *table.Codec, number int64) error {
	r := c.r
	span := table.PartitionSpan(codec.Table.ID, schema.PrimaryIndexID, number)
	total := 0
	for {
		n, last, err := c.removeSome(ctx, codec, span)
		if err != nil || n == 0 {
			return err
		}
		total += n
		c.state(fmt.Sprintf("removing rows of partitions: %d rows", total))
		r.step("removed rows")
		span.Start = append(last, 0) // what is before need not be passed again
	}
}

// removeSome removes the first rows of a span in one transaction; last is the key of the
// last one.
func (c *change) removeSome(ctx context.Context, codec *table.Codec, span storage.Span) (removed int, last []byte, err error) {
	store := c.r.Store
	txn, err := store.Begin(ctx, storage.TxnOptions{Label: "schema change", Durability: storage.DurabilityWrite})
	if err != nil {
		return 0, nil, err
	}
	defer txn.Rollback()
	w := codec.NewWriter(txn, store.Caps())
	rd := codec.NewRowReader()
	row := make([]value.Datum, len(codec.Columns))
	snap, err := store.Snapshot(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer snap.Close()
	scan, err := snap.Scan(ctx, span, storage.ScanOptions{Cold: true})
	if err != nil {
		return 0, nil, err
	}
	defer scan.Close()
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		if bad = rd.Fetch(ctx, snap, key, val, row); bad != nil {
			return false
		}
		if bad = w.Delete(ctx, row); bad != nil {
			return false
		}
		removed, last = removed+1, append(last[:0], key...)
		return removed < copyRows && txn.Size() < copyBytes
	})
	if err = errors.Join(bad, err); err != nil || removed == 0 {
		return 0, nil, err
	}
	_, err = txn.Commit(ctx)
	return removed, last, err
}

// resumePartitions makes the removals of the rows of partitions that a crash has left.
func (r *Runner) resumePartitions(ctx context.Context) error {
	for _, d := range r.Catalog.Snapshot().Databases() {
		for _, t := range r.Catalog.Snapshot().Tables(d.Name) {
			if t.Partitioning == nil || len(t.Partitioning.Removed) == 0 {
				continue
			}
			keys := []string{mdl.ChangeKey(t.Database, t.Name)}
			if keepsOrder(t) {
				keys = append(keys, mdl.Key(t.Database, t.Name))
			}
			c, id := r.remover(), t.ID
			if err := c.lock(ctx, keys...); err != nil {
				return err
			}
			r.removals = append(r.removals, removal{c, removalName(t), func(ctx context.Context, c *change) error {
				if err := c.removePartitions(ctx, id); err != nil {
					return err
				}
				r.Log.Info("removed the rows of partitions", "event", "ddl.cleaned", "table", id)
				return nil
			}})
		}
	}
	return nil
}

// isRemoved reports a row of a removed partition.
func isRemoved(t *schema.Table, row []value.Datum) bool {
	p := t.Partitioning
	return p != nil && len(p.Removed) > 0 && slices.Contains(p.Removed, row[t.ColumnIndex(p.Column)].Int())
}

// repartitions reports PARTITION BY and REMOVE PARTITIONING.
func (a *alteration) repartitions() bool {
	was, now := a.old.Partitioning, a.t.Partitioning
	return (was == nil) != (now == nil) || was != nil && was.Column != now.Column
}

// samePartitions reports whether all rows have the same numbers under both.
func samePartitions(a, b *schema.Partitioning) bool {
	plain := func(p *schema.Partitioning) *schema.Partitioning {
		if p = p.Clone(); p != nil {
			p.Removed, p.Named = nil, false
			for i := range p.Partitions {
				x := &p.Partitions[i]
				*x = schema.Partition{Number: x.Number, Less: x.Less, In: x.In}
			}
		}
		return p
	}
	return reflect.DeepEqual(plain(a), plain(b))
}
