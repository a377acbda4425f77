package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/storage"
)

// FuzzManifest: a manifest whose checksum is right is read or refused, and no file of
// it lies outside of the backup.
func FuzzManifest(f *testing.F) {
	f.Add(`{"Files": [{"Name": "kv/000001.sst", "In": ".", "Size": 5}]}`)
	f.Add(`{"Files": [{"Name": "../../etc/passwd", "In": "..", "Size": -1}]}`)
	f.Add(`{"Files": [{"Name": "a", "In": "../other"}, {"Name": "", "In": ""}]}`)
	f.Add("[]")
	f.Fuzz(func(t *testing.T, rest string) {
		dir := t.TempDir()
		sum := sha256.Sum256([]byte(rest))
		text := fmt.Sprintf("%s %d %s\n%s", manifestMark, Version, hex.EncodeToString(sum[:]), rest)
		if err := os.WriteFile(filepath.Join(dir, manifestFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Read(dir)
		if err != nil {
			if !errors.Is(err, storage.ErrCorruption) {
				t.Fatal(err)
			}
			return
		}
		for _, file := range m.Files {
			if p := file.path(dir); !strings.HasPrefix(p, filepath.Dir(dir)) {
				t.Errorf("%q is at %s", file.Name, p)
			}
		}
	})
}
