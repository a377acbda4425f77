package stream

import (
	"encoding/binary"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// Space is the first byte of the keys of records.
const Space byte = 0x20

const (
	seqAt     = 5
	ordinalAt = seqAt + 8
	partAt    = ordinalAt + 4
	keyLen    = partAt + 2
)

// Position is a place in a stream: after the record of that name. The zero
// Position is the start.
type Position struct {
	Seq     uint64
	Ordinal uint32
}

// Behind is the position after all records of a commit.
func Behind(seq uint64) Position { return Position{Seq: seq, Ordinal: ^uint32(0)} }

// Less orders positions.
func (p Position) Less(q Position) bool {
	return p.Seq < q.Seq || p.Seq == q.Seq && p.Ordinal < q.Ordinal
}

func appendStream(dst []byte, id schema.StreamID) []byte {
	return binary.BigEndian.AppendUint32(append(dst, Space), uint32(id))
}

func appendKey(dst []byte, id schema.StreamID, p Position, part uint16) []byte {
	dst = binary.BigEndian.AppendUint64(appendStream(dst, id), p.Seq)
	dst = binary.BigEndian.AppendUint32(dst, p.Ordinal)
	return binary.BigEndian.AppendUint16(dst, part)
}

// Written is a watermark of the commits that write records of a stream.
func Written(kv storage.Store, id schema.StreamID) *storage.Watermark {
	return kv.Mark(appendStream(nil, id))
}

func parseKey(key []byte) (p Position, part uint16, ok bool) {
	if len(key) != keyLen || key[0] != Space {
		return p, 0, false
	}
	p.Seq, p.Ordinal = binary.BigEndian.Uint64(key[seqAt:]), binary.BigEndian.Uint32(key[ordinalAt:])
	return p, binary.BigEndian.Uint16(key[partAt:]), true
}

// Span is all records of a stream.
func Span(id schema.StreamID) storage.Span {
	end := []byte{Space + 1}
	if id != ^schema.StreamID(0) {
		end = appendStream(nil, id+1)
	}
	return storage.Span{Start: appendStream(nil, id), End: end}
}

// spanAfter is the records of a stream after from, and up to to, inclusive.
func spanAfter(id schema.StreamID, from, to Position) storage.Span {
	s := Span(id)
	if from != (Position{}) {
		s.Start = append(appendKey(nil, id, from, ^uint16(0)), 0)
	}
	if to.Seq != ^uint64(0) {
		s.End = append(appendKey(nil, id, to, ^uint16(0)), 0)
	}
	return s
}

const system = 0x01

// systemKey starts a key of the kind in the system space.
func systemKey(kind byte) []byte { return []byte{system, 'w', kind} }

func streamKey(kind byte, id schema.StreamID) []byte {
	return binary.BigEndian.AppendUint32(systemKey(kind), uint32(id))
}

func versionKey(id schema.StreamID, version uint32) []byte {
	return binary.BigEndian.AppendUint32(streamKey('s', id), version)
}

// prefixSpan is all keys that begin with prefix, whose last byte is not FF.
func prefixSpan(prefix []byte) storage.Span {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return storage.Span{Start: prefix, End: end[:i+1]}
		}
	}
}

// SpanUpTo is the records of a stream up to a sequence.
func SpanUpTo(id schema.StreamID, seq uint64) storage.Span {
	return spanAfter(id, Position{}, Behind(seq))
}

// SpanAfter is the records of a stream after a position.
func SpanAfter(id schema.StreamID, after Position) storage.Span {
	return spanAfter(id, after, Behind(^uint64(0)))
}
