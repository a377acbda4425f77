package abuse

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"

	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
)

// rawClient speaks the protocol byte by byte.
type rawClient struct {
	nc  net.Conn
	seq byte
	id  int64 // of the connection
}

// Capabilities, flags and commands of the protocol.
const (
	capBasic      = 1<<0 | 1<<3 | 1<<9 | 1<<13 | 1<<15 | 1<<16 | 1<<17 | 1<<18 | 1<<19 // with a database and a plugin's name
	capAttributes = 1 << 20
	capLenEncAuth = 1 << 21

	comQuery   = 0x03
	comPing    = 0x0e
	comPrepare = 0x16
	comExecute = 0x17
	comFetch   = 0x1c

	readOnlyCursor = 1
)

// dial logs in as root with bytes of connection attributes.
func (v *victim) dial(attributes []byte) (*rawClient, error) {
	nc, err := net.Dial("tcp", v.c.Addr)
	if err != nil {
		return nil, err
	}
	v.t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(time.Minute))
	c := &rawClient{nc: nc}
	greeting, err := c.read()
	if err := answer(greeting, err); err != nil {
		return nil, err
	}
	_, b, _ := bytes.Cut(greeting, []byte{0}) // after the version
	c.id = int64(binary.LittleEndian.Uint32(b))
	caps := uint32(capBasic)
	if attributes != nil {
		caps |= capAttributes | capLenEncAuth
	}
	b = binary.LittleEndian.AppendUint32(nil, caps)
	b = binary.LittleEndian.AppendUint32(b, 1<<24)
	b = append(append(append(b, 255), make([]byte, 23)...), "root\x00\x00abuse\x00caching_sha2_password\x00"...)
	if attributes != nil {
		b = append(append(b, 0xfe), binary.LittleEndian.AppendUint64(nil, uint64(len(attributes)))...)
		b = append(b, attributes...)
	}
	if err := c.send(b); err != nil {
		return nil, err
	}
	return c, c.ok()
}

// send writes a packet, in parts where it is long.
func (c *rawClient) send(b []byte) error {
	const most = 1<<24 - 1
	for {
		n := min(len(b), most)
		if _, err := c.nc.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), c.seq}); err != nil {
			return err
		}
		if _, err := c.nc.Write(b[:n]); err != nil {
			return err
		}
		c.seq++
		if b = b[n:]; n < most {
			return nil
		}
	}
}

func (c *rawClient) command(b []byte) error {
	c.seq = 0
	return c.send(b)
}

func (c *rawClient) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.nc, head[:]); err != nil {
		return nil, err
	}
	c.seq = head[3] + 1
	b := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(c.nc, b)
	return b, err
}

// drain runs statements and reads their rows away, faster than a driver reads them.
func (c *rawClient) drain(text string) error {
	if err := c.command(append([]byte{comQuery}, text...)); err != nil {
		return err
	}
	for more := true; more; {
		b, err := c.readLong()
		if err := answer(b, err); err != nil {
			return err
		}
		if b[0] == 0 { // no rows: two numbers of variable length, then the status
			at := 1 + intLength(b[1])
			more = moreResults(b[at+intLength(b[at]):])
			continue
		}
		for ends := 0; ends < 2; { // the columns end, the rows end
			b, err := c.readLong()
			if err := answer(b, err); err != nil {
				return err
			}
			if b[0] == 0xfe && len(b) < 9 {
				ends, more = ends+1, moreResults(b[3:])
			}
		}
	}
	return nil
}

// readLong is the first part of a packet, the others of which are skipped.
func (c *rawClient) readLong() ([]byte, error) {
	first, err := c.read()
	for b := first; err == nil && len(b) == 1<<24-1; {
		b, err = c.read()
	}
	return first, err
}

// intLength is how long a number is that begins with a byte.
func intLength(first byte) int {
	switch first {
	case 0xfc:
		return 3
	case 0xfd:
		return 4
	case 0xfe:
		return 9
	}
	return 1
}

// moreResults reports whether another result follows, by the status.
func moreResults(status []byte) bool { return status[0]&8 != 0 }

// ok reads an answer that is no error.
func (c *rawClient) ok() error {
	b, err := c.read()
	return answer(b, err)
}

func answer(b []byte, err error) error {
	if err == nil && len(b) > 8 && b[0] == 0xff {
		return &mysql.MySQLError{Number: binary.LittleEndian.Uint16(b[1:]), Message: string(b[9:])}
	}
	return err
}

// prepare is the id of a prepared statement without parameters.
func (c *rawClient) prepare(text string) (id []byte, err error) {
	if err := c.command(append([]byte{comPrepare}, text...)); err != nil {
		return nil, err
	}
	b, err := c.read()
	if err := answer(b, err); err != nil {
		return nil, err
	}
	columns, params := int(binary.LittleEndian.Uint16(b[5:])), int(binary.LittleEndian.Uint16(b[7:]))
	for _, n := range []int{columns, params} {
		if n == 0 {
			continue
		}
		for range n + 1 {
			if _, err := c.read(); err != nil {
				return nil, err
			}
		}
	}
	return bytes.Clone(b[1:5]), nil
}

// TestCursors opens cursors over wide rows on many connections, which read a few of them.
func TestCursors(t *testing.T) {
	testflag.Normal(t)
	v := start(t)
	texts := []string{
		"SELECT id, REPEAT(s, 2500) a, REPEAT(s, 2500) b, REPEAT(s, 2500) c FROM t WHERE id < 300",
		"SELECT id, REPEAT(s, 100000) a FROM t WHERE id < 60",
		"SELECT a.id, b.s FROM t a, t b WHERE b.id < 60",
	}
	var mu sync.Mutex
	errs := map[string]int{}
	share(20, 60, func(i int) {
		err := func() error {
			c, err := v.dial(nil)
			if err != nil {
				return err
			}
			for range 4 {
				id, err := c.prepare(texts[i%len(texts)])
				if err != nil {
					return err
				}
				if err := c.command(append(append([]byte{comExecute}, id...), readOnlyCursor, 1, 0, 0, 0)); err != nil {
					return err
				}
				// The header, the columns and their end: then rows are fetched.
				b, err := c.read()
				if err := answer(b, err); err != nil {
					return err
				}
				for range int(b[0]) + 1 {
					if _, err := c.read(); err != nil {
						return err
					}
				}
				if err := c.command(append(append([]byte{comFetch}, id...), 2, 0, 0, 0)); err != nil {
					return err
				}
				for range 3 {
					if err := c.ok(); err != nil {
						return err
					}
				}
			}
			return nil
		}()
		if err != nil {
			mu.Lock()
			errs[shortError(err)]++
			mu.Unlock()
		}
	})
	v.checkRaw(t, "cursors", errs)
}

// checkRaw looks at the invariants after an attack by raw clients.
func (v *victim) checkRaw(t *testing.T, name string, errs map[string]int) {
	t.Helper()
	peak, p99, err := v.report()
	t.Logf("%-40s peak %4d MiB, others %7.1f ms, %v", name, peak>>20, float64(p99.Microseconds())/1000, errs)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if peak > mostResident() {
		t.Errorf("%s: %d MiB are resident", name, peak>>20)
	}
	if p99 > mostOther() {
		t.Errorf("%s: others took %v", name, p99)
	}
	for e := range errs {
		if isFault(e) {
			t.Errorf("%s: %s", name, e)
		}
	}
	if v.c.Memory("VmRSS") == 0 {
		t.Fatalf("%s: the server has ended\n%s", name, tail(v.c.Log.String()))
	}
}

// TestHandshakes logs in with attributes of all lengths, which are refused or cut.
func TestHandshakes(t *testing.T) {
	testflag.Normal(t)
	v := start(t)
	errs := map[string]int{}
	for _, n := range []int{0, 100, 60_000, 70_000, 1 << 20, 40 << 20} {
		var attributes []byte
		for i := 0; len(attributes) < n; i++ {
			name := "a" + strconv.Itoa(i)
			attributes = append(append(attributes, byte(len(name))), name...)
			attributes = append(append(attributes, 100), strings.Repeat("x", 100)...)
		}
		if attributes == nil {
			attributes = []byte{}
		}
		for range 10 {
			c, err := v.dial(attributes)
			if err == nil {
				err = c.command([]byte{comPing})
				if err == nil {
					err = c.ok()
				}
			}
			if err != nil && n < 60_000 {
				t.Errorf("%d bytes of attributes: %v", n, err)
			}
		}
	}
	v.checkRaw(t, "attributes of the handshake", errs)
}

// TestManyParameters executes statements with the most parameters there may be, long ones
// among them.
func TestManyParameters(t *testing.T) {
	testflag.Normal(t)
	v := start(t)
	for _, params := range []int{20_000, 65_535} { // the second does not fit
		v.manyParameters(t, params)
	}
}

func (v *victim) manyParameters(t *testing.T, params int) {
	t.Helper()
	text := "SELECT LENGTH(CONCAT(" + strings.Repeat("?,", params-1) + "?))"
	var mu sync.Mutex
	errs := map[string]int{}
	share(8, 8, func(i int) {
		err := func() error {
			c, err := v.dial(nil)
			if err != nil {
				return err
			}
			id, err := c.prepare(text)
			if err != nil {
				return err
			}
			for range 3 {
				b := append(append([]byte{comExecute}, id...), 0, 1, 0, 0, 0)
				b = append(b, make([]byte, (params+7)/8)...)
				b = append(b, 1)
				for range params {
					b = append(b, 0xfd, 0) // VAR_STRING
				}
				size := []int{0, 100, 200}[i%3]
				for range params {
					b = append(append(b, byte(size)), strings.Repeat("x", size)...)
				}
				if err := c.command(b); err != nil {
					return err
				}
				for n := 0; n < 5; n++ { // columns, one column, its end, a row, the end
					if err := c.ok(); err != nil {
						return err
					}
				}
			}
			return nil
		}()
		if err != nil {
			mu.Lock()
			errs[shortError(err)]++
			mu.Unlock()
		}
	})
	v.checkRaw(t, fmt.Sprint(params, " parameters"), errs)
}

// TestEndlessFiles loads files of the client that never end: of rows, of one row, of one
// row of ever more fields. Each ends with KILL, or is refused.
func TestEndlessFiles(t *testing.T) {
	testflag.Long(t)
	v := start(t)
	db, admin := v.connect("abuse"), v.connect("")
	files := []struct{ name, piece string }{
		{"long rows", "-1\t" + strings.Repeat("x", 1<<20) + "\n"},
		{"fields", "\t\t\t\t"},
		{"a row", strings.Repeat("x", 1000)},
		{"rows", "1\tx\n"},
		{"no field", "\n\n\n\n"},
		{"quotes", "\\N\t\"x"},
	}
	for _, f := range files {
		name, piece := f.name, f.piece
		v.report()
		out := attackOfFile(v, db, admin, name, piece)
		v.checkRaw(t, "a file of "+name, nil) // the client finds that its connection has ended
		t.Logf("%-40s killed %d, after %v", name, out.killed, out.slow)
		if out.slow > mostKill()+linger {
			t.Errorf("%s: it ended %v after KILL", name, out.slow)
		}
	}
}

// linger is more than the server waits for a client to read why its connection ends.
const linger = 4 * time.Second

type endless struct {
	piece []byte
	at    int
}

// Read implements io.Reader.
func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m := copy(p[n:], e.piece[e.at:])
		n, e.at = n+m, (e.at+m)%len(e.piece)
	}
	return n, nil
}

func attackOfFile(v *victim, db, admin *sql.DB, name, piece string) outcome {
	handler := "endless " + name
	mysql.RegisterReaderHandler(handler, func() io.Reader { return &endless{piece: []byte(piece)} })
	defer mysql.DeregisterReaderHandler(handler)
	a := attack{name: name, conns: 4, runs: 2 * time.Second, text: "LOAD DATA LOCAL INFILE 'Reader::" + handler + "' IGNORE INTO TABLE t (id, b)"}
	out := outcome{errs: map[string]int{}}
	var mu sync.Mutex
	share(a.conns, a.conns, func(int) {
		o, err := one(v.t.Context(), db, admin, a, a.runs)
		mu.Lock()
		defer mu.Unlock()
		out.killed, out.slow = out.killed+o.killed, max(out.slow, o.slow)
		if err != nil {
			out.errs[shortError(err)]++
		}
	})
	return out
}
