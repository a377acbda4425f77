package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// Backups hold everything, the hashes of passwords among it: only the owner may
// read them.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// Source is a store that can be copied.
type Source interface {
	Seq() uint64
	Checkpoint(dir string) error
}

// Options shape a backup.
type Options struct {
	// To is the directory to make.
	To string
	// Previous is the backup before an incremental one, "" for a full one.
	Previous string
	// Stage is a directory on the store's file system that does not exist.
	Stage string
	// BytesPerSecond bounds how fast the store is read, 0 for no bound.
	BytesPerSecond int64
	// Progress, if set, is called at each step.
	Progress func(Progress)
}

// Progress is how far a backup, verification or restoration is.
type Progress struct {
	Files, FilesDone int
	Bytes, BytesDone int64
	BytesCopied      int64
}

// Create makes a backup. After an error no backup exists, unless renaming or
// syncing the directory above it failed. Errors: ErrExists, those of Read for
// the previous one, storage.ErrDiskFull of the store, and those of the
// operating system.
func Create(ctx context.Context, src Source, o Options) (_ *Manifest, err error) {
	o.To = filepath.Clean(o.To)
	m := &Manifest{Created: time.Now().UTC().Truncate(time.Second), Sequence: src.Seq()}
	have := map[File]string{} // to the backup that holds it
	if o.Previous != "" {
		if have, m.Previous, err = previous(o); err != nil {
			return nil, err
		}
	}
	half, err := begin(o.To)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(half) // the first error counts
		}
	}()
	if err := os.MkdirAll(filepath.Dir(o.Stage), dirMode); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Stage)) }()
	if err := src.Checkpoint(o.Stage); err != nil {
		return nil, err
	}
	if m.Files, err = list(o.Stage); err != nil {
		return nil, err
	}
	c := newCopier(ctx, m.Files, o.Progress)
	c.rate = o.BytesPerSecond
	for i := range m.Files {
		f := &m.Files[i]
		from, to := filepath.Join(o.Stage, filepath.FromSlash(f.Name)), File{Name: f.Name}.path(half)
		// Reading a file again costs less than writing one in vain.
		if hasSize(have, *f) {
			if f.SHA256, err = c.run(from, "", f.Size); err != nil {
				return nil, err
			}
			if in, ok := have[*f]; ok {
				f.In = in
				c.done()
				continue
			}
			c.p.BytesDone -= f.Size
		}
		if f.SHA256, err = c.run(from, to, f.Size); err != nil {
			return nil, err
		}
		c.done()
	}
	if err := m.write(half); err != nil {
		return nil, err
	}
	return m, finish(half, o.To)
}

// previous lists what the backup before has, by files without In, and by names
// and sizes alone.
func previous(o Options) (have map[File]string, name string, err error) {
	m, err := Read(o.Previous)
	if err != nil {
		return nil, "", err
	}
	have = make(map[File]string, 2*len(m.Files))
	to, err := filepath.Abs(o.To)
	if err != nil {
		return nil, "", err
	}
	prev, err := filepath.Abs(o.Previous)
	if err != nil {
		return nil, "", err
	}
	if name, err = filepath.Rel(to, prev); err != nil {
		return nil, "", err
	}
	for _, f := range m.Files {
		info, err := os.Stat(f.path(prev))
		if err != nil || info.Size() != f.Size {
			continue // it is copied again
		}
		in, err := filepath.Rel(to, filepath.Join(prev, filepath.FromSlash(f.In)))
		if err != nil {
			return nil, "", err
		}
		f.In = ""
		have[f] = filepath.ToSlash(in)
		have[File{Name: f.Name, Size: f.Size}] = ""
	}
	return have, filepath.ToSlash(name), nil
}

func hasSize(have map[File]string, f File) bool {
	_, ok := have[File{Name: f.Name, Size: f.Size}]
	return ok
}

// begin makes the directory in which to is prepared.
func begin(to string) (string, error) {
	if _, err := os.Lstat(to); err == nil {
		return "", fmt.Errorf("%s: %w", to, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	half := to + partial
	err := os.Mkdir(half, dirMode)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s, left by an interrupted run or in use: %w", half, ErrExists)
	}
	return half, err
}

// finish gives the prepared directory its name.
func finish(half, to string) error {
	err := filepath.WalkDir(half, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = syncDir(path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := os.Rename(half, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// list finds the files below dir, with their sizes.
func list(dir string) ([]File, error) {
	var out []File
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out = append(out, File{Name: filepath.ToSlash(name), Size: info.Size()})
		return err
	})
	return out, err
}

// copier reads files, and copies them.
type copier struct {
	ctx   context.Context
	p     Progress
	tell  func(Progress)
	rate  int64
	start time.Time
	read  int64
	buf   []byte
	sum   hash.Hash
}

const copyBytes = 1 << 20

func newCopier(ctx context.Context, files []File, tell func(Progress)) *copier {
	c := &copier{ctx: ctx, tell: tell, start: time.Now(), buf: make([]byte, copyBytes), sum: sha256.New()}
	c.p.Files = len(files)
	for _, f := range files {
		c.p.Bytes += f.Size
	}
	return c
}

// done counts a file.
func (c *copier) done() {
	c.p.FilesDone++
	c.report()
}

func (c *copier) report() {
	if c.tell != nil {
		c.tell(c.p)
	}
}

// run reads a file of a known size, copies it unless to is "", and yields its
// checksum.
func (c *copier) run(from, to string, size int64) (sum string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	c.sum.Reset()
	var out io.Writer = c.sum
	if to != "" {
		if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
			return "", err
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = io.MultiWriter(f, c.sum)
		defer func() {
			if err == nil {
				err = f.Sync()
			}
		}()
	}
	left := size
	for {
		if c.ctx.Err() != nil {
			return "", context.Cause(c.ctx)
		}
		n, err := in.Read(c.buf)
		if _, werr := out.Write(c.buf[:n]); werr != nil {
			return "", werr
		}
		left -= int64(n)
		c.p.BytesDone += int64(n)
		if to != "" {
			c.p.BytesCopied += int64(n)
		}
		c.report()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		if err := c.brake(n); err != nil {
			return "", err
		}
	}
	if left != 0 {
		return "", fmt.Errorf("%s: %w: %d bytes, not %d", from, storage.ErrCorruption, size-left, size)
	}
	return hex.EncodeToString(c.sum.Sum(nil)), nil
}

// brake waits until n bytes more may have been read.
func (c *copier) brake(n int) error {
	if c.rate <= 0 {
		return nil
	}
	c.read += int64(n)
	due := c.start.Add(time.Duration(float64(c.read) / float64(c.rate) * float64(time.Second)))
	select {
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-time.After(time.Until(due)):
		return nil
	}
}

// Verify reads a backup and all files that it needs, and calls bad with each
// that is missing or damaged. Errors are those of Read, and of ctx.
func Verify(ctx context.Context, dir string, bad func(error), tell func(Progress)) (*Manifest, error) {
	m, err := Read(dir)
	if err != nil {
		return nil, err
	}
	c := newCopier(ctx, m.Files, tell)
	for _, f := range m.Files {
		err := c.check(f, dir, "")
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			bad(err)
		}
		c.done()
	}
	return m, nil
}

// check compares a file of a backup with its checksum, and copies it to to
// unless that is "".
func (c *copier) check(f File, dir, to string) error {
	sum, err := c.run(f.path(dir), to, f.Size)
	if errors.Is(err, fs.ErrNotExist) && to == "" {
		return fmt.Errorf("%s: %w: the file is missing", f.path(dir), storage.ErrCorruption)
	}
	if err != nil {
		return err
	}
	if sum != f.SHA256 {
		return fmt.Errorf("%s: %w: the checksum is wrong", f.path(dir), storage.ErrCorruption)
	}
	return nil
}

// Restore makes a store of a backup in the directory to, which does not exist
// or is empty. After an error there is no store.
func Restore(ctx context.Context, dir, to string, tell func(Progress)) (_ *Manifest, err error) {
	m, err := Read(dir)
	if err != nil {
		return nil, err
	}
	to = filepath.Clean(to)
	if entries, err := os.ReadDir(to); err == nil && len(entries) == 0 {
		if err := os.Remove(to); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
		return nil, err
	}
	half, err := begin(to)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(half) // the first error counts
		}
	}()
	c := newCopier(ctx, m.Files, tell)
	for _, f := range m.Files {
		if err := c.check(f, dir, filepath.Join(half, filepath.FromSlash(f.Name))); err != nil {
			return nil, err
		}
		c.done()
	}
	return m, finish(half, to)
}
