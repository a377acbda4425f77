package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/datadir"
)

// Settings are what the system variables say.
type Settings struct {
	On      bool
	Classes Class
	// RotateSize is the size in bytes that a file does not grow beyond, 0 for no limit;
	// Rotations is how many earlier files are kept.
	RotateSize int64
	Rotations  int
	// TextSize is the most bytes of the text of a statement.
	TextSize int
	// Sync waits for the disk after each event.
	Sync bool
}

// Log is the audit log of a server. Its methods may be called concurrently.
type Log struct {
	path string
	log  *slog.Logger
	// now is the clock, and wrap the file that is written (tests).
	now  func() time.Time
	wrap func(*os.File) file

	on      atomic.Bool
	classes atomic.Uint32
	// Of SHOW STATUS.
	events, lost, size atomic.Int64

	mu  sync.Mutex
	set Settings
	f   file // nil until the next event
	buf []byte
	// failed: the file could not be written the last time, and is tried again at retry;
	// missed counts the events since. stuck is until when rotation is not tried again.
	failed       bool
	retry, stuck time.Time
	missed       int64
}

// file is what Log needs of an *os.File.
type file interface {
	Write(b []byte) (int, error)
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
}

// retryAfter is the time between attempts to write, or to rotate, after a failure.
const retryAfter = time.Second

// New makes a log that is off. With an empty path it stays off.
func New(log *slog.Logger, path string) *Log {
	return &Log{log: log, path: path, now: time.Now, wrap: func(f *os.File) file { return f }}
}

// Set takes over the settings.
func (l *Log) Set(s Settings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set = s
	l.classes.Store(uint32(s.Classes))
	on := s.On && l.path != ""
	if !on {
		l.close()
		l.failed, l.missed = false, 0
	}
	l.on.Store(on)
}

// Settings are those of the last Set.
func (l *Log) Settings() Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set
}

// Path is that of the file, "" where the server has no directory for it.
func (l *Log) Path() string { return l.path }

// On reports that the log is on.
func (l *Log) On() bool { return l.on.Load() }

// Takes reports that events of a class are written.
func (l *Log) Takes(c Class) bool {
	return l.on.Load() && (c == Always || uint32(c)&l.classes.Load() != 0)
}

// Events is how many events were written since the start, Lost how many could not be,
// and Size the size of the file.
func (l *Log) Events() int64 { return l.events.Load() }

// Lost is described at Events.
func (l *Log) Lost() int64 { return l.lost.Load() }

// Size is described at Events.
func (l *Log) Size() int64 { return l.size.Load() }

// Write adds an event, if its class is written.
func (l *Log) Write(e *Event) {
	if !l.Takes(e.Class) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on.Load() { // switched off meanwhile
		return
	}
	now := l.now()
	if l.failed && now.Before(l.retry) {
		l.lose()
		return
	}
	l.buf = l.buf[:0]
	if l.missed > 0 {
		gap := Event{Name: "lost", Failed: true, Message: fmt.Sprintf("%d events could not be written", l.missed)}
		l.buf = gap.append(l.buf, now, 0)
	}
	l.buf = e.append(l.buf, now, l.set.TextSize)
	err := l.add(now)
	if cap(l.buf) > 1<<16 {
		l.buf = nil
	}
	if err != nil {
		if !l.failed {
			l.log.Error("the audit log cannot be written: events are lost; it is tried again every second", "file", l.path, "error", err)
		}
		l.failed, l.retry = true, now.Add(retryAfter)
		l.close()
		l.lose()
		return
	}
	if l.failed {
		l.log.Info("the audit log is written again", "file", l.path, "lost", l.missed)
	}
	l.failed, l.missed = false, 0
	l.events.Add(1)
}

func (l *Log) lose() {
	l.missed++
	l.lost.Add(1)
}

// add writes l.buf to the end of the file, whole or not at all.
func (l *Log) add(now time.Time) error {
	if err := l.open(); err != nil {
		return err
	}
	size := l.size.Load()
	if limit := l.set.RotateSize; limit > 0 && size > 0 && size+int64(len(l.buf)) > limit && !now.Before(l.stuck) {
		if err := l.rotate(); err != nil {
			l.stuck = now.Add(time.Minute)
			l.log.Error("the audit log cannot be rotated: it grows on", "file", l.path, "error", err)
		}
		if err := l.open(); err != nil {
			return err
		}
		size = l.size.Load()
	}
	n, err := l.f.Write(l.buf)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, l.f.Truncate(size))
		}
		return err
	}
	l.size.Store(size + int64(n))
	if l.set.Sync {
		return l.f.Sync()
	}
	return nil
}

// rotate gives the file the number 1, its predecessors one more, and removes those that
// are not kept. The next event opens a new one. A file that has been renamed meanwhile
// is left where it is.
func (l *Log) rotate() error {
	mine, err := l.f.Stat()
	if err != nil {
		return err
	}
	l.close()
	if at, err := os.Lstat(l.path); err != nil || !os.SameFile(mine, at) {
		return nil
	}
	for n := l.set.Rotations; ; n++ {
		if err := os.Remove(l.numbered(n)); errors.Is(err, fs.ErrNotExist) {
			if n > l.set.Rotations {
				break
			}
		} else if err != nil {
			return err
		}
	}
	for n := l.set.Rotations - 1; n >= 0; n-- {
		if err := os.Rename(l.numbered(n), l.numbered(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// numbered is the path of the nth earlier file, that of the file itself for 0.
func (l *Log) numbered(n int) string {
	if n == 0 {
		return l.path
	}
	return l.path + "." + strconv.Itoa(n)
}

const (
	mode = 0o640
	head = `{"time":"` // of every line
)

// errForeign is the error of a file that is there and is no audit log.
var errForeign = errors.New("the file is not an audit log")

// open opens the file, or makes it, if it is not open. It follows no symbolic link.
func (l *Log) open() error {
	if l.f != nil {
		return nil
	}
	f, info, err := datadir.OpenRegular(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, mode)
	if err != nil {
		return err
	}
	size := info.Size()
	if size > 0 {
		ends, err := checkOurs(f, size)
		if err == nil && !ends { // a crash has cut its last line
			_, err = f.Write([]byte{'\n'})
			size++
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	l.f = l.wrap(f)
	l.size.Store(size)
	return nil
}

// checkOurs reports whether an audit log ends with a line break.
func checkOurs(f *os.File, size int64) (ends bool, err error) {
	first := make([]byte, min(size, int64(len(head))))
	if _, err := f.ReadAt(first, 0); err != nil {
		return false, err
	}
	if !bytes.HasPrefix([]byte(head), first) {
		return false, errForeign
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], size-1)
	return last[0] == '\n', err
}

func (l *Log) close() {
	if l.f != nil {
		_ = l.f.Close() // nothing is buffered
	}
	l.f = nil
}

// Check opens the file, if the log is on: nil if it can be written.
func (l *Log) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on.Load() {
		return nil
	}
	return l.open()
}

// Reopen closes the file, which the next event opens again at its path. One that could
// not be written is tried again.
func (l *Log) Reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
	l.retry, l.stuck = time.Time{}, time.Time{}
}

// Close ends the log.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on.Store(false)
	l.close()
}
