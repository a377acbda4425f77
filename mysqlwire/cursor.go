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

// spool holds the encoded rows of a cursor: the first in memory up to a limit, and as far
// as there is memory; the others in a temporary file. Each row is preceded by its length
// in 4 bytes.
type spool struct {
	h      *Header
	limit  int
	memory Memory
	held   int // bytes of it
	create func() (TempFile, error)
	row    []byte // the row being built
	mem    []byte
	pos    int // read position in mem
	file   TempFile
	size   int64 // of the file
	w      *bufio.Writer
	r      *bufio.Reader
}

const (
	spoolWrite = 64 << 10 // bytes of the buffer before the file
	spoolRead  = 16 << 10 // and of that after it
	spoolLeast = 1 << 10  // bytes of the first buffer of rows
)

func newSpool(cfg *Config, h *Header) *spool {
	return &spool{h: h, limit: cfg.CursorMemory, memory: cfg.Memory, create: cfg.TempFile}
}

// next is the empty buffer for the next row.
func (s *spool) next() []byte { return s.row[:0] }

// built stores a row that was built in next's buffer.
func (s *spool) built(row []byte) error {
	s.row = row
	return s.add(len(row), func(fn func([]byte)) { fn(row) })
}

// add stores a row of n bytes, which each gives to a function piece by piece.
func (s *spool) add(n int, each func(func(piece []byte))) error {
	if n > 1<<31 {
		return fmt.Errorf("writing rows of a cursor: row of %d bytes", n)
	}
	var size [4]byte
	binary.LittleEndian.PutUint32(size[:], uint32(n))
	if s.file == nil {
		err := s.grow(len(s.mem) + n + 4)
		if err == nil {
			s.mem = append(s.mem, size[:]...)
			each(func(b []byte) { s.mem = append(s.mem, b...) })
			return nil
		}
		if s.create == nil {
			return err
		}
		if err := s.open(); err != nil {
			return err
		}
	}
	s.size += int64(n) + 4
	_, err := s.w.Write(size[:])
	each(func(b []byte) {
		if err == nil {
			_, err = s.w.Write(b)
		}
	})
	if err != nil {
		return s.fail("writing", err)
	}
	return nil
}

// errSpoolFull says that the rows of a cursor go to its file.
var errSpoolFull = errors.New("the rows of a cursor do not fit into its memory")

// grow makes mem hold n bytes in all.
func (s *spool) grow(n int) error {
	if n <= cap(s.mem) {
		return nil
	}
	if s.create != nil && n > s.limit {
		return errSpoolFull
	}
	size := max(n, 2*cap(s.mem), spoolLeast)
	if s.create != nil {
		size = min(size, max(s.limit, n))
	}
	if err := s.hold(size); err != nil {
		return err
	}
	s.mem = append(make([]byte, 0, size), s.mem...)
	return nil
}

// hold counts n bytes for what is added to cap(s.mem).
func (s *spool) hold(n int) error {
	if n > s.held {
		if err := s.memory.Reserve(int64(n - s.held)); err != nil {
			return err
		}
	} else {
		s.memory.Release(int64(s.held - n))
	}
	s.held = n
	return nil
}

// open makes the file. The rows so far move to it where there is no memory for both
// them and its buffer.
func (s *spool) open() error {
	f, err := s.create()
	if err != nil {
		return s.fail("writing", err)
	}
	s.file = f
	if s.hold(cap(s.mem)+spoolWrite) != nil {
		if _, err := f.Write(s.mem); err != nil {
			return s.fail("writing", err)
		}
		s.size, s.mem = int64(len(s.mem)), nil
		if err := s.hold(spoolWrite); err != nil {
			return err
		}
	}
	s.w = bufio.NewWriterSize(f, spoolWrite)
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
	s.r = bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), spoolRead)
	return s.hold(cap(s.mem) + spoolRead)
}

// length is that of the next row, or reports the end.
func (s *spool) length() (n int, end bool, err error) {
	if s.pos < len(s.mem) {
		n = int(binary.LittleEndian.Uint32(s.mem[s.pos:]))
		s.pos += 4
		return n, false, nil
	}
	if s.r == nil {
		return 0, true, nil
	}
	var size [4]byte
	if _, err := io.ReadFull(s.r, size[:]); err == io.EOF {
		return 0, true, nil
	} else if err != nil {
		return 0, false, s.fail("reading", err)
	}
	return int(binary.LittleEndian.Uint32(size[:])), false, nil
}

// read calls fn with the parts of the row whose length was read, of n bytes.
func (s *spool) read(n int, fn func(part []byte)) error {
	if s.pos < len(s.mem) {
		fn(s.mem[s.pos : s.pos+n])
		s.pos += n
		return nil
	}
	for n > 0 {
		part, err := s.r.Peek(min(n, spoolRead))
		if err != nil {
			return s.fail("reading", err)
		}
		fn(part)
		n -= len(part)
		if _, err := s.r.Discard(len(part)); err != nil {
			return s.fail("reading", err)
		}
	}
	return nil
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
	s.row, s.mem, s.w, s.r = nil, nil, nil, nil
	_ = s.hold(0)
}
