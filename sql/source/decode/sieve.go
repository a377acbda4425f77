package decode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Sieve builds batches: pairs are decoded into it, then it filters.
type Sieve struct {
	Expr *expr.Ctx
	Dec  decoder
	Zone Zone
	// Batch is the one under construction; it holds up to size rows.
	Batch vec.Batch
	Vecs  []vec.Vec
	Size  int
	Bytes int // of the values decoded, those in cells included
	// light filters need no value that may be stored in a cell or is computed;
	// they go first.
	light, heavy []expr.Expr
	virtual      *expr.Ctx     // where virtual columns are computed; nil until then
	narrow       vec.Batch     // see result
	Unread       []bool        // physical.Scan.Unread
	Count        exec.Counters // of cells
	held         []*byte       // chunks of Vecs that are counted; see Hold
}

// Init prepares s for a plan. filters refer to the plan's outputs.
func (s *Sieve) Init(ec *expr.Ctx, p *Plan, z Zone, filters ...[]expr.Expr) {
	s.Prepare(p)
	s.SetUp(ec, z, filters...)
}

// Prepare is the part of init that depends on the plan alone.
func (s *Sieve) Prepare(p *Plan) {
	s.Dec.init(p)
	s.Vecs = make([]vec.Vec, len(p.kinds))
	s.Batch.Cols = make([]*vec.Vec, len(p.kinds))
	for i := range s.Vecs {
		s.Vecs[i].Kind = p.kinds[i]
		s.Batch.Cols[i] = &s.Vecs[i]
	}
	s.Dec.cols = s.Batch.Cols
}

// SetUp is the part of init that belongs to a statement.
func (s *Sieve) SetUp(ec *expr.Ctx, z Zone, filters ...[]expr.Expr) {
	s.Expr, s.Zone = ec, z
	s.light, s.heavy = s.light[:0], s.heavy[:0]
	for _, list := range filters {
		for _, f := range list {
			if s.Dec.Plan.ReadsLarge(f) {
				s.heavy = append(s.heavy, f)
			} else {
				s.light = append(s.light, f)
			}
		}
	}
}

// Drop forgets the statement, and the memory of byte values: what they were
// passed to may still hold them.
func (s *Sieve) Drop() {
	s.Expr, s.Zone, s.virtual, s.Count = nil, Zone{}, nil, exec.Counters{}
	s.Dec.Blocks = nil
	clear(s.light)
	clear(s.heavy)
	clear(s.held)
	for i := range s.Vecs {
		v := &s.Vecs[i]
		if vec.ClassOf(v.Kind) == vec.ClassBytes {
			*v = vec.Vec{Kind: v.Kind}
		}
	}
}

// ReadsLarge reports whether e needs a value that may be stored in a cell, or
// that is computed.
func (p *Plan) ReadsLarge(e expr.Expr) bool {
	large := false
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok && c.Index >= 0 && c.Index < len(p.Large) {
			large = large || p.Large[c.Index] || p.late[c.Index]
		}
		return !large
	})
	return large
}

// Begin starts a batch of up to size rows.
func (s *Sieve) Begin(size int) {
	s.Size, s.Bytes = size, 0
	s.Batch.N, s.Batch.HasSel, s.Batch.Sel = 0, false, nil
	for i := range s.Vecs {
		s.Vecs[i].Init(s.Vecs[i].Kind, size)
	}
	s.Dec.begin()
}

// Add decodes a pair as the next row.
func (s *Sieve) Add(key, val []byte) error {
	err := s.Dec.Pair(key, val, s.Batch.N)
	if err == nil {
		s.Batch.N++
		s.Bytes += len(val)
	}
	return err
}

// Full reports that the batch takes no more rows: it has as many as it may, or more bytes
// than there is room for.
func (s *Sieve) Full() bool {
	return s.Batch.N >= s.Size || s.isLarge() && s.Bytes+s.Dec.CellBytes >= s.room()
}

// isLarge reports a batch of which the memory counts.
func (s *Sieve) isLarge() bool { return s.Bytes+s.Dec.CellBytes >= exec.MinBatch }

func (s *Sieve) room() int {
	if m := s.memory(); m != nil {
		return m.BatchRoom()
	}
	return exec.MaxBatch
}

// memory is where the batch counts; nil where nothing does.
func (s *Sieve) memory() expr.Memory {
	if s.Expr == nil {
		return nil
	}
	return s.Expr.Memory
}

// largeChunk is the size from which a chunk of a vector counts.
const largeChunk = exec.MinBatch / 2

// Hold counts the memory of a large batch.
func (s *Sieve) Hold() {
	m := s.memory()
	if m == nil || !s.isLarge() {
		return
	}
	if s.held == nil {
		s.held = make([]*byte, len(s.Vecs))
	}
	for i := range s.Vecs {
		chunk := s.Vecs[i].Arena()
		if len(chunk) >= largeChunk && unsafe.SliceData(chunk) != s.held[i] {
			s.held[i] = unsafe.SliceData(chunk)
			m.HoldBatch(chunk)
		}
	}
}

// ErrFull ends a BatchGet when the batch is full.
var ErrFull = errors.New("batch is full")

// Finish filters the batch; kv is where its cells are read. It returns nil when
// no row is left.
func (s *Sieve) Finish(ctx context.Context, kv storage.Reader) (*vec.Batch, error) {
	b := &s.Batch
	if b.N == 0 {
		return nil, nil
	}
	defer s.Hold()
	s.Localise()
	if err := s.filter(s.light); err != nil || b.Live() == 0 {
		return nil, err
	}
	if len(s.Dec.Cells) > 0 {
		if err := s.fetchCells(ctx, kv); err != nil {
			return nil, err
		}
	}
	if len(s.Dec.Blocks) > 0 {
		if err := s.fetchAttributes(ctx, kv); err != nil {
			return nil, err
		}
	}
	if len(s.Dec.Plan.Virtual) > 0 {
		if err := s.compute(); err != nil {
			return nil, err
		}
	}
	if err := s.filter(s.heavy); err != nil || b.Live() == 0 {
		return nil, err
	}
	return s.result(), nil
}

func (s *Sieve) filter(list []expr.Expr) error {
	for _, f := range list {
		if err := expr.EvalFilter(s.Expr, f, &s.Batch); err != nil {
			return err
		}
		if s.Batch.Live() == 0 {
			return nil
		}
	}
	return nil
}

// Localise converts the TIMESTAMP columns to the session's zone.
func (s *Sieve) Localise() {
	if s.Zone.UTC {
		return
	}
	for _, out := range s.Dec.Plan.stamps {
		v := s.Batch.Cols[out]
		for r := range s.Batch.Live() {
			if i := s.Batch.Row(r); !v.Nulls.IsNull(i) {
				v.I64[i] = int64(s.Zone.Local(value.Time(v.I64[i])))
			}
		}
	}
}

// fetchCells reads the large values of the live rows.
func (s *Sieve) fetchCells(ctx context.Context, kv storage.Reader) error {
	var live [vec.MaxRows]bool
	for r := range s.Batch.Live() {
		live[s.Batch.Row(r)] = true
	}
	type fetch struct {
		key []byte
		ref *cellRef
	}
	var list []fetch
	c := s.Dec.Plan.codec
	for i := range s.Dec.Cells {
		if ref := &s.Dec.Cells[i]; live[ref.row] {
			list = append(list, fetch{c.AppendCellKey(nil, s.Dec.keys[ref.at:ref.end], ref.pos), ref})
		}
	}
	slices.SortFunc(list, func(a, b fetch) int { return bytes.Compare(a.key, b.key) })
	keys := make([][]byte, len(list))
	for i := range list {
		keys[i] = list[i].key
	}
	s.Count.Seeks += int64(len(keys))
	return kv.BatchGet(ctx, keys, func(i int, val []byte) error {
		ref := list[i].ref
		if val == nil || len(val) != ref.length {
			return s.Dec.corrupt(s.Dec.keys[ref.at:ref.end], fmt.Errorf("%w: the cell of column %s is missing or damaged",
				storage.ErrCorruption, c.Table.Columns[ref.pos].Name))
		}
		s.Count.Pairs++
		s.Count.Bytes += int64(len(keys[i]) + len(val))
		v := s.Batch.Cols[ref.out]
		v.Bytes[ref.row] = v.Own(val)
		return nil
	})
}

// fetchAttributes reads the attributes of the live rows that are stored in cells.
func (s *Sieve) fetchAttributes(ctx context.Context, kv storage.Reader) error {
	var live [vec.MaxRows]bool
	for r := range s.Batch.Live() {
		live[s.Batch.Row(r)] = true
	}
	ar := s.Dec.attrs
	for i := range s.Dec.Blocks {
		ref := &s.Dec.Blocks[i]
		if !live[ref.row] {
			continue
		}
		if err := ar.Reset(ref.block); err != nil {
			return s.Dec.corrupt(ref.key, err)
		}
		read, err := s.Dec.Plan.codec.FillAttributes(ctx, kv, ref.key, ar)
		if err != nil {
			return err
		}
		s.Count.Pairs += read.Cells
		s.Count.Seeks += read.Cells
		s.Count.Bytes += read.Bytes
		v := s.Batch.Cols[ref.out]
		v.Bytes[ref.row] = v.Own(ar.Object())
	}
	return nil
}

// Pace is how large the batches of a scan are: small first, so that a LIMIT
// costs little, then larger.
type Pace struct {
	Next, Max int
	// Left is the number of rows after which the consumer stops, -1 if unknown.
	Left int64
}

// Sizes of the first batch of a scan, and of one that is filtered or has large values.
const (
	FirstBatch = 256
	MinBatch   = 16
)

// NewPace is the pace of a scan whose batches have at most max rows and whose consumer
// stops after limit rows, -1 if unknown; filtered: not all that is read is given.
func NewPace(max int, limit int64, filtered bool) Pace {
	p := Pace{Next: FirstBatch, Max: max, Left: limit}
	if limit >= 0 {
		p.Next = int(min(limit, int64(max)))
		if filtered {
			p.Next = MinBatch
		}
	}
	return p
}

// Size is the size of the next batch.
func (p *Pace) Size() int {
	n := max(min(p.Next, p.Max), 1)
	p.Next = min(4*n, p.Max)
	return n
}

// Weigh makes the next batches smaller after one of so many rows and bytes.
func (p *Pace) Weigh(rows, bytes int) {
	if bytes > exec.MaxBatch {
		p.Max = max(1, min(p.Max, int(int64(rows)*exec.MaxBatch/int64(bytes))))
	}
}

// Took cuts a batch at the limit.
func (p *Pace) Took(b *vec.Batch) {
	if p.Left < 0 {
		return
	}
	if int64(b.Live()) > p.Left {
		b.Truncate(int(p.Left))
	}
	p.Left -= int64(b.Live())
}

// LimitOf evaluates the limit hint of a scan; -1 when none exists.
func LimitOf(ec *expr.Ctx, e expr.Expr) (int64, error) {
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
