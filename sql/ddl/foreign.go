package ddl

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// addForeignKey adds a foreign key to t, whose columns and keys are all there. If
// no key finds the rows, it makes one.
func (c *change) addForeignKey(s *catalog.Snapshot, t *schema.Table, def *logical.ForeignKeyDef, addIndex func(schema.Index) error) error {
	if c.r.temporary {
		return sqlerr.NotSupported("foreign key of a temporary table")
	}
	k := schema.ForeignKey{Name: def.Name, Database: def.Table.DB, Table: def.Table.Name, OnDelete: def.OnDelete, OnUpdate: def.OnUpdate}
	if k.Name == "" {
		k.Name = generatedName(t)
	}
	if err := checkForeignKeyName(s, t, k.Name); err != nil {
		return err
	}
	for _, name := range def.Columns {
		i := t.ColumnByName(name)
		if i < 0 || t.Columns[i].Hidden {
			return sqlerr.KeyColumnMissing(name)
		}
		if k.Uses(t.Columns[i].ID) {
			return sqlerr.DuplicateColumn(name)
		}
		k.Columns = append(k.Columns, t.Columns[i].ID)
		if (k.OnDelete == schema.ActionSetNull || k.OnUpdate == schema.ActionSetNull) && !t.Columns[i].Nullable {
			return sqlerr.ForeignKeyNotNull(name, k.Name)
		}
	}
	k.References = slices.Clone(def.References)
	parent := t
	if !k.RefersTo(t.Database, t.Name) {
		parent, _ = s.Table(k.Database, k.Table)
	}
	switch {
	case parent != nil:
		if err := c.checkParent(t, &k, parent); err != nil {
			return err
		}
	case c.env.ForeignKeyChecks:
		return sqlerr.ForeignKeyNoParent(k.Table)
	}
	if _, ok := t.KeyStarting(k.Columns, false); !ok {
		x := schema.Index{Name: define.IndexName(t, t.Column(k.Columns[0]).Name), Generated: true}
		if def.Name != "" {
			if t.IndexByName(def.Name) != nil {
				return sqlerr.DuplicateKeyName(def.Name)
			}
			x.Name = def.Name
		}
		cols := make([]define.IndexColumn, len(def.Columns))
		for i, name := range def.Columns {
			cols[i].Name = name
		}
		var err error
		if x.Parts, err = define.ResolveKey(t, cols); err != nil {
			return err
		}
		if err := addIndex(x); err != nil {
			return err
		}
	}
	t.ForeignKeys = append(t.ForeignKeys, k)
	return actionsFit(t, &k)
}

// actionsFit: what an action of k writes is neither computed nor read, be it by
// way of virtual columns, by stored columns and checks, which an action leaves
// alone. 3733, 3104, 3823, 1215.
func actionsFit(t *schema.Table, k *schema.ForeignKey) error {
	for _, id := range k.Columns {
		c := t.Column(id)
		if c.IsVirtual() {
			return sqlerr.ForeignKeyVirtualColumn(k.Name, c.Name)
		}
		if !k.OnDelete.Writes() && !k.OnUpdate.Writes() {
			continue
		}
		if c.Generated != nil {
			return sqlerr.ForeignKeyOnGenerated(actionClause(k))
		}
		written := []schema.ColumnID{id} // and the virtual columns that follow it
		for i := range t.Columns {
			g := t.Columns[i].Generated
			switch {
			case g == nil || !readsAny(g.Reads, written):
			case g.Stored:
				return sqlerr.CannotAddForeignKey()
			default:
				written = append(written, t.Columns[i].ID)
			}
		}
		for i := range t.Checks {
			if readsAny(t.Checks[i].Reads, written) {
				return sqlerr.CheckOnForeignKey(c.Name, t.Checks[i].Name, k.Name)
			}
		}
	}
	return nil
}

func readsAny(reads, written []schema.ColumnID) bool {
	return slices.ContainsFunc(reads, func(id schema.ColumnID) bool { return slices.Contains(written, id) })
}

func actionClause(k *schema.ForeignKey) string {
	if k.OnUpdate.Writes() {
		return "ON UPDATE " + k.OnUpdate.String()
	}
	return "ON DELETE " + k.OnDelete.String()
}

// generatedName is the name of a foreign key without one.
func generatedName(t *schema.Table) string {
	n := uint64(0)
	for i := range t.ForeignKeys {
		if rest, ok := strings.CutPrefix(t.ForeignKeys[i].Name, t.Name+"_ibfk_"); ok {
			if v, err := strconv.ParseUint(rest, 10, 32); err == nil {
				n = max(n, v)
			}
		}
	}
	return t.Name + "_ibfk_" + strconv.FormatUint(n+1, 10)
}

// checkForeignKeyName: names are unique in a database. 1826.
func checkForeignKeyName(s *catalog.Snapshot, t *schema.Table, name string) error {
	taken := t.ForeignKeyByName(name) != nil
	for _, o := range s.Tables(t.Database) {
		if o.ID != t.ID || t.ID == 0 {
			taken = taken || o.ForeignKeyByName(name) != nil
		}
	}
	if taken {
		return sqlerr.ForeignKeyDuplicateName(name)
	}
	return nil
}

// checkParent: the parent has the columns, of fitting types, and a unique key of
// them, or any where restrict_fk_on_non_standard_key is off. 3734, 3780, 1822,
// 6125; warning 6124.
func (c *change) checkParent(t *schema.Table, k *schema.ForeignKey, parent *schema.Table) error {
	if parent.Partitioning != nil {
		return sqlerr.PartitionForeignKey()
	}
	if parent.TTL != nil {
		return sqlerr.TTLOfParent()
	}
	var ids []schema.ColumnID
	for i, name := range k.References {
		at := parent.ColumnByName(name)
		if at < 0 || parent.Columns[at].Hidden {
			return sqlerr.ForeignKeyNoParentColumn(name, k.Name, parent.Name)
		}
		if parent.Columns[at].IsVirtual() {
			return sqlerr.ForeignKeyVirtualColumn(k.Name, name)
		}
		child := t.Column(k.Columns[i])
		if !compatible(child.Type, parent.Columns[at].Type) {
			return sqlerr.ForeignKeyIncompatible(child.Name, name, k.Name)
		}
		ids = append(ids, parent.Columns[at].ID)
	}
	_, loose, ok := parent.ParentKey(ids)
	switch {
	case !ok:
		return sqlerr.ForeignKeyNoParentIndex(k.Name, parent.Name)
	case loose && c.env.RestrictForeignKeys:
		return sqlerr.ForeignKeyNoUniqueParent(k.Name, parent.Name)
	case loose:
		c.warn(sqlerr.LevelWarning, sqlerr.ForeignKeyLooseParent(k.Name))
	}
	return nil
}

// compatible reports whether columns of two types can refer to each other: the
// lengths of strings need not be the same, all else must be.
func compatible(a, b schema.Type) bool {
	switch {
	case a.IsString() && b.IsString():
		return a.IsCharacter() == b.IsCharacter() && a.Collation == b.Collation
	case a.ID != b.ID || a.Unsigned != b.Unsigned:
		return false
	case a.ID == schema.TypeDecimal:
		return a.Len == b.Len && a.Scale == b.Scale
	}
	return true
}

// changesKey reports whether another type of a column of a foreign key might
// change its values: all but longer VARCHARs may.
func changesKey(was, now schema.Type) bool {
	if !compatible(was, now) || was.ID != now.ID {
		return true
	}
	switch was.ID {
	case schema.TypeChar, schema.TypeBinary:
		return was.Len != now.Len
	case schema.TypeVarchar, schema.TypeVarbinary:
		return now.Len < was.Len || columnBytes(was)-was.Len*maxBytes(was.Collation) != columnBytes(now)-now.Len*maxBytes(now.Collation)
	}
	return false
}

// adoptChildren checks the foreign keys that have waited for a table of t's
// name.
func (c *change) adoptChildren(s *catalog.Snapshot, t *schema.Table) error {
	for _, child := range s.Children(t.Database, t.Name) {
		for i := range child.ForeignKeys {
			if k := &child.ForeignKeys[i]; k.RefersTo(t.Database, t.Name) && child.ID != t.ID {
				if err := c.checkParent(child, k, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// parents are the other tables that definitions refer to, as far as they exist.
func parents(s *catalog.Snapshot, name logical.TableName, defs []logical.ForeignKeyDef) []logical.TableName {
	var out []logical.TableName
	for i := range defs {
		p := defs[i].Table
		if _, ok := s.Table(p.DB, p.Name); ok && p != name && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// children are the other tables that refer to a table.
func children(s *catalog.Snapshot, n logical.TableName) []logical.TableName {
	var out []logical.TableName
	for _, t := range s.Children(n.DB, n.Name) {
		if c := (logical.TableName{DB: t.Database, Name: t.Name}); c != n {
			out = append(out, c)
		}
	}
	return out
}

// keepsChildren refuses to take tables away from those that refer to them: 3730.
func (c *change) keepsChildren(s *catalog.Snapshot, tables []*schema.Table) error {
	if !c.env.ForeignKeyChecks {
		return nil
	}
	for _, t := range tables {
		for _, child := range s.Children(t.Database, t.Name) {
			if slices.Contains(tables, child) {
				continue
			}
			for i := range child.ForeignKeys {
				if k := &child.ForeignKeys[i]; k.RefersTo(t.Database, t.Name) {
					return sqlerr.CannotDropParent(t.Name, k.Name, child.Name)
				}
			}
		}
	}
	return nil
}

// truncatesParent: 1701.
func (c *change) truncatesParent(s *catalog.Snapshot, t *schema.Table) error {
	if !c.env.ForeignKeyChecks {
		return nil
	}
	for _, child := range s.Children(t.Database, t.Name) {
		for i := range child.ForeignKeys {
			if k := &child.ForeignKeys[i]; child.ID != t.ID && k.RefersTo(t.Database, t.Name) {
				return sqlerr.CannotTruncateParent("`" + child.Database + "`.`" + child.Name + "`, CONSTRAINT `" + k.Name + "`")
			}
		}
	}
	return nil
}

// renameForeignKeys lets t's own foreign keys follow its new name: those that
// refer to itself, and generated names.
func renameForeignKeys(t *schema.Table, from, to logical.TableName) {
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		if k.RefersTo(from.DB, from.Name) {
			k.Database, k.Table = to.DB, to.Name
		}
		if rest, ok := strings.CutPrefix(k.Name, from.Name+"_ibfk_"); ok {
			k.Name = to.Name + "_ibfk_" + rest
		}
	}
}

// renameParent lets the foreign keys of other tables follow a new name.
func renameParent(ch *catalog.Change, from, to logical.TableName) {
	for _, d := range ch.Current().Databases() {
		for _, t := range ch.Current().Tables(d.Name) {
			n := t.Clone()
			found := false
			for i := range n.ForeignKeys {
				if k := &n.ForeignKeys[i]; k.RefersTo(from.DB, from.Name) {
					k.Database, k.Table, found = to.DB, to.Name, true
				}
			}
			if found {
				n.Version++
				ch.PutTable(n)
			}
		}
	}
}

// dropForeignKey is DROP FOREIGN KEY: 1091.
func (a *alteration) dropForeignKey(s *logical.AlterSpec) error {
	for i := range a.t.ForeignKeys {
		if strings.EqualFold(a.t.ForeignKeys[i].Name, s.Name) {
			a.t.ForeignKeys, a.changed = slices.Delete(a.t.ForeignKeys, i, i+1), true
			return nil
		}
	}
	if s.IfExists {
		a.c.note(sqlerr.CannotDropFieldOrKey(s.Name))
		return nil
	}
	return sqlerr.CannotDropFieldOrKey(s.Name)
}

// dropGenerated drops indexes that were made for foreign keys where this
// statement adds one that begins with the same columns.
func (a *alteration) dropGenerated() {
	for i := 0; i < len(a.t.Indexes); i++ {
		x := &a.t.Indexes[i]
		serves := func(o schema.Index) bool {
			return o.ID != x.ID && !o.Generated && slices.Contains(a.build, o.ID) && len(o.Parts) >= len(x.Parts) && slices.Equal(o.Parts[:len(x.Parts)], x.Parts)
		}
		if x.Generated && slices.ContainsFunc(a.t.Indexes, serves) {
			a.removeIndex(i)
			i--
		}
	}
}

// finishForeignKeys checks that the finished copy has what its foreign keys and
// those that refer to it need, and adds the new ones.
func (a *alteration) finishForeignKeys() error {
	a.dropGenerated()
	for i := range a.t.ForeignKeys {
		if err := a.keepsOwn(&a.t.ForeignKeys[i]); err != nil {
			return err
		}
	}
	s := a.c.snapshot()
	for _, child := range s.Children(a.old.Database, a.old.Name) {
		if err := a.keepsReferring(child); err != nil {
			return err
		}
	}
	before := len(a.t.ForeignKeys)
	for i := range a.newForeignKeys {
		if err := a.c.addForeignKey(s, a.t, &a.newForeignKeys[i], a.newIndex); err != nil {
			return err
		}
	}
	for i := before; i < len(a.t.ForeignKeys); i++ {
		a.newKeyNames = append(a.newKeyNames, a.t.ForeignKeys[i].Name)
	}
	return nil
}

// keepsOwn: 1828, 1832, 1830, 1553.
func (a *alteration) keepsOwn(k *schema.ForeignKey) error {
	for _, id := range k.Columns {
		was, c := a.old.Column(id), a.t.Column(id)
		switch {
		case c == nil:
			return sqlerr.ForeignKeyDropColumn(was.Name, k.Name, "")
		case a.c.env.ForeignKeyChecks && changesKey(was.Type, c.Type):
			return sqlerr.ForeignKeyChangeColumn(was.Name, k.Name, "")
		case (k.OnDelete == schema.ActionSetNull || k.OnUpdate == schema.ActionSetNull) && !c.Nullable:
			return sqlerr.ForeignKeyNotNull(c.Name, k.Name)
		}
	}
	if err := actionsFit(a.t, k); err != nil {
		return err
	}
	if _, ok := a.t.KeyStarting(k.Columns, false); !ok {
		x, _ := a.old.KeyStarting(k.Columns, false)
		return sqlerr.ForeignKeyNeedsIndex(indexName(x))
	}
	return nil
}

func indexName(x *schema.Index) string {
	if x == nil {
		return "PRIMARY"
	}
	return x.Name
}

// keepsReferring: 1829, 1833, 1553. A column that gets another name has it in
// the foreign keys too.
func (a *alteration) keepsReferring(child *schema.Table) error {
	next := child
	if child.ID == a.old.ID {
		next = a.t
	}
	for i := range child.ForeignKeys {
		k := &child.ForeignKeys[i]
		if !k.RefersTo(a.old.Database, a.old.Name) {
			continue
		}
		var ids []schema.ColumnID
		names := make([]string, len(k.References))
		for j, name := range k.References {
			at := a.old.ColumnByName(name)
			if at < 0 {
				return nil // the key never fitted
			}
			was := &a.old.Columns[at]
			c := a.t.Column(was.ID)
			switch {
			case next == a.t && a.t.ForeignKeyByName(k.Name) == nil:
				return nil // this statement drops it
			case c == nil:
				return sqlerr.ForeignKeyDropColumn(name, k.Name, child.Name)
			case a.c.env.ForeignKeyChecks && changesKey(was.Type, c.Type):
				return sqlerr.ForeignKeyChangeColumn(name, k.Name, child.Name)
			}
			ids, names[j] = append(ids, c.ID), c.Name
		}
		if x, wasLoose, ok := a.old.ParentKey(ids); ok {
			if _, loose, ok := a.t.ParentKey(ids); !ok || loose && !wasLoose && a.c.env.RestrictForeignKeys {
				return sqlerr.ForeignKeyNeedsIndex(indexName(x))
			}
		}
		if slices.Equal(names, k.References) {
			continue
		}
		if next == child {
			next = child.Clone()
			next.Version++
		}
		next.ForeignKeyByName(k.Name).References = names
	}
	if next != child && next != a.t {
		a.children = append(a.children, next)
	}
	return nil
}

// related are the other tables that must not change either.
func (a *alteration) related() []logical.TableName {
	out := parents(a.c.snapshot(), logical.TableName{DB: a.old.Database, Name: a.old.Name}, a.newForeignKeys)
	for _, t := range a.children {
		out = append(out, logical.TableName{DB: t.Database, Name: t.Name})
	}
	if a.target != nil {
		out = append(out, children(a.c.snapshot(), logical.TableName{DB: a.old.Database, Name: a.old.Name})...)
	}
	slices.SortFunc(out, func(x, y logical.TableName) int { return cmp.Or(cmp.Compare(x.DB, y.DB), cmp.Compare(x.Name, y.Name)) })
	return slices.Compact(out)
}

// validateForeignKeys looks for the parents of all rows of the table under its
// new foreign keys: 1452. No session writes to the tables meanwhile.
func (a *alteration) validateForeignKeys(ctx context.Context) error {
	if !a.c.env.ForeignKeyChecks || len(a.newKeyNames) == 0 {
		return nil
	}
	codec, err := a.c.codec(a.t)
	if err != nil {
		return err
	}
	for _, name := range a.newKeyNames {
		k := a.t.ForeignKeyByName(name)
		parent := a.t
		if !k.RefersTo(a.t.Database, a.t.Name) {
			parent, _ = a.c.snapshot().Table(k.Database, k.Table)
		}
		ref, ok := schema.NewReference(a.t, k, parent)
		if !ok || ref.Parent == nil {
			return sqlerr.NoReferencedRow(a.t.ForeignKeyText(k))
		}
		pc := codec
		if parent != a.t {
			if pc, err = a.c.codec(parent); err != nil {
				return err
			}
		}
		a.c.state("checking foreign key " + name)
		err = scrub.Orphans(ctx, a.c.r.Store.Latest(), codec, pc, ref, func([]byte) error {
			return sqlerr.NoReferencedRow(a.t.ForeignKeyText(k))
		})
		if bad, ok := errors.AsType[*sqlerr.Error](err); ok {
			return bad
		}
		if err != nil {
			return err
		}
	}
	return nil
}
