package kvread

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
)

// MaxPage is the most rows that a Page reads.
const MaxPage = 256

// Page reads the first rows of one span of a table or of an index that covers
// the query: a page of a queue or of a timeline. It does what Source.Scan does,
// without what that makes for each statement. It may be used by many at once.
type Page struct {
	ranges  *ranges.Set
	reverse bool
	plan    *decode.Plan
	space   keySpace
	out     []int
	heat    *metrics.Heat // nil: of entries
	table   uint64
	pool    sync.Pool // of *PageReader
}

// NewPage is a page of n with the columns out of what n reads; nil when n is not
// of this kind. The limit is given to Open. heat takes a sample of the rows.
func NewPage(c *decode.Codecs, heat *metrics.Heat, n *physical.Scan, out []int) *Page {
	a, ok := n.Access.(*physical.RangeScan)
	if !ok || n.Distinct || n.Latest || n.Table.Derived != nil || len(n.Filter) > 0 {
		return nil
	}
	k, err := c.Table(n.Table)
	if err != nil {
		return nil
	}
	p := &Page{ranges: a.Ranges, reverse: n.Reverse, out: out, table: uint64(n.Table.ID)}
	if a.Index == nil {
		p.heat = heat
	}
	if p.plan, err = k.Plan(a.Index, n.Read, nil, n.Attributes); err != nil || len(p.plan.Virtual) > 0 {
		return nil
	}
	if p.space, err = newKeySpace(k.Codec, a.Index); err != nil {
		return nil
	}
	return p
}

// Reader takes a reader of the page, which its Close gives back.
func (p *Page) Reader() *PageReader {
	if r, ok := p.pool.Get().(*PageReader); ok {
		return r
	}
	r := &PageReader{page: p}
	r.rows.Of(p.heat, p.table)
	r.sieve.Prepare(p.plan)
	r.batch.Cols = make([]*vec.Vec, len(p.out))
	for i, o := range p.out {
		r.batch.Cols[i] = r.sieve.Batch.Cols[o]
	}
	r.fn = r.visit
	return r
}

// PageReader is one use of a Page: Open, Rows, Close.
type PageReader struct {
	page  *Page
	sieve decode.Sieve
	batch vec.Batch
	scan  storage.Scanner
	fn    func(key, val []byte) bool
	err   error
	rows  metrics.Accesses // of a page of rows, not of entries
	// Memory of the last use.
	values ranges.Room
	span   storage.Span
	closed storage.Scanner
	// lasting: what is visited stays unchanged, and rows may be plain.
	lasting bool
}

// Open fixes the state that is read. ok is false when the page cannot be read
// in this way: nothing has been done then.
func (r *PageReader) Open(ctx context.Context, ec *expr.Ctx, reader storage.Reader, loc *time.Location, limit int) (ok bool, err error) {
	p := r.page
	list, err := p.ranges.SpansIn(ec, &r.values)
	if err != nil || len(list) != 1 {
		return false, nil
	}
	zone := decode.NewZone(loc)
	in, widened := p.space.shorten(list[0], &zone)
	if widened {
		return false, nil
	}
	r.sieve.SetUp(ec, zone)
	span, some := p.space.span(in, &r.sieve.Zone, &r.span)
	r.sieve.Begin(limit)
	if !some {
		return true, nil
	}
	r.scan, err = reader.Scan(ctx, span, storage.ScanOptions{Limit: limit, KeyOnly: !p.plan.NeedValue, Reverse: p.reverse, Reuse: r.closed})
	r.closed = nil
	l, ok := r.scan.(storage.LastingScanner)
	r.lasting = p.plan.Plain && ok && l.Lasting()
	return err == nil, err
}

func (r *PageReader) visit(key, val []byte) bool {
	if r.rows.Next() {
		r.rows.Note(key, false)
	}
	s := &r.sieve
	if r.lasting && s.Dec.Plain(key, val, s.Batch.N) {
		s.Batch.N++
		s.Bytes += len(val)
		return !s.Full()
	}
	if r.err = s.Add(key, val); r.err != nil {
		return false
	}
	return !s.Full()
}

// Rows reads the page; nil without rows. It is valid until Close, which makes
// its memory that of another: the consumer has to copy what it keeps. ok is
// false when values have to be fetched from elsewhere or the rows are too
// large for one batch.
func (r *PageReader) Rows(ctx context.Context) (b *vec.Batch, ok bool, err error) {
	if r.scan == nil {
		return nil, true, nil
	}
	s := &r.sieve
	done, err := r.scan.Visit(ctx, r.fn)
	switch {
	case err != nil:
		return nil, false, err
	case r.err != nil:
		return nil, false, r.err
	case !done && s.Batch.N < s.Size, len(s.Dec.Cells) > 0, len(s.Dec.Blocks) > 0:
		return nil, false, nil
	case s.Batch.N == 0:
		return nil, true, nil
	}
	s.Hold()
	s.Localise()
	r.batch.N = s.Batch.N
	return &r.batch, true, nil
}

// maxPooledArena is the size up to which the memory of a column is kept.
const maxPooledArena = 32 << 10

// Close ends the use.
func (r *PageReader) Close() error {
	var err error
	if r.scan != nil {
		err = r.scan.Close()
		r.closed, r.scan = r.scan, nil
	}
	s := &r.sieve
	s.Expr, s.Zone, r.err = nil, decode.Zone{}, nil
	if r.lasting { // let go of the memory of others
		for i := range s.Vecs {
			clear(s.Vecs[i].Bytes)
		}
	}
	keep := cap(s.Dec.Cells) == 0 && cap(s.Dec.Blocks) == 0 &&
		!slices.ContainsFunc(s.Vecs, func(v vec.Vec) bool { return v.ArenaCap() > maxPooledArena })
	if keep {
		r.page.pool.Put(r)
	}
	return err
}
