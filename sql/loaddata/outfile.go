package loaddata

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// outFileMode lets the server's group read what it wrote, as MySQL does.
const outFileMode = 0o640

// selectIntoFile writes the file of IntoFile.
func (s *load) selectIntoFile(ctx context.Context, q *logical.Query, c *statement.Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) (err error) {
	path, err := s.SecurePath(q.File.Path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, outFileMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return sqlerr.FileExists(q.File.Path)
	case err != nil:
		return sqlerr.CantCreateFile(q.File.Path)
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			os.Remove(path)
		}
	}()
	out := newRowFile(q, bufio.NewWriterSize(f, 1<<16))
	rows := uint64(0)
	err = s.EachRow(ctx, c, vals, func(row []value.Datum) error {
		if rows++; q.File.Dump && rows > 1 {
			return sqlerr.TooManyRows()
		}
		return out.write(row)
	})
	if err != nil {
		return err
	}
	if err := out.w.Flush(); err != nil {
		return sqlerr.ErrorOnWrite(q.File.Path, err)
	}
	s.Functions.Rows = int64(rows)
	return s.OK(w, mysqlwire.OK{AffectedRows: rows}, more)
}

// rowFile writes rows in the format of LOAD DATA.
type rowFile struct {
	f    *logical.OutFile
	cols []logical.Column
	w    *bufio.Writer
	from *collate.Collation // of text, when it is converted
	to   *collate.Collation
	buf  []byte
	conv []byte
}

func newRowFile(q *logical.Query, w *bufio.Writer) *rowFile {
	out := &rowFile{f: q.File, cols: q.Root.Columns(), w: w}
	if q.File.Charset != "" && q.File.Charset != "binary" {
		out.from, _ = collate.DefaultForCharset("utf8mb4")
		out.to, _ = collate.DefaultForCharset(q.File.Charset)
	}
	return out
}

func (o *rowFile) write(row []value.Datum) error {
	if !o.f.Dump {
		o.w.WriteString(o.f.LinesStarting)
	}
	for i, d := range row {
		if i > 0 && !o.f.Dump {
			o.w.WriteString(o.f.FieldsTerminated)
		}
		o.field(o.cols[i].T, d)
	}
	if o.f.Dump {
		return nil
	}
	_, err := o.w.WriteString(o.f.LinesTerminated) // a bufio.Writer keeps its first error
	return err
}

func (o *rowFile) field(t schema.Type, d value.Datum) {
	if d.IsNull() {
		switch {
		case o.f.Dump:
		case o.f.FieldsEscaped != "":
			o.w.WriteString(o.f.FieldsEscaped + "N")
		default:
			o.w.WriteString("NULL")
		}
		return
	}
	o.buf = types.AppendText(o.buf[:0], t, d)
	text := o.buf
	if o.to != nil && !(t.IsString() && t.IsBinary()) {
		o.conv, _ = o.from.Convert(o.conv[:0], text, o.to)
		text = o.conv
	}
	if o.f.Dump {
		o.w.Write(text)
		return
	}
	enclosed := o.f.FieldsEnclosed != "" && (!o.f.OptionallyEnclosed || !t.IsNumeric())
	if enclosed {
		o.w.WriteString(o.f.FieldsEnclosed)
	}
	o.escape(text, enclosed)
	if enclosed {
		o.w.WriteString(o.f.FieldsEnclosed)
	}
}

// escape writes text so that LOAD DATA finds its end.
func (o *rowFile) escape(text []byte, enclosed bool) {
	if o.f.FieldsEscaped == "" {
		o.w.Write(text)
		return
	}
	esc := o.f.FieldsEscaped[0]
	end := first(o.f.FieldsTerminated)
	if enclosed {
		end = first(o.f.FieldsEnclosed)
	}
	line := first(o.f.LinesTerminated)
	for _, b := range text {
		switch c := int(b); {
		case c == 0:
			o.w.WriteByte(esc)
			o.w.WriteByte('0')
			continue
		case b == esc || c == end || c == line:
			o.w.WriteByte(esc)
		}
		o.w.WriteByte(b)
	}
}

// first is the first byte of s, -1 if none exists.
func first(s string) int {
	if s == "" {
		return -1
	}
	return int(s[0])
}
