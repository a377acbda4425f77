package ddl

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// freshGenerated says what a new generated column requires of the rows: a stored
// one is computed into all of them, as is a virtual one that must not be NULL, so
// that it is not; any other virtual one needs nothing.
func (a *alteration) freshGenerated(c *schema.Column) {
	a.rebuild = a.rebuild || c.Generated.Stored || !c.Nullable
}

// checkGeneratedChange is 3106 for changes that MySQL does not make: between
// virtual and stored, and between virtual and an ordinary column.
func checkGeneratedChange(was, c *schema.Column) error {
	if was.IsVirtual() != c.IsVirtual() {
		return sqlerr.GeneratedAction("Changing the STORED status")
	}
	return nil
}

// changeGenerated says what a new definition of a column requires of the rows as
// far as generated columns are concerned: was and c are its definitions.
func (a *alteration) changeGenerated(was, c *schema.Column) {
	if c.Generated != nil && (was.Generated == nil || was.Generated.Expr != c.Generated.Expr || !sameType(was.Type, c.Type) || was.Nullable && !c.Nullable) {
		a.rebuild = a.rebuild || c.Generated.Stored || a.isKeyed(c.ID) || !c.Nullable
	}
	if !sameType(was.Type, c.Type) && a.isRead(c.ID) {
		a.rebuild = true
	}
}

func sameType(a, b schema.Type) bool {
	return a.ID == b.ID && a.Unsigned == b.Unsigned && a.Len == b.Len && a.Scale == b.Scale && a.Collation == b.Collation && slices.Equal(a.Elems, b.Elems) &&
		a.Geometry == b.Geometry && a.HasSRID == b.HasSRID && a.SRID == b.SRID
}

// isRead reports whether a generated column of the old table reads the column.
func (a *alteration) isRead(id schema.ColumnID) bool {
	return slices.ContainsFunc(a.old.Columns, func(c schema.Column) bool {
		return c.Generated != nil && slices.Contains(c.Generated.Reads, id)
	})
}

// finishGenerated completes the expressions of the columns when all are there.
// A column that one of them reads can be neither dropped nor renamed: 3108,
// 3766.
func (a *alteration) finishGenerated() error {
	a.t.DropUnusedHidden()
	for i := range a.t.Columns {
		c := &a.t.Columns[i]
		if g := c.Generated; g != nil {
			if name := a.missing(g.Reads); name != "" && c.Hidden {
				return sqlerr.DependentByFunctionalIndex(name)
			} else if name != "" {
				return sqlerr.DependentByGenerated(name)
			}
		} else if d := c.Default; d != nil {
			if name := a.missing(d.Reads); name != "" {
				return sqlerr.DependentByDefault(name, a.old.Name)
			}
		}
	}
	return define.ResolveColumns(a.c.r.Binder, a.t)
}

// missing is the first of the columns that this statement drops or renames;
// "" if none.
func (a *alteration) missing(ids []schema.ColumnID) string {
	for _, id := range ids {
		was, now := a.old.Column(id), a.t.Column(id)
		if was != nil && (now == nil || now.Name != was.Name) {
			return was.Name
		}
	}
	return ""
}

// compute fills the generated columns of a new row, and the columns whose
// default reads it.
func (k *copier) compute() error {
	if k.derive == nil || len(k.derive.Steps) == 0 {
		return nil
	}
	t := k.a.t
	for i := range k.out {
		k.out[i] = k.a.c.toSession(k.out[i], t.Columns[i].Type)
	}
	if err := k.derive.Fill(k.out, k.late, nil, int(k.rows)); err != nil {
		return err
	}
	for i := range k.out {
		k.out[i] = k.a.c.toStored(k.out[i], t.Columns[i].Type)
	}
	return nil
}
