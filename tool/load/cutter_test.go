package load

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
)

// FuzzCutter: pieces hold the whole stream, and end where records do.
func FuzzCutter(f *testing.F) {
	f.Add([]byte("a,\"b\n\"\"c\"\nd\n"), 1, 3)
	f.Add([]byte("a\\\nb\n\\\\\nc"), 2, 4)
	f.Fuzz(func(t *testing.T, data []byte, kind, size int) {
		c := []cutter{{}, {quote: '"'}, {escape: '\\'}}[uint(kind)%3]
		var ends []int // of records
		n := 0
		records(data, c, func(_ int, rec []byte) bool {
			n += len(rec)
			ends = append(ends, n)
			return true
		})
		if n != len(data) {
			t.Fatalf("records of %d bytes in %d", n, len(data))
		}
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var read atomic.Int64
		in, err := openInput(name, "none", &read)
		if err != nil {
			t.Fatal(err)
		}
		defer in.close()
		skip := 0
		if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
			skip = 3
		}
		at := skip
		for {
			p, err := in.piece(c, 1+int(uint(size)%64), nil)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(p, data[at:at+len(p)]) {
				t.Fatal("other bytes")
			}
			at += len(p)
			if skip == 0 && !slices.Contains(ends, at) {
				t.Fatalf("a piece ends at %d within a record: ends %v", at, ends)
			}
		}
		if at != len(data) {
			t.Fatalf("pieces of %d bytes in %d", at, len(data))
		}
	})
}
