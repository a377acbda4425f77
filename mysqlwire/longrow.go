package mysqlwire

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// longValue is the length from which on the values of a row are written from where they
// are: a copy in the out-buffer would be memory that nothing counts. Of such a row those
// of shortValue bytes and more are.
const (
	longValue  = 256 << 10
	shortValue = 1 << 10
)

// findLong notes the columns whose values may be long, together with those of the others.
func (h *Header) findLong() {
	h.long = h.long[:0]
	most := 0
	for k := range h.cells {
		t := h.cells[k].typ
		switch {
		case vec.ClassOf(h.cells[k].kind) != vec.ClassBytes:
		case t.Len <= 0 || t.ID == schema.TypeGeometry || h.cells[k].kind == value.KindJSON:
			most = longValue
			h.long = append(h.long, k)
		case t.Len*maxCharBytes >= shortValue:
			most = min(most+t.Len*maxCharBytes, longValue)
			h.long = append(h.long, k)
		}
	}
	if most < longValue {
		h.long = nil
	}
}

// maxCharBytes is the most bytes of a character.
const maxCharBytes = 4

// isLong reports whether row i of a batch has long values.
func (h *Header) isLong(b *vec.Batch, i int) bool {
	n := 0
	for _, k := range h.long {
		if v := b.Cols[k]; v.Bytes != nil && !v.Nulls.IsNull(i) {
			n += len(v.Bytes[i])
		}
	}
	return n >= longValue
}

// longRow writes a row with long values.
func (w *resultWriter) longRow(b *vec.Batch, i int) error {
	parts, err := w.longParts(b, i)
	defer w.release(&parts)
	if err != nil {
		return err
	}
	out := longPacket{p: &w.c.wire, left: parts.total}
	parts.each(out.write)
	return out.end()
}

// rowParts is the payload of a row with long values, which are not copied.
type rowParts struct {
	list  []rowPart
	total int   // bytes
	held  int64 // bytes of memory
}

// rowPart is a part of a row, whose bytes are converted by c where that is set.
type rowPart struct {
	b []byte
	c *cell
}

// each calls fn with the bytes of the row, one piece after the other.
func (p *rowParts) each(fn func([]byte)) {
	var buf []byte
	for _, part := range p.list {
		if part.c == nil {
			fn(part.b)
			continue
		}
		for rest := part.b; len(rest) > 0; {
			buf, rest = part.c.from.ConvertSome(buf[:0], rest, part.c.to, convertPiece)
			fn(buf)
		}
	}
}

// convertPiece is how many bytes of a long text are converted at a time.
const convertPiece = 16 << 10

func (w *resultWriter) release(p *rowParts) {
	w.c.memory.Release(p.held)
	p.held = 0
}

// longParts is a row with long values. The caller releases it, also after an error.
func (w *resultWriter) longParts(b *vec.Batch, i int) (p rowParts, err error) {
	h := w.h
	var row, bitmap []byte
	if w.binary {
		bitmap = make([]byte, 1+(len(h.cells)+7+bitmapOffset)/8)
		p.add(rowPart{b: bitmap}, len(bitmap))
	}
	for k := range h.cells {
		c, v := &h.cells[k], b.Cols[k]
		if w.binary && (v.Nulls.IsNull(i) || v.Kind == value.KindNull) {
			bit := k + bitmapOffset
			bitmap[1+bit>>3] |= 1 << (bit & 7)
			continue
		}
		if (c.text == textBytes || c.text == textConvert) && !v.Nulls.IsNull(i) && v.Bytes != nil && len(v.Bytes[i]) >= shortValue {
			part := rowPart{b: v.Bytes[i]}
			n := len(part.b)
			if c.text == textConvert && c.from.NeedsConversion(part.b, c.to) {
				part.c = c
				if n, err = w.convertedLen(c, part.b); err != nil {
					return p, err
				}
			}
			row = appendLenEnc(row, uint64(n))
			p.add(rowPart{b: row}, len(row))
			p.add(part, n)
			row = nil
			continue
		}
		if c.kind == value.KindJSON && !v.Nulls.IsNull(i) && v.Bytes != nil && len(v.Bytes[i]) >= longValue {
			n := int64(len(v.Bytes[i])) * textOfJSON
			if err := w.c.memory.Reserve(n); err != nil {
				return p, err
			}
			p.held += n
		}
		row = w.appendCell(row, b, k, i)
	}
	p.add(rowPart{b: row}, len(row))
	return p, nil
}

// textOfJSON is how many bytes the text of a document takes for a moment, for each of its
// own.
const textOfJSON = 4

func (p *rowParts) add(part rowPart, n int) {
	p.list = append(p.list, part)
	p.total += n
}

// appendCell appends a value as it is in a row.
func (w *resultWriter) appendCell(dst []byte, b *vec.Batch, k, i int) []byte {
	one := &Header{cols: w.h.cols[k : k+1], cells: w.h.cells[k : k+1]}
	cells := &vec.Batch{N: b.N, Cols: b.Cols[k : k+1]}
	if !w.binary {
		return one.appendTextRow(dst, cells, i)
	}
	const head = 2 // of a binary row of one column
	at := len(dst)
	dst = one.appendBinaryRow(dst, cells, i)
	return append(dst[:at], dst[at+head:]...)
}

// convertedLen is the length of text on the wire. It ends with the command.
func (w *resultWriter) convertedLen(c *cell, text []byte) (n int, err error) {
	var buf []byte
	for len(text) > 0 {
		if err := w.ended(); err != nil {
			return 0, err
		}
		buf, text = c.from.ConvertSome(buf[:0], text, c.to, convertPiece)
		n += len(buf)
	}
	return n, nil
}

// datums makes a batch of a row that is long; nil for others.
func (h *Header) datums(row []value.Datum) *vec.Batch {
	n := 0
	for _, k := range h.long {
		n += row[k].Size()
	}
	if n < longValue {
		return nil
	}
	b := &vec.Batch{N: 1}
	for i, d := range row {
		v := vec.NewSized(h.cells[i].kind, 1)
		switch {
		case d.IsNull():
			v.Nulls.Set(0)
		case v.Bytes != nil:
			v.SetShared(0, d.Bytes())
		case isInteger(h.cells[i].kind) && d.Kind() != h.cells[i].kind:
			v.SetDatum(0, sameBits(h.cells[i].kind, d))
		default:
			v.SetDatum(0, d)
		}
		b.Cols = append(b.Cols, v)
	}
	return b
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
