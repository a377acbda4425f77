package tikvkv

import (
	"context"

	"github.com/sqlots/sqlots/storage"
)

// Spans are fetched at the same time: manyFirst at first, then as many as have about
// manyBytes, from manyLeast to manyMost.
const (
	manyFirst = 32
	manyLeast = 16
	manyMost  = 256
	manyBytes = 8 << 20
)

// manyScanner implements storage.SpansScanner: the next spans are fetched while the caller
// reads one.
type manyScanner struct {
	r      reader
	spans  []storage.Span // not opened yet
	opts   storage.ScanOptions
	window int
	open   []*scanner
	at     int // the span of open[0]
	bytes  int // of the spans before it
}

var _ storage.ManyScanner = reader{}

// ScanMany implements storage.ManyScanner.
func (r reader) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	if r.ts == 0 && len(spans) > 0 {
		var err error
		if r.ts, err = r.s.readTS(ctx); err != nil {
			return nil, err
		}
	}
	m := &manyScanner{r: r, spans: spans, opts: opts, window: manyFirst}
	m.bound()
	return m, nil
}

// bound keeps the window within the limit that the caller has named.
func (m *manyScanner) bound() {
	if m.opts.Limit > 0 {
		m.window = min(m.window, m.opts.Limit)
	}
}

// adapt sets the window by the size of the spans that were read.
func (m *manyScanner) adapt() {
	if m.at >= manyLeast {
		m.window = min(max(manyBytes/max(m.bytes/m.at, 1), manyLeast), manyMost)
		m.bound()
	}
}

// fill has spans fetched up to the window.
func (m *manyScanner) fill(ctx context.Context) error {
	for len(m.open) < m.window && len(m.spans) > 0 {
		sc, err := m.r.scan(ctx, m.spans[0], m.opts)
		if err != nil {
			return err
		}
		m.spans = m.spans[1:]
		sc.fetchNext()
		m.open = append(m.open, sc)
	}
	return nil
}

// Visit implements storage.SpansScanner.
func (m *manyScanner) Visit(ctx context.Context, fn func(i int, key, value []byte) bool) (bool, error) {
	visit := func(key, value []byte) bool {
		m.bytes += len(key) + len(value)
		return fn(m.at, key, value)
	}
	for {
		if err := m.fill(ctx); err != nil {
			return false, err
		}
		if len(m.open) == 0 {
			return true, nil
		}
		done, err := m.open[0].Visit(ctx, visit)
		if err != nil || !done {
			return false, err
		}
		m.open, m.at = m.open[1:], m.at+1
		m.adapt()
	}
}

// Close implements storage.SpansScanner.
func (m *manyScanner) Close() error {
	for _, sc := range m.open {
		sc.stop()
	}
	m.open, m.spans = nil, nil
	return nil
}
