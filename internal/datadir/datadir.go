package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is the data directory of a server. The zero Dir is that of a server in
// memory: it holds no file.
type Dir struct {
	path    string
	folders []string
}

// New describes the directory at path, which need not exist, and the names of the
// server's folders and files in it.
func New(path string, folders ...string) (Dir, error) {
	abs, err := filepath.Abs(path)
	return Dir{path: abs, folders: folders}, err
}

// Is reports whether a path is the directory itself.
func (d Dir) Is(path string) bool {
	return d.path != "" && same(resolve(path), resolve(d.path))
}

// Folder is the server's folder or file that a path is or lies in, "" for none.
func (d Dir) Folder(path string) string {
	if d.path == "" {
		return ""
	}
	path = resolve(path)
	for _, name := range d.folders {
		if below(path, resolve(filepath.Join(d.path, name))) {
			return name
		}
	}
	return ""
}

// Holds reports whether a path is the directory or lies in it, or in one of the
// folders wherever they are.
func (d Dir) Holds(path string) bool {
	return d.path != "" && (below(resolve(path), resolve(d.path)) || d.Folder(path) != "")
}

// ErrHeld is the error of opening a file of the directory.
var ErrHeld = errors.New("this is a file of the data directory")

// ErrNotRegular is the error of opening what is no regular file.
var ErrNotRegular = errors.New("this is not a regular file")

// Open opens a regular file that is not in the directory by another name. The
// last element of path may not be a symbolic link.
func (d Dir) Open(path string) (*os.File, fs.FileInfo, error) {
	f, info, err := OpenRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	if d.path != "" && linked(info) && d.has(info) {
		return nil, nil, errors.Join(ErrHeld, f.Close())
	}
	return f, info, nil
}

// has looks for a file among all those of the directory. Folders that are
// symbolic links are looked through, too.
func (d Dir) has(file fs.FileInfo) bool {
	found := false
	roots := []string{resolve(d.path)}
	for _, name := range d.folders {
		roots = append(roots, resolve(filepath.Join(d.path, name)))
	}
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil // what has gone meanwhile is not this file
			}
			if info, err := e.Info(); err == nil && os.SameFile(info, file) {
				found = true
				return fs.SkipAll
			}
			return nil
		})
	}
	return found
}

// OpenRegular opens a regular file and does not follow a symbolic link in the last
// element of path.
func OpenRegular(path string, flag int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flag|noFollow, mode)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// maxLinks bounds how many symbolic links resolve follows, as systems do.
const maxLinks = 40

// resolve is the absolute path without symbolic links. The last elements need not
// exist, nor the file that a link leads to.
func resolve(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		up := filepath.Dir(path)
		if up == path {
			return path
		}
		up = resolve(up)
		target, err := os.Readlink(path)
		switch {
		case err != nil:
			return filepath.Join(up, filepath.Base(path))
		case filepath.IsAbs(target):
			path = target
		default:
			path = filepath.Join(up, target)
		}
	}
	return path
}

// below reports whether path is dir or lies in it; both are resolved.
func below(path, dir string) bool {
	for {
		if same(path, dir) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
