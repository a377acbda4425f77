package bench

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtExecute = 0x17

	capMySQL         = 1 << 0  // unset: the extended MariaDB capabilities count
	capDeprecateEOF  = 1 << 24 // results end with an OK packet, definitions with nothing
	capCacheMetadata = 1 << 4  // of the extended ones: definitions may be left out

	maxPacket = 1<<24 - 1
)

// serverError is an error packet; the connection stays usable after it.
type serverError struct {
	number  int
	message string
}

func (e *serverError) Error() string { return fmt.Sprintf("error %d: %s", e.number, e.message) }

// answer is what a statement returned.
type answer struct {
	rows  int64
	first []byte // payload of the first row's packet, valid until the next call
}

// client is one connection, after the driver has done the handshake. Single
// goroutine.
type client struct {
	conn          net.Conn
	owner         driver.Conn // closes the connection
	deprecateEOF  bool
	cacheMetadata bool

	out  []byte
	in   []byte // in[r:w] has been read from the socket but not consumed
	r, w int

	first []byte // copy of a row, since reading on moves the buffer
}

// handshakeSpy notes the capabilities that the driver announces: the first
// packet that it writes begins with them.
type handshakeSpy struct {
	net.Conn
	first []byte
}

// Write passes p on.
func (s *handshakeSpy) Write(p []byte) (int, error) {
	if s.first == nil {
		s.first = append([]byte{}, p[:min(len(p), 36)]...)
	}
	return s.Conn.Write(p)
}

// dial opens a connection to the target.
func dial(ctx context.Context, t *target) (*client, error) {
	cfg := t.cfg.Clone()
	var spy *handshakeSpy
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: cfg.Timeout}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		spy = &handshakeSpy{Conn: conn}
		return spy, nil
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", t.name, err)
	}
	// The driver would close the socket when ctx ends, in the middle of a
	// measurement; the workers look at ctx themselves.
	owner, err := connector.Connect(context.WithoutCancel(ctx))
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", t.name, err)
	}
	c := &client{conn: spy.Conn, owner: owner, in: make([]byte, 64<<10), out: make([]byte, 4, 4<<10)}
	if len(spy.first) < 36 {
		return nil, errors.Join(fmt.Errorf("connecting to %s: no capabilities seen", t.name), c.close())
	}
	caps := binary.LittleEndian.Uint32(spy.first[4:])
	c.deprecateEOF = caps&capDeprecateEOF != 0
	c.cacheMetadata = caps&capMySQL == 0 && binary.LittleEndian.Uint32(spy.first[32:])&capCacheMetadata != 0
	return c, nil
}

func (c *client) close() error { return c.owner.Close() }

// setDeadline makes all calls fail that are not done by then.
func (c *client) setDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// begin starts a command packet; the caller appends to c.out and calls send.
func (c *client) begin(command byte) { c.out = append(c.out[:4], command) }

func (c *client) send() error {
	n := len(c.out) - 4
	if n >= maxPacket {
		return fmt.Errorf("statement of %d bytes is too long for one packet", n)
	}
	c.out[0], c.out[1], c.out[2], c.out[3] = byte(n), byte(n>>8), byte(n>>16), 0
	_, err := c.conn.Write(c.out)
	return err
}

// packet returns the next packet's payload, valid until the next call.
func (c *client) packet() ([]byte, error) {
	if err := c.fill(4); err != nil {
		return nil, err
	}
	h := c.in[c.r:]
	n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	if n == maxPacket {
		return nil, errors.New("the answer has a packet of 16 MiB, which the bench does not read")
	}
	if err := c.fill(4 + n); err != nil {
		return nil, err
	}
	p := c.in[c.r+4 : c.r+4+n]
	c.r += 4 + n
	if n == 0 {
		return nil, errors.New("the answer has an empty packet")
	}
	return p, nil
}

// fill makes sure that n unconsumed bytes are in the buffer.
func (c *client) fill(n int) error {
	if c.w-c.r >= n {
		return nil
	}
	if c.r > 0 {
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	if n > len(c.in) {
		c.in = append(c.in[:c.w], make([]byte, n-c.w)...)
		c.in = c.in[:cap(c.in)]
	}
	for c.w < n {
		m, err := c.conn.Read(c.in[c.w:])
		c.w += m
		if err != nil && c.w < n {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func parseError(p []byte) error {
	if len(p) < 3 {
		return errors.New("the answer has a broken error packet")
	}
	msg := p[3:]
	if len(msg) >= 6 && msg[0] == '#' {
		msg = msg[6:]
	}
	return &serverError{number: int(binary.LittleEndian.Uint16(p[1:])), message: string(msg)}
}

// isEnd recognises the packet that ends definitions or rows.
func (c *client) isEnd(p []byte) bool {
	return p[0] == 0xFE && (len(p) < 9 || c.deprecateEOF)
}

// answer reads the answer to a query or an execution.
func (c *client) answer() (answer, error) {
	p, err := c.packet()
	if err != nil {
		return answer{}, err
	}
	switch p[0] {
	case 0x00:
		return answer{}, nil
	case 0xFF:
		return answer{}, parseError(p)
	case 0xFB:
		return answer{}, errors.New("the server asks for a file")
	}
	columns := int(p[0])
	if columns >= 0xFB {
		return answer{}, errors.New("the answer has too many columns")
	}
	if !c.cacheMetadata || (len(p) > 1 && p[1] == 1) {
		if err := c.skip(columns); err != nil {
			return answer{}, err
		}
	}
	var a answer
	for {
		p, err := c.packet()
		if err != nil {
			return a, err
		}
		if c.isEnd(p) {
			return a, nil
		}
		if p[0] == 0xFF {
			return a, parseError(p)
		}
		if a.rows == 0 {
			c.first = append(c.first[:0], p...)
			a.first = c.first
		}
		a.rows++
	}
}

// skip reads n definitions and the end that old protocols put after them.
func (c *client) skip(n int) error {
	if !c.deprecateEOF {
		n++
	}
	for range n {
		if _, err := c.packet(); err != nil {
			return err
		}
	}
	return nil
}

// query runs text that has been appended after begin(comQuery).
func (c *client) query() (answer, error) {
	if err := c.send(); err != nil {
		return answer{}, err
	}
	return c.answer()
}

// statement is a prepared statement with integer parameters.
type statement struct {
	id     uint32
	params int
}

func (c *client) prepare(sql string) (statement, error) {
	c.begin(comStmtPrepare)
	c.out = append(c.out, sql...)
	if err := c.send(); err != nil {
		return statement{}, err
	}
	p, err := c.packet()
	if err != nil {
		return statement{}, err
	}
	if p[0] == 0xFF {
		return statement{}, parseError(p)
	}
	if len(p) < 9 {
		return statement{}, errors.New("the answer to a prepare is too short")
	}
	st := statement{id: binary.LittleEndian.Uint32(p[1:]), params: int(binary.LittleEndian.Uint16(p[7:]))}
	columns := int(binary.LittleEndian.Uint16(p[5:]))
	for _, n := range []int{st.params, columns} {
		if n > 0 {
			if err := c.skip(n); err != nil {
				return statement{}, err
			}
		}
	}
	return st, nil
}

// execute runs a prepared statement.
//
//	0x17 | id:4 | flags:1 | iterations:4 | null bitmap | new types:1 | types:2·n | values:8·n
func (c *client) execute(st statement, args []int64) (answer, error) {
	if len(args) != st.params {
		return answer{}, fmt.Errorf("the statement has %d parameters, not %d", st.params, len(args))
	}
	c.begin(comStmtExecute)
	c.out = binary.LittleEndian.AppendUint32(c.out, st.id)
	c.out = append(c.out, 0, 1, 0, 0, 0)
	if len(args) > 0 {
		for range (len(args) + 7) / 8 {
			c.out = append(c.out, 0)
		}
		c.out = append(c.out, 1)
		for range args {
			c.out = append(c.out, 8, 0) // MYSQL_TYPE_LONGLONG, signed
		}
		for _, v := range args {
			c.out = binary.LittleEndian.AppendUint64(c.out, uint64(v))
		}
	}
	return c.query()
}
