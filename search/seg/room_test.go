package seg

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestOldFilesUnderLoad changes documents without a pause: the files and
// snapshots that nothing needs any more have to go meanwhile.
func TestOldFilesUnderLoad(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	ix, err := Open(dir, testSchema(), Options{PersistEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	most := 0
	for i := range uint64(testflag.Pick(0, 700, 2000)) {
		if err := ix.Apply(numbered(ix, i+1, int(i%5)+1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Microsecond)
		if i%50 == 0 {
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, len(files))
		}
	}
	if most > 3*filesBeforePurge {
		t.Errorf("there were %d files", most)
	}
}

// TestRootIsCompacted opens an index whose root file holds little but free
// pages.
func TestRootIsCompacted(t *testing.T) {
	dir := t.TempDir()
	ix := openTest(t, dir)
	if err := ix.Apply(numbered(ix, 7, 40)); err != nil {
		t.Fatal(err)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, rootFile)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	waste := []byte("waste")
	for _, do := range []func(tx *bolt.Tx) error{
		func(tx *bolt.Tx) error {
			b, err := tx.CreateBucket(waste)
			for i := range 40 {
				if err == nil {
					err = b.Put(fmt.Append(nil, i), make([]byte, 1<<20))
				}
			}
			return err
		},
		func(tx *bolt.Tx) error { return tx.DeleteBucket(waste) },
	} {
		if err := db.Update(do); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// what a crash while it was made smaller leaves
	if err := os.WriteFile(path+compacted, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	ix = openTest(t, dir)
	defer ix.Close()
	s := must(ix.Snapshot())
	defer s.Close()
	if err := checkNumbered(s, 40); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 8<<20 {
		t.Errorf("the root file has %d bytes", info.Size())
	}
	if _, err := os.Stat(path + ".new"); !os.IsNotExist(err) {
		t.Errorf("the file it was copied to: %v", err)
	}
}

// TestDrop removes what is there, also where an earlier removal was cut off.
func TestDrop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "1-2-x")
	for _, d := range []string{dir, dir + ".gone"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := Drop(dir); err != nil {
			t.Fatal(err)
		}
		if list, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(list) > 0 {
			t.Fatal(list, err)
		}
	}
}
