package logical

import "github.com/sqlots/sqlots/sql/priv"

// GrantLevel says on what privileges are granted: everything, a pattern of databases, or a
// table.
type GrantLevel struct {
	Global bool
	// DB is a pattern where Table is "".
	DB, Table string
}

// GrantColumns are privileges on a column.
type GrantColumns struct {
	Column string
	Mask   priv.Mask
}

// Grant is GRANT and REVOKE of privileges.
type Grant struct {
	Revoke bool
	Level  GrantLevel
	// All is ALL PRIVILEGES; else Mask, Dynamic and Columns are what is listed. GRANT OPTION
	// is in Mask.
	All     bool
	Mask    priv.Mask
	Dynamic priv.Dynamics
	Columns []GrantColumns
	// WithGrant is WITH GRANT OPTION.
	WithGrant bool
	// Everything is REVOKE ALL PRIVILEGES, GRANT OPTION, which has no level.
	Everything bool
	Users      []UserSpec
	// As is AS of GRANT, nil without.
	As *GrantAs
	// IfExists and IgnoreUnknown are those of REVOKE.
	IfExists, IgnoreUnknown bool
}

// GrantAs is AS user WITH ROLE: whose restrictions the grant has.
type GrantAs struct {
	User   UserSpec
	Choice RoleChoice
	Roles  []priv.Name
}

// GrantRole is GRANT and REVOKE of roles.
type GrantRole struct {
	Revoke                  bool
	Roles                   []priv.Name
	Users                   []UserSpec
	Admin                   bool // WITH ADMIN OPTION
	IfExists, IgnoreUnknown bool
}

// RoleChoice is how roles are chosen: a list, or a word for one.
type RoleChoice uint8

// Choices of roles.
const (
	RolesListed RoleChoice = iota
	RolesDefault
	RolesNone
	RolesAll
	RolesAllExcept
)

// SetRole is SET ROLE.
type SetRole struct {
	Choice RoleChoice
	Roles  []priv.Name
}

// SetDefaultRole is SET DEFAULT ROLE, and ALTER USER … DEFAULT ROLE.
type SetDefaultRole struct {
	Choice RoleChoice
	Roles  []priv.Name
	Users  []UserSpec
}

func (*GrantRole) statement()      {}
func (*SetRole) statement()        {}
func (*SetDefaultRole) statement() {}
