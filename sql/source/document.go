package source

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
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// searchField is how a column stands in a search index: as a word that orders as
// the values do, or as the value with its key.
type searchField struct {
	id    seg.FieldID
	pos   int // of the column in the table
	kind  value.Kind
	word  bool
	scale int // of decimals that are words
	stamp bool
	part  table.Part
	// elem is the type of a SearchPath, of arrays with many.
	elem *schema.Type
	many bool
	// texts: a string takes no other scalars.
	texts bool
	// marked: documents say where values are not those of the JSON.
	marked bool
	// geo: the field has places in the system srid.
	geo  bool
	srid uint32
}

// maxWordDigits is the most digits of decimals that are words.
const maxWordDigits = 18

func newSearchField(t *schema.Table, d *schema.SearchField) (searchField, error) {
	pos := t.ColumnIndex(d.Column)
	if pos < 0 {
		return searchField{}, internal("field %d of a search index of %s has no column", d.ID, t.Name)
	}
	typ := t.Columns[pos].Type
	if d.Kind == schema.SearchPath {
		typ = d.Elem
	}
	if d.Kind == schema.SearchGeo {
		return searchField{id: seg.FieldID(d.ID), pos: pos, kind: value.KindBytes, geo: true, srid: typ.SRID}, nil
	}
	f := searchField{id: seg.FieldID(d.ID), pos: pos, kind: types.KindOf(typ), stamp: typ.ID == schema.TypeTimestamp}
	switch f.kind {
	case value.KindBytes:
	case value.KindDecimal:
		f.word, f.scale = typ.Len <= maxWordDigits, max(typ.Scale, 0)
	default:
		f.word = true
	}
	if d.Kind == schema.SearchPath {
		f.elem, f.many, f.texts, f.marked = &d.Elem, d.Many, d.Attribute, d.Marked
		t = &schema.Table{Name: t.Name, Columns: []schema.Column{{ID: d.Column, Type: typ, Nullable: true}}}
	}
	var err error
	f.part, err = table.NewPart(t, d.Column)
	return f, err
}

// field is the field's description for the files.
func (f *searchField) field() seg.Field {
	if f.geo {
		return seg.Field{ID: f.id, Kind: seg.KindPoint}
	}
	if f.word {
		return seg.Field{ID: f.id, Kind: seg.KindWord, Multi: f.many}
	}
	return seg.Field{ID: f.id, Kind: seg.KindKey, Collated: true, Multi: f.many}
}

// -0 and 0 are equal, but two values: their words are neighbours.
const negativeZero = -1

// toWord is the word of a value.
func (f *searchField) toWord(d value.Datum) int64 {
	switch f.kind {
	case value.KindUint, value.KindTime:
		return int64(d.Bits() ^ signBit)
	case value.KindFloat:
		u := math.Float64bits(d.Float())
		if u&signBit != 0 {
			return int64(^u ^ signBit)
		}
		return int64(u)
	case value.KindDecimal:
		_, lo, _ := d.Decimal().Rescale(f.scale).Int128()
		return int64(lo)
	}
	return int64(d.Bits())
}

// bound is the first or last word of a range that begins or ends at a value;
// false when the range is empty.
func (f *searchField) bound(d value.Datum, open, high bool, z *zone) (int64, bool) {
	if f.stamp {
		d = value.TimeOf(z.stored(d.Time()))
	}
	if f.kind == value.KindDecimal {
		return f.decimalBound(d.Decimal(), open, high)
	}
	w := f.toWord(d)
	if f.kind == value.KindFloat && (w == 0 || w == negativeZero) {
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

func (f *searchField) decimalBound(d value.Decimal, open, high bool) (int64, bool) {
	floor := d.Truncate(f.scale)
	if floor.Cmp(d) > 0 {
		floor = floor.Sub(value.DecimalFromInt128(0, 1, f.scale))
	}
	exact := floor.Cmp(d) == 0
	hi, lo, ok := floor.Rescale(f.scale).Int128()
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

// fill turns words into values.
func (c *searchColumn) fill(words []int64, out *vec.Vec) {
	switch c.kind {
	case value.KindUint, value.KindTime:
		for i, w := range words {
			out.I64[i] = int64(uint64(w) ^ signBit)
		}
		if c.stamp && !c.z.utc {
			for i := range words {
				if !out.Nulls.IsNull(i) {
					out.I64[i] = int64(c.z.local(value.Time(out.I64[i])))
				}
			}
		}
	case value.KindFloat:
		for i, w := range words {
			u := uint64(w)
			if w < 0 {
				u = ^(u ^ signBit)
			}
			out.F64[i] = math.Float64frombits(u)
		}
	case value.KindDecimal:
		for i, w := range words {
			out.Dec[i] = value.DecimalFromInt128(w>>63, uint64(w), c.scale)
		}
	default:
		copy(out.I64, words)
	}
}

// datum is a value that stands with its key.
func (f *searchField) datum(b []byte) value.Datum {
	if f.kind != value.KindDecimal {
		return value.Bytes(b)
	}
	d, _, err := keyenc.Decimal(b, false)
	if err != nil {
		return value.Null
	}
	return value.Dec(d.Rescale(f.part.Scale))
}

// Documents makes the documents of rows for search indexes.
type Documents struct {
	Codecs *Codecs
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
		f, err := newSearchField(t, &x.Fields[i])
		if err != nil {
			return out, err
		}
		out.Fields = append(out.Fields, f.field())
	}
	return out, nil
}

// Add implements search.Rows.
func (d *Documents) Add(ctx context.Context, kv storage.Reader, t *schema.Table, x *schema.SearchIndex, ids [][]byte, b *seg.Batch) error {
	fields := make([]docField, 0, len(x.Fields))
	var read []int
	for i := range x.Fields {
		f, err := newDocField(t, x, &x.Fields[i])
		if err != nil {
			return err
		}
		fields = append(fields, f)
		for _, pos := range []int{f.pos, f.source, f.value} {
			if pos >= 0 {
				read = append(read, pos)
			}
		}
	}
	slices.Sort(read)
	read = slices.Compact(read)
	for i := range fields {
		f := &fields[i]
		f.at, f.from, f.value = slices.Index(read, f.pos), slices.Index(read, f.source), slices.Index(read, f.value)
	}
	var marks []search.Mark
	return d.rows(ctx, kv, t, read, ids, func(i int) { b.Delete(ids[i]) }, func(list []int, rows *vec.Batch) error {
		for r := range rows.N {
			b.Upsert(ids[list[r]])
			marks = marks[:0]
			for i := range fields {
				f := &fields[i]
				if f.elem != nil {
					marks = f.putPath(b, rows, r, marks)
					continue
				}
				f.put(b, rows.Cols[f.at].Datum(r))
				if f.rejects(rows, r) {
					marks = append(marks, search.Mark{Field: f.id})
				}
			}
			search.Reject(b, marks)
			for i := range fields { // behind all that the row itself has
				if o := fields[i].objects; o != nil {
					o.put(b, o.found)
				}
			}
		}
		return nil
	})
}

// rows reads columns of rows: gone is called with those that are not there, fn with
// the numbers and the values of others.
func (d *Documents) rows(ctx context.Context, kv storage.Reader, t *schema.Table, read []int, ids [][]byte, gone func(i int), fn func(list []int, rows *vec.Batch) error) error {
	k, err := d.Codecs.get(t)
	if err != nil {
		return err
	}
	p, err := k.plan(nil, read, nil, nil)
	if err != nil {
		return err
	}
	var s sieve
	s.init(d.Eval(), p, newZone(nil))
	keys := make([][]byte, len(ids))
	for i, id := range ids {
		keys[i] = append(append(make([]byte, 0, len(k.Prefix())+len(id)), k.Prefix()...), id...)
	}
	var there []int
	for from := 0; from < len(keys); {
		s.begin(vec.MaxRows)
		there = there[:0]
		taken := 0
		err := kv.BatchGet(ctx, keys[from:], func(i int, val []byte) error {
			taken = i + 1
			if val == nil {
				gone(from + i)
				return nil
			}
			if err := s.add(keys[from+i], val); err != nil {
				return err
			}
			there = append(there, from+i)
			if s.full() {
				return errFull
			}
			return nil
		})
		if err != nil && !errors.Is(err, errFull) {
			return err
		}
		from += taken
		rows, err := s.finish(ctx, kv)
		if err != nil {
			return err
		}
		if rows == nil {
			continue
		}
		if err := fn(there, rows); err != nil {
			return err
		}
	}
	return nil
}

// mayReject reports a field that may not be able to take a value of its source.
func mayReject(d schema.SearchField) bool { return d.Source != 0 || isLossy(d) }

// isLossy reports a field whose documents do not tell what conditions on it are
// for rows whose value it could not take.
func isLossy(d schema.SearchField) bool {
	return d.Kind == schema.SearchPath || d.Kind == schema.SearchGeo || d.Kind == schema.SearchNested
}

// put gives a value to the document that was begun.
func (f *docField) put(b *seg.Batch, v value.Datum) {
	switch {
	case v.IsNull(), f.objects != nil: // nested documents come behind
	case f.analyzer != nil:
		f.addText(b, expr.UTF8(v.Str(), f.collation))
	case f.geo:
		b.Point(f.id, placeOf(v.Bytes(), f.srid))
	default:
		f.putValue(b, v)
	}
}

// putValue gives a value of the field's type to the document that was begun.
func (f *docField) putValue(b *seg.Batch, v value.Datum) {
	if f.word {
		b.Word(f.id, f.toWord(v))
		return
	}
	f.key = f.part.Append(f.key[:0], v)
	b.Key(f.id, f.key, f.stored(v, f.key))
}

// docField is a field of documents; analyzer is set for texts.
type docField struct {
	searchField
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
		return docField{}, internal("field %d of a search index of %s has no column", d.ID, t.Name)
	}
	f := docField{searchField: searchField{id: seg.FieldID(d.ID), pos: pos}, source: -1, value: t.ColumnIndex(d.Value)}
	switch {
	case d.Source != 0:
		f.source = t.ColumnIndex(d.Source)
	case mayReject(*d):
		f.source = pos
	}
	var err error
	switch d.Kind {
	case schema.SearchValue, schema.SearchPath, schema.SearchGeo:
		f.searchField, err = newSearchField(t, d)
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
	b.Text(f.id, f.terms, text.NewDoc(f.tokens).Len())
}

// stored is what stands beside the key of a value.
func (f *searchField) stored(v value.Datum, key []byte) []byte {
	if f.kind == value.KindDecimal {
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
	for _, p := range t.PrimaryKey {
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
		f.at, f.from, f.place = place(f.pos), place(f.source), i
		if f.value >= 0 {
			f.value = place(f.value)
		}
		fields = append(fields, f)
	}
	text := func(rows *vec.Batch, r, i int) string {
		return string(types.AppendText(nil, t.Columns[read[i]].Type, rows.Cols[i].Datum(r)))
	}
	err = d.rows(ctx, kv, t, read, ids, func(int) {}, func(_ []int, rows *vec.Batch) error {
		for r := range rows.N {
			key := make([]string, len(t.PrimaryKey))
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
	if f.elem != nil {
		v := rows.Cols[f.at].Datum(r)
		if v.IsNull() {
			return false
		}
		if f.elem.HasDate() && !f.many {
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
