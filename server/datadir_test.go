package server_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/sql/catalog"
)

// dataFiles are the files of the store below dir, with their sizes. Its own
// writes do not change the size of a log that exists.
func dataFiles(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[path] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// newestLog is the store's log that is written to.
func newestLog(t *testing.T, data string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(data, "kv", "*.log"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list[len(list)-1]
}

// TestLogFilesOfTheStore: no value of the variables of log files reaches a file
// that is no query log.
func TestLogFilesOfTheStore(t *testing.T) {
	base := t.TempDir()
	data := filepath.Join(base, "data")
	_, dsn := startServer(t, func(c *server.Config) { c.InMemory, c.DataDir = false, data })
	c := dial(t, dsn)
	c.exec("CREATE TABLE a (id INT PRIMARY KEY)")
	wal := newestLog(t, data)
	name := filepath.Base(wal)
	logs := filepath.Join(data, "log")
	for link, target := range map[string]string{"soft.log": wal, "dangling.log": filepath.Join(data, "kv", "999999.log"), "dir.log": filepath.Join(data, "kv")} {
		if err := os.Symlink(target, filepath.Join(logs, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(wal, filepath.Join(logs, "hard.log")); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"foreign.log": "127.0.0.1 - - [01/Jan/2026] GET /", "mine.log": "/usr/bin/sqlots, Version: 8.4.3. started with:\nTcp port: 1  Unix socket: (null)\n", "cut.log": "# Time: 2026-01-02T03:04:05.000000Z\n", "cut2.log": "2026-01-02T03:04:05.000000Z\t    8 Query\tSELECT 1\n", "empty.log": ""} {
		if err := os.WriteFile(filepath.Join(logs, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := dataFiles(t, data)
	for _, bad := range []string{
		"kv/" + name, "kv/999999.log", "../kv/" + name, "./x.log", "x/../x.log", "log/x.log", wal, filepath.Join(data, "x.log"), filepath.Join(data, "search", "x.log"),
		logs + "/../kv/" + name, logs + "/sub/x.log", "KV/" + name, "soft.log", "dangling.log", "dir.log", "hard.log", "foreign.log",
		logs + "/soft.log", logs + "/hard.log", "", ".", "..", ".log/", "x.log/", "x.txt", "a\\0b.log", strings.Repeat("x", 300) + ".log",
	} {
		for _, set := range []string{"SET GLOBAL general_log_file = '%s'", "SET GLOBAL slow_query_log_file = '%s'", "SET PERSIST general_log_file = '%s'", "SET PERSIST_ONLY slow_query_log_file = '%s'"} {
			c.fails(1231, fmt.Sprintf(set, bad))
		}
	}
	c.exec("SET GLOBAL general_log = ON")
	c.exec("SET GLOBAL general_log = OFF")
	for _, good := range []string{"x.log", logs + "/y.log", logs + "//z.log", "mine.log", "cut.log", "cut2.log", "empty.log"} {
		c.exec("SET GLOBAL general_log_file = '" + good + "', GLOBAL slow_query_log_file = '" + good + "'")
	}
	c.exec("SET GLOBAL general_log_file = DEFAULT, GLOBAL slow_query_log_file = DEFAULT")
	c.exec("SET GLOBAL general_log = ON")
	c.rows("1", "SELECT 1 -- default")
	c.exec("SET GLOBAL general_log = OFF")
	found := false
	for path, size := range dataFiles(t, data) {
		if old, ok := before[path]; ok && old == size || filepath.Dir(path) != logs {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found = found || strings.Contains(string(text), "SELECT 1 -- default")
	}
	if !found {
		t.Error("DEFAULT names no file that is written to")
	}
	after := dataFiles(t, data)
	if after[wal] != before[wal] {
		t.Errorf("the log of the store has grown: %d bytes, were %d", after[wal], before[wal])
	}
	if _, ok := after[filepath.Join(data, "kv", "999999.log")]; ok {
		t.Error("a log of the store was made")
	}
}

// TestPersistedLogFiles: values that an older version has stored do not reach the
// store, and its logs do not keep a server from starting.
func TestPersistedLogFiles(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	onDisk := func(c *server.Config) { c.InMemory, c.DataDir = false, data }
	s, dsn := startOnce(t, onDisk)
	c := dial(t, dsn)
	c.exec("SET PERSIST general_log_file = 'good.log'")
	c.exec("SET PERSIST general_log = ON")
	c.exec("SET PERSIST slow_query_log_file = 'good.log'")
	c.exec("SET PERSIST slow_query_log = ON")
	c.close()
	err := s.Engine().Catalog.Change(t.Context(), func(ch *catalog.Change) error {
		ch.PutSetting(catalog.Setting{Name: "general_log_file", Value: "kv/000002.log"})
		ch.PutSetting(catalog.Setting{Name: "slow_query_log_file", Value: filepath.Join(data, "old-slow.log")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"old.log", "old-slow.log"} {
		if err := os.WriteFile(filepath.Join(data, old), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := dataFiles(t, filepath.Join(data, "kv"))
	s, dsn = startOnce(t, onDisk)
	c = dial(t, dsn)
	c.rows("0,0", "SELECT @@general_log_file LIKE '%kv%', @@slow_query_log_file LIKE '%/old-slow.log'")
	c.close()
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	for path := range dataFiles(t, filepath.Join(data, "kv")) {
		if _, ok := before[path]; ok {
			continue
		}
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "Version: ") && strings.Contains(string(text), "started with") {
			t.Errorf("%s is a query log: %v", path, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(data, "old-slow.log")); err != nil || string(text) != "old" {
		t.Errorf("the old log was written to: %q, %v", text, err)
	}
}

// TestPathsOfFlags: a server refuses to start with paths among the files of the
// store.
func TestPathsOfFlags(t *testing.T) {
	testflag.Normal(t)
	base := t.TempDir()
	data := filepath.Join(base, "data")
	if err := os.MkdirAll(filepath.Join(data, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"tokv": "data/kv", "todata": "data", "data/mine/tokv": "../kv"} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	flags := map[string]func(*server.Config, string){
		"log-dir": func(c *server.Config, p string) { c.LogDir = p }, "tmp": func(c *server.Config, p string) { c.TempDir = p },
		"backup-dir": func(c *server.Config, p string) { c.BackupDir = p }, "secure-file-priv": func(c *server.Config, p string) { c.SecureFileDir = p },
		"socket": func(c *server.Config, p string) { c.Socket = p },
	}
	start := func(set func(*server.Config, string), path string) error {
		cfg := server.Config{DataDir: data, Listen: "127.0.0.1:0", Durability: 1, Memory: 64 << 20}
		set(&cfg, path)
		s, err := server.Start(t.Context(), cfg)
		if err == nil {
			err = s.Stop(0)
		}
		return err
	}
	for name, set := range flags {
		for _, path := range []string{"data/kv", "data/kv/sub", "data/bulk", "data/backup/", "data/search", "data/damaged-logs/1", "data/FORMAT", "data/LOGS", "todata/kv", "tokv/x", "data/mine/tokv", "data/mine/../kv", "data"} {
			if name == "socket" && path == "data" {
				continue
			}
			err := start(set, base+"/"+path)
			if err == nil || !strings.Contains(err.Error(), "--"+name) || !strings.Contains(err.Error(), "data directory") {
				t.Errorf("--%s %s: %v", name, path, err)
			}
		}
	}
	for name, paths := range map[string][]string{"log-dir": {"data/log", "logs", "data/mine"}, "tmp": {"data/tmp", "tmp"}, "backup-dir": {"data/mine", "."}, "secure-file-priv": {"data/mine", "."}, "socket": {"data/s", "s"}} {
		for _, path := range paths {
			if err := start(flags[name], base+"/"+path); err != nil {
				t.Errorf("--%s %s: %v", name, path, err)
			}
		}
	}
	// "a/.." means the same to the check and to the server.
	if err := os.Symlink("data/mine", filepath.Join(base, "tomine")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tmp", "log-dir"} {
		if err := start(flags[name], base+"/tomine/../kv/"+name); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(base, "kv", name)); err != nil {
			t.Errorf("--%s: %v", name, err)
		}
	}
	for name, path := range map[string]string{"log-dir": "data/tmp", "tmp": "data/log", "backup-dir": "data/tmp/x", "secure-file-priv": "data/log"} {
		if err := start(flags[name], base+"/"+path); err == nil {
			t.Errorf("--%s %s: no error", name, path)
		}
	}
}

// TestStatementFiles: statements do not reach the files of the store where
// secure_file_priv and sqlots_backup_dir are above it.
func TestStatementFiles(t *testing.T) {
	base := t.TempDir()
	data := filepath.Join(base, "data")
	if err := os.Mkdir(filepath.Join(base, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, dsn := startServer(t, func(c *server.Config) {
		c.InMemory, c.DataDir, c.SecureFileDir, c.BackupDir = false, data, base+"/", base
	})
	c := dial(t, dsn)
	c.exec("CREATE TABLE a (v LONGBLOB)")
	wal := newestLog(t, data)
	rel, err := filepath.Rel(base, wal)
	if err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"soft": wal, "tokv": "data/kv", "sub/up": "../data"} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(wal, filepath.Join(base, "hard")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "free"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(wal, 0o644); err != nil {
		t.Fatal(err)
	}
	// Reading. A hard link is another name of the file.
	for _, path := range []string{rel, "data/../" + rel, "sub/../" + rel, "soft", "tokv/" + filepath.Base(wal), "sub/up/kv/" + filepath.Base(wal), "data/FORMAT", "/" + rel, rel + "/"} {
		c.fails(1290, "LOAD DATA INFILE '"+base+"/"+path+"' INTO TABLE a")
		c.rows("NULL", "SELECT LOAD_FILE('"+base+"/"+path+"')")
	}
	c.fails(1290, "LOAD DATA INFILE '"+base+"/hard' INTO TABLE a")
	c.rows("NULL", "SELECT LOAD_FILE('"+base+"/hard')")
	c.rows("x\n", "SELECT LOAD_FILE('"+base+"/free')")
	c.exec("LOAD DATA INFILE '" + base + "/free' INTO TABLE a")
	// Writing.
	for _, path := range []string{"data/x", "data/kv/999999.log", "data/FORMAT", "data/new.log", "tokv/999999.log", "sub/up/kv/999999.log", "data/kv/../x", "sub/up/x", "data/log/x.log", "data/tmp/x"} {
		c.fails(1290, "SELECT 1 INTO OUTFILE '"+base+"/"+path+"'")
		c.fails(1290, "SELECT 1 INTO DUMPFILE '"+base+"/"+path+"'")
		c.fails(1290, "BACKUP DATABASE * TO '"+base+"/"+path+"'")
		c.fails(1290, "BACKUP DATABASE * TO '"+path+"'")
	}
	c.exec("SELECT 1 INTO OUTFILE '" + base + "/sub/x'")
	for _, set := range []string{"SET GLOBAL tmpdir = '/tmp'", "SET GLOBAL secure_file_priv = '/'", "SET GLOBAL sqlots_backup_dir = '/'", "SET GLOBAL datadir = '/'", "SET GLOBAL socket = 'kv/x'", "SET GLOBAL log_error = 'kv/x'", "SET GLOBAL pid_file = 'kv/x'"} {
		c.fails(1238, set)
	}
	if list, err := filepath.Glob(filepath.Join(data, "*", "*999999*")); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}

// TestSocket: a stale socket is replaced, everything else is kept.
func TestSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	open := func(mode fs.FileMode) (*server.Server, error) {
		return server.Start(t.Context(), server.Config{InMemory: true, Listen: "127.0.0.1:0", Durability: 1, Socket: path, SocketMode: mode})
	}
	stop := func(s *server.Server) {
		t.Helper()
		if err := s.Stop(0); err != nil {
			t.Fatal(err)
		}
	}
	mode := func() fs.FileMode {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := open(0); err == nil {
		stop(s)
		t.Error("the socket of a running server was taken")
	} else if !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	l.SetUnlinkOnClose(false) // as a killed server leaves it
	l.Close()
	s, err := open(0)
	if err != nil {
		t.Fatal(err)
	}
	if got := mode(); got != 0o600 {
		t.Errorf("mode %o", got)
	}
	c := dial(t, "root@unix("+path+")/")
	c.rows("1", "SELECT 1")
	c.close()
	if _, err := open(0); err == nil {
		t.Error("the socket of a running server was taken")
	}
	stop(s)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Error("the socket is left after a clean stop", err)
	}
	if s, err = open(0o777); err != nil {
		t.Fatal(err)
	}
	if got := mode(); got != 0o777 {
		t.Errorf("mode %o", got)
	}
	stop(s)
	// What is no socket stays.
	for _, make := range []func() error{
		func() error { return os.WriteFile(path, []byte("mine"), 0o600) },
		func() error { return os.Mkdir(path, 0o700) },
		func() error { return os.Symlink("other", path) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if s, err := open(0); err == nil {
			stop(s)
			t.Error("it was replaced")
		} else if !strings.Contains(err.Error(), path) {
			t.Error(err)
		}
		if err := os.Remove(path); err != nil {
			t.Error("it is gone:", err)
		}
	}
}

// TestRequireRootPassword: without a password root comes in through the socket
// only, and without a socket the server does not start.
func TestRequireRootPassword(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cfg := server.Config{DataDir: data, Listen: "127.0.0.1:0", Durability: 1, Memory: 64 << 20, RequireRootPassword: true}
	if s, err := server.Start(t.Context(), cfg); err == nil {
		t.Error("it started")
		_ = s.Stop(0)
	} else if !strings.Contains(err.Error(), "--socket") {
		t.Error(err)
	}
	cfg.Socket = filepath.Join(t.TempDir(), "s")
	s := servertest.Open(t, cfg)
	tcp, unix := "root@tcp("+s.Addr()+")/", "root@unix("+cfg.Socket+")/"
	if n := login(t, tcp); n != 1045 {
		t.Errorf("error %d", n)
	}
	c := dial(t, unix)
	c.exec("CREATE USER other")
	if n := login(t, strings.Replace(tcp, "root", "other", 1)); n != 1045 {
		t.Errorf("error %d", n)
	}
	c.exec("ALTER USER root IDENTIFIED BY 'x1'")
	c.close()
	if n := login(t, strings.Replace(tcp, "root", "root:x1", 1)); n != 0 {
		t.Errorf("error %d", n)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	cfg.Socket = ""
	s = servertest.Open(t, cfg)
	if n := login(t, "root:x1@tcp("+s.Addr()+")/"); n != 0 {
		t.Errorf("error %d", n)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
}
