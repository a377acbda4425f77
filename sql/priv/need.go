package priv

// Needs is what a statement requires of the account that runs it. The zero value is
// nothing. All needs must be met.
type Needs struct {
	Global    []GlobalNeed
	Databases []DatabaseNeed
	Tables    []TableNeed
	// Explained are what EXPLAIN needs of views and of what they read.
	Explained []TableNeed
	// Views are the bodies of the views that are read or written through.
	Views []ViewNeeds
}

// IsEmpty reports that everybody may run the statement.
func (n *Needs) IsEmpty() bool {
	return n == nil || len(n.Global)+len(n.Databases)+len(n.Tables)+len(n.Explained)+len(n.Views) == 0
}

// GlobalNeed is met by one of the privileges, ON *.*.
type GlobalNeed struct {
	Mask    Mask
	Dynamic Dynamics
	// Mysql: one of these on the database mysql suffices as well, or on MysqlTable in it.
	Mysql      Mask
	MysqlTable string
	// Denied refuses with 1045 instead of 1227, as for FILE.
	Denied bool
}

// DatabaseNeed is met by all of Mask on the database, or, where Any is set, by any
// privilege on it or on something in it.
type DatabaseNeed struct {
	DB   string
	Mask Mask
	Any  bool
}

// TableNeed is what is needed of one table or view.
type TableNeed struct {
	DB, Table string
	// Mask are needed of the table as a whole.
	Mask Mask
	// OneOf: one of these is needed, of the table as a whole, for rows that a SELECT locks.
	OneOf Mask
	// AnyColumn are needed of the table or of at least one column. Instead of them Or
	// suffices.
	AnyColumn, Or Mask
	// AnyRight: any privilege on the table or on a column.
	AnyRight bool
	// Command is how the refusal names what is needed, where the account has no privilege
	// at all on the table; "" for what is missing.
	Command string
	// Columns are needed of the table or of the columns.
	Columns []ColumnNeed
}

// ColumnNeed is what is needed of one column.
type ColumnNeed struct {
	Name string
	Mask Mask
	// Order: of several columns of all tables that are refused, the first is named.
	Order int
	// Unnamed: a refusal names the table alone, as for *.
	Unnamed bool
}

// ViewNeeds is what the body of a view needs: of Definer, or of the account that runs
// the statement where Invoker is set.
type ViewNeeds struct {
	DB, View string
	Definer  Name
	Invoker  bool
	Needs    *Needs
}

// Denied is a refusal. Exactly one of its groups of fields is set.
type Denied struct {
	// Privileges are missing of the whole server; NeedsOneOf are the names of those of
	// which one is needed, "SUPER or SYSTEM_VARIABLES_ADMIN".
	NeedsOneOf string
	// Global: a privilege of the server is missing for an operation on it: 1045.
	Global bool
	// DB alone: of the database. With Table: Command is denied on the table, or on Column.
	DB, Table, Column, Command string
	// Explain: EXPLAIN would show of a view what the account may not see.
	Explain bool
	// View: the body of the view may not be read by whom it is read as, of whom NoDefiner
	// says that the account does not exist.
	ViewDB, View string
	NoDefiner    *Name
}
