package exec

import (
	"container/heap"

	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
)

// diskMerge reads sorted runs as one.
type diskMerge struct {
	enc  *sortEncoder
	runs []*diskRun // a heap: the first has the next row
}

// diskRun is a run on disk with its next row.
type diskRun struct {
	rd     *spill.Reader
	b      *vec.Batch
	at     int
	order  int
	prefix uint64
}

func newDiskMerge(enc *sortEncoder, list []*spill.Rows) (*diskMerge, error) {
	m := &diskMerge{enc: enc}
	for i, rows := range list {
		r := &diskRun{rd: rows.NewReader(), order: i, at: -1}
		more, err := r.advance(enc)
		if err != nil {
			return nil, err
		}
		if more {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(m)
	return m, nil
}

func (m *diskMerge) held() (n int64) {
	for _, r := range m.runs {
		n += r.rd.Held()
	}
	return n
}

// advance goes to the next row.
func (r *diskRun) advance(enc *sortEncoder) (more bool, err error) {
	r.at++
	if r.b == nil || r.at == r.b.N {
		if r.b, err = r.rd.Next(); err != nil || r.b == nil {
			return false, err
		}
		r.at = 0
	}
	r.prefix = enc.prefix(r.key())
	return true, nil
}

func (r *diskRun) key() []byte { return r.b.Cols[0].Bytes[r.at] }

// mergedBytes is the size at which next ends a batch: rows may be long.
const mergedBytes = 4 << 20

// next copies up to size rows to out, but not much more than mergedBytes: the columns
// of the runs from skip on.
func (m *diskMerge) next(out []*vec.Vec, skip, size int) (n int, err error) {
	for _, v := range out {
		v.Init(v.Kind, size)
	}
	bytes := 0
	for ; n < size && bytes < mergedBytes && len(m.runs) > 0; n++ {
		r := m.runs[0]
		for c, v := range out {
			src := r.b.Cols[skip+c]
			v.CopyRow(n, src, r.at)
			if src.Bytes != nil && !src.Nulls.IsNull(r.at) {
				bytes += len(src.Bytes[r.at])
			}
		}
		more, err := r.advance(m.enc)
		switch {
		case err != nil:
			return 0, err
		case !more:
			heap.Pop(m)
		case len(m.runs) > 1:
			heap.Fix(m, 0)
		}
	}
	return n, nil
}

// Len implements heap.Interface.
func (m *diskMerge) Len() int { return len(m.runs) }

// Less implements heap.Interface.
func (m *diskMerge) Less(i, j int) bool {
	a, b := m.runs[i], m.runs[j]
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	if c := m.enc.compare(a.key(), b.key()); c != 0 {
		return c < 0
	}
	return a.order < b.order
}

// Swap implements heap.Interface.
func (m *diskMerge) Swap(i, j int) { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }

// Push implements heap.Interface.
func (m *diskMerge) Push(x any) { m.runs = append(m.runs, x.(*diskRun)) }

// Pop implements heap.Interface.
func (m *diskMerge) Pop() any {
	last := m.runs[len(m.runs)-1]
	m.runs = m.runs[:len(m.runs)-1]
	return last
}
