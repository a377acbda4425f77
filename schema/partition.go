package schema

import (
	"slices"
	"strings"
)

// PartitionColumn is the name of the hidden BIGINT column that has the number of a
// row's partition. It is the first part of the primary key of a partitioned table, so
// that the rows of a partition are one span of keys.
const PartitionColumn = "_partition"

// PartitionKind is how rows are spread over partitions.
type PartitionKind uint8

// Kinds of partitioning.
const (
	PartitionRange PartitionKind = iota
	PartitionList
	PartitionHash
	PartitionKey
)

// String is the kind in SQL.
func (k PartitionKind) String() string { return [...]string{"RANGE", "LIST", "HASH", "KEY"}[k] }

// Listed reports the kinds whose partitions say which values they take.
func (k PartitionKind) Listed() bool { return k == PartitionRange || k == PartitionList }

// Partitioning is the PARTITION BY of a table.
type Partitioning struct {
	Kind PartitionKind `json:"kind"`
	// ByColumns: RANGE COLUMNS, LIST COLUMNS and KEY, which take the values of columns
	// and not that of an expression.
	ByColumns bool `json:"by_columns,omitempty"`
	Linear    bool `json:"linear,omitempty"`
	// Expr is the expression as SQL text, "" with ByColumns.
	Expr string `json:"expr,omitempty"`
	// Reads are the columns that the expression reads, or with ByColumns the columns.
	Reads []ColumnID `json:"reads"`
	// OfKey: KEY () without columns, which takes those of the primary key.
	OfKey bool `json:"of_key,omitempty"`
	// Named: the partitions of HASH and KEY were listed, or are shown as a list since
	// one of them has a name or an option of its own.
	Named      bool        `json:"named,omitempty"`
	Partitions []Partition `json:"partitions"`
	// Removed are the numbers of partitions that are gone and whose rows may still be
	// there: no statement sees them.
	Removed []int64 `json:"removed,omitempty"`
	// Column is the hidden column.
	Column ColumnID `json:"column"`
}

// Partition is one partition.
type Partition struct {
	Name string `json:"name"`
	// Number is what PartitionColumn has in its rows. Numbers of RANGE ascend in the
	// order of the partitions. None is used twice while Removed has it.
	Number int64 `json:"number"`
	// Less is the bound of RANGE, one value for each column.
	Less []PartitionValue `json:"less,omitempty"`
	// In are the values of LIST, each with a value for each column.
	In [][]PartitionValue `json:"in,omitempty"`
	// Comment, MaxRows and MinRows are options that change nothing.
	Comment string `json:"comment,omitempty"`
	MaxRows uint64 `json:"max_rows,omitempty"`
	MinRows uint64 `json:"min_rows,omitempty"`
}

// PartitionValue is a value in the definition of a partition, as MySQL's text of it.
type PartitionValue struct {
	Text []byte `json:"text,omitempty"`
	Null bool   `json:"null,omitempty"`
	Max  bool   `json:"max,omitempty"` // MAXVALUE
}

// PartitionByName is the position of a partition, ignoring case; -1 if it does not
// exist.
func (p *Partitioning) PartitionByName(name string) int {
	return slices.IndexFunc(p.Partitions, func(x Partition) bool { return strings.EqualFold(x.Name, name) })
}

// Numbers are those of the partitions, in their order.
func (p *Partitioning) Numbers() []int64 {
	out := make([]int64, len(p.Partitions))
	for i := range out {
		out[i] = p.Partitions[i].Number
	}
	return out
}

// PartitionName is the name of the partition with a number, "" for none.
func (p *Partitioning) PartitionName(number int64) string {
	for i := range p.Partitions {
		if p.Partitions[i].Number == number {
			return p.Partitions[i].Name
		}
	}
	return ""
}

// Clone is a copy that may be changed.
func (p *Partitioning) Clone() *Partitioning {
	if p == nil {
		return nil
	}
	c := *p
	c.Reads, c.Partitions, c.Removed = slices.Clone(p.Reads), slices.Clone(p.Partitions), slices.Clone(p.Removed)
	return &c
}

// IsPartitionColumn reports the hidden column of a partitioned table.
func (t *Table) IsPartitionColumn(id ColumnID) bool {
	return t.Partitioning != nil && t.Partitioning.Column == id
}

// DeclaredKey is the primary key without the part that has the partition: that of
// the definition, or HiddenKeyColumn.
func (t *Table) DeclaredKey() []KeyPart {
	if t.Partitioning != nil && len(t.PrimaryKey) > 0 && t.PrimaryKey[0].Column == t.Partitioning.Column {
		return t.PrimaryKey[1:]
	}
	return t.PrimaryKey
}
