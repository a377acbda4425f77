package kvread

import (
	"bytes"
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// merger finds the keys of rows by several indexes.
type merger struct {
	src    *Reader
	codec  *decode.Table
	reader storage.Reader
	count  exec.Counters
	held   int64 // bytes, of the statement's memory
	full   bool  // there is no memory for more
}

// merge gives the keys of the rows that a leads to, in order. ok is false when
// there are too many for memory: then the scan's filter has to find the rows.
func (m *merger) merge(ctx context.Context, ec *expr.Ctx, a *physical.IndexMerge) (keys [][]byte, ok bool, err error) {
	for i := range a.Parts {
		part, err := m.part(ctx, ec, &a.Parts[i])
		if err != nil || m.full {
			m.release()
			return nil, false, err
		}
		switch {
		case i == 0:
			keys = part
		case a.Intersect:
			keys = intersect(keys, part)
		default:
			keys = union(keys, part)
		}
		if a.Intersect && len(keys) == 0 {
			break
		}
	}
	if keys == nil {
		keys = [][]byte{}
	}
	return keys, true, nil
}

// part gives the keys of the rows of one index, in order.
func (m *merger) part(ctx context.Context, ec *expr.Ctx, p *physical.KeyRange) ([][]byte, error) {
	space, err := newKeySpace(m.codec.Codec, p.Index)
	if err != nil {
		return nil, err
	}
	list, err := p.Ranges.Spans(ec)
	if err != nil {
		return nil, err
	}
	z := decode.NewZone(m.src.state.Loc)
	w := walker{reader: m.reader}
	w.spans, _ = space.spans(list, &z)
	var x *table.Index
	w.opts.KeyOnly = true
	if p.Index != nil {
		x = m.codec.Index(p.Index.ID)
		w.opts.KeyOnly = x.KeyHasRow()
	}
	var keys [][]byte
	var failed error
	var arena []byte
	w.init(func(key, val []byte) bool {
		if len(arena)+len(key)+len(val) > cap(arena) {
			arena = make([]byte, 0, max(64<<10, len(key)+len(val)))
			if m.src.state.Memory.Grow(int64(cap(arena)), "index merge") != nil {
				m.full = true
				return false
			}
			m.held += int64(cap(arena))
		}
		at := len(arena)
		switch {
		case x == nil:
			arena = append(arena, key...)
		case w.opts.KeyOnly:
			arena, failed = x.AppendRowKey(arena, key, table.PlainValue())
		default:
			arena, failed = x.AppendRowKey(arena, key, val)
		}
		if len(keys) == cap(keys) { // twice, as it grows
			n := int64(max(2*cap(keys), 1024)) * 24
			if m.src.state.Memory.Grow(n, "index merge") != nil {
				m.full = true
				return false
			}
			m.held += n
		}
		keys = append(keys, arena[at:len(arena):len(arena)])
		return failed == nil && len(keys)&0xfff != 0
	})
	for !w.done() && !m.full {
		if err := w.fill(ctx, len(w.spans)); err != nil {
			return nil, err
		}
		if failed != nil {
			return nil, failed
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	m.count.Pairs += w.count.Pairs
	m.count.Bytes += w.count.Bytes
	m.count.Seeks += w.count.Seeks
	if err := w.close(); err != nil {
		return nil, err
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		slices.SortFunc(keys, bytes.Compare)
	}
	return slices.CompactFunc(keys, bytes.Equal), nil
}

func (m *merger) release() {
	m.src.state.Memory.Shrink(m.held)
	m.held = 0
}

// intersect gives the keys of both lists, in a's memory.
func intersect(a, b [][]byte) [][]byte {
	out := a[:0]
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := bytes.Compare(a[i], b[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			out = append(out, a[i])
			i, j = i+1, j+1
		}
	}
	return out
}

// union gives the keys of either list.
func union(a, b [][]byte) [][]byte {
	out := make([][]byte, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch c := bytes.Compare(a[i], b[j]); {
		case c < 0:
			out = append(out, a[i])
			i++
		case c > 0:
			out = append(out, b[j])
			j++
		default:
			out = append(out, a[i])
			i, j = i+1, j+1
		}
	}
	return append(append(out, a[i:]...), b[j:]...)
}

// mergedOp is the reading of rows that a merger found, whose keys it holds.
type mergedOp struct {
	PassOp
	m *merger
}

var _ exec.Counted = (*mergedOp)(nil)

// Counters implements exec.Counted.
func (o *mergedOp) Counters() exec.Counters {
	return o.m.count.Plus(o.PassOp.Counters())
}

// Close implements exec.Operator.
func (o *mergedOp) Close() error {
	err := o.Operator.Close()
	o.m.release()
	return err
}

// OpenMerge makes the operator of an index merge.
func (s *Reader) OpenMerge(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, a *physical.IndexMerge, limit int64) (exec.Operator, error) {
	if wait, ok := s.locksRanges(n); ok {
		return s.watch(wait, func(ctx context.Context, reader storage.Reader) (exec.Operator, error) {
			return s.openMerge(ctx, ec, k, n, a, limit, walker{reader: reader, watched: true})
		}), nil
	}
	if n.Latest && s.state.Txn != nil {
		view, err := s.state.Txn.LatestView(ctx)
		if err != nil {
			return nil, err
		}
		defer view.Close()
		return s.openMerge(ctx, ec, k, n, a, limit, walker{reader: view})
	}
	return s.openMerge(ctx, ec, k, n, a, limit, walker{reader: s.state.Reader})
}

// openMerge finds the rows in what w reads.
func (s *Reader) openMerge(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, a *physical.IndexMerge, limit int64, w walker) (exec.Operator, error) {
	m := &merger{src: s, codec: k, reader: w.reader}
	keys, ok, err := m.merge(ctx, ec, a)
	if err != nil {
		return nil, err
	}
	if w.keys = keys; !ok {
		space, err := newKeySpace(k.Codec, nil)
		if err != nil {
			return nil, err
		}
		w.spans = []storage.Span{space.whole()}
	}
	op, err := s.open(ctx, ec, k, n, w, limit)
	if err != nil {
		m.release()
		return nil, err
	}
	return &mergedOp{PassOp{op}, m}, nil
}
