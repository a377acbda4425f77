package mysqlwire

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

func wantHex(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	want = strings.ReplaceAll(want, " ", "")
	if hex.EncodeToString(got) != want {
		t.Errorf("%s:\n got %x\nwant %s", what, got, want)
	}
}

func TestLenEnc(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "00", 250: "fa", 251: "fcfb00", 65535: "fcffff", 65536: "fd000001",
		1<<24 - 1: "fdffffff", 1 << 24: "fe0000000100000000", math.MaxUint64: "feffffffffffffffff",
	} {
		b := appendLenEnc(nil, n)
		wantHex(t, "length", b, want)
		p := payload{b: b}
		if got := p.lenEnc(); got != n || p.bad || len(p.b) != 0 {
			t.Errorf("lenEnc(%x) = %d, %v", b, got, p.bad)
		}
	}
	for _, n := range []int{0, 1, 250, 251, 65535, 65536, 1 << 24} {
		body := bytes.Repeat([]byte{7}, n)
		got := closeLenEnc(append([]byte{9, 0}, body...), 1)
		if want := append([]byte{9}, appendLenEncBytes(nil, body)...); !bytes.Equal(got, want) {
			t.Errorf("closeLenEnc of %d bytes is wrong", n)
		}
	}
}

func TestTextIntegers(t *testing.T) {
	for v, want := range map[int64]string{
		0: "0", 9: "9", 10: "10", 99: "99", 100: "100", 12345: "12345", -1: "-1", -10: "-10",
		math.MaxInt64: "9223372036854775807", math.MinInt64: "-9223372036854775808",
	} {
		if got := appendTextInt(nil, v); string(got[1:]) != want || int(got[0]) != len(want) {
			t.Errorf("%d: %q", v, got)
		}
	}
	if got := appendTextUint(nil, math.MaxUint64, false); string(got[1:]) != "18446744073709551615" {
		t.Errorf("%q", got)
	}
}

func TestColumnDefinition(t *testing.T) {
	col := Column{Database: "d", Table: "t", OrgTable: "t", Name: "id", OrgName: "id", NotNull: true, Role: schema.RolePrimaryKey | schema.RolePartOfKey | schema.RoleAutoIncrement,
		Type: schema.Type{ID: schema.TypeInt, Unsigned: true, Len: -1}}
	wantHex(t, "int", appendColumn(nil, &col, 255),
		"03646566 0164 0174 0174 026964 026964 0c 3f00 0a000000 03 2342 00 0000")
	h := NewHeader([]Column{col})
	wantHex(t, "packets", h.encoded(255), "01000001 01 1d000002 03646566 0164 0174 0174 026964 026964 0c 3f00 0a000000 03 2342 00 0000")
	moved, seq := appendPackets([]byte{0xaa}, h.encoded(255), 0xff)
	if seq != 1 || moved[4] != 0xff || moved[9] != 0 {
		t.Errorf("renumbered to %d: %x", seq, moved)
	}
}

func TestDescriptions(t *testing.T) {
	typ := func(id schema.TypeID, n, scale int, unsigned bool) schema.Type {
		return schema.Type{ID: id, Len: n, Scale: scale, Unsigned: unsigned, Collation: 255, Elems: []string{"a", "bcd"}}
	}
	for _, tc := range []struct {
		t    schema.Type
		want description
	}{
		{typ(schema.TypeTinyInt, -1, 0, false), description{1, 0, 4, 0, 63}},
		{typ(schema.TypeTinyInt, 1, 0, false), description{1, 0, 1, 0, 63}},
		{typ(schema.TypeMediumInt, -1, 0, true), description{9, 32, 8, 0, 63}},
		{typ(schema.TypeBigInt, -1, 0, true), description{8, 32, 20, 0, 63}},
		{typ(schema.TypeFloat, -1, -1, false), description{4, 0, 12, 31, 63}},
		{typ(schema.TypeDouble, -1, -1, false), description{5, 0, 22, 31, 63}},
		{typ(schema.TypeDouble, 8, 3, false), description{5, 0, 8, 3, 63}},
		{typ(schema.TypeDecimal, 10, 2, false), description{246, 0, 12, 2, 63}},
		{typ(schema.TypeDecimal, 10, 0, true), description{246, 32, 10, 0, 63}},
		{typ(schema.TypeBit, 8, 0, false), description{16, 32, 8, 0, 63}},
		{typ(schema.TypeYear, 4, 0, false), description{13, 96, 4, 0, 63}},
		{typ(schema.TypeDate, -1, 0, false), description{10, 128, 10, 0, 63}},
		{typ(schema.TypeDatetime, -1, 0, false), description{12, 128, 19, 0, 63}},
		{typ(schema.TypeDatetime, -1, 6, false), description{12, 128, 26, 6, 63}},
		{typ(schema.TypeTime, -1, 3, false), description{11, 128, 14, 3, 63}},
		{typ(schema.TypeChar, 10, 0, false), description{254, 0, 40, 0, 255}},
		{typ(schema.TypeVarchar, 20, 0, false), description{253, 0, 80, 0, 255}},
		{typ(schema.TypeText, -1, 0, false), description{252, 16, 262140, 0, 255}},
		{typ(schema.TypeLongText, -1, 0, false), description{252, 16, math.MaxUint32, 0, 255}},
		{typ(schema.TypeVarbinary, 20, 0, false), description{253, 128, 20, 0, 63}},
		{typ(schema.TypeBlob, -1, 0, false), description{252, 144, 65535, 0, 63}},
		{typ(schema.TypeEnum, -1, 0, false), description{254, 256, 12, 0, 255}},
		{typ(schema.TypeSet, -1, 0, false), description{254, 2048, 20, 0, 255}},
		{typ(schema.TypeJSON, -1, 0, false), description{245, 144, math.MaxUint32, 0, 63}},
	} {
		c := Column{OrgName: "c", Type: tc.t}
		if got := describe(&c, 255); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.t, got, tc.want)
		}
	}
}

// rowCases are values with their text and binary forms.
var rowCases = []struct {
	t            schema.Type
	d            value.Datum
	text, binary string
}{
	{schema.Type{ID: schema.TypeTinyInt}, value.Int(-1), "-1", "ff"},
	{schema.Type{ID: schema.TypeSmallInt}, value.Int(-2), "-2", "feff"},
	{schema.Type{ID: schema.TypeMediumInt}, value.Int(-3), "-3", "fdffffff"},
	{schema.Type{ID: schema.TypeInt, Unsigned: true}, value.Uint(math.MaxUint32), "4294967295", "ffffffff"},
	{schema.Type{ID: schema.TypeBigInt}, value.Int(math.MinInt64), "-9223372036854775808", "0000000000000080"},
	{schema.Type{ID: schema.TypeBigInt, Unsigned: true}, value.Uint(math.MaxUint64), "18446744073709551615", "ffffffffffffffff"},
	{schema.Type{ID: schema.TypeInt, Unsigned: true, Zerofill: true, Len: 5}, value.Uint(42), "00042", "2a000000"},
	{schema.Type{ID: schema.TypeDouble, Scale: -1}, value.Float(1.5), "1.5", "000000000000f83f"},
	{schema.Type{ID: schema.TypeFloat, Scale: -1}, value.Float(0.25), "0.25", "0000803e"},
	{schema.Type{ID: schema.TypeDouble, Len: 8, Scale: 2}, value.Float(1.5), "1.50", "000000000000f83f"},
	{schema.Type{ID: schema.TypeDouble}, value.Float(1e20), "1e20", "408cb5781daf1544"},
	{schema.Type{ID: schema.TypeYear}, value.Uint(1999), "1999", "cf07"},
	{schema.Type{ID: schema.TypeYear}, value.Uint(0), "0000", "0000"},
	{schema.Type{ID: schema.TypeDate}, value.TimeOf(value.MakeTime(2024, 2, 29, 0, 0, 0, 0)), "2024-02-29", "04e807021d"},
	{schema.Type{ID: schema.TypeDate}, value.TimeOf(0), "0000-00-00", "00"},
	{schema.Type{ID: schema.TypeDatetime}, value.TimeOf(value.MakeTime(2024, 2, 29, 0, 0, 0, 0)), "2024-02-29 00:00:00", "04e807021d"},
	{schema.Type{ID: schema.TypeDatetime}, value.TimeOf(value.MakeTime(2024, 2, 29, 1, 2, 3, 0)), "2024-02-29 01:02:03", "07e807021d010203"},
	{schema.Type{ID: schema.TypeTimestamp, Scale: 3}, value.TimeOf(value.MakeTime(2024, 2, 29, 1, 2, 3, 4000)), "2024-02-29 01:02:03.004", "0be807021d010203a00f0000"},
	{schema.Type{ID: schema.TypeDatetime, Scale: 6}, value.TimeOf(value.MakeTime(9999, 12, 31, 23, 59, 59, 999999)), "9999-12-31 23:59:59.999999", "0b0f270c1f173b3b3f420f00"},
	{schema.Type{ID: schema.TypeTime}, value.DurationOf(0), "00:00:00", "00"},
	{schema.Type{ID: schema.TypeTime}, value.DurationOf(-value.MaxDuration), "-838:59:59", "080122000000163b3b"},
	{schema.Type{ID: schema.TypeTime, Scale: 1}, value.DurationOf(-500000), "-00:00:00.5", "0c010000000000000020a10700"},
	{schema.Type{ID: schema.TypeVarchar}, value.String("héé"), "héé", "0568c3a9c3a9"},
	{schema.Type{ID: schema.TypeBlob}, value.Bytes([]byte{0, 255}), "\x00\xff", "0200ff"},
	{schema.Type{ID: schema.TypeEnum, Elems: []string{"x", "yy"}}, value.Uint(2), "yy", "027979"},
	{schema.Type{ID: schema.TypeSet, Elems: []string{"x", "yy"}}, value.Uint(3), "x,yy", "04782c7979"},
	{schema.Type{ID: schema.TypeBit, Len: 9}, value.Uint(0x101), "\x01\x01", "020101"},
	{schema.Type{ID: schema.TypeDecimal, Len: 10, Scale: 2}, decimal("-12.50"), "-12.50", "062d31322e3530"},
	{schema.Type{ID: schema.TypeNull}, value.Null, "", ""},
	{schema.Type{ID: schema.TypeInt}, value.Null, "", ""},
}

func decimal(s string) value.Datum {
	d, err := value.ParseDecimal(s)
	if err != nil {
		panic(err)
	}
	return value.Dec(d)
}

// TestRows writes each case from a vector and from a datum, in both protocols.
func TestRows(t *testing.T) {
	for _, tc := range rowCases {
		h := NewHeader([]Column{{Name: "c", Type: tc.t}})
		b := vec.NewBatch([]value.Kind{types.KindOf(tc.t)})
		b.N = 2
		b.Cols[0].SetDatum(1, tc.d)
		b.SetSel([]uint16{1})
		if err := h.checkBatch(b); err != nil {
			t.Fatal(err)
		}
		row := []value.Datum{tc.d}
		if err := h.checkRow(row); err != nil {
			t.Fatal(err)
		}
		text := appendLenEncString(nil, tc.text)
		binary, _ := hex.DecodeString("0000" + tc.binary)
		if tc.d.IsNull() {
			text, binary = []byte{0xfb}, []byte{0, 4}
		}
		for what, got := range map[string][2][]byte{
			"text vector":   {h.appendTextRow(nil, b, 1), text},
			"text datum":    {h.appendTextDatums(nil, row), text},
			"binary vector": {h.appendBinaryRow(nil, b, 1), binary},
			"binary datum":  {h.appendBinaryDatums(nil, row), binary},
			"plain vector":  {h.plainOrNot(b, 1), binary},
		} {
			if !bytes.Equal(got[0], got[1]) {
				t.Errorf("%s of %s: %x, want %x", what, tc.t, got[0], got[1])
			}
		}
	}
}

// TestTemporalParams reads back what the row writer writes.
func TestTemporalParams(t *testing.T) {
	for _, tc := range rowCases {
		code := byte(mysqlDatetime)
		switch tc.t.ID {
		case schema.TypeDate:
			code = mysqlDate
		case schema.TypeTime:
			code = mysqlTime
		case schema.TypeDatetime, schema.TypeTimestamp:
		default:
			continue
		}
		b, _ := hex.DecodeString(tc.binary)
		p := payload{b: b}
		got, err := readParam(&p, paramType{code: code}, 255)
		if err != nil || p.bad || got.D.Bits() != tc.d.Bits() {
			t.Errorf("%s %s: %v %v", tc.t, tc.text, got, err)
		}
	}
	for _, bad := range []string{"0b0f270d1f173b3b3f420f00", "03000000", "0ce80702", "07e807021d180000"} {
		b, _ := hex.DecodeString(bad)
		p := payload{b: b}
		if _, err := readParam(&p, paramType{code: mysqlDatetime}, 255); err == nil {
			t.Errorf("%s is taken as a time", bad)
		}
	}
}

func TestMismatchedBatch(t *testing.T) {
	h := NewHeader([]Column{{Name: "c", Type: schema.Type{ID: schema.TypeInt}}})
	if h.checkBatch(vec.NewBatch([]value.Kind{value.KindBytes})) == nil || h.checkBatch(vec.NewBatch(nil)) == nil {
		t.Error("a batch of other kinds is taken")
	}
	if h.checkRow([]value.Datum{value.String("x")}) == nil {
		t.Error("a row of other kinds is taken")
	}
}
