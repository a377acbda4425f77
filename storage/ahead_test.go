package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
)

// countedReader counts scans.
type countedReader struct {
	storage.Reader
	scans int
}

func (c *countedReader) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	c.scans++
	return c.Reader.Scan(ctx, span, opts)
}

func spanOf(start, end string) storage.Span {
	return storage.Span{Start: []byte(start), End: []byte(end)}
}

func scanText(t *testing.T, r storage.Reader, span storage.Span, opts storage.ScanOptions) string {
	t.Helper()
	scan, err := r.Scan(t.Context(), span, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer scan.Close()
	var out []string
	for done := false; !done; {
		done, err = scan.Visit(t.Context(), func(key, value []byte) bool {
			out = append(out, string(key)+"="+string(value))
			return len(out)%2 == 0
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(out, " ")
}

// TestAhead: scans of spans that were read give the same as others, and take no call.
func TestAhead(t *testing.T) {
	s := memkv.New(memkv.Options{})
	defer s.Close()
	txn, err := s.Begin(t.Context(), storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if err := txn.Put(t.Context(), fmt.Appendf(nil, "k%d", i), fmt.Appendf(nil, "v%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := txn.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	base := &countedReader{Reader: s.Latest()}
	a := storage.NewAhead(base)
	spans := []storage.Span{spanOf("k1", "k4"), spanOf("x", "y"), spanOf("k5", "k6"), spanOf("k6", "k9")}
	if err := a.Read(t.Context(), spans, 5); err != nil {
		t.Fatal(err)
	}
	if !a.Has(spans[0]) || !a.Has(spans[1]) || !a.Has(spans[2]) || a.Has(spans[3]) || a.Has(spanOf("k1", "k3")) {
		t.Fatal("the spans that were read to their ends are held, and no others")
	}
	base.scans = 0
	for i, want := range []string{"k1=v1 k2=v2 k3=v3", "", "k5=v5", "k6=v6 k7=v7 k8=v8"} {
		if got := scanText(t, a, spans[i], storage.ScanOptions{}); got != want || (base.scans == 0) != (i < 3) {
			t.Errorf("span %d: %s, %d scans", i, got, base.scans)
		}
	}
	if got := scanText(t, a, spans[0], storage.ScanOptions{KeyOnly: true}); got != "k1= k2= k3=" {
		t.Error(got)
	}
	if got := scanText(t, a, spans[0], storage.ScanOptions{Reverse: true}); got != "k3=v3 k2=v2 k1=v1" {
		t.Error(got)
	}
	a.Forget()
	if a.Has(spans[0]) || (*storage.Ahead)(nil).Has(spans[0]) {
		t.Error("forgotten spans are held")
	}
}
