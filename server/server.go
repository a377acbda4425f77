package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/console"
	"github.com/sqlots/sqlots/httpd"
	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/internal/loglines"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/server/otlp"
	"github.com/sqlots/sqlots/server/prom"
	"github.com/sqlots/sqlots/sql/command"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/ttl"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/value"
)

// Config configures a server.
type Config struct {
	// DataDir is the directory of the store, made when it does not exist.
	DataDir string
	// InMemory keeps all data in memory, in the reference store; DataDir is
	// not used.
	InMemory bool
	// Listen is the TCP address, Socket the path of a unix socket ("" for none).
	Listen, Socket string
	// AdminListen is a TCP address for administrators, who are admitted there
	// however many connections there are; "" for none.
	AdminListen string
	HTTP        HTTPConfig
	// MetricsListen is a loopback address that answers /metrics, /healthz and /readyz
	// without an account; "" for none.
	MetricsListen string
	// SocketMode is the mode of the socket, 0 for 0600.
	SocketMode fs.FileMode
	// RequireRootPassword: accounts without password may use the socket only, and
	// without a socket the server does not start while root has none.
	RequireRootPassword bool
	// Memory is the budget in bytes that cache, memtables and queries share; 0
	// for half of DefaultMemory.
	Memory int64
	// TempDir is the directory of temporary files, made when it does not exist;
	// "" for tmp in DataDir. TempBytes is the most bytes that queries may spill
	// there, 0 for no limit.
	TempDir   string
	TempBytes int64
	// TLSCert and TLSKey are PEM files; both empty for no TLS. TLSCA is one with the
	// certificates of the authorities whose clients may have a certificate, "" for none.
	TLSCert, TLSKey, TLSCA string
	MaxConnections         int
	// InitialRootPassword, if set, is called for a new data directory: the password of
	// root.
	InitialRootPassword func() (string, error)
	// SkipGrantTables lets everybody in without a password, who may do everything. The
	// addresses must be of loopback.
	SkipGrantTables bool
	// NoPerformanceSchema is performance_schema = OFF.
	NoPerformanceSchema bool
	// SandboxOldClients is mysqlwire.Config.SandboxOldClients:
	// disconnect_on_expired_password is OFF.
	SandboxOldClients bool
	// Traces is where statements are sent as spans; an empty Endpoint for nowhere.
	Traces TracesConfig
	// SecureFileDir is the directory that LOAD DATA INFILE on the server may
	// read, "" for none.
	SecureFileDir string
	// BackupDir is the directory that BACKUP may write to, "" for none.
	BackupDir string
	// LogDir is the directory of query logs and the audit log, made when it does not
	// exist; "" for log in DataDir.
	LogDir string
	// AuditLog is AuditOn, AuditForced, or AuditOff, which is also "": the log is on
	// if it was persisted.
	AuditLog string
	// Cluster has the store; nil for one in DataDir. With a cluster, DataDir has files
	// that may be lost.
	Cluster *Cluster
	// Durability is innodb_flush_log_at_trx_commit: 1 syncs each commit.
	Durability int
	// AcceptLogDamage is pebblekv.Options.AcceptLogDamage.
	AcceptLogDamage bool
	Log             *slog.Logger
	// MemoryStore makes the store of a server in memory, if not nil (tests).
	MemoryStore func() storage.Store
	// UseOneProcessor has the process use one processor for a while, or all of them, as
	// processors finds better; nil for all at any time.
	UseOneProcessor func(one bool)
	// Tune changes the options of the store (tests).
	Tune func(*pebblekv.Options)
	// CheckPlans verifies plans after each rewrite rule (tests).
	CheckPlans bool
	// NoFastPaths runs all queries by their operators (tests).
	NoFastPaths bool
	// SearchKnobs plants faults in search indexes (tests).
	SearchKnobs search.Knobs
	// Steps is called at the steps of commits and reads (tests).
	Steps step.Hook
}

// TracesConfig configures the export of traces.
type TracesConfig struct {
	// Endpoint is the address of a collector that takes OTLP over HTTP.
	Endpoint string
	// Ratio is the part of the traces that begin here which are sent.
	Ratio float64
}

// FormatVersion is the format of the data directory.
const FormatVersion = pebblekv.FormatVersion

// DefaultMemory is the memory budget when none is given: 2 GiB.
const DefaultMemory = 2 << 30

// Server is a running server.
type Server struct {
	cfg      Config
	lines    *loglines.Handler
	store    storage.Store
	dirLock  io.Closer          // of DataDir, if its store is elsewhere
	relax    context.CancelFunc // ends the watch of the heap; nil without
	engine   *engine.Engine
	shared   *statement.Shared
	temp     string // the directory of temporary files of a server in memory
	wire     *mysqlwire.Server
	listener net.Listener
	socket   net.Listener
	admin    net.Listener
	done     sync.WaitGroup

	http         *httpd.Server // nil without HTTP
	history      *console.History
	endHistory   func() // nil until the history is kept
	httpListener net.Listener
	httpTLS      atomic.Pointer[tls.Config]

	opened, stopping atomic.Bool
	metrics          *prom.Handler
	tracer           *otlp.Tracer // nil for none
	watch            *http.Server // of MetricsListen, nil without
	watchListener    net.Listener
}

// Start opens the store and listens. Errors are of the directory
// (storage.ErrLocked, storage.ErrFormat), the certificate or the address.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	lines := loglines.New(cfg.Log.Handler())
	cfg.Log = slog.New(lines)
	if cfg.Memory == 0 {
		cfg.Memory = DefaultMemory
	}
	// As text, which is how the paths are compared, "a/.." is nothing, also where a is
	// a symbolic link.
	for _, path := range []*string{&cfg.DataDir, &cfg.TempDir, &cfg.Socket} {
		if *path != "" {
			*path = filepath.Clean(*path)
		}
	}
	s := &Server{cfg: cfg, lines: lines}
	s.metrics = prom.New(Build(), s.NotReady, cfg.Log)
	if err := s.start(ctx); err != nil {
		s.closeAll()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	cfg := s.cfg
	if err := checkOpen(cfg); err != nil {
		return err
	}
	if err := errors.Join(checkAudit(cfg), checkHTTP(cfg), checkStore(cfg)); err != nil {
		return err
	}
	if cfg.Traces.Endpoint != "" {
		var err error
		if s.tracer, err = otlp.New(ctx, otlp.Config{Endpoint: cfg.Traces.Endpoint, Ratio: cfg.Traces.Ratio, Version: Build().Version, Log: cfg.Log}); err != nil {
			return fmt.Errorf("--otlp-endpoint: %w", err)
		}
	}
	if err := s.listenMetrics(); err != nil {
		return err
	}
	tlsConfig, err := loadTLS(cfg)
	if err != nil {
		return err
	}
	data, err := checkPaths(cfg)
	if err != nil {
		return err
	}
	if err := s.listenHTTP(tlsConfig); err != nil {
		return err
	}
	var heap *pressure
	var watching context.Context
	if heap, err = s.openStore(ctx); err != nil {
		return err
	}
	if heap != nil {
		watching, s.relax = context.WithCancel(context.WithoutCancel(ctx))
		go guard.Do(cfg.Log, "watching the heap", func() { heap.watch(watching) })
	}
	disk, err := s.openTemp()
	if err != nil {
		return err
	}
	globals := map[string]value.Datum{
		"tmpdir":                         value.String(s.cfg.TempDir),
		"innodb_flush_log_at_trx_commit": value.Uint(uint64(cfg.Durability)),
		"datadir":                        value.String(cfg.DataDir),
		"disconnect_on_expired_password": value.Bool(!cfg.SandboxOldClients),
	}
	if cfg.SecureFileDir != "" {
		dir, err := filepath.Abs(cfg.SecureFileDir)
		if err != nil {
			return fmt.Errorf("secure-file-priv: %w", err)
		}
		globals["secure_file_priv"] = value.String(dir)
	}
	if cfg.MaxConnections > 0 {
		globals["max_connections"] = value.Uint(uint64(cfg.MaxConnections))
	}
	logDir := cfg.LogDir
	switch {
	case logDir != "":
	case cfg.InMemory:
		logDir = s.cfg.TempDir
	default:
		logDir = filepath.Join(cfg.DataDir, logFolder)
	}
	if logDir, err = filepath.Abs(logDir); err != nil {
		return fmt.Errorf("log-dir: %w", err)
	}
	if err := os.MkdirAll(logDir, 0o750); err != nil { // a full disk is no reason to stay down
		cfg.Log.Warn("directory of query logs", "event", "querylog.failed", "error", err)
	}
	if cfg.BackupDir != "" {
		if cfg.BackupDir, err = filepath.Abs(cfg.BackupDir); err != nil {
			return fmt.Errorf("backup-dir: %w", err)
		}
	}
	if s.listener, err = net.Listen("tcp", cfg.Listen); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	if cfg.Socket != "" {
		if s.socket, err = listenSocket(ctx, cfg.Socket, cfg.SocketMode); err != nil {
			return err
		}
	}
	if a, ok := s.listener.Addr().(*net.TCPAddr); ok {
		globals["port"] = value.Int(int64(a.Port))
	}
	if cfg.AdminListen != "" {
		if s.admin, err = net.Listen("tcp", cfg.AdminListen); err != nil {
			return fmt.Errorf("listening for administrators: %w", err)
		}
		if a, ok := s.admin.Addr().(*net.TCPAddr); ok {
			globals["admin_address"], globals["admin_port"] = value.String(a.IP.String()), value.Int(int64(a.Port))
		}
	}
	if n := s.store.Metrics()["block_cache_capacity"]; n > 0 {
		globals["innodb_buffer_pool_size"] = value.Uint(uint64(n))
	}
	if cfg.NoPerformanceSchema {
		globals["performance_schema"] = value.Uint(0)
	}
	if cfg.InMemory { // those of another store
		if err := os.RemoveAll(s.searchDir()); err != nil {
			return fmt.Errorf("directory of search indexes: %w", err)
		}
	}
	if err := s.createRoot(ctx); err != nil {
		return err
	}
	var tracer metrics.Tracer
	if s.tracer != nil {
		tracer = s.tracer
	}
	s.engine, err = engine.New(ctx, engine.Config{Tracer: tracer, Store: s.store, Log: cfg.Log, LogLines: s.lines, MemoryLimit: divided(cfg.Memory) * queryShare / 16, Spill: disk, TempDir: s.cfg.TempDir, LogDir: logDir, AuditOn: cfg.AuditLog == AuditOn, AuditForced: cfg.AuditLog == AuditForced, DataDir: data, BackupDir: cfg.BackupDir, BackupStage: filepath.Join(cfg.DataDir, pebblekv.StageDir), SearchDir: s.searchDir(), SearchKnobs: cfg.SearchKnobs, Globals: globals, OnGlobal: s.globalChanged, CheckPlans: cfg.CheckPlans, NoFastPaths: cfg.NoFastPaths, Steps: cfg.Steps, ReloadTLS: s.reloadTLS})
	if err != nil {
		return err
	}
	s.shared = statement.NewShared(s.engine, command.Runner{})
	ttl.Start(s.shared)
	command.ContinueBuilds(s.shared)
	s.engine.KeepRetention()
	s.engine.WatchHeat()
	if err := s.checkRoot(); err != nil {
		return err
	}
	s.showTLS(tlsConfig)
	s.wire = mysqlwire.NewServer(mysqlwire.Config{Version: expr.ServerVersion, TLS: tlsConfig, Limits: s.limits(), Memory: s.engine.Values, Logger: cfg.Log, Counter: (*connectionCounter)(&s.engine.Metrics.Connections), SandboxOldClients: cfg.SandboxOldClients, LoginRefused: s.loginRefused, TempFile: func() (mysqlwire.TempFile, error) { return disk.NewFile() }}, backend{s.engine, s.shared, cfg.RequireRootPassword, cfg.SkipGrantTables})
	if !cfg.InMemory {
		go guard.Do(cfg.Log, "making the key for passwords", mysqlwire.PrepareLoginKey)
	}
	if err := s.auditStart(); err != nil {
		return err
	}
	s.serve(s.listener, s.wire.Serve)
	if s.admin != nil {
		s.serve(s.admin, s.wire.ServeAdmin)
	}
	if s.socket != nil {
		s.serve(s.socket, s.wire.Serve)
	}
	s.metrics.Open(prom.Source{Engine: s.engine, MaxConnections: func() int { return s.limits().Connections }, Memory: cfg.Memory})
	if cfg.UseOneProcessor != nil && heap != nil && cfg.Durability == 1 {
		p := processors{useOne: cfg.UseOneProcessor}
		go guard.Do(cfg.Log, "watching the processors", func() { p.watch(watching, s.store, s.engine.Metrics) })
	}
	s.opened.Store(true)
	s.openHTTP()
	return nil
}

// globalChanged follows SET GLOBAL and SET PERSIST.
func (s *Server) globalChanged(name string, _ value.Datum) {
	switch name {
	case "max_connections", "sqlots_max_address_share", "max_user_connections", "connect_timeout", "require_secure_transport":
		s.wire.SetLimits(s.limits())
	}
}

// limits are those that the global variables say.
func (s *Server) limits() mysqlwire.Limits {
	number := func(name string) int { return int(s.engine.Globals.Value(name).Bits()) }
	return mysqlwire.Limits{
		Connections: number("max_connections"), AddressShare: number("sqlots_max_address_share"), UserConnections: number("max_user_connections"),
		ConnectTimeout: time.Duration(number("connect_timeout")) * time.Second, SecureTransport: number("require_secure_transport") != 0,
	}
}

func (s *Server) serve(l net.Listener, serve func(net.Listener) error) {
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		err := guard.Run(func() error { return serve(l) })
		if err != nil && !errors.Is(err, mysqlwire.ErrServerClosed) {
			s.cfg.Log.Error("listener stopped", "event", "listener.failed", "address", l.Addr().String(), "error", err)
		}
	}()
}

// openTemp opens the directory of temporary files, after the store, which holds
// the lock of the data directory.
func (s *Server) openTemp() (*spill.Disk, error) {
	switch {
	case s.cfg.TempDir != "":
	case s.cfg.InMemory:
		dir, err := os.MkdirTemp("", "sqlots-*")
		if err != nil {
			return nil, fmt.Errorf("directory of temporary files: %w", err)
		}
		s.temp, s.cfg.TempDir = dir, dir
	default:
		s.cfg.TempDir = filepath.Join(s.cfg.DataDir, tempFolder)
	}
	return spill.Open(spill.Options{Dir: s.cfg.TempDir, Bytes: s.cfg.TempBytes})
}

// searchDir is the directory of search indexes.
func (s *Server) searchDir() string {
	if s.cfg.InMemory {
		return filepath.Join(s.cfg.TempDir, searchFolder)
	}
	return filepath.Join(s.cfg.DataDir, searchFolder)
}

// ballast is never written to, so that it takes address space only. The
// collector counts it as alive and runs as seldom as on a heap of that size;
// with a small heap it would run many times a second.
var ballast []byte

const ballastShare = 16

// The sixteenths of the memory that are for data, and for statements: their rows, and
// the sorts of loads and index builds. What transactions have written may take as much
// as statements; data yields to it (pressure). The rest is for garbage, connections, and
// what is not counted; the collector must not use the last one.
const (
	dataShare  = 8
	queryShare = 5
	spareShare = 1
)

// codeBytes is what the program itself takes: its code and tables, the stacks of its own
// goroutines.
const codeBytes = 48 << 20

// divided is the part of the memory that the shares are of: what the program takes beyond
// the last sixteenth is not in it, but at most an eighth. From 768 MiB on it is all.
func divided(memory int64) int64 {
	return memory - min(max(codeBytes-memory*spareShare/16, 0), memory/8)
}

// Addr is the TCP address that the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// AdminAddr is the one for administrators, which the configuration must name.
func (s *Server) AdminAddr() string { return s.admin.Addr().String() }

// Engine is the server's engine.
func (s *Server) Engine() *engine.Engine { return s.engine }

// Store is the server's store.
func (s *Server) Store() storage.Store { return s.store }

// Stop ends the server: no new connections, running statements may finish for
// grace, then are interrupted (1053); the store is closed last.
func (s *Server) Stop(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.stopping.Store(true)
	waitHTTP := s.stopHTTP(ctx)
	err := s.wire.Shutdown(ctx)
	waitHTTP()
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // interrupted as announced
	}
	s.metrics.Close()
	s.stopMetrics()
	s.done.Wait()
	s.auditStop()
	if s.tracer != nil {
		s.tracer.Shutdown(ctx)
		s.tracer = nil
	}
	if serr := s.engine.Close(context.Background()); serr != nil {
		s.cfg.Log.Warn("sequences were not saved: there will be a gap", "event", "sequences.unsaved", "error", serr)
	}
	return errors.Join(err, s.closeAll())
}

func (s *Server) closeAll() error {
	if s.http != nil { // after a start that failed; else it is stopped
		now, cancel := context.WithCancel(context.Background())
		cancel()
		s.http.Shutdown(now)
	}
	if s.tracer != nil { // the same
		now, cancel := context.WithCancel(context.Background())
		cancel()
		s.tracer.Shutdown(now)
	}
	s.stopMetrics()
	for _, l := range []net.Listener{s.listener, s.admin, s.socket} {
		if l != nil {
			l.Close()
		}
	}
	var err error
	if s.temp != "" {
		err = os.RemoveAll(s.temp)
	}
	if s.relax != nil {
		s.relax()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.dirLock != nil {
		err = errors.Join(err, s.dirLock.Close())
	}
	return err
}
