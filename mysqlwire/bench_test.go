package mysqlwire

import (
	"io"
	"net"
	"testing"
)

// BenchmarkSelect1 is the round trip of a canned result over loopback.
func BenchmarkSelect1(b *testing.B) {
	_, _, addr := startServer(b, Config{})
	c := dialRaw(b, addr, capDeprecateEOF)
	query := append([]byte{9, 0, 0, 0, comQuery}, "SELECT 1"...)
	in := make([]byte, 4096)
	// The answer's length is fixed: read it once packet by packet.
	size := answerSize(b, c, query)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := c.nc.Write(query); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c.nc, in[:size]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSelect1Parallel is the same over many connections.
func BenchmarkSelect1Parallel(b *testing.B) {
	_, _, addr := startServer(b, Config{})
	query := append([]byte{9, 0, 0, 0, comQuery}, "SELECT 1"...)
	size := answerSize(b, dialRaw(b, addr, capDeprecateEOF), query)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		c := dialRaw(b, addr, capDeprecateEOF)
		in := make([]byte, size)
		for pb.Next() {
			if _, err := c.nc.Write(query); err != nil {
				b.Error(err)
				return
			}
			if _, err := io.ReadFull(c.nc, in); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkLogin is a connection from its first byte to its end, for an account
// without password, and for ones of either plugin.
func BenchmarkLogin(b *testing.B) {
	_, _, addr := startServer(b, Config{})
	for _, user := range []string{"root", "native", "sha"} {
		b.Run(user, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					b.Fatal(err)
				}
				c := greeted(b, nc)
				c.login(user, "secret")
				_ = nc.Close()
			}
		})
	}
}

func answerSize(b *testing.B, c *rawClient, query []byte) int {
	b.Helper()
	if _, err := c.nc.Write(query); err != nil {
		b.Fatal(err)
	}
	size := 0
	c.seq = 1
	for {
		p, err := c.read()
		if err != nil {
			b.Fatal(err)
		}
		size += headerLen + len(p)
		if p[0] == 0xfe {
			return size
		}
	}
}

func benchmarkRows(b *testing.B, binary bool) {
	s, _ := fuzzServer()
	c := newConn(s, discardConn{}, newEntrance(false))
	c.caps = capProtocol41 | capDeprecateEOF
	batch := streamBatch()
	b.ReportAllocs()
	for done := 0; done < b.N; {
		c.result.reset(binary)
		c.result.h, c.result.state = streamHeader, resultRows
		n := min(b.N-done, batch.N)
		part := *batch
		part.Truncate(n)
		if err := c.result.Batch(&part); err != nil {
			b.Fatal(err)
		}
		done += n
	}
}

// The unit of these is a row of five columns.
func BenchmarkTextRow(b *testing.B)   { benchmarkRows(b, false) }
func BenchmarkBinaryRow(b *testing.B) { benchmarkRows(b, true) }

type discardConn struct{ net.Conn }

func (discardConn) Write(p []byte) (int, error) { return len(p), nil }
func (discardConn) RemoteAddr() net.Addr        { return &net.TCPAddr{} }
