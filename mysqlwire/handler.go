package mysqlwire

import (
	"context"
	"crypto/tls"
	"io"
	"net"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Backend is what the server needs of the engine. Its methods are called
// concurrently.
type Backend interface {
	// Account finds the account that serves a user from a host (an address
	// without port, or "localhost" for loopback). If there is none, the plugin is
	// that with which a client is refused that must not learn this.
	Account(user, host string) (Account, bool)
	// LoginTried learns whether the password was right of each login as an account that
	// exists, from a host. Its error refuses the login, also one with the right password.
	LoginTried(a *Account, host string, right bool) error
	// Connect makes the session of an authenticated connection, or of a
	// connection that changed its user.
	Connect(ctx context.Context, info ConnInfo) (Session, error)
}

// Account is what authentication needs of an account.
type Account struct {
	User, Host string // as in CREATE USER, host may be a pattern
	// Plugin is mysql_native_password or caching_sha2_password.
	Plugin string
	// AuthString is the stored hash in MySQL's form for the plugin
	// (mysql.user.authentication_string); empty for no password.
	AuthString string
	// SecondAuth is a second password that is right, in the same form; "" for none.
	SecondAuth string
	Locked     bool
	Require    Requirements
	// Expired: the session is a sandbox until the password is changed.
	Expired bool
	// MaxConnections is how many connections the account may have, 0 for what
	// Limits.UserConnections says.
	MaxConnections int
	// Open lets in whoever comes, with any password and without one.
	Open bool
	// LoopbackOnly refuses the account on connections from elsewhere.
	LoopbackOnly bool
	// SocketOnly refuses the account on all connections but those of a unix socket.
	SocketOnly bool
	// Administrator admits the account to the administrative address, and beyond
	// the limits of connections.
	Administrator bool
}

// ConnInfo describes a connection to Connect.
type ConnInfo struct {
	ID         uint64 // connection id, unique since the server started
	User       string // as the client gave it
	Account    Account
	RemoteAddr net.Addr
	Database   string // initial database, may be empty
	Collation  schema.CollationID
	Attributes [][2]string          // names and values, in the order of the client
	TLS        *tls.ConnectionState // nil without TLS
	// MultiStatements, FoundRows and LocalFiles are client capabilities.
	MultiStatements bool
	FoundRows       bool
	LocalFiles      bool
	// Protocol is how a guest is connected, such as "HTTP"; empty for clients of this
	// protocol.
	Protocol string
	// Interactive is set by interactive clients: the session's wait_timeout
	// starts as interactive_timeout.
	Interactive bool
	// ChangesUser is COM_CHANGE_USER of a connection that has logged in before.
	ChangesUser bool
	// Kill ends the connection; the session registers it for KILL.
	Kill func()
}

// RefusedLogin is a login that failed: Info as far as it is known, and why. Reason is more
// than the client learns; Err is nil where the client has gone.
type RefusedLogin struct {
	Info   ConnInfo
	Reason string
	Err    *sqlerr.Error
}

// Session is one connection's session. Its methods are called by one
// goroutine at a time. The context of a call is cancelled when the client
// disconnects, the server stops or the session's own KILL cancels it. Errors
// that are no *sqlerr.Error reach the client as 1105.
type Session interface {
	// Query runs the statement or statements of a COM_QUERY and writes each
	// result to w. An error ends the answer; results already written stay.
	// Without an error the last result must have been written with More unset.
	Query(ctx context.Context, text string, w ResultWriter) error
	// Prepare prepares a statement.
	Prepare(ctx context.Context, text string) (*Prepared, error)
	// Execute runs a prepared statement with its parameters. Their bytes are
	// valid until it returns.
	Execute(ctx context.Context, id uint32, params []Param, w ResultWriter) error
	// CloseStatement forgets a prepared statement; unknown ids are fine.
	CloseStatement(id uint32)
	// UseDatabase is COM_INIT_DB.
	UseDatabase(ctx context.Context, name string) error
	// FieldList is COM_FIELD_LIST: the columns of a table.
	FieldList(ctx context.Context, table, wildcard string) ([]Column, error)
	// Reset is COM_RESET_CONNECTION.
	Reset(ctx context.Context) error
	// KillConnection is COM_PROCESS_KILL.
	KillConnection(ctx context.Context, id uint64) error
	// Statistics is the line of COM_STATISTICS.
	Statistics() string
	// Status is the current status flags (StatusInTransaction, …).
	Status() Status
	// MaxAllowedPacket is the session's limit for packets from the client, in
	// bytes; NetWriteTimeout and WaitTimeout the session's, in seconds.
	MaxAllowedPacket() int
	WaitTimeout() int
	NetWriteTimeout() int
	// Close ends the session, rolling back what is open.
	Close()
}

// The interfaces below are optional abilities of a Session, found by
// assertion.
type (
	// ResultCollationer is a session that knows SET NAMES: the collation of
	// character_set_results, which column definitions name; CollationNone
	// leaves each column its own. Without it the collation of the handshake
	// is named.
	ResultCollationer interface{ ResultCollation() schema.CollationID }
	// MultiStatementer is a session that can switch multi-statements
	// (COM_SET_OPTION); without it that command is unknown.
	MultiStatementer interface{ SetMultiStatements(on bool) }
	// Databaser is a session that reports its current database, so that its
	// changes can be sent to clients that track session state.
	Databaser interface{ Database() string }
	// Sandboxer is a session that reports whether its password has expired: then only
	// COM_QUERY and the few commands that do nothing are run, others fail with 1820.
	Sandboxer interface{ Sandboxed() bool }
	// StateTracker is a session that reports what changed in it, for clients that
	// requested session tracking.
	StateTracker interface {
		// TracksSchema reports whether changes of the database are sent.
		TracksSchema() bool
		// StateChanges are the changes since the last call.
		StateChanges() []StateChange
	}
)

// Status is the server status flags of OK and EOF packets.
type Status uint16

// Status flags.
const (
	StatusInTransaction      Status = 0x0001
	StatusAutocommit         Status = 0x0002
	StatusMoreResults        Status = 0x0008
	StatusNoGoodIndexUsed    Status = 0x0010
	StatusNoIndexUsed        Status = 0x0020
	StatusCursorExists       Status = 0x0040
	StatusLastRowSent        Status = 0x0080
	StatusDBDropped          Status = 0x0100
	StatusNoBackslashEscapes Status = 0x0200
	StatusInReadOnlyTxn      Status = 0x2000
	StatusSessionChanged     Status = 0x4000
)

// Prepared describes a prepared statement.
type Prepared struct {
	ID       uint32 // chosen by the session
	Params   int
	Columns  *Header // nil when it returns no rows
	Warnings int
}

// Param is a parameter of Execute, in the type that the client sent.
type Param struct {
	D value.Datum
	// Type is what the client said: BIGINT [UNSIGNED], DOUBLE, VARCHAR,
	// BLOB, DATETIME, TIME, … Strings have the connection's collation.
	Type schema.Type
}

// Column describes a result column.
type Column struct {
	Database, Table, OrgTable, Name, OrgName string
	Type                                     schema.Type
	NotNull                                  bool
	Role                                     schema.Role
}

// OK is the end of a statement without rows.
type OK struct {
	AffectedRows uint64
	LastInsertID uint64
	Warnings     int
	Info         string // "Records: 3  Duplicates: 0  Warnings: 0"
	// More says that another result of the same command follows.
	More bool
}

// End is the end of a result set.
type End struct {
	Warnings int
	More     bool
	Flags    Status // additional flags (no index used, …)
}

// ResultWriter takes the results of one command. It belongs to the goroutine
// that runs the statement. A write error means that the client is gone.
type ResultWriter interface {
	// ColumnFlags are further flags of the packet after the columns of the next
	// result, for clients that have one there.
	ColumnFlags(Status)
	// Binary reports the binary protocol (prepared statements).
	Binary() bool
	// Header starts a result set.
	Header(h *Header) error
	// Batch writes the live rows of b, whose columns have the kinds of the
	// header's types in order. The batch may be reused after the call.
	Batch(b *vec.Batch) error
	// Row writes one row of datums.
	Row(row []value.Datum) error
	// End ends the result set.
	End(e End) error
	// OK answers a statement without rows.
	OK(ok OK) error
	// LoadLocal requests a file from the client (LOAD DATA LOCAL INFILE); the
	// reader must be read to its end or closed before anything else is
	// written. It fails with 3948 when the client does not allow it.
	LoadLocal(name string) (io.ReadCloser, error)
}

// Endless is a file that may have no end. Close reads it away; when ctx is done, not for
// long.
type Endless interface {
	io.ReadCloser
	EndWith(ctx context.Context)
}
