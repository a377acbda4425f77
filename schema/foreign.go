package schema

import "strings"

// Action is what happens to the rows that refer to a row which is removed, or
// whose key changes.
type Action uint8

// Actions. NO ACTION is RESTRICT: there are no deferred checks, as in InnoDB.
const (
	ActionNoAction Action = iota // also where nothing is said
	ActionRestrict
	ActionCascade
	ActionSetNull
)

// String is the action in SQL.
func (a Action) String() string {
	return [...]string{"NO ACTION", "RESTRICT", "CASCADE", "SET NULL"}[a]
}

// Writes reports whether the action changes the referring rows.
func (a Action) Writes() bool { return a == ActionCascade || a == ActionSetNull }

// ForeignKey says that the values of columns, where none of them is NULL, are
// those of a row of another table. That table is known by its name: it need not
// exist.
type ForeignKey struct {
	Name     string     `json:"name"`
	Columns  []ColumnID `json:"columns"`
	Database string     `json:"database"`
	Table    string     `json:"table"`
	// References are the names of the other table's columns.
	References []string `json:"references"`
	OnDelete   Action   `json:"on_delete,omitempty"`
	OnUpdate   Action   `json:"on_update,omitempty"`
}

// Uses reports whether the column belongs to the key.
func (k *ForeignKey) Uses(id ColumnID) bool {
	for _, c := range k.Columns {
		if c == id {
			return true
		}
	}
	return false
}

// RefersTo reports whether the key refers to a table of that name.
func (k *ForeignKey) RefersTo(db, table string) bool { return k.Database == db && k.Table == table }

// ForeignKeyByName finds a foreign key, ignoring case; nil if it does not exist.
func (t *Table) ForeignKeyByName(name string) *ForeignKey {
	for i := range t.ForeignKeys {
		if strings.EqualFold(t.ForeignKeys[i].Name, name) {
			return &t.ForeignKeys[i]
		}
	}
	return nil
}

// ForeignKeyClause is the definition of one of t's foreign keys in SQL, as SHOW
// CREATE TABLE has it.
func (t *Table) ForeignKeyClause(k *ForeignKey) string {
	var own []string
	for _, id := range k.Columns {
		if c := t.Column(id); c != nil {
			own = append(own, c.Name)
		}
	}
	other := quoted(k.Table)
	if k.Database != t.Database {
		other = quoted(k.Database) + "." + other
	}
	out := "CONSTRAINT " + quoted(k.Name) + " FOREIGN KEY (" + quoted(own...) + ") REFERENCES " + other + " (" + quoted(k.References...) + ")"
	if k.OnDelete != ActionNoAction {
		out += " ON DELETE " + k.OnDelete.String()
	}
	if k.OnUpdate != ActionNoAction {
		out += " ON UPDATE " + k.OnUpdate.String()
	}
	return out
}

// ForeignKeyText is ForeignKeyClause with the table, as errors have it.
func (t *Table) ForeignKeyText(k *ForeignKey) string {
	return quoted(t.Database) + "." + quoted(t.Name) + ", " + t.ForeignKeyClause(k)
}

// quoted are names in backquotes, joined by commas.
func quoted(names ...string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + strings.ReplaceAll(n, "`", "``") + "`")
	}
	return b.String()
}

// KeyStarting finds a key whose first parts are the columns, whole and in their
// order: the primary key (nil, true) or an index. With unique the key is unique
// and has no other parts.
func (t *Table) KeyStarting(columns []ColumnID, unique bool) (x *Index, ok bool) {
	if startsWith(t.DeclaredKey(), columns, unique) {
		return nil, true
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State == IndexPublic && t.HoldsAll(x) && (x.Unique || !unique) && startsWith(x.Parts, columns, unique) {
			return x, true
		}
	}
	return nil, false
}

// ParentKey finds the key under which a foreign key finds the parents of rows:
// a unique key of just the columns, or else (loose) a key, followed by the
// primary key, that starts with them.
func (t *Table) ParentKey(columns []ColumnID) (x *Index, loose, ok bool) {
	if x, ok := t.KeyStarting(columns, true); ok {
		return x, false, true
	}
	if x, ok := t.KeyStarting(columns, false); ok {
		return x, true, true
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State == IndexPublic && t.HoldsAll(x) && !x.Unique && startsWith(t.EntryParts(x), columns, false) {
			return x, true, true
		}
	}
	return nil, false, false
}

func startsWith(parts []KeyPart, columns []ColumnID, only bool) bool {
	if len(parts) < len(columns) || only && len(parts) != len(columns) {
		return false
	}
	for i, c := range columns {
		if parts[i].Column != c || parts[i].Prefix > 0 {
			return false
		}
	}
	return true
}

// Reference is a foreign key between two tables.
type Reference struct {
	Key   *ForeignKey
	Child *Table
	// Parent is nil when it does not exist, or not as the key needs it.
	Parent *Table
	// ChildColumns and ParentColumns are positions.
	ChildColumns, ParentColumns []int
	// ChildIndex and ParentIndex are the keys by which rows are found; nil for
	// the primary key.
	ChildIndex, ParentIndex *Index
	// Loose: several rows of the parent may have the key.
	Loose bool
}

// NewReference finds out what belongs to a foreign key of child; parent is nil
// when it does not exist.
func NewReference(child *Table, k *ForeignKey, parent *Table) (r *Reference, ok bool) {
	r = &Reference{Key: k, Child: child}
	for _, id := range k.Columns {
		i := child.ColumnIndex(id)
		if i < 0 {
			return nil, false
		}
		r.ChildColumns = append(r.ChildColumns, i)
	}
	if r.ChildIndex, ok = child.KeyStarting(k.Columns, false); !ok {
		return nil, false
	}
	if parent == nil {
		return r, true
	}
	var ids []ColumnID
	for _, name := range k.References {
		i := parent.ColumnByName(name)
		if i < 0 {
			return r, true
		}
		r.ParentColumns = append(r.ParentColumns, i)
		ids = append(ids, parent.Columns[i].ID)
	}
	if r.ParentIndex, r.Loose, ok = parent.ParentKey(ids); ok {
		r.Parent = parent
	}
	return r, true
}

// References are the foreign keys that a change of tables has to keep.
type References struct {
	// Out are those of a table, In those that refer to it, of each table that
	// the change may write to.
	Out, In map[TableID][]*Reference
	// Tables are all tables on either side; Cascaded those whose rows actions
	// may change.
	Tables, Cascaded []*Table
}
