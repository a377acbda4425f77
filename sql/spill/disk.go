package spill

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// DefaultFiles is the number of files that may be open at a time when Options
// do not say.
const DefaultFiles = 1000

const prefix = "sqlots-spill-"

// leftovers begin the names of the temporary files of the server: those here, of
// bulk loads (storage/sorter), and of cursors and LOAD DATA in earlier versions.
var leftovers = []string{prefix, "sqlots-bulk-", "sqlots-cursor-", "sqlots-load-"}

// Options shape a Disk.
type Options struct {
	// Dir is the directory of the files, made when it does not exist.
	Dir string
	// Bytes is the most that all files hold together; 0 for no limit.
	Bytes int64
	// Files is the most files that are open at a time; 0 for DefaultFiles.
	Files int
	// FS makes the files; nil for the system's.
	FS FS
}

// FS makes temporary files. Its methods may be called concurrently.
type FS interface {
	// Create makes an empty file in dir that goes when it is closed.
	Create(dir string) (Handle, error)
}

// Handle is an open temporary file. WriteAt and ReadAt may be called
// concurrently.
type Handle interface {
	io.WriterAt
	io.ReaderAt
	io.Closer
}

// Disk makes temporary files within a budget. Its methods may be called
// concurrently.
type Disk struct {
	opts  Options
	bytes atomic.Int64
	files atomic.Int64

	made, written atomic.Int64
	removals      sync.WaitGroup
}

// Open makes the directory and removes what a crash has left there.
func Open(opts Options) (*Disk, error) {
	if opts.Files == 0 {
		opts.Files = DefaultFiles
	}
	if opts.FS == nil {
		opts.FS = osFS{}
	}
	if err := os.MkdirAll(opts.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("directory of temporary files: %w", err)
	}
	list, err := os.ReadDir(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("directory of temporary files: %w", err)
	}
	for _, e := range list {
		ours := slices.ContainsFunc(leftovers, func(p string) bool { return strings.HasPrefix(e.Name(), p) })
		if ours && e.Type().IsRegular() {
			if err := os.Remove(filepath.Join(opts.Dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("temporary file of an earlier run: %w", err)
			}
		}
	}
	return &Disk{opts: opts}, nil
}

// Used are the bytes and the files that are held now.
func (d *Disk) Used() (bytes, files int64) { return d.bytes.Load(), d.files.Load() }

// Wait returns when the files that were closed are gone.
func (d *Disk) Wait() { d.removals.Wait() }

// Total are the files made and the bytes written since Open.
func (d *Disk) Total() (files, bytes int64) { return d.made.Load(), d.written.Load() }

// fail is the MySQL error of an error of the file system.
func (d *Disk) fail(err error) error {
	var known *sqlerr.Error
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return sqlerr.DiskFull(d.opts.Dir)
	}
	number := 5 // EIO, for what is no error of the system
	var errno syscall.Errno
	if errors.As(err, &errno) {
		number = int(errno)
	}
	return sqlerr.EngineError(number, "temporary file: "+err.Error())
}

// NewFile makes a file. It is closed with the last Rows in it, or by Close.
func (d *Disk) NewFile() (*File, error) {
	if d.files.Add(1) > int64(d.opts.Files) {
		d.files.Add(-1)
		return nil, sqlerr.EngineError(int(syscall.EMFILE), fmt.Sprintf("temporary file: %d are open", d.opts.Files))
	}
	h, err := d.opts.FS.Create(d.opts.Dir)
	if err != nil {
		d.files.Add(-1)
		return nil, d.fail(err)
	}
	d.made.Add(1)
	return &File{d: d, h: h}, nil
}

// File is a temporary file of blocks. Blocks may be written and read
// concurrently.
type File struct {
	// Stop, unless nil, is called before each block that is written, which its error ends.
	// It is set before the first.
	Stop func() error

	d    *Disk
	h    Handle
	size atomic.Int64
	refs atomic.Int64
	shut sync.Once
}

// Size is the number of bytes written to the file.
func (f *File) Size() int64 { return f.size.Load() }

// reserve takes room for a block at the end.
func (f *File) reserve(n int64) (at int64, err error) {
	if used := f.d.bytes.Add(n); f.d.opts.Bytes > 0 && used > f.d.opts.Bytes {
		f.d.bytes.Add(-n)
		return 0, sqlerr.TableFull(f.d.opts.Dir)
	}
	return f.size.Add(n) - n, nil
}

func (f *File) write(block []byte) (at int64, err error) {
	if f.Stop != nil {
		if err := f.Stop(); err != nil {
			return 0, err
		}
	}
	if at, err = f.reserve(int64(len(block))); err != nil {
		return 0, err
	}
	if _, err := f.h.WriteAt(block, at); err != nil {
		return 0, f.d.fail(err)
	}
	f.d.written.Add(int64(len(block)))
	return at, nil
}

// Write appends what is no block. It implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if _, err := f.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.h.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		err = f.d.fail(err)
	}
	return n, err
}

func (f *File) read(p []byte, at int64) error {
	if _, err := f.h.ReadAt(p, at); err != nil {
		return f.d.fail(err)
	}
	return nil
}

// drop gives up one use of the file.
func (f *File) drop() {
	if f.refs.Add(-1) == 0 {
		f.Close()
	}
}

// slowFile is the size from which a file is removed in the background: file systems take
// a tenth of a second for a gigabyte in all, and a statement that ends must not wait for that.
const slowFile = 4 << 20

// Close removes the file; Rows in it are lost. It is idempotent. What a large file holds
// counts as used until it is gone.
func (f *File) Close() {
	f.shut.Do(func() {
		if f.size.Load() < slowFile {
			f.remove()
			return
		}
		f.d.removals.Go(func() { _ = guard.Run(func() error { f.remove(); return nil }) })
	})
}

func (f *File) remove() {
	// There is nothing in it that anybody wants to keep.
	_ = f.h.Close()
	f.d.bytes.Add(-f.size.Load())
	f.d.files.Add(-1)
}

// osFS makes files of the system.
type osFS struct{}

// Create implements FS.
func (osFS) Create(dir string) (Handle, error) {
	f, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return nil, err
	}
	if os.Remove(f.Name()) != nil {
		return namedFile{f}, nil
	}
	return f, nil
}

// namedFile is a file that could not be removed while it is open.
type namedFile struct{ *os.File }

// Close closes the file and removes it.
func (f namedFile) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }
