package mysqlwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// spool holds the encoded rows of a cursor: the first in memory up to a
// limit, the others in a temporary file that has no name (where the system
// allows that). Each row stands behind its length of 4 bytes.
type spool struct {
	h     *Header
	limit int
	dir   string
	row   []byte // the row being built
	mem   []byte
	pos   int // read position in mem
	file  *os.File
	path  string // of a file that could not be unlinked while open
	w     *bufio.Writer
	r     *bufio.Reader
}

func newSpool(cfg *Config, h *Header) *spool {
	return &spool{h: h, limit: cfg.CursorMemory, dir: cfg.TempDir}
}

// next is the empty buffer for the next row.
func (s *spool) next() []byte { return s.row[:0] }

// add stores a row, which was built in next's buffer.
func (s *spool) add(row []byte) error {
	s.row = row
	if len(row) > 1<<31 {
		return fmt.Errorf("writing rows of a cursor: row of %d bytes", len(row))
	}
	if s.file == nil && len(s.mem)+len(row)+4 <= s.limit {
		s.mem = binary.LittleEndian.AppendUint32(s.mem, uint32(len(row)))
		s.mem = append(s.mem, row...)
		return nil
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			return s.fail("writing", err)
		}
	}
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

func (s *spool) open() error {
	f, err := os.CreateTemp(s.dir, "sqlots-cursor-*")
	if err != nil {
		return err
	}
	if os.Remove(f.Name()) != nil {
		s.path = f.Name()
	}
	s.file, s.w = f, bufio.NewWriterSize(f, 64<<10)
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
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return s.fail("reading", err)
	}
	s.r = bufio.NewReaderSize(s.file, 16<<10)
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
	if errors.Is(err, syscall.ENOSPC) {
		return sqlerr.DiskFull(s.dir)
	}
	return sqlerr.EngineError(5, doing+" rows of a cursor: "+err.Error())
}

// close drops the rows.
func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
	if s.path != "" {
		_ = os.Remove(s.path)
		s.path = ""
	}
	s.mem, s.w, s.r = nil, nil, nil
}
