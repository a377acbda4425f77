package httpd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// flushSize is how much of a response is written at once. A response that ends before has
// its status by how it ended.
const flushSize = 64 << 10

// leastGzip is the size in bytes below which a whole response is not compressed, unless the
// client insists.
const leastGzip = 1400

// endTrailer is the trailer, or the header of a short response, with what the last line of NDJSON says, for CSV and TSV.
const endTrailer = "X-Sqlots-End"

type resultState uint8

const (
	resultNone resultState = iota // a result is due
	resultRows                    // inside a result set
	resultDone                    // the request is answered
)

// results is the ResultWriter of a request.
type results struct {
	encoder
	ctx     context.Context
	w       http.ResponseWriter
	control *http.ResponseController
	media   string
	names   bool   // a line of names where the format has none by itself
	multi   bool   // several statements
	maxRows uint64 // of a result
	gzip    gzipChoice
	timeout time.Duration // for a write
	file    io.ReadCloser // of LOAD DATA LOCAL; nil: none

	state     resultState
	n         int // results that are complete
	truncated bool
	committed bool // status and headers are sent
	sent      uint64
	zip       *gzip.Writer
	err       error // of writing; the client is gone
	start     time.Time
}

type gzipChoice uint8

const (
	gzipNever gzipChoice = iota
	gzipLarge            // where it is worth it
	gzipAlways
)

var _ mysqlwire.ResultWriter = (*results)(nil)

// errClientGone ends a statement whose results cannot be written.
var errClientGone = errors.New("the client is gone")

// ColumnFlags implements mysqlwire.ResultWriter.
func (w *results) ColumnFlags(mysqlwire.Status) {}

// Binary implements mysqlwire.ResultWriter.
func (w *results) Binary() bool { return false }

// SentBytes is how many bytes of results were made.
func (w *results) SentBytes() uint64 { return w.sent + uint64(len(w.out)) }

func (w *results) ready() error {
	if w.state != resultNone {
		return sqlerr.Internal("a result begins inside or after another")
	}
	if w.n > 0 && !w.format.isJSON() {
		w.out = append(w.out, '\n')
	}
	if w.format == formatJSON && w.multi {
		if w.n == 0 {
			w.out = append(w.out, "{\"results\":[\n"...)
		} else {
			w.out = append(w.out, ",\n"...)
		}
	}
	return nil
}

// Header implements mysqlwire.ResultWriter.
func (w *results) Header(h *mysqlwire.Header) error {
	if err := w.ready(); err != nil {
		return err
	}
	w.state, w.truncated = resultRows, false
	w.begin(h)
	w.header(w.names)
	return w.emptied()
}

// Batch implements mysqlwire.ResultWriter.
func (w *results) Batch(b *vec.Batch) error {
	if w.state != resultRows {
		return sqlerr.Internal("rows outside a result set")
	}
	if err := w.h.Check(b); err != nil {
		return err
	}
	left := w.maxRows - w.rows
	if uint64(b.Live()) > left {
		w.truncated = true
	}
	if err := w.batch(b, left, w.emptied); err != nil {
		return err
	}
	return w.ctx.Err()
}

// Enough reports that no more rows of the present result are written.
func (w *results) Enough() bool { return w.truncated }

// Row implements mysqlwire.ResultWriter.
func (w *results) Row(row []value.Datum) error {
	if w.state != resultRows {
		return sqlerr.Internal("rows outside a result set")
	}
	if err := w.h.CheckRow(row); err != nil {
		return err
	}
	if w.rows >= w.maxRows {
		w.truncated = true
		return nil
	}
	if err := w.row(row); err != nil {
		return err
	}
	return w.emptied()
}

// End implements mysqlwire.ResultWriter.
func (w *results) End(e mysqlwire.End) error {
	if w.state != resultRows {
		return sqlerr.Internal("the end of rows outside a result set")
	}
	if w.format == formatJSON {
		w.out = append(w.out, "\n],\n"...)
	}
	w.end(e.More, e.Warnings, func(dst []byte) []byte {
		dst = append(dst, `"rows":`...)
		dst = strconv.AppendUint(dst, w.rows, 10)
		if w.truncated {
			dst = append(dst, `,"truncated":true`...)
		}
		return dst
	})
	return w.between()
}

// OK implements mysqlwire.ResultWriter.
func (w *results) OK(ok mysqlwire.OK) error {
	if err := w.ready(); err != nil {
		return err
	}
	if w.format == formatJSON {
		w.out = append(w.out, '{')
	}
	w.end(ok.More, ok.Warnings, func(dst []byte) []byte {
		dst = append(dst, `"affected_rows":`...)
		dst = strconv.AppendUint(dst, ok.AffectedRows, 10)
		dst = append(dst, `,"last_insert_id":`...)
		dst = strconv.AppendUint(dst, ok.LastInsertID, 10)
		if ok.Info != "" {
			dst = append(dst, `,"info":`...)
			dst = appendJSONString(dst, ok.Info)
		}
		return dst
	})
	return w.between()
}

// end appends the end of a result, with what it says of itself.
func (w *results) end(more bool, warnings int, what func(dst []byte) []byte) {
	w.n++
	w.state = resultDone
	if more {
		w.state = resultNone
	}
	end := append(what([]byte{'{'}), `,"warnings":`...)
	end = appendInt(end, int64(warnings))
	end = append(end, `,"elapsed_ms":`...)
	end = strconv.AppendFloat(end, math.Round(float64(time.Since(w.start))/1e4)/100, 'f', -1, 64)
	if more {
		end = append(end, `,"more":true`...)
	}
	end = append(end, '}')
	switch {
	case w.format == formatNDJSON:
		w.out = append(append(append(w.out, `{"end":`...), end...), "}\n"...)
	case w.format == formatJSON:
		w.out = append(append(append(w.out, `"end":`...), end...), '}')
		if !more && w.multi {
			w.out = append(w.out, "\n]}"...)
		}
		if !more {
			w.out = append(w.out, '\n')
		}
	case !more:
		w.w.Header().Set(endTrailer, string(end))
	}
}

// LoadLocal implements mysqlwire.ResultWriter: the file is the body of the request.
func (w *results) LoadLocal(string) (io.ReadCloser, error) {
	if w.file == nil {
		return nil, sqlerr.LocalInfileDisabled()
	}
	f := w.file
	w.file = nil
	return f, nil
}

// emptied writes what has gathered, if it is much.
func (w *results) emptied() error {
	if len(w.out) < flushSize {
		return nil
	}
	return w.empty()
}

// between is emptied between results. The end of the last one is written by finish, when
// the session is free.
func (w *results) between() error {
	if w.state == resultDone {
		return nil
	}
	return w.emptied()
}

// empty writes what has gathered. It waits for the client, which is how a slow one slows its
// statement down.
func (w *results) empty() error {
	if w.err != nil {
		return w.err
	}
	w.commit(w.gzip != gzipNever)
	return w.write()
}

// commit sends status and headers.
func (w *results) commit(zipped bool) {
	if w.committed {
		return
	}
	w.committed = true
	h := w.w.Header()
	h.Set("Content-Type", w.media)
	h.Set("Vary", "Accept, Accept-Encoding")
	if zipped {
		h.Set("Content-Encoding", "gzip")
		w.zip, _ = gzip.NewWriterLevel(w.w, gzip.BestSpeed) // the level is one
	}
	if !w.format.isJSON() && h.Get(endTrailer) == "" { // it is known when all has been written
		h.Set("Trailer", endTrailer)
	}
	w.w.WriteHeader(http.StatusOK)
}

// write sends the output to the client.
func (w *results) write() error {
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout))
	var to io.Writer = w.w
	if w.zip != nil {
		to = w.zip
	}
	_, err := to.Write(w.out)
	w.sent += uint64(len(w.out))
	if w.out = w.out[:0]; cap(w.out) > 1<<20 {
		w.out = nil
	}
	if err != nil {
		w.err = errClientGone
		if w.ctx.Err() != nil {
			w.err = w.ctx.Err()
		}
		return w.err
	}
	return nil
}

// finish answers the request, after its statement ended with err. A response that cannot be
// completed is cut off.
func (w *results) finish(r *http.Request, err error) {
	if err == nil && w.state != resultDone {
		err = sqlerr.Internal("a statement ended without its result")
	}
	statement := 0
	if w.multi {
		statement = w.n + 1
	}
	switch {
	case err == nil && w.err == nil:
		if !w.committed {
			w.commit(w.gzip == gzipAlways || w.gzip == gzipLarge && len(w.out) >= leastGzip)
			if w.zip == nil && w.format.isJSON() {
				w.w.Header().Set("Content-Length", strconv.Itoa(len(w.out)))
			}
		}
		if w.write() != nil || w.zip != nil && w.zip.Close() != nil {
			panic(http.ErrAbortHandler)
		}
		return
	case w.err != nil:
		panic(http.ErrAbortHandler)
	}
	var p *problem
	if errors.As(err, &p) {
		answer(w.w, r, p)
		return
	}
	e := mysqlwire.ErrorOf(w.ctx, err)
	if !w.committed {
		w.w.Header().Del(endTrailer)
		if w.ctx.Err() != nil {
			w.w.Header().Set("Connection", "close") // its deadlines have passed
		}
		_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout))
		writeFailure(w.w, r, statusOf(e), appendError(nil, e, statement))
		return
	}
	if n := len(w.out); n > 0 && w.out[n-1] != '\n' {
		w.out = append(w.out, '\n')
	}
	w.out = appendError(w.out, e, statement)
	_ = w.control.SetWriteDeadline(time.Now().Add(forceAfter))
	if w.zip != nil {
		_, _ = w.zip.Write(w.out)
		_ = w.zip.Flush()
	} else {
		_, _ = w.w.Write(w.out)
	}
	_ = w.control.Flush()
	panic(http.ErrAbortHandler)
}

// quiet is a ResultWriter that keeps nothing.
type quiet struct{}

var _ mysqlwire.ResultWriter = (*quiet)(nil)

// ColumnFlags implements mysqlwire.ResultWriter.
func (*quiet) ColumnFlags(mysqlwire.Status) {}

// Binary implements mysqlwire.ResultWriter.
func (*quiet) Binary() bool { return false }

// Header implements mysqlwire.ResultWriter.
func (*quiet) Header(*mysqlwire.Header) error { return nil }

// Batch implements mysqlwire.ResultWriter.
func (*quiet) Batch(*vec.Batch) error { return nil }

// Row implements mysqlwire.ResultWriter.
func (*quiet) Row([]value.Datum) error { return nil }

// End implements mysqlwire.ResultWriter.
func (*quiet) End(mysqlwire.End) error { return nil }

// OK implements mysqlwire.ResultWriter.
func (*quiet) OK(mysqlwire.OK) error { return nil }

// LoadLocal implements mysqlwire.ResultWriter.
func (*quiet) LoadLocal(string) (io.ReadCloser, error) { return nil, sqlerr.LocalInfileDisabled() }

// table is a ResultWriter that keeps the texts of a small result.
type table struct {
	quiet
	h    *mysqlwire.Header
	rows [][]string // "" for NULL
	ok   mysqlwire.OK
	file io.ReadCloser
}

// Header implements mysqlwire.ResultWriter.
func (t *table) Header(h *mysqlwire.Header) error { t.h = h; return nil }

// Batch implements mysqlwire.ResultWriter.
func (t *table) Batch(b *vec.Batch) error {
	if err := t.h.Check(b); err != nil {
		return err
	}
	for i := range b.Live() {
		row := make([]value.Datum, len(b.Cols))
		for k, v := range b.Cols {
			if n := b.Row(i); !v.Nulls.IsNull(n) {
				row[k] = v.Datum(n)
			}
		}
		if err := t.Row(row); err != nil {
			return err
		}
	}
	return nil
}

// Row implements mysqlwire.ResultWriter.
func (t *table) Row(row []value.Datum) error {
	if err := t.h.CheckRow(row); err != nil {
		return err
	}
	texts := make([]string, len(row))
	for k, d := range row {
		if !d.IsNull() {
			texts[k] = string(bytes.Clone(t.h.AppendDatum(nil, k, d)))
		}
	}
	t.rows = append(t.rows, texts)
	return nil
}

// OK implements mysqlwire.ResultWriter.
func (t *table) OK(ok mysqlwire.OK) error { t.ok = ok; return nil }

// LoadLocal implements mysqlwire.ResultWriter.
func (t *table) LoadLocal(string) (io.ReadCloser, error) {
	if t.file == nil {
		return nil, sqlerr.LocalInfileDisabled()
	}
	return t.file, nil
}
