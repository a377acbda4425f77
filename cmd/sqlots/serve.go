package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sqlots/sqlots/internal/procs"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

// byteSize is a flag value such as 512MiB, 2G or 1073741824.
type byteSize int64

// String implements flag.Value.
func (b *byteSize) String() string { return strconv.FormatInt(int64(*b), 10) }

// Set implements flag.Value.
func (b *byteSize) Set(s string) error {
	units := []struct {
		suffix string
		factor int64
	}{{"gib", 1 << 30}, {"gb", 1 << 30}, {"g", 1 << 30}, {"mib", 1 << 20}, {"mb", 1 << 20}, {"m", 1 << 20}, {"kib", 1 << 10}, {"kb", 1 << 10}, {"k", 1 << 10}, {"", 1}}
	low := strings.ToLower(strings.TrimSpace(s))
	for _, u := range units {
		if !strings.HasSuffix(low, u.suffix) {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(low, u.suffix)), 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no size; write 512MiB or 2GiB", s)
		}
		*b = byteSize(n * float64(u.factor))
		return nil
	}
	return nil
}

// fileMode is a flag value such as 0660.
type fileMode os.FileMode

// String implements flag.Value.
func (m *fileMode) String() string { return fmt.Sprintf("%04o", uint32(*m)) }

// Set implements flag.Value.
func (m *fileMode) Set(s string) error {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n == 0 || n > 0o777 {
		return fmt.Errorf("%q is no mode; write 0600, 0660 or 0777", s)
	}
	*m = fileMode(n)
	return nil
}

// rootPasswordVariable is the environment variable with the password of root of a new data
// directory.
const rootPasswordVariable = "SQLOTS_ROOT_PASSWORD"

// initialRootPassword reads the password of root from a file, which may end in a line break,
// or where path is "" from the environment, out of which it takes it. It is nil for none.
func initialRootPassword(path string) func() (string, error) {
	password, ok := os.LookupEnv(rootPasswordVariable)
	_ = os.Unsetenv(rootPasswordVariable)
	switch {
	case path != "":
		return func() (string, error) {
			b, err := os.ReadFile(path)
			return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), err
		}
	case ok && password != "":
		return func() (string, error) { return password, nil }
	}
	return nil
}

// serve is "sqlots serve".
func serve(args []string, _, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots serve", flag.ContinueOnError)
	fs.SetOutput(stderr)
	cfg := server.Config{}
	memory := byteSize(server.DefaultMemory)
	temp := byteSize(0)
	fs.StringVar(&cfg.DataDir, "data", "", "data directory, made if it does not exist (required)")
	var store storeFlags
	store.register(fs)
	fs.StringVar(&cfg.Listen, "listen", "127.0.0.1:4000", "TCP address to listen on")
	fs.StringVar(&cfg.AdminListen, "admin-listen", "", "TCP address for root, who is admitted there however many connections there are")
	fs.StringVar(&cfg.Socket, "socket", "", "unix socket to listen on too")
	socketMode := fileMode(0o600)
	fs.Var(&socketMode, "socket-mode", "which local users may connect to the socket")
	fs.BoolVar(&cfg.RequireRootPassword, "require-root-password", false, "accounts without a password may use the socket only; without a socket the server does not start while root has none")
	rootPassword := fs.String("initial-root-password-file", "", "file with the password that root of a new data directory gets (default: the environment variable "+rootPasswordVariable+")")
	fs.BoolVar(&cfg.SkipGrantTables, "skip-grant-tables", false, "let everybody on this machine in without a password and do everything, to set a lost one; the addresses must be of loopback")
	disconnect := fs.Bool("disconnect-on-expired-password", true, "refuse clients that do not know of expired passwords when theirs has expired (1862), rather than let them change it")
	performanceSchema := fs.Bool("performance-schema", true, "count what statements do by digest and account, and keep the last ones, for performance_schema and sys")
	fs.StringVar(&cfg.HTTP.Listen, "http", "", "TCP address that answers HTTP: SQL, loads, health, a console; HTTPS with --tls-cert")
	fs.BoolVar(&cfg.HTTP.Insecure, "http-insecure", false, "allow --http on an address that others reach without TLS")
	fs.BoolVar(&cfg.HTTP.Console, "http-console", true, "serve the web console by HTTP")
	hosts := fs.String("http-host", "", "names of the server, separated by commas, that HTTP requests may use in addition to addresses and localhost")
	fs.DurationVar(&cfg.HTTP.SessionIdle, "http-session-idle", time.Minute, "how long a session of HTTP is kept without a request")
	fs.Var(&memory, "memory", "memory budget of cache, memtables and queries")
	fs.StringVar(&cfg.TempDir, "tmp", "", "directory of temporary files (default: tmp in the data directory)")
	fs.Var(&temp, "tmp-limit", "most bytes that queries spill to temporary files (default: no limit)")
	fs.StringVar(&cfg.TLSCert, "tls-cert", "", "certificate (PEM); offers TLS to clients")
	fs.StringVar(&cfg.TLSKey, "tls-key", "", "key of the certificate (PEM)")
	fs.StringVar(&cfg.TLSCA, "tls-ca", "", "certificates of the authorities that clients may have a certificate of (PEM), for accounts that REQUIRE one")
	fs.IntVar(&cfg.MaxConnections, "max-connections", 2000, "most connections at once")
	fs.StringVar(&cfg.SecureFileDir, "secure-file-priv", "", "directory that statements may read files of (LOAD DATA INFILE) and write files to; without it none")
	fs.StringVar(&cfg.LogDir, "log-dir", "", "directory of the slow query log, the general log and the audit log (default: log in the data directory)")
	fs.StringVar(&cfg.AuditLog, "audit-log", "off", "audit log in --log-dir: off (unless SET PERSIST has switched it on), on, or forced: on, and SET cannot change it")
	fs.StringVar(&cfg.BackupDir, "backup-dir", "", "directory that BACKUP may write to; without it none")
	fs.IntVar(&cfg.Durability, "flush-log-at-commit", 1, "1: a commit is on disk when it is acknowledged; 2: given to the system; 0: neither")
	fs.BoolVar(&cfg.AcceptLogDamage, "accept-log-damage", false, "start without the end of a damaged log and the commits in it; the logs are kept in damaged-logs in the data directory")
	fs.StringVar(&cfg.MetricsListen, "metrics", "", "loopback address that answers /metrics (Prometheus), /healthz and /readyz")
	fs.StringVar(&cfg.Traces.Endpoint, "otlp-endpoint", "", "address of a collector of OpenTelemetry, such as http://localhost:4318, to which statements are sent as spans (default: the environment variable OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT)")
	fs.Float64Var(&cfg.Traces.Ratio, "otlp-ratio", 1, "part of the traces that are sent, from 0 to 1; where a client began a trace, that decides")
	logFormat := fs.String("log-format", "text", "form of the log: text or json")
	logLevel := fs.String("log-level", "info", "what to log: debug, info, warn or error")
	profiles := fs.String("pprof", "", "loopback address that answers Go profile requests (net/http/pprof)")
	grace := fs.Duration("grace", 10*time.Second, "how long running statements may go on after SIGTERM")
	if err := fs.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return 0
		}
		return 2
	}
	if cfg.DataDir == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "sqlots serve: --data DIR is required, and no other argument")
		return 2
	}
	if cfg.Durability < 0 || cfg.Durability > 2 {
		fmt.Fprintln(stderr, "sqlots serve: --flush-log-at-commit is 0, 1 or 2")
		return 2
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// A thread that waits for the disk keeps its place until the runtime
		// notices: with half as many places more, others run meanwhile. Twice as
		// many cost single inserts 6 % again, and reads a tenth of their p99.
		n := runtime.GOMAXPROCS(0)
		procs.Give(n + (n+1)/2)
		cfg.UseOneProcessor = procs.UseOne
	}
	cfg.HTTP.Hosts = strings.FieldsFunc(*hosts, func(r rune) bool { return r == ',' || r == ' ' })
	cfg.InitialRootPassword, cfg.SandboxOldClients = initialRootPassword(*rootPassword), !*disconnect
	cfg.NoPerformanceSchema = !*performanceSchema
	if cfg.Traces.Endpoint == "" {
		cfg.Traces.Endpoint = cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	}
	cfg.Memory, cfg.TempBytes, cfg.SocketMode = int64(memory), int64(temp), os.FileMode(socketMode)
	var err error
	if cfg.Log, err = newLogger(stderr, *logFormat, *logLevel); err != nil {
		fmt.Fprintln(stderr, "sqlots serve:", err)
		return 2
	}
	build := server.Build()
	cfg.Log.Info("starting", "event", "server.start", "version", build.Version, "revision", build.Revision, "go", build.Go, "memory", cfg.Memory, "cores", runtime.NumCPU(), "data", cfg.DataDir, "format", server.FormatVersion)
	systemd := startManager(cfg.Log)
	defer systemd.end()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	var lost atomic.Pointer[error]
	cfg.Cluster, err = store.cluster(cfg.Listen, tikvkv.Options{Log: cfg.Log, Lost: func(err error) {
		lost.Store(&err)
		stop()
	}})
	if err != nil {
		fmt.Fprintln(stderr, "sqlots serve:", err)
		return 1
	}
	reopen := make(chan os.Signal, 1)
	signal.Notify(reopen, syscall.SIGHUP)
	defer signal.Stop(reopen)
	if *profiles != "" {
		stopProfiles, err := servePprof(*profiles, cfg.Log)
		if err != nil {
			fmt.Fprintln(stderr, "sqlots serve:", err)
			return 2
		}
		defer stopProfiles()
	}
	s, err := server.Start(ctx, cfg)
	if err != nil {
		fmt.Fprintln(stderr, "sqlots serve:", err)
		return 1
	}
	if cfg.HTTP.Listen != "" {
		cfg.Log.Info("HTTP", "event", "server.http", "address", s.HTTPAddr(), "tls", cfg.TLSCert != "")
	}
	if cfg.MetricsListen != "" {
		cfg.Log.Info("metrics", "event", "server.metrics", "address", "http://"+s.MetricsAddr()+"/metrics")
	}
	cfg.Log.Info("ready", "event", "server.ready", "address", s.Addr(), "data", cfg.DataDir)
	systemd.ready(s.Addr(), s.CheckAlive)
	for ctx.Err() == nil {
		select {
		case <-reopen:
			s.Engine().ReopenLogs()
		case <-ctx.Done():
		}
	}
	cfg.Log.Info("stopping", "event", "server.stopping")
	systemd.stopping(*grace)
	if lost.Load() != nil {
		*grace = 0 // nothing that runs can end well
	}
	if err := s.Stop(*grace); err != nil {
		fmt.Fprintln(stderr, "sqlots serve: stopping:", err)
		return 1
	}
	cfg.Log.Info("stopped", "event", "server.stopped")
	if err := lost.Load(); err != nil {
		fmt.Fprintln(stderr, "sqlots serve:", *err)
		return 1
	}
	return 0
}
