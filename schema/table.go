package schema

import "strings"

// TableID, IndexID and ColumnID are unique for ever within a store (tables)
// or a table (the others): a dropped one is never given out again.
type (
	TableID  uint32
	IndexID  uint16
	ColumnID uint16
)

// PrimaryIndexID is the IndexID under which the rows themselves are stored.
const PrimaryIndexID IndexID = 0

// MaxDeclaredColumnID is the highest id of a declared column; the ids above
// belong to attribute columns.
const MaxDeclaredColumnID ColumnID = 32767

// HiddenKeyColumn is the name of the BIGINT column that orders a table
// without PRIMARY KEY. It is not visible in SQL.
const HiddenKeyColumn = "_row_id"

// AttributesName is the name of the column that has the attributes of a row.
const AttributesName = "_attributes"

// Column is a declared column.
type Column struct {
	ID       ColumnID `json:"id"`
	Name     string   `json:"name"`
	Type     Type     `json:"type"`
	Nullable bool     `json:"nullable,omitempty"`
	// Default is what an INSERT that leaves the column out stores.
	Default *Default `json:"default,omitempty"`
	// OnUpdateNow is set for ON UPDATE CURRENT_TIMESTAMP.
	OnUpdateNow   bool   `json:"on_update_now,omitempty"`
	AutoIncrement bool   `json:"auto_increment,omitempty"`
	Comment       string `json:"comment,omitempty"`
	Hidden        bool   `json:"hidden,omitempty"`
	// Invisible columns are left out where a statement names none: SELECT *,
	// INSERT without a list.
	Invisible bool `json:"invisible,omitempty"`
	// Generated is set for a column that is computed from others.
	Generated *Generated `json:"generated,omitempty"`
	// Array is set for the hidden column of CAST(… AS type ARRAY) in a
	// multi-valued index: the type of the elements. Type is JSON.
	Array *Type `json:"array,omitempty"`
	// AddedDefault is the value that rows written before the column existed
	// have (instant ADD COLUMN); nil for NULL.
	AddedDefault *Default `json:"added_default,omitempty"`
	// Attributes is set for the JSON column that has the attributes of a table
	// with dynamic columns: an object, {} where a row has none.
	Attributes bool `json:"attributes,omitempty"`
}

// Default is a column default: a literal in MySQL's text form, NULL, or an
// expression in SQL text.
type Default struct {
	Null    bool   `json:"null,omitempty"`
	Literal string `json:"literal,omitempty"`
	// Expr is the SQL text of an expression default, such as
	// CURRENT_TIMESTAMP(3) or (uuid()); empty for a literal.
	Expr string `json:"expr,omitempty"`
	// Reads are the columns that the expression reads.
	Reads []ColumnID `json:"reads,omitempty"`
}

// KeyPart is one column of a key.
type KeyPart struct {
	Column ColumnID `json:"column"`
	Desc   bool     `json:"desc,omitempty"`
	// Prefix is the number of leading characters (bytes for binary) that are
	// indexed, 0 for the whole value.
	Prefix int `json:"prefix,omitempty"`
}

// IndexState is the state of an index on its way in and out.
type IndexState uint8

// Index states: only Public is read and written. While an index is Building,
// its entries belong to the builder, and writers note what they change. 1 and 2
// were states of earlier versions, for indexes that were never finished.
const (
	IndexPublic   IndexState = 0
	IndexBuilding IndexState = 3
)

// String is the state's name.
func (s IndexState) String() string {
	switch s {
	case IndexPublic:
		return "public"
	case IndexBuilding:
		return "building"
	}
	return "unfinished"
}

// Index is a secondary index.
type Index struct {
	ID     IndexID    `json:"id"`
	Name   string     `json:"name"`
	Unique bool       `json:"unique,omitempty"`
	Parts  []KeyPart  `json:"parts"`
	State  IndexState `json:"state,omitempty"`
	// Include are the columns that are stored in the entry without being keys.
	Include []ColumnID `json:"include,omitempty"`
	Sparse  bool       `json:"sparse,omitempty"`
	// Where is the hidden column that holds the condition of a partial index:
	// rows for which it is not true have no entry. 0 for none.
	Where     ColumnID `json:"where,omitempty"`
	Invisible bool     `json:"invisible,omitempty"`
	Comment   string   `json:"comment,omitempty"`
	// Generated: a foreign key needed it, no statement named it. It is dropped when
	// an index is added that serves as well.
	Generated bool `json:"generated,omitempty"`
}

// Table is a table.
type Table struct {
	ID       TableID `json:"id"`
	Database string  `json:"database"`
	Name     string  `json:"name"`
	// Version grows with each change of this descriptor.
	Version uint32 `json:"version"`
	// Columns in their SQL order. Ids need not ascend.
	Columns []Column `json:"columns"`
	// PrimaryKey orders the rows. It is never empty: a table without PRIMARY
	// KEY has HiddenKeyColumn. That of a partitioned table begins with
	// PartitionColumn, see DeclaredKey.
	PrimaryKey   []KeyPart   `json:"primary_key"`
	Indexes      []Index     `json:"indexes,omitempty"`
	Checks       []Check     `json:"checks,omitempty"`
	NextColumnID ColumnID    `json:"next_column_id"`
	NextIndexID  IndexID     `json:"next_index_id"`
	Collation    CollationID `json:"collation"`
	Comment      string      `json:"comment,omitempty"`
	// AutoIncrement is the first value that AUTO_INCREMENT = n set.
	AutoIncrement uint64 `json:"auto_increment,omitempty"`
	// Engine is the ENGINE name as the user wrote it, for SHOW CREATE TABLE.
	Engine string `json:"engine,omitempty"`
	// CreatedUnix is the time of creation, seconds since 1970.
	CreatedUnix int64        `json:"created"`
	ForeignKeys []ForeignKey `json:"foreign_keys,omitempty"`
	// Attributes is the SECONDARY_ENGINE_ATTRIBUTE as the user wrote it.
	Attributes string `json:"attributes,omitempty"`
	// Stream is the change log, nil for none.
	Stream *Stream `json:"stream,omitempty"`
	// MaxVersions is how many versions of a row are kept, the current one
	// included; 0 as 1.
	MaxVersions int `json:"max_versions,omitempty"`
	// VersionRetention is for how many seconds earlier versions are kept at
	// least, 0 for as long as there are not too many.
	VersionRetention int64 `json:"version_retention,omitempty"`
	// TTL is when rows expire, nil for never.
	TTL *TTL `json:"ttl,omitempty"`
	// Search are the search indexes.
	Search []SearchIndex `json:"search,omitempty"`
	// Partitioning is PARTITION BY, nil for none.
	Partitioning *Partitioning `json:"partitioning,omitempty"`
	// Derived is set where the descriptor is made for a statement.
	Derived *Derived `json:"-"`
}

// Column finds a column by its id; nil if it does not exist.
func (t *Table) Column(id ColumnID) *Column {
	for i := range t.Columns {
		if t.Columns[i].ID == id {
			return &t.Columns[i]
		}
	}
	return nil
}

// ColumnIndex is the position of a column in Columns by id, -1 if none.
func (t *Table) ColumnIndex(id ColumnID) int {
	for i := range t.Columns {
		if t.Columns[i].ID == id {
			return i
		}
	}
	return -1
}

// ColumnByName finds a column, ignoring case; -1 if it does not exist.
func (t *Table) ColumnByName(name string) int {
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}

// AttributesColumn is the position of the column that has the attributes of a
// row, -1 in a table without dynamic columns.
func (t *Table) AttributesColumn() int {
	for i := range t.Columns {
		if t.Columns[i].Attributes {
			return i
		}
	}
	return -1
}

// AutoInKey is the position in the primary key of the AUTO_INCREMENT column where
// it counts for each prefix of the key before it: not as the first part, and
// where no index begins with it. 0 for tables without such a column.
func (t *Table) AutoInKey() int {
	if t.Partitioning != nil {
		return 0 // the partition may depend on the number
	}
	for i := 1; i < len(t.PrimaryKey); i++ {
		id := t.PrimaryKey[i].Column
		if c := t.Column(id); c == nil || !c.AutoIncrement {
			continue
		}
		for j := range t.Indexes {
			if x := &t.Indexes[j]; x.Parts[0].Column == id && x.State == IndexPublic {
				return 0
			}
		}
		return i
	}
	return 0
}

// IndexClasses is the number of classes of IndexClass.
const IndexClasses = 3

// IndexClass is the place of x among the indexes as MySQL sorts them, which is also the
// order in which duplicates are found: unique ones without NULL, unique ones, the
// others. A class keeps the order of declaration.
func (t *Table) IndexClass(x *Index) int {
	if !x.Unique {
		return 2
	}
	for _, p := range x.Parts {
		if c := t.Column(p.Column); c == nil || c.Nullable {
			return 1
		}
	}
	return 0
}

// IndexByName finds a secondary index, ignoring case; nil if it does not exist.
func (t *Table) IndexByName(name string) *Index {
	for i := range t.Indexes {
		if strings.EqualFold(t.Indexes[i].Name, name) {
			return &t.Indexes[i]
		}
	}
	return nil
}

// HasHiddenKey reports whether the table has no PRIMARY KEY of its own.
func (t *Table) HasHiddenKey() bool {
	c := t.Column(t.DeclaredKey()[0].Column)
	return c != nil && c.Hidden
}

// IsPrimaryKeyPart reports whether the column is part of the primary key.
func (t *Table) IsPrimaryKeyPart(id ColumnID) bool {
	for _, p := range t.PrimaryKey {
		if p.Column == id {
			return true
		}
	}
	return false
}

// IsWholeKeyPart reports whether the column is part of the primary key with all
// of its value.
func (t *Table) IsWholeKeyPart(id ColumnID) bool {
	for _, p := range t.PrimaryKey {
		if p.Column == id && p.Prefix == 0 {
			return true
		}
	}
	return false
}

// EntryParts are the key columns of an entry of index x: its own, then the
// primary-key columns that are not among them as whole ascending or descending
// columns, in the order of the primary key.
func (t *Table) EntryParts(x *Index) []KeyPart {
	parts := append(make([]KeyPart, 0, len(x.Parts)+len(t.PrimaryKey)), x.Parts...)
	for _, pk := range t.PrimaryKey {
		found := false
		for _, p := range x.Parts {
			found = found || p.Column == pk.Column && p.Prefix == 0
		}
		if !found {
			parts = append(parts, pk)
		}
	}
	return parts
}

// ArrayPart is the part of a multi-valued index that has an entry for each
// element of an array; -1 for other indexes.
func (t *Table) ArrayPart(x *Index) int {
	for i, p := range x.Parts {
		if c := t.Column(p.Column); c != nil && c.Array != nil {
			return i
		}
	}
	return -1
}

// HoldsAll reports whether the index has exactly one entry for each row.
func (t *Table) HoldsAll(x *Index) bool {
	return !x.Sparse && x.Where == 0 && t.ArrayPart(x) < 0
}

// KeyType is the type of the values by which a key orders a column.
func (c *Column) KeyType() Type {
	if c.Array != nil {
		return *c.Array
	}
	return c.Type
}

// Clone is a deep copy that may be changed.
func (t *Table) Clone() *Table {
	c := *t
	c.Columns = append([]Column(nil), t.Columns...)
	c.PrimaryKey = append([]KeyPart(nil), t.PrimaryKey...)
	c.Checks = append([]Check(nil), t.Checks...)
	c.Indexes = append([]Index(nil), t.Indexes...)
	for i := range c.Indexes {
		x := &c.Indexes[i]
		x.Parts = append([]KeyPart(nil), x.Parts...)
		x.Include = append([]ColumnID(nil), x.Include...)
	}
	c.Search = append([]SearchIndex(nil), t.Search...)
	for i := range c.Search {
		c.Search[i] = c.Search[i].Clone()
	}
	c.Partitioning = t.Partitioning.Clone()
	c.ForeignKeys = append([]ForeignKey(nil), t.ForeignKeys...)
	for i := range c.ForeignKeys {
		k := &c.ForeignKeys[i]
		k.Columns = append([]ColumnID(nil), k.Columns...)
		k.References = append([]string(nil), k.References...)
	}
	return &c
}

// Database is a schema in MySQL's sense.
type Database struct {
	Name      string      `json:"name"`
	Collation CollationID `json:"collation"`
}
