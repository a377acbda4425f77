package seg

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	"github.com/blevesearch/bleve/v2/util"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// rootFile is where scorch keeps the list of segments of its snapshots.
const rootFile = "root.bolt"

// lockTimeout is how long another process may hold the root file.
const lockTimeout = 5 * time.Second

// checkRoot opens what the newest snapshot on disk names. Scorch itself goes back to an
// older snapshot, or to none, when it cannot load the newest: the index would silently
// be another. isNew: no snapshot exists yet.
func checkRoot(dir string) (isNew bool, err error) {
	path := filepath.Join(dir, rootFile)
	// A file without a byte is one that was about to be made.
	if info, err := os.Stat(path); os.IsNotExist(err) || err == nil && info.Size() == 0 {
		return true, noSegments(dir)
	}
	if err := checkPages(path); err != nil {
		return false, err
	}
	err = guarded(path, func() error {
		var content int64
		if isNew, content, err = readRoot(dir, path); err == nil {
			// If it cannot be copied, as on a full disk, the file is used unchanged.
			if compactRoot(path, content) != nil {
				_ = os.Remove(path + compacted)
			}
		}
		return err
	})
	return isNew, err
}

// compacted ends the name of the smaller root file while it is written.
const compacted = ".new"

// maxFree is the number of bytes without content at which compactRoot copies a
// root file, if they are more than half of it too.
const maxFree = 32 << 20

// compactRoot gives the free pages of the root file back: bbolt keeps them, and
// writes their list with every commit. content is the bytes of its values.
func compactRoot(path string, content int64) error {
	to := path + compacted
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return err
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() < 2*content+maxFree {
		return err
	}
	src, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := bolt.Open(to, 0o600, nil)
	if err != nil {
		return err
	}
	err = bolt.Compact(dst, src, 16<<20) // its commits are durable
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if err := os.Rename(to, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// guarded turns the panics of bbolt and faults in its memory into damage.
func guarded(path string, do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = damaged(path, "%v", r)
		}
	}()
	return do()
}

// walk reads all keys and values of a bucket. bytes is their number.
func walk(b *bolt.Bucket, depth int) (bytes int64, sum byte, err error) {
	if depth > 4 {
		return 0, 0, errors.New("buckets are nested too deep")
	}
	err = b.ForEach(func(k, v []byte) error {
		if v == nil {
			in := b.Bucket(k)
			if in == nil {
				return fmt.Errorf("no bucket %x", k)
			}
			n, s, err := walk(in, depth+1)
			bytes, sum = bytes+n, sum+s
			return err
		}
		bytes += int64(len(k) + len(v))
		for _, c := range v {
			sum += c
		}
		return nil
	})
	return bytes, sum, err
}

func readRoot(dir, path string) (isNew bool, content int64, err error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if err != nil {
		if os.IsPermission(err) || errors.Is(err, bolterrors.ErrTimeout) {
			return false, 0, fmt.Errorf("%s: %w", path, err)
		}
		return false, 0, damaged(path, "%v", err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		snapshots := tx.Bucket(util.BoltSnapshotsBucket)
		if snapshots == nil {
			isNew = true
			return noSegments(dir)
		}
		k, _ := snapshots.Cursor().Last()
		if k == nil {
			isNew = true
			return noSegments(dir)
		}
		if content, _, err = walk(snapshots, 0); err != nil {
			return damaged(path, "%v", err)
		}
		newest := snapshots.Bucket(k)
		if newest == nil || newest.Bucket(util.BoltMetaDataKey) == nil {
			return damaged(path, "the newest snapshot is incomplete")
		}
		in := newest.Bucket(util.BoltInternalKey)
		if in == nil {
			return damaged(path, "the newest snapshot has no state")
		}
		if _, err := decodeState(in.Get([]byte(stateKey))); err != nil {
			return err
		}
		c := newest.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if v != nil || k[0] == util.BoltInternalKey[0] || k[0] == util.BoltMetaDataKey[0] {
				continue
			}
			name := newest.Bucket(k).Get(util.BoltPathKey)
			if name == nil {
				return damaged(path, "a segment has no file")
			}
			s, err := plugin{}.Open(filepath.Join(dir, string(name)))
			if err != nil {
				return err
			}
			docs := s.Count()
			if err := s.Close(); err != nil {
				return err
			}
			if err := checkDeleted(newest.Bucket(k).Get(util.BoltDeletedKey), docs); err != nil {
				return damaged(path, "deleted documents of %s: %v", name, err)
			}
		}
		return nil
	})
	return isNew, content, err
}

// checkDeleted wants a bitmap of some of the documents; nil is none.
func checkDeleted(b []byte, docs uint64) error {
	if b == nil {
		return nil
	}
	bm := roaring.New()
	if _, err := bm.ReadFrom(bytes.NewReader(b)); err != nil {
		return err
	}
	last := -1
	it := bm.ManyIterator()
	var buf [256]uint32
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		for _, d := range buf[:n] {
			if int(d) <= last || uint64(d) >= docs {
				return fmt.Errorf("document %d after %d of %d", d, last, docs)
			}
			last = int(d)
		}
	}
	return nil
}

// noSegments allows an empty index only where there is nothing that a lost
// root could have named: Open does not return before the first root is on
// disk.
func noSegments(dir string) error {
	list, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return damaged(filepath.Join(dir, rootFile), "names no segments, and there are %d files", len(list))
	}
	return nil
}

// removeStrays removes what has the name of a segment but no number: scorch would
// not open the index because of it.
func removeStrays(dir string) error {
	list, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	for _, name := range list {
		if _, e := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), ".zap"), 16, 64); e != nil {
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	return err
}

// singleSegment plans merges into as few segments as the bound allows.
func singleSegment(maxDocs int) *mergeplan.MergePlanOptions {
	o := mergeplan.SingleSegmentMergePlanOptions
	o.MaxSegmentSize = int64(maxDocs)
	o.FloorSegmentSize = int64(maxDocs)
	o.SegmentsPerMergeTask = 64 // each document is written once
	// scorch's own score may choose a single segment, which is then left as it was
	o.ScoreSegments = func(list []mergeplan.Segment, _ *mergeplan.MergePlanOptions) float64 { return -float64(len(list)) }
	return &o
}
