package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// alteration is ALTER TABLE on its way: the clauses change t, a copy of old,
// and note what the data needs.
type alteration struct {
	c   *change
	old *schema.Table
	t   *schema.Table
	// rebuild: the rows have to be copied into a new table.
	rebuild bool
	// fresh are the columns that this statement adds.
	fresh map[schema.ColumnID]bool
	// notNull are nullable columns that become NOT NULL: a NULL is 1138.
	notNull map[schema.ColumnID]bool
	// promoted are new columns that take their values from attributes.
	promoted map[schema.ColumnID]bool
	// numbered is the column that becomes AUTO_INCREMENT: 0 and NULL get
	// numbers.
	numbered schema.ColumnID
	// build are the indexes whose entries have to be made; dropped those whose
	// entries go.
	build, dropped []schema.IndexID
	// remade are the indexes that stand for an old one that lost a column.
	remade map[schema.IndexID]schema.IndexID
	// renamed are the columns that a RENAME COLUMN has used up.
	renamed []schema.ColumnID
	ordered bool // ORDER BY has its warning
	changed bool
	// algorithm and lock are what the statement requires, see promises.
	algorithm, lock string
	target          *logical.TableName
	autoNext        uint64
	// newChecks are constraints to be added; validate: the rows have to be
	// tested against the constraints.
	newChecks []*logical.AlterSpec
	validate  bool
	// newForeignKeys are added at the end, as newKeyNames; children are other
	// tables whose foreign keys follow a column's new name.
	newForeignKeys []logical.ForeignKeyDef
	// removed are the numbers of partitions whose rows go, emptied those of partitions
	// that are gone and must not have rows.
	removed, emptied []int64
	newKeyNames      []string
	children         []*schema.Table
}

func (c *change) alterTable(ctx context.Context, x *logical.AlterTable) (uint64, error) {
	if isSystem(x.Table.DB) {
		return 0, c.denied(x.Table.DB)
	}
	keys := []string{mdl.ChangeKey(x.Table.DB, x.Table.Name)}
	for _, s := range x.Specs {
		if s.Kind == logical.AlterRenameTable {
			if isSystem(s.Table.DB) {
				return 0, c.denied(s.Table.DB)
			}
			keys = append(keys, mdl.ChangeKey(s.Table.DB, s.Table.Name))
		}
		if s.Kind == logical.AlterAddForeignKey {
			keys = append(keys, mdl.ChangeKey(s.ForeignKey.Table.DB, s.ForeignKey.Table.Name))
		}
	}
	for _, n := range children(c.snapshot(), x.Table) {
		keys = append(keys, mdl.ChangeKey(n.DB, n.Name))
	}
	if err := c.lock(ctx, keys...); err != nil {
		return 0, err
	}
	old, err := findTable(c.snapshot(), x.Table)
	if err != nil {
		return 0, err
	}
	a := &alteration{c: c, old: old, t: old.Clone(), fresh: map[schema.ColumnID]bool{}, notNull: map[schema.ColumnID]bool{}, promoted: map[schema.ColumnID]bool{},
		remade: map[schema.IndexID]schema.IndexID{}, algorithm: strings.ToUpper(x.Algorithm), lock: strings.ToUpper(x.Lock)}
	a.dropUnfinished()
	define.UnkeyPartitions(a.t)
	for i := range x.Specs {
		apply := a.apply
		if x.Specs[i].Kind.IsPartitionClause() {
			apply = func(s *logical.AlterSpec) error { return a.partitionClause(ctx, s) }
		}
		if err := apply(&x.Specs[i]); err != nil {
			return 0, err
		}
	}
	if err := a.finish(); err != nil {
		return 0, err
	}
	if !a.changed {
		return 0, nil
	}
	building := a.building()
	if err := a.promises(building != nil); err != nil {
		return 0, err
	}
	if building == nil {
		return a.runLocked(ctx)
	}
	return 0, a.addOnline(ctx, building)
}

// dropUnfinished takes out indexes that an earlier statement could not take
// back.
func (a *alteration) dropUnfinished() {
	forgetNext(a.t)
	n := withoutUnfinished(a.old)
	if n == nil {
		return
	}
	forgetNext(n)
	a.t, a.changed = n, true
	for _, x := range a.old.Indexes {
		if x.State != schema.IndexPublic {
			a.dropped = append(a.dropped, x.ID)
		}
	}
}

// apply runs one clause on the copy. Columns and indexes to be changed are
// named as they were before the statement, whatever the order of the clauses:
// so MySQL does it, and names can be swapped.
func (a *alteration) apply(s *logical.AlterSpec) error {
	switch s.Kind {
	case logical.AlterKeysSwitch:
		a.c.note(sqlerr.NoTableOption(a.old.Name))
		return nil
	case logical.AlterOrder:
		return a.order(s.Name)
	case logical.AlterNoOp:
		return nil
	}
	if err := a.keepsAttributes(s); err != nil {
		return err
	}
	switch s.Kind {
	case logical.AlterAddColumn:
		return a.addColumn(s)
	case logical.AlterDropColumn:
		return a.dropColumn(s)
	case logical.AlterRenameColumn:
		return a.renameColumn(s)
	case logical.AlterModifyColumn:
		return a.modifyColumn(s)
	case logical.AlterSetDefault, logical.AlterDropDefault:
		return a.setDefault(s)
	case logical.AlterColumnVisibility:
		return a.setColumnVisibility(s)
	case logical.AlterAddIndex:
		return a.addIndex(s)
	case logical.AlterDropIndex:
		return a.dropIndex(s)
	case logical.AlterRenameIndex:
		return a.renameIndex(s)
	case logical.AlterSearchFields:
		return a.alterSearch(s)
	case logical.AlterIndexVisibility:
		return a.setVisibility(s)
	case logical.AlterAddForeignKey:
		a.newForeignKeys, a.changed = append(a.newForeignKeys, s.ForeignKey), true
		return nil
	case logical.AlterDropForeignKey:
		return a.dropForeignKey(s)
	case logical.AlterAddPrimaryKey:
		return a.addPrimaryKey(s.IndexColumns)
	case logical.AlterDropPrimaryKey:
		return a.dropPrimaryKey()
	case logical.AlterAddCheck:
		a.addCheck(s)
		return nil
	case logical.AlterDropCheck:
		return a.dropCheck(s)
	case logical.AlterConstraint:
		return a.dropConstraint(s)
	case logical.AlterEnforceCheck:
		return a.enforceCheck(s)
	}
	return a.applyOption(s)
}

// order is ORDER BY a column. Rows are kept in the order of their primary key, as
// InnoDB's are, which does not look at the column when there is one; rows without
// one stay in the order in which they came.
func (a *alteration) order(column string) error {
	if a.t.HasHiddenKey() {
		if a.findColumn(column) < 0 {
			return sqlerr.UnknownColumn(column, "order clause")
		}
		return sqlerr.NotSupported("ALTER TABLE … ORDER BY without a primary key")
	}
	if !a.ordered {
		a.ordered = true
		a.c.warn(sqlerr.LevelWarning, sqlerr.OrderIgnored(a.old.Name))
	}
	return nil
}

func (a *alteration) applyOption(s *logical.AlterSpec) error {
	switch s.Kind {
	case logical.AlterRenameTable:
		if s.Table.DB != a.old.Database || s.Table.Name != a.old.Name {
			a.target, a.changed = &s.Table, true
		}
	case logical.AlterAutoIncrement:
		a.autoNext, a.changed = max(s.Number, 1), true
	case logical.AlterAttributes:
		return a.setAttributes(s)
	case logical.AlterTTL:
		a.changed = true
		return define.SetTTL(a.c.r.Binder, a.t, s.TTL)
	case logical.AlterComment:
		a.t.Comment, a.changed = s.Text, true
	case logical.AlterEngine:
		a.t.Engine, a.changed = s.Text, true
	case logical.AlterDefaultCharset:
		a.t.Collation, a.changed = s.Collation, true
	case logical.AlterConvertCharset:
		return a.convertCharset(s.Collation)
	default:
		return sqlerr.NotSupported("this clause of ALTER TABLE")
	}
	return nil
}

// convertCharset is CONVERT TO CHARACTER SET: all character columns but those
// of type JSON and binary strings take the new collation. A TEXT column grows
// where its bytes might not fit any more, as MySQL does. 1074.
func (a *alteration) convertCharset(coll schema.CollationID) error {
	a.t.Collation, a.changed = coll, true
	for i := range a.t.Columns {
		c := &a.t.Columns[i]
		if !c.Type.IsCharacter() && c.Type.ID != schema.TypeEnum && c.Type.ID != schema.TypeSet || c.Type.Collation == coll {
			continue
		}
		if grows(c.Type.Collation, coll) {
			switch c.Type.ID {
			case schema.TypeTinyText:
				c.Type.ID = schema.TypeText
			case schema.TypeText:
				c.Type.ID = schema.TypeMediumText
			case schema.TypeMediumText:
				c.Type.ID = schema.TypeLongText
			}
		}
		if limit := maxRowBytes / maxBytes(coll); c.Type.ID == schema.TypeVarchar && c.Type.Len > limit {
			return sqlerr.ColumnTooLong(c.Name, limit)
		}
		if err := convertMembers(c, coll); err != nil {
			return err
		}
		c.Type.Collation = coll
		a.rebuild = true
	}
	return nil
}

// convertMembers gives the members of ENUM and SET the bytes of another character set:
// 1300 for one that it lacks.
func convertMembers(c *schema.Column, coll schema.CollationID) error {
	members := slices.Clone(c.Type.Elems)
	for i, e := range members {
		text, lost := collate.Must(c.Type.Collation).Convert(nil, []byte(e), collate.Must(coll))
		if lost >= 0 {
			return sqlerr.InvalidCharacterString(collate.Must(coll).Charset, define.InvalidText([]byte(e)))
		}
		members[i] = string(text)
	}
	c.Type.Elems = members
	return nil
}

// finish completes the copy after the last clause and checks it as a whole.
func (a *alteration) finish() error {
	t := a.t
	if len(t.PrimaryKey) == 0 {
		a.addHiddenKey()
	}
	if err := a.checkColumns(); err != nil {
		return err
	}
	if err := a.checkAttributeNames(); err != nil {
		return err
	}
	if err := checkRowSize(t, a.old); err != nil {
		return err
	}
	if err := a.checkKeys(); err != nil {
		return err
	}
	if err := a.finishPartitioning(); err != nil {
		return err
	}
	if err := a.checkSearch(); err != nil {
		return err
	}
	if err := a.finishGenerated(); err != nil {
		return err
	}
	if err := a.finishChecks(); err != nil {
		return err
	}
	if err := a.finishForeignKeys(); err != nil {
		return err
	}
	if err := a.c.checkIndexes(t, a.old); err != nil {
		return err
	}
	if err := a.checkTTL(); err != nil {
		return err
	}
	a.c.warnDuplicates(t, func(x *schema.Index) bool {
		_, remade := a.remade[x.ID]
		return !remade && slices.Contains(a.build, x.ID)
	})
	if a.target != nil {
		if err := checkTarget(a.c.snapshot(), *a.target); err != nil {
			return err
		}
		t.Database, t.Name = a.target.DB, a.target.Name
		renameForeignKeys(t, logical.TableName{DB: a.old.Database, Name: a.old.Name}, *a.target)
	}
	if a.autoNext > 0 {
		t.AutoIncrement = a.autoNext
	}
	t.Version = a.old.Version + 1
	return nil
}

// lockAll takes the table, and the new name, alone.
func (a *alteration) lockAll(ctx context.Context) error {
	keys := []string{mdl.Key(a.old.Database, a.old.Name)}
	if a.target != nil {
		keys = append(keys, mdl.Key(a.target.DB, a.target.Name))
	}
	for _, n := range a.related() {
		keys = append(keys, mdl.Key(n.DB, n.Name))
	}
	return a.c.lock(ctx, keys...)
}

// runLocked does the alteration while no other session uses the table: by a copy,
// or by building indexes in place, or by publishing alone.
func (a *alteration) runLocked(ctx context.Context) (uint64, error) {
	if err := a.lockAll(ctx); err != nil {
		return 0, err
	}
	r := a.c.r
	if !a.rebuild && (len(a.notNull) > 0 || a.numbered != 0) {
		a.rebuild = true
	}
	if a.readsRows() && a.c.hides(a.old, a.t) {
		if _, err := a.c.removeExpired(ctx, a.old); err != nil {
			return 0, err
		}
	}
	if full, err := a.needsCopy(ctx); err != nil {
		return 0, err
	} else if full && a.movesRows() {
		return 0, a.runMove(ctx)
	} else if full {
		a.rebuild = true
	}
	if a.rebuild {
		return a.runRebuild(ctx)
	}
	if len(a.removed) > 0 {
		return 0, a.runRemoval(ctx)
	}
	if a.validate {
		if err := a.validateRows(ctx); err != nil {
			return 0, err
		}
	}
	var made, gone []job
	for _, id := range a.build {
		made = append(made, job{table: a.old.ID, index: id})
	}
	for _, id := range a.dropped {
		gone = append(gone, job{table: a.old.ID, index: id})
	}
	cells, err := a.droppedCells(ctx)
	if err != nil {
		return 0, err
	}
	if r.temporary {
		cells = nil // they stay until the table goes
	}
	if err := r.openJobs(ctx, slices.Concat(made, gone, cells)...); err != nil {
		return 0, err
	}
	if len(a.build) > 0 {
		r.step("before backfill")
		if err := a.backfill(ctx); err != nil {
			r.closeJobs(ctx, slices.Concat(gone, cells)...)
			a.c.releaseTables()
			a.c.finish(ctx, made...)
			return 0, a.indexError(err)
		}
	}
	r.step("before publish")
	err = a.validateForeignKeys(ctx)
	if err == nil {
		err = a.setNext(ctx)
	}
	if err == nil {
		err = a.publish(ctx, a.t)
	}
	if err != nil {
		r.closeJobs(ctx, slices.Concat(gone, cells)...)
		a.c.releaseTables()
		a.c.finish(ctx, made...)
		return 0, err
	}
	a.c.releaseTables()
	r.step("after publish")
	r.closeJobs(ctx, made...)
	a.c.finish(ctx, gone...)
	r.removeCells(a.old, cells)
	return 0, nil
}

// readsRows reports whether a row may make the alteration fail.
func (a *alteration) readsRows() bool {
	return a.rebuild || a.validate || len(a.build) > 0 || len(a.newKeyNames) > 0
}

// publish replaces the table by t.
func (a *alteration) publish(ctx context.Context, t *schema.Table) error {
	return a.c.publish(ctx, func(ch *catalog.Change) error {
		if cur := ch.Base.TableByID(a.old.ID); cur != a.old {
			return sqlerr.Internal("table %s.%s changed during ALTER TABLE", a.old.Database, a.old.Name)
		}
		if a.target != nil {
			if err := checkTarget(ch.Base, *a.target); err != nil {
				return err
			}
		}
		if err := checkNames(ch.Base, t, a.old.ID); err != nil {
			return err
		}
		a.numberStream(ch, t)
		if t.ID != a.old.ID {
			ch.Replace(a.old, t, false)
		} else {
			ch.PutTable(t)
		}
		for _, child := range a.children {
			ch.PutTable(child)
		}
		if a.target == nil {
			return nil
		}
		renameParent(ch, logical.TableName{DB: a.old.Database, Name: a.old.Name}, *a.target)
		return a.c.adoptChildren(ch.Base, t)
	})
}

// setNext gives effect to AUTO_INCREMENT = n.
func (a *alteration) setNext(ctx context.Context) error {
	if a.autoNext == 0 {
		return nil
	}
	return a.c.r.raiseAutoIncrement(ctx, a.t, a.autoNext)
}

// findColumn is the column that a clause means, by its position in t: the one
// that had the name before the statement. -1 if none exists.
func (a *alteration) findColumn(name string) int {
	if i := a.old.ColumnByName(name); i >= 0 && !a.old.Columns[i].Hidden {
		return a.t.ColumnIndex(a.old.Columns[i].ID)
	}
	return -1
}

// findIndex is findColumn for indexes. One that was made again, because a
// clause dropped a column of it, has another id.
func (a *alteration) findIndex(name string) int {
	x := a.old.IndexByName(name)
	if x == nil {
		return -1
	}
	for i := range a.t.Indexes {
		if a.t.Indexes[i].ID == x.ID || a.remade[a.t.Indexes[i].ID] == x.ID {
			return i
		}
	}
	return -1
}

func isHiddenKey(c *schema.Column) bool { return c.Hidden && c.Name == schema.HiddenKeyColumn }
