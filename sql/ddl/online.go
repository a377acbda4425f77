package ddl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage/table"
)

// New indexes are built online also next to clauses that need no data of their
// own: while it lasts the table is as it was, with the indexes as being built
// and the columns that they need and the table has not yet, hidden. All else
// comes with the indexes, at the end.

// building is the table while its new indexes are built; nil when that cannot
// be while others use the table.
func (a *alteration) building() *schema.Table {
	switch {
	case len(a.build) == 0, a.c.r.temporary, a.rebuild, a.validate, len(a.notNull) > 0, a.numbered != 0:
		return nil
	case len(unfinishedIndexes(a.old)) > 0, len(a.newForeignKeys) > 0, len(a.children) > 0, len(a.related()) > 0:
		return nil
	case a.old.IsLogged() != a.t.IsLogged(), !reflect.DeepEqual(a.old.Stream, a.t.Stream), a.old.MaxVersions != a.t.MaxVersions:
		return nil
	}
	for i := range a.old.Columns {
		was := &a.old.Columns[i]
		now := a.t.Column(was.ID)
		if now != nil && (!sameType(was.Type, now.Type) || was.Nullable != now.Nullable || !sameRule(was.Generated, now.Generated)) {
			return nil
		}
	}
	t := a.old.Clone()
	t.NextColumnID, t.NextIndexID, t.Version = a.t.NextColumnID, a.t.NextIndexID, a.old.Version+1
	for _, id := range a.build {
		x := *indexByID(a.t.Clone(), id)
		x.State = schema.IndexBuilding
		for t.IndexByName(x.Name) != nil {
			x.Name = fmt.Sprintf("%s (%d)", x.Name, id) // the name of one that goes
		}
		t.Indexes = append(t.Indexes, x)
		ids := slices.Clone(x.Include)
		for _, p := range x.Parts {
			ids = append(ids, p.Column)
		}
		if x.Where != 0 {
			ids = append(ids, x.Where)
		}
		for _, c := range ids {
			if !a.lend(t, c) {
				return nil
			}
		}
	}
	return t
}

func sameRule(a, b *schema.Generated) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Expr == b.Expr && a.Stored == b.Stored
}

// lend gives t a new column, hidden. Rows that are written meanwhile have the
// value in it that all others get. false: it cannot be.
func (a *alteration) lend(t *schema.Table, id schema.ColumnID) bool {
	if t.ColumnIndex(id) >= 0 {
		return true
	}
	c := a.t.Clone().Column(id)
	if c == nil || c.Attributes {
		return false
	}
	if g := c.Generated; g != nil {
		for _, read := range g.Reads {
			was, now := a.old.Column(read), a.t.Column(read)
			if was == nil || now == nil || was.Name != now.Name || was.Hidden {
				return false
			}
		}
	} else {
		c.Default = &schema.Default{Null: true}
		if d := c.AddedDefault; d != nil {
			if len(d.Literal)+len(d.Expr) > table.CellThreshold {
				return false
			}
			added := *d
			c.Default = &added
		}
	}
	for t.ColumnByName(c.Name) >= 0 {
		c.Name = fmt.Sprintf("%s (%d)", c.Name, id) // the name of one that goes
	}
	c.Hidden, c.Invisible, c.AutoIncrement, c.OnUpdateNow = true, false, false, false
	t.Columns = append(t.Columns, *c)
	return true
}

// addOnline adds indexes, with all else that the statement changes, while the
// table is written to. The table is taken alone only to publish that they are
// being built, and that they are there.
func (a *alteration) addOnline(ctx context.Context, building *schema.Table) error {
	r := a.c.r
	final, err := json.Marshal(a.t)
	if err != nil {
		return err
	}
	b := &Build{r: r, table: a.old.ID, rec: buildRecord{Indexes: a.build, Statement: a.c.env.Statement, Started: r.now().UnixMicro(), Estimate: r.rows(ctx, a.old),
		Final: final, Version: building.Version, AutoIncrement: a.autoNext, Dropped: a.dropped}}
	b.status = r.builds.add(b, a.t)
	// The new descriptors allow what is being built: they are checked before.
	for _, t := range []*schema.Table{building, a.t} {
		if _, err := a.c.codec(t); err != nil {
			b.status.end(buildUndone, err)
			return err
		}
	}
	err = b.put(ctx, false)
	if err == nil {
		err = a.c.lock(ctx, mdl.Key(a.old.Database, a.old.Name))
	}
	if err == nil {
		r.step("before building")
		err = (&alteration{c: a.c, old: a.old, t: building}).publish(ctx, building)
	}
	if err != nil {
		b.status.end(buildUndone, err)
		return errors.Join(err, b.put(ctx, true))
	}
	a.c.unlock(mdl.Key(a.old.Database, a.old.Name))
	r.step("building")
	return b.run(ctx, a.c)
}

// final is the alteration that ends the build: from t, the present table.
func (b *Build) final(c *change, t *schema.Table) (*alteration, error) {
	a := &alteration{c: c, old: t, t: t.Clone(), build: b.rec.Indexes, dropped: b.rec.Dropped, autoNext: b.rec.AutoIncrement}
	if b.rec.Final == nil { // of an earlier version: nothing but indexes
		for _, id := range b.rec.Indexes {
			indexByID(a.t, id).State = schema.IndexPublic
		}
		a.t.Version++
		return a, nil
	}
	if t.Version != b.rec.Version {
		return nil, sqlerr.Internal("table %s.%s changed while its index was built", t.Database, t.Name)
	}
	a.t = &schema.Table{}
	d := json.NewDecoder(bytes.NewReader(b.rec.Final))
	if err := d.Decode(a.t); err != nil {
		return nil, fmt.Errorf("the table after an index build: %w", err)
	}
	a.t.Version = t.Version + 1
	if a.t.Database != t.Database || a.t.Name != t.Name {
		a.target = &logical.TableName{DB: a.t.Database, Name: a.t.Name}
	}
	return a, nil
}

// publish takes the table alone, merges what is left and gives it its final
// form.
func (b *Build) publish(ctx context.Context, c *change) error {
	b.status.set(buildReady)
	if err := b.lock(ctx, c); err != nil {
		return err
	}
	t, err := b.descriptor()
	if err != nil {
		return err
	}
	a, err := b.final(c, t)
	if err != nil {
		return err
	}
	err = b.withoutExpired(ctx, c, func() error {
		build, err := b.builder(ctx, c)
		if err != nil {
			return err
		}
		build.Hurry()
		return build.MergeAll(ctx)
	})
	if err != nil {
		return err
	}
	cells, err := a.droppedCells(ctx)
	if err != nil {
		return err
	}
	gone := slices.Concat(b.gone(), cells)
	if err := b.r.openJobs(ctx, gone...); err != nil {
		return err
	}
	b.r.step("before publish")
	err = context.Cause(ctx)
	if err == nil {
		err = a.setNext(ctx)
	}
	if err == nil {
		err = a.publish(ctx, a.t)
	}
	if err != nil {
		b.r.closeJobs(ctx, gone...)
		return err
	}
	b.cells = func() { b.r.removeCells(t, cells) }
	return nil
}

// withoutExpired is that of the change, where the table goes on hiding rows.
func (b *Build) withoutExpired(ctx context.Context, c *change, do func() error) error {
	t, err := b.descriptor()
	if err != nil {
		return err
	}
	a, err := b.final(c, t)
	if err != nil {
		return err
	}
	if !c.hides(t, a.t) {
		return do()
	}
	return c.withoutExpired(ctx, t, do)
}

// named gives the index of a duplicate the name that it will have.
func (b *Build) named(dup *table.DuplicateError) {
	var final schema.Table
	if dup.Index == nil || b.rec.Final == nil || json.Unmarshal(b.rec.Final, &final) != nil {
		return
	}
	if x := indexByID(&final, dup.Index.ID); x != nil {
		dup.Index = x
	}
}

// gone are the indexes whose entries go with the build.
func (b *Build) gone() (jobs []job) {
	for _, id := range b.rec.Dropped {
		jobs = append(jobs, job{table: b.table, index: id})
	}
	return jobs
}

// names are the tables that the build publishes: the one that it is of, and the
// name that this gets.
func (b *Build) names(t *schema.Table) []logical.TableName {
	out := []logical.TableName{{DB: t.Database, Name: t.Name}}
	var to struct{ Database, Name string }
	if b.rec.Final != nil && json.Unmarshal(b.rec.Final, &to) == nil && (to.Database != t.Database || to.Name != t.Name) {
		out = append(out, logical.TableName{DB: to.Database, Name: to.Name})
	}
	return out
}
