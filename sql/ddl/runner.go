package ddl

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/index/backfill"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/sorter"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Config is what a Runner works on. All fields up to Binder are needed.
type Config struct {
	Store     storage.Store
	Catalog   *catalog.Catalog
	Locks     *mdl.Locks
	Codecs    *decode.Codecs
	Sequences *table.Sequences
	// Binder binds the expressions of definitions.
	Binder define.Binder
	Log    *slog.Logger
	// TempDir is the directory of temporary files, "" for the system's.
	TempDir string
	// SortBudget makes the budget of a sort for an index build, SortMemory is the
	// most that one holds; nil and 0 for no limit but that of the builds.
	SortBudget func() sorter.Budget
	SortMemory int64
	// Rows estimates the rows of a table, for the progress of builds; nil for 0.
	Rows func(ctx context.Context, t *schema.Table) float64
	// BuildRate is how many rows an index build, or cells their removal, reads in a
	// second at most, 0 for as many as leave others most of the time. nil for 0.
	BuildRate func() int64
	// Start runs a job in the background, which does its work by turn; nil for a plain
	// goroutine.
	Start func(name string, run func(ctx context.Context, turn Turn))
	// Search reports on the files of search indexes; nil without search indexes.
	Search SearchBuilds
}

// Env is what a schema change needs to know of its session.
type Env struct {
	// Account is that of the session, for refusals.
	Account priv.Name
	// Owner takes the metadata locks: the session's own shared locks do not
	// hinder it.
	Owner mdl.Owner
	// LockTimeout bounds the wait for each metadata lock (lock_wait_timeout); 0
	// means 50 seconds.
	LockTimeout time.Duration
	// Types are the session's conversions: sql_mode, time zone, now.
	Types types.Env
	// Collation is the default of new databases (collation_server).
	Collation schema.CollationID
	// Eval computes the expression of a column default, such as (uuid()), once
	// for each row, and returns its type. nil refuses such columns in ALTER TABLE
	// … ADD.
	Eval func(ctx context.Context, sql string, t schema.Type) (d value.Datum, from schema.Type, err error)
	// ForeignKeyChecks is the variable foreign_key_checks.
	ForeignKeyChecks bool
	// RestrictForeignKeys is restrict_fk_on_non_standard_key.
	RestrictForeignKeys bool
	// ShowExpired: rows that are past their TTL are seen.
	ShowExpired bool
	// MaxIndexes bounds the keys of a table (sqlots_max_indexes); 0 for MySQL's
	// limit alone.
	MaxIndexes int
	// AutoStep and AutoOffset are auto_increment_increment and _offset; 0 is 1.
	AutoStep, AutoOffset uint64
	// Warn takes warnings and notes, SetState what SHOW PROCESSLIST shows; both
	// may be nil.
	Warn     func(sqlerr.Warning)
	SetState func(string)
	// Statement is the text of the statement.
	Statement string
}

// Runner runs schema changes. Its methods may be called concurrently.
type Runner struct {
	Config
	// step is called between the steps of a change, for tests that stop there.
	step func(name string)
	now  func() time.Time
	// temporary: the tables are a session's own. Their jobs stay as long as
	// they do.
	temporary bool

	builds     builds
	unfinished []Continuation // see Resume
	removals   []removal      // see Resume
	removers   atomic.Uint64  // owners of locks that removals have had
	// running ends with Close, which waits for background.
	running    context.Context
	stop       context.CancelFunc
	background sync.WaitGroup
	runRows    int // of a run of a build, for tests; 0 for the size that fits the table
}

func (r *Runner) rows(ctx context.Context, t *schema.Table) int64 {
	if r.Rows == nil {
		return 0
	}
	return int64(r.Rows(ctx, t))
}

func (r *Runner) rate() int64 {
	if r.BuildRate == nil {
		return 0
	}
	return r.BuildRate()
}

// pacer is that of one job in the background.
func (r *Runner) pacer() *backfill.Pacer {
	return &backfill.Pacer{Rate: r.rate, Commits: r.Store.Commits}
}

// New makes a Runner.
func New(cfg Config) *Runner {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runner{Config: cfg, step: func(string) {}, now: time.Now}
	r.running, r.stop = context.WithCancel(context.Background())
	return r
}

// Close ends what goes on in the background.
func (r *Runner) Close() {
	r.stop()
	r.background.Wait()
}

// Run runs one schema change. The caller's transaction has ended. affected is the
// number of rows for the OK packet: rows for statements that copy them, tables
// for DROP DATABASE, else 0.
//
// Errors are *sqlerr.Error or those of storage and mdl. After an error the
// schema is as before, except for statements on several tables that MySQL does
// not run as a whole either.
func (r *Runner) Run(ctx context.Context, stmt logical.Statement, env Env) (affected uint64, err error) {
	c := r.change(&env)
	defer c.release()
	switch x := stmt.(type) {
	case *logical.CreateDatabase:
		return c.createDatabase(ctx, x)
	case *logical.AlterDatabase:
		return 1, c.alterDatabase(ctx, x)
	case *logical.DropDatabase:
		return c.dropDatabase(ctx, x)
	case *logical.CreateTable:
		t, err := c.createTable(ctx, x)
		if err != nil {
			return 0, err
		}
		return 0, c.awaitNew(ctx, t)
	case *logical.DropTable:
		return 0, c.dropTables(ctx, x)
	case *logical.TruncateTable:
		return 0, c.truncate(ctx, x)
	case *logical.RenameTable:
		return 0, c.renameTables(ctx, x)
	case *logical.CreateView:
		return 0, c.createView(ctx, x)
	case *logical.DropView:
		return 0, c.dropViews(ctx, x)
	case *logical.AlterTable:
		return c.alterSearched(ctx, x)
	}
	return 0, sqlerr.NotSupported(fmt.Sprintf("statement %T", stmt))
}

func (r *Runner) change(env *Env) *change {
	if env.LockTimeout == 0 {
		env.LockTimeout = 50 * time.Second
	}
	return &change{r: r, env: env}
}

// change is one run of a statement.
type change struct {
	r    *Runner
	env  *Env
	held []string // exclusive locks, in the order of acquisition
}

func (c *change) warn(level sqlerr.Level, e *sqlerr.Error) {
	if c.env.Warn != nil {
		c.env.Warn(sqlerr.Warning{Level: level, Err: e})
	}
}

func (c *change) note(e *sqlerr.Error) { c.warn(sqlerr.LevelNote, e) }

func (c *change) state(s string) {
	if c.env.SetState != nil {
		c.env.SetState(s)
	}
}

func (c *change) snapshot() *catalog.Snapshot { return c.r.Catalog.Snapshot() }

// lock acquires keys exclusively, in their order, which prevents deadlocks
// between schema changes. They are held until unlock or release.
func (c *change) lock(ctx context.Context, keys ...string) error {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	c.state("Waiting for table metadata lock")
	defer c.state("altering table")
	for _, k := range keys {
		if err := c.r.Locks.Exclusive(ctx, c.env.Owner, k, c.env.LockTimeout); err != nil {
			return err
		}
		c.held = append(c.held, k)
	}
	return nil
}

// unlock gives one lock back.
func (c *change) unlock(key string) {
	if i := slices.Index(c.held, key); i >= 0 {
		c.held = slices.Delete(c.held, i, i+1)
		c.r.Locks.ReleaseExclusive(c.env.Owner, key)
	}
}

func (c *change) release() {
	for i := len(c.held) - 1; i >= 0; i-- {
		c.r.Locks.ReleaseExclusive(c.env.Owner, c.held[i])
	}
	c.held = nil
}

// releaseTables gives back all locks but those that allow schema changes.
func (c *change) releaseTables() {
	for i := len(c.held) - 1; i >= 0; i-- {
		if !mdl.ChangesSchema(c.held[i]) {
			c.r.Locks.ReleaseExclusive(c.env.Owner, c.held[i])
			c.held = slices.Delete(c.held, i, i+1)
		}
	}
}

// lockTables takes both locks of tables.
func (c *change) lockTables(ctx context.Context, names ...logical.TableName) error {
	var first, second []string
	for _, n := range names {
		first = append(first, mdl.ChangeKey(n.DB, n.Name))
		second = append(second, mdl.Key(n.DB, n.Name))
	}
	if err := c.lock(ctx, first...); err != nil {
		return err
	}
	return c.lock(ctx, second...)
}

// findTable finds a table: 1049, 1146.
func findTable(s *catalog.Snapshot, n logical.TableName) (*schema.Table, error) {
	if t, ok := s.Table(n.DB, n.Name); ok {
		return t, nil
	}
	if _, ok := s.Database(n.DB); !ok {
		return nil, sqlerr.UnknownDatabase(n.DB)
	}
	if _, ok := s.View(n.DB, n.Name); ok {
		return nil, sqlerr.ViewInvalid(n.DB, n.Name, "BASE TABLE")
	}
	return nil, sqlerr.NoSuchTable(n.DB, n.Name)
}

// publish commits a change of the catalog. It is not interrupted: what is
// durable is also published.
func (c *change) publish(ctx context.Context, fn func(ch *catalog.Change) error) error {
	return c.r.Catalog.Change(context.WithoutCancel(ctx), fn)
}
