package ddl

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// maxColumns is MySQL's limit, 1117.
const maxColumns = 4096

func (a *alteration) addColumn(s *logical.AlterSpec) error {
	if s.IfNotExists && a.t.ColumnByName(s.Column.Name) >= 0 {
		a.c.note(sqlerr.DuplicateColumn(s.Column.Name))
		return nil
	}
	c := s.Column
	if a.t.NextColumnID > schema.MaxDeclaredColumnID {
		return sqlerr.TooManyColumns()
	}
	c.ID = a.t.NextColumnID
	a.t.NextColumnID++
	a.fresh[c.ID], a.changed = true, true
	if err := a.addPromoted(&c, s); err != nil {
		return err
	}
	if c.Generated != nil {
		a.freshGenerated(&c)
	} else {
		instant, err := a.instantDefault(&c)
		if err != nil {
			return err
		}
		a.rebuild = a.rebuild || !instant
	}
	if c.AutoIncrement {
		a.numbered, a.rebuild = c.ID, true
	}
	a.t.Columns = append(a.t.Columns, c)
	if err := a.place(c.ID, s); err != nil {
		return err
	}
	return a.inlineKeys(s, c.Name)
}

// inlineKeys are PRIMARY KEY and UNIQUE in a column definition.
func (a *alteration) inlineKeys(s *logical.AlterSpec, name string) error {
	cols := []define.IndexColumn{{Name: name}}
	if s.InlineKey {
		if err := a.addPrimaryKey(cols); err != nil {
			return err
		}
	}
	if s.InlineUnique {
		return a.addIndex(&logical.AlterSpec{Kind: logical.AlterAddIndex, Index: schema.Index{Unique: true}, IndexColumns: cols})
	}
	return nil
}

// instantDefault sets the value that existing rows have in a new column. It
// reports false when it differs from row to row, or with the time zone.
func (a *alteration) instantDefault(c *schema.Column) (bool, error) {
	d := c.Default
	switch {
	case (d == nil || d.Null) && c.Nullable:
		return true, nil
	case d == nil || d.Null:
		return a.instantImplicit(c), nil
	case d.Expr == "":
		if c.Type.ID == schema.TypeTimestamp {
			return false, nil
		}
		added := *d
		c.AddedDefault = &added
		return true, nil
	case isLiteralExpr(d.Expr):
		added := *d
		c.AddedDefault = &added
		return true, nil
	case isNow(d.Expr):
		if c.Type.ID == schema.TypeTimestamp {
			return false, nil
		}
		now := value.FromGo(a.c.env.Types.Now.In(a.c.location()))
		c.AddedDefault = &schema.Default{Literal: string(types.AppendText(nil, c.Type, value.TimeOf(now)))}
		return true, nil
	}
	if a.c.env.Eval == nil {
		return false, sqlerr.NotSupported("ADD COLUMN with an expression as DEFAULT")
	}
	return false, nil
}

// instantImplicit is the type's implicit default as a literal. Zero dates are
// refused where sql_mode forbids them when there are rows, so they go the long
// way, as do values without a text that reads back.
func (a *alteration) instantImplicit(c *schema.Column) bool {
	t := c.Type
	switch {
	case c.AutoIncrement, t.HasDate(), t.ID == schema.TypeJSON, t.ID == schema.TypeGeometry, t.ID == schema.TypeBinary:
		return false
	case t.ID == schema.TypeBit:
		c.AddedDefault = &schema.Default{Expr: "b'0'"}
	case t.IsString():
		c.AddedDefault = &schema.Default{}
	default:
		c.AddedDefault = &schema.Default{Literal: string(types.AppendText(nil, t, types.ImplicitDefault(t)))}
	}
	return true
}

// isLiteralExpr reports the literals that descriptors keep as expressions:
// b'…' and 0x….
func isLiteralExpr(e string) bool { return strings.HasPrefix(e, "b'") || strings.HasPrefix(e, "0x") }

func isNow(e string) bool { return strings.HasPrefix(strings.ToUpper(e), "CURRENT_TIMESTAMP") }

// place moves a column where FIRST or AFTER say.
func (a *alteration) place(id schema.ColumnID, s *logical.AlterSpec) error {
	if !s.First && s.After == "" {
		return nil
	}
	i := a.t.ColumnIndex(id)
	c := a.t.Columns[i]
	rest := slices.Delete(slices.Clone(a.t.Columns), i, i+1)
	at := 0
	if s.After != "" {
		// The name is one of the new table.
		at = slices.IndexFunc(rest, func(c schema.Column) bool { return strings.EqualFold(c.Name, s.After) && !isHiddenKey(&c) }) + 1
		if at == 0 {
			return sqlerr.UnknownColumn(s.After, a.t.Name)
		}
	}
	a.t.Columns, a.changed = slices.Insert(rest, at, c), true
	return nil
}

func (a *alteration) dropColumn(s *logical.AlterSpec) error {
	i := a.findColumn(s.Name)
	if i < 0 {
		if s.IfExists {
			a.c.note(sqlerr.CannotDropFieldOrKey(s.Name))
			return nil
		}
		return sqlerr.CannotDropFieldOrKey(s.Name)
	}
	if slices.Contains(a.renamed, a.t.Columns[i].ID) {
		return sqlerr.UnknownColumn(s.Name, a.t.Name)
	}
	return a.dropColumnAt(i)
}

func (a *alteration) dropColumnAt(i int) error {
	id := a.t.Columns[i].ID
	a.changed = true
	a.t.Columns = slices.Delete(a.t.Columns, i, i+1)
	delete(a.fresh, id)
	delete(a.notNull, id)
	if a.numbered == id {
		a.numbered = 0
	}
	if slices.ContainsFunc(a.t.PrimaryKey, func(p schema.KeyPart) bool { return p.Column == id }) {
		a.t.PrimaryKey = slices.DeleteFunc(a.t.PrimaryKey, func(p schema.KeyPart) bool { return p.Column == id })
		a.rebuild = true
	}
	a.dropFromIndexes(id)
	a.dropFromSearch(id)
	return nil
}

func (a *alteration) renameColumn(s *logical.AlterSpec) error {
	i := a.findColumn(s.Name)
	if i < 0 || slices.Contains(a.renamed, a.t.Columns[i].ID) {
		return sqlerr.UnknownColumn(s.Name, a.t.Name)
	}
	a.renamed = append(a.renamed, a.t.Columns[i].ID)
	a.t.Columns[i].Name, a.changed = s.NewName, true
	return nil
}

func (a *alteration) setDefault(s *logical.AlterSpec) error {
	i := a.findColumn(s.Name)
	if i < 0 {
		return sqlerr.UnknownColumn(s.Name, a.t.Name)
	}
	if a.t.Columns[i].Generated != nil {
		return sqlerr.WrongUsage("DEFAULT", "generated column")
	}
	a.changed = true
	a.t.Columns[i].Default = nil
	if s.Kind == logical.AlterSetDefault && s.Default != nil {
		d := *s.Default
		a.t.Columns[i].Default = &d
	}
	return nil
}

func (a *alteration) setColumnVisibility(s *logical.AlterSpec) error {
	i := a.findColumn(s.Name)
	if i < 0 {
		return sqlerr.UnknownColumn(s.Name, a.t.Name)
	}
	a.t.Columns[i].Invisible, a.changed = s.Invisible, true
	return nil
}

// modifyColumn is MODIFY and CHANGE: the column takes a new definition, its
// values and keys stay.
func (a *alteration) modifyColumn(s *logical.AlterSpec) error {
	i := a.findColumn(s.Name)
	if i < 0 {
		if s.IfExists {
			a.c.note(sqlerr.UnknownColumn(s.Name, a.t.Name))
			return nil
		}
		return sqlerr.UnknownColumn(s.Name, a.t.Name)
	}
	a.changed = true
	was := a.t.Columns[i]
	c := s.Column
	c.ID, c.AddedDefault = was.ID, was.AddedDefault
	if a.t.IsPrimaryKeyPart(c.ID) {
		if c.Default != nil && c.Default.Null {
			return sqlerr.PrimaryCantHaveNull()
		}
		c.Nullable = false
	}
	if err := checkGeneratedChange(&was, &c); err != nil {
		return err
	}
	if was.Nullable && !c.Nullable && c.Generated == nil {
		a.notNull[c.ID] = true
	}
	if c.AutoIncrement && !was.AutoIncrement {
		a.numbered = c.ID
	}
	if !c.IsVirtual() && !a.sameStorage(&was, &c) {
		a.rebuild = true
	}
	a.changeGenerated(&was, &c)
	a.t.Columns[i] = c
	if err := a.place(c.ID, s); err != nil {
		return err
	}
	return a.inlineKeys(s, c.Name)
}

// sameStorage reports whether all values of column was are values of c with
// the same bytes in rows and keys.
func (a *alteration) sameStorage(was, c *schema.Column) bool {
	f, t := was.Type, c.Type
	switch {
	case f.IsInteger() && t.IsInteger():
		return f.Unsigned == t.Unsigned && t.ID >= f.ID
	case f.IsString() && t.IsString():
		return a.sameText(was.ID, f, t)
	case f.ID != t.ID || f.Unsigned != t.Unsigned:
		return false
	}
	switch f.ID {
	case schema.TypeDecimal:
		return t.Scale == f.Scale && t.Len >= f.Len
	case schema.TypeFloat, schema.TypeDouble, schema.TypeDatetime, schema.TypeTimestamp, schema.TypeTime:
		return t.Scale == f.Scale && t.Len == f.Len
	case schema.TypeBit:
		return t.Len >= f.Len
	case schema.TypeGeometry: // fewer rules, never others
		return (t.Geometry == "" || t.Geometry == f.Geometry) && (!t.HasSRID || f.HasSRID && t.SRID == f.SRID)
	case schema.TypeEnum, schema.TypeSet:
		return t.Collation == f.Collation && len(t.Elems) >= len(f.Elems) && slices.Equal(t.Elems[:len(f.Elems)], f.Elems)
	}
	return true
}

// sameText is sameStorage of strings: a longer one of the same kind, or another
// collation of the same character set where no key depends on it.
func (a *alteration) sameText(id schema.ColumnID, f, t schema.Type) bool {
	if t.Collation != f.Collation && (charset(t.Collation) != charset(f.Collation) || a.isKeyed(id)) {
		return false
	}
	switch {
	case f.ID == schema.TypeBinary:
		return t.ID == f.ID && t.Len == f.Len // padded to the length
	case f.ID == t.ID:
		return f.IsBlobOrText() || t.Len >= f.Len
	}
	text := f.ID >= schema.TypeTinyText && t.ID <= schema.TypeLongText
	blob := f.ID >= schema.TypeTinyBlob && t.ID <= schema.TypeLongBlob
	return f.IsBlobOrText() && t.IsBlobOrText() && (text || blob) && t.ID > f.ID
}

// isKeyed reports whether a key has the column.
func (a *alteration) isKeyed(id schema.ColumnID) bool {
	has := func(parts []schema.KeyPart) bool {
		return slices.ContainsFunc(parts, func(p schema.KeyPart) bool { return p.Column == id })
	}
	return has(a.t.PrimaryKey) || has(a.old.PrimaryKey) || slices.ContainsFunc(a.old.Indexes, func(x schema.Index) bool { return has(x.Parts) })
}

// checkColumns checks the columns of the finished copy: 1060, 1090, 1117.
func (a *alteration) checkColumns() error {
	visible := 0
	seen := map[string]bool{}
	for i := range a.t.Columns {
		c := &a.t.Columns[i]
		if !isHiddenKey(c) {
			visible++
		}
		name := strings.ToLower(c.Name)
		if seen[name] {
			return sqlerr.DuplicateColumn(c.Name)
		}
		seen[name] = true
	}
	switch {
	case visible == 0:
		return sqlerr.CannotRemoveAllFields()
	case visible > maxColumns:
		return sqlerr.TooManyColumns()
	}
	return define.CheckVisible(a.t)
}

func charset(id schema.CollationID) string {
	if c, ok := collate.Lookup(id); ok {
		return c.Charset
	}
	return ""
}

// grows reports whether text may take more bytes in another character set.
func grows(from, to schema.CollationID) bool {
	f, ok1 := collate.Lookup(from)
	t, ok2 := collate.Lookup(to)
	return ok1 && ok2 && t.MaxLen() > f.MaxLen()
}
