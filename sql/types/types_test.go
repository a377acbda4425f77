package types

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// testEnv collects warnings.
type testEnv struct {
	Env
	warns []string
}

func newEnv(mode SQLMode) *testEnv {
	e := &testEnv{}
	e.Mode, e.Loc = mode, time.UTC
	e.Now = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	e.Warn = func(w sqlerr.Warning) {
		e.warns = append(e.warns, fmt.Sprintf("%s %d %s", w.Level, w.Err.Number, w.Err.Message))
	}
	return e
}

var str = VarcharOf(100, schema.CollationUTF8MB40900AICI)

func dec(s string) value.Datum {
	d, err := value.ParseDecimal(s)
	if err != nil {
		panic(err)
	}
	return value.Dec(d)
}

// datum reads a Go value as a datum with its type.
func datum(v any) (value.Datum, schema.Type) {
	switch v := v.(type) {
	case nil:
		return value.Null, Null
	case int:
		return value.Int(int64(v)), BigInt
	case uint64:
		return value.Uint(v), UBigInt
	case float64:
		return value.Float(v), Double
	case string:
		return value.String(v), str
	case []byte:
		return value.Bytes(v), VarbinaryOf(100)
	case value.Datum:
		return v, DecimalOf(65, v.Decimal().Scale())
	case value.Time:
		return value.TimeOf(v), DatetimeOf(6)
	case value.Duration:
		return value.DurationOf(v), TimeOf(6)
	}
	panic(v)
}

func TestFormatFloat(t *testing.T) {
	for _, c := range []struct {
		f      float64
		single bool
		want   string
	}{
		{0, false, "0"}, {math.Copysign(0, -1), false, "-0"}, {1, false, "1"}, {-1.5, false, "-1.5"}, {0.1, false, "0.1"}, {1e14, false, "100000000000000"},
		{999999999999999, false, "999999999999999"}, {1e15, false, "1e15"}, {1.5e15, false, "1.5e15"}, {1.7976931348623157e308, false, "1.7976931348623157e308"},
		{1e-15, false, "0.000000000000001"}, {1.5e-16, false, "1.5e-16"}, {1e-16, false, "1e-16"}, {0.00012, false, "0.00012"}, {123456789.125, false, "123456789.125"},
		{float64(float32(0.1)), true, "0.1"}, {16777216, true, "16777200"}, {float64(float32(1.0 / 3)), true, "0.333333"}, {float64(float32(3.4e38)), true, "3.4e38"}, {123456, true, "123456"}, {1234567, true, "1234570"},
	} {
		if got := string(FormatFloat(nil, c.f, c.single)); got != c.want {
			t.Errorf("%v (single %v) = %s, want %s", c.f, c.single, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		if back, err := strconv.ParseFloat(string(FormatFloat(nil, f, false)), 64); err != nil || back != f {
			t.Fatalf("%v reads back as %v from %s", f, back, FormatFloat(nil, f, false))
		}
	}
}

func TestAppendText(t *testing.T) {
	enum := schema.Type{ID: schema.TypeEnum, Elems: []string{"a", "b"}, Collation: 255}
	set := schema.Type{ID: schema.TypeSet, Elems: []string{"x", "y", "z"}, Collation: 255}
	for _, c := range []struct {
		t    schema.Type
		d    value.Datum
		want string
	}{
		{BigInt, value.Int(-5), "-5"}, {UBigInt, value.Uint(math.MaxUint64), "18446744073709551615"}, {schema.Type{ID: schema.TypeInt, Unsigned: true, Zerofill: true, Len: 5}, value.Uint(42), "00042"},
		{enum, value.Uint(2), "b"}, {enum, value.Uint(0), ""}, {set, value.Uint(5), "x,z"}, {set, value.Uint(0), ""}, {schema.Type{ID: schema.TypeBit, Len: 9}, value.Uint(257), "\x01\x01"},
		{schema.Type{ID: schema.TypeYear}, value.Uint(0), "0000"}, {schema.Type{ID: schema.TypeYear}, value.Uint(2024), "2024"}, {DecimalOf(10, 2), dec("1.005"), "1.01"}, {DecimalOf(10, 3), dec("1.5"), "1.500"},
		{schema.Type{ID: schema.TypeDouble, Len: 7, Scale: 2}, value.Float(1.5), "1.50"}, {Date, value.TimeOf(value.MakeTime(2024, 1, 2, 0, 0, 0, 0)), "2024-01-02"},
		{DatetimeOf(3), value.TimeOf(value.MakeTime(2024, 1, 2, 3, 4, 5, 678000)), "2024-01-02 03:04:05.678"}, {TimeOf(0), value.DurationOf(-3600000000), "-01:00:00"},
		{JSON, value.JSONOf(value.JSONArray(value.JSONInt(1), value.JSONNull())), "[1, null]"},
	} {
		if got := string(AppendText(nil, c.t, c.d)); got != c.want {
			t.Errorf("%s: %q, want %q", c.t, got, c.want)
		}
	}
}

func TestCast(t *testing.T) {
	char3 := schema.Type{ID: schema.TypeChar, Len: 3, Collation: 255}
	bin3 := schema.Type{ID: schema.TypeBinary, Len: 3, Collation: 63}
	wrap := "Warning 1105 Cast to unsigned converted negative integer to its positive complement"
	for _, c := range []struct {
		in   any
		to   schema.Type
		want string // NULL for NULL
		warn string
	}{
		{"12abc", BigInt, "12", "Warning 1292 Truncated incorrect INTEGER value: '12abc'"}, {"1.9", BigInt, "1", "Warning 1292 Truncated incorrect INTEGER value: '1.9'"},
		{" 12 ", BigInt, "12", ""}, {"", BigInt, "0", "Warning 1292 Truncated incorrect INTEGER value: ''"}, {dec("1.5"), BigInt, "2", ""}, {dec("-1.5"), BigInt, "-2", ""}, {2.5, BigInt, "2", ""},
		{-1, UBigInt, "18446744073709551615", ""}, {"-1", UBigInt, "18446744073709551615", wrap}, {uint64(math.MaxUint64), BigInt, "-1", ""},
		{"99999999999999999999", BigInt, "-1", "Warning 1292 Truncated incorrect INTEGER value: '99999999999999999999'"},
		{"12abc", Double, "12", "Warning 1292 Truncated incorrect DOUBLE value: '12abc'"}, {"abc", Double, "0", "Warning 1292 Truncated incorrect DOUBLE value: 'abc'"}, {"1e3", Double, "1000", ""}, {"", Double, "0", "Warning 1292 Truncated incorrect DOUBLE value: ''"}, {"abc", TimeOf(0), "NULL", "Warning 1292 Truncated incorrect time value: 'abc'"}, {".5", Double, "0.5", ""}, {"1e400", Double, "1.7976931348623157e308", "Warning 1292 Truncated incorrect DOUBLE value: '1e400'"},
		{"1.239", DecimalOf(5, 2), "1.24", ""}, {"x", DecimalOf(5, 2), "0.00", "Warning 1292 Truncated incorrect DECIMAL value: 'x'"}, {1.5, DecimalOf(5, 2), "1.50", ""},
		{12345, DecimalOf(3, 1), "99.9", "Warning 1264 Out of range value for column 'CAST(12345 AS DECIMAL(3,1))' at row 1"},
		{"abcdef", char3, "abc", "Warning 1292 Truncated incorrect CHAR(3) value: 'abcdef'"}, {"中文字x", char3, "中文字", "Warning 1292 Truncated incorrect CHAR(3) value: '中文字x'"}, {12, char3, "12", ""}, {"a", bin3, "a\x00\x00", ""},
		{"2024-01-02", Date, "2024-01-02", ""}, {"2024-01-02 03:04:05", Date, "2024-01-02", ""}, {"abc", Date, "NULL", "Warning 1292 Incorrect datetime value: 'abc'"}, {"2024-02-30", Date, "NULL", "Warning 1292 Incorrect datetime value: '2024-02-30'"},
		{"2024-01-02 03:04:05.678", DatetimeOf(0), "2024-01-02 03:04:06", ""}, {"2024-01-02x", DatetimeOf(0), "2024-01-02 00:00:00", "Warning 1292 Truncated incorrect datetime value: '2024-01-02x'"},
		{20240102, Date, "2024-01-02", ""}, {240102, Date, "2024-01-02", ""}, {700101, Date, "1970-01-01", ""}, {20240102030405, DatetimeOf(0), "2024-01-02 03:04:05", ""}, {dec("20240102030405.5"), DatetimeOf(1), "2024-01-02 03:04:05.5", ""},
		{"2024-01-02T03:04:05", DatetimeOf(0), "2024-01-02 03:04:05", ""}, {"2024-01-02 03:04:05+02:00", DatetimeOf(0), "2024-01-02 01:04:05", ""}, {"20240102030405", DatetimeOf(0), "2024-01-02 03:04:05", ""}, {"240102", Date, "2024-01-02", ""},
		{"2024/1/2 3.4.5", DatetimeOf(0), "2024-01-02 03:04:05", ""}, {"24-1-2", Date, "2024-01-02", ""}, {"70-1-2", Date, "1970-01-02", ""}, {"0000-00-00", Date, "NULL", "Warning 1292 Incorrect datetime value: '0000-00-00'"}, {"2024-00-01", Date, "NULL", "Warning 1292 Incorrect datetime value: '2024-00-01'"},
		{"10:11:12", TimeOf(0), "10:11:12", ""}, {"1 10:11:12", TimeOf(0), "34:11:12", ""}, {"101112", TimeOf(0), "10:11:12", ""}, {"11:12", TimeOf(0), "11:12:00", ""}, {"1112", TimeOf(0), "00:11:12", ""}, {"-838:59:59", TimeOf(0), "-838:59:59", ""},
		{"999:00:00", TimeOf(0), "838:59:59", "Warning 1292 Truncated incorrect time value: '999:00:00'"}, {"10:61:00", TimeOf(0), "NULL", ""}, {101112, TimeOf(0), "10:11:12", ""}, {"10:11:12.56", TimeOf(1), "10:11:12.6", ""}, {"2024-01-02 03:04:05", TimeOf(0), "03:04:05", ""}, {"1 10", TimeOf(0), "34:00:00", ""},
		{value.MakeTime(2024, 1, 2, 3, 4, 5, 600000), BigInt, "20240102030406", ""}, {value.MakeTime(2024, 1, 2, 3, 4, 5, 600000), Double, "20240102030405.6", ""}, {value.MakeTime(2024, 1, 2, 3, 4, 5, 600000), DecimalOf(20, 6), "20240102030405.600000", ""}, {value.Duration(3661000000), BigInt, "10101", ""},
		{`{"b":1,"a":[1.0]}`, JSON, `{"a": [1.0], "b": 1}`, ""}, {1, JSON, "1", ""}, {value.Duration(3661500000), DatetimeOf(0), "2024-05-06 01:01:02", ""},
	} {
		env := newEnv(DefaultSQLMode)
		d, from := datum(c.in)
		got, err := Cast(&env.Env, d, from, c.to)
		text := "NULL"
		if !got.IsNull() {
			text = string(AppendText(nil, c.to, got))
			if got.Kind() != KindOf(c.to) {
				t.Errorf("%v to %s: kind %s", c.in, c.to, got.Kind())
			}
		}
		warn := strings.Join(env.warns, "; ")
		if err != nil || text != c.want || warn != c.warn && c.warn != "" || c.warn == "" && warn != "" && c.want != "NULL" {
			t.Errorf("%v to %s = %q, %v, %s; want %q, %s", c.in, c.to, text, err, warn, c.want, c.warn)
		}
		env.Write = true
		if _, err := Cast(&env.Env, d, from, c.to); (err != nil) != (warn != "") && !strings.Contains(warn, "1105") {
			t.Errorf("%v to %s for writing: %v, warning %s", c.in, c.to, err, warn)
		}
	}
}

func colOf(t schema.Type) *schema.Column { return &schema.Column{Name: "c", Type: t, Nullable: true} }

func TestStore(t *testing.T) {
	ty := func(id schema.TypeID, n int) schema.Type { return schema.Type{ID: id, Len: n, Collation: 255} }
	tiny, utiny := ty(schema.TypeTinyInt, 4), schema.Type{ID: schema.TypeTinyInt, Unsigned: true}
	enum := schema.Type{ID: schema.TypeEnum, Elems: []string{"red", "7"}, Collation: 255}
	set := schema.Type{ID: schema.TypeSet, Elems: []string{"x", "y", "z"}, Collation: 255}
	float := schema.Type{ID: schema.TypeFloat, Len: -1, Scale: -1}
	ts := schema.Type{ID: schema.TypeTimestamp}
	year := schema.Type{ID: schema.TypeYear}
	bit3 := schema.Type{ID: schema.TypeBit, Len: 3}
	text := ty(schema.TypeTinyText, -1)
	const (
		oor   = "1264 Out of range value for column 'c' at row 2"
		trunc = "1265 Data truncated for column 'c' at row 2"
		long  = "1406 Data too long for column 'c' at row 2"
	)
	for _, c := range []struct {
		in    any
		t     schema.Type
		want  string // outside of strict mode
		err   string // in strict mode, "" for none
		loose string // the warning outside, when it is another one; "note ..." is in both
	}{
		{127, tiny, "127", "", ""}, {128, tiny, "127", oor, ""}, {-129, tiny, "-128", oor, ""}, {-1, utiny, "0", oor, ""}, {256, utiny, "255", oor, ""}, {uint64(math.MaxUint64), BigInt, "9223372036854775807", oor, ""}, {-1, UBigInt, "0", oor, ""}, {math.MinInt64, BigInt, "-9223372036854775808", "", ""},
		{"12.5", tiny, "13", "", ""}, {"12abc", tiny, "12", trunc, ""}, {"abc", tiny, "0", "1366 Incorrect integer value: 'abc' for column 'c' at row 2", ""}, {"", tiny, "0", "1366 Incorrect integer value: '' for column 'c' at row 2", ""}, {" 5 ", tiny, "5", "", ""}, {"1e2", tiny, "100", "", ""}, {1e10, tiny, "127", oor, ""}, {2.5, tiny, "2", "", ""}, {dec("2.5"), tiny, "3", "", ""},
		{"1.5", float, "1.5", "", ""}, {1e300, float, "3.40282e38", oor, ""}, {"x", float, "0", trunc, ""}, {0.1, float, "0.1", "", ""}, {1.239, schema.Type{ID: schema.TypeDouble, Len: 4, Scale: 2}, "1.24", "", ""}, {123.4, schema.Type{ID: schema.TypeDouble, Len: 4, Scale: 2}, "99.99", oor, ""},
		{"1.235", DecimalOf(5, 2), "1.24", "", "note " + trunc}, {dec("1.2"), DecimalOf(5, 2), "1.20", "", ""}, {1000, DecimalOf(5, 2), "999.99", oor, ""}, {"-1000", DecimalOf(5, 2), "-999.99", oor, ""}, {"abc", DecimalOf(5, 2), "0.00", "1366 Incorrect decimal value: 'abc' for column 'c' at row 2", ""}, {"1x", DecimalOf(5, 2), "1.00", trunc, ""}, {-1, schema.Type{ID: schema.TypeDecimal, Len: 5, Scale: 2, Unsigned: true}, "0.00", oor, ""}, {1.005, DecimalOf(5, 2), "1.01", "", ""},
		{"abc", VarcharOf(3, 255), "abc", "", ""}, {"中文字", VarcharOf(3, 255), "中文字", "", ""}, {"abcd", VarcharOf(3, 255), "abc", long, trunc}, {"abc  ", VarcharOf(3, 255), "abc", "", "note " + trunc}, {"ab ", VarcharOf(3, 255), "ab ", "", ""}, {"ab ", ty(schema.TypeChar, 3), "ab", "", ""}, {"abc    ", ty(schema.TypeChar, 3), "abc", "", ""},
		{12, VarcharOf(3, 255), "12", "", ""}, {1234, VarcharOf(3, 255), "123", long, trunc}, {"a\xffb", VarcharOf(5, 255), "a", "1366 Incorrect string value: '\\xFFb' for column 'c' at row 2", ""}, {strings.Repeat("é", 200), text, strings.Repeat("é", 127), long, trunc},
		{"é", VarcharOf(3, 8), "\xe9", "", ""}, {"中", VarcharOf(3, 8), "?", "1366 Incorrect string value: '\\xE4\\xB8\\xAD' for column 'c' at row 2", ""}, {"é中z", VarcharOf(3, 8), "\xe9?z", "1366 Incorrect string value: '\\xE4\\xB8\\xADz' for column 'c' at row 2", ""},
		{"a", ty(schema.TypeBinary, 3), "a\x00\x00", "", ""}, {"abcd", VarbinaryOf(3), "abc", long, trunc}, {"abc ", VarbinaryOf(3), "abc", long, trunc},
		{"RED ", enum, "red", "", ""}, {"7", enum, "7", "", ""}, {"1", enum, "red", "", ""}, {"x", enum, "", trunc, ""}, {2, enum, "7", "", ""}, {3, enum, "", trunc, ""}, {0, enum, "", trunc, ""}, {"", enum, "", trunc, ""},
		{"x,z", set, "x,z", "", ""}, {"z,X,z", set, "x,z", "", ""}, {"x,q", set, "x", trunc, ""}, {5, set, "x,z", "", ""}, {8, set, "", trunc, ""}, {"", set, "", "", ""},
		{7, bit3, "\x07", "", ""}, {8, bit3, "\x07", long, oor}, {[]byte{5}, bit3, "\x05", "", ""},
		{69, year, "2069", "", ""}, {70, year, "1970", "", ""}, {0, year, "0000", "", ""}, {"0", year, "2000", "", ""}, {"0000", year, "0000", "", ""}, {"00", year, "2000", "", ""}, {1901, year, "1901", "", ""}, {1900, year, "0000", oor, ""}, {2156, year, "0000", oor, ""}, {"2024", year, "2024", "", ""},
		{"2024-01-02", Date, "2024-01-02", "", ""}, {"2024-01-02 03:04:05", Date, "2024-01-02", "", "note " + trunc}, {"2024-02-30", Date, "0000-00-00", "1292 Incorrect date value: '2024-02-30' for column 'c' at row 2", oor}, {"abc", Date, "0000-00-00", "1292 Incorrect date value: 'abc' for column 'c' at row 2", trunc},
		{"0000-00-00", Date, "0000-00-00", "1292 Incorrect date value: '0000-00-00' for column 'c' at row 2", oor}, {"2024-01-02 03:04:05x", DatetimeOf(0), "2024-01-02 03:04:05", "1292 Incorrect datetime value: '2024-01-02 03:04:05x' for column 'c' at row 2", trunc}, {20240102030405, DatetimeOf(0), "2024-01-02 03:04:05", "", ""},
		{"9999-12-31 23:59:59.9", DatetimeOf(0), "0000-00-00 00:00:00", "1292 Incorrect datetime value: '9999-12-31 23:59:59.9' for column 'c' at row 2", oor},
		{"1970-01-01 00:00:00", ts, "0000-00-00 00:00:00", "1292 Incorrect datetime value: '1970-01-01 00:00:00' for column 'c' at row 2", oor}, {"1970-01-01 00:00:01", ts, "1970-01-01 00:00:01", "", ""}, {"2038-01-19 03:14:07", ts, "2038-01-19 03:14:07", "", ""}, {"2038-01-19 03:14:08", ts, "0000-00-00 00:00:00", "1292 Incorrect datetime value: '2038-01-19 03:14:08' for column 'c' at row 2", oor},
		{"10:11:12", TimeOf(0), "10:11:12", "", ""}, {"900:00:00", TimeOf(0), "838:59:59", "1292 Incorrect time value: '900:00:00' for column 'c' at row 2", oor}, {"-1 00:00:01", TimeOf(0), "-24:00:01", "", ""}, {"10:70:00", TimeOf(0), "00:00:00", "1292 Incorrect time value: '10:70:00' for column 'c' at row 2", oor},
		{`[1,  2]`, JSON, "[1, 2]", "", ""}, {1.5, JSON, "1.5", "", ""},
	} {
		for _, mode := range []SQLMode{DefaultSQLMode, ModeNoZeroDate | ModeNoZeroInDate} {
			env := newEnv(mode)
			d, from := datum(c.in)
			got, err := Store(&env.Env, d, from, colOf(c.t), 2)
			warn := strings.TrimPrefix(strings.ReplaceAll(strings.Join(env.warns, "; "), "Note ", "note "), "Warning ")
			if mode.Strict() && c.err != "" {
				if e, ok := err.(*sqlerr.Error); !ok || fmt.Sprint(e.Number, " ", e.Message) != c.err {
					t.Errorf("%v in %s: %v, want %s", c.in, c.t, err, c.err)
				}
				continue
			}
			want := c.loose
			if want == "" {
				want = c.err
			}
			if err != nil || string(AppendText(nil, c.t, got)) != c.want || warn != want || got.Kind() != KindOf(c.t) {
				t.Errorf("%v in %s (strict %v): %q, %v, %s; want %q, %s", c.in, c.t, mode.Strict(), AppendText(nil, c.t, got), err, warn, c.want, want)
			}
		}
	}
	env := newEnv(DefaultSQLMode)
	_, err := Store(&env.Env, value.Null, Null, &schema.Column{Name: "c", Type: BigInt}, 1)
	if e, ok := err.(*sqlerr.Error); !ok || e.Number != 1048 {
		t.Error("NULL in NOT NULL:", err)
	}
	_, err = Store(&env.Env, value.String("[1,"), str, colOf(JSON), 1)
	if e, ok := err.(*sqlerr.Error); !ok || e.Message != `Invalid JSON text: "Invalid value." at position 3 in value for column 'c'.` {
		t.Error("bad JSON:", err)
	}
	env.Ignore = true
	if d, err := Store(&env.Env, value.Int(300), BigInt, colOf(tiny), 1); err != nil || d.Int() != 127 || len(env.warns) != 1 {
		t.Error("IGNORE:", d, err, env.warns)
	}
}

func TestTimestampZones(t *testing.T) {
	loc, err := LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	env := newEnv(0)
	env.Loc = loc
	ts := schema.Type{ID: schema.TypeTimestamp}
	d, err := Store(&env.Env, value.String("2021-03-28 02:30:00"), str, colOf(ts), 1)
	if err != nil || string(AppendText(nil, ts, d)) != "2021-03-28 03:00:00" || len(env.warns) != 1 {
		t.Error("gap:", string(AppendText(nil, ts, d)), err, env.warns)
	}
	x := value.MakeTime(2021, 7, 1, 12, 0, 0, 0)
	if u := TimestampToUTC(&env.Env, x); u.String() != "2021-07-01 10:00:00" || TimestampFromUTC(&env.Env, u) != x {
		t.Error("UTC:", u)
	}
	for _, name := range []string{"SYSTEM", "+08:00", "-13:59", "asia/shanghai", "UTC", "America/New_York"} {
		if _, err := LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "+15:00", "-14:00", "Nowhere/City", "../etc", "8"} {
		if _, err := LoadLocation(name); err == nil {
			t.Error(name, "is no zone")
		}
	}
}

func TestSQLMode(t *testing.T) {
	if got := DefaultSQLMode.String(); got != "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION" {
		t.Error(got)
	}
	for _, s := range []string{"", "ANSI", "traditional", "STRICT_ALL_TABLES,ansi_quotes"} {
		m, err := ParseSQLMode(s)
		back, err2 := ParseSQLMode(m.String())
		if err != nil || err2 != nil || back != m {
			t.Errorf("%s: %s %v %v", s, m, err, err2)
		}
	}
	if _, err := ParseSQLMode("NO_SUCH"); err == nil {
		t.Error("unknown mode")
	}
}

func TestCmpTypeAndUnify(t *testing.T) {
	ubig, i32 := UBigInt, schema.Type{ID: schema.TypeInt, Len: 11}
	bin := VarcharOf(5, schema.CollationUTF8MB4Bin)
	for _, c := range []struct {
		a, b schema.Type
		want string
	}{
		{BigInt, i32, "bigint"}, {ubig, ubig, "bigint unsigned"}, {BigInt, ubig, "decimal(20,0)"}, {BigInt, DecimalOf(5, 2), "decimal(65,30)"}, {BigInt, str, "double"}, {DecimalOf(5, 2), Double, "double"}, {str, bin, "longtext"}, {Date, str, "datetime(6)"},
		{Date, Date, "date"}, {Date, DatetimeOf(0), "datetime(6)"}, {TimeOf(0), str, "time(6)"}, {Date, BigInt, "bigint"}, {JSON, BigInt, "json"}, {Null, BigInt, "bigint"}, {str, VarbinaryOf(3), "longblob"},
	} {
		if got := CmpType(c.a, c.b, false, false).String(); got != c.want {
			t.Errorf("compare %s and %s as %s, want %s", c.a, c.b, got, c.want)
		}
	}
	if CmpType(str, bin, false, false).Collation != schema.CollationUTF8MB4Bin || CmpType(str, bin, false, true).Collation != 255 {
		t.Error("collations")
	}
	for _, c := range []struct {
		ts   []schema.Type
		want string
	}{
		{[]schema.Type{Null, Null}, "null"}, {[]schema.Type{Null, BigInt}, "bigint"}, {[]schema.Type{i32, {ID: schema.TypeInt, Unsigned: true}}, "bigint"}, {[]schema.Type{BigInt, UBigInt}, "decimal(20,0)"}, {[]schema.Type{BigInt, DecimalOf(5, 2)}, "decimal(21,2)"},
		{[]schema.Type{BigInt, Double}, "double"}, {[]schema.Type{Date, DatetimeOf(3)}, "datetime(3)"}, {[]schema.Type{BigInt, str}, "varchar(100)"}, {[]schema.Type{Date, BigInt}, "varchar(20)"}, {[]schema.Type{str, Text(255)}, "longtext"}, {[]schema.Type{str, VarbinaryOf(200)}, "varbinary(200)"},
	} {
		if got := Unify(c.ts...).String(); got != c.want {
			t.Errorf("unify %v: %s, want %s", c.ts, got, c.want)
		}
	}
}

func TestHashKeyAgreesWithCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	words := []string{"", "a", "A", "a ", "á", "ß", "ss", "b", "中"}
	gen := []struct {
		t schema.Type
		f func() value.Datum
	}{
		{BigInt, func() value.Datum { return value.Int(int64(r.IntN(5) - 2)) }},
		{Double, func() value.Datum { return value.Float([]float64{0, math.Copysign(0, -1), 1, -1, 0.5}[r.IntN(5)]) }},
		{DecimalOf(10, 2), func() value.Datum {
			return dec([]string{"1", "1.0", "1.10", "1.1", "-1", "0", "0.00", "100", strings.Repeat("9", 50)}[r.IntN(9)])
		}},
		{str, func() value.Datum { return value.String(words[r.IntN(len(words))]) }},
		{VarcharOf(5, 45), func() value.Datum { return value.String(words[r.IntN(len(words))]) }},
		{VarbinaryOf(5), func() value.Datum { return value.String(words[r.IntN(len(words))]) }},
		{JSON, func() value.Datum {
			doc, _ := value.ParseJSON([]byte([]string{"1", "1.0", "[1]", "[1.0]", `"a"`, "null", "true", "{}", "[]"}[r.IntN(9)]))
			return value.JSONOf(doc)
		}},
	}
	for range 20000 {
		g := gen[r.IntN(len(gen))]
		a, b := g.f(), g.f()
		if r.IntN(10) == 0 {
			a = value.Null
		}
		ka, kb := HashKey(nil, a, g.t), HashKey(nil, b, g.t)
		if eq := CompareNull(a, b, g.t) == 0; bytes.Equal(ka, kb) != eq {
			t.Fatalf("%s: %s and %s: equal %v", g.t, AppendText(nil, g.t, a), AppendText(nil, g.t, b), eq)
		}
		if len(ka) != len(kb) && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
			t.Fatalf("%s: key is a prefix of another", g.t)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2024-01-02 03:04:05.678+08:00", "20240102T030405", "1 10:11:12.5", "-838:59:59", "70-1-1", "1e5", "0!1!1 0!0!00+01:00", "9999-12-31 23:00:00-05:00", "0!3!1 0!0!0+01:00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		env := newEnv(0)
		if x, ok, _ := ParseTime(&env.Env, s, DatetimeOf(6)); ok && !x.Check(value.AllowZeroDate|value.AllowZeroInDate) {
			t.Errorf("%q is %s", s, x)
		}
		if d, _, _ := ParseDuration(&env.Env, s, 6); d > value.MaxDuration || d < -value.MaxDuration {
			t.Errorf("%q is %s", s, d)
		}
	})
}

func BenchmarkAppendText(b *testing.B) {
	var buf [64]byte
	for _, c := range []struct {
		name string
		t    schema.Type
		d    value.Datum
	}{
		{"int", BigInt, value.Int(1234567890)}, {"double", Double, value.Float(1234.5678)}, {"decimal", DecimalOf(10, 2), dec("12345.67")},
		{"datetime", DatetimeOf(0), value.TimeOf(value.MakeTime(2024, 1, 2, 3, 4, 5, 0))}, {"varchar", str, value.String("hello world")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				AppendText(buf[:0], c.t, c.d)
			}
		})
	}
}

func BenchmarkParseTime(b *testing.B) {
	env := newEnv(DefaultSQLMode)
	s := []byte("2024-01-02 03:04:05")
	b.ReportAllocs()
	for b.Loop() {
		ParseTime(&env.Env, s, DatetimeOf(0))
	}
}

func BenchmarkStore(b *testing.B) {
	env := newEnv(DefaultSQLMode)
	col, d := colOf(VarcharOf(50, 255)), value.String("hello world")
	n, icol := value.String("12345"), colOf(schema.Type{ID: schema.TypeInt})
	b.ReportAllocs()
	for b.Loop() {
		Store(&env.Env, d, str, col, 1)
		Store(&env.Env, n, str, icol, 1)
	}
}
