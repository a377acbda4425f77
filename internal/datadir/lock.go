package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lockFile and ownerFile are in directories whose store is elsewhere.
const (
	lockFile  = "LOCK"
	ownerFile = "store.json"
)

// Files are the names of the files of Lock and Claim.
func Files() []string { return []string{lockFile, ownerFile} }

// ErrInUse is the error of Lock while another process has the directory.
var ErrInUse = errors.New("another process uses the directory")

// ErrOwner is the error of Claim for a directory of another store.
var ErrOwner = errors.New("the directory has files of another store")

// Owner is the store that the local files of a directory belong to.
type Owner struct {
	// Store is a name that no other store has, Address is where it was last.
	Store   string `json:"store"`
	Address string `json:"address"`
}

// Lock keeps other processes out of a directory whose store is elsewhere, until the file
// is closed.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("%w (%v)", ErrInUse, err)
	}
	return f, nil
}

// ReadOwner is the owner of a directory; ok is false if its store is in it, or it is new.
func ReadOwner(dir string) (o Owner, ok bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return o, false, fmt.Errorf("%s: %w", filepath.Join(dir, ownerFile), err)
	}
	return o, true, nil
}

// Claim makes a locked directory that of a store, if it is not that of another one.
func Claim(dir string, o Owner) error {
	old, ok, err := ReadOwner(dir)
	switch {
	case err != nil:
		return err
	case ok && old.Store != o.Store:
		return fmt.Errorf("%w, which was at %s", ErrOwner, old.Address)
	case ok && old == o:
		return nil
	}
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	next := filepath.Join(dir, ownerFile+".new")
	if err := os.WriteFile(next, append(b, '\n'), 0o640); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(dir, ownerFile))
}
