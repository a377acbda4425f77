package querylog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/datadir"
)

// Statement is one that has ended. Its text has no secrets.
type Statement struct {
	ID         uint64 // of the connection
	User, Host string // Host is localhost or the address
	IP         string
	Database   string
	Text       string
	Start, End time.Time
	// Locked is how long it waited for locks.
	Locked                  time.Duration
	RowsSent, RowsExamined  int64
	BytesSent               int64
	Errno                   uint16
	LastInsertID            uint64
	TmpDiskTables, TmpFiles int64
}

// Command is a line of the general log. Its text has no secrets.
type Command struct {
	At         time.Time
	ID         uint64
	User, Host string
	Name, Text string
}

// tableLines is how many lines the tables show.
const tableLines = 1000

// Logs are the logs of a server. Its methods may be called concurrently.
type Logs struct {
	// SlowOn and GeneralOn are whether anything is to be logged; Extra is
	// log_slow_extra.
	SlowOn, GeneralOn, Extra atomic.Bool

	header string // of a file that is opened
	log    *slog.Logger

	mu            sync.Mutex
	files, tables bool
	slow, general file
	statements    []Statement // oldest first
	commands      []Command
}

// file is a log file, open from the first line on.
type file struct {
	path   string
	f      *os.File
	failed bool
	db     string // that the lines so far say is used
	buf    []byte
}

// New makes logs that are off. version and port are for the head of files, whose
// first line begins with the path of the program: mysqldumpslow skips it by
// that.
func New(log *slog.Logger, version string, port uint64, socket string) *Logs {
	program, err := os.Executable()
	if err != nil {
		program = "/sqlots"
	}
	if socket == "" {
		socket = "(null)"
	}
	return &Logs{log: log, header: fmt.Sprintf("%s, Version: %s. started with:\nTcp port: %d  Unix socket: %s\n"+
		"Time                 Id Command    Argument\n", program, version, port, socket)}
}

// Output says where lines go.
func (l *Logs) Output(files, tables bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files, l.tables = files, tables
}

// SetPaths names the files.
func (l *Logs) SetPaths(slow, general string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for f, path := range map[*file]string{&l.slow: slow, &l.general: general} {
		if f.path != path {
			f.close()
			f.path = path
		}
	}
}

// Reopen closes files, which are opened again at their paths by the next line.
func (l *Logs) Reopen(slow, general bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slow {
		l.slow.close()
	}
	if general {
		l.general.close()
	}
}

func (f *file) close() {
	if f.f != nil {
		_ = f.f.Close() // nothing is buffered
	}
	f.f, f.failed, f.db = nil, false, ""
}

const logMode = 0o640

// errForeign is the error of a file that is there and is no query log.
var errForeign = errors.New("the file is not a query log")

// openFile opens a log file, or makes it. It writes to no other file that is there,
// and follows no symbolic link.
func openFile(path string) (*os.File, error) {
	f, info, err := datadir.OpenRegular(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, logMode)
	if err != nil || info.Size() == 0 {
		return f, err
	}
	first := make([]byte, longHead)
	n, err := f.ReadAt(first, 0)
	switch {
	case err != nil && err != io.EOF:
	case !head.Match(first[:n]):
		err = errForeign
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// head is how a log begins: with its header, or, where somebody has emptied a file
// in use, with a line of the slow query log or of the general log.
var head = regexp.MustCompile(`^(?:[^\n]*, Version: [^\n]*\. started with:\n|# Time: [0-9]|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z\t)`)

// longHead is more than the first line of a header has.
const longHead = 8 << 10

// CanWrite reports whether a file can be opened for a log.
func CanWrite(path string) bool {
	f, err := openFile(path)
	return err == nil && f.Close() == nil
}

// InDir is the path of the file that a variable names: by a bare name, or by an
// absolute path, directly in dir. It is "" for all others.
func InDir(dir, name string) string {
	if dir == "" || !strings.HasSuffix(name, ".log") {
		return ""
	}
	base := filepath.Base(name)
	if base != name && (!filepath.IsAbs(name) || filepath.Dir(filepath.Clean(name)) != filepath.Clean(dir)) {
		return ""
	}
	return filepath.Join(dir, base)
}

// write appends what is in f.buf.
func (l *Logs) write(f *file) {
	if f.failed || f.path == "" {
		return
	}
	if f.f == nil {
		var err error
		if f.f, err = openFile(f.path); err != nil {
			f.failed, f.f = true, nil
			l.log.Error("query log cannot be opened; FLUSH LOGS tries again", "event", "querylog.failed", "file", f.path, "error", err)
			return
		}
		f.buf = append([]byte(l.header), f.buf...)
	}
	if _, err := f.f.Write(f.buf); err != nil {
		f.close()
		f.failed = true
		l.log.Error("query log cannot be written; FLUSH LOGS tries again", "event", "querylog.failed", "file", f.path, "error", err)
	}
}

const stampLayout = "2006-01-02T15:04:05.000000Z"

// Log adds a statement to the slow query log.
func (l *Logs) Log(s Statement) {
	s.Text = strings.TrimRight(s.Text, " \t\r\n;")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tables {
		l.statements = keepLast(l.statements, s)
	}
	if !l.files {
		return
	}
	f := &l.slow
	b := f.buf[:0]
	b = fmt.Appendf(b, "# Time: %s\n# User@Host: %s[%s] @ %s [%s]  Id: %5d\n", s.End.UTC().Format(stampLayout), s.User, s.User, s.Host, s.IP, s.ID)
	b = fmt.Appendf(b, "# Query_time: %.6f  Lock_time: %.6f Rows_sent: %d  Rows_examined: %d", s.End.Sub(s.Start).Seconds(), s.Locked.Seconds(), s.RowsSent, s.RowsExamined)
	if l.Extra.Load() {
		b = fmt.Appendf(b, " Thread_id: %d Errno: %d Killed: 0 Bytes_received: 0 Bytes_sent: %d Read_first: 0 Read_last: 0 Read_key: 0 Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: 0"+
			" Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 0 Sort_scan_count: 0 Created_tmp_disk_tables: %d Created_tmp_tables: %d Start: %s End: %s",
			s.ID, s.Errno, s.BytesSent, s.TmpDiskTables, s.TmpFiles, s.Start.UTC().Format(stampLayout), s.End.UTC().Format(stampLayout))
	}
	b = append(b, '\n')
	if s.Database != "" && s.Database != f.db {
		b = fmt.Appendf(b, "use %s;\n", s.Database)
		f.db = s.Database
	}
	f.buf = fmt.Appendf(b, "SET timestamp=%d;\n%s;\n", s.Start.Unix(), s.Text)
	l.write(f)
	f.buf = shrink(f.buf)
}

// Note adds a command to the general log.
func (l *Logs) Note(c Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tables {
		l.commands = keepLast(l.commands, c)
	}
	if !l.files {
		return
	}
	f := &l.general
	f.buf = fmt.Appendf(f.buf[:0], "%s\t%5d %s\t%s\n", c.At.UTC().Format(stampLayout), c.ID, c.Name, c.Text)
	l.write(f)
	f.buf = shrink(f.buf)
}

// shrink keeps the memory of a usual line.
func shrink(b []byte) []byte {
	if cap(b) > 1<<16 {
		return nil
	}
	return b
}

// Statements and Commands are the last lines, for the tables.
func (l *Logs) Statements() []Statement {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.statements)
}

// Commands are the last lines of the general log.
func (l *Logs) Commands() []Command {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.commands)
}

// Close closes the files.
func (l *Logs) Close() { l.Reopen(true, true) }

// keepLast appends a line, and drops the first where there are too many.
func keepLast[T any](lines []T, line T) []T {
	if len(lines) >= tableLines {
		lines = slices.Delete(lines, 0, 1)
	}
	return append(lines, line)
}
