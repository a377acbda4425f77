package statement

import (
	"path/filepath"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// SecurePath is the real path, without symbolic links, of a file that a statement
// names, which need not exist yet: 1290 unless it is within secure_file_priv,
// which forbids all files when it is empty.
//
// Unlike in MySQL, a relative path is never right: it would be in the data
// directory.
func (cn *Connection) SecurePath(path string) (string, error) {
	return cn.PathWithin("secure_file_priv", "--secure-file-priv", path)
}

// PathWithin is the real path of a file that must be in the directory that a
// variable names, which an option of the server sets.
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
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
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

// within reports whether path is below dir.
func within(dir, path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
