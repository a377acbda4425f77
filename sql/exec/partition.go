package exec

import (
	"hash/maphash"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// partitionSeed is that of the hashes of encoded keys. Both inputs of a join
// are cut by the same.
var partitionSeed = maphash.MakeSeed()

// keyHasher gives keys the hashes by which rows are cut into partitions. They
// are not those of the tables in memory, which would then be badly filled.
type keyHasher struct {
	enc keyEncoder
	buf []byte
	out []uint64
}

func (env *Env) newKeyHasher(ts []schema.Type) keyHasher {
	return keyHasher{enc: env.newKeyEncoder(ts)}
}

func mixWord(k int64) uint64 {
	h := uint64(k) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// hash gives the hashes of rows, valid until the next call; NULL alone is 0.
func (h *keyHasher) hash(cols []*vec.Vec, rows []uint16) []uint64 {
	h.out = h.out[:0]
	if h.enc.isWord() {
		v := cols[0]
		for _, i := range rows {
			if v.Nulls.IsNull(int(i)) {
				h.out = append(h.out, 0)
			} else {
				h.out = append(h.out, mixWord(v.I64[i]))
			}
		}
		return h.out
	}
	for _, i := range rows {
		h.buf = h.enc.append(h.buf[:0], cols, int(i))
		h.out = append(h.out, maphash.Bytes(partitionSeed, h.buf))
	}
	return h.out
}

// keys is hash for the column of keyTable.keys.
func (h *keyHasher) keys(col *vec.Vec, rows []uint16) []uint64 {
	if h.enc.isWord() {
		return h.hash([]*vec.Vec{col}, rows)
	}
	h.out = h.out[:0]
	for _, i := range rows {
		h.out = append(h.out, maphash.Bytes(partitionSeed, col.Bytes[i]))
	}
	return h.out
}

// scatter appends rows to the partitions of their hashes.
func (s *spiller) scatter(parts []*spill.Rows, depth int, cols []*vec.Vec, rows []uint16, hashes []uint64) error {
	if s.lists == nil {
		s.lists = make([][]uint16, s.parts)
	}
	for p := range s.lists {
		s.lists[p] = s.lists[p][:0]
	}
	for r, i := range rows {
		p := s.of(hashes[r], depth)
		s.lists[p] = append(s.lists[p], i)
	}
	for p, list := range s.lists {
		if len(list) == 0 {
			continue
		}
		if err := parts[p].Append(cols, list); err != nil {
			return err
		}
	}
	return nil
}

// keyKind is the kind of the column by which keys are spilled.
func (t *keyTable) keyKind() value.Kind {
	if t.word {
		return value.KindInt
	}
	return value.KindBytes
}

// keys calls fn with all keys, in columns of keyKind, and their ids.
func (t *keyTable) keys(fn func(col *vec.Vec, ids []uint32) error) error {
	col := vec.New(t.keyKind())
	ids := make([]uint32, 0, vec.MaxRows)
	put := func(flush bool) error {
		if len(ids) == 0 || !flush && len(ids) < vec.MaxRows {
			return nil
		}
		err := fn(col, ids)
		ids = ids[:0]
		col.Init(col.Kind, vec.MaxRows)
		return err
	}
	if !t.word {
		for id, k := range t.bytes.keys {
			col.Bytes[len(ids)] = k
			ids = append(ids, uint32(id))
			if err := put(false); err != nil {
				return err
			}
		}
		return put(true)
	}
	if t.null != none {
		col.Nulls.Set(0)
		ids = append(ids, t.null)
	}
	for _, s := range t.words.slots {
		if s.id == 0 {
			continue
		}
		col.I64[len(ids)] = s.key
		ids = append(ids, s.id-1)
		if err := put(false); err != nil {
			return err
		}
	}
	return put(true)
}

// insertKeys is insert for what keys gave.
func (t *keyTable) insertKeys(col *vec.Vec, rows []uint16, ids []uint32) []uint32 {
	if t.word {
		return t.insertWords(col, rows, ids, func(uint16) {})
	}
	for _, i := range rows {
		id, fresh := t.bytes.insert(col.Bytes[i])
		if fresh {
			t.n++
		}
		ids = append(ids, id)
	}
	return ids
}
