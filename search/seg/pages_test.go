package seg

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/sqlots/sqlots/internal/testflag"
)

// boltFile makes a file with nested buckets, deep trees, long values and free
// pages.
func boltFile(t testing.TB, r *rand.Rand) string {
	path := filepath.Join(t.TempDir(), rootFile)
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: r.IntN(4) == 0})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 6 {
		err := db.Update(func(tx *bolt.Tx) error {
			for b := range 3 {
				out, err := tx.CreateBucketIfNotExists([]byte{byte(b)})
				if err != nil {
					return err
				}
				in, err := out.CreateBucketIfNotExists([]byte("in"))
				if err != nil {
					return err
				}
				for range r.IntN(400) {
					k := fmt.Appendf(nil, "%06d", r.IntN(10_000))
					if err := in.Put(k, make([]byte, r.IntN(60)*r.IntN(60)*r.IntN(3))); err != nil {
						return err
					}
					if r.IntN(2) == 0 {
						k, _ = in.Cursor().Seek(k[:3])
						if err := in.Delete(k); err != nil {
							return err
						}
					}
				}
				if r.IntN(6) == 0 {
					if err := out.DeleteBucket([]byte("in")); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestPages: whatever bbolt writes passes.
func TestPages(t *testing.T) {
	for seed := range testflag.InShort[uint64](4, 40) {
		if err := checkPages(boltFile(t, rand.New(rand.NewPCG(seed, 7)))); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestInlineID: the page within a bucket's value has no number, which bbolt would
// free when it writes the bucket.
func TestInlineID(t *testing.T) {
	path := filepath.Join(t.TempDir(), rootFile)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("inline bucket"))
		return err
	})
	if err := errors.Join(err, db.Close(), checkPages(path)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := []byte("inline bucket")
	b[bytes.LastIndex(b, name)+len(name)+bucketHeader+1] = 0x46
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkPages(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v", err)
	}
}

// TestDamagedPages damages files of bbolt's: what passes the check can be read
// and written without a panic and without an end.
func TestDamagedPages(t *testing.T) {
	testflag.Normal(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	passed, n := 0, testflag.Rounds(20, 100, 1000)
	var path string
	var file []byte
	for i := range n {
		if i%100 == 0 {
			path = boltFile(t, r)
			var err error
			if file, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		b := append([]byte(nil), file...)
		for range 1 + r.IntN(3) {
			// headers and elements more often than values
			at := r.IntN(len(b))
			if r.IntN(3) > 0 {
				at = at/4096*4096 + r.IntN(200)
			}
			if at >= len(b) {
				continue
			}
			switch r.IntN(3) {
			case 0:
				b[at] ^= byte(1 + r.IntN(255))
			case 1:
				b[at] = byte(r.IntN(20))
			default:
				if at = at / 8 * 8; at+8 <= len(b) {
					binary.LittleEndian.PutUint64(b[at:], uint64(r.IntN(len(b)/4096)))
				}
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		err := checkPages(path)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			continue
		}
		passed++
		done := make(chan error, 1)
		go func() { done <- guarded(path, func() error { return useBolt(path) }) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("case %d: %v", i, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("case %d: without an end", i)
		}
	}
	t.Logf("%d of %d files passed", passed, n)
}

func useBolt(path string) error {
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	for range 3 {
		err := db.Update(func(tx *bolt.Tx) error {
			return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
				if _, _, err := walk(b, 0); err != nil {
					return err
				}
				return b.Put([]byte("new"), make([]byte, 5000))
			})
		})
		if err != nil {
			return err
		}
	}
	return db.Update(func(tx *bolt.Tx) error {
		var names [][]byte
		err := tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			names = append(names, append([]byte(nil), name...))
			return nil
		})
		for _, name := range names {
			err = errors.Join(err, tx.DeleteBucket(name))
		}
		return err
	})
}

// TestStuckClose: an index whose root file a panic left locked closes.
func TestStuckClose(t *testing.T) {
	testflag.Normal(t)
	defer func(d time.Duration) { closeWait = d }(closeWait)
	closeWait = 50 * time.Millisecond
	ix, err := Open(t.TempDir(), Schema{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Persist(context.Background()); err != nil {
		t.Fatal(err)
	}
	ix.asyncError(errors.New("a panic"))
	release := make(chan struct{})
	ix.closeScorch = func() error { <-release; return nil }
	done := make(chan struct{})
	go func() { defer close(done); ix.shut() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("does not close")
	}
	close(release)
	ix.sc.Close()
}
