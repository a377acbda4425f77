package rowenc

import (
	"encoding/binary"
	"fmt"

	"github.com/sqlots/sqlots/storage"
)

// State says what a row has under a column id.
type State uint8

// States of a column.
const (
	Absent   State = iota // not in the row
	Null                  // explicit NULL
	Value                 // the bytes are the value
	External              // the bytes are the length (Uint) of a value that is kept elsewhere
	Corrupt               // the row is malformed
)

// errRow is the error of every malformed row.
var errRow = fmt.Errorf("%w: malformed row", storage.ErrCorruption)

// ErrMalformed is the error of a malformed row; it is a storage.ErrCorruption.
func ErrMalformed() error { return errRow }

// Reader reads some columns of many rows. Rows of a shape (the same columns,
// NULLs and external values) that it has seen lately cost no parsing. It
// belongs to one goroutine.
type Reader struct {
	want   []uint16
	shapes [shapesKept]shape
	next   int // the shape that is replaced next
	cur    *shape

	row  []byte
	data []byte // the row's data part
}

const shapesKept = 4

// shape is what the bytes of a header say about the wanted columns.
type shape struct {
	header []byte
	slots  []slot
	ends   int // offset of the ends in the row
	data   int // offset of the data in the row
	wide   bool
	// plain: all wanted columns have values in the row, which is not wide.
	plain bool
}

// slot is the place of a wanted column.
type slot struct {
	at    int32
	state State
}

// NewReader reads the columns with the given ids, in any order.
func NewReader(want []uint16) *Reader {
	r := &Reader{want: want}
	r.cur = &r.shapes[0]
	return r
}

// Reset goes to a row. The row must stay unchanged while its fields are used.
func (r *Reader) Reset(row []byte) error {
	s := r.cur
	if h := len(s.header); h == 0 || len(row) < s.data || string(row[:h]) != string(s.header) {
		var err error
		if s, err = r.find(row); err != nil {
			return err
		}
		r.cur = s
	}
	r.row, r.data = row, row[s.data:]
	return nil
}

// find looks for the row's shape among those kept, and else parses it.
func (r *Reader) find(row []byte) (*shape, error) {
	for i := range r.shapes {
		s := &r.shapes[i]
		if h := len(s.header); h > 0 && len(row) >= s.data && string(row[:h]) == string(s.header) {
			return s, nil
		}
	}
	s := &r.shapes[r.next]
	r.next = (r.next + 1) % shapesKept
	if err := s.parse(row, r.want); err != nil {
		s.header = s.header[:0]
		return nil, err
	}
	return s, nil
}

// parse reads a header.
func (s *shape) parse(row []byte, want []uint16) error {
	if len(row) < idsAt || row[0] != version1 || row[1]&^knownFlags != 0 {
		return errRow
	}
	flags := row[1]
	n := int(binary.LittleEndian.Uint16(row[2:]))
	at := idsAt + 2*n
	var nulls, ext []byte
	bitmap := (n + 7) / 8
	size := at
	for _, f := range []byte{flagNulls, flagExternal} {
		if flags&f != 0 {
			size += bitmap
		}
	}
	s.wide = flags&flagWide != 0
	s.ends = size
	s.data = size + 2*n
	if s.wide {
		s.data += 2 * n
	}
	if len(row) < s.data {
		return errRow
	}
	ids := row[idsAt:at]
	if flags&flagNulls != 0 {
		nulls = row[at : at+bitmap]
		at += bitmap
	}
	if flags&flagExternal != 0 {
		ext = row[at : at+bitmap]
	}
	for i := 2; i < len(ids); i += 2 {
		if binary.LittleEndian.Uint16(ids[i-2:]) >= binary.LittleEndian.Uint16(ids[i:]) {
			return errRow
		}
	}
	s.slots = s.slots[:0]
	for _, id := range want {
		s.slots = append(s.slots, findSlot(ids, id, nulls, ext))
	}
	s.plain = !s.wide
	for _, slot := range s.slots {
		s.plain = s.plain && slot.state == Value
	}
	s.header = append(s.header[:0], row[:s.ends]...)
	return nil
}

func findSlot(ids []byte, id uint16, nulls, ext []byte) slot {
	lo, hi := 0, len(ids)/2
	for lo < hi {
		mid := (lo + hi) / 2
		if binary.LittleEndian.Uint16(ids[2*mid:]) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	switch {
	case 2*lo == len(ids) || binary.LittleEndian.Uint16(ids[2*lo:]) != id:
		return slot{state: Absent}
	case nulls != nil && nulls[lo/8]&(1<<(lo%8)) != 0:
		return slot{state: Null}
	case ext != nil && ext[lo/8]&(1<<(lo%8)) != 0:
		return slot{at: int32(lo), state: External}
	}
	return slot{at: int32(lo), state: Value}
}

// Field is the i-th wanted column of the row. The bytes share the row.
func (r *Reader) Field(i int) ([]byte, State) {
	s := r.cur.slots[i]
	if s.state != Value && s.state != External {
		return nil, s.state
	}
	lo, hi := r.bounds(int(s.at))
	if lo > hi || hi > len(r.data) {
		return nil, Corrupt
	}
	return r.data[lo:hi:hi], s.state
}

// Int is the i-th wanted column of the row as AppendInt wrote it. It is Field
// and Int in one, for scans.
func (r *Reader) Int(i int) (int64, State) {
	c := r.cur
	s := c.slots[i]
	if s.state != Value {
		return 0, s.state
	}
	if c.wide {
		b, st := r.Field(i)
		v, ok := Int(b)
		if !ok {
			st = Corrupt
		}
		return v, st
	}
	ends := r.row[c.ends:c.data]
	hi, lo := uint(binary.LittleEndian.Uint16(ends[2*s.at:])), uint(0)
	if s.at > 0 {
		lo = uint(binary.LittleEndian.Uint16(ends[2*s.at-2:]))
	}
	if hi > uint(len(r.data)) {
		return 0, Corrupt
	}
	b := r.data[:hi]
	switch hi - lo {
	case 1:
		return int64(int8(b[lo])), Value
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b[lo:]))), Value
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b[lo:]))), Value
	case 8:
		return int64(binary.LittleEndian.Uint64(b[lo:])), Value
	}
	return 0, Corrupt
}

// Ints reads all wanted columns of a row, which AppendInt wrote, into dst. It
// is Reset and Int in one, for scans; false when it does not apply (NULLs,
// absent columns, damage), and then nothing is said of dst.
func (r *Reader) Ints(row []byte, dst []int64) bool {
	s := r.cur
	if h := len(s.header); h == 0 || len(row) < s.data || string(row[:h]) != string(s.header) {
		var err error
		if s, err = r.find(row); err != nil {
			return false
		}
		r.cur = s
	}
	if !s.plain || len(dst) < len(s.slots) {
		return false
	}
	ends, data := row[s.ends:s.data], row[s.data:]
	for k := range s.slots {
		at := int(s.slots[k].at)
		hi, lo := uint(binary.LittleEndian.Uint16(ends[2*at:])), uint(0)
		if at > 0 {
			lo = uint(binary.LittleEndian.Uint16(ends[2*at-2:]))
		}
		if hi > uint(len(data)) {
			return false
		}
		b := data[:hi]
		switch hi - lo {
		case 1:
			dst[k] = int64(int8(b[lo]))
		case 2:
			dst[k] = int64(int16(binary.LittleEndian.Uint16(b[lo:])))
		case 4:
			dst[k] = int64(int32(binary.LittleEndian.Uint32(b[lo:])))
		case 8:
			dst[k] = int64(binary.LittleEndian.Uint64(b[lo:]))
		default:
			return false
		}
	}
	return true
}

// Bounds finds where the wanted columns of a row are in the data that it returns:
// Reset and Field in one, for scans. It returns false when it does not apply
// (NULLs, absent columns, external values, damage), and then says nothing.
func (r *Reader) Bounds(row []byte, dst [][2]uint) (data []byte, ok bool) {
	s := r.cur
	if h := len(s.header); h == 0 || len(row) < s.data || string(row[:h]) != string(s.header) {
		var err error
		if s, err = r.find(row); err != nil {
			return nil, false
		}
		r.cur = s
	}
	if !s.plain || len(dst) < len(s.slots) {
		return nil, false
	}
	ends, data := row[s.ends:s.data], row[s.data:]
	for k := range s.slots {
		at := int(s.slots[k].at)
		hi, lo := uint(binary.LittleEndian.Uint16(ends[2*at:])), uint(0)
		if at > 0 {
			lo = uint(binary.LittleEndian.Uint16(ends[2*at-2:]))
		}
		if lo > hi || hi > uint(len(data)) {
			return nil, false
		}
		dst[k] = [2]uint{lo, hi}
	}
	return data, true
}

// bounds is where value k starts and ends in the data.
func (r *Reader) bounds(k int) (lo, hi int) {
	ends := r.row[r.cur.ends:r.cur.data]
	if r.cur.wide {
		if k > 0 {
			lo = int(binary.LittleEndian.Uint32(ends[4*k-4:]))
		}
		return lo, int(binary.LittleEndian.Uint32(ends[4*k:]))
	}
	if k > 0 {
		lo = int(binary.LittleEndian.Uint16(ends[2*k-2:]))
	}
	return lo, int(binary.LittleEndian.Uint16(ends[2*k:]))
}

// IDs appends the column ids of a row to dst, with the states Null, Value or
// External, for tools that look at whole rows.
func IDs(row []byte, dst []uint16) ([]uint16, error) {
	var s shape
	if err := s.parse(row, nil); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint16(row[2:]))
	for i := range n {
		dst = append(dst, binary.LittleEndian.Uint16(row[idsAt+2*i:]))
	}
	return dst, nil
}
