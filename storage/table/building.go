package table

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// While an index is built, writers leave its entries to the builder and note which of
// them may have changed: a change is only the name of an entry and of the row that had
// or has it. All else follows from the present row, so changes may be noted twice and
// taken in any order.
//
//	prefix(table, ChangesIndexID) index (2 bytes BE) hash (16 bytes)
//
// holds the length of the entry's key as a varint, that key and the row's, both
// without their prefixes. The hash is of both.

// ChangesIndexID is the index id under which the changes of indexes that are
// being built are stored.
const ChangesIndexID schema.IndexID = 0xFFFD

const changeHashLen = 16

// ChangesSpan is the span of the changes of an index that is being built.
func ChangesSpan(t schema.TableID, x schema.IndexID) storage.Span {
	start := binary.BigEndian.AppendUint16(TablePrefix(nil, t, ChangesIndexID), uint16(x))
	return storage.Span{Start: start, End: append(bytes.Clone(start), bytes.Repeat([]byte{0xFF}, changeHashLen+1)...)}
}

// AppendChange appends the key and the value of the change of an entry to dst
// and returns where the value starts.
func (x *Index) AppendChange(dst, entry, row []byte) (out []byte, valueAt int) {
	dst = TablePrefix(dst, x.codec.Table.ID, ChangesIndexID)
	dst = binary.BigEndian.AppendUint16(dst, uint16(x.Desc.ID))
	hashAt := len(dst)
	dst = append(dst, make([]byte, changeHashLen)...)
	valueAt = len(dst)
	dst = binary.AppendUvarint(dst, uint64(len(entry)-prefixLen))
	dst = append(dst, entry[prefixLen:]...)
	dst = append(dst, row[prefixLen:]...)
	sum := sha256.Sum256(dst[valueAt:])
	copy(dst[hashAt:valueAt], sum[:])
	return dst, valueAt
}

// SplitChange gives the keys that the value of a change names.
func (x *Index) SplitChange(val []byte) (entry, row []byte, err error) {
	n, used := binary.Uvarint(val)
	if used <= 0 || n > uint64(len(val)-used) {
		return nil, nil, x.corrupt(val, fmt.Errorf("%w: malformed change", storage.ErrCorruption))
	}
	val = val[used:]
	entry = append(append(make([]byte, 0, prefixLen+int(n)), x.prefix...), val[:n]...)
	row = append(append(make([]byte, 0, prefixLen+len(val)-int(n)), x.codec.prefix...), val[n:]...)
	return entry, row, nil
}

// IsBuilding reports whether the entries are left to the builder.
func (x *Index) IsBuilding() bool { return x.Desc.State == schema.IndexBuilding }

// noteChange notes that an entry of a row has changed.
func (w *Writer) noteChange(ctx context.Context, x *Index, entry, row []byte) error {
	var at int
	w.buf, at = x.AppendChange(w.buf[:0], entry, row)
	return w.txn.Put(ctx, w.buf[:at], w.buf[at:])
}
