package pebblekv

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/sqlots/sqlots/storage"
)

// trailer is what Pebble's keys have behind those of users: the number and the kind of
// the operation.
const trailer = 8

// checkSwapped looks for table files in the places of others. Pebble compares lengths
// only: with a file of the right length and other keys it would miss rows. So where
// tables have the same length, the first and the last key are compared, too.
func (s *Store) checkSwapped(dir string, live manifestFiles) error {
	same := map[uint64][]liveTable{}
	for _, t := range live.tables {
		if len(t.first) >= trailer && len(t.last) >= trailer {
			same[t.size] = append(same[t.size], t)
		}
	}
	for _, list := range same {
		if len(list) == 1 {
			continue
		}
		for _, t := range list {
			if err := s.checkBounds(s.opts.FS.PathJoin(dir, t.name()), t); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkBounds reads the first and the last key of a table. Of one that cannot be read,
// reads will say so.
func (s *Store) checkBounds(path string, t liveTable) error {
	r, err := s.openTable(context.Background(), path)
	if err != nil {
		return nil
	}
	defer r.Close()
	it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.DebugHandlesBlobContext)
	if err != nil {
		return nil
	}
	defer it.Close()
	var keys [][]byte
	if kv := it.First(); kv != nil {
		keys = append(keys, bytes.Clone(kv.K.UserKey))
	}
	if kv := it.Last(); kv != nil {
		keys = append(keys, bytes.Clone(kv.K.UserKey))
	}
	low, high := t.first[:len(t.first)-trailer], t.last[:len(t.last)-trailer]
	for _, key := range keys {
		if bytes.Compare(key, low) < 0 || bytes.Compare(key, high) > 0 {
			return &fileError{path, fmt.Errorf("%w: it has the key %x, and the table goes from %x to %x: another file is in its place, restore a backup", storage.ErrCorruption, clip(key), clip(low), clip(high))}
		}
	}
	return nil
}
