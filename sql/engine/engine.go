package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/datadir"
	"github.com/sqlots/sqlots/internal/loglines"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/audit"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/engine/job"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/stats"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Config is what an Engine is made of.
type Config struct {
	Store storage.Store
	Log   *slog.Logger
	// LogLines are the last lines of Log; nil: the engine keeps its own.
	LogLines *loglines.Handler
	// MemoryLimit bounds what all queries together hold in memory, in bytes; 0
	// for 1 GiB.
	MemoryLimit int64
	// Spill takes what queries spill when memory is short; nil: they fail.
	Spill *spill.Disk
	// TempDir is the directory of other temporary files, "" for the system's.
	TempDir string
	// BackupDir is the directory that BACKUP may write to, "" for none;
	// BackupStage one on the store's file system for what it needs meanwhile.
	BackupDir, BackupStage string
	// LogDir is the directory of query logs and the audit log, "" for none.
	LogDir string
	// AuditOn begins with the audit log switched on; AuditForced also refuses changes of
	// its settings.
	AuditOn, AuditForced bool
	// DataDir is out of reach for the files of statements.
	DataDir datadir.Dir
	// SearchDir is the directory of search indexes, "" for none: queries do
	// without them.
	SearchDir string
	// SearchKnobs are for tests.
	SearchKnobs search.Knobs
	// Globals are initial global variables, by name.
	Globals map[string]value.Datum
	// ReloadTLS reads the certificates again, for connections that follow. If that
	// fails, they go on with the previous ones, or without rollback have no TLS. nil:
	// it always fails.
	ReloadTLS func(rollback bool) error
	// OnGlobal, if set, learns of each global variable that SET changes.
	OnGlobal func(name string, v value.Datum)
	// Tracer, if set, is given each statement when it has ended.
	Tracer metrics.Tracer
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
	Store      storage.Store
	Log        *slog.Logger
	Catalog    *catalog.Catalog
	Globals    *sysvar.Globals
	Processes  *Processes
	Locks      mdl.Locks
	Parsers    *parser.Pool
	Sequences  *table.Sequences
	Codecs     *decode.Codecs
	Stats      *stats.Estimator
	DDL        *ddl.Runner
	Search     *search.Manager // nil without Config.SearchDir
	Memory     *exec.Tracker
	Writes     *exec.Tracker // of transactions that have not ended; apart from Memory
	Values     *exec.Values  // large values; a part of the memory is theirs alone
	Spill      *spill.Disk
	TempDir    string
	Started    time.Time
	CheckPlans bool
	FastPaths  bool
	Metrics    *metrics.Server
	Tracer     metrics.Tracer // nil for none
	LogLines   *loglines.Handler
	UserLocks  userLocks
	// trimming: one removal from change logs at a time.
	trimming sync.Mutex
	// LockedTables counts the tables under LOCK TABLES … WRITE: while there are
	// any, plain reads take metadata locks too.
	LockedTables atomic.Int64
	bulkTurns    sync.Map // schema.TableID to chan struct{}
	Expiries     *expiryLog
	Jobs         *job.Runner
	Backups      backupJobs
	Logs         *querylog.Logs
	Audit        *audit.Log
	AuditForced  bool
	auditChange  sync.Mutex // one takes over its settings at a time
	LogDir       string
	DataDir      datadir.Dir
	logNames     map[string]string // of log files, by variable
	ReloadTLS    func(rollback bool) error
	secret       []byte // of the store
	// Damaged: a statement has met damage since the start.
	Damaged atomic.Bool
	// Logins are the failures of logins and what accounts have used of their limits.
	Logins Logins
}

// valueBytes is the part of a memory of limit bytes that is for large values alone:
// what a sort keeps must not take the room of the values that it sorts.
func valueBytes(limit int64) int64 {
	const least, most = 32 << 20, 128 << 20
	return min(max(limit/4, least), most, limit/2)
}

// New opens the catalog of a store.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	cat, err := catalog.Open(ctx, cfg.Store)
	if err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.LogLines == nil {
		cfg.LogLines = loglines.New(cfg.Log.Handler())
		cfg.Log = slog.New(cfg.LogLines)
	}
	if cfg.ReloadTLS == nil {
		cfg.ReloadTLS = func(bool) error { return errors.New("there is no TLS") }
	}
	if cfg.MemoryLimit == 0 {
		cfg.MemoryLimit = 1 << 30
	}
	parsers := parser.NewPool()
	binder := bind.NewBinder(parsers)
	e := &Engine{
		Store: cfg.Store, Log: cfg.Log, Catalog: cat, Globals: sysvar.NewGlobals(), Processes: newProcesses(),
		Parsers: parsers, Started: time.Now(), CheckPlans: cfg.CheckPlans, FastPaths: !cfg.NoFastPaths,
		Codecs: decode.NewCodecs(binder), Sequences: table.NewSequences(cfg.Store),
		Spill: cfg.Spill, TempDir: cfg.TempDir, LogLines: cfg.LogLines, Tracer: cfg.Tracer,
	}
	if !cfg.Store.Caps().Sole {
		e.Codecs.Share()
	}
	memory := exec.NewTracker("server", cfg.MemoryLimit)
	e.Values = exec.NewValues(memory)
	e.Writes = exec.NewTracker("transactions", cfg.MemoryLimit)
	e.Memory = memory.Child("statements", cfg.MemoryLimit-valueBytes(cfg.MemoryLimit))
	if e.secret, err = cat.Secret(ctx); err != nil {
		return nil, err
	}
	e.Jobs = job.New(cfg.Log)
	e.Locks.Waits = e.Processes.waitForTable
	for n, v := range cfg.Globals {
		e.Globals.Set(n, v)
	}
	e.Metrics = metrics.NewServer(metrics.Config{Off: e.Globals.Value("performance_schema").Bits() == 0, Digests: int(e.Globals.Value("performance_schema_digests_size").Int())})
	if cfg.BackupDir != "" {
		e.Globals.Set("sqlots_backup_dir", value.String(cfg.BackupDir))
	}
	e.loadPersisted()
	e.mandatoryRoles()
	e.activateAllRoles()
	if list := cat.Upgraded(); len(list) > 0 {
		e.Log.Warn("the directory is of a version in which every account could do everything: these accounts have all privileges until REVOKE", "event", "accounts.upgraded", "accounts", list)
	}
	e.LogDir, e.DataDir, e.ReloadTLS = cfg.LogDir, cfg.DataDir, cfg.ReloadTLS
	e.openLogs()
	e.openAudit(cfg.AuditOn || cfg.AuditForced, cfg.AuditForced)
	e.Globals.OnChange = func(name string, v value.Datum) {
		if isLogVariable(name) {
			e.logsChanged()
		}
		if sysvar.IsOfAudit(name) {
			e.auditChanged()
		}
		switch name {
		case "mandatory_roles":
			e.mandatoryRoles()
		case "activate_all_roles_on_login":
			e.activateAllRoles()
		}
		if cfg.OnGlobal != nil {
			cfg.OnGlobal(name, v)
		}
	}
	e.Stats = stats.New(cfg.Store, e.Codecs)
	changes := ddl.Config{Store: cfg.Store, Catalog: cat, Locks: &e.Locks, Codecs: e.Codecs, Sequences: e.Sequences, Binder: binder, Log: cfg.Log, TempDir: cfg.TempDir, SortBudget: e.SortBudget, SortMemory: e.SortMemory(), Rows: e.Stats.TableRows,
		BuildRate: func() int64 { return e.Globals.Value("sqlots_index_build_rate").Int() }}
	changes.Start = func(name string, run func(ctx context.Context, turn ddl.Turn)) {
		e.Jobs.Start(name, func(ctx context.Context, j *job.Job) { run(ctx, j.Turn) })
	}
	if cfg.SearchDir != "" {
		e.Search = search.New(search.Config{Store: cfg.Store, Dir: cfg.SearchDir, Log: cfg.Log, Start: e.startLoop, Rows: &searchdoc.Documents{Codecs: e.Codecs, Eval: EvalDocuments}, Memory: e.Memory.Limit() / searchShare, Account: e.Memory, Steps: cfg.Steps, Knobs: cfg.SearchKnobs})
		changes.Search, e.Stats.Search = e.Search, e.Search
	}
	cat.OnChange(func(s *catalog.Snapshot) {
		e.searchTables(s)
		e.forgetUses(s)
		e.forgetHeat(s)
	})
	e.DDL = ddl.New(changes)
	e.Backups.stage = cfg.BackupStage
	e.Expiries = newExpiryLog(cfg.Store)
	if err := e.DDL.Resume(ctx); err != nil {
		return nil, fmt.Errorf("resuming schema changes: %w", err)
	}
	if err := e.Expiries.load(ctx); err != nil {
		return nil, fmt.Errorf("reading removals of expired rows: %w", err)
	}
	e.searchTables(cat.Snapshot())
	if err := ForgetLoads(ctx, cfg.Store, time.Now()); err != nil {
		return nil, fmt.Errorf("forgetting loads: %w", err)
	}
	return e, nil
}

// Close saves what would otherwise be lost without harm: the numbers that
// sequences have reserved and not used. Sessions have ended before; the store
// stays open.
func (e *Engine) Close(ctx context.Context) error {
	if e.Search != nil {
		e.Search.Close()
	}
	e.Jobs.Stop()
	e.DDL.Close()
	e.Logs.Close()
	e.Audit.Close()
	return e.Sequences.Save(ctx)
}

// startLoop runs the loop of a search index as a job.
func (e *Engine) startLoop(name string, run func(ctx context.Context, turn search.Turn)) {
	e.Jobs.Start(name, func(ctx context.Context, j *job.Job) { run(ctx, j.Turn) })
}
