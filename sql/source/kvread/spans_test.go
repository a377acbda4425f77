package kvread

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/sqlots/sqlots/storage"
)

// TestNormalise: spans that are normalised are apart and in order, and have the keys that
// they had.
func TestNormalise(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	has := func(list []storage.Span, key []byte) int {
		n := 0
		for _, s := range list {
			if bytes.Compare(key, s.Start) >= 0 && (s.End == nil || bytes.Compare(key, s.End) < 0) {
				n++
			}
		}
		return n
	}
	for range 2000 {
		list := make([]storage.Span, 1+r.Intn(5))
		for i := range list {
			from := byte(r.Intn(20))
			list[i].Start = []byte{from}
			if r.Intn(8) > 0 {
				list[i].End = []byte{from + 1 + byte(r.Intn(6))}
			}
		}
		got := normalise(append([]storage.Span(nil), list...))
		for k := range byte(30) {
			key := []byte{k}
			if n := has(got, key); n > 1 || (n == 1) != (has(list, key) > 0) {
				t.Fatalf("%v became %v: key %d is in %d of them, and was in %d", list, got, k, n, has(list, key))
			}
		}
		for i := range got[1:] {
			if bytes.Compare(got[i].End, got[i+1].Start) >= 0 || got[i].End == nil {
				t.Fatalf("%v became %v: %d and the next are not apart", list, got, i)
			}
		}
	}
}
