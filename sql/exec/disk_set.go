package exec

import (
	"bytes"
	"context"
	"sort"

	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// diskSet is a set of keys on disk: blocks in the order of the keys, of which
// the first keys are in memory. A search reads one block.
type diskSet struct {
	acct   account
	sp     *spiller
	batch  *vec.Batch // keys that are not yet with the sorter
	bytes  int        // their bytes
	keys   *spill.Rows
	blocks []keyBlock
	rd     *spill.Reader
	held   int64
}

// passBytes are about the bytes of keys that the sorter gets at a time.
const passBytes = 128 << 10

type keyBlock struct {
	first []byte // key
	row   int64  // its number
}

// add gives a key to the sorter, which finish reads.
func (s *diskSet) add(ctx context.Context, to *sorter, key []byte) error {
	if s.batch == nil {
		s.batch = newOut([]value.Kind{value.KindBytes})
		s.batch.Cols[0].Init(value.KindBytes, vec.MaxRows)
	}
	v := s.batch.Cols[0]
	v.Bytes[s.batch.N] = v.Own(key)
	s.bytes += len(key)
	if s.batch.N++; s.batch.N < vec.MaxRows && s.bytes < passBytes {
		return nil
	}
	return s.pass(ctx, to)
}

func (s *diskSet) pass(ctx context.Context, to *sorter) error {
	if s.batch == nil || s.batch.N == 0 {
		return nil
	}
	err := to.add(ctx, s.batch.Cols, identity[:s.batch.N], s.batch.Cols)
	s.batch.N, s.bytes = 0, 0
	s.batch.Cols[0].Init(value.KindBytes, vec.MaxRows)
	return err
}

// finish writes the sorted keys.
func (s *diskSet) finish(ctx context.Context, from *sorter) error {
	if err := s.pass(ctx, from); err != nil {
		return err
	}
	if err := from.finish(ctx); err != nil {
		return err
	}
	s.batch = nil
	f, err := s.sp.begin()
	if err != nil {
		return err
	}
	s.keys = f.NewRows([]value.Kind{value.KindBytes}, 2*s.sp.block)
	var last []byte
	size := s.sp.block // of the block that grows
	for {
		b, err := from.next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		for _, i := range liveRows(b) {
			key := b.Cols[0].Bytes[i]
			if last != nil && bytes.Equal(key, last) {
				continue
			}
			last = append(last[:0], key...)
			if size >= s.sp.block || s.keys.Len()-s.blocks[len(s.blocks)-1].row >= vec.MaxRows {
				if err := s.keys.Flush(); err != nil {
					return err
				}
				s.blocks = append(s.blocks, keyBlock{first: bytes.Clone(key), row: s.keys.Len()})
				s.held += int64(len(key)) + 48
				size = 0
			}
			size += len(key) + 16
			if err := s.keys.Append(b.Cols[:1], []uint16{i}); err != nil {
				return err
			}
		}
		s.acct.must(s.held + s.keys.Held())
	}
	err = s.keys.Finish()
	s.sp.count()
	s.rd = s.keys.NewReader()
	s.acct.kept(s.held + s.keys.Held())
	return err
}

func (s *diskSet) find(key []byte) (bool, error) {
	n := sort.Search(len(s.blocks), func(i int) bool { return bytes.Compare(s.blocks[i].first, key) > 0 }) - 1
	if n < 0 {
		return false, nil
	}
	// A block of long keys may have been cut again.
	for row, end := s.blocks[n].row, s.end(n); row < end; {
		b, first, err := s.rd.Page(row)
		if err != nil {
			return false, err
		}
		list := b.Cols[0].Bytes[:b.N]
		if i := sort.Search(b.N, func(i int) bool { return bytes.Compare(list[i], key) >= 0 }); i < b.N {
			return bytes.Equal(list[i], key), nil
		}
		row = first + int64(b.N)
	}
	return false, nil
}

// end is the first row after block n.
func (s *diskSet) end(n int) int64 {
	if n+1 < len(s.blocks) {
		return s.blocks[n+1].row
	}
	return s.keys.Len()
}

func (s *diskSet) close() { s.keys.Close() }
