package pebblekv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// Parts of a record, as the encoding of a chunk says them.
const (
	partWhole = iota
	partFirst
	partMiddle
	partLast
)

// logChunk is a chunk of a log whose checksum is right.
type logChunk struct {
	end     int // in its block
	part    int
	synced  int64 // bytes of the log that it says were synced, 0 where it does not
	payload []byte
}

// logScan is what the bytes of one log say.
type logScan struct {
	stop   int64 // the chunks before it are right and in order
	whole  int64 // the end of the last record that is complete
	closed bool  // at stop is the mark that a closed log ends with
	// used is the end of the last byte that is certainly of this log.
	used int64
	// promised is the most that any chunk says was synced.
	promised int64
	// wrong says why the bytes at stop are damage for certain, "" for unknown.
	wrong string
	// sums are the checksums of the first bytes, for each length that was passed to
	// scanLog.
	sums []uint32
}

// end is where the log ends when all of it is right, with the mark of its end.
func (s logScan) end() int64 {
	if s.closed {
		return s.stop + logHeader
	}
	return s.stop
}

// logScanner reads a log block by block.
type logScanner struct {
	number uint32
	scan   logScan

	ended bool   // the chain of chunks has ended
	inner bool   // within a record
	start int64  // where that begins
	head  []byte // its first bytes, at most batchNumbers
	next  uint64 // the least number that the next batch may have
}

// batchNumbers is the length of the header of a batch: the number of its first
// operation, and how many there are.
const batchNumbers = 8 + 4

// scanLog reads a log to its end. A reused file has bytes of other logs after that;
// they count for nothing.
func scanLog(r io.Reader, number uint64, lengths ...int64) (logScan, error) {
	s := &logScanner{number: uint32(number)}
	s.scan.sums = make([]uint32, len(lengths))
	block := make([]byte, logBlock)
	for base := int64(0); ; base += logBlock {
		n, err := io.ReadFull(r, block)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return logScan{}, err
		}
		for i, length := range lengths {
			s.scan.sums[i] = crc32.Update(s.scan.sums[i], logTable, block[:min(max(length-base, 0), int64(n))])
		}
		from := 0
		if !s.ended {
			from = s.follow(block[:n], base)
		}
		if s.ended {
			s.search(block[:n], base, from)
		}
		if n < logBlock {
			break
		}
	}
	s.scan.used = max(s.scan.used, s.scan.end())
	return s.scan, nil
}

// follow reads the chunks of a block one after the other. It returns where they
// end, and sets ended unless they go on in the next block.
func (s *logScanner) follow(b []byte, base int64) int {
	at := 0
	for len(b)-at >= manifestHeader {
		if isPadding(b, at) {
			at = len(b)
			break
		}
		c, ok := parseLogChunk(b, at, s.number)
		if !ok || !s.accept(c, base+int64(at), base+int64(c.end)) {
			s.stopAt(b, at, base)
			return at
		}
		s.scan.promised = max(s.scan.promised, c.synced)
		at = c.end
	}
	if len(b) == logBlock {
		s.scan.stop = base + logBlock
		if !s.inner {
			s.scan.whole = s.scan.stop
		}
		return logBlock
	}
	s.stopAt(b, at, base)
	return at
}

// isPadding reports whether the rest of a block is too short for a chunk and so
// was left zero.
func isPadding(b []byte, at int) bool {
	return len(b) == logBlock && logBlock-at < logSyncHeader && allZero(b[at:])
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// stopAt notes that the chunks that are right end at an offset of a block.
func (s *logScanner) stopAt(b []byte, at int, base int64) {
	s.ended, s.scan.stop = true, base+int64(at)
	if s.inner {
		s.scan.used = s.scan.stop
	}
	if s.scan.wrong != "" {
		s.scan.stop = min(s.scan.stop, s.start)
		return
	}
	if !s.inner && isLogEnd(b, at, s.number) {
		s.scan.closed = true
		return
	}
	if end := claimedEnd(b, at, s.number); end > 0 {
		s.scan.used = base + int64(end)
	}
}

// accept takes a chunk into the order of records and batches. It is false for a chunk
// that is intact and yet out of order.
func (s *logScanner) accept(c logChunk, from, to int64) bool {
	begins := c.part == partWhole || c.part == partFirst
	if begins == s.inner {
		s.misplaced(from)
		return false
	}
	if begins {
		s.start, s.head = from, s.head[:0]
	}
	s.inner = c.part == partFirst || c.part == partMiddle
	s.head = append(s.head, c.payload[:min(len(c.payload), batchNumbers-len(s.head))]...)
	if s.inner {
		return true
	}
	if len(s.head) < batchNumbers || binary.LittleEndian.Uint64(s.head) < s.next {
		s.misplaced(s.start)
		return false
	}
	s.next = binary.LittleEndian.Uint64(s.head) + uint64(binary.LittleEndian.Uint32(s.head[8:]))
	s.scan.whole = to
	return true
}

func (s *logScanner) misplaced(at int64) {
	s.start, s.inner = at, false
	s.scan.wrong = "a record is not at its place"
}

// search looks for chunks after the end of those that are in order.
func (s *logScanner) search(b []byte, base int64, from int) {
	number := binary.LittleEndian.AppendUint32(nil, s.number)
	for at := from; at+logHeader <= len(b); {
		next := bytes.Index(b[at+7:], number)
		if next < 0 {
			return
		}
		at += next
		c, ok := parseLogChunk(b, at, s.number)
		if !ok {
			at++
			continue
		}
		s.scan.promised = max(s.scan.promised, c.synced)
		s.scan.used = max(s.scan.used, base+int64(c.end))
		at = c.end
	}
}

// parseLogChunk reads the chunk at an offset of a block. It is false for one of
// another log, and for one that is cut off or whose checksum is wrong.
func parseLogChunk(b []byte, at int, number uint32) (c logChunk, ok bool) {
	end := claimedEnd(b, at, number)
	if end == 0 || end > len(b) {
		return c, false
	}
	if binary.LittleEndian.Uint32(b[at:]) != maskedSum(b[at+6:end]) {
		return c, false
	}
	encoding, header := int(b[at+6]), logHeader
	if encoding >= logSyncFirst {
		header = logSyncHeader
		c.synced = int64(binary.LittleEndian.Uint64(b[at+logHeader:]))
	}
	c.end, c.part, c.payload = end, (encoding-logPlainFirst)%4, b[at+header:end]
	return c, true
}

// claimedEnd is where a chunk of the log ends by its own header, which may be after the
// end of what there is of its block; 0 without such a header.
func claimedEnd(b []byte, at int, number uint32) int {
	if at+logHeader > len(b) || b[at+6] < logPlainFirst || b[at+6] > logSyncLast ||
		binary.LittleEndian.Uint32(b[at+7:]) != number {
		return 0
	}
	header := logHeader
	if b[at+6] >= logSyncFirst {
		header = logSyncHeader
	}
	end := at + header + int(binary.LittleEndian.Uint16(b[at+4:]))
	if end > logBlock {
		return 0
	}
	return end
}

// isLogEnd reports whether the mark that a closed log ends with is at an offset
// of a block: an empty chunk of the log with the next number, without a checksum.
func isLogEnd(b []byte, at int, number uint32) bool {
	return at+logHeader <= len(b) && allZero(b[at:at+6]) && b[at+6] == logPlainFirst &&
		binary.LittleEndian.Uint32(b[at+7:]) == number+1
}
