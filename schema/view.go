package schema

// View is a named query.
type View struct {
	// ID is of the same kind as those of tables and unique among both.
	ID       TableID `json:"id"`
	Database string  `json:"database"`
	Name     string  `json:"name"`
	// Query is the SELECT in canonical form: tables carry their database, *
	// is written out, and its meaning does not hang on the sql_mode's grammar.
	// Local is the same without the view's own database.
	Query string `json:"query"`
	Local string `json:"local"`
	// ColumnNames are the column list of CREATE VIEW; nil if there was none.
	ColumnNames []string `json:"column_names,omitempty"`
	// Algorithm is UNDEFINED, MERGE or TEMPTABLE; Security is DEFINER or
	// INVOKER; Check is NONE, LOCAL or CASCADED.
	Algorithm string `json:"algorithm"`
	Security  string `json:"security"`
	Check     string `json:"check"`
	// DefinerUser and DefinerHost are the account that is shown.
	DefinerUser string `json:"definer_user"`
	DefinerHost string `json:"definer_host"`
	// Mode is the sql_mode and Collation the connection's collation with which
	// the view was made; it is bound with them.
	Mode      uint64      `json:"mode"`
	Collation CollationID `json:"collation"`
	// CreatedUnix is the time of creation, seconds since 1970.
	CreatedUnix int64 `json:"created"`
}
