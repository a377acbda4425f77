package storage

import (
	"context"
	"errors"
)

// ManyScanner is a Reader that reads many short spans together, where one scan after the
// other would wait for another machine each time.
type ManyScanner interface {
	Reader
	// ScanMany opens a stream over spans, which may be in any order and overlap.
	// ScanOptions.Limit is of all of them together. A Txn may open a span when the
	// stream comes to it.
	ScanMany(ctx context.Context, spans []Span, opts ScanOptions) (SpansScanner, error)
}

// SpansScanner is a stream of the pairs of several spans, span after span in the order in
// which they were given. It belongs to one goroutine.
type SpansScanner interface {
	// Visit is Scanner.Visit; i is the number of the pair's span.
	Visit(ctx context.Context, fn func(i int, key, value []byte) bool) (done bool, err error)
	// Close releases the stream. It is idempotent.
	Close() error
}

// ScanMany opens a stream over spans: that of r if it is a ManyScanner, else the scans of
// the spans one by one.
func ScanMany(ctx context.Context, r Reader, spans []Span, opts ScanOptions) (SpansScanner, error) {
	if m, ok := r.(ManyScanner); ok {
		return m.ScanMany(ctx, spans, opts)
	}
	return ScanEach(r, spans, opts), nil
}

// ScanEach is a stream that opens the scans of spans one by one, when it comes to them.
func ScanEach(r Reader, spans []Span, opts ScanOptions) SpansScanner {
	return &eachScanner{r: r, spans: spans, opts: opts, at: -1}
}

type eachScanner struct {
	r     Reader
	spans []Span
	opts  ScanOptions
	at    int     // the span of scan
	scan  Scanner // nil between spans
}

// Visit implements SpansScanner.
func (e *eachScanner) Visit(ctx context.Context, fn func(i int, key, value []byte) bool) (bool, error) {
	visit := func(key, value []byte) bool { return fn(e.at, key, value) }
	for {
		if e.scan == nil {
			if e.at+1 >= len(e.spans) {
				return true, nil
			}
			var err error
			if e.scan, err = e.r.Scan(ctx, e.spans[e.at+1], e.opts); err != nil {
				e.scan = nil
				return false, err
			}
			e.at++
		}
		done, err := e.scan.Visit(ctx, visit)
		if err != nil || !done {
			return false, err
		}
		if err := e.closeScan(); err != nil {
			return false, err
		}
	}
}

func (e *eachScanner) closeScan() error {
	if e.scan == nil {
		return nil
	}
	scan := e.scan
	e.scan, e.opts.Reuse = nil, scan
	return scan.Close()
}

// Close implements SpansScanner.
func (e *eachScanner) Close() error {
	e.spans = nil
	return e.closeScan()
}

// OneScanner is a SpansScanner whose reader does not need the numbers of spans.
type OneScanner struct{ SpansScanner }

var _ Scanner = OneScanner{}

// Visit implements Scanner.
func (o OneScanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	return o.SpansScanner.Visit(ctx, func(_ int, key, value []byte) bool { return fn(key, value) })
}

// VisitAll calls fn with all pairs of a stream over spans, until it returns an error, and
// closes the stream.
func VisitAll(ctx context.Context, s SpansScanner, fn func(i int, key, value []byte) error) error {
	var bad error
	_, err := s.Visit(ctx, func(i int, key, value []byte) bool {
		bad = fn(i, key, value)
		return bad == nil
	})
	return errors.Join(bad, err, s.Close())
}
