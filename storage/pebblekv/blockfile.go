package pebblekv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
)

// blockFile is a file of a table, or of separated values, that is open for reading.
// It compares the checksums of what is read before Pebble does: of a damaged block
// that computes as many checksums as the block has bits, to see whether one was
// flipped, and does so at each read. That is half a second for a block of rows, and a
// minute for one of an index. Nor does it name files of values.
//
// Pebble reads whole blocks, each with
//
//	bytes
//	1      kind of compression
//	4      checksum of the block and the kind
//
// behind it, and the footer, which ends with the file and has a check of its own.
type blockFile struct {
	vfs.File
	d    *disk
	name string
	size int64
}

// openBlocks opens a file that is made of blocks.
func (d *disk) openBlocks(name string, opts []vfs.OpenOption) (vfs.File, error) {
	open := d.FS.Open
	if strings.HasSuffix(name, ".blob") {
		open = d.openBlob
	}
	f, err := open(name, opts...)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &blockFile{File: f, d: d, name: name, size: info.Size()}, nil
}

// ReadAt implements vfs.File.
func (f *blockFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.d.traffic.read(n)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return n, f.damaged(off, fmt.Sprintf("the file ends after %d of %d bytes", n, len(p)))
	case err == nil && off+int64(n) < f.size && !rightBlock(p):
		return n, f.damaged(off, fmt.Sprintf("%d bytes do not fit their checksum", n))
	}
	return n, err
}

func rightBlock(b []byte) bool {
	end := len(b) - 4
	return end > 0 && maskedSum(b[:end]) == binary.LittleEndian.Uint32(b[end:])
}

// maskedSum is the checksum of bytes as Pebble writes it.
func maskedSum(b []byte) uint32 {
	sum := crc32.Checksum(b, logTable)
	return (sum>>15 | sum<<17) + logMaskedDelta
}

// damaged is the error of damage at an offset. For a table Pebble reports it, with the
// keys that it is about.
func (f *blockFile) damaged(off int64, what string) error {
	err := &fileError{f.name, fmt.Errorf("%w at offset %d: %s", storage.ErrCorruption, off, what)}
	if strings.HasSuffix(f.name, ".sst") {
		return tableError{err}
	}
	f.d.damages.add(Damage{File: f.name, Err: err})
	return err
}

// tableError is damage of a table, for Pebble too.
type tableError struct{ error }

// Is implements the interface of errors.Is.
func (tableError) Is(target error) bool { return target == pebble.ErrCorruption }

// Unwrap is the error without what Pebble sees in it.
func (e tableError) Unwrap() error { return e.error }
