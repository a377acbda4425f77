package mysqlwire

import (
	"bytes"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func nativeOnce(password string) []byte {
	h := sha1.Sum([]byte(password))
	return h[:]
}

func xorSHA1(salt, twice, once []byte) []byte {
	h := sha1.Sum(append(append([]byte{}, salt...), twice...))
	subtle.XORBytes(h[:], h[:], once)
	return h[:]
}

// scriptConn is a connection whose client has said all it will say.
type scriptConn struct {
	in   io.Reader
	out  bytes.Buffer
	addr net.IP // 127.0.0.1 if nil
}

func (s *scriptConn) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *scriptConn) Write(b []byte) (int, error) { return s.out.Write(b) }
func (s *scriptConn) Close() error                { return nil }
func (s *scriptConn) LocalAddr() net.Addr         { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (s *scriptConn) RemoteAddr() net.Addr {
	if s.addr == nil {
		return s.LocalAddr()
	}
	return &net.TCPAddr{IP: s.addr, Port: 9}
}
func (s *scriptConn) SetDeadline(time.Time) error      { return nil }
func (s *scriptConn) SetReadDeadline(time.Time) error  { return nil }
func (s *scriptConn) SetWriteDeadline(time.Time) error { return nil }

func fuzzServer() (*Server, *fakeBackend) {
	b := newFakeBackend()
	b.ended = make(chan error, 1<<16)
	return NewServer(Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, b), b
}

// runScript serves a script and checks that the answer is well-framed.
func runScript(t *testing.T, s *Server, script []byte, serve func(c *conn)) {
	nc := &scriptConn{in: bytes.NewReader(script)}
	c := newConn(s, nc, newEntrance(false))
	defer s.ended(c)
	serve(c)
	for out := nc.out.Bytes(); len(out) > 0; {
		if len(out) < headerLen {
			t.Fatalf("half a header: %x", out)
		}
		n := headerLen + (int(out[0]) | int(out[1])<<8 | int(out[2])<<16)
		if n > len(out) {
			t.Fatalf("half a packet: %x", out)
		}
		out = out[n:]
	}
}

// FuzzCommands sends a stream of bytes to a connection after its handshake.
func FuzzCommands(f *testing.F) {
	frame := func(packets ...string) []byte {
		var out []byte
		for _, p := range packets {
			out = append(out, byte(len(p)), byte(len(p)>>8), 0, 0)
			out = append(out, p...)
		}
		return out
	}
	f.Add(frame("\x03SELECT 1", "\x0e", "\x01"), uint32(0))
	f.Add(frame("\x16echo ?,?", "\x18\x01\x00\x00\x00\x00\x00long", "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x0f\x00\x0c\x00\x04\xe8\x07\x02\x1d"), uint32(0))
	f.Add(frame("\x16rows 5", "\x17\x01\x00\x00\x00\x01\x01\x00\x00\x00", "\x1c\x01\x00\x00\x00\x03\x00\x00\x00", "\x1a\x01\x00\x00\x00", "\x19\x01\x00\x00\x00"), uint32(capDeprecateEOF))
	f.Add(frame("\x03\x01\x01\x00\x01\x0f\x00\x01k\x01vlength"), uint32(capQueryAttributes))
	f.Add(append(frame("\x03load x"), 1, 0, 0, 2, 'a', 0, 0, 0, 3), uint32(capLocalFiles))
	f.Add(frame("\x11root\x00\x00d\x00\x2d\x00caching_sha2_password\x00"), uint32(capPluginAuth))
	f.Add(frame("\x04t\x00", "\x0c\x01\x00\x00\x00", "\x1b\x00\x00", "\x1f", "\x09", "\x0d", "\x02db"), uint32(0))
	s, b := fuzzServer()
	f.Fuzz(func(t *testing.T, script []byte, caps uint32) {
		for len(b.ended) > 0 {
			<-b.ended
		}
		if bytes.Contains(script, []byte("block")) || bytes.Contains(script, []byte("endless")) || bytes.Contains(script, []byte("blob")) || bytes.Contains(script, []byte("rows")) && len(script) > 100 {
			return
		}
		runScript(t, s, script, func(c *conn) {
			c.caps = capability(caps)&serverCaps | capProtocol41
			sess, _ := c.srv.backend.Connect(c.ctx, ConnInfo{ID: 1, User: "root", Kill: c.kill})
			c.setSession(sess, 255)
			for c.next() {
			}
			c.shut()
		})
	})
}

// FuzzHandshake sends a stream of bytes instead of a handshake response.
func FuzzHandshake(f *testing.F) {
	c := &rawClient{}
	for _, caps := range []capability{0, capProtocol41, rawCaps, rawCaps | capConnectAttrs | capPluginAuthLenEnc, rawCaps | capCompress} {
		b := c.loginPacket(caps, "root", nil, "d", PluginCachingSHA2)
		b = append(b, 6, 1, 'k', 3, 'v', 'a', 'l')
		f.Add(append([]byte{byte(len(b)), 0, 0, 1}, b...))
	}
	s, _ := fuzzServer()
	f.Fuzz(func(t *testing.T, script []byte) {
		s.failed.init() // or each failed login waits longer
		nc := newConn(s, &scriptConn{in: bytes.NewReader(script)}, newEntrance(false))
		defer s.ended(nc)
		nc.serve()
	})
}

// FuzzCompressed reads a stream of bytes as frames.
func FuzzCompressed(f *testing.F) {
	var framed bytes.Buffer
	z := compressed{dst: &framed, pool: &zlibWriters{}}
	for _, n := range []int{10, 100, 5000} {
		if _, err := z.Write(pattern(n)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(framed.Bytes())
	f.Fuzz(func(t *testing.T, stream []byte) {
		z := compressed{src: bytes.NewReader(stream)}
		_, _ = io.Copy(io.Discard, io.LimitReader(onlyReader{&z}, 1<<20))
	})
}
