package priv

import (
	"bytes"
	"fmt"
	"iter"
	"math/bits"
	"strings"
)

// Mask is a set of static privileges.
type Mask uint64

// The static privileges, in the order in which MySQL names them.
const (
	Select Mask = 1 << iota
	Insert
	Update
	Delete
	Create
	Drop
	Reload
	Shutdown
	Process
	File
	GrantOption
	References
	Index
	Alter
	ShowDatabases
	Super
	CreateTemporaryTables
	LockTables
	Execute
	ReplicationSlave
	ReplicationClient
	CreateView
	ShowView
	CreateRoutine
	AlterRoutine
	CreateUser
	Event
	Trigger
	CreateTablespace
	CreateRole
	DropRole

	end
)

// Sets of privileges: those that may be granted at a level. OnTable and OnDatabase
// have those that let an account see a table or a database.
const (
	AllGlobal   = end - 1
	AllDatabase = Select | Insert | Update | Delete | Create | Drop | GrantOption | References | Index | Alter | CreateTemporaryTables |
		LockTables | Execute | CreateView | ShowView | CreateRoutine | AlterRoutine | Event | Trigger
	AllTable  = Select | Insert | Update | Delete | Create | Drop | GrantOption | References | Index | Alter | CreateView | ShowView | Trigger
	AllColumn = Select | Insert | Update | References

	OnTable    = AllTable &^ GrantOption
	OnDatabase = AllDatabase &^ GrantOption
)

var maskNames = [...]string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "RELOAD", "SHUTDOWN", "PROCESS", "FILE", "GRANT OPTION",
	"REFERENCES", "INDEX", "ALTER", "SHOW DATABASES", "SUPER", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE", "REPLICATION SLAVE",
	"REPLICATION CLIENT", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "CREATE USER", "EVENT", "TRIGGER", "CREATE TABLESPACE",
	"CREATE ROLE", "DROP ROLE"}

// Each gives the privileges of m one by one, in order.
func (m Mask) Each() iter.Seq[Mask] {
	return func(yield func(Mask) bool) {
		for ; m != 0; m &= m - 1 {
			if !yield(m & -m) {
				return
			}
		}
	}
}

// Name is the name of a single privilege in GRANT.
func (m Mask) Name() string { return maskNames[bits.TrailingZeros64(uint64(m))] }

// String is the list of privileges as GRANT has it, without GRANT OPTION: "SELECT,
// INSERT", or USAGE for none.
func (m Mask) String() string {
	var list []string
	for p := range (m &^ GrantOption).Each() {
		list = append(list, p.Name())
	}
	if list == nil {
		return "USAGE"
	}
	return strings.Join(list, ", ")
}

// Command is the list as errors have it: GRANT OPTION is GRANT there.
func (m Mask) Command() string {
	var list []string
	for p := range m.Each() {
		name := p.Name()
		if p == GrantOption {
			name = "GRANT"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// MarshalText writes the names, as the catalog keeps them.
func (m Mask) MarshalText() ([]byte, error) {
	var b []byte
	for p := range m.Each() {
		if b != nil {
			b = append(b, ',')
		}
		b = append(b, p.Name()...)
	}
	return b, nil
}

// UnmarshalText reads what MarshalText wrote.
func (m *Mask) UnmarshalText(b []byte) error {
	*m = 0
	for len(b) > 0 {
		name, rest, _ := bytes.Cut(b, []byte{','})
		p := Parse(string(name))
		if p == 0 {
			return fmt.Errorf("unknown privilege %q", name)
		}
		*m, b = *m|p, rest
	}
	return nil
}

// Parse finds a static privilege by its name in GRANT; 0 if none has it.
func Parse(name string) Mask {
	for i, n := range maskNames {
		if strings.EqualFold(n, name) {
			return 1 << i
		}
	}
	return 0
}

// Dynamics is a set of dynamic privileges.
type Dynamics uint64

// The dynamic privileges that statements need. Others are kept and shown.
const (
	AllowNonexistentDefiner Dynamics = 1 << iota
	ApplicationPasswordAdmin
	AuditAbortExempt
	AuditAdmin
	AuthenticationPolicyAdmin
	BackupAdmin
	BinlogAdmin
	BinlogEncryptionAdmin
	CloneAdmin
	ConnectionAdmin
	CreateSpatialReferenceSystem
	EncryptionKeyAdmin
	FirewallExempt
	FlushOptimizerCosts
	FlushPrivileges
	FlushStatus
	FlushTables
	FlushUserResources
	GroupReplicationAdmin
	GroupReplicationStream
	InnodbRedoLogArchive
	InnodbRedoLogEnable
	OptimizeLocalTable
	PasswordlessUserAdmin
	PersistRoVariablesAdmin
	ReplicationApplier
	ReplicationSlaveAdmin
	ResourceGroupAdmin
	ResourceGroupUser
	RoleAdmin
	SensitiveVariablesObserver
	ServiceConnectionAdmin
	SessionVariablesAdmin
	SetAnyDefiner
	SetUserID
	ShowRoutine
	SystemUser
	SystemVariablesAdmin
	TableEncryptionAdmin
	TelemetryLogAdmin
	TransactionGtidTag
	XARecoverAdmin

	endDynamic
)

// AllDynamic are the dynamic privileges of ALL: SET_USER_ID is one of MySQL 8.0 that 8.4
// has no more, and that dumps of accounts have.
const AllDynamic = (endDynamic - 1) &^ SetUserID

var dynamicNames = [...]string{"ALLOW_NONEXISTENT_DEFINER", "APPLICATION_PASSWORD_ADMIN", "AUDIT_ABORT_EXEMPT", "AUDIT_ADMIN",
	"AUTHENTICATION_POLICY_ADMIN", "BACKUP_ADMIN", "BINLOG_ADMIN", "BINLOG_ENCRYPTION_ADMIN", "CLONE_ADMIN", "CONNECTION_ADMIN",
	"CREATE_SPATIAL_REFERENCE_SYSTEM", "ENCRYPTION_KEY_ADMIN", "FIREWALL_EXEMPT", "FLUSH_OPTIMIZER_COSTS", "FLUSH_PRIVILEGES", "FLUSH_STATUS",
	"FLUSH_TABLES", "FLUSH_USER_RESOURCES", "GROUP_REPLICATION_ADMIN", "GROUP_REPLICATION_STREAM", "INNODB_REDO_LOG_ARCHIVE",
	"INNODB_REDO_LOG_ENABLE", "OPTIMIZE_LOCAL_TABLE", "PASSWORDLESS_USER_ADMIN", "PERSIST_RO_VARIABLES_ADMIN", "REPLICATION_APPLIER",
	"REPLICATION_SLAVE_ADMIN", "RESOURCE_GROUP_ADMIN", "RESOURCE_GROUP_USER", "ROLE_ADMIN", "SENSITIVE_VARIABLES_OBSERVER",
	"SERVICE_CONNECTION_ADMIN", "SESSION_VARIABLES_ADMIN", "SET_ANY_DEFINER", "SET_USER_ID", "SHOW_ROUTINE", "SYSTEM_USER",
	"SYSTEM_VARIABLES_ADMIN", "TABLE_ENCRYPTION_ADMIN", "TELEMETRY_LOG_ADMIN", "TRANSACTION_GTID_TAG", "XA_RECOVER_ADMIN"}

// OfSuper are the dynamic privileges that SUPER has as well.
const OfSuper = SystemVariablesAdmin | SessionVariablesAdmin | ConnectionAdmin | BinlogAdmin | ReplicationSlaveAdmin | RoleAdmin | SetAnyDefiner |
	XARecoverAdmin

// Each gives the privileges of d one by one, in the order of their names.
func (d Dynamics) Each() iter.Seq[Dynamics] {
	return func(yield func(Dynamics) bool) {
		for ; d != 0; d &= d - 1 {
			if !yield(d & -d) {
				return
			}
		}
	}
}

// Name is the name of a single dynamic privilege.
func (d Dynamics) Name() string { return dynamicNames[bits.TrailingZeros64(uint64(d))] }

// String is the list of privileges as SHOW GRANTS has it: "BACKUP_ADMIN,ROLE_ADMIN".
func (d Dynamics) String() string {
	var list []string
	for p := range d.Each() {
		list = append(list, p.Name())
	}
	return strings.Join(list, ",")
}

// MarshalText writes the names, as the catalog keeps them.
func (d Dynamics) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Dynamics) UnmarshalText(b []byte) error {
	*d = 0
	for len(b) > 0 {
		name, rest, _ := bytes.Cut(b, []byte{','})
		p := ParseDynamic(string(name))
		if p == 0 {
			return fmt.Errorf("unknown privilege %q", name)
		}
		*d, b = *d|p, rest
	}
	return nil
}

// ParseDynamic finds a dynamic privilege by its name; 0 if none has it.
func ParseDynamic(name string) Dynamics {
	for i, n := range dynamicNames {
		if strings.EqualFold(n, name) {
			return 1 << i
		}
	}
	return 0
}
