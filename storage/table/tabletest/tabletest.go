package tabletest

import (
	"math"
	"math/rand"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Types are column types of every kind, with the collations that matter.
func Types() []schema.Type {
	str := func(id schema.TypeID, n int, coll schema.CollationID) schema.Type {
		return schema.Type{ID: id, Len: n, Collation: coll}
	}
	return []schema.Type{
		{ID: schema.TypeTinyInt, Len: -1}, {ID: schema.TypeInt, Len: -1}, {ID: schema.TypeBigInt, Len: -1},
		{ID: schema.TypeBigInt, Unsigned: true, Len: -1}, {ID: schema.TypeDouble, Len: -1, Scale: -1}, {ID: schema.TypeFloat, Len: -1, Scale: -1},
		{ID: schema.TypeDecimal, Len: 20, Scale: 4}, {ID: schema.TypeDecimal, Len: 65, Scale: 30}, {ID: schema.TypeBit, Len: 20}, {ID: schema.TypeYear},
		{ID: schema.TypeDate}, {ID: schema.TypeDatetime, Scale: 6}, {ID: schema.TypeDatetime}, {ID: schema.TypeTimestamp}, {ID: schema.TypeTime, Scale: 3},
		str(schema.TypeVarchar, 40, schema.CollationUTF8MB40900AICI), str(schema.TypeVarchar, 40, schema.CollationUTF8MB4Bin),
		str(schema.TypeVarchar, 40, schema.CollationUTF8MB4GeneralCI), str(schema.TypeVarchar, 40, schema.CollationLatin1SwedishCI),
		str(schema.TypeVarbinary, 40, schema.CollationBinary), str(schema.TypeText, -1, schema.CollationUTF8MB40900AICI), str(schema.TypeBlob, -1, schema.CollationBinary),
		{ID: schema.TypeEnum, Elems: []string{"a", "b", "c"}, Collation: schema.CollationUTF8MB40900AICI},
		{ID: schema.TypeSet, Elems: []string{"x", "y", "z"}, Collation: schema.CollationUTF8MB40900AICI},
		{ID: schema.TypeJSON, Len: -1},
	}
}

// Value is a random value of type t that is not NULL, of a small range so that
// equal ones occur.
func Value(r *rand.Rand, t schema.Type) value.Datum {
	switch table.KindOf(t) {
	case value.KindInt:
		if t.ID == schema.TypeBigInt && r.Intn(20) == 0 {
			return value.Int([]int64{math.MinInt64, math.MaxInt64, 1 << 40}[r.Intn(3)])
		}
		return value.Int(int64(r.Intn(40) - 20))
	case value.KindUint:
		switch t.ID {
		case schema.TypeEnum:
			return value.Uint(uint64(1 + r.Intn(3)))
		case schema.TypeSet:
			return value.Uint(uint64(r.Intn(8)))
		case schema.TypeYear:
			return value.Uint(uint64(1990 + r.Intn(40)))
		case schema.TypeBigInt:
			if r.Intn(20) == 0 {
				return value.Uint(math.MaxUint64 - uint64(r.Intn(3)))
			}
		}
		return value.Uint(uint64(r.Intn(40)))
	case value.KindFloat:
		return value.Float([]float64{-1.5, 0, 0.25, 3, 1e9, float64(r.Intn(40)) / 4}[r.Intn(6)])
	case value.KindDecimal:
		d := value.DecimalFromInt(int64(r.Intn(4000) - 2000)).Rescale(t.Scale)
		q, _ := d.Div(value.DecimalFromInt(16), 4)
		return value.Dec(q.Round(t.Scale).Rescale(t.Scale))
	case value.KindTime:
		tm := value.MakeTime(2000+r.Intn(3), 1+r.Intn(12), 1+r.Intn(28), 0, 0, 0, 0)
		if t.ID != schema.TypeDate {
			tm |= value.MakeTime(0, 0, 0, r.Intn(24), r.Intn(60), r.Intn(60), 0)
			if t.Scale == 6 {
				tm |= value.Time(r.Intn(1000000))
			}
		}
		return value.TimeOf(tm)
	case value.KindDuration:
		return value.DurationOf(value.Duration(r.Intn(7200)-3600) * 1000000)
	case value.KindJSON:
		if r.Intn(10) == 0 {
			return value.JSONOf(value.JSONString(make([]byte, 5000)))
		}
		return value.JSONOf(value.JSONInt(int64(r.Intn(100))))
	}
	return value.Bytes(text(r, t))
}

var letters = []string{"a", "A", "b", "B", " ", "é", "e", "ß", "z", "中", "文"}

func text(r *rand.Rand, t schema.Type) []byte {
	if t.IsBinary() {
		n := r.Intn(6)
		if t.ID == schema.TypeBlob && r.Intn(6) == 0 {
			n = table.CellThreshold + r.Intn(3000)
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = []byte{0, 1, 'a', 0xFE, 0xFF}[r.Intn(5)]
		}
		return b
	}
	var b []byte
	n := r.Intn(6)
	if t.ID == schema.TypeText && r.Intn(6) == 0 {
		n = 5000
	}
	for range n {
		l := letters[r.Intn(len(letters))]
		if t.Collation == schema.CollationLatin1SwedishCI {
			l = letters[r.Intn(5)]
		}
		b = append(b, l...)
	}
	return b
}

// Table is a random table: a primary key of one to three parts and up to three
// indexes. maxColumns bounds the columns.
func Table(r *rand.Rand, id schema.TableID, maxColumns int) *schema.Table {
	types := Types()
	t := &schema.Table{ID: id, Database: "d", Name: "t", NextIndexID: 1}
	n := 3 + r.Intn(maxColumns-2)
	ids := r.Perm(n)
	for i := range n {
		col := schema.Column{ID: schema.ColumnID(1 + ids[i]), Name: "c" + string(rune('a'+i)), Type: types[r.Intn(len(types))], Nullable: r.Intn(2) == 0}
		t.Columns = append(t.Columns, col)
	}
	t.NextColumnID = schema.ColumnID(n + 1)
	if r.Intn(3) == 0 {
		t.Columns = append(t.Columns, schema.Column{ID: t.NextColumnID, Name: schema.AttributesName, Type: schema.Type{ID: schema.TypeJSON, Len: -1}, Attributes: true})
		t.NextColumnID++
	}
	part := func(i int) schema.KeyPart {
		p := schema.KeyPart{Column: t.Columns[i].ID, Desc: r.Intn(3) == 0}
		typ := t.Columns[i].Type
		if typ.IsBlobOrText() || typ.IsString() && r.Intn(4) == 0 {
			p.Prefix = 1 + r.Intn(4)
		}
		return p
	}
	pick := func(max int) []schema.KeyPart {
		var parts []schema.KeyPart
		for _, i := range r.Perm(n) {
			if t.Columns[i].Type.ID != schema.TypeJSON && len(parts) < max {
				parts = append(parts, part(i))
			}
		}
		return parts
	}
	t.PrimaryKey = pick(1 + r.Intn(3))
	if len(t.PrimaryKey) == 0 {
		t.Columns[0].Type = schema.Type{ID: schema.TypeBigInt, Len: -1}
		t.PrimaryKey = []schema.KeyPart{{Column: t.Columns[0].ID}}
	}
	for _, p := range t.PrimaryKey {
		t.Column(p.Column).Nullable = false
	}
	for range r.Intn(4) {
		x := schema.Index{ID: t.NextIndexID, Name: "x" + string(rune('0'+t.NextIndexID)), Unique: r.Intn(3) == 0, Parts: pick(1 + r.Intn(3)), Sparse: r.Intn(5) == 0}
		for i := range n {
			if r.Intn(5) == 0 {
				x.Include = append(x.Include, t.Columns[i].ID)
			}
		}
		if len(x.Parts) > 0 {
			t.Indexes = append(t.Indexes, x)
			t.NextIndexID++
		}
	}
	return t
}

// Row is a random row of t.
func Row(r *rand.Rand, t *schema.Table) []value.Datum {
	row := make([]value.Datum, len(t.Columns))
	for i, c := range t.Columns {
		if c.Attributes {
			row[i] = Attributes(r)
			continue
		}
		if !c.Nullable || r.Intn(4) > 0 {
			row[i] = Value(r, c.Type)
		}
	}
	return row
}

// Attributes is a random object as a column of attributes has it: mostly small,
// sometimes with large values or very many.
func Attributes(r *rand.Rand) value.Datum {
	n := r.Intn(6)
	if r.Intn(20) == 0 {
		n = 400
	}
	var keys, vals [][]byte
	for i := range n {
		v := value.JSONInt(int64(r.Intn(50)))
		switch r.Intn(12) {
		case 0:
			v = value.JSONString(make([]byte, 4090+r.Intn(20)))
		case 1, 2:
			v = value.JSONString([]byte(letters[r.Intn(len(letters))]))
		}
		if r.Intn(3) > 0 {
			keys, vals = append(keys, []byte("attr"+string(rune('a'+i%26))+string(rune('a'+i/26)))), append(vals, v)
		}
	}
	return value.JSONOf(value.JSONObject(keys, vals))
}
