package pebblekv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
)

// Damage is a file that fails its checks, with the keys that it is about.
type Damage struct {
	File       string
	Start, End []byte // the first and the last key
	Err        error
}

// String names file and keys.
func (d Damage) String() string {
	return fmt.Sprintf("file %s, keys %x to %x: %v", d.File, clip(d.Start), clip(d.End), d.Err)
}

// clip shortens a key for a message.
func clip(key []byte) []byte { return key[:min(len(key), 64)] }

// damages are the files that reads have found damaged. They are named once:
// nothing repairs them.
type damages struct {
	log *slog.Logger

	mu   sync.Mutex
	list []Damage
	// groups are those in which background reads and estimates have met damage, and
	// when they may be read for that again.
	groups map[group]time.Time
}

// damagePause is how long a group with damage is not read for estimates, images
// and filters: what these read before they meet it is read in vain.
const damagePause = 10 * time.Minute

// met notes the damage that a read of a group has met; other errors are ignored.
func (d *damages) met(g group, err error) {
	if err = mapError(err); !errors.Is(err, storage.ErrCorruption) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.groups == nil {
		d.groups = map[group]time.Time{}
	}
	now := time.Now()
	maps.DeleteFunc(d.groups, func(_ group, until time.Time) bool { return until.Before(now) })
	d.groups[g] = now.Add(damagePause)
}

// spares reports whether the group of a span is not to be read for estimates.
func (d *damages) spares(span storage.Span) bool {
	g, ok := groupOfSpan(span)
	return ok && d.sparesGroup(g)
}

func (d *damages) sparesGroup(g group) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	until, ok := d.groups[g]
	return ok && time.Now().Before(until)
}

// found is Pebble's report of damage; it comes from within reads.
func (d *damages) found(i pebble.DataCorruptionInfo) {
	x := damageIn(&i)
	x.Start, x.End = slices.Clone(x.Start), slices.Clone(x.End)
	d.add(x)
}

// damageIn is what Pebble reports.
func damageIn(i *pebble.DataCorruptionInfo) Damage {
	err := i.Details
	var own *fileError
	if errors.As(err, &own) && own.name == i.Path {
		err = own.err
	}
	return Damage{File: i.Path, Start: i.Bounds.Start, End: i.Bounds.End.Key, Err: err}
}

// add notes a damaged file.
func (d *damages) add(x Damage) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.ContainsFunc(d.list, func(y Damage) bool { return y.File == x.File }) {
		return
	}
	d.list = append(d.list, x)
	d.log.Error("a file is damaged: reads of its keys fail, the rest goes on; nothing is repaired. "+
		"Stop the server, look at the disk, see what is left with \"sqlots check\", and restore a backup",
		"event", "storage.damaged", "file", x.File, "first_key", fmt.Sprintf("%x", clip(x.Start)), "last_key", fmt.Sprintf("%x", clip(x.End)), "error", x.Err.Error())
}

func (d *damages) count() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.list))
}

// Verify reads all tables, compares the checksums of their blocks, and reads
// every key with its value; it calls report once with each damaged file. The logs and
// the manifest were read when the store was opened. Errors are those of ctx.
func (s *Store) Verify(ctx context.Context, report func(Damage)) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.exit()
	levels, err := s.db.SSTables()
	if err != nil {
		return mapError(err)
	}
	seen, named := map[string]bool{}, map[string]bool{}
	for _, level := range levels {
		for _, t := range level {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			name := s.opts.FS.PathJoin(s.opts.Dir, kvDir, fmt.Sprintf("%s.sst", t.BackingSSTNum))
			err := error(nil)
			if !seen[name] {
				seen[name] = true
				err = s.verifyTable(ctx, name)
				if errors.Is(err, fs.ErrNotExist) && !s.isLive(t.BackingSSTNum.String()) {
					err = nil // a compaction has replaced it
				}
			}
			if err == nil {
				err = s.verifyRange(ctx, t.Smallest.UserKey, t.Largest.UserKey)
			}
			if err == nil || ctx.Err() != nil {
				continue
			}
			if d := damageOf(name, t.Smallest.UserKey, t.Largest.UserKey, err); !named[d.File] {
				named[d.File] = true
				report(d)
			}
		}
	}
	return nil
}

// damageOf is that of a table file, or of another file that was met while its keys
// were read.
func damageOf(name string, first, last []byte, err error) Damage {
	var met *damageError
	var other *fileError
	if errors.As(err, &met) {
		return met.Damage
	}
	if errors.As(err, &other) {
		name = other.name
	}
	return Damage{File: name, Start: first, End: last, Err: err}
}

// isLive reports whether the table file of a number belongs to the store now.
func (s *Store) isLive(number string) bool {
	levels, err := s.db.SSTables()
	return err != nil || slices.ContainsFunc(levels, func(level []pebble.SSTableInfo) bool {
		return slices.ContainsFunc(level, func(t pebble.SSTableInfo) bool { return t.BackingSSTNum.String() == number })
	})
}

// verifyTable compares the checksums of the blocks of one file.
func (s *Store) verifyTable(ctx context.Context, name string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", storage.ErrCorruption, r)
		}
	}()
	r, err := s.openTable(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}

// openTable reads a table without Pebble's database.
func (s *Store) openTable(ctx context.Context, name string) (*sstable.Reader, error) {
	f, err := s.disk.Open(name)
	if err != nil {
		return nil, err
	}
	in, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(ctx, in, s.po.MakeReaderOptions())
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return r, nil
}

// verifyRange reads the pairs from first to last.
func (s *Store) verifyRange(ctx context.Context, first, last []byte) error {
	it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: first, UpperBound: append(slices.Clone(last), 0)})
	if err != nil {
		return mapError(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		if _, err := it.ValueAndErr(); err != nil {
			return errors.Join(fmt.Errorf("key %x: %w", clip(it.Key()), mapError(err)), it.Close())
		}
	}
	return mapError(it.Close())
}

// corrupt gives an error of damage its class, and names the file where Pebble
// knows it.
func corrupt(err error) error {
	if i := pebble.ExtractDataCorruptionInfo(err); i != nil {
		return &damageError{damageIn(i)}
	}
	return fmt.Errorf("%w: %w", storage.ErrCorruption, err)
}

// damageError is a storage.ErrCorruption of a file that Pebble knows.
type damageError struct{ Damage }

// Error implements error.
func (e *damageError) Error() string { return fmt.Sprintf("%v: %s", storage.ErrCorruption, e.Damage) }

// Unwrap is the class of the error.
func (e *damageError) Unwrap() error { return storage.ErrCorruption }

// The footer of a file of separated values, as Pebble's package blob writes it:
//
//	offset  bytes
//	0       4      checksum of all from offset 4
//	4       26     where the index is, kind of checksum, format, number
//	30      8      magic
const (
	blobFooter = 38
	blobMagic  = "\xf0\x9f\xaa\xb3\xf0\x9f\xa6\x80"
)

// checkBlob looks at the footer of a file of separated values before Pebble
// does, which panics when it finds it damaged, and does not compare the number.
func checkBlob(f vfs.File, number uint64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b := make([]byte, blobFooter)
	if info.Size() < blobFooter {
		return fmt.Errorf("%w: the file is too short", storage.ErrCorruption)
	}
	if _, err := f.ReadAt(b, info.Size()-blobFooter); err != nil {
		return err
	}
	if maskedSum(b[4:]) != binary.LittleEndian.Uint32(b) || string(b[30:]) != blobMagic {
		return fmt.Errorf("%w: the footer is damaged", storage.ErrCorruption)
	}
	if n := binary.LittleEndian.Uint64(b[22:]); n != number {
		return fmt.Errorf("%w: it is the file with number %d", storage.ErrCorruption, n)
	}
	return nil
}
