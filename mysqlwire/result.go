package mysqlwire

import (
	"io"
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

type resultState uint8

const (
	resultNone resultState = iota // a result is due
	resultRows                    // inside a result set
	resultDone                    // the command is answered
)

// resultWriter is the ResultWriter of a connection; one serves all commands.
type resultWriter struct {
	c      *conn
	binary bool
	state  resultState
	h      *Header
	// wantCursor is set when the client requested a cursor: the rows go to spool, which
	// becomes cursor at the end.
	wantCursor bool
	spool      *spool
	cursor     *spool
	local      *localReader
	broken     bool   // the framing is lost
	flags      Status // of ColumnFlags
}

var _ ResultWriter = (*resultWriter)(nil)

// reset prepares for the next command.
func (w *resultWriter) reset(binary bool) {
	c := w.c
	*w = resultWriter{c: c, binary: binary}
}

// ColumnFlags implements ResultWriter.
func (w *resultWriter) ColumnFlags(flags Status) { w.flags |= flags }

// Binary implements ResultWriter.
func (w *resultWriter) Binary() bool { return w.binary }

// ready checks that a result may begin.
func (w *resultWriter) ready() error {
	if w.state != resultNone {
		return sqlerr.Internal("a result begins inside or after another")
	}
	return w.endLocal()
}

// endLocal reads away what is left of a client's file.
func (w *resultWriter) endLocal() error {
	if w.local == nil {
		return nil
	}
	err := w.local.Close()
	w.local = nil
	return err
}

// dropSpools drops rows of a cursor that did not come to be.
func (w *resultWriter) dropSpools() {
	for _, s := range []*spool{w.spool, w.cursor} {
		if s != nil {
			s.close()
		}
	}
	w.spool, w.cursor = nil, nil
}

// Header implements ResultWriter.
func (w *resultWriter) Header(h *Header) error {
	if err := w.ready(); err != nil {
		return err
	}
	if h == nil || len(h.cols) == 0 {
		return sqlerr.Internal("a result set without columns")
	}
	h = h.in(w.c.resultCollation())
	w.h, w.state = h, resultRows
	if w.wantCursor {
		w.spool = newSpool(&w.c.srv.cfg, h)
		return nil
	}
	w.c.writeHeader(h)
	if !w.c.caps.has(capDeprecateEOF) {
		w.c.writeEOF(0, w.flags)
	}
	return w.c.err
}

// Batch implements ResultWriter.
func (w *resultWriter) Batch(b *vec.Batch) error {
	if w.state != resultRows {
		return sqlerr.Internal("rows outside a result set")
	}
	if err := w.h.checkBatch(b); err != nil {
		return err
	}
	c, h := w.c, w.h
	plain := w.binary && w.spool == nil && h.isPlain(b)
	for i, n := 0, b.Live(); i < n; i++ {
		if w.spool != nil {
			if err := w.spoolRow(b, b.Row(i)); err != nil {
				return err
			}
			continue
		}
		if len(h.long) > 0 && h.isLong(b, b.Row(i)) {
			if err := w.longRow(b, b.Row(i)); err != nil {
				return err
			}
			continue
		}
		start := c.begin()
		switch {
		case plain:
			c.out = h.appendPlainRow(c.out, b, b.Row(i))
		case w.binary:
			c.out = h.appendBinaryRow(c.out, b, b.Row(i))
		default:
			c.out = h.appendTextRow(c.out, b, b.Row(i))
		}
		c.end(start)
		if c.err != nil {
			return c.err
		}
	}
	return w.ended()
}

// spoolRow stores a row of a cursor.
func (w *resultWriter) spoolRow(b *vec.Batch, i int) error {
	if len(w.h.long) > 0 && w.h.isLong(b, i) {
		parts, err := w.longParts(b, i)
		defer w.release(&parts)
		if err != nil {
			return err
		}
		return w.spool.add(parts.total, parts.each)
	}
	return w.spool.built(w.h.appendBinaryRow(w.spool.next(), b, i))
}

// ended returns an error to a writer of rows when the client is gone or the command
// cancelled, so that it need not look itself.
func (w *resultWriter) ended() error {
	if w.c.err != nil {
		return w.c.err
	}
	return w.c.ctx.Err()
}

// Row implements ResultWriter.
func (w *resultWriter) Row(row []value.Datum) error {
	if w.state != resultRows {
		return sqlerr.Internal("rows outside a result set")
	}
	if err := w.h.checkRow(row); err != nil {
		return err
	}
	c := w.c
	if b := w.h.datums(row); b != nil {
		if w.spool != nil {
			return w.spoolRow(b, 0)
		}
		return w.longRow(b, 0)
	}
	if w.spool != nil {
		return w.spool.built(w.h.appendBinaryDatums(w.spool.next(), row))
	}
	start := c.begin()
	if w.binary {
		c.out = w.h.appendBinaryDatums(c.out, row)
	} else {
		c.out = w.h.appendTextDatums(c.out, row)
	}
	c.end(start)
	return c.err
}

// End implements ResultWriter.
func (w *resultWriter) End(e End) error {
	if w.state != resultRows {
		return sqlerr.Internal("the end of rows outside a result set")
	}
	c, flags := w.c, e.Flags
	if w.spool != nil {
		if e.More {
			return sqlerr.NotSupported("a cursor over several results")
		}
		if err := w.spool.finish(); err != nil {
			return err
		}
		w.cursor, w.spool = w.spool, nil
		c.writeHeader(w.h)
		flags |= StatusCursorExists
	}
	w.next(e.More)
	if e.More {
		flags |= StatusMoreResults
	}
	c.writeEOF(e.Warnings, flags)
	return c.err
}

func (w *resultWriter) next(more bool) {
	w.state, w.flags = resultDone, 0
	if more {
		w.state = resultNone
	}
}

// OK implements ResultWriter.
func (w *resultWriter) OK(ok OK) error {
	if err := w.ready(); err != nil {
		return err
	}
	w.next(ok.More)
	return w.c.writeOK(0x00, ok, 0)
}

// LoadLocal implements ResultWriter.
func (w *resultWriter) LoadLocal(name string) (io.ReadCloser, error) {
	switch {
	case w.binary:
		return nil, sqlerr.NotInPreparedProtocol()
	case !w.c.localAllowed():
		return nil, sqlerr.LocalInfileDisabled()
	}
	if err := w.ready(); err != nil {
		return nil, err
	}
	c := w.c
	start := c.begin()
	c.out = append(append(c.out, 0xfb), name...)
	c.end(start)
	if err := c.flush(); err != nil {
		return nil, err
	}
	w.local = &localReader{c: c, ctx: c.ctx}
	return w.local, nil
}

// resultCollation is the collation of text in column definitions.
func (c *conn) resultCollation() schema.CollationID {
	if c.collationer != nil {
		return c.collationer.ResultCollation()
	}
	return c.collation
}

// writeHeader appends the column count and the definitions.
func (c *conn) writeHeader(h *Header) { c.writePackets(h.encoded(c.resultCollation())) }

// writePackets appends packets that are numbered from 1 on.
func (c *conn) writePackets(packets []byte) {
	if c.outBuf == nil {
		c.takeOut()
	}
	c.out, c.seq = appendPackets(c.out, packets, c.seq)
	if len(c.out) >= flushSize {
		_ = c.flush()
	}
}

func clampWarnings(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }

// writeEOF appends an EOF packet, or the OK packet that replaces it:
//
//	fe, warnings (2), status (2)
func (c *conn) writeEOF(warnings int, flags Status) {
	if c.caps.has(capDeprecateEOF) {
		_ = c.writeOK(0xfe, OK{Warnings: warnings}, flags)
		return
	}
	flags |= c.sess.Status()
	start := c.begin()
	out := append(c.out, 0xfe)
	out = appendUint16(out, clampWarnings(warnings))
	c.out = appendUint16(out, uint16(flags))
	c.end(start)
}

// writeOK appends an OK packet:
//
//	00 or fe, affected rows, last insert id (length-encoded), status (2),
//	warnings (2), info, session changes (length-encoded, if there are any)
func (c *conn) writeOK(first byte, ok OK, flags Status) error {
	flags |= c.sess.Status()
	if ok.More {
		flags |= StatusMoreResults
	}
	changes := c.stateChanges()
	track := len(changes) > 0
	if track {
		flags |= StatusSessionChanged
	}
	start := c.begin()
	out := append(c.out, first)
	out = appendLenEnc(out, ok.AffectedRows)
	out = appendLenEnc(out, ok.LastInsertID)
	out = appendUint16(out, uint16(flags))
	out = appendUint16(out, clampWarnings(ok.Warnings))
	if ok.Info != "" || track {
		out = appendLenEncString(out, ok.Info)
	}
	if track {
		out = appendLenEncBytes(out, changes)
	}
	c.out = out
	c.end(start)
	return c.err
}

// Traffic is how many bytes the client has sent, and has been sent, since it
// connected, without compression and TLS.
func (w *resultWriter) Traffic() (received, sent uint64) {
	return w.c.received, w.c.flushed + uint64(len(w.c.out))
}
