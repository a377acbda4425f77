package infoschema

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// Variable is a system or status variable with its value as SHOW prints it.
type Variable struct{ Name, Value string }

// VariableInfo is where a system variable has its value from.
type VariableInfo struct {
	Name, Source, Min, Max string
	Persisted              bool
	Value                  string // the persisted one
	SetTime                time.Time
	SetUser, SetHost       string
}

// Process is one connection.
type Process struct {
	ID                                   uint64
	User, Host, DB, Command, State, Info string
	Since                                time.Time
	Attributes                           [][2]string          // names and values that the client gave
	TLS                                  *tls.ConnectionState // nil without
}

// Transaction is one open transaction, for INNODB_TRX.
type Transaction struct {
	ID       uint64
	ThreadID uint64
	Started  time.Time
	State    string // RUNNING or LOCK WAIT
	ReadOnly bool
	// Isolation is the level in words, Query the statement that runs.
	Isolation, Query string
	// Requested is the lock that it waits for, "" for none.
	Requested   string
	WaitStarted time.Time
	// Locks are the keys that it has locked, RowsLocked the rows among them.
	Locks, RowsLocked, TablesLocked uint64
	RowsModified                    uint64
}

// LockedKey is a key that transactions have locked, or wait for, or a range of keys.
type LockedKey struct {
	Database, Table, Index string
	// Partition is the name of the partition of a row, "" for none.
	Partition string
	// Data is the key's values as text, or those of both ends of a range.
	Data string
	// Range: it is a range, in which a transaction that has it, or wants it, is shared;
	// an exclusive one wants to write there, or has written.
	Range bool
	// Locks are those granted, then those that wait.
	Locks []RowLock
}

// RowLock is one transaction's lock of a key.
type RowLock struct {
	ID            string
	Txn, ThreadID uint64
	Exclusive     bool
	Waits         bool
	Since         time.Time // of a wait
}

// Deadlock is the last one that was broken.
type Deadlock struct {
	Time   time.Time
	Cycle  []DeadlockWait
	Victim uint64
}

// DeadlockWait is a transaction of a deadlock and what it waited for.
type DeadlockWait struct {
	Txn       uint64
	Exclusive bool
	LockedKey
}

// MetadataLock is a lock of a table's definition that a connection has, or waits for.
type MetadataLock struct {
	Database, Table, Type string
	Owner                 uint64
	Pending               bool
}

// LogLine is a line of the server's log.
type LogLine struct {
	Time     time.Time
	Priority string // Error, Warning or Note
	Text     string
}

// PreparedStatement is one of a connection.
type PreparedStatement struct {
	Thread, ID    uint64
	Name, Text    string
	Prepare       time.Duration
	Count         uint64
	Sum, Min, Max time.Duration
}

// MemoryPart is what a part of the server holds now and has held at most, in bytes.
type MemoryPart struct {
	Name       string
	Used, Most int64
}

// Server is what the tables show of the server. Its methods may be called
// concurrently.
type Server interface {
	Catalog() *catalog.Snapshot
	Processes() []Process
	// GlobalVariables and GlobalStatus are sorted by name.
	GlobalVariables() []Variable
	GlobalStatus() []Variable
	VariablesInfo() []VariableInfo
	Started() time.Time
	// TableRows is about the number of rows, TableSize about the bytes of the
	// rows and of the secondary indexes.
	TableRows(ctx context.Context, t *schema.Table) float64
	TableSize(ctx context.Context, t *schema.Table) (data, index int64)
	// PartitionSize is about the rows of a partition, and their bytes.
	PartitionSize(ctx context.Context, t *schema.Table, number int64) (rows float64, data int64)
	// Distinct is about the number of different values of the columns
	// together; 0 when unknown.
	Distinct(ctx context.Context, t *schema.Table, columns []schema.ColumnID) float64
	// NextAutoIncrement is the next value of the table's counter; 0 when it
	// has none.
	NextAutoIncrement(t *schema.Table) uint64
	// Streams are the change logs, StreamConsumers those who read them.
	Streams(ctx context.Context) ([]stream.Info, error)
	StreamConsumers(ctx context.Context) ([]stream.ConsumerInfo, error)
	// Transactions are the open transactions.
	Transactions() []Transaction
	// RowLocks are the locks of rows and of unique keys.
	RowLocks() []LockedKey
	// LastDeadlock is nil when there was none.
	LastDeadlock() *Deadlock
	// Loads are the pieces of files that were loaded under tokens.
	Loads() ([]Load, error)
	// SlowLog and GeneralLog are the last lines of logs that go to tables.
	SlowLog() []SlowStatement
	GeneralLog() []LoggedCommand
	// Backups are the last BACKUP statements, oldest first.
	Backups() []Backup
	// Jobs are the work in the background, in the order in which it began.
	Jobs() []Job
	// IndexBuilds are those that run and the last that have ended, oldest first.
	IndexBuilds() []IndexBuild
	// Expiries are the last removals of expired rows, oldest first.
	Expiries() []Expiry
	// Metrics are the numbers of statements, accounts and keys.
	Metrics() *metrics.Server
	// HideSecrets is a text as others may see it, read by a sql_mode.
	HideSecrets(text string, mode uint32) string
	// MetadataLocks are those of tables, with those that wait.
	MetadataLocks() []MetadataLock
	// PreparedStatements are those of all connections.
	PreparedStatements() []PreparedStatement
	// MemoryParts are the parts of the server whose memory is counted.
	MemoryParts() []MemoryPart
	// LogLines are the last lines of the log, oldest first.
	LogLines() []LogLine
	// KeyRanges are ranges of about equal size of an index, of the rows for nil, in order;
	// none of an empty one.
	KeyRanges(ctx context.Context, t *schema.Table, x *schema.Index) ([]KeyRange, error)
	// KeyHeat are the minutes of the last hour in which accesses to a table were noted,
	// oldest first, and the first key of each range.
	KeyHeat(ctx context.Context, t *schema.Table) (first []string, list []HeatMinute, err error)
	// SearchIndexes are those of the tables that there are, by names.
	SearchIndexes() []SearchIndex
	// SearchRejected gives values that fields cannot take, of the indexes that are
	// wanted: of each, those of its first rows with such values.
	SearchRejected(ctx context.Context, wants func(db, table, index string) bool, emit func(r *SearchRejected) error) error
}

// Session is what the tables show of the querying connection.
type Session interface {
	ConnectionID() uint64
	// Database is the current one, "" if none.
	Database() string
	// Account is the account that the connection runs as.
	Account() (user, host string)
	// ClientHost is from where its client comes, as errors name it.
	ClientHost() string
	// Privileges are what it may do.
	Privileges() *priv.Set
	// Warnings are the diagnostics of the last statement.
	Warnings() []sqlerr.Warning
	// Variables are the session's values, sorted by name. Status are the numbers
	// that are the connection's own, by name.
	Variables() []Variable
	Status() map[string]string
	// NameQuotes are those of names in SHOW CREATE: double ones, by sql_mode, and also
	// where a name needs none, by sql_quote_show_create.
	NameQuotes() (ansi, always bool)
	// Location is the time zone in which times are shown.
	Location() *time.Location
}

// Provider makes virtual tables. Its methods may be called concurrently.
type Provider struct {
	server Server
	dbs    map[string]map[string]*table // by lower-case names
	shows  map[string]*show
}

// New makes the provider of a server.
func New(server Server) *Provider {
	defs := definitions()
	return &Provider{server: server, dbs: defs.dbs, shows: defs.shows}
}

type definitionSet struct {
	dbs   map[string]map[string]*table
	shows map[string]*show
}

// definitions are all tables; they never change.
var definitions = sync.OnceValue(func() definitionSet {
	d := definitionSet{dbs: map[string]map[string]*table{}, shows: map[string]*show{}}
	lists := [][]*table{schemaTables(), charsetTables(), serverTables(), emptyTables(), performanceTables(), mysqlTables(), grantTables(), sysTables(), instrumentTables(), innodbTables(), sysViews(), accountTables(), setupTables(), ownTables(), privilegeTables(), roleTables()}
	for _, list := range lists {
		for _, t := range list {
			m := d.dbs[t.db]
			if m == nil {
				m = map[string]*table{}
				d.dbs[t.db] = m
			}
			m[strings.ToLower(t.name)] = t
		}
	}
	for _, s := range append(showStatements(), replicationShows()...) {
		d.shows[s.name] = s
	}
	return d
})

// IsVirtual reports whether db is a database of virtual tables only.
func (p *Provider) IsVirtual(db string) bool { return p.dbs[strings.ToLower(db)] != nil }

// For is the provider's view for binding statements of a session.
func (p *Provider) For(sess Session) *Tables { return &Tables{p: p, sess: sess} }

// request is the handle of a virtual table.
type request struct {
	name string
	cols []logical.Column
	rows func(q *query) error
	args []string
}

// Rows calls emit with each row of the virtual table that key stands for. An
// error of emit ends the call. The row is valid during the call of emit only.
// equal are texts that columns, by position, are compared with: rows that
// differ need not be made, but may be.
func (p *Provider) Rows(ctx context.Context, sess Session, key any, equal map[int]string, emit func(row []value.Datum) error) error {
	r, ok := key.(*request)
	if !ok {
		return sqlerr.Internal("%T is not a virtual table", key)
	}
	q := p.query(ctx, sess, r.args)
	q.out = emit
	q.only = make(map[string]string, len(equal))
	for pos, text := range equal {
		if pos < len(r.cols) {
			q.only[r.cols[pos].Name] = text
		}
	}
	if err := r.rows(q); err != nil {
		if _, ok := err.(*sqlerr.Error); ok {
			return err
		}
		return fmt.Errorf("reading %s: %w", r.name, err)
	}
	return nil
}

// query is one read of a virtual table.
type query struct {
	ctx      context.Context
	provider *Provider
	server   Server
	sess     Session
	args     []string
	snap     *catalog.Snapshot
	rights   *priv.Set // of the connection
	all      bool      // rights see all tables
	out      func(row []value.Datum) error
	buf      []value.Datum
	only     map[string]string // see Rows; by column
}

func (p *Provider) query(ctx context.Context, sess Session, args []string) *query {
	q := &query{ctx: ctx, provider: p, server: p.server, sess: sess, args: args, snap: p.server.Catalog(), rights: sess.Privileges()}
	q.all = q.rights.SeesAllTables()
	return q
}

// wants reports whether the query needs rows with name in one of the columns. It
// may err on the side of making them: collations decide later.
func (q *query) wants(name string, columns ...string) bool {
	for _, c := range columns {
		text, ok := q.only[c]
		if ok && isASCII(text) && isASCII(name) && !strings.EqualFold(strings.TrimRight(text, " "), name) {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// arg is the i-th word of SHOW, "" when it is not there.
func (q *query) arg(i int) string {
	if i < len(q.args) {
		return q.args[i]
	}
	return ""
}

// emit makes a row of Go values: nil is NULL.
func (q *query) emit(vals ...any) error {
	if err := context.Cause(q.ctx); err != nil {
		return err
	}
	q.buf = q.buf[:0]
	for _, v := range vals {
		q.buf = append(q.buf, datum(v, q.sess))
	}
	return q.out(q.buf)
}

func datum(v any, sess Session) value.Datum {
	switch v := v.(type) {
	case nil:
		return value.Null
	case string:
		return value.String(v)
	case int:
		return value.Int(int64(v))
	case int64:
		return value.Int(v)
	case uint64:
		return value.Uint(v)
	case float64:
		return value.Float(v)
	case bool:
		return value.Bool(v)
	case time.Time:
		if v.IsZero() || v.Unix() == 0 {
			return value.Null
		}
		return value.TimeOf(value.FromGo(v.In(sess.Location()).Truncate(time.Second)))
	case micros:
		if t := time.Time(v); !t.IsZero() {
			return value.TimeOf(value.FromGo(t.In(sess.Location())))
		}
		return value.Null
	case value.Datum:
		return v
	}
	return value.String(fmt.Sprint(v))
}

// micros is a time with its microseconds.
type micros time.Time

// orNull is s, or NULL for "".
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// Tables are the virtual tables as the statements of a session see them. They
// implement bind.VirtualTables.
type Tables struct {
	p    *Provider
	sess Session
}

// IsVirtual implements bind.VirtualTables.
func (s *Tables) IsVirtual(db string) bool { return s.p.IsVirtual(db) }

// Virtual implements bind.VirtualTables.
func (s *Tables) Virtual(db, name string, args ...string) (logical.VirtualTable, bool, error) {
	if db == logical.ShowDatabase {
		return s.show(name, args)
	}
	t := s.p.dbs[strings.ToLower(db)][strings.ToLower(name)]
	if t == nil {
		return logical.VirtualTable{}, false, nil
	}
	return logical.VirtualTable{Name: t.name, Cols: t.cols, Truncates: t.reset != nil, Key: &request{name: t.db + "." + t.name, cols: t.cols, rows: t.rows}}, true, nil
}

func (s *Tables) show(name string, args []string) (logical.VirtualTable, bool, error) {
	d := s.p.shows[name]
	if d == nil {
		return logical.VirtualTable{}, false, nil
	}
	q := s.p.query(context.Background(), s.sess, args)
	if err := d.allowed(q); err != nil {
		return logical.VirtualTable{}, false, err
	}
	cols := d.cols
	if d.columns != nil {
		cols = columns(d.columns(q))
	}
	return logical.VirtualTable{Name: name, Cols: cols, Key: &request{name: "SHOW " + name, rows: d.read, args: args}}, true, nil
}

// table is the definition of a virtual table.
type table struct {
	db, name string
	cols     []logical.Column
	rows     func(q *query) error
	reset    func(m *metrics.Server) // TRUNCATE; nil: refused
}

// Truncated are what TRUNCATE of a table calls, without a name that of all tables;
// none for a table that it refuses.
func (p *Provider) Truncated(db, name string) []func(m *metrics.Server) {
	var out []func(m *metrics.Server)
	if name != "" {
		if t := p.dbs[strings.ToLower(db)][strings.ToLower(name)]; t != nil && t.reset != nil {
			out = append(out, t.reset)
		}
		return out
	}
	for _, t := range sortedTables(p.dbs[performanceDB]) {
		if t.reset != nil {
			out = append(out, t.reset)
		}
	}
	return out
}

// newTable makes a definition from column specifications, see columns.
func newTable(db, name, spec string, rows func(q *query) error) *table {
	if rows == nil {
		rows = func(*query) error { return nil }
	}
	t := &table{db: db, name: name, cols: columns(spec), rows: rows}
	if slices.ContainsFunc(t.cols, func(c logical.Column) bool { return isMember(c.T) }) {
		t.rows = func(q *query) error {
			out := q.out
			q.out = func(row []value.Datum) error {
				for i := range t.cols {
					if c := &t.cols[i]; isMember(c.T) && !row[i].IsNull() {
						row[i] = numberOf(c.T, row[i].Str())
					}
				}
				return out(row)
			}
			return rows(q)
		}
	}
	return t
}

func isMember(t schema.Type) bool { return t.ID == schema.TypeEnum || t.ID == schema.TypeSet }
