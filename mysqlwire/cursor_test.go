package mysqlwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// countedMemory is a Memory of a limited size.
type countedMemory struct{ used, limit, most atomic.Int64 }

func (m *countedMemory) Reserve(n int64) error {
	now := m.used.Add(n)
	if now > m.limit.Load() {
		m.used.Add(-n)
		return sqlerr.ServerMemoryExceeded(m.limit.Load(), "packets")
	}
	for most := m.most.Load(); now > most && !m.most.CompareAndSwap(most, now); most = m.most.Load() {
	}
	return nil
}

func (m *countedMemory) Release(n int64) { m.used.Add(-n) }

// openCursor prepares and executes a statement with a cursor, and returns its id.
func openCursor(c *rawClient, text string, columns int) []byte {
	c.t.Helper()
	c.command(comStmtPrepare, []byte(text)...)
	id := binary.LittleEndian.AppendUint32(nil, c.prepared(0, columns))
	c.command(comStmtExecute, slices.Concat(id, []byte{1, 1, 0, 0, 0})...)
	return id
}

// fetchRows reads n rows of a cursor with n rows, and the end.
func fetchRows(c *rawClient, id []byte, n uint32, each func(row []byte)) {
	c.t.Helper()
	c.command(comStmtFetch, binary.LittleEndian.AppendUint32(slices.Clone(id), n+1)...)
	for range n {
		var row []byte
		for {
			part, err := c.read()
			if err != nil {
				c.t.Fatal(err)
			}
			if row = append(row, part...); len(part) < maxPayload {
				break
			}
		}
		each(row)
	}
	c.expect(0xfe)
}

// skip reads n packets, and returns the first.
func skip(c *rawClient, n int) []byte {
	c.t.Helper()
	var first []byte
	for i := range n {
		b, err := c.read()
		if err != nil {
			c.t.Fatal(err)
		}
		if i == 0 {
			first = slices.Clone(b)
		}
	}
	return first
}

func settle(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("something is not given back")
		}
	}
}

// TestCursorMemory: the rows of open cursors are counted. When there is no memory for
// them they go to files, and all is given back with the cursors.
func TestCursorMemory(t *testing.T) {
	const cursors, rows = 20, 2000
	for _, limit := range []int64{1 << 30, 1 << 20, 40 << 10} {
		m := &countedMemory{}
		m.limit.Store(limit)
		var open atomic.Int64
		most := int64(0)
		_, _, addr := startServer(t, Config{Memory: m, TempFile: func() (TempFile, error) {
			most = max(most, open.Add(1))
			return &memFile{open: &open, limit: 1 << 30}, nil
		}})
		c := dialRaw(t, addr, 0)
		var ids [][]byte
		refused := 0
		for range cursors {
			id := openCursor(c, "rows 2000", 5)
			if b := skip(c, 1); b[0] == 0xff {
				if got := binary.LittleEndian.Uint16(b[1:]); got != 3170 {
					t.Fatalf("error %d", got)
				}
				refused++
				continue
			}
			skip(c, 5)
			c.expect(0xfe)
			ids = append(ids, id)
		}
		held := m.used.Load()
		switch {
		case limit == 1<<30 && (held < cursors*rows*10 || most > 0 || refused > 0):
			t.Errorf("%d bytes counted, %d files, %d refused", held, most, refused)
		case limit == 1<<20 && most == 0:
			t.Errorf("%d bytes counted, %d files, %d refused", held, most, refused)
		case limit == 40<<10 && refused == 0:
			t.Errorf("%d bytes counted, %d files", held, most)
		}
		for _, id := range ids {
			fetchRows(c, id, rows, func([]byte) {})
		}
		settle(t, func() bool { return m.used.Load() == 0 && open.Load() == 0 })
	}
}

// TestCursorLongRows: long rows of a cursor are neither built nor read in one piece.
func TestCursorLongRows(t *testing.T) {
	testflag.Normal(t)
	m := &countedMemory{}
	m.limit.Store(1 << 20)
	var open atomic.Int64
	_, _, addr := startServer(t, Config{Memory: m, CursorMemory: 10, TempFile: func() (TempFile, error) {
		open.Add(1)
		return &memFile{open: &open, limit: 1 << 30}, nil
	}})
	for _, n := range []int{longValue - 100, longValue, 3 << 20, maxPayload - 5, maxPayload + 7} {
		c := dialRaw(t, addr, 0)
		id := openCursor(c, "longs "+strconv.Itoa(n), 0)
		skip(c, 3)
		fetchRows(c, id, 2, func(row []byte) {
			if !bytes.HasSuffix(row, pattern(n)) {
				t.Errorf("a row of %d bytes comes as %d, or differs", n, len(row))
			}
		})
		c.command(comStmtClose, id...)
		settle(t, func() bool { return m.used.Load() == 0 && open.Load() == 0 })
	}
	if most := m.most.Load(); most > 1<<20 {
		t.Errorf("%d bytes were counted", most)
	}
}

// brokenFile is a temporary file that cannot be read.
type brokenFile struct{ *memFile }

func (brokenFile) ReadAt([]byte, int64) (int, error) { return 0, errors.New("bad disk") }

// TestCursorBrokenFile: an error before a row is the answer, and the connection goes on.
func TestCursorBrokenFile(t *testing.T) {
	var open atomic.Int64
	_, _, addr := startServer(t, Config{CursorMemory: 10, TempFile: func() (TempFile, error) {
		open.Add(1)
		return brokenFile{&memFile{open: &open, limit: 1 << 30}}, nil
	}})
	c := dialRaw(t, addr, 0)
	id := openCursor(c, "rows 10", 5)
	skip(c, 7)
	c.command(comStmtFetch, append(id, 1, 0, 0, 0)...)
	c.expectError(1030)
	c.command(comPing)
	c.expect(0)
	if open.Load() != 0 {
		t.Error("the file is left")
	}
}
