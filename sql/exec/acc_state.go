package exec

import (
	"encoding/binary"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// The states of accumulators as columns: what accumulator.save writes and load
// reads. A state that was saved and loaded goes on exactly as it would have.

// moveGroup makes group 0 of to what group g of from is.
func moveGroup(to, from accumulator, g int) error {
	cols := newOut(from.stateKinds()).Cols
	for _, v := range cols {
		v.Init(v.Kind, 1)
	}
	from.save(g, cols, 0)
	return to.load(0, cols, 0)
}

// appendItem appends an element of a list to the bytes of a state.
func appendItem(dst, item []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(item))), item...)
}

// nextItem is the first element of a list and the others.
func nextItem(list []byte) (item, rest []byte, err error) {
	n, size := binary.Uvarint(list)
	if size <= 0 || n > uint64(len(list)-size) {
		return nil, nil, sqlerr.Internal("the saved state of an aggregate is damaged")
	}
	return list[size : size+int(n)], list[size+int(n):], nil
}

func (c *countAcc) stateKinds() []value.Kind { return []value.Kind{value.KindInt} }

func (c *countAcc) save(g int, cols []*vec.Vec, i int) { cols[0].I64[i] = c.n[g] }

func (c *countAcc) load(g int, cols []*vec.Vec, i int) error {
	c.n[g] = cols[0].I64[i]
	return nil
}

func (a *anyAcc) stateKinds() []value.Kind { return []value.Kind{value.KindInt, a.kind} }

func (a *anyAcc) save(g int, cols []*vec.Vec, i int) {
	cols[0].I64[i] = 0
	if a.has[g] {
		cols[0].I64[i] = 1
	}
	cols[1].SetDatum(i, a.val[g])
}

func (a *anyAcc) load(g int, cols []*vec.Vec, i int) error {
	if a.has[g] = cols[0].I64[i] != 0; a.has[g] {
		a.val[g] = cols[1].Datum(i).Clone()
		a.held += int64(len(a.val[g].Bytes()))
	}
	return nil
}

func (m *minMaxAcc) stateKinds() []value.Kind { return []value.Kind{m.kind} }

func (m *minMaxAcc) save(g int, cols []*vec.Vec, i int) {
	_ = m.result(g, cols[0], i) // it has no errors
}

func (m *minMaxAcc) load(g int, cols []*vec.Vec, i int) error {
	return m.add(cols, []uint16{uint16(i)}, []uint32{uint32(g)})
}

func (s *sumIntAcc) stateKinds() []value.Kind {
	return []value.Kind{value.KindInt, value.KindInt, value.KindInt}
}

func (s *sumIntAcc) save(g int, cols []*vec.Vec, i int) {
	st := s.state[g]
	cols[0].I64[i], cols[1].I64[i], cols[2].I64[i] = st.hi, int64(st.lo), st.n
}

func (s *sumIntAcc) load(g int, cols []*vec.Vec, i int) error {
	s.state[g] = int128{hi: cols[0].I64[i], lo: uint64(cols[1].I64[i]), n: cols[2].I64[i]}
	return nil
}

func (s *sumFloatAcc) stateKinds() []value.Kind {
	return []value.Kind{value.KindFloat, value.KindInt}
}

func (s *sumFloatAcc) save(g int, cols []*vec.Vec, i int) {
	cols[0].F64[i], cols[1].I64[i] = s.sum[g], s.n[g]
}

func (s *sumFloatAcc) load(g int, cols []*vec.Vec, i int) error {
	s.sum[g], s.n[g] = cols[0].F64[i], cols[1].I64[i]
	return nil
}

func (s *sumDecAcc) stateKinds() []value.Kind {
	return []value.Kind{value.KindDecimal, value.KindInt}
}

func (s *sumDecAcc) save(g int, cols []*vec.Vec, i int) {
	cols[0].Dec[i], cols[1].I64[i] = s.state[g].value(), s.state[g].sum.n
}

func (s *sumDecAcc) load(g int, cols []*vec.Vec, i int) error {
	if n := cols[1].I64[i]; n > 0 {
		s.state[g].add(&cols[0].Dec[i], n)
	}
	return nil
}

func (b *bitAcc) stateKinds() []value.Kind { return []value.Kind{value.KindUint} }

func (b *bitAcc) save(g int, cols []*vec.Vec, i int) { cols[0].I64[i] = int64(b.words[g]) }

func (b *bitAcc) load(g int, cols []*vec.Vec, i int) error {
	b.words[g] = uint64(cols[0].I64[i])
	return nil
}

func (a *varAcc) stateKinds() []value.Kind {
	return []value.Kind{value.KindInt, value.KindFloat, value.KindFloat}
}

func (a *varAcc) save(g int, cols []*vec.Vec, i int) {
	m := a.state[g]
	cols[0].I64[i], cols[1].F64[i], cols[2].F64[i] = m.n, m.mean, m.m2
}

func (a *varAcc) load(g int, cols []*vec.Vec, i int) error {
	a.state[g] = moments{n: cols[0].I64[i], mean: cols[1].F64[i], m2: cols[2].F64[i]}
	return nil
}

// The text of GROUP_CONCAT, its rows, where it was cut, and the list of keys
// and texts.
func (c *concatAcc) stateKinds() []value.Kind {
	return []value.Kind{value.KindBytes, value.KindInt, value.KindInt, value.KindBytes}
}

func (c *concatAcc) save(g int, cols []*vec.Vec, i int) {
	st := &c.state[g]
	cols[0].Bytes[i] = cols[0].Own(st.text)
	cols[1].I64[i], cols[2].I64[i] = int64(st.rows), int64(st.cut)
	var list []byte
	for _, r := range st.list {
		list = appendItem(appendItem(list, r.key), r.text)
	}
	cols[3].Bytes[i] = cols[3].Own(list)
}

func (c *concatAcc) load(g int, cols []*vec.Vec, i int) error {
	st := &c.state[g]
	st.text = append([]byte(nil), cols[0].Bytes[i]...)
	st.rows, st.cut = int(cols[1].I64[i]), int(cols[2].I64[i])
	c.held += int64(len(st.text))
	var err error
	for list := append([]byte(nil), cols[3].Bytes[i]...); len(list) > 0; {
		var r concatRow
		if r.key, list, err = nextItem(list); err != nil {
			return err
		}
		if r.text, list, err = nextItem(list); err != nil {
			return err
		}
		c.held += r.size()
		st.list = append(st.list, r)
	}
	return nil
}

func (l *listAcc) stateKinds() []value.Kind { return []value.Kind{value.KindBytes} }

func (l *listAcc) save(g int, cols []*vec.Vec, i int) {
	var list []byte
	for k := range l.list[g].len() {
		list = appendItem(list, l.list[g].at(k))
	}
	cols[0].Bytes[i] = cols[0].Own(list)
}

func (l *listAcc) load(g int, cols []*vec.Vec, i int) error {
	var b []byte
	var err error
	for list := cols[0].Bytes[i]; len(list) > 0; {
		if b, list, err = nextItem(list); err != nil {
			return err
		}
		if err := l.put(uint32(g), b); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonObjectAcc) stateKinds() []value.Kind { return []value.Kind{value.KindBytes} }

func (j *jsonObjectAcc) save(g int, cols []*vec.Vec, i int) {
	var list []byte
	for key, doc := range j.list[g].members.All() {
		list = appendItem(appendItem(list, key), doc)
	}
	cols[0].Bytes[i] = cols[0].Own(list)
}

func (j *jsonObjectAcc) load(g int, cols []*vec.Vec, i int) error {
	var key, doc []byte
	var err error
	for list := cols[0].Bytes[i]; len(list) > 0; {
		if key, list, err = nextItem(list); err != nil {
			return err
		}
		if doc, list, err = nextItem(list); err != nil {
			return err
		}
		if err := j.put(uint32(g), key, doc); err != nil {
			return err
		}
	}
	return nil
}

func (b *bitBytesAcc) stateKinds() []value.Kind { return []value.Kind{value.KindBytes} }

func (b *bitBytesAcc) save(g int, cols []*vec.Vec, i int) {
	if b.state[g] == nil {
		cols[0].Nulls.Set(i)
		return
	}
	cols[0].Bytes[i] = cols[0].Own(b.state[g])
}

func (b *bitBytesAcc) load(g int, cols []*vec.Vec, i int) error {
	return b.add(cols, []uint16{uint16(i)}, []uint32{uint32(g)})
}
