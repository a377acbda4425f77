package statement

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sqlots/sqlots/internal/datadir"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// SecurePath is the real path, without symbolic links, of a file that a statement
// names, which need not exist yet: 1290 unless it is within secure_file_priv,
// which forbids all files when it is empty.
//
// Unlike in MySQL, a relative path is never right: it would be in the data
// directory.
func (cn *Connection) SecurePath(path string) (string, error) {
	return cn.PathWithin("secure_file_priv", secureOption, path)
}

const secureOption = "--secure-file-priv"

// PathWithin is the real path of a file that must lie within the directory that
// a variable names, which an option of the server sets. Where that directory is
// above the data directory, it does not open it.
func (cn *Connection) PathWithin(variable, option, path string) (string, error) {
	refused := sqlerr.OptionPreventsStatement(option)
	given := cn.Vars.Text(variable)
	if given == "" || !within(filepath.Clean(given), filepath.Clean(path)) {
		return "", refused
	}
	root, err := filepath.EvalSymlinks(given)
	if err != nil {
		return "", refused
	}
	data := &cn.Engine.DataDir
	if data.Folder(path) != "" || data.Holds(path) && !data.Holds(root) {
		return "", refused
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(filepath.Clean(path)))
	if err != nil {
		return "", sqlerr.CantStatFile(path)
	}
	full := filepath.Join(dir, filepath.Base(path))
	if target, err := filepath.EvalSymlinks(full); err == nil {
		full = target
	}
	if !within(root, full) {
		return "", refused
	}
	return full, nil
}

// OpenServerFile opens a file that a statement reads: 13, 29, 1085, 1290.
func (cn *Connection) OpenServerFile(path string) (*os.File, fs.FileInfo, error) {
	full, err := cn.SecurePath(path)
	if err != nil {
		return nil, nil, err
	}
	f, info, err := cn.Engine.DataDir.Open(full)
	switch {
	case err == nil:
		return f, info, nil
	case errors.Is(err, datadir.ErrHeld):
		return nil, nil, sqlerr.OptionPreventsStatement(secureOption)
	case errors.Is(err, datadir.ErrNotRegular):
		return nil, nil, sqlerr.TextFileNotReadable(path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, sqlerr.CantStatFile(path)
	}
	return nil, nil, sqlerr.FileNotFound(path)
}

// within reports whether path is below dir.
func within(dir, path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
