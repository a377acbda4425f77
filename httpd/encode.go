package httpd

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// format is a form of results.
type format uint8

const (
	formatNDJSON format = iota
	formatJSON
	formatCSV
	formatTSV
)

// formats are the names of formats, and their media types.
var formats = map[string]struct {
	format format
	media  string
}{
	"ndjson": {formatNDJSON, "application/x-ndjson"},
	"json":   {formatJSON, "application/json"},
	"csv":    {formatCSV, "text/csv; charset=utf-8"},
	"tsv":    {formatTSV, "text/tab-separated-values; charset=utf-8"},
}

func (f format) isJSON() bool { return f == formatNDJSON || f == formatJSON }

// mode is how the values of a column are written.
type mode uint8

const (
	modeInt    mode = iota // I64, signed
	modeUint               // I64, unsigned
	modeNumber             // text that JSON takes as a number
	modePlain              // text without characters to escape
	modeText
	modeBinary
	modeJSON
	modeGeometry
	modeBit
)

// shape is what a client chooses of how values are written.
type shape struct {
	format    format
	quoteLong bool   // BIGINT and DECIMAL are strings of JSON
	binary    string // "base64", "hex" or "raw"
	geometry  string // "wkt", "geojson" or "raw"
	objects   bool   // rows are objects of JSON
}

type column struct {
	mode   mode
	quoted bool   // a number that is a string of JSON
	zeros  bool   // leading zeros are left out
	direct bool   // the bytes of a batch are the text
	key    []byte // "name": with objects, and the separator before it
}

// encoder writes the rows of a result. Rows are appended to a buffer that its owner empties
// in between; values of longValue bytes and more go out in parts, by flush.
type encoder struct {
	shape
	h     *mysqlwire.Header
	cols  []column
	out   []byte
	rows  uint64
	flush func() error
	tmp   []byte
}

// longValue is the size in bytes from which a value is written in parts. longPart, the size
// of a part, is a multiple of three, as base64 needs.
const (
	longValue = 48 << 10
	longPart  = 24 << 10
)

// begin prepares for a result.
func (e *encoder) begin(h *mysqlwire.Header) {
	e.h, e.rows = h, 0
	e.cols = e.cols[:0]
	for i, c := range h.Columns() {
		e.cols = append(e.cols, e.column(i, &c))
	}
}

func (e *encoder) column(i int, c *mysqlwire.Column) column {
	t := &c.Type
	col := column{mode: modeText}
	json := e.format.isJSON()
	switch {
	case t.ID == schema.TypeBit:
		col.mode = modeBit
		if !json {
			col.mode = modeBinary
		}
	case t.ID == schema.TypeGeometry:
		col.mode = modeGeometry
	case t.ID == schema.TypeJSON:
		col.mode = modeJSON
	case t.IsTemporal():
		col.mode = modePlain
	case t.ID == schema.TypeYear && json:
		col.mode = modeUint
	case t.IsInteger() && (json || !t.Zerofill):
		col.mode = modeInt
		if t.Unsigned || types.KindOf(*t) == value.KindUint {
			col.mode = modeUint
		}
		col.quoted = json && e.quoteLong && t.ID == schema.TypeBigInt
	case t.IsNumeric():
		col.mode, col.zeros = modeNumber, json && t.Zerofill
		col.quoted = json && e.quoteLong && t.ID == schema.TypeDecimal
	case t.IsString() && (t.IsBinary() || t.Collation == schema.CollationBinary):
		col.mode = modeBinary
	case t.IsString():
		from, ok := collate.Lookup(t.Collation)
		col.direct = ok && strings.HasPrefix(from.Charset, "utf8")
	}
	if e.objects {
		if i > 0 {
			col.key = append(col.key, ',')
		}
		col.key = append(appendJSONString(col.key, c.Name), ':')
	}
	return col
}

// encoding says how a column's values are written where that is not plain from its type.
func (e *encoder) encoding(c *column) string {
	switch c.mode {
	case modeBinary:
		return e.binary
	case modeGeometry:
		if e.geometry == "raw" {
			return e.binary
		}
		return e.geometry
	case modeBit:
		return "number"
	}
	return ""
}

// cell is a value: of a batch, or a datum.
type cell struct {
	v *vec.Vec
	i int
	d value.Datum
}

func (c *cell) bytes() []byte {
	if c.v != nil {
		return c.v.Bytes[c.i]
	}
	return c.d.Bytes()
}

func (c *cell) word() uint64 {
	if c.v != nil {
		return uint64(c.v.I64[c.i])
	}
	return c.d.Bits()
}

// batch appends the rows of a checked batch, at most max of them. emptied is called after
// each row.
func (e *encoder) batch(b *vec.Batch, max uint64, emptied func() error) error {
	n := b.Live()
	if uint64(n) > max {
		n = int(max)
	}
	for r := range n {
		i := b.Row(r)
		e.beginRow()
		for k := range e.cols {
			col, v := &e.cols[k], b.Cols[k]
			e.separate(k, col)
			if v.Nulls.IsNull(i) || v.Kind == value.KindNull {
				e.null()
				continue
			}
			switch {
			case col.mode == modeInt && !col.quoted:
				e.out = appendInt(e.out, v.I64[i])
			case col.mode == modeUint && !col.quoted:
				e.out = strconv.AppendUint(e.out, uint64(v.I64[i]), 10)
			case col.mode == modeText && v.Kind == value.KindBytes && len(v.Bytes[i]) < longValue && col.direct:
				e.text(v.Bytes[i])
			default:
				if err := e.value(k, col, cell{v: v, i: i}); err != nil {
					return err
				}
			}
		}
		e.endRow()
		if err := emptied(); err != nil {
			return err
		}
	}
	return nil
}

// row appends a checked row of datums.
func (e *encoder) row(row []value.Datum) error {
	e.beginRow()
	for k, d := range row {
		col := &e.cols[k]
		e.separate(k, col)
		if d.IsNull() {
			e.null()
			continue
		}
		if err := e.value(k, col, cell{d: d}); err != nil {
			return err
		}
	}
	e.endRow()
	return nil
}

func (e *encoder) beginRow() {
	switch {
	case !e.format.isJSON():
	case e.format == formatJSON && e.rows > 0 && e.objects:
		e.out = append(e.out, ",\n{"...)
	case e.format == formatJSON && e.rows > 0:
		e.out = append(e.out, ",\n["...)
	case e.objects:
		e.out = append(e.out, '{')
	default:
		e.out = append(e.out, '[')
	}
	e.rows++
}

func (e *encoder) endRow() {
	switch {
	case e.format == formatJSON && e.objects:
		e.out = append(e.out, '}')
	case e.format == formatJSON:
		e.out = append(e.out, ']')
	case e.format == formatNDJSON && e.objects:
		e.out = append(e.out, "}\n"...)
	case e.format == formatNDJSON:
		e.out = append(e.out, "]\n"...)
	default:
		e.out = append(e.out, '\n')
	}
}

func (e *encoder) separate(k int, col *column) {
	switch {
	case e.objects:
		e.out = append(e.out, col.key...)
	case k == 0:
	case e.format == formatTSV:
		e.out = append(e.out, '\t')
	default:
		e.out = append(e.out, ',')
	}
}

func (e *encoder) null() {
	switch e.format {
	case formatCSV:
		e.out = append(e.out, "NULL"...)
	case formatTSV:
		e.out = append(e.out, `\N`...)
	default:
		e.out = append(e.out, "null"...)
	}
}

// value appends a value that is not NULL.
func (e *encoder) value(k int, col *column, c cell) error {
	json := e.format.isJSON()
	if col.quoted {
		e.out = append(e.out, '"')
		defer func() { e.out = append(e.out, '"') }()
	}
	switch col.mode {
	case modeInt:
		e.out = appendInt(e.out, int64(c.word()))
		return nil
	case modeUint, modeBit:
		e.out = strconv.AppendUint(e.out, c.word(), 10)
		return nil
	case modeNumber:
		e.number(k, col, c)
		return nil
	case modePlain:
		if json {
			e.out = append(e.out, '"')
		}
		e.out = e.appendText(e.out, k, c)
		if json {
			e.out = append(e.out, '"')
		}
		return nil
	case modeJSON:
		if json {
			at := len(e.out)
			e.out = e.appendText(e.out, k, c)
			e.valid(at)
			return nil
		}
	case modeGeometry:
		return e.geometryValue(c.bytes())
	case modeBinary:
		if e.h.Columns()[k].Type.ID == schema.TypeBit {
			e.tmp = e.appendText(e.tmp[:0], k, c)
			return e.bytesValue(e.tmp)
		}
		return e.bytesValue(c.bytes())
	}
	text := e.tmp[:0]
	if col.direct && isBytes(&c) {
		text = c.bytes()
	} else {
		e.tmp = e.appendText(text, k, c)
		text = e.tmp
	}
	if len(text) < longValue {
		e.text(text)
	} else if err := e.long(text); err != nil {
		return err
	}
	if cap(e.tmp) > 1<<20 {
		e.tmp = nil
	}
	return nil
}

func isBytes(c *cell) bool {
	if c.v != nil {
		return c.v.Kind == value.KindBytes
	}
	return c.d.Kind() == value.KindBytes
}

// valid replaces a text of JSON that is not UTF-8, which a function may have made, in the
// output from at on.
func (e *encoder) valid(at int) {
	if !utf8.Valid(e.out[at:]) {
		e.out = append(e.out[:at], bytes.ToValidUTF8(e.out[at:], []byte("\uFFFD"))...)
	}
}

func (e *encoder) appendText(dst []byte, k int, c cell) []byte {
	if c.v != nil {
		return e.h.AppendText(dst, k, c.v, c.i)
	}
	return e.h.AppendDatum(dst, k, c.d)
}

func (e *encoder) number(k int, col *column, c cell) {
	if e.format.isJSON() && (c.v != nil && c.v.Kind == value.KindFloat && !finite(c.v.F64[c.i]) || c.v == nil && c.d.Kind() == value.KindFloat && !finite(c.d.Float())) {
		e.out = append(e.out, "null"...)
		return
	}
	at := len(e.out)
	e.out = e.appendText(e.out, k, c)
	if !col.zeros {
		return
	}
	text := e.out[at:]
	n := 0
	for n < len(text)-1 && text[n] == '0' && text[n+1] != '.' {
		n++
	}
	e.out = append(e.out[:at], text[n:]...)
}

func finite(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }

// text appends a short text in the form of the format.
func (e *encoder) text(b []byte) {
	switch e.format {
	case formatCSV:
		e.out = appendCSV(e.out, b)
	case formatTSV:
		e.out = appendTSV(e.out, b)
	default:
		e.out = append(e.out, '"')
		e.out = appendEscaped(e.out, b)
		e.out = append(e.out, '"')
	}
}

// long appends a text in parts.
func (e *encoder) long(b []byte) error {
	if !e.format.isJSON() {
		quote := e.format == formatCSV && needsQuotes(b)
		if quote {
			e.out = append(e.out, '"')
		}
		err := e.parts(b, func(part []byte) {
			switch {
			case e.format == formatTSV:
				e.out = appendTSV(e.out, part)
			case quote:
				e.out = appendDoubled(e.out, part)
			default:
				e.out = append(e.out, part...)
			}
		})
		if quote {
			e.out = append(e.out, '"')
		}
		return err
	}
	e.out = append(e.out, '"')
	for len(b) > 0 {
		n := min(len(b), longPart)
		for n < len(b) && n > longPart-utf8.UTFMax && !utf8.RuneStart(b[n]) {
			n--
		}
		e.out = appendEscaped(e.out, b[:n])
		b = b[n:]
		if err := e.flush(); err != nil {
			return err
		}
	}
	e.out = append(e.out, '"')
	return nil
}

func (e *encoder) parts(b []byte, add func(part []byte)) error {
	for len(b) > 0 {
		n := min(len(b), longPart)
		add(b[:n])
		b = b[n:]
		if err := e.flush(); err != nil {
			return err
		}
	}
	return nil
}

// bytesValue appends a binary string.
func (e *encoder) bytesValue(b []byte) error {
	if e.binary == "raw" {
		if len(b) < longValue {
			e.text(b)
			return nil
		}
		return e.long(b)
	}
	json := e.format.isJSON()
	if json {
		e.out = append(e.out, '"')
	}
	err := error(nil)
	add := func(part []byte) { e.out = base64.StdEncoding.AppendEncode(e.out, part) }
	if e.binary == "hex" {
		add = func(part []byte) { e.out = hex.AppendEncode(e.out, part) }
	}
	if len(b) < longValue {
		add(b)
	} else {
		err = e.parts(b, add)
	}
	if json {
		e.out = append(e.out, '"')
	}
	return err
}

// geometryValue appends a geometry in its stored form.
func (e *encoder) geometryValue(b []byte) error {
	if e.geometry == "raw" {
		return e.bytesValue(b)
	}
	v, err := geo.Decode(b)
	if err != nil { // not made by a function of geometries
		e.null()
		return nil
	}
	if e.geometry == "geojson" {
		e.tmp = geo.AppendGeoJSON(e.tmp[:0], v, geo.GeoJSONOptions{Digits: math.MaxInt32})
		if e.format.isJSON() {
			e.out = append(e.out, e.tmp...)
			return nil
		}
	} else {
		srs, _ := geo.Lookup(v.SRID)
		e.tmp = geo.AppendWKT(e.tmp[:0], v.Geometry, geo.Options{Swap: srs.Swap()})
	}
	if len(e.tmp) < longValue {
		e.text(e.tmp)
		return nil
	}
	return e.long(e.tmp)
}

// header appends what precedes the rows; names: with a line of names where the format has
// none by itself.
func (e *encoder) header(names bool) {
	cols := e.h.Columns()
	if !e.format.isJSON() {
		if !names {
			return
		}
		for i := range cols {
			if i > 0 {
				e.out = append(e.out, map[format]byte{formatCSV: ',', formatTSV: '\t'}[e.format])
			}
			e.text([]byte(cols[i].Name))
		}
		e.out = append(e.out, '\n')
		return
	}
	e.out = append(e.out, `{"columns":[`...)
	for i := range cols {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.out = e.appendColumn(e.out, &cols[i], &e.cols[i])
	}
	if e.format == formatNDJSON {
		e.out = append(e.out, "]}\n"...)
	} else {
		e.out = append(e.out, "],\n\"rows\":[\n"...)
	}
}

func (e *encoder) appendColumn(dst []byte, c *mysqlwire.Column, col *column) []byte {
	t := &c.Type
	dst = append(dst, `{"name":`...)
	dst = appendJSONString(dst, c.Name)
	dst = append(dst, `,"type":`...)
	dst = appendJSONString(dst, t.ID.String())
	if t.Unsigned {
		dst = append(dst, `,"unsigned":true`...)
	}
	if t.Len > 0 && (t.IsString() || t.ID == schema.TypeDecimal || t.ID == schema.TypeBit) {
		dst = append(dst, `,"length":`...)
		dst = appendInt(dst, int64(t.Len))
	}
	if t.Scale >= 0 && (t.ID == schema.TypeDecimal || t.IsTemporal() && t.Scale > 0) {
		dst = append(dst, `,"scale":`...)
		dst = appendInt(dst, int64(t.Scale))
	}
	if !c.NotNull {
		dst = append(dst, `,"nullable":true`...)
	}
	if c.OrgTable != "" {
		dst = append(dst, `,"table":`...)
		dst = appendJSONString(dst, c.OrgTable)
	}
	if enc := e.encoding(col); enc != "" {
		dst = append(dst, `,"encoding":`...)
		dst = appendJSONString(dst, enc)
	}
	return append(dst, '}')
}

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// appendJSONString appends a text as a string of JSON.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, []byte(s))
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// special are the ASCII bytes that strings of JSON escape, and all that are not ASCII.
var special = func() (t [256]bool) {
	for i := range t {
		t[i] = i < ' ' || i == '"' || i == '\\' || i >= utf8.RuneSelf
	}
	return t
}()

// plainWord reports whether none of the eight bytes of w is special.
func plainWord(w uint64) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^ones*'"', w^ones*'\\'
	return (w|(w-ones*' ')|(quote-ones)|(backslash-ones))&highs == 0
}

// appendEscaped appends the inside of a string of JSON. Bytes that are not UTF-8 become
// U+FFFD.
func appendEscaped(dst, b []byte) []byte {
	start, i := 0, 0
	for i < len(b) {
		if i+8 <= len(b) && plainWord(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
			continue
		}
		c := b[i]
		if !special[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(b[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			dst = append(dst, b[start:i]...)
			dst = append(dst, "\uFFFD"...)
			i++
			start = i
			continue
		}
		dst = append(dst, b[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(dst, b[start:]...)
}

// needsQuotes reports whether a field of CSV has to be in quotes: the word NULL without
// them is NULL.
func needsQuotes(b []byte) bool {
	if len(b) == 4 && string(b) == "NULL" {
		return true
	}
	for _, c := range b {
		if c == ',' || c == '"' || c == '\n' || c == '\r' {
			return true
		}
	}
	return false
}

func appendCSV(dst, b []byte) []byte {
	if !needsQuotes(b) {
		return append(dst, b...)
	}
	dst = append(dst, '"')
	return append(appendDoubled(dst, b), '"')
}

func appendDoubled(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			return append(dst, b...)
		}
		dst = append(append(dst, b[:i+1]...), '"')
		b = b[i+1:]
	}
}

// appendTSV appends a field with a backslash before what would end it: what LOAD DATA reads
// back, with each row on one line.
func appendTSV(dst, b []byte) []byte {
	for _, c := range b {
		switch c {
		case '\\':
			dst = append(dst, '\\', '\\')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case 0:
			dst = append(dst, '\\', '0')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
