package pebblekv

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"unsafe"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The write-ahead log is a sequence of blocks, each a sequence of chunks, as
// Pebble's package record writes it. A chunk begins with
//
//	offset  bytes
//	0       4      checksum of all from offset 6
//	4       2      length of the payload
//	6       1      encoding: kind of header, and which part of a record this is
//	7       4      number of the log
//	11      8      bytes of the log that had been synced when it was written
//
// the last of them only in the encodings from logSyncFirst to logSyncLast.
const (
	logBlock       = 32 << 10
	logHeader      = 11
	logSyncHeader  = 19
	logPlainFirst  = 5
	logSyncFirst   = 9
	logSyncLast    = 12
	logMaskedDelta = 0xa282ead8
)

var logTable = crc32.MakeTable(crc32.Castagnoli)

// honestOffsets returns what is to be written at offset written of a log in
// place of p, whole chunks and the padding between blocks: p itself, or a copy
// in which no chunk says that more than synced bytes were synced.
//
// The reader of a log takes a gap before an offset that a later chunk calls synced for
// damage, and refuses to open the store. Syncs that no commit waits for are left out
// here without Pebble's knowledge, so its chunks promise too much. Blocks that the
// operating system wrote out of order before a loss of power would look like that
// damage.
func honestOffsets(p []byte, written, synced int64) []byte {
	out := p
	for o := 0; o < len(p); {
		left := logBlock - int((written+int64(o))%logBlock)
		if left < logSyncHeader {
			o += left
			continue
		}
		if o+logHeader > len(p) {
			break
		}
		length := int(binary.LittleEndian.Uint16(p[o+4:]))
		encoding := p[o+6]
		if encoding >= logPlainFirst && encoding < logSyncFirst {
			o += logHeader + length
			continue
		}
		end := o + logSyncHeader + length
		if encoding < logSyncFirst || encoding > logSyncLast || end > len(p) {
			break // a format of another version: not changed
		}
		if int64(binary.LittleEndian.Uint64(p[o+logHeader:])) > synced {
			if &out[0] == &p[0] {
				out = bytes.Clone(p)
			}
			binary.LittleEndian.PutUint64(out[o+logHeader:], uint64(synced))
			binary.LittleEndian.PutUint32(out[o:], maskedSum(out[o+6:end]))
		}
		o = end
	}
	return out
}

const (
	directAlign  = 4 << 10   // of addresses, offsets and lengths
	directBuffer = 128 << 10 // bytes written at once
	zeroStep     = 1 << 20
)

var zeros = aligned(zeroStep)

// aligned is n zero bytes whose address may be written from directly.
func aligned(n int) []byte {
	b := make([]byte, n+directAlign)
	over := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % directAlign)
	return b[directAlign-over:][:n:n]
}

// directLog writes a log past the page cache: a sync that follows at once then finds
// nothing to write back, which saves a quarter of its time. The last block, which is
// seldom full, is written again with each sync. As in the page cache, its old bytes do
// not change.
//
// Records are kept until flush, which a sync begins with: those of many commits
// that share one are one write.
//
// Blocks are zeroed a step ahead of the records, as the first write to a
// reserved block would have each sync record that it is now in use.
type directLog struct {
	fd     uintptr
	buf    []byte
	tail   int   // bytes of buf
	clean  int   // of these, how many the file has
	base   int64 // where buf begins in the file
	zeroed int64 // up to here the blocks have been written
}

// newDirectLog is nil where the file cannot be written so. Its first zeroed
// bytes have been written before.
func newDirectLog(f vfs.File, zeroed int64) *directLog {
	fd := f.Fd()
	if fd == vfs.InvalidFd || beginDirect(fd) != nil {
		return nil
	}
	return &directLog{fd: fd, buf: aligned(directBuffer), zeroed: zeroed}
}

// end is where the next byte goes that the file does not have.
func (l *directLog) end() int64 { return l.base + int64(l.clean) }

// rest is what the file does not have.
func (l *directLog) rest() []byte { return l.buf[l.clean:l.tail] }

// write appends p. It returns how much was taken; after an error a call with
// the rest goes on.
func (l *directLog) write(p []byte) (n int, err error) {
	for {
		took := copy(l.buf[l.tail:], p[n:])
		l.tail, n = l.tail+took, n+took
		if n == len(p) {
			return n, nil
		}
		if err := l.flush(); err != nil {
			return n, err
		}
	}
}

// flush writes what was appended to the file. After an error it can be called
// again.
func (l *directLog) flush() error {
	if l.clean == l.tail {
		return nil
	}
	full := (l.tail + directAlign - 1) / directAlign * directAlign
	clear(l.buf[l.tail:full])
	if full < directBuffer && l.base+int64(full) > l.zeroed {
		if err := writeAt(l.fd, zeros, l.zeroed); err != nil {
			return err
		}
		l.zeroed += zeroStep
	}
	if err := writeAt(l.fd, l.buf[:full], l.base); err != nil {
		return err
	}
	l.zeroed = max(l.zeroed, l.base+int64(full))
	done := l.tail / directAlign * directAlign
	l.base += int64(done)
	l.tail = copy(l.buf, l.buf[done:l.tail])
	l.clean = l.tail
	return nil
}
