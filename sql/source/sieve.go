package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// sieve builds batches: pairs are decoded into it, then it filters.
type sieve struct {
	ec   *expr.Ctx
	dec  decoder
	zone zone
	// batch is the one under construction; it holds up to size rows.
	batch vec.Batch
	vecs  []vec.Vec
	size  int
	bytes int // of the values decoded, those in cells included
	// light filters need no value that may stand in a cell or is computed; they
	// go first.
	light, heavy []expr.Expr
	virtual      *expr.Ctx // where virtual columns are computed; nil until then
	narrow       vec.Batch // see result
	unread       []bool    // physical.Scan.Unread
	count        Counters  // of cells
}

// init prepares s for a plan. filters refer to the plan's outputs.
func (s *sieve) init(ec *expr.Ctx, p *readPlan, z zone, filters ...[]expr.Expr) {
	s.prepare(p)
	s.setUp(ec, z, filters...)
}

// prepare is the part of init that depends on the plan alone.
func (s *sieve) prepare(p *readPlan) {
	s.dec.init(p)
	s.vecs = make([]vec.Vec, len(p.kinds))
	s.batch.Cols = make([]*vec.Vec, len(p.kinds))
	for i := range s.vecs {
		s.vecs[i].Kind = p.kinds[i]
		s.batch.Cols[i] = &s.vecs[i]
	}
	s.dec.cols = s.batch.Cols
}

// setUp is the part of init that belongs to a statement.
func (s *sieve) setUp(ec *expr.Ctx, z zone, filters ...[]expr.Expr) {
	s.ec, s.zone = ec, z
	s.light, s.heavy = s.light[:0], s.heavy[:0]
	for _, list := range filters {
		for _, f := range list {
			if s.dec.plan.readsLarge(f) {
				s.heavy = append(s.heavy, f)
			} else {
				s.light = append(s.light, f)
			}
		}
	}
}

// drop forgets the statement, and the memory of byte values: what they were
// passed to may still hold them.
func (s *sieve) drop() {
	s.ec, s.zone, s.virtual, s.count = nil, zone{}, nil, Counters{}
	s.dec.blocks = nil
	clear(s.light)
	clear(s.heavy)
	for i := range s.vecs {
		v := &s.vecs[i]
		if vec.ClassOf(v.Kind) == vec.ClassBytes {
			*v = vec.Vec{Kind: v.Kind}
		}
	}
}

// readsLarge reports whether e needs a value that may stand in a cell, or that
// is computed.
func (p *readPlan) readsLarge(e expr.Expr) bool {
	large := false
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok && c.Index >= 0 && c.Index < len(p.large) {
			large = large || p.large[c.Index] || p.late[c.Index]
		}
		return !large
	})
	return large
}

// begin starts a batch of up to size rows.
func (s *sieve) begin(size int) {
	s.size, s.bytes = size, 0
	s.batch.N, s.batch.HasSel, s.batch.Sel = 0, false, nil
	for i := range s.vecs {
		s.vecs[i].Init(s.vecs[i].Kind, size)
	}
	s.dec.begin()
}

// add decodes a pair as the next row.
func (s *sieve) add(key, val []byte) error {
	err := s.dec.pair(key, val, s.batch.N)
	if err == nil {
		s.batch.N++
		s.bytes += len(val)
	}
	return err
}

// maxBatchBytes is the size from which a batch is full whatever its rows.
const maxBatchBytes = 4 << 20

func (s *sieve) full() bool {
	return s.batch.N >= s.size || s.bytes+s.dec.cellBytes >= maxBatchBytes
}

// errFull ends a BatchGet when the batch is full.
var errFull = errors.New("batch is full")

// finish filters the batch; kv is where its cells are read. It returns nil when
// no row is left.
func (s *sieve) finish(ctx context.Context, kv storage.Reader) (*vec.Batch, error) {
	b := &s.batch
	if b.N == 0 {
		return nil, nil
	}
	s.localise()
	if err := s.filter(s.light); err != nil || b.Live() == 0 {
		return nil, err
	}
	if len(s.dec.cells) > 0 {
		if err := s.fetchCells(ctx, kv); err != nil {
			return nil, err
		}
	}
	if len(s.dec.blocks) > 0 {
		if err := s.fetchAttributes(ctx, kv); err != nil {
			return nil, err
		}
	}
	if len(s.dec.plan.virtual) > 0 {
		if err := s.compute(); err != nil {
			return nil, err
		}
	}
	if err := s.filter(s.heavy); err != nil || b.Live() == 0 {
		return nil, err
	}
	return s.result(), nil
}

func (s *sieve) filter(list []expr.Expr) error {
	for _, f := range list {
		if err := expr.EvalFilter(s.ec, f, &s.batch); err != nil {
			return err
		}
		if s.batch.Live() == 0 {
			return nil
		}
	}
	return nil
}

// localise converts the TIMESTAMP columns to the session's zone.
func (s *sieve) localise() {
	if s.zone.utc {
		return
	}
	for _, out := range s.dec.plan.stamps {
		v := s.batch.Cols[out]
		for r := range s.batch.Live() {
			if i := s.batch.Row(r); !v.Nulls.IsNull(i) {
				v.I64[i] = int64(s.zone.local(value.Time(v.I64[i])))
			}
		}
	}
}

// fetchCells reads the large values of the live rows.
func (s *sieve) fetchCells(ctx context.Context, kv storage.Reader) error {
	var live [vec.MaxRows]bool
	for r := range s.batch.Live() {
		live[s.batch.Row(r)] = true
	}
	type fetch struct {
		key []byte
		ref *cellRef
	}
	var list []fetch
	c := s.dec.plan.codec
	for i := range s.dec.cells {
		if ref := &s.dec.cells[i]; live[ref.row] {
			list = append(list, fetch{c.AppendCellKey(nil, s.dec.keys[ref.at:ref.end], ref.pos), ref})
		}
	}
	slices.SortFunc(list, func(a, b fetch) int { return bytes.Compare(a.key, b.key) })
	keys := make([][]byte, len(list))
	for i := range list {
		keys[i] = list[i].key
	}
	s.count.Seeks += int64(len(keys))
	return kv.BatchGet(ctx, keys, func(i int, val []byte) error {
		ref := list[i].ref
		if val == nil || len(val) != ref.length {
			return s.dec.corrupt(s.dec.keys[ref.at:ref.end], fmt.Errorf("%w: the cell of column %s is missing or damaged",
				storage.ErrCorruption, c.Table.Columns[ref.pos].Name))
		}
		s.count.Pairs++
		s.count.Bytes += int64(len(keys[i]) + len(val))
		v := s.batch.Cols[ref.out]
		v.Bytes[ref.row] = v.Own(val)
		return nil
	})
}

// fetchAttributes reads the attributes of the live rows that stand in cells.
func (s *sieve) fetchAttributes(ctx context.Context, kv storage.Reader) error {
	var live [vec.MaxRows]bool
	for r := range s.batch.Live() {
		live[s.batch.Row(r)] = true
	}
	ar := s.dec.attrs
	for i := range s.dec.blocks {
		ref := &s.dec.blocks[i]
		if !live[ref.row] {
			continue
		}
		if err := ar.Reset(ref.block); err != nil {
			return s.dec.corrupt(ref.key, err)
		}
		read, err := s.dec.plan.codec.FillAttributes(ctx, kv, ref.key, ar)
		if err != nil {
			return err
		}
		s.count.Pairs += read.Cells
		s.count.Seeks += read.Cells
		s.count.Bytes += read.Bytes
		v := s.batch.Cols[ref.out]
		v.Bytes[ref.row] = v.Own(ar.Object())
	}
	return nil
}

// pace is how large the batches of a scan are: small first, so that a LIMIT
// costs little, then larger.
type pace struct {
	next, max int
	// left is the number of rows after which the consumer stops, -1 if unknown.
	left int64
}

const (
	firstBatch = 256
	minBatch   = 16
)

func newPace(max int, limit int64, filtered bool) pace {
	p := pace{next: firstBatch, max: max, left: limit}
	if limit >= 0 {
		p.next = int(min(limit, int64(max)))
		if filtered {
			p.next = minBatch
		}
	}
	return p
}

// size is the size of the next batch.
func (p *pace) size() int {
	n := max(min(p.next, p.max), 1)
	p.next = min(4*n, p.max)
	return n
}

// weigh makes the next batches smaller after one of so many rows and bytes.
func (p *pace) weigh(rows, bytes int) {
	if bytes > maxBatchBytes {
		p.max = max(1, min(p.max, int(int64(rows)*maxBatchBytes/int64(bytes))))
	}
}

// took cuts a batch at the limit.
func (p *pace) took(b *vec.Batch) {
	if p.left < 0 {
		return
	}
	if int64(b.Live()) > p.left {
		b.Truncate(int(p.left))
	}
	p.left -= int64(b.Live())
}

// limitOf evaluates the limit hint of a scan; -1 when there is none.
func limitOf(ec *expr.Ctx, e expr.Expr) (int64, error) {
	if e == nil {
		return -1, nil
	}
	d, err := expr.EvalConst(ec, e)
	if err != nil {
		return -1, err
	}
	switch d.Kind() {
	case value.KindInt, value.KindUint:
		if n := int64(d.Bits()); n >= 0 {
			return n, nil
		}
	}
	return -1, nil
}
