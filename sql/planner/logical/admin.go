package logical

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/priv"
)

// Use is USE db.
type Use struct{ Database string }

// Begin is BEGIN and START TRANSACTION.
type Begin struct {
	ReadOnly, ReadWrite, ConsistentSnapshot bool
}

// Commit is COMMIT, with CHAIN and RELEASE as requested.
type Commit struct{ Completion }

// Completion is what follows the end of a transaction, as far as it was said.
type Completion struct{ Chain, NoChain, Release, NoRelease bool }

// Rollback is ROLLBACK, or ROLLBACK TO Savepoint.
type Rollback struct {
	Savepoint string
	Completion
}

// Savepoint is SAVEPOINT name; ReleaseSavepoint its opposite.
type Savepoint struct{ Name string }

// ReleaseSavepoint is RELEASE SAVEPOINT name.
type ReleaseSavepoint struct{ Name string }

// SetScope is the scope of a SET item.
type SetScope uint8

// Scopes of SET.
const (
	SetSession SetScope = iota
	SetGlobal
	SetPersist
	SetUserVar
	SetNextTransaction // SET TRANSACTION without a scope
	SetPersistOnly
)

// SetItem is one assignment of SET. A nil Value is DEFAULT. Names such as utf8mb4
// without quotes arrive as string constants.
type SetItem struct {
	Scope SetScope
	Name  string
	Value expr.Expr
}

// Set is SET of variables, also SET NAMES and SET TRANSACTION in terms of
// their variables.
type Set struct {
	Items []SetItem
	Reads
}

// Kill is KILL [CONNECTION | QUERY] id.
type Kill struct {
	ID    expr.Expr
	Query bool
}

// Call is CALL of one of the server's own procedures.
type Call struct {
	// Name is in lower case, without the database.
	Name string
	Args []expr.Expr
	Reads
	// Database is the current one, for tables that are named without.
	Database string
}

// Prepare, ExecutePrepared and Deallocate are the text protocol's prepared
// statements. Text is the statement, or FromVar the variable that holds it.
type Prepare struct{ Name, Text, FromVar string }

// ExecutePrepared is EXECUTE name USING @a, ….
type ExecutePrepared struct {
	Name string
	Vars []string
}

// Deallocate is DEALLOCATE PREPARE.
type Deallocate struct{ Name string }

// Do is DO expr, ….
type Do struct {
	Exprs []expr.Expr
	Reads
}

// UserSpec is an account in a statement. Where HasAuth is set, one of Password (clear
// text), Hash and Random is used.
type UserSpec struct {
	User, Host string
	// CurrentUser stands for USER() / CURRENT_USER.
	CurrentUser bool
	HasAuth     bool
	Plugin      string // "" for the default
	Password    string
	Hash        string
	IsHash      bool
	// Random is BY RANDOM PASSWORD; PluginOnly is IDENTIFIED WITH plugin and nothing else.
	Random, PluginOnly bool
	// Replace is the password of REPLACE, nil without.
	Replace *string
	// Retain is RETAIN CURRENT PASSWORD, Discard is DISCARD OLD PASSWORD.
	Retain, Discard bool
}

// ChangesPassword reports a change of the password that neither names a plugin nor a hash:
// what every account may do for itself, if the statement says nothing else.
func (u *UserSpec) ChangesPassword() bool { return u.HasAuth && u.Plugin == "" && !u.IsHash }

// CreateUser, AlterUser, DropUser, RenameUser and SetPassword manage accounts.
type CreateUser struct {
	Users       []UserSpec
	IfNotExists bool
	Options     AccountOptions
	// Role is CREATE ROLE; DefaultRoles are those of DEFAULT ROLE.
	Role         bool
	DefaultRoles []priv.Name
}

// AlterUser is ALTER USER.
type AlterUser struct {
	Users    []UserSpec
	IfExists bool
	Options  AccountOptions
	// DefaultRole is DEFAULT ROLE, which has no other clauses; nil without.
	DefaultRole *SetDefaultRole
}

// AccountOptions are the clauses that CREATE USER and ALTER USER have for all their
// accounts. What is nil is not in the statement.
type AccountOptions struct {
	Lock    *bool // ACCOUNT LOCK, false for UNLOCK
	Require *Require
	// The clauses of WITH.
	MaxQueries, MaxUpdates, MaxConnections, MaxUserConnections *int
	// Expire is PASSWORD EXPIRE; Lifetime that of EXPIRE INTERVAL, 0 for EXPIRE NEVER.
	Expire         bool
	Lifetime       *OrDefault[int]
	History        *OrDefault[int]
	ReuseDays      *OrDefault[int]
	RequireCurrent *OrDefault[bool] // false with OPTIONAL
	FailedAttempts *int
	LockDays       *int // -1 for UNBOUNDED
	// Attributes is the JSON object, as text, that COMMENT or ATTRIBUTE merges into that of
	// the account; "" for neither.
	Attributes string
}

// OrDefault is a value, or the word DEFAULT, for which it is nil.
type OrDefault[T any] struct{ Value *T }

// Require is REQUIRE: NONE is all zero, and each other form sets TLS.
type Require struct {
	TLS, X509               bool
	Cipher, Issuer, Subject string
}

// IsEmpty reports that the statement has no such clause.
func (o *AccountOptions) IsEmpty() bool { return *o == AccountOptions{} }

// DropUser is DROP USER.
type DropUser struct {
	Users    []UserSpec
	IfExists bool
	Role     bool // DROP ROLE
}

// SetPassword is SET PASSWORD [FOR user] = 'text', or TO RANDOM.
type SetPassword struct{ User UserSpec }

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	Name        string
	IfNotExists bool
	Collation   schema.CollationID // CollationNone for the default
}

// AlterDatabase changes the default collation of a database.
type AlterDatabase struct {
	Name      string
	Collation schema.CollationID
}

// DropDatabase is DROP DATABASE.
type DropDatabase struct {
	Name     string
	IfExists bool
}

// TableName is a qualified name.
type TableName struct{ DB, Name string }

// CreateTable is CREATE TABLE. Table has no id and version yet; column and
// index ids are set.
type CreateTable struct {
	Table       *schema.Table
	IfNotExists bool
	Temporary   bool
	// Like is set for CREATE TABLE … LIKE; Table is nil then.
	Like *TableName
	Name TableName
	// ForeignKeys are those of the definition; the DDL layer resolves them.
	ForeignKeys []ForeignKeyDef
	// PartitionBy is PARTITION BY, nil for none; the DDL layer resolves it.
	PartitionBy *define.PartitionBy
	// Source inserts the rows of CREATE TABLE … SELECT; its Table is not set.
	Source *Insert
}

// ForeignKeyDef is FOREIGN KEY (Columns) REFERENCES Table (References), in
// terms of names; Name is "" where none is given.
type ForeignKeyDef struct {
	Name                string
	Columns, References []string
	Table               TableName
	OnDelete, OnUpdate  schema.Action
}

// DropTable is DROP TABLE; TruncateTable is TRUNCATE.
type DropTable struct {
	Tables    []TableName
	IfExists  bool
	Temporary bool
}

// TruncateAll is CALL sys.ps_truncate_all_tables.
type TruncateAll struct{}

// TruncateTable is TRUNCATE TABLE.
type TruncateTable struct{ Table TableName }

// RenameTable is RENAME TABLE a TO b, c TO d.
type RenameTable struct{ From, To []TableName }

// AlterKind is the kind of one ALTER TABLE clause.
type AlterKind uint8

// Kinds of ALTER TABLE clauses.
const (
	AlterAddColumn AlterKind = iota
	AlterDropColumn
	AlterRenameColumn
	AlterModifyColumn // MODIFY and CHANGE: Column is the new definition
	AlterSetDefault
	AlterDropDefault
	AlterAddIndex
	AlterDropIndex
	AlterRenameIndex
	AlterIndexVisibility
	AlterAddPrimaryKey
	AlterDropPrimaryKey
	AlterRenameTable
	AlterAutoIncrement
	AlterComment
	AlterAttributes // SECONDARY_ENGINE_ATTRIBUTE
	AlterConvertCharset
	AlterDefaultCharset
	AlterEngine // accepted, remembered
	AlterAddForeignKey
	AlterDropForeignKey
	AlterNoOp       // FORCE, …
	AlterKeysSwitch // ENABLE KEYS, DISABLE KEYS
	AlterOrder      // ORDER BY Name, one for each column; no table has such an order
	AlterAddCheck
	AlterDropCheck    // of the CHECK constraint Name
	AlterConstraint   // DROP CONSTRAINT Name, of whatever kind
	AlterEnforceCheck // ENFORCED, or NOT ENFORCED with Check.NotEnforced
	AlterColumnVisibility
	AlterTTL
	AlterPartitionBy
	AlterRemovePartitioning
	AlterAddPartition        // Definitions, or Number of them
	AlterDropPartition       // Partitions
	AlterTruncatePartition   // Partitions or AllPartitions
	AlterCoalescePartition   // by Number
	AlterReorganizePartition // Partitions into Definitions
	AlterRebuildPartition    // Partitions or AllPartitions
	AlterSearchFields        // of the search index Name: without SearchDrop, with IndexColumns
)

// AlterSpec is one clause of ALTER TABLE, in terms of names: the DDL layer
// resolves them against the table's state at execution, clause by clause.
type AlterSpec struct {
	Kind AlterKind
	// Column is the definition of ADD and MODIFY (its ID is not set); Name the
	// column or index that is meant, NewName the new name.
	Column        schema.Column
	Name, NewName string
	IfExists      bool
	IfNotExists   bool
	First         bool
	After         string
	// Index is a definition whose parts are named in IndexColumns.
	Index        schema.Index
	IndexColumns []define.IndexColumn
	Include      []string
	Where        string               // the condition of a partial index
	Search       *schema.SearchIndex  // a search index, whose fields IndexColumns name
	SearchDrop   []define.IndexColumn // the fields of AlterSearchFields that go
	ForeignKey   ForeignKeyDef
	Default      *schema.Default
	Table        TableName // RENAME TO
	Number       uint64    // AUTO_INCREMENT
	Text         string    // COMMENT, ENGINE
	Collation    schema.CollationID
	Invisible    bool
	// Check is a new constraint as it was written: its name may be empty, its
	// columns are not resolved yet. CheckColumn is the column whose definition
	// contains it, "" otherwise.
	Check       schema.Check
	CheckColumn string
	// InlineKey and InlineUnique are PRIMARY KEY and UNIQUE in ADD COLUMN.
	InlineKey, InlineUnique bool
	// FromAttributes: the column takes its values from the attribute of its
	// name.
	FromAttributes bool
	TTL            *define.TTLChange
	PartitionBy    *define.PartitionBy
	// Partitions are names, Definitions new partitions.
	Partitions    []string
	AllPartitions bool
	Definitions   []define.PartitionDefinition
}

// IsPartitionClause reports the clauses about partitions.
func (k AlterKind) IsPartitionClause() bool {
	return k >= AlterPartitionBy && k <= AlterRebuildPartition
}

// AlterTable is ALTER TABLE, CREATE INDEX and DROP INDEX.
type AlterTable struct {
	Table TableName
	Specs []AlterSpec
	// Algorithm and Lock are the words of ALGORITHM= and LOCK=, "" for none.
	Algorithm, Lock string
}

// ResetPersist is RESET PERSIST; Name is "" for all variables.
type ResetPersist struct {
	Name     string
	IfExists bool
}

// LockTables and UnlockTables.
type LockTables struct {
	Tables []TableName
	Write  []bool
}

// UnlockTables is UNLOCK TABLES.
type UnlockTables struct{}

// AnalyzeTable is ANALYZE TABLE; Maintain is CHECK, OPTIMIZE, REPAIR and
// ADMIN CHECK TABLE.
type AnalyzeTable struct{ Tables []TableName }

// Maintain is a table maintenance statement; Op is check, optimize, repair or
// checksum.
type Maintain struct {
	Op     string
	Tables []TableName
	Quick  bool // CHECKSUM TABLE … QUICK
}

// Flush is FLUSH …; What names what, at least one thing.
type Flush struct{ What []string }

// Backup is BACKUP DATABASE * TO.
type Backup struct {
	To             string // a path
	Previous       string // that of the backup before an incremental one, or ""
	BytesPerSecond int64  // 0: no bound
}

// Shutdown is SHUTDOWN.
type Shutdown struct{}

// ReloadTLS is ALTER INSTANCE RELOAD TLS.
type ReloadTLS struct {
	// KeepTLS is false with NO ROLLBACK ON ERROR.
	KeepTLS bool
}

func (*Use) statement()              {}
func (*Backup) statement()           {}
func (*Begin) statement()            {}
func (*Commit) statement()           {}
func (*Rollback) statement()         {}
func (*Savepoint) statement()        {}
func (*ReleaseSavepoint) statement() {}
func (*Set) statement()              {}
func (*Kill) statement()             {}
func (*Call) statement()             {}
func (*Prepare) statement()          {}
func (*ExecutePrepared) statement()  {}
func (*Deallocate) statement()       {}
func (*Do) statement()               {}
func (*CreateUser) statement()       {}
func (*AlterUser) statement()        {}
func (*DropUser) statement()         {}
func (*SetPassword) statement()      {}
func (*Grant) statement()            {}
func (*CreateDatabase) statement()   {}
func (*AlterDatabase) statement()    {}
func (*DropDatabase) statement()     {}
func (*CreateTable) statement()      {}
func (*DropTable) statement()        {}
func (*TruncateTable) statement()    {}
func (*TruncateAll) statement()      {}
func (*RenameTable) statement()      {}
func (*AlterTable) statement()       {}
func (*LockTables) statement()       {}
func (*UnlockTables) statement()     {}
func (*ResetPersist) statement()     {}
func (*AnalyzeTable) statement()     {}
func (*Maintain) statement()         {}
func (*Flush) statement()            {}
func (*Shutdown) statement()         {}
func (*ReloadTLS) statement()        {}
