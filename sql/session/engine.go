package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/stats"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Config is what an Engine is made of.
type Config struct {
	Store storage.Store
	Log   *slog.Logger
	// MemoryLimit bounds what all queries together hold in memory, in bytes; 0
	// for 1 GiB.
	MemoryLimit int64
	// Spill takes what queries put aside when memory is short; nil: they fail.
	Spill *spill.Disk
	// TempDir is the directory of other temporary files, "" for the system's.
	TempDir string
	// BackupDir is the directory that BACKUP may write to, "" for none;
	// BackupStage one on the store's file system for what it needs meanwhile.
	BackupDir, BackupStage string
	// LogDir is the directory of query logs, "" for none.
	LogDir string
	// SearchDir is the directory of search indexes, "" for none: queries do
	// without them.
	SearchDir string
	// SearchKnobs are for tests.
	SearchKnobs search.Knobs
	// Globals are initial global variables, by name.
	Globals map[string]value.Datum
	// OnGlobal, if set, learns of each global variable that SET changes.
	OnGlobal func(name string, v value.Datum)
	// CheckPlans verifies plans after each rewrite rule (tests).
	CheckPlans bool
	// NoFastPaths runs all queries by their operators (tests).
	NoFastPaths bool
	// Steps is called at the steps of reads (tests).
	Steps step.Hook
}

// Engine is what the sessions of a server share. Its methods may be called
// concurrently.
type Engine struct {
	store      storage.Store
	log        *slog.Logger
	catalog    *catalog.Catalog
	globals    *Globals
	processes  *Processes
	locks      mdl.Locks
	parsers    *parser.Pool
	plans      *planCache
	sequences  *table.Sequences
	codecs     *source.Codecs
	stats      *stats.Estimator
	ddl        *ddl.Runner
	search     *search.Manager // nil without Config.SearchDir
	info       *infoschema.Provider
	memory     *exec.Tracker
	spill      *spill.Disk
	spilled    exec.SpillCounters
	tempDir    string
	started    time.Time
	checkPlans bool
	fastPaths  bool
	counters   counters
	userLocks  userLocks
	// trimming: one removal from change logs at a time.
	trimming sync.Mutex
	// lockedTables counts the tables under LOCK TABLES … WRITE: while there are
	// any, plain reads take metadata locks too.
	lockedTables atomic.Int64
	bulkTurns    sync.Map // schema.TableID to chan struct{}
	expiry       expiryJob
	backups      backupJobs
	builds       buildJobs
	logs         *querylog.Logs
	logDir       string
}

// counters are the numbers of SHOW STATUS.
type counters struct {
	questions, selects, inserts, updates, deletes, connections, slow, errors atomic.Int64
	planHits, planMisses                                                     atomic.Int64
	rowsSent                                                                 atomic.Int64
}

// NewEngine opens the catalog of a store.
func NewEngine(ctx context.Context, cfg Config) (*Engine, error) {
	cat, err := catalog.Open(ctx, cfg.Store)
	if err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.MemoryLimit == 0 {
		cfg.MemoryLimit = 1 << 30
	}
	parsers := parser.NewPool()
	binder := bind.NewBinder(parsers)
	e := &Engine{
		store: cfg.Store, log: cfg.Log, catalog: cat, globals: newGlobals(), processes: newProcesses(),
		parsers: parsers, plans: newPlanCache(), started: time.Now(), checkPlans: cfg.CheckPlans, fastPaths: !cfg.NoFastPaths,
		codecs: source.NewCodecs(binder), sequences: table.NewSequences(cfg.Store),
		memory: exec.NewTracker("server", cfg.MemoryLimit), spill: cfg.Spill, tempDir: cfg.TempDir,
	}
	e.locks.Waits = e.processes.waitForTable
	for n, v := range cfg.Globals {
		e.globals.Set(n, v)
	}
	if cfg.BackupDir != "" {
		e.globals.Set("sqlots_backup_dir", value.String(cfg.BackupDir))
	}
	e.loadPersisted()
	e.logDir = cfg.LogDir
	e.openLogs()
	e.globals.onChange = func(name string, v value.Datum) {
		if isLogVariable(name) {
			e.logsChanged()
		}
		if cfg.OnGlobal != nil {
			cfg.OnGlobal(name, v)
		}
	}
	e.stats = stats.New(cfg.Store, e.codecs)
	changes := ddl.Config{Store: cfg.Store, Catalog: cat, Locks: &e.locks, Codecs: e.codecs, Sequences: e.sequences, Binder: binder, Log: cfg.Log, TempDir: cfg.TempDir, SortBudget: e.sortBudget, SortMemory: e.sortMemory(), Rows: e.stats.TableRows,
		BuildRate: func() int64 { return e.globals.Value("sqlots_index_build_rate").Int() }}
	if cfg.SearchDir != "" {
		e.search = search.New(search.Config{Store: cfg.Store, Dir: cfg.SearchDir, Log: cfg.Log, Rows: &source.Documents{Codecs: e.codecs, Eval: e.evalDocuments}, Memory: e.memory.Limit() / searchShare, Account: e.memory, Steps: cfg.Steps, Knobs: cfg.SearchKnobs})
		changes.Search, e.stats.Search = e.search, e.search
		cat.OnChange(e.searchTables)
	}
	e.ddl = ddl.New(changes)
	e.info = infoschema.New((*introspection)(e))
	e.backups.stage = cfg.BackupStage
	e.expiry.engine, e.expiry.started = e, map[schema.TableID]time.Time{}
	if err := e.ddl.Resume(ctx); err != nil {
		return nil, fmt.Errorf("resuming schema changes: %w", err)
	}
	if err := e.expiry.load(ctx); err != nil {
		return nil, fmt.Errorf("reading removals of expired rows: %w", err)
	}
	e.searchTables(cat.Snapshot())
	if err := forgetLoads(cfg.Store, time.Now()); err != nil {
		return nil, fmt.Errorf("forgetting loads: %w", err)
	}
	return e, nil
}

// Close saves what would otherwise be lost without harm: the numbers that
// sequences have reserved and not used. Sessions have ended before; the store
// stays open.
func (e *Engine) Close(ctx context.Context) error {
	e.expiry.stop()
	e.builds.stop()
	e.ddl.Close()
	if e.search != nil {
		e.search.Close()
	}
	e.logs.Close()
	return e.sequences.Save(ctx)
}

// Catalog is the engine's catalog.
func (e *Engine) Catalog() *catalog.Catalog { return e.catalog }

// Processes are the engine's connections.
func (e *Engine) Processes() *Processes { return e.processes }

// Globals are the engine's global variables.
func (e *Engine) Globals() *Globals { return e.globals }
