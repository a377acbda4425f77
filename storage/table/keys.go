package table

import (
	"encoding/binary"
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// The key spaces.
const (
	SpaceEngine byte = 0x00
	SpaceSystem byte = 0x01
	SpaceTable  byte = 0x10
)

// CellIndexID is the index id under which the cells of large values are stored.
const CellIndexID schema.IndexID = 0xFFFF

// HistoryIndexID is the index id under which the earlier versions of rows
// are stored.
const HistoryIndexID schema.IndexID = 0xFFFE

// CellThreshold is the size in bytes above which a value of a row is kept in a
// cell of its own.
const CellThreshold = 4 << 10

// prefixLen is the length of what TablePrefix appends.
const prefixLen = 7

// cellSuffixLen is the length of what a cell's key appends to its row's.
const cellSuffixLen = 2

// TablePrefix appends the bytes with which all keys of an index begin;
// schema.PrimaryIndexID is the rows.
func TablePrefix(dst []byte, t schema.TableID, x schema.IndexID) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, SpaceTable), uint32(t))
	return binary.BigEndian.AppendUint16(dst, uint16(x))
}

// IndexSpan is the span of all keys of an index; schema.PrimaryIndexID is the
// rows.
func IndexSpan(t schema.TableID, x schema.IndexID) storage.Span {
	s := storage.Span{Start: TablePrefix(nil, t, x)}
	if x == CellIndexID {
		s.End = TableSpan(t).End
		return s
	}
	s.End = TablePrefix(nil, t, x+1)
	return s
}

// PartitionSpan is the part of IndexSpan that has the rows of a partition, or the cells
// or earlier versions of these.
func PartitionSpan(t schema.TableID, x schema.IndexID, number int64) storage.Span {
	s := storage.Span{Start: keyenc.AppendInt(TablePrefix(nil, t, x), number, false)}
	if s.End = prefixEnd(s.Start); number == math.MaxInt64 {
		s.End = IndexSpan(t, x).End
	}
	return s
}

// TableSpan is the span of all data of a table: rows, cells and entries.
func TableSpan(t schema.TableID) storage.Span {
	end := []byte{SpaceTable + 1}
	if t != ^schema.TableID(0) {
		end = binary.BigEndian.AppendUint32([]byte{SpaceTable}, uint32(t)+1)
	}
	return storage.Span{Start: binary.BigEndian.AppendUint32([]byte{SpaceTable}, uint32(t)), End: end}
}

// SplitKey takes a key of table data apart; ok is false for other keys. The
// rest shares the key.
func SplitKey(key []byte) (t schema.TableID, x schema.IndexID, rest []byte, ok bool) {
	if len(key) < prefixLen || key[0] != SpaceTable {
		return 0, 0, nil, false
	}
	return schema.TableID(binary.BigEndian.Uint32(key[1:])), schema.IndexID(binary.BigEndian.Uint16(key[5:])), key[prefixLen:], true
}
