package ddl

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Limits of keys: MySQL's, and what index ids leave.
const (
	maxKeys    = 64
	maxIndexID = schema.IndexID(0xFFF0)
)

func (a *alteration) addIndex(s *logical.AlterSpec) error {
	if s.Search != nil {
		return a.addSearch(s)
	}
	name := s.Index.Name
	if name == "" {
		name = s.Name
	}
	if s.IfNotExists && name != "" && a.t.HasIndexNamed(name) {
		a.c.note(sqlerr.DuplicateKeyName(name))
		return nil
	}
	x := s.Index
	x.Name = name
	if x.Name == "" && s.IndexColumns[0].Expr != "" {
		x.Name = define.IndexName(a.t, define.FunctionalIndex)
	}
	cols, err := define.KeyExpressions(a.c.r.Binder, a.t, x.Name, s.IndexColumns)
	if err != nil {
		return err
	}
	parts, err := a.resolveKey(cols, x.Unique)
	if err != nil {
		return err
	}
	x.Parts = parts
	if x.Include, err = define.ResolveInclude(a.t, &x, s.Include); err != nil {
		return err
	}
	if x.Name == "" {
		x.Name = define.IndexName(a.t, a.t.Column(parts[0].Column).Name)
	}
	if err := define.ResolveWhere(a.c.r.Binder, a.t, &x, s.Where); err != nil {
		return err
	}
	x.State = schema.IndexPublic
	return a.newIndex(x)
}

// newIndex gives an index an id and notes that its entries have to be made.
func (a *alteration) newIndex(x schema.Index) error {
	if a.t.NextIndexID > maxIndexID {
		return sqlerr.TooManyKeys(maxKeys)
	}
	x.ID = a.t.NextIndexID
	a.t.NextIndexID++
	a.t.Indexes = append(a.t.Indexes, x)
	a.build, a.changed = append(a.build, x.ID), true
	return nil
}

// warnDuplicates warns of each index with isNew that is the same as one before
// it: 1831.
func (c *change) warnDuplicates(t *schema.Table, isNew func(x *schema.Index) bool) {
	for i := range t.Indexes {
		x := &t.Indexes[i]
		same := func(o schema.Index) bool {
			return o.Unique == x.Unique && o.Sparse == x.Sparse && o.Where == x.Where && slices.Equal(o.Parts, x.Parts) && slices.Equal(o.Include, x.Include)
		}
		if !x.Generated && isNew(x) && slices.ContainsFunc(t.Indexes[:i], same) {
			c.warn(sqlerr.LevelWarning, sqlerr.DuplicateIndex(x.Name, t.Database, t.Name))
		}
	}
}

func (a *alteration) dropIndex(s *logical.AlterSpec) error {
	if i := a.findSearch(s.Name); i >= 0 {
		a.t.Search, a.changed = slices.Delete(a.t.Search, i, i+1), true
		return nil
	}
	i := a.findIndex(s.Name)
	if i < 0 {
		if s.IfExists {
			a.c.note(sqlerr.CannotDropFieldOrKey(s.Name))
			return nil
		}
		return sqlerr.CannotDropFieldOrKey(s.Name)
	}
	a.removeIndex(i)
	return nil
}

func (a *alteration) removeIndex(i int) {
	id := a.t.Indexes[i].ID
	a.t.Indexes, a.changed = slices.Delete(a.t.Indexes, i, i+1), true
	if j := slices.Index(a.build, id); j >= 0 {
		a.build = slices.Delete(a.build, j, j+1)
		return
	}
	a.dropped = append(a.dropped, id)
}

func (a *alteration) renameIndex(s *logical.AlterSpec) error {
	if i := a.findSearch(s.Name); i >= 0 {
		for _, x := range a.t.Search[i].Generations() {
			x.Name = s.NewName
		}
		a.changed = true
		return nil
	}
	i := a.findIndex(s.Name)
	if i < 0 {
		return sqlerr.KeyDoesNotExist(s.Name, a.t.Name)
	}
	a.t.Indexes[i].Name, a.changed = s.NewName, true
	return nil
}

func (a *alteration) setVisibility(s *logical.AlterSpec) error {
	if strings.EqualFold(s.Name, "PRIMARY") {
		return sqlerr.InvisiblePrimaryKey()
	}
	if i := a.findSearch(s.Name); i >= 0 {
		for _, x := range a.t.Search[i].Generations() {
			x.Invisible = s.Invisible
		}
		a.changed = true
		return nil
	}
	i := a.findIndex(s.Name)
	if i < 0 {
		return sqlerr.KeyDoesNotExist(s.Name, a.t.Name)
	}
	a.t.Indexes[i].Invisible, a.changed = s.Invisible, true
	return nil
}

// dropFromIndexes takes a column out of all indexes, as MySQL does: an index
// without columns goes, one with fewer is made again.
func (a *alteration) dropFromIndexes(id schema.ColumnID) {
	for i := 0; i < len(a.t.Indexes); i++ {
		x := a.t.Indexes[i]
		parts := slices.DeleteFunc(slices.Clone(x.Parts), func(p schema.KeyPart) bool { return p.Column == id })
		include := slices.DeleteFunc(slices.Clone(x.Include), func(c schema.ColumnID) bool { return c == id })
		if len(parts) == len(x.Parts) && len(include) == len(x.Include) {
			continue
		}
		building := slices.Contains(a.build, x.ID)
		switch {
		case len(parts) == 0:
			a.removeIndex(i)
			i--
			continue
		case !building:
			a.dropped = append(a.dropped, x.ID)
			a.remade[a.t.NextIndexID] = x.ID
			x.ID = a.t.NextIndexID
			a.t.NextIndexID++
			a.build = append(a.build, x.ID)
		}
		x.Parts, x.Include = parts, include
		a.t.Indexes[i] = x
	}
}

func (a *alteration) hasPrimaryKey() bool {
	if len(a.t.PrimaryKey) == 0 {
		return false
	}
	c := a.t.Column(a.t.DeclaredKey()[0].Column)
	return c != nil && !isHiddenKey(c)
}

func (a *alteration) addPrimaryKey(cols []define.IndexColumn) error {
	if a.hasPrimaryKey() {
		return sqlerr.MultiplePrimaryKeys()
	}
	parts, err := define.ResolveKey(a.t, cols)
	if err != nil {
		return err
	}
	for _, p := range parts {
		c := a.t.Column(p.Column)
		if c.Nullable && !a.fresh[c.ID] {
			a.notNull[c.ID] = true
		}
		if c.Default != nil && c.Default.Null {
			c.Default = nil
		}
		c.Nullable = false
	}
	a.t.Columns = slices.DeleteFunc(a.t.Columns, func(c schema.Column) bool { return isHiddenKey(&c) })
	a.t.PrimaryKey = parts
	a.rebuild, a.changed = true, true
	return nil
}

func (a *alteration) dropPrimaryKey() error {
	if !a.hasPrimaryKey() {
		return sqlerr.CannotDropFieldOrKey("PRIMARY")
	}
	a.t.PrimaryKey, a.rebuild, a.changed = nil, true, true
	return nil
}

// addHiddenKey gives a table without primary key its row ids.
func (a *alteration) addHiddenKey() {
	id := a.t.NextColumnID
	a.t.NextColumnID++
	a.t.Columns = append(a.t.Columns, schema.Column{ID: id, Name: schema.HiddenKeyColumn, Type: types.BigInt, Hidden: true})
	a.t.PrimaryKey = []schema.KeyPart{{Column: id}}
	a.rebuild = true
}

// checkIndexes is 1069 where a whole table has more keys than MySQL or the
// session allows. One that is altered may keep what it has; was is nil for a
// new one.
func (c *change) checkIndexes(t, was *schema.Table) error {
	most := maxKeys
	if n := c.env.MaxIndexes; n > 0 {
		most = min(most, n)
	}
	if n := countKeys(t); n > most && (was == nil || n > countKeys(was)) {
		return sqlerr.TooManyKeys(most)
	}
	return nil
}

func countKeys(t *schema.Table) int {
	n := len(t.Indexes) + len(t.Search)
	if t.HasHiddenKey() {
		return n
	}
	return n + 1
}

// checkKeys checks the keys of the finished copy: 1061, 1075, and those
// of each key part, whose column may have got another type.
func (a *alteration) checkKeys() error {
	t := a.t
	if a.hasPrimaryKey() {
		if err := a.checkParts(t.PrimaryKey, true); err != nil {
			return err
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if strings.EqualFold(x.Name, "PRIMARY") {
			return sqlerr.WrongNameForIndex(x.Name)
		}
		for j := range i {
			if strings.EqualFold(t.Indexes[j].Name, x.Name) {
				return sqlerr.DuplicateKeyName(x.Name)
			}
		}
		if err := a.checkParts(x.Parts, x.Unique); err != nil {
			return err
		}
		if a.rebuild {
			a.trimInclude(x)
		}
	}
	if n := a.old.AutoInKey(); n > 0 && t.AutoInKey() == 0 && t.Column(a.old.PrimaryKey[n].Column) != nil {
		a.rebuild = true // the table gets one sequence, after all existing numbers
	}
	return a.checkAutoIncrement()
}

// checkParts lets bind check a key again, in terms of names. A prefix that the
// column has become as short as is none any more, which changes the key.
func (a *alteration) checkParts(parts []schema.KeyPart, unique bool) error {
	cols := make([]define.IndexColumn, len(parts))
	for i, p := range parts {
		c := a.t.Column(p.Column)
		cols[i] = define.IndexColumn{Name: c.Name, Desc: p.Desc, Prefix: p.Prefix}
		if c.Hidden && c.Generated != nil {
			cols[i].Expr = c.Generated.Expr
		}
	}
	got, err := a.resolveKey(cols, unique)
	if err != nil {
		return err
	}
	if !slices.Equal(got, parts) {
		copy(parts, got)
		a.rebuild = true
	}
	return nil
}

// resolveKey is define.ResolveKey; without strict mode a key that is not unique is cut.
func (a *alteration) resolveKey(cols []define.IndexColumn, unique bool) ([]schema.KeyPart, error) {
	if !unique && !a.c.env.Types.Mode.Strict() {
		cols = define.CutKey(a.t, cols, func(e *sqlerr.Error) { a.c.warn(sqlerr.LevelWarning, e) })
	}
	return define.ResolveKey(a.t, cols)
}

// trimInclude leaves out the INCLUDE columns that a new primary key brings.
func (a *alteration) trimInclude(x *schema.Index) {
	x.Include = slices.DeleteFunc(x.Include, func(id schema.ColumnID) bool { return a.t.IsWholeKeyPart(id) })
}

// checkAutoIncrement: one column at most, first in a key or in the primary key.
func (a *alteration) checkAutoIncrement() error {
	found := false
	for i := range a.t.Columns {
		c := &a.t.Columns[i]
		if !c.AutoIncrement {
			continue
		}
		keyed := a.t.IsPrimaryKeyPart(c.ID) || slices.ContainsFunc(a.t.Indexes, func(x schema.Index) bool { return x.Parts[0].Column == c.ID })
		if found || !keyed {
			return sqlerr.WrongAutoKey()
		}
		found = true
	}
	return nil
}
