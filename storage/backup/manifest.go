package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// Version is the version of the format of backups.
const Version = 1

const (
	manifestFile = "MANIFEST"
	manifestMark = "sqlots-backup"
	dataDir      = "data"
	partial      = ".partial"
)

var (
	// ErrExists: the directory to be made is there, or a half of it from an
	// earlier attempt.
	ErrExists = errors.New("exists")
	// ErrNoBackup: the directory holds no backup, or a half of one.
	ErrNoBackup = errors.New("not a backup")
)

// Manifest says what belongs to a backup.
type Manifest struct {
	Created time.Time `json:"created"`
	// Sequence is of the last commit before the backup began; later ones may be
	// in it.
	Sequence uint64 `json:"sequence"`
	// Previous is the backup before, relative to this one, "" for a full backup.
	Previous string `json:"previous,omitempty"`
	Files    []File `json:"files"`
}

// File is a file of the store.
type File struct {
	Name   string `json:"name"` // below the store's directory, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// In is the backup that holds the file, relative to this one, "" for this.
	In string `json:"in,omitempty"`
}

// Size is the size of the store in bytes; Own that of the files in this backup.
func (m *Manifest) Size() (all, own int64) {
	for _, f := range m.Files {
		all += f.Size
		if f.In == "" {
			own += f.Size
		}
	}
	return all, own
}

// path is the path of the file in a backup.
func (f File) path(dir string) string {
	return filepath.Join(dir, filepath.FromSlash(f.In), dataDir, filepath.FromSlash(f.Name))
}

// Read reads the manifest of a backup: ErrNoBackup, storage.ErrFormat,
// storage.ErrCorruption.
func Read(dir string) (*Manifest, error) {
	name := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && strings.HasSuffix(filepath.Clean(dir), partial):
		return nil, fmt.Errorf("%s: %w", dir, ErrNoBackup)
	case err != nil:
		return nil, err
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	words := strings.Fields(first)
	if len(words) != 3 || words[0] != manifestMark {
		return nil, fmt.Errorf("%s: %w: the first line is not that of a manifest", name, storage.ErrCorruption)
	}
	if words[1] != fmt.Sprint(Version) {
		return nil, fmt.Errorf("%s: %w: backups of version %s, this program knows %d", name, storage.ErrFormat, words[1], Version)
	}
	if sum := sha256.Sum256([]byte(rest)); hex.EncodeToString(sum[:]) != words[2] {
		return nil, fmt.Errorf("%s: %w: the checksum is wrong", name, storage.ErrCorruption)
	}
	m := &Manifest{}
	if err := json.Unmarshal([]byte(rest), m); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, storage.ErrCorruption, err)
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return nil, fmt.Errorf("%s: %w: file %q lies outside", name, storage.ErrCorruption, f.Name)
		}
	}
	return m, nil
}

// write puts the manifest into a backup.
func (m *Manifest) write(dir string) error {
	rest, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(rest)
	text := fmt.Sprintf("%s %d %s\n%s", manifestMark, Version, hex.EncodeToString(sum[:]), rest)
	f, err := os.OpenFile(filepath.Join(dir, manifestFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}
