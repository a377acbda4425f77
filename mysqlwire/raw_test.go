package mysqlwire

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// rawClient speaks the protocol byte by byte.
type rawClient struct {
	t    testing.TB
	nc   net.Conn
	seq  uint8
	salt []byte
}

const rawCaps = capLongPassword | capProtocol41 | capSecureConnection | capPluginAuth | capMultiResults |
	capPSMultiResults | capTransactions | capConnectWithDB | capLocalFiles

// dialRaw connects as root without password, with more capabilities.
func dialRaw(t testing.TB, addr string, more capability) *rawClient {
	t.Helper()
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps|more, "root", nil, "d", PluginCachingSHA2))
	c.expect(0x00)
	return c
}

// dialGreeting connects and reads the greeting.
func dialGreeting(t testing.TB, addr string) *rawClient {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return greeted(t, nc)
}

// greeted reads the greeting from a connection.
func greeted(t testing.TB, nc net.Conn) *rawClient {
	t.Helper()
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	c := &rawClient{t: t, nc: nc}
	p := payload{b: c.expect(10)[1:]}
	p.nulBytes()
	p.take(4)
	c.salt = append(c.salt, p.take(8)...)
	p.take(1 + 2 + 1 + 2 + 2 + 1 + 10)
	c.salt = append(c.salt, p.take(12)...)
	if p.bad {
		t.Fatal("greeting is too short")
	}
	return c
}

// login logs in as an account of newFakeBackend.
func (c *rawClient) login(user, password string) {
	c.t.Helper()
	switch user {
	case "root":
		c.send(c.loginPacket(rawCaps, user, nil, "d", PluginCachingSHA2))
	case "sha":
		c.send(c.loginPacket(rawCaps, user, sha2Answer(c.salt, password), "d", PluginCachingSHA2))
		if b := c.expect(authMore); b[1] == sha2Full {
			c.send(append([]byte(password), 0)) // in clear text, as loopback may
		}
	default:
		c.send(c.loginPacket(rawCaps, user, nativeAnswer(c.salt, password), "d", PluginNative))
	}
	c.expect(0x00)
}

func (c *rawClient) loginPacket(caps capability, user string, answer []byte, db, plugin string) []byte {
	b := appendUint32(nil, uint32(caps))
	b = appendUint32(b, 1<<24)
	b = append(b, 255)
	b = append(b, make([]byte, 23)...)
	b = append(append(b, user...), 0)
	b = append(append(b, byte(len(answer))), answer...)
	if caps.has(capConnectWithDB) {
		b = append(append(b, db...), 0)
	}
	return append(append(b, plugin...), 0)
}

// send writes one packet with the next sequence number.
func (c *rawClient) send(b []byte) {
	c.t.Helper()
	out := make([]byte, 4, 4+len(b))
	putHeader(out, len(b), c.seq)
	c.seq++
	if _, err := c.nc.Write(append(out, b...)); err != nil {
		c.t.Fatal(err)
	}
}

// command starts a command.
func (c *rawClient) command(cmd byte, arg ...byte) {
	c.t.Helper()
	c.seq = 0
	c.send(append([]byte{cmd}, arg...))
}

// read reads one packet.
func (c *rawClient) read() ([]byte, error) {
	var h [4]byte
	if _, err := io.ReadFull(c.nc, h[:]); err != nil {
		return nil, err
	}
	b := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	if h[3] != c.seq {
		c.t.Errorf("sequence %d, want %d", h[3], c.seq)
	}
	c.seq = h[3] + 1
	_, err := io.ReadFull(c.nc, b)
	return b, err
}

// expect reads a packet that begins with first.
func (c *rawClient) expect(first byte) []byte {
	c.t.Helper()
	b, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	if len(b) == 0 || b[0] != first {
		c.t.Fatalf("packet %q, want first byte %#x", b, first)
	}
	return b
}

// expectError reads an error packet of the number.
func (c *rawClient) expectError(number uint16) {
	c.t.Helper()
	b := c.expect(0xff)
	if n := binary.LittleEndian.Uint16(b[1:]); n != number {
		c.t.Fatalf("error %d %q, want %d", n, b, number)
	}
}

// expectEnd reads to the end of the connection.
func (c *rawClient) expectEnd() {
	c.t.Helper()
	if n, err := io.Copy(io.Discard, c.nc); n != 0 {
		c.t.Fatalf("%d bytes (%v), want the end of the connection", n, err)
	}
}
