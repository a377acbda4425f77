package schema

// Role says what a column is to its table's keys and writes, as result
// headers report it to clients.
type Role uint8

// The bits of a Role.
const (
	RolePrimaryKey Role = 1 << iota
	// RoleUniqueKey: the only column of a unique index.
	RoleUniqueKey
	// RoleMultipleKey: the first column of another index.
	RoleMultipleKey
	// RolePartOfKey: some column of the primary key or of an index.
	RolePartOfKey
	RoleAutoIncrement
	// RoleNoDefault: an INSERT has to name the column.
	RoleNoDefault
	RoleOnUpdateNow
)

// Roles are the roles of the columns, in their order.
func (t *Table) Roles() []Role {
	roles := make([]Role, len(t.Columns))
	add := func(id ColumnID, r Role) {
		if i := t.ColumnIndex(id); i >= 0 {
			roles[i] |= r | RolePartOfKey
		}
	}
	for _, p := range t.DeclaredKey() {
		add(p.Column, RolePrimaryKey)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State != IndexPublic {
			continue
		}
		for k, p := range x.Parts {
			switch {
			case x.Unique && len(x.Parts) == 1:
				add(p.Column, RoleUniqueKey)
			case k == 0:
				add(p.Column, RoleMultipleKey)
			default:
				add(p.Column, 0)
			}
		}
	}
	for i := range t.Columns {
		switch c := &t.Columns[i]; {
		case c.AutoIncrement:
			roles[i] |= RoleAutoIncrement
		case !c.Nullable && c.Default == nil && c.Generated == nil:
			roles[i] |= RoleNoDefault
		case c.OnUpdateNow:
			roles[i] |= RoleOnUpdateNow
		}
	}
	return roles
}
