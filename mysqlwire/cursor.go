package mysqlwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// TempFile is a temporary file that goes when it is closed. Its errors are what
// clients get.
type TempFile interface {
	io.Writer // appends
	io.ReaderAt
	Close()
}

// spool holds the encoded rows of a cursor: the first in memory up to a limit, the
// others in a temporary file. Each row is preceded by its length in 4 bytes.
type spool struct {
	h      *Header
	limit  int
	create func() (TempFile, error)
	row    []byte // the row being built
	mem    []byte
	pos    int // read position in mem
	file   TempFile
	size   int64 // of the file
	w      *bufio.Writer
	r      *bufio.Reader
}

func newSpool(cfg *Config, h *Header) *spool {
	return &spool{h: h, limit: cfg.CursorMemory, create: cfg.TempFile}
}

// next is the empty buffer for the next row.
func (s *spool) next() []byte { return s.row[:0] }

// add stores a row, which was built in next's buffer.
func (s *spool) add(row []byte) error {
	s.row = row
	if len(row) > 1<<31 {
		return fmt.Errorf("writing rows of a cursor: row of %d bytes", len(row))
	}
	if s.file == nil && (s.create == nil || len(s.mem)+len(row)+4 <= s.limit) {
		s.mem = binary.LittleEndian.AppendUint32(s.mem, uint32(len(row)))
		s.mem = append(s.mem, row...)
		return nil
	}
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return s.fail("writing", err)
		}
		s.file, s.w = f, bufio.NewWriterSize(f, 64<<10)
	}
	s.size += int64(len(row)) + 4
	var size [4]byte
	binary.LittleEndian.PutUint32(size[:], uint32(len(row)))
	if _, err := s.w.Write(size[:]); err != nil {
		return s.fail("writing", err)
	}
	if _, err := s.w.Write(row); err != nil {
		return s.fail("writing", err)
	}
	return nil
}

// finish ends the writing; rows are read from the first on.
func (s *spool) finish() error {
	s.row = nil
	if s.file == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return s.fail("writing", err)
	}
	s.w = nil
	s.r = bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), 16<<10)
	return nil
}

// read appends the next row to dst, or reports the end.
func (s *spool) read(dst []byte) (_ []byte, end bool, err error) {
	if s.pos < len(s.mem) {
		n := int(binary.LittleEndian.Uint32(s.mem[s.pos:]))
		from := s.pos + 4
		s.pos = from + n
		return append(dst, s.mem[from:s.pos]...), false, nil
	}
	if s.r == nil {
		return dst, true, nil
	}
	var size [4]byte
	if _, err := io.ReadFull(s.r, size[:]); err == io.EOF {
		return dst, true, nil
	} else if err != nil {
		return dst, false, s.fail("reading", err)
	}
	start := len(dst)
	dst = append(dst, make([]byte, binary.LittleEndian.Uint32(size[:]))...)
	if _, err := io.ReadFull(s.r, dst[start:]); err != nil {
		return dst, false, s.fail("reading", err)
	}
	return dst, false, nil
}

// fail is the error that the client gets for one of the file.
func (s *spool) fail(doing string, err error) error {
	if known, ok := errors.AsType[*sqlerr.Error](err); ok {
		return known
	}
	return sqlerr.EngineError(5, doing+" rows of a cursor: "+err.Error())
}

// close drops the rows.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	s.mem, s.w, s.r = nil, nil, nil
}
