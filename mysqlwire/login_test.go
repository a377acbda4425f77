package mysqlwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
)

// flood connects again and again over n sockets at a time, until the test stops
// it. A socket sends what say has, and waits until the server closes it.
func flood(t *testing.T, addr string, n int, say []byte) (stop func() (connects int64)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var connects atomic.Int64
	for range n {
		wg.Go(func() {
			var d net.Dialer
			for ctx.Err() == nil {
				nc, err := d.DialContext(ctx, "tcp", addr)
				if err != nil {
					continue
				}
				connects.Add(1)
				ended := context.AfterFunc(ctx, func() { nc.Close() })
				_, _ = nc.Write(say)
				_, _ = io.Copy(io.Discard, nc)
				ended()
				nc.Close()
			}
		})
	}
	stop = func() int64 {
		cancel()
		wg.Wait()
		return connects.Load()
	}
	t.Cleanup(func() { stop() })
	return stop
}

// inUse is the memory of heap and stacks after a collection.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// tryLogin logs in, in one attempt.
func tryLogin(addr, user string) error {
	nc, err := mysql.MySQLDriver{}.Open(user + "@tcp(" + addr + ")/d?timeout=20s&readTimeout=20s")
	if err != nil {
		return err
	}
	return nc.Close()
}

// TestFloods: sockets that do not log in, more than there may be connections,
// keep nobody out, and neither connections nor goroutines pile up.
func TestFloods(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	login := (&rawClient{}).loginPacket(rawCaps, "nobody", make([]byte, 20), "d", PluginCachingSHA2)
	for name, say := range map[string][]byte{
		"silent":           nil,
		"half a packet":    {40, 0},
		"no second answer": append([]byte{byte(len(login)), 0, 0, 1}, login...),
	} {
		t.Run(name, func(t *testing.T) {
			const seats = 40
			s, _, addr := startServer(t, Config{Limits: Limits{Connections: seats}})
			PrepareLoginKey()
			before, memory := runtime.NumGoroutine(), inUse()
			const sockets = 400
			lasts := testflag.Pick(time.Second, time.Second, 3*time.Second)
			stop := flood(t, addr, sockets, say)
			began, most, slowest, logins := time.Now(), 0, time.Duration(0), 0
			for ; time.Since(began) < lasts; logins++ {
				at := time.Now()
				if err := tryLogin(addr, "sha:secret"); err != nil {
					t.Fatalf("login %d: %v", logins, err)
				}
				slowest = max(slowest, time.Since(at))
				most = max(most, s.Connections())
			}
			goroutines := runtime.NumGoroutine() - before - 2*sockets
			n := stop()
			t.Logf("%d sockets, %d logins, the slowest took %v; at most %d connections, %d goroutines", n, logins, slowest, most, goroutines)
			if most > 8*64+seats {
				t.Errorf("%d connections at once", most)
			}
			if goroutines > 8*64+seats {
				t.Errorf("%d goroutines", goroutines)
			}
			waitFor(t, func() bool { return s.Connections() == 0 && runtime.NumGoroutine() <= before+2 })
			if more := inUse() - memory; more > 16<<20 {
				t.Errorf("%d bytes more than before", more)
			}
		})
	}
}

// TestStorm: clients that all come at once are not taken for a flood.
func TestStorm(t *testing.T) {
	_, _, addr := startServer(t, Config{})
	var wg sync.WaitGroup
	for range 400 {
		wg.Go(func() {
			if err := tryLogin(addr, "native:secret"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestFirstByte: who says nothing is sent away long before the time for a login
// ends, and the others when it ends.
func TestFirstByte(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	_, _, addr := startServer(t, Config{Limits: Limits{ConnectTimeout: 5 * time.Second}})
	for _, say := range []struct {
		bytes []byte
		after time.Duration
	}{{nil, firstByteTimeout}, {[]byte{40, 0}, 5 * time.Second}} {
		t.Run(fmt.Sprint(len(say.bytes), " bytes"), func(t *testing.T) {
			t.Parallel()
			c := dialGreeting(t, addr)
			_, _ = c.nc.Write(say.bytes)
			began := time.Now()
			c.expectEnd()
			if d := time.Since(began); d < say.after-time.Second || d > say.after+time.Second {
				t.Errorf("the end comes after %v, want %v", d, say.after)
			}
		})
	}
}

// TestCrowd compares a crowd with a list.
func TestCrowd(t *testing.T) {
	rng := rand.New(rand.NewPCG(testflag.Seed(1), 0))
	var w crowd
	w.init(0, 1)
	var all []*conn // oldest first
	for range testflag.Rounds(3000, 10000, 100000) {
		switch {
		case rng.IntN(2) == 0 && len(all) < 40:
			c := &conn{visitor: visitor{address: addressOf(netip.AddrFrom4([4]byte{10, 0, 0, byte(rng.IntN(6))}))}}
			w.add(c, 0)
			all = append(all, c)
		case len(all) > 0:
			i := rng.IntN(len(all))
			w.remove(all[i])
			all = append(all[:i], all[i+1:]...)
		}
		if w.n != len(all) {
			t.Fatalf("%d connections, want %d", w.n, len(all))
		}
		if len(all) == 0 {
			continue
		}
		counts, oldest := map[netip.Prefix]int{}, map[netip.Prefix]*conn{}
		for _, c := range all {
			if counts[c.address]++; oldest[c.address] == nil {
				oldest[c.address] = c
			}
		}
		largest := 0
		for _, n := range counts {
			largest = max(largest, n)
		}
		if c := w.first(); counts[c.address] != largest || oldest[c.address] != c {
			t.Fatalf("%v leaves first, of which there are %d: %v", c.address, counts[c.address], counts)
		}
	}
}

// remoteListener gives connections the addresses that the test says.
type remoteListener struct {
	net.Listener
	ip chan net.IP
}

type remoteConn struct {
	*net.TCPConn
	addr net.Addr
}

func (c remoteConn) RemoteAddr() net.Addr { return c.addr }

func (l *remoteListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return remoteConn{nc.(*net.TCPConn), &net.TCPAddr{IP: <-l.ip, Port: 9}}, nil
}

// TestAddressShare: one address has its share of the connections, and leaves the
// others to the others.
func TestAddressShare(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, b, _ := startServer(t, Config{Limits: Limits{Connections: 10, AddressShare: 25}})
	b.accounts["root"] = Account{User: "root", Plugin: PluginNative, AuthString: HashNative("secret"), Administrator: true}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &remoteListener{inner, make(chan net.IP, 1)}
	go func() { _ = s.Serve(l) }()
	from := func(ip, user string, number uint16) *rawClient {
		t.Helper()
		l.ip <- net.ParseIP(ip)
		c := dialGreeting(t, inner.Addr().String())
		c.send(c.loginPacket(rawCaps, user, nativeAnswer(c.salt, "secret"), "d", PluginNative))
		if number != 0 {
			c.expectError(number)
			return nil
		}
		c.expect(0)
		return c
	}
	first := from("10.0.0.1", "native", 0)
	from("10.0.0.1", "native", 0)
	from("10.0.0.1", "native", 0)
	from("10.0.0.1", "native", 1040)
	from("10.0.0.1", "root", 0)
	from("10.0.0.2", "native", 0)
	for range 3 {
		from("fd00:1:2:3::7", "native", 0)
	}
	from("fd00:1:2:3:4::1", "native", 1040)
	from("fd00:1:2:4::1", "native", 0)
	_ = first.nc.Close()
	waitFor(t, func() bool { return s.Connections() == 8 })
	from("10.0.0.1", "native", 1040) // root counts there too
	from("10.0.0.2", "native", 0)
	from("127.0.0.1", "native", 0)
	from("127.0.0.1", "native", 1040) // of all
}

// TestUserConnections is max_user_connections, also when a user changes.
func TestUserConnections(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, _, addr := startServer(t, Config{Limits: Limits{UserConnections: 2}})
	a := dialGreeting(t, addr)
	a.login("native", "secret")
	dialGreeting(t, addr).login("native", "secret")
	c := dialGreeting(t, addr)
	c.send(c.loginPacket(rawCaps, "native", nativeAnswer(c.salt, "secret"), "d", PluginNative))
	c.expectError(1203)
	c.expectEnd()
	for range 4 {
		dialRaw(t, addr, 0) // an administrator
	}
	change := func(c *rawClient, user string, number uint16) {
		t.Helper()
		answer := nativeAnswer(c.salt, "secret")
		b := append([]byte(user), 0, byte(len(answer)))
		b = append(append(b, answer...), "d\x00\xff\x00"+PluginNative+"\x00"...)
		c.command(comChangeUser, b...)
		if number != 0 {
			c.expectError(number)
			c.expectEnd()
			return
		}
		c.expect(0)
	}
	change(a, "native", 0)
	d := dialRaw(t, addr, 0)
	change(d, "native", 1203)
	waitFor(t, func() bool { return s.Connections() == 6 })
	s.SetLimits(Limits{UserConnections: 3})
	change(dialRaw(t, addr, 0), "native", 0)
}

// TestServeAdmin: administrators get in by their own address when all connections
// are taken, and others do not.
func TestServeAdmin(t *testing.T) {
	s, _, addr := startServer(t, Config{Limits: Limits{Connections: 2}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.ServeAdmin(l) }()
	admin := l.Addr().String()
	stop := flood(t, addr, 100, nil)
	defer stop()
	for range 3 { // one more than there are
		nc, err := mysql.MySQLDriver{}.Open("root@tcp(" + addr + ")/d")
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	if err := tryLogin(addr, "root"); err == nil {
		t.Error("a connection too many")
	}
	for range 3 {
		dialRaw(t, admin, 0)
	}
	c := dialGreeting(t, admin)
	c.send(c.loginPacket(rawCaps, "native", nativeAnswer(c.salt, "secret"), "d", PluginNative))
	c.expectError(1227)
	c.expectEnd()
}

// TestLongPassword: what MySQL does not take is not hashed.
func TestLongPassword(t *testing.T) {
	_, b, addr := startServer(t, Config{})
	for n, ok := range map[int]bool{256: true, 257: false} {
		password := strings.Repeat("x", n)
		stored := HashCachingSHA2(password, nil)
		b.accounts["long"] = Account{User: "long", Plugin: PluginCachingSHA2, AuthString: stored}
		if VerifyCachingSHA2(stored, password) != ok {
			t.Errorf("%d bytes: verified %t", n, !ok)
		}
		if _, made := HashPassword(PluginCachingSHA2, password); made != ok {
			t.Errorf("%d bytes: hashed %t", n, made)
		}
		a := attempt{user: "long", plugin: PluginCachingSHA2, password: password}
		if got := a.transcript(t, addr); strings.Contains(got, ":ff:") == ok {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
}

// TestTurns: no more hashes at a time than there are turns, however many want
// one, and who leaves does not wait.
func TestTurns(t *testing.T) {
	turns := make(turns, 2)
	var now, most atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := turns.run(t.Context(), func() {
				for n := now.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				time.Sleep(time.Millisecond)
				now.Add(-1)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 2 {
		t.Errorf("%d at a time", most.Load())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errClientGone)
	turns <- struct{}{}
	turns <- struct{}{}
	if err := turns.run(ctx, func() { t.Error("ran") }); !errors.Is(err, errClientGone) {
		t.Error(err)
	}
}

func TestFailures(t *testing.T) {
	var f failures
	f.init()
	here, there := addressOf(netip.MustParseAddr("10.0.0.1")), addressOf(netip.MustParseAddr("10.0.0.2"))
	key := f.key(here, "app")
	var got []time.Duration
	for range 14 {
		got = append(got, f.delay(key))
		f.add(key)
	}
	if want := "[0s 0s 0s 0s 0s 100ms 200ms 400ms 800ms 1.6s 3.2s 4s 4s 4s]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if f.delay(f.key(there, "app")) != 0 || f.delay(f.key(here, "other")) != 0 {
		t.Error("others wait too")
	}
	for i := range 2 * maxFailures {
		f.add(f.key(here, fmt.Sprint(i)))
	}
	if len(f.m) > maxFailures {
		t.Errorf("%d pairs are remembered", len(f.m))
	}
	f.add(key)
	f.m[key] = failure{n: 100, last: time.Now().Add(-forgetAfter - time.Second)}
	if d := f.delay(key); d != 0 {
		t.Errorf("after a long time %v", d)
	}
	f.add(key)
	if f.m[key].n != 1 {
		t.Error("old failures count")
	}
	f.forget(key)
	if _, ok := f.m[key]; ok {
		t.Error("a success ends the count")
	}
}

// TestWrongPasswords: guesses take longer and longer, also those that are broken
// off when the first answer was wrong, and hold nobody up meanwhile.
func TestWrongPasswords(t *testing.T) {
	testflag.Normal(t)
	var log testutil.Buffer
	s, b, addr := startServer(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	b.accounts["other"] = Account{User: "other", Plugin: PluginCachingSHA2, AuthString: HashCachingSHA2("secret", nil)}
	guess := attempt{user: "sha", plugin: PluginCachingSHA2, password: "wrong"}
	for range freeFailures {
		c := dialGreeting(t, addr)
		c.send(c.loginPacket(rawCaps, "sha", sha2Answer(c.salt, "wrong"), "d", PluginCachingSHA2))
		c.expect(authMore)
		c.nc.Close()
	}
	waitFor(t, func() bool { return s.Connections() == 0 })
	began := time.Now()
	guess.transcript(t, addr)
	guess.transcript(t, addr)
	if d := time.Since(began); d < 3*firstDelay || d > 3*time.Second {
		t.Errorf("two guesses take %v", d)
	}
	var wg sync.WaitGroup
	for range 4 * runtime.NumCPU() {
		wg.Go(func() { guess.transcript(t, addr) })
	}
	time.Sleep(50 * time.Millisecond)
	began = time.Now()
	if err := tryLogin(addr, "other:secret"); err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("another user's login takes %v", d)
	}
	wg.Wait()
	// Of many there are a few lines in the log, and their number.
	for i := range 3 * logLines {
		a := attempt{user: fmt.Sprint("guess", i), plugin: PluginNative, password: "wrong"}
		a.transcript(t, addr)
	}
	if n := strings.Count(log.String(), "access denied"); n != logLines {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
	s.log.endPeriod()
	if want := fmt.Sprintf("count=%d", 2+4*runtime.NumCPU()+2*logLines); !strings.Contains(log.String(), want) {
		t.Errorf("no %s in\n%s", want, log.String())
	}
}
