package mysqlwire

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
)

// longValue is the length from which on a value is written from where it is: a copy
// in the out-buffer would be memory that nothing counts.
const longValue = 256 << 10

// findLong notes the columns that may hold a long value.
func (h *Header) findLong() {
	h.long = h.long[:0]
	for k := range h.cells {
		t := &h.cols[k].Type
		if h.cells[k].text == textBytes && (t.Len <= 0 || t.Len*maxCharBytes >= longValue || t.ID == schema.TypeGeometry) {
			h.long = append(h.long, k)
		}
	}
}

// maxCharBytes is the most bytes of a character.
const maxCharBytes = 4

func (h *Header) isLongCell(b *vec.Batch, k, i int) bool {
	v := b.Cols[k]
	return v.Bytes != nil && !v.Nulls.IsNull(i) && len(v.Bytes[i]) >= longValue
}

// isLong reports whether row i of a batch has a long value.
func (h *Header) isLong(b *vec.Batch, i int) bool {
	for _, k := range h.long {
		if h.isLongCell(b, k, i) {
			return true
		}
	}
	return false
}

// longRow writes a row with long values.
func (w *resultWriter) longRow(b *vec.Batch, i int) error {
	parts, total := w.longParts(b, i)
	out := longPacket{p: &w.c.wire, left: total}
	for _, p := range parts {
		out.write(p)
	}
	return out.end()
}

// longParts is the payload of a row with long values, which are not copied, and its
// length.
func (w *resultWriter) longParts(b *vec.Batch, i int) (parts [][]byte, total int) {
	h := w.h
	short := &vec.Batch{N: b.N, Cols: append([]*vec.Vec(nil), b.Cols...)}
	var long []int
	for _, k := range h.long {
		if h.isLongCell(b, k, i) {
			long = append(long, k)
			short.Cols[k] = &vec.Vec{Kind: b.Cols[k].Kind, Bytes: make([][]byte, i+1)}
			n := len(b.Cols[k].Bytes[i])
			total += n + len(appendLenEnc(nil, uint64(n))) - 1
		}
	}
	row := w.appendRow(short, len(h.cells), i) // a long value is the one byte of an empty text
	total += len(row)
	at := 0
	for _, k := range long {
		end := len(w.appendRow(short, k, i)) + w.headLen(len(h.cells)) - w.headLen(k)
		text := b.Cols[k].Bytes[i]
		parts = append(parts, row[at:end], appendLenEnc(nil, uint64(len(text))), text)
		at = end + 1
	}
	return append(parts, row[at:]), total
}

// appendRow is the first columns of a row, of n columns.
func (w *resultWriter) appendRow(b *vec.Batch, n, i int) []byte {
	first := &Header{cols: w.h.cols[:n], cells: w.h.cells[:n]}
	if w.binary {
		return first.appendBinaryRow(nil, b, i)
	}
	return first.appendTextRow(nil, b, i)
}

// headLen is the length of what comes before the values of a row of n columns.
func (w *resultWriter) headLen(n int) int {
	if !w.binary {
		return 0
	}
	return 1 + (n+7+bitmapOffset)/8
}

// longPacket writes a payload of a known length without keeping it.
type longPacket struct {
	p    *wire
	left int // of the payload
	part int // of the part under way
	last int // the length of the last part that began
}

func (l *longPacket) write(b []byte) {
	for len(b) > 0 && l.p.err == nil {
		if l.part == 0 {
			l.begin()
		}
		n := min(len(b), l.part)
		l.p.writeThrough(b[:n])
		l.part -= n
		l.left -= n
		b = b[n:]
	}
}

// begin writes the header of the next part.
func (l *longPacket) begin() {
	l.last = min(l.left, maxPayload)
	l.part = l.last
	var head [headerLen]byte
	putHeader(head[:], l.last, l.p.seq)
	l.p.seq++
	l.p.writeThrough(head[:])
}

// end writes the empty part after a payload that is a multiple of maxPayload.
func (l *longPacket) end() error {
	if l.last == maxPayload {
		l.begin()
	}
	return l.p.err
}

// writeThrough writes b after what is in the out-buffer, without a copy where b is
// long.
func (p *wire) writeThrough(b []byte) {
	if len(b) < flushSize {
		if p.outBuf == nil {
			p.takeOut()
		}
		p.out = append(p.out, b...)
		if len(p.out) >= flushSize {
			_ = p.flush()
		}
		return
	}
	if p.flush() != nil {
		return
	}
	p.phase(phaseWriting)
	p.flushed += uint64(len(b))
	_, err := p.dst.Write(b)
	p.phase(phaseBusy)
	if err != nil {
		p.err = gone("writing packet", err)
	}
}
