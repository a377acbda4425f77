package mysqlwire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

func TestCommands(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	c := dialRaw(t, addr, 0)
	c.command(comPing)
	wantHex(t, "ping", c.expect(0), "00 00 00 0200 0000")
	c.command(comInitDB, []byte("other")...)
	c.expect(0)
	c.command(comInitDB, []byte("nowhere")...)
	c.expectError(1049)
	c.command(comStatistics)
	if b := c.expect('U'); string(b) != "Uptime: 1" {
		t.Errorf("%q", b)
	}
	c.command(comDebug)
	wantHex(t, "debug", c.expect(0xfe), "fe 0000 0200")
	c.command(comSetOption, 0, 0)
	c.expect(0xfe)
	c.command(comSetOption, 7, 0)
	c.expectError(1047)
	c.command(comFieldList, []byte("t\x00%")...)
	for range streamHeader.Columns() {
		if b := c.expect(3); b[len(b)-1] != 0xfb {
			t.Errorf("%x", b)
		}
	}
	c.expect(0xfe)
	c.command(comFieldList, []byte("u\x00%")...)
	c.expectError(1146)
	c.command(comResetConnection)
	c.expect(0)
	for _, cmd := range []byte{0, 5, 0x12, 0x1d, 0xff} {
		c.command(cmd)
		c.expectError(1047)
	}
	c.seq = 0
	c.send(nil)
	c.expectError(1047)
	c.command(comQuery, []byte("bad")...)
	wantHex(t, "error", c.expect(0xff), "ff 7a04 23 3432533032 5461626c652027642e742720646f65736e2774206578697374")
	c.command(comQuery, []byte("other")...)
	wantHex(t, "OK", c.expect(0), "00 03 2a 0200 0100 0a 5265636f7264733a2033")
	c.command(comQuery, []byte("SELECT")...)
	wantHex(t, "count", c.expect(1), "01")
	c.expect(3)
	wantHex(t, "EOF", c.expect(0xfe), "fe 0000 0200")
	wantHex(t, "row", c.expect(1), "01 31")
	wantHex(t, "EOF", c.expect(0xfe), "fe 0000 0200")
	// Columns of a result that another follows say so.
	c.command(comSetOption, 0, 0)
	c.expect(0xfe)
	c.command(comQuery, []byte("SELECT; SELECT")...)
	c.expect(1)
	c.expect(3)
	wantHex(t, "EOF of columns", c.expect(0xfe), "fe 0000 0a00")
	c.expect(1)
	wantHex(t, "EOF of rows", c.expect(0xfe), "fe 0000 0a00")
	c.expect(1)
	c.expect(3)
	wantHex(t, "the last EOF of columns", c.expect(0xfe), "fe 0000 0200")
	c.expect(1)
	wantHex(t, "the last EOF of rows", c.expect(0xfe), "fe 0000 0200")
	// COM_REFRESH is FLUSH, and a text may end with the byte that ends it in C.
	for flags, what := range map[byte]string{0x01: "PRIVILEGES", 0x0e: "LOGS, HOSTS", 0x1f: "PRIVILEGES, LOGS, HOSTS, STATUS", 0x04: "TABLES", 0xe0: "TABLES"} {
		c.command(comRefresh, flags)
		if b := c.expect(0); !bytes.HasSuffix(b, []byte(what)) {
			t.Errorf("refresh %#x: %q", flags, b)
		}
	}
	c.command(comRefresh)
	c.expectError(1835)
	c.command(comQuery, []byte("FLUSH LOGS\x00")...)
	c.expect(0)
	c.command(comQuit)
	c.expectEnd()
}

// TestAttributes: attributes are kept in order, up to a limit.
func TestAttributes(t *testing.T) {
	var list []byte
	add := func(k, v string) { list = appendLenEncString(appendLenEncString(list, k), v) }
	add("_os", "Linux")
	add("_pid", "1")
	long := strings.Repeat("x", maxAttributes)
	add("long", long)
	add("empty", "")
	got := parseAttributes(&payload{b: appendLenEncBytes(nil, list)})
	want := [][2]string{{"_os", "Linux"}, {"_pid", "1"}, {"_truncated", strconv.Itoa(len(long) + len("long") + len("empty"))}}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestMalformed sends packets that are too short for their command.
func TestMalformed(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	c := dialRaw(t, addr, 0)
	for _, b := range [][]byte{
		{comStmtExecute}, {comStmtExecute, 1, 0, 0}, {comStmtFetch}, {comStmtFetch, 1}, {comStmtReset, 1},
		{comProcessKill, 1}, {comSetOption}, {comSetOption, 1}, {comFieldList, 't'},
	} {
		c.command(b[0], b[1:]...)
		c.expectError(1835)
	}
	c.command(comStmtPrepare, []byte("echo ?,?")...)
	id := c.prepared(2, 0)
	for _, tail := range []string{
		"", "00", "00 01000000", "00 01000000 00", "00 01000000 00 01", "00 01000000 00 01 0800",
		"00 01000000 00 01 0800 0800", "00 01000000 00 01 0800 0800 0000000000000000 00",
		"00 01000000 00 01 fd00 fd00 0161 fe ffffffffffffffff", "00 01000000 00 01 fd00 fd00 fc",
		"00 01000000 00 01 0c00 0c00 05 0000000000", "00 01000000 00 01 1400 1400 00",
	} {
		c.command(comStmtExecute, append(appendUint32(nil, id), unhex(tail)...)...)
		c.expectError(1835)
	}
	c.command(comStmtExecute, append(appendUint32(nil, 99), 0, 1, 0, 0, 0)...)
	c.expectError(1243)
	c.command(comStmtPrepare, []byte("echo ?,?")...)
	id = c.prepared(2, 0)
	c.command(comStmtExecute, append(appendUint32(nil, id), unhex("00 01000000 00 00")...)...)
	c.expectError(1210) // no types yet
	c.command(comPing)
	c.expect(0)
	// Change of user ends the connection when it fails.
	c.command(comChangeUser, []byte("root")...)
	c.expectError(1835)
	c.expectEnd()
}

func TestSequence(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	c := dialRaw(t, addr, 0)
	c.seq = 5
	c.send([]byte{comPing})
	c.seq = 5
	_, _ = c.nc.Write(nil)
	b, err := io.ReadAll(c.nc)
	if err != nil || len(b) < 7 || binary.LittleEndian.Uint16(b[5:]) != 1156 {
		t.Errorf("%x %v", b, err)
	}
}

// prepared reads the answer to a prepare without DEPRECATE_EOF.
func (c *rawClient) prepared(params, columns int) uint32 {
	c.t.Helper()
	b := c.expect(0)
	if len(b) != 12 || int(b[5]) != columns || int(b[7]) != params {
		c.t.Fatalf("prepared: %x", b)
	}
	for _, n := range []int{params, columns} {
		for range n {
			c.expect(3)
		}
		if n > 0 {
			c.expect(0xfe)
		}
	}
	return binary.LittleEndian.Uint32(b[1:])
}

func TestCursor(t *testing.T) {
	for _, memory := range []int{1 << 20, 100} {
		var open atomic.Int64
		_, _, addr := startServer(t, Config{CursorMemory: memory, TempFile: func() (TempFile, error) {
			open.Add(1)
			return &memFile{open: &open, limit: 1 << 20}, nil
		}})
		for _, caps := range []capability{0, capDeprecateEOF} {
			testCursor(t, addr, caps)
		}
		for end := time.Now().Add(10 * time.Second); open.Load() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d files are left", open.Load())
			}
		}
	}
}

// memFile is a temporary file of a limited size.
type memFile struct {
	bytes.Buffer
	open  *atomic.Int64
	limit int
}

func (f *memFile) Write(p []byte) (int, error) {
	if f.Len()+len(p) > f.limit {
		return 0, sqlerr.TableFull("tmp")
	}
	return f.Buffer.Write(p)
}

func (f *memFile) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(f.Bytes()).ReadAt(p, at)
}

func (f *memFile) Close() { f.open.Add(-1) }

// TestCursorLimit: a cursor that finds no place for its rows is an error of its
// statement.
func TestCursorLimit(t *testing.T) {
	var open atomic.Int64
	_, _, addr := startServer(t, Config{CursorMemory: 10, TempFile: func() (TempFile, error) {
		open.Add(1)
		return &memFile{open: &open, limit: 20}, nil
	}})
	c := dialRaw(t, addr, 0)
	c.command(comStmtPrepare, []byte("rows 10")...)
	id := c.expect(0)[1:5]
	for range 5 {
		c.expect(3)
	}
	c.expect(0xfe)
	c.command(comStmtExecute, slices.Concat(id, []byte{1, 1, 0, 0, 0})...)
	c.expectError(1114)
	if open.Load() != 0 {
		t.Error("the file is left")
	}
	c.command(comPing)
	c.expect(0)
}

func testCursor(t *testing.T, addr string, caps capability) {
	c := dialRaw(t, addr, caps)
	c.command(comStmtPrepare, []byte("rows 10")...)
	b := c.expect(0)
	id := b[1:5]
	for range 5 {
		c.expect(3)
	}
	status := func(want Status) {
		t.Helper()
		b := c.expect(0xfe)
		at := 3
		if got := Status(binary.LittleEndian.Uint16(b[at:])); got != want|StatusAutocommit {
			t.Errorf("status %#x, want %#x", got, want)
		}
	}
	if caps == 0 {
		c.expect(0xfe)
	}
	c.command(comStmtFetch, append(append([]byte{}, id...), 4, 0, 0, 0)...)
	c.expectError(1421)
	for round := range 2 {
		c.command(comStmtExecute, append(append([]byte{}, id...), 1, 1, 0, 0, 0)...)
		c.expect(5)
		for range 5 {
			c.expect(3)
		}
		status(StatusCursorExists)
		if round == 0 {
			c.command(comStmtReset, id...)
			c.expect(0)
			c.command(comStmtFetch, append(append([]byte{}, id...), 4, 0, 0, 0)...)
			c.expectError(1421)
			continue
		}
		for _, n := range []int{4, 4, 2} {
			c.command(comStmtFetch, append(append([]byte{}, id...), 4, 0, 0, 0)...)
			for range n {
				c.expect(0)
			}
			if n == 4 {
				status(StatusCursorExists)
			} else {
				status(StatusLastRowSent)
			}
		}
	}
	c.command(comStmtClose, id...)
	c.command(comStmtExecute, append(append([]byte{}, id...), 0, 1, 0, 0, 0)...)
	c.expectError(1243)
}

func TestChangeUser(t *testing.T) {
	_, b, addr := startServer(t, Config{})
	c := dialRaw(t, addr, 0)
	change := func(user string, answer []byte, plugin string) {
		arg := append([]byte(user), 0, byte(len(answer)))
		arg = append(append(arg, answer...), "db2\x00"...)
		arg = append(appendUint16(arg, 45), plugin...)
		c.command(comChangeUser, append(arg, 0)...)
	}
	// With the account's plugin at once, and over a switch.
	h := nativeAnswer(c.salt, "secret")
	change("native", h, PluginNative)
	c.expect(0)
	change("native", nil, PluginCachingSHA2)
	if sw := c.expect(0xfe); !bytes.Contains(sw, []byte(PluginNative)) {
		t.Fatalf("%q", sw)
	}
	c.send(h)
	c.expect(0)
	c.command(comQuery, []byte("whoami")...)
	c.expect(3)
	for range 3 {
		c.expect(3)
	}
	c.expect(0xfe)
	if row := c.expect(6); string(row) != "\x06native\x03db2\x00" {
		t.Errorf("%q", row)
	}
	c.expect(0xfe)
	if n := b.closed.Load(); n != 2 {
		t.Errorf("%d sessions closed, want 2", n)
	}
	change("native", nativeAnswer(c.salt, "wrong"), PluginNative)
	c.expectError(1045)
	c.expectEnd()
}

func nativeAnswer(salt []byte, password string) []byte {
	once := nativeOnce(password)
	twice := nativeHash(password)
	return xorSHA1(salt, twice[:], once)
}

// sha2Answer is the first answer of caching_sha2_password.
func sha2Answer(salt []byte, password string) []byte {
	digest, once := sha2Digest(password), sha256.Sum256([]byte(password))
	h := sha256.Sum256(append(digest[:], salt...))
	for i := range h {
		h[i] ^= once[i]
	}
	return h[:]
}

func TestQueryAttributes(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	c := dialRaw(t, addr, capQueryAttributes)
	c.command(comQuery, []byte("\x00\x01length")...)
	c.expect(0)
	c.command(comQuery, []byte("\x02\x01\x02\x01\x0f\x00\x03key\x08\x00\x01n\x05valuelength")...)
	if b := c.expect(0); b[1] != 6 {
		t.Errorf("%x", b)
	}
	for _, bad := range []string{"", "\x01", "\x01\x01", "\x01\x01\x00\x00", "\x01\x01\x00\x01\x0f\x00", "\x01\x01\x00\x01\x0f\x00\x01k\xfc", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		c.command(comQuery, []byte(bad)...)
		c.expectError(1835)
	}
	c.command(comStmtPrepare, []byte("echo ?")...)
	id := c.prepared(1, 0)
	// One parameter of the statement and one attribute.
	c.command(comStmtExecute, append(appendUint32(nil, id), unhex("08 01000000 02 00 01 0100 00 0f00 016b 2a 0176")...)...)
	c.expect(1)
	c.expect(3)
	c.expect(0xfe)
	wantHex(t, "row", c.expect(0), "00 00 2a00000000000000")
	c.expect(0xfe)
}

func TestSessionTrack(t *testing.T) {
	_, b, addr := startServer(t, Config{})
	c := dialRaw(t, addr, capSessionTrack)
	c.command(comQuery, []byte("use x")...)
	wantHex(t, "OK", c.expect(0), "00 00 00 0240 0000 00 04 01 02 0178")
	c.command(comPing)
	wantHex(t, "OK", c.expect(0), "00 00 00 0200 0000")
	b.mu.Lock()
	for _, s := range b.sessions {
		s.changes = []StateChange{{}, {Name: "v", Value: "on"}}
	}
	b.mu.Unlock()
	c.command(comPing)
	wantHex(t, "OK", c.expect(0), "00 00 00 0240 0000 00 0b 02 02 0131 00 05 0176 026f6e")
}

func TestOldAndBrokenHandshakes(t *testing.T) {
	testflag.Normal(t)
	_, _, addr := startServer(t, Config{Limits: Limits{ConnectTimeout: 300 * time.Millisecond}})
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(capLongPassword, "root", nil, "", ""))
	c.expectError(1043)
	c.expectEnd()
	c = dialGreeting(t, addr)
	c.send([]byte{1, 2, 3})
	c.expectError(1043)
	c = dialGreeting(t, addr)
	putHeader(c.salt, 1<<20, 1)
	_, _ = c.nc.Write(c.salt[:4])
	c.seq = 2
	c.expectError(1153)
	// Without PLUGIN_AUTH the answer is mysql_native_password's.
	c = dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps&^capPluginAuth, "native", nativeAnswer(c.salt, "secret"), "d", ""))
	c.expect(0)
	c = dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps&^capPluginAuth, "sha", nativeAnswer(c.salt, "secret"), "d", ""))
	c.expectError(1251)
	// Half a handshake is closed in time.
	c = dialGreeting(t, addr)
	_, _ = c.nc.Write([]byte{40, 0})
	c.expectEnd()
	c = dialGreeting(t, addr)
	c.expectEnd()
}

func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	s, _, addr := startServer(t, Config{Limits: Limits{Connections: 2}})
	a, b := dialRaw(t, addr, 0), dialRaw(t, addr, 0)
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "native", nativeAnswer(c.salt, "secret"), "d", PluginNative))
	c.expectError(1040)
	c.expectEnd()
	waitFor(t, func() bool { return s.Connections() == 2 })
	d := dialRaw(t, addr, 0) // root has one place more
	c = dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "root", nil, "d", PluginCachingSHA2))
	c.expectError(1040)
	c.expectEnd()
	for _, c := range []*rawClient{a, b, d} {
		c.command(comPing)
		c.expect(0)
	}
}

// waitFor polls a condition that another goroutine brings about.
func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition does not come about")
		}
	}
}

func TestDisconnectCancels(t *testing.T) {
	s, b, addr := startServer(t, Config{})
	c := dialRaw(t, addr, 0)
	c.command(comQuery, []byte("block")...)
	<-b.started
	c.nc.Close()
	if err := <-b.ended; !errors.Is(err, errClientGone) {
		t.Errorf("cause %v", err)
	}
	// The client closes after bytes that have not been read.
	c = dialRaw(t, addr, 0)
	c.command(comQuery, []byte("block")...)
	<-b.started
	c.command(comQuit)
	c.nc.Close()
	<-b.ended
	// In the middle of a result.
	c = dialRaw(t, addr, 0)
	c.command(comQuery, []byte("endless")...)
	c.expect(5)
	c.nc.Close()
	<-b.ended
	waitFor(t, func() bool { return s.Connections() == 0 && b.closed.Load() == 3 })
}

func TestKill(t *testing.T) {
	_, b, addr := startServer(t, Config{})
	admin := dialRaw(t, addr, 0) // connection 1
	idle := dialRaw(t, addr, 0)
	busy := dialRaw(t, addr, 0)
	busy.command(comQuery, []byte("block")...)
	<-b.started
	admin.command(comProcessKill, 2, 0, 0, 0)
	admin.expect(0)
	idle.expectEnd()
	admin.command(comProcessKill, 3, 0, 0, 0)
	admin.expect(0)
	busy.expectError(1317)
	busy.expectEnd()
	admin.command(comProcessKill, 77, 0, 0, 0)
	admin.expectError(1094)
}

func TestPanic(t *testing.T) {
	_, b, addr := startServer(t, Config{})
	other := dialRaw(t, addr, 0)
	c := dialRaw(t, addr, 0)
	c.command(comQuery, []byte("panic")...)
	c.expectError(1105)
	c.expectEnd()
	other.command(comPing)
	other.expect(0)
	waitFor(t, func() bool { return b.closed.Load() == 1 })
}

func TestShutdown(t *testing.T) {
	s, b, addr := startServer(t, Config{})
	idle, busy := dialRaw(t, addr, 0), dialRaw(t, addr, 0)
	busy.command(comQuery, []byte("block")...)
	<-b.started
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Shutdown(ctx) }()
	idle.expectEnd()
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("a connection is accepted during shutdown")
	}
	cancel()
	busy.expectError(1053)
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if cause := <-b.ended; !errors.Is(cause, sqlerr.ServerShutdown()) {
		t.Error(cause)
	}
}

// TestPanicInConnect is one before there is a session.
func TestPanicInConnect(t *testing.T) {
	s, _, addr := startServer(t, Config{})
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "root", nil, "panic", PluginCachingSHA2))
	c.expectError(1105)
	c.expectEnd()
	waitFor(t, func() bool { return s.Connections() == 0 })
}

func TestLoopbackOnly(t *testing.T) {
	s, _ := fuzzServer()
	for _, tc := range []struct {
		addr  net.IP
		first byte
	}{{net.IPv4(127, 1, 2, 3), 0}, {net.ParseIP("::1"), 0}, {net.IPv4(10, 0, 0, 1), 0xff}, {net.ParseIP("fe80::1"), 0xff}} {
		login := (&rawClient{}).loginPacket(rawCaps, "root", nil, "d", PluginCachingSHA2)
		nc := &scriptConn{addr: tc.addr, in: bytes.NewReader(append([]byte{byte(len(login)), 0, 0, 1}, login...))}
		c := newConn(s, nc, newEntrance(false))
		c.serve()
		s.ended(c)
		out := nc.out.Bytes()
		if answer := out[headerLen+int(out[0]):]; answer[headerLen] != tc.first {
			t.Errorf("%s: %q", tc.addr, answer)
		}
	}
}

// TestWriteTimeout has a client that takes nothing of its result.
func TestWriteTimeout(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, b, addr := startServer(t, Config{})
	b.write.Store(1)
	c := dialRaw(t, addr, 0)
	c.command(comQuery, []byte("endless")...)
	if err := <-b.ended; !errors.Is(err, errClientGone) {
		t.Error(err)
	}
	waitFor(t, func() bool { return s.Connections() == 0 })
}

func TestWaitTimeout(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	_, b, addr := startServer(t, Config{})
	b.wait.Store(1)
	c := dialRaw(t, addr, 0)
	c.expectEnd()
}

func TestManyIdleConnections(t *testing.T) {
	s, _, addr := startServer(t, Config{Limits: Limits{Connections: 2000}})
	const n = 1000
	clients := make([]*rawClient, n)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			for i := k; i < n; i += 8 {
				clients[i] = dialRaw(t, addr, 0)
			}
		})
	}
	wg.Wait()
	if s.Connections() != n {
		t.Errorf("%d connections", s.Connections())
	}
	for _, c := range clients {
		c.command(comPing)
		c.expect(0)
		c.nc.Close()
	}
}

// TestBusyConnections has 200 connections work at once, a few of which vanish.
func TestBusyConnections(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, b, addr := startServer(t, Config{})
	var wg sync.WaitGroup
	for i := range 200 {
		c := dialRaw(t, addr, capDeprecateEOF)
		wg.Go(func() {
			defer c.nc.Close()
			for range 20 {
				c.command(comQuery, []byte("rows 100")...)
				c.expect(5)
				for range 5 + 100 {
					if _, err := c.read(); err != nil {
						t.Error(err)
						return
					}
				}
				c.expect(0xfe)
			}
			if i%10 == 0 {
				c.command(comQuery, []byte("block")...)
				<-b.started
			}
		})
	}
	wg.Wait()
	waitFor(t, func() bool { return s.Connections() == 0 && b.closed.Load() == 200 })
}

func TestPipelining(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	c := dialRaw(t, addr, 0)
	var out []byte
	for range 1000 {
		out = append(out, 1, 0, 0, 0, comPing)
	}
	go func() { _, _ = c.nc.Write(out) }()
	for range 1000 {
		c.seq = 1
		c.expect(0)
	}
}

func TestPasswords(t *testing.T) {
	if got := HashNative("secret"); got != "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7" {
		t.Error(got)
	}
	// The scheme's published test vector, with 5000 rounds.
	if got := sha256Crypt([]byte("Hello world!"), []byte("saltstring"), 5000); got != "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5" {
		t.Error(got)
	}
	for _, p := range []string{"", "x", "secret", string(pattern(100))} {
		for _, plugin := range []string{PluginNative, PluginCachingSHA2} {
			stored, ok := HashPassword(plugin, p)
			verify := VerifyNative
			if plugin == PluginCachingSHA2 {
				verify = VerifyCachingSHA2
			}
			if !ok || !ValidAuthString(plugin, stored) || !verify(stored, p) || verify(stored, p+"y") {
				t.Errorf("%s %q: %q", plugin, p, stored)
			}
		}
	}
	digest := sha2Digest("secret")
	salt := randomText(20)
	h := sha2Answer(salt, "secret")
	if !checkSHA2(salt, h, digest) || checkSHA2(salt, h[:31], digest) {
		t.Error("the fast answer of caching_sha2_password")
	}
	if ValidAuthString(PluginNative, "*12") || ValidAuthString("dialog", "") || ValidAuthString(PluginCachingSHA2, "$A$005$x") {
		t.Error("malformed stored forms are taken")
	}
}
