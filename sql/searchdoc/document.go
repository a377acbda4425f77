package searchdoc

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Field is the form of a column in a search index: a word that orders as the
// values do, or the value with its key.
type Field struct {
	ID    seg.FieldID
	Pos   int // of the column in the table
	Kind  value.Kind
	Word  bool
	Scale int // of decimals that are words
	Stamp bool
	Part  table.Part
	// Elem is the type of a SearchPath, of arrays with many.
	Elem *schema.Type
	many bool
	// texts: a string takes no other scalars.
	texts bool
	// marked: documents say where values are not those of the JSON.
	marked bool
	// Geo: the field has places in the system srid.
	Geo  bool
	SRID uint32
	// Bytes: the field has values that are only read. Plain is that of SearchField.
	Bytes, Plain bool
}

// maxWordDigits is the most digits of decimals that are words.
const maxWordDigits = 18

// NewField is the field d of a search index of t.
func NewField(t *schema.Table, d *schema.SearchField) (Field, error) {
	pos := t.ColumnIndex(d.Column)
	if pos < 0 {
		return Field{}, sqlerr.Internal("field %d of a search index of %s has no column", d.ID, t.Name)
	}
	typ := t.Columns[pos].Type
	if d.Kind == schema.SearchPath {
		typ = d.Elem
	}
	if d.Kind == schema.SearchGeo {
		return Field{ID: seg.FieldID(d.ID), Pos: pos, Kind: value.KindBytes, Geo: true, SRID: typ.SRID}, nil
	}
	f := Field{ID: seg.FieldID(d.ID), Pos: pos, Kind: types.KindOf(typ), Stamp: typ.ID == schema.TypeTimestamp, Plain: d.Plain}
	if f.Bytes = d.Kind == schema.SearchBytes; f.Bytes {
		return f, nil
	}
	switch f.Kind {
	case value.KindBytes:
	case value.KindDecimal:
		f.Word, f.Scale = typ.Len <= maxWordDigits, max(typ.Scale, 0)
	default:
		f.Word = true
	}
	if d.Kind == schema.SearchPath {
		f.Elem, f.many, f.texts, f.marked = &d.Elem, d.Many, d.Attribute, d.Marked
		t = &schema.Table{Name: t.Name, Columns: []schema.Column{{ID: d.Column, Type: typ, Nullable: true}}}
	}
	var err error
	f.Part, err = table.NewPart(t, d.Column)
	return f, err
}

// field is the field's description for the files.
func (f *Field) field() seg.Field {
	if f.Geo {
		return seg.Field{ID: f.ID, Kind: seg.KindPoint}
	}
	if f.Bytes {
		return seg.Field{ID: f.ID, Kind: seg.KindBytes}
	}
	if f.Word {
		return seg.Field{ID: f.ID, Kind: seg.KindWord, Multi: f.many, Unsorted: f.Plain}
	}
	own := f.Plain && f.Kind == value.KindDecimal // the key is the value
	return seg.Field{ID: f.ID, Kind: seg.KindKey, Collated: !own, Multi: f.many, Unsorted: f.Plain}
}

// -0 and 0 are equal, but two values: their words are neighbours.
const negativeZero = -1

// ToWord is the word of a value.
func (f *Field) ToWord(d value.Datum) int64 {
	switch f.Kind {
	case value.KindUint, value.KindTime:
		return int64(d.Bits() ^ decode.SignBit)
	case value.KindFloat:
		u := math.Float64bits(d.Float())
		if u&decode.SignBit != 0 {
			return int64(^u ^ decode.SignBit)
		}
		return int64(u)
	case value.KindDecimal:
		_, lo, _ := d.Decimal().Rescale(f.Scale).Int128()
		return int64(lo)
	}
	return int64(d.Bits())
}

// Bound is the first or last word of a range that begins or ends at a value;
// false when the range is empty.
func (f *Field) Bound(d value.Datum, open, high bool, z *decode.Zone) (int64, bool) {
	if f.Stamp {
		d = value.TimeOf(z.Stored(d.Time()))
	}
	if f.Kind == value.KindDecimal {
		return f.decimalBound(d.Decimal(), open, high)
	}
	w := f.ToWord(d)
	if f.Kind == value.KindFloat && (w == 0 || w == negativeZero) {
		if w = 0; high == open {
			w = negativeZero
		}
	}
	switch {
	case !open:
		return w, true
	case high:
		return w - 1, w != math.MinInt64
	}
	return w + 1, w != math.MaxInt64
}

func (f *Field) decimalBound(d value.Decimal, open, high bool) (int64, bool) {
	floor := d.Truncate(f.Scale)
	if floor.Cmp(d) > 0 {
		floor = floor.Sub(value.DecimalFromInt128(0, 1, f.Scale))
	}
	exact := floor.Cmp(d) == 0
	hi, lo, ok := floor.Rescale(f.Scale).Int128()
	w := int64(lo)
	if !ok || hi != w>>63 { // beyond all values of the column
		switch {
		case d.Sign() > 0 && high:
			return math.MaxInt64, true
		case d.Sign() < 0 && !high:
			return math.MinInt64, true
		}
		return 0, false
	}
	switch {
	case high && exact && open:
		return w - 1, w != math.MinInt64
	case high, exact && !open:
		return w, true
	}
	return w + 1, w != math.MaxInt64
}

// Datum is a value that is stored with its key.
func (f *Field) Datum(b []byte) value.Datum {
	if f.Kind != value.KindDecimal {
		return value.Bytes(b)
	}
	d, _, err := keyenc.Decimal(b, false)
	if err != nil {
		return value.Null
	}
	return value.Dec(d.Rescale(f.Part.Scale))
}

// Documents makes the documents of rows for search indexes.
type Documents struct {
	Codecs *decode.Codecs
	// Eval is where virtual columns are computed.
	Eval func() *expr.Ctx
}

var _ search.Rows = (*Documents)(nil)

// Schema implements search.Rows.
func (d *Documents) Schema(t *schema.Table, x *schema.SearchIndex) (seg.Schema, error) {
	var out seg.Schema
	if slices.ContainsFunc(x.Fields, mayReject) {
		out.Fields = append(out.Fields, search.Marks())
	}
	for i := range x.Fields {
		if x.Fields[i].Kind == schema.SearchText {
			out.Fields = append(out.Fields, seg.Field{ID: seg.FieldID(x.Fields[i].ID), Kind: seg.KindText})
			continue
		}
		if x.Fields[i].Kind == schema.SearchNested {
			if err := nestedFields(&x.Fields[i], 0, &out); err != nil {
				return out, err
			}
			continue
		}
		f, err := NewField(t, &x.Fields[i])
		if err != nil {
			return out, err
		}
		one := f.field()
		if one.Missing, err = f.missing(t, &x.Fields[i]); err != nil {
			return out, err
		}
		out.Fields = append(out.Fields, one)
	}
	return out, nil
}

// missing is the value of documents that were made before the field d; nil for NULL.
func (f *Field) missing(t *schema.Table, d *schema.SearchField) (*seg.Value, error) {
	if d.Missing == nil {
		return nil, nil
	}
	c := t.Columns[f.Pos]
	c.AddedDefault = d.Missing
	v, err := decode.AddedDefault(&c)
	switch {
	case err != nil || v.IsNull():
		return nil, err
	case f.Word:
		return &seg.Value{Word: f.ToWord(v)}, nil
	case f.Bytes:
		return &seg.Value{Bytes: v.Bytes()}, nil
	}
	key := f.Part.Append(nil, v)
	return &seg.Value{Key: key, Bytes: f.stored(v, key)}, nil
}

// Add implements search.Rows.
func (d *Documents) Add(ctx context.Context, kv storage.Reader, t *schema.Table, x *schema.SearchIndex, ids [][]byte, b *seg.Batch) (int, error) {
	fields := make([]docField, 0, len(x.Fields))
	var read []int
	for i := range x.Fields {
		f, err := newDocField(t, x, &x.Fields[i])
		if err != nil {
			return 0, err
		}
		fields = append(fields, f)
		for _, pos := range []int{f.Pos, f.source, f.value} {
			if pos >= 0 {
				read = append(read, pos)
			}
		}
	}
	slices.Sort(read)
	read = slices.Compact(read)
	for i := range fields {
		f := &fields[i]
		f.at, f.from, f.value = slices.Index(read, f.Pos), slices.Index(read, f.source), slices.Index(read, f.value)
	}
	var marks []search.Mark
	return d.rows(ctx, kv, t, read, ids, func(i int) { b.Delete(ids[i]) }, func(list []int, rows *vec.Batch) error {
		for r := range rows.N {
			b.Upsert(ids[list[r]])
			marks = marks[:0]
			for i := range fields {
				f := &fields[i]
				if f.Elem != nil {
					marks = f.putPath(b, rows, r, marks)
					continue
				}
				f.put(b, rows.Cols[f.at].Datum(r))
				if f.rejects(rows, r) {
					marks = append(marks, search.Mark{Field: f.ID})
				}
			}
			search.Reject(b, marks)
			for i := range fields { // after all that the row itself has
				if o := fields[i].objects; o != nil {
					o.put(b, o.found)
				}
			}
		}
		if b.Size() >= batchBytes {
			return errEnough
		}
		return nil
	})
}

// batchBytes is the size from which a batch takes no more rows.
const batchBytes = 8 << 20

// errEnough ends a read of rows, of which some were read.
var errEnough = errors.New("searchdoc: enough rows")

// rows reads columns of rows: gone is called with those that are not there, fn with
// the numbers and the values of others. It returns how many rows it was through with when
// fn gave errEnough: else all.
func (d *Documents) rows(ctx context.Context, kv storage.Reader, t *schema.Table, read []int, ids [][]byte, gone func(i int), fn func(list []int, rows *vec.Batch) error) (through int, err error) {
	k, err := d.Codecs.Table(t)
	if err != nil {
		return 0, err
	}
	p, err := k.Plan(nil, read, nil, nil)
	if err != nil {
		return 0, err
	}
	var s decode.Sieve
	s.Init(d.Eval(), p, decode.NewZone(nil))
	keys := make([][]byte, len(ids))
	for i, id := range ids {
		keys[i] = append(append(make([]byte, 0, len(k.Prefix())+len(id)), k.Prefix()...), id...)
	}
	var there []int
	for from := 0; from < len(keys); {
		s.Begin(vec.MaxRows)
		there = there[:0]
		taken := 0
		err := kv.BatchGet(ctx, keys[from:], func(i int, val []byte) error {
			taken = i + 1
			if val == nil {
				gone(from + i)
				return nil
			}
			if err := s.Add(keys[from+i], val); err != nil {
				return err
			}
			there = append(there, from+i)
			if s.Full() {
				return decode.ErrFull
			}
			return nil
		})
		if err != nil && !errors.Is(err, decode.ErrFull) {
			return 0, err
		}
		from += taken
		rows, err := s.Finish(ctx, kv)
		if err != nil {
			return 0, err
		}
		if rows == nil {
			continue
		}
		if err := fn(there, rows); errors.Is(err, errEnough) {
			return from, nil
		} else if err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// mayReject reports a field that may not be able to take a value of its source.
func mayReject(d schema.SearchField) bool { return d.Source != 0 || IsLossy(d) }

// IsLossy reports a field whose documents do not decide conditions on it for rows
// whose value it could not take.
func IsLossy(d schema.SearchField) bool {
	return d.Kind == schema.SearchPath || d.Kind == schema.SearchGeo || d.Kind == schema.SearchNested
}

// put gives a value to the document that was begun.
func (f *docField) put(b *seg.Batch, v value.Datum) {
	switch {
	case v.IsNull(), f.objects != nil: // nested documents follow later
	case f.analyzer != nil:
		f.addText(b, expr.UTF8(v.Str(), f.collation))
	case f.Geo:
		b.Point(f.ID, placeOf(v.Bytes(), f.SRID))
	case f.Bytes:
		b.Bytes(f.ID, v.Bytes())
	default:
		f.putValue(b, v)
	}
}

// putValue gives a value of the field's type to the document that was begun.
func (f *docField) putValue(b *seg.Batch, v value.Datum) {
	if f.Word {
		b.Word(f.ID, f.ToWord(v))
		return
	}
	f.key = f.Part.Append(f.key[:0], v)
	b.Key(f.ID, f.key, f.stored(v, f.key))
}

// docField is a field of documents; analyzer is set for texts.
type docField struct {
	Field
	// source is the position of the column whose values the field reads in a form,
	// -1 for none: the field could not take what gives NULL.
	source    int
	at, from  int // of pos and source among what is read
	value     int // position of the column whose values a field over JSON has, or among what is read; -1 for none
	place     int // of the field in the index
	objects   *objects
	analyzer  *text.Analyzer
	collation schema.CollationID
	tokens    []text.Token
	terms     []seg.Token
	key       []byte
}

func newDocField(t *schema.Table, x *schema.SearchIndex, d *schema.SearchField) (docField, error) {
	pos := t.ColumnIndex(d.Column)
	if pos < 0 {
		return docField{}, sqlerr.Internal("field %d of a search index of %s has no column", d.ID, t.Name)
	}
	f := docField{Field: Field{ID: seg.FieldID(d.ID), Pos: pos}, source: -1, value: t.ColumnIndex(d.Value)}
	switch {
	case d.Source != 0:
		f.source = t.ColumnIndex(d.Source)
	case mayReject(*d):
		f.source = pos
	}
	var err error
	switch d.Kind {
	case schema.SearchValue, schema.SearchPath, schema.SearchGeo, schema.SearchBytes:
		f.Field, err = NewField(t, d)
	case schema.SearchNested:
		if f.objects, err = newObjects(d); err == nil {
			f.objects.path, f.objects.json = searchfield.NestedPath(d), t.Columns[pos].Type.ID == schema.TypeJSON
		}
	default:
		f.analyzer, err = searchfield.Analyzer(x, d, &t.Columns[pos])
		f.collation = t.Columns[pos].Type.Collation
	}
	return f, err
}

// addText gives the words of a text to the document that was begun.
func (f *docField) addText(b *seg.Batch, s string) {
	f.tokens = f.analyzer.Tokens(f.tokens[:0], s)
	f.terms = f.terms[:0]
	for i := range f.tokens {
		t := &f.tokens[i]
		f.terms = append(f.terms, seg.Token{Term: []byte(t.Term), Pos: uint32(t.Pos), Start: uint32(t.Start), End: uint32(t.End)})
	}
	b.Text(f.ID, f.terms, text.NewDoc(f.tokens).Len())
}

// stored is what is stored next to the key of a value.
func (f *Field) stored(v value.Datum, key []byte) []byte {
	if f.Kind == value.KindDecimal {
		return key
	}
	return v.Bytes()
}

// RejectedValue is a value that a field of a search index cannot take.
type RejectedValue struct {
	Field int // in the index's list
	// Key is the primary key, Value the value, both as text.
	Key, Value string
}

// Rejected are the values of rows that fields of an index cannot take.
func (d *Documents) Rejected(ctx context.Context, kv storage.Reader, t *schema.Table, x *schema.SearchIndex, ids [][]byte) (out []RejectedValue, err error) {
	var read []int
	place := func(pos int) int { // each column is read once
		i := slices.Index(read, pos)
		if i < 0 {
			i, read = len(read), append(read, pos)
		}
		return i
	}
	for _, p := range t.DeclaredKey() {
		place(t.ColumnIndex(p.Column))
	}
	var fields []docField
	for i := range x.Fields {
		f, err := newDocField(t, x, &x.Fields[i])
		if err != nil {
			return nil, err
		}
		if f.source < 0 {
			continue
		}
		f.at, f.from, f.place = place(f.Pos), place(f.source), i
		if f.value >= 0 {
			f.value = place(f.value)
		}
		fields = append(fields, f)
	}
	text := func(rows *vec.Batch, r, i int) string {
		return string(types.AppendText(nil, t.Columns[read[i]].Type, rows.Cols[i].Datum(r)))
	}
	_, err = d.rows(ctx, kv, t, read, ids, func(int) {}, func(_ []int, rows *vec.Batch) error {
		for r := range rows.N {
			key := make([]string, len(t.DeclaredKey()))
			for i := range key {
				key[i] = text(rows, r, i)
			}
			for i := range fields {
				if f := &fields[i]; f.rejects(rows, r) {
					out = append(out, RejectedValue{Field: f.place, Key: strings.Join(key, ", "), Value: text(rows, r, f.from)})
				}
			}
		}
		return nil
	})
	return out, err
}

// rejects reports a row whose value the field cannot take.
func (f *docField) rejects(rows *vec.Batch, r int) bool {
	if f.objects != nil {
		return !f.objects.read(rows.Cols[f.at].Datum(r))
	}
	if f.Elem != nil {
		v := rows.Cols[f.at].Datum(r)
		if v.IsNull() {
			return false
		}
		if f.Elem.HasDate() && !f.many {
			return rows.Cols[f.value].Nulls.IsNull(r) && value.JSONType(v.Bytes()) != "NULL"
		}
		_, ok := f.values(v.Bytes())
		return !ok
	}
	if f.from < 0 || !rows.Cols[f.at].Nulls.IsNull(r) || rows.Cols[f.from].Nulls.IsNull(r) {
		return false
	}
	v := rows.Cols[f.from].Datum(r)
	return v.Kind() != value.KindJSON || value.JSONType(v.Bytes()) != "NULL"
}
