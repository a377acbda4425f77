package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// testSession answers session functions.
type testSession struct {
	lastID uint64
	vars   map[string]value.Datum
	types  map[string]schema.Type
}

func (s *testSession) ConnectionID() uint64      { return 7 }
func (s *testSession) User() string              { return "root@localhost" }
func (s *testSession) CurrentUser() string       { return "root@%" }
func (s *testSession) Database() string          { return "test" }
func (s *testSession) LastInsertID() uint64      { return s.lastID }
func (s *testSession) SetLastInsertID(id uint64) { s.lastID = id }
func (s *testSession) RowCount() int64           { return -1 }
func (s *testSession) FoundRows() int64          { return 3 }
func (s *testSession) UserVar(name string) (value.Datum, schema.Type) {
	return s.vars[name], s.types[name]
}
func (s *testSession) SetUserVar(name string, d value.Datum, t schema.Type) error {
	s.vars[name], s.types[name] = d.Clone(), t
	return nil
}
func (s *testSession) SysVar(_, name string) (value.Datum, schema.Type, error) {
	return value.Null, schema.Type{}, sqlerr.UnknownSystemVariable(name)
}

type warnings []string

func testCtx(w *warnings) *Ctx {
	c := &Ctx{Session: &testSession{vars: map[string]value.Datum{}, types: map[string]schema.Type{}}}
	c.Mode = types.DefaultSQLMode
	c.Loc = time.UTC
	c.Now = time.Date(2024, 2, 29, 13, 14, 15, 123456000, time.UTC)
	c.Warn = func(x sqlerr.Warning) {
		if w != nil {
			*w = append(*w, fmt.Sprintf("%d", x.Err.Number))
		}
	}
	return c
}

var testEnv = &BindEnv{Collation: schema.CollationUTF8MB40900AICI, Mode: types.DefaultSQLMode}

type dec string
type bin string

// lit makes a literal of a Go value.
func lit(v any) Expr {
	switch v := v.(type) {
	case nil:
		return NewConst(value.Null, nullType())
	case Expr:
		return v
	case int:
		return NewConst(value.Int(int64(v)), intType())
	case uint64:
		return NewConst(value.Uint(v), uintType())
	case float64:
		return NewConst(value.Float(v), doubleType())
	case bool:
		return NewConst(value.Bool(v), types.Bool)
	case dec:
		d, err := value.ParseDecimal(string(v))
		if err != nil {
			panic(err)
		}
		return NewConst(value.Dec(d), decimalType(max(d.Digits(), d.Scale()), d.Scale()))
	case bin:
		return NewConst(value.String(string(v)), textType(len(v), schema.CollationBinary))
	case string:
		return NewConst(value.String(v), textType(len([]rune(v)), testEnv.Collation))
	}
	panic(fmt.Sprintf("literal %T", v))
}

// call makes a function call; a failure to bind becomes a literal with its text.
func call(name string, args ...any) Expr {
	list := make([]Expr, len(args))
	for i, a := range args {
		list[i] = lit(a)
	}
	e, err := NewFunc(testEnv, name, list...)
	if err != nil {
		return &Const{D: value.String(err.Error()), T: types.Text(testEnv.Collation), Text: "bind error"}
	}
	return e
}

func must(e Expr, err error) Expr {
	if err != nil {
		panic(err)
	}
	return e
}

func cast(v any, t schema.Type) Expr { return must(NewCast(testEnv, lit(v), t, true)) }
func date(s string) Expr             { return cast(s, dateType()) }
func datetime(s string) Expr         { return cast(s, datetimeType(0)) }
func timeLit(s string) Expr          { return cast(s, timeType(0)) }

func addInterval(d, n any, unit string) Expr {
	return must(NewDateArith(testEnv, false, lit(d), lit(n), unit))
}
func subInterval(d, n any, unit string) Expr {
	return must(NewDateArith(testEnv, true, lit(d), lit(n), unit))
}

// show evaluates e to text: NULL, the value, or "ERR number".
func show(c *Ctx, e Expr) string {
	d, err := EvalRow(c, e, nil)
	return showDatum(e, d, err)
}

func showDatum(e Expr, d value.Datum, err error) string {
	if err != nil {
		var se *sqlerr.Error
		if errors.As(err, &se) {
			return fmt.Sprintf("ERR %d", se.Number)
		}
		return "ERR " + err.Error()
	}
	if d.IsNull() {
		return "NULL"
	}
	if d.Kind() != kindOf(e) {
		return fmt.Sprintf("KIND %s is not %s", d.Kind(), kindOf(e))
	}
	return string(types.AppendText(nil, e.Type(), d))
}

func TestKnownResults(t *testing.T) {
	min64 := -9223372036854775808
	cases := []struct {
		e    Expr
		want string
	}{
		// arithmetic
		{call("+", 1, 2), "3"}, {call("+", 9223372036854775807, 1), "ERR 1690"}, {call("-", uint64(1), 2), "ERR 1690"},
		{call("+", uint64(1<<63), 1), "9223372036854775809"}, {call("+", uint64(5), -3), "2"}, {call("*", min64, -1), "ERR 1690"},
		{call("/", 1, 3), "0.3333"}, {call("/", 1, 0), "NULL"}, {call("/", dec("1.00"), dec("3.0")), "0.333333"},
		{call("/", 10, dec("0.5")), "20.0000"}, {call("div", 7, 2), "3"}, {call("div", -7, 2), "-3"}, {call("div", dec("7.5"), dec("2.5")), "3"},
		{call("div", min64, -1), "ERR 1690"}, {call("%", -7, 3), "-1"}, {call("%", 7, 0), "NULL"}, {call("mod", dec("7.5"), 2), "1.5"},
		{call("mod", 234, 10), "4"}, {call("mod", 34.5, 3.0), "1.5"}, {call("+", "1.5abc", 1), "2.5"}, {call("neg", min64), "9223372036854775808"},
		{call("neg", uint64(1<<63)), "-9223372036854775808"}, {call("*", dec("1.1"), dec("2.02")), "2.222"}, {call("+", dec("0.1"), dec("0.22")), "0.32"},
		{call("+", nil, 1), "NULL"}, {call("+", 1.5, 2), "3.5"}, {call("*", 1e308, 10.0), "ERR 1690"},
		{call("&", 29, 15), "13"}, {call("|", 29, 15), "31"}, {call("^", 1, 1), "0"}, {call("<<", 1, 2), "4"}, {call(">>", 4, 2), "1"}, {call("<<", 1, 64), "0"},
		{call("~", 0), "18446744073709551615"}, {call("&", -1, 255), "255"}, {call("|", dec("1.5"), 0), "2"},
		// comparison
		{call("=", 1, "1"), "1"}, {call("=", "a", "A"), "1"}, {call("=", "a", "a "), "0"}, {call("<>", "a", "b"), "1"}, {call("=", nil, 1), "NULL"},
		{call("<=>", nil, nil), "1"}, {call("<=>", nil, 1), "0"}, {call("<=>", 1, 1), "1"}, {call("=", "a", 0), "1"}, {call("=", "1e1", 10), "1"},
		{call("=", dec("1.10"), dec("1.1")), "1"}, {call("<", uint64(1<<63), -1), "0"}, {call(">", uint64(1<<63), -1), "1"}, {call("=", 0.1, dec("0.1")), "1"},
		{call("<", datetime("2020-01-01"), "2020-01-02"), "1"}, {call("=", date("2020-01-01"), "2020-1-1"), "1"},
		{call("=", date("2020-01-01"), datetime("2020-01-01 00:00:00")), "1"}, {call("=", bin("a"), "A"), "0"},
		{call("=", call("row", 1, 2), call("row", 1, 2)), "1"}, {call("<", call("row", 1, 2), call("row", 1, 3)), "1"},
		{call("<", call("row", 1, nil), call("row", 2, 3)), "1"}, {call("=", call("row", 1, nil), call("row", 1, 3)), "NULL"}, {call("=", call("row", 2, nil), call("row", 1, 3)), "0"},
		{call("in", 1, 2, 1), "1"}, {call("in", 1, 2, 3), "0"}, {call("in", 1, 2, nil), "NULL"}, {call("in", nil, 1), "NULL"}, {call("in", "a", "B", "A"), "1"},
		{call("in", 1, "1", "x"), "1"}, {call("in", call("row", 1, 2), call("row", 0, 2), call("row", 1, 2)), "1"}, {call("in", dec("1.0"), 1, 2), "1"},
		{call("interval", 23, 1, 15, 17, 30, 44, 200), "3"}, {call("interval", 10, 1, 10, 100, 1000), "2"}, {call("interval", 22, 23, 30, 44, 200), "0"}, {call("interval", nil, 1), "-1"},
		{call("strcmp", "text", "text2"), "-1"}, {call("strcmp", "text", "text"), "0"}, {call("strcmp", "text2", "text"), "1"},
		{call("greatest", 2, 0), "2"}, {call("greatest", "B", "A", "C"), "C"}, {call("least", 34.0, 3.0, 5.0, 767.0), "3"}, {call("greatest", 1, nil), "NULL"}, {call("least", 1, dec("0.5")), "0.5"},
		{call("coalesce", nil, nil, 3), "3"}, {call("coalesce", nil, nil), "NULL"}, {call("ifnull", nil, 10), "10"}, {call("ifnull", call("/", 1, 0), "yes"), "yes"},
		{call("nullif", 1, 1), "NULL"}, {call("nullif", 1, 2), "1"}, {call("isnull", nil), "1"}, {call("is_true", 5), "1"}, {call("is_false", nil), "0"}, {call("is_true", "0.5"), "1"},
		{call("if", call(">", 1, 2), 2, 3), "3"}, {call("if", nil, "a", "b"), "b"}, {call("case", false, "one", true, "two", "more"), "two"}, {call("case", false, "one"), "NULL"},
		{call("and", 1, nil), "NULL"}, {call("and", 0, nil), "0"}, {call("or", 1, nil), "1"}, {call("or", 0, nil), "NULL"}, {call("xor", 1, nil), "NULL"}, {call("xor", 1, 0), "1"}, {call("not", nil), "NULL"}, {call("not", 10), "0"},
		{call("<", uint64(5), -1), "0"}, {call("in", uint64(1<<63), -1, 3), "0"},
		// strings
		{call("concat", "My", "S", "QL"), "MySQL"}, {call("concat", "My", nil), "NULL"}, {call("concat", dec("14.3")), "14.3"},
		{call("concat_ws", ",", "First", nil, "Last"), "First,Last"}, {call("concat_ws", nil, "a"), "NULL"}, {call("length", "text"), "4"}, {call("length", "é"), "2"}, {call("char_length", "é"), "1"}, {call("bit_length", "text"), "32"},
		{call("substring", "Quadratically", 5), "ratically"}, {call("substring", "Quadratically", 5, 6), "ratica"}, {call("substring", "Sakila", -3), "ila"}, {call("substring", "Sakila", -5, 3), "aki"}, {call("substring", "abc", 0), ""}, {call("substr", "日本語", 2, 1), "本"},
		{call("substring_index", "www.mysql.com", ".", 2), "www.mysql"}, {call("substring_index", "www.mysql.com", ".", -2), "mysql.com"}, {call("substring_index", "a.b", ".", 5), "a.b"},
		{call("left", "foobarbar", 5), "fooba"}, {call("right", "foobarbar", 4), "rbar"}, {call("lpad", "hi", 4, "??"), "??hi"}, {call("lpad", "hi", 1, "??"), "h"}, {call("rpad", "hi", 5, "?"), "hi???"}, {call("rpad", "hi", -1, "?"), "NULL"},
		{call("ltrim", "  barbar"), "barbar"}, {call("rtrim", "barbar   "), "barbar"}, {call("trim", "  bar   "), "bar"}, {must(NewTrim(testEnv, "leading", lit("xxxbarxxx"), lit("x"))), "barxxx"}, {must(NewTrim(testEnv, "both", lit("xxxbarxxx"), lit("x"))), "bar"}, {must(NewTrim(testEnv, "trailing", lit("barxxyz"), lit("xyz"))), "barx"},
		{call("upper", "Hej é"), "HEJ É"}, {call("lower", "QUADRATICALLY"), "quadratically"}, {call("replace", "www.mysql.com", "w", "Ww"), "WwWwWw.mysql.com"}, {call("reverse", "abcé"), "écba"}, {call("repeat", "MySQL", 3), "MySQLMySQLMySQL"}, {call("space", 3), "   "},
		{call("insert", "Quadratic", 3, 4, "What"), "QuWhattic"}, {call("insert", "Quadratic", -1, 4, "What"), "Quadratic"}, {call("insert", "Quadratic", 3, 100, "What"), "QuWhat"},
		{call("instr", "foobarbar", "bar"), "4"}, {call("instr", "xbar", "foobar"), "0"}, {call("locate", "bar", "foobarbar", 5), "7"}, {call("locate", "BAR", "foobarbar"), "4"}, {call("position", "b", "abc"), "2"}, {call("locate", "", "abc", 4), "4"},
		{call("ascii", "2"), "50"}, {call("ascii", ""), "0"}, {call("ascii", 2), "50"}, {call("ord", "é"), "50089"}, {call("hex", call("char", 77, 121, 83)), "4D7953"}, {call("hex", call("char", 256)), "0100"},
		{call("hex", "abc"), "616263"}, {call("hex", 255), "FF"}, {call("hex", -1), "FFFFFFFFFFFFFFFF"}, {call("unhex", "4D7953514C"), "MySQL"}, {call("unhex", "GG"), "NULL"}, {call("bin", 12), "1100"}, {call("oct", 12), "14"}, {call("conv", "a", 16, 2), "1010"}, {call("conv", "6E", 18, 8), "172"}, {call("conv", -17, 10, -18), "-H"}, {call("conv", 10, 10, 10), "10"},
		{call("field", "Bb", "Aa", "Bb", "Cc"), "2"}, {call("field", nil, "a"), "0"}, {call("find_in_set", "b", "a,b,c,d"), "2"}, {call("find_in_set", "x", ""), "0"}, {call("elt", 1, "Aa", "Bb"), "Aa"}, {call("elt", 3, "Aa", "Bb"), "NULL"}, {call("make_set", 1, "a", "b", "c"), "a"}, {call("make_set", 5, "hello", "nice", "world"), "hello,world"}, {call("make_set", 0, "a"), ""},
		{call("export_set", 5, "Y", "N", ",", 4), "Y,N,Y,N"}, {call("export_set", 6, "1", "0", ",", 10), "0,1,1,0,0,0,0,0,0,0"}, {call("format", dec("12332.123456"), 4), "12,332.1235"}, {call("format", dec("12332.2"), 0), "12,332"}, {call("format", 12332, 2), "12,332.00"}, {call("format", dec("12332.2"), 2, "de_DE"), "12.332,20"},
		{call("quote", "Don't!"), `'Don\'t!'`}, {call("quote", nil), "NULL"}, {call("soundex", "Hello"), "H400"}, {call("soundex", "Quadratically"), "Q36324"}, {call("to_base64", "abc"), "YWJj"}, {call("from_base64", "YWJj"), "abc"}, {call("md5", "testing"), "ae2b1fca515949e5d54fb22b8ed95575"}, {call("sha1", "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d"}, {call("sha2", "abc", 224), "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"}, {call("crc32", "MySQL"), "3259397556"},
		{call("like", "David!", "David_"), "1"}, {call("like", "David!", "D%v%"), "1"}, {call("like", "David_", `David\_`), "1"}, {call("like", "David_", "David|_", "|"), "1"}, {call("like", "abc", "ABC"), "1"}, {call("like", "abc", nil), "NULL"}, {call("like", 10, "1%"), "1"},
		{call("regexp", "Michael!", ".*"), "1"}, {call("regexp", "a", "^[a-d]"), "1"}, {call("regexp", "fo", "^f.*$"), "1"}, {call("regexp_like", "abc", "ABC"), "1"}, {call("regexp_like", "abc", "ABC", "c"), "0"}, {call("regexp_instr", "dog cat dog", "dog", 2), "9"}, {call("regexp_substr", "abc def ghi", "[a-z]+", 1, 3), "ghi"}, {call("regexp_replace", "a b c", "b", "X"), "a X c"}, {call("regexp_replace", "abc def ghi", "[a-z]+", "X", 1, 3), "abc def X"}, {call("regexp", "ab1", "[[:digit:]]"), "1"}, {call("regexp_replace", "ab", "(a)(b)", "$2$1"), "ba"},
		// numbers
		{call("abs", -32), "32"}, {call("abs", min64), "ERR 1690"}, {call("sign", dec("-0.5")), "-1"}, {call("ceiling", dec("1.23")), "2"}, {call("ceiling", dec("-1.23")), "-1"}, {call("floor", dec("-1.23")), "-2"}, {call("round", dec("-1.23")), "-1"}, {call("round", dec("-1.58")), "-2"}, {call("round", dec("1.298"), 1), "1.3"}, {call("round", dec("1.298"), 0), "1"}, {call("round", dec("23.298"), -1), "20"}, {call("round", dec("2.5")), "3"}, {call("round", 2.5), "2"}, {call("round", 150, -2), "200"}, {call("round", dec("150.5"), -2), "200"}, {call("round", -149, -2), "-100"},
		{call("round", dec("1.5"), 3), "1.500"}, {call("round", 1.5, 3), "1.500"}, {call("log10", 1000), "3"}, {call("pow", 1.1, 10), "2.5937424601000023"}, {call("bin", dec("1.9")), "1"},
		{call("concat", dec("-0.25")), "-0.25"}, {call("/", dec("123456.789"), dec("-1.5")), "-82304.5260000"}, {call("hex", dec("2.5")), "3"},
		{call("truncate", dec("1.223"), 1), "1.2"}, {call("truncate", dec("1.999"), 0), "1"}, {call("truncate", dec("-1.999"), 1), "-1.9"}, {call("truncate", 122, -2), "100"}, {call("pow", 2, -2), "0.25"}, {call("sqrt", 4), "2"}, {call("sqrt", -16), "NULL"}, {call("exp", 0), "1"}, {call("ln", -2), "NULL"}, {call("log", 2, 65536), "16"}, {call("log2", 65536), "16"}, {call("log10", 100), "2"}, {call("log", 1, 100), "NULL"}, {call("degrees", call("pi")), "180"}, {call("bit_count", 29), "4"}, {call("atan2", call("pi"), 0), "1.5707963267948966"}, {call("rand", 3), "0.9057697559760601"},
		// dates
		{call("now"), "2024-02-29 13:14:15"}, {call("now", 3), "2024-02-29 13:14:15.123"}, {call("curdate"), "2024-02-29"}, {call("curtime"), "13:14:15"}, {call("year", "1987-01-01"), "1987"}, {call("month", "2008-02-03"), "2"}, {call("day", "2007-02-03"), "3"}, {call("month", "2008-00-03"), "0"}, {call("dayofweek", "2007-02-03"), "7"}, {call("weekday", "2008-02-03 22:23:00"), "6"}, {call("dayofyear", "2007-02-03"), "34"}, {call("dayname", "2007-02-03"), "Saturday"}, {call("monthname", "2008-02-03"), "February"}, {call("quarter", "2008-04-01"), "2"}, {call("last_day", "2003-02-05"), "2003-02-28"}, {call("last_day", "2003-03-32"), "NULL"},
		{call("week", "2008-02-20"), "7"}, {call("week", "2008-02-20", 0), "7"}, {call("week", "2008-02-20", 1), "8"}, {call("week", "2008-12-31", 1), "53"}, {call("week", "2000-01-01", 2), "52"}, {call("week", "2000-01-01", 0), "0"}, {call("yearweek", "1987-01-01"), "198652"}, {call("yearweek", "2000-01-01"), "199952"}, {call("weekofyear", "2008-02-20"), "8"},
		{call("hour", "10:05:03"), "10"}, {call("hour", "272:59:59"), "272"}, {call("minute", "2008-02-03 10:05:03"), "5"}, {call("second", "10:05:03"), "3"}, {call("microsecond", "12:00:00.123456"), "123456"}, {call("microsecond", "2019-12-31 23:59:59.000010"), "10"}, {call("time", "2003-12-31 01:02:03"), "01:02:03"}, {call("date", "2003-12-31 01:02:03"), "2003-12-31"}, {call("timestamp", "2003-12-31"), "2003-12-31 00:00:00"}, {call("timestamp", "2003-12-31 12:00:00", "12:00:00"), "2004-01-01 00:00:00"},
		{call("to_days", "2007-10-07"), "733321"}, {call("to_days", 950501), "728779"}, {call("from_days", 730669), "2000-07-03"}, {call("to_seconds", "2009-11-29"), "63426672000"}, {call("makedate", 2011, 32), "2011-02-01"}, {call("makedate", 2011, 0), "NULL"}, {call("maketime", 12, 15, 30), "12:15:30"}, {call("time_to_sec", "22:23:00"), "80580"}, {call("sec_to_time", 2378), "00:39:38"}, {call("addtime", "2007-12-31 23:59:59.999999", "0:0:0.000002"), "2008-01-01 00:00:00.000001"}, {call("addtime", "01:59:59.999999", "02:00:00.999998"), "04:00:00.999997"}, {call("subtime", "01:00:00.999999", "02:00:00.999998"), "-00:59:59.999999"},
		{call("timediff", "2000-01-01 00:00:00", "2000-01-01 00:00:00.000001"), "-00:00:00.000001"}, {call("datediff", "2007-12-31 23:59:59", "2007-12-30"), "1"}, {call("datediff", "2010-11-30 23:59:59", "2010-12-31"), "-31"}, {call("period_add", 200801, 2), "200803"}, {call("period_diff", 200802, 200703), "11"}, {call("unix_timestamp", "2015-11-13 10:20:19"), "1447410019"}, {call("unix_timestamp", "2015-11-13 10:20:19.012"), "1447410019.012"}, {call("from_unixtime", 1447430881), "2015-11-13 16:08:01"}, {call("from_unixtime", 1447430881, "%Y"), "2015"}, {call("convert_tz", "2004-01-01 12:00:00", "+00:00", "+10:00"), "2004-01-01 22:00:00"}, {call("convert_tz", "2004-01-01 12:00:00", "GMT", "MET"), "2004-01-01 13:00:00"},
		{call("date_format", "2009-10-04 22:23:00", "%W %M %Y"), "Sunday October 2009"}, {call("date_format", "2007-10-04 22:23:00", "%H:%i:%s"), "22:23:00"}, {call("date_format", "1900-10-04 22:23:00", "%D %y %a %d %m %b %j"), "4th 00 Thu 04 10 Oct 277"}, {call("date_format", "1997-10-04 22:23:00", "%H %k %I %r %T %S %w"), "22 22 10 10:23:00 PM 22:23:00 00 6"}, {call("date_format", "1999-01-01", "%X %V"), "1998 52"}, {call("date_format", "2006-06-00", "%d"), "00"}, {call("time_format", "100:00:00", "%H %k %h %I %l"), "100 100 04 04 4"},
		{call("str_to_date", "01,5,2013", "%d,%m,%Y"), "2013-05-01"}, {call("str_to_date", "May 1, 2013", "%M %d,%Y"), "2013-05-01"}, {call("str_to_date", "a09:30:17", "a%h:%i:%s"), "09:30:17"}, {call("str_to_date", "a09:30:17", "%h:%i:%s"), "NULL"}, {call("str_to_date", "abc", "abc"), "NULL"}, {call("str_to_date", "200442 Monday", "%X%V %W"), "2004-10-18"}, {call("get_format", "DATE", "EUR"), "%d.%m.%Y"},
		{addInterval("2018-05-01", 1, "day"), "2018-05-02"}, {subInterval("2018-05-01", 1, "year"), "2017-05-01"}, {addInterval("2020-12-31 23:59:59", 1, "second"), "2021-01-01 00:00:00"}, {addInterval("2100-12-31 23:59:59", "1:1", "minute_second"), "2101-01-01 00:01:00"}, {subInterval("2025-01-01 00:00:00", "1 1:1:1", "day_second"), "2024-12-30 22:58:59"}, {addInterval("1900-01-01 00:00:00", "-1 10", "day_hour"), "1899-12-30 14:00:00"}, {subInterval("1998-01-02", 31, "day"), "1997-12-02"}, {addInterval("1992-12-31 23:59:59.000002", "1.999999", "second_microsecond"), "1993-01-01 00:00:01.000001"}, {addInterval("2024-01-30", 1, "month"), "2024-02-29"}, {addInterval(date("2023-01-01"), 1, "hour"), "2023-01-01 01:00:00"}, {addInterval(date("2023-01-01"), 1, "day"), "2023-01-02"}, {addInterval(timeLit("10:00:00"), 90, "minute"), "11:30:00"}, {addInterval(date("9999-12-31"), 1, "day"), "NULL"}, {call("adddate", "2008-01-02", 31), "2008-02-02"},
		{must(NewExtract(testEnv, "year", lit("2019-07-02"))), "2019"}, {must(NewExtract(testEnv, "year_month", lit("2019-07-02 01:02:03"))), "201907"}, {must(NewExtract(testEnv, "day_minute", lit("2019-07-02 01:02:03"))), "20102"}, {must(NewExtract(testEnv, "microsecond", lit("2003-01-02 10:30:00.000123"))), "123"},
		{must(NewTimestampDiff(testEnv, "month", lit("2003-02-01"), lit("2003-05-01"))), "3"}, {must(NewTimestampDiff(testEnv, "year", lit("2002-05-01"), lit("2001-01-01"))), "-1"}, {must(NewTimestampDiff(testEnv, "minute", lit("2003-02-01"), lit("2003-05-01 12:05:55"))), "128885"}, {must(NewTimestampAdd(testEnv, "week", lit(1), lit("2003-01-02"))), "2003-01-09"},
		// conversion
		{cast("123abc", intType()), "123"}, {cast(-1, uintType()), "18446744073709551615"}, {cast("abc", textType(2, testEnv.Collation)), "ab"}, {cast("1.236", decimalType(5, 2)), "1.24"}, {cast("2020-02-30", dateType()), "NULL"}, {cast(dec("1.5"), intType()), "2"}, {cast("10:11:12.5", timeType(1)), "10:11:12.5"}, {cast(20200102, dateType()), "2020-01-02"}, {cast(`{"b":1,"a":[1,2]}`, jsonType()), `{"a": [1, 2], "b": 1}`},
		// information
		{call("database"), "test"}, {call("user"), "root@localhost"}, {call("version"), ServerVersion}, {call("connection_id"), "7"}, {call("last_insert_id"), "0"}, {call("last_insert_id", 5), "5"}, {call("charset", "abc"), "utf8mb4"}, {call("coercibility", call("collation", "abc")), "4"}, {call("coercibility", "abc"), "4"}, {call("coercibility", call("user")), "3"}, {call("charset", 1), "binary"}, {call("found_rows"), "3"},
		// other
		{call("inet_aton", "10.0.5.9"), "167773449"}, {call("inet_ntoa", 167773449), "10.0.5.9"}, {call("hex", call("inet6_aton", "fdfe::5a55:caff:fefa:9089")), "FDFE0000000000005A55CAFFFEFA9089"}, {call("inet6_ntoa", call("unhex", "FDFE0000000000005A55CAFFFEFA9089")), "fdfe::5a55:caff:fefa:9089"}, {call("is_uuid", "6ccd780c-baba-1026-9564-5b8c656024db"), "1"}, {call("hex", call("uuid_to_bin", "6ccd780c-baba-1026-9564-5b8c656024db", 1)), "1026BABA6CCD780C95645B8C656024DB"}, {call("bin_to_uuid", call("uuid_to_bin", "6ccd780c-baba-1026-9564-5b8c656024db")), "6ccd780c-baba-1026-9564-5b8c656024db"}, {call("is_ipv4", "10.0.5.256"), "0"},
		// JSON
		{call("json_extract", "[10, 20, [30, 40]]", "$[1]"), "20"}, {call("json_extract", "[10, 20, [30, 40]]", "$[1]", "$[0]"), "[20, 10]"}, {call("json_extract", "[10, 20, [30, 40]]", "$[2][*]"), "[30, 40]"}, {call("json_extract", `{"a":1}`, "$.b"), "NULL"}, {call("->>", `{"a":"x"}`, "$.a"), "x"}, {call("json_unquote", `"abc"`), "abc"}, {call("json_quote", `a"b`), `"a\"b"`}, {call("json_array", 1, "abc", nil, true, dec("1.5")), `[1, "abc", null, true, 1.5]`}, {call("json_object", "id", 87, "name", "carrot"), `{"id": 87, "name": "carrot"}`}, {call("json_valid", `{"a":1}`), "1"}, {call("json_valid", "hello"), "0"}, {call("json_type", `{"a":[1]}`), "OBJECT"}, {call("json_length", `{"a":1,"b":{"c":30}}`), "2"}, {call("json_length", `{"a":1,"b":{"c":30}}`, "$.b"), "1"}, {call("json_depth", `[10, {"a": 20}]`), "3"}, {call("json_keys", `{"a": 1, "b": {"c": 30}}`), `["a", "b"]`}, {call("json_contains", `{"a":1,"b":2}`, "1", "$.a"), "1"}, {call("json_contains", "[1,2,3]", "[1,3]"), "1"}, {call("json_contains_path", `{"a":1}`, "one", "$.a", "$.e"), "1"}, {call("json_contains_path", `{"a":1}`, "all", "$.a", "$.e"), "0"}, {call("json_search", `["abc", [{"k": "10"}, "def"], {"x":"abc"}]`, "all", "abc"), `["$[0]", "$[2].x"]`}, {call("json_set", `{"a":1,"b":[2,3]}`, "$.a", 10, "$.c", "[true]"), `{"a": 10, "b": [2, 3], "c": "[true]"}`}, {call("json_insert", `{"a":1}`, "$.a", 10, "$.c", 2), `{"a": 1, "c": 2}`}, {call("json_replace", `{"a":1}`, "$.a", 10, "$.c", 2), `{"a": 10}`}, {call("json_remove", `["a", ["b", "c"], "d"]`, "$[1]"), `["a", "d"]`}, {call("json_merge_patch", "[1,2]", "[true,false]"), "[true, false]"}, {call("json_merge_preserve", "[1,2]", "[true,false]"), "[1, 2, true, false]"}, {call("json_array_append", `["a", ["b", "c"], "d"]`, "$[1]", 1), `["a", ["b", "c", 1], "d"]`}, {call("json_array_insert", `["a", {"b": [1, 2]}, [3, 4]]`, "$[1]", "x"), `["a", "x", {"b": [1, 2]}, [3, 4]]`}, {call("json_overlaps", "[1,3,5,7]", "[2,5,7]"), "1"}, {call("member of", 17, "[23, \"abc\", 17]"), "1"}, {call("member of", "17", "[23, \"abc\", 17]"), "0"}, {call("json_value", `{"fname": "Joe"}`, "$.fname"), "Joe"}, {call("json_pretty", `{"a":[1,{}]}`), "{\n  \"a\": [\n    1,\n    {}\n  ]\n}"}, {call("json_valid", nil), "NULL"}, {call("=", call("json_extract", `{"a":"x"}`, "$.a"), "x"), "1"}, {call("=", call("json_extract", `{"a":5}`, "$.a"), 5), "1"}, {call("<", call("json_extract", `{"a":5}`, "$.a"), dec("5.5")), "1"}, {call("=", call("json_extract", `{"a":5}`, "$.a"), nil), "NULL"}, {call("in", call("->>", `{"a":"x"}`, "$.a"), "y", "x"), "1"}, {call("json_extract", "{", "$.a"), "ERR 3141"}, {call("json_extract", "{}", "a"), "ERR 3143"},
	}
	for _, c := range cases {
		t.Run(c.e.String(), func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("%s panics: %v", c.e, r)
				}
			}()
			if got := show(testCtx(nil), c.e); got != c.want {
				t.Errorf("%s = %s, want %s", c.e, got, c.want)
			}
		})
	}
}

func TestBindErrors(t *testing.T) {
	col := func(coll schema.CollationID) Expr { return &Col{T: textType(10, coll), Name: "c"} }
	cases := []struct {
		name string
		args []any
		want uint16
	}{
		{"no_such_function", nil, 1305},
		{"abs", nil, 1582},
		{"substr", []any{"a"}, 1582},
		{"concat", []any{must(NewRow(lit(1), lit(2)))}, 1241},
		{"=", []any{must(NewRow(lit(1), lit(2))), 1}, 1241},
		{"in", []any{must(NewRow(lit(1), lit(2))), 1}, 1241},
		{"=", []any{col(schema.CollationUTF8MB4GeneralCI), col(schema.CollationUTF8MB40900AICI)}, 1267},
		{"concat", []any{col(schema.CollationUTF8MB4GeneralCI), col(schema.CollationUTF8MB40900AICI), col(schema.CollationUTF8MB40900AICI)}, 1271},
		{"=", []any{&Col{T: dateType(), Name: "d"}, "abc"}, 1525},
		{"now", []any{7}, 1426},
	}
	for _, c := range cases {
		args := make([]Expr, len(c.args))
		for i, a := range c.args {
			args[i] = lit(a)
		}
		_, err := NewFunc(testEnv, c.name, args...)
		var se *sqlerr.Error
		if !errors.As(err, &se) || se.Number != c.want {
			t.Errorf("%s: error %v, want %d", c.name, err, c.want)
		}
	}
}

func TestResultTypes(t *testing.T) {
	column := func(ty schema.Type) Expr { return &Col{T: ty, Name: "c", Null: true} }
	dec52 := column(decimalType(5, 2))
	integer := column(schema.Type{ID: schema.TypeInt, Len: 11, Collation: schema.CollationBinary})
	unsigned := column(uintType())
	text := column(textType(10, testEnv.Collation))
	cases := []struct {
		e    Expr
		want string
	}{
		{call("+", integer, integer), "bigint"}, {call("+", integer, unsigned), "bigint unsigned"}, {call("+", integer, text), "double"},
		{call("+", dec52, dec52), "decimal(6,2)"}, {call("*", dec52, dec52), "decimal(10,4)"}, {call("/", dec52, dec52), "decimal(11,6)"},
		{call("/", integer, integer), "decimal(14,4)"}, {call("/", 1, 3), "decimal(5,4)"}, {call("concat", text, text), "varchar(20)"}, {call("concat", text, integer), "varchar(21)"},
		{call("=", integer, text), "int"}, {call("coalesce", integer, dec52), "decimal(12,2)"}, {call("if", 1, text, "abc"), "varchar(10)"}, {call("round", dec52, 1), "decimal(5,1)"},
		{call("floor", dec52), "bigint"}, {addInterval(column(dateType()), 1, "hour"), "datetime"}, {call("%", integer, integer), "bigint"}, {call("length", text), "bigint"},
		{call("neg", unsigned), "bigint"}, {call("div", dec52, integer), "bigint"}, {call("abs", unsigned), "bigint unsigned"},
	}
	for _, c := range cases {
		if got := c.e.Type().String(); got != c.want {
			t.Errorf("%s is %s, want %s", c.e, got, c.want)
		}
	}
	for _, c := range []struct {
		name string
		arg  Expr
		want string
	}{
		{"sum", integer, "decimal(32,0)"}, {"sum", dec52, "decimal(27,2)"}, {"avg", integer, "decimal(14,4)"}, {"avg", dec52, "decimal(9,6)"}, {"sum", text, "double"},
		{"count", text, "bigint"}, {"max", text, "varchar(10)"}, {"bit_or", integer, "bigint unsigned"}, {"std", integer, "double"}, {"group_concat", text, "longtext"},
	} {
		a, err := NewAgg(testEnv, c.name, false, c.arg)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Shown.String(); got != c.want {
			t.Errorf("%s shows %s, want %s", a, got, c.want)
		}
	}
}

func TestWarningsAndStrictness(t *testing.T) {
	var w warnings
	c := testCtx(&w)
	if got := show(c, call("/", 1, 0)); got != "NULL" || fmt.Sprint(w) != "[1365]" {
		t.Errorf("1/0 is %s with warnings %v", got, w)
	}
	c.Write = true
	if got := show(c, call("/", 1, 0)); got != "ERR 1365" {
		t.Errorf("1/0 while writing is %s", got)
	}
	c.Ignore = true
	if got := show(c, call("/", 1, 0)); got != "NULL" {
		t.Errorf("1/0 with IGNORE is %s", got)
	}
	_, err := EvalRow(testCtx(nil), call("+", 9223372036854775807, 1), nil)
	if want := "ERROR 1690 (22003): BIGINT value is out of range in '(9223372036854775807 + 1)'"; err == nil || err.Error() != want {
		t.Errorf("overflow: %v", err)
	}
	w = nil
	// An error in a branch that is not taken is none.
	over := call("+", 9223372036854775807, 1)
	if got := show(testCtx(nil), call("if", false, over, 1)); got != "1" {
		t.Errorf("if: %s", got)
	}
	if got := show(testCtx(nil), call("and", 0, over)); got != "0" {
		t.Errorf("and: %s", got)
	}
}

func TestFold(t *testing.T) {
	c := testCtx(nil)
	col := &Col{T: intType(), Name: "a"}
	if got := Fold(c, call("+", col, call("*", 2, 3))).String(); got != "(a + 6)" {
		t.Errorf("fold: %s", got)
	}
	for _, e := range []Expr{call("/", 1, 0), call("rand"), call("now"), call("+", 9223372036854775807, 1)} {
		if _, folded := Fold(c, e).(*Const); folded {
			t.Errorf("%s was folded", e)
		}
	}
}

// TestConstantsFollowColumns: a literal takes the column's type, so that the
// column stays bare and an index can serve the comparison.
func TestConstantsFollowColumns(t *testing.T) {
	column := func(name string, ty schema.Type) Expr { return &Col{T: ty, Name: name, Null: true} }
	i, u := column("i", intType()), column("u", uintType())
	y := column("y", schema.Type{ID: schema.TypeYear})
	e := column("e", schema.Type{ID: schema.TypeEnum, Elems: []string{"red", "blue"}, Collation: testEnv.Collation})
	d, ts := column("d", dateType()), column("ts", schema.Type{ID: schema.TypeTimestamp})
	s := column("s", textType(10, testEnv.Collation))
	param := func(ty schema.Type) Expr { return &Param{T: ty} }
	cases := []struct {
		e    Expr
		want string
	}{
		{call("=", i, "5"), "(i = 5)"}, {call("=", i, dec("5.0")), "(i = 5)"}, {call("<", u, 5), "(u < 5)"}, {call("<", u, -5), "(u < -5)"},
		{call("=", u, param(intType())), "(u = ?1)"}, {call("=", i, u), "(i = u)"}, {call("=", y, 20), "(y = 2020)"},
		{call("=", e, "BLUE"), "(e = 'blue')"}, {call("in", e, "BLUE", "red"), "(e in ('blue','red'))"}, {call("<", d, "2020-1-1"), "(d < '2020-01-01')"}, {call("<", d, param(textType(10, testEnv.Collation))), "(d < cast(?1 as datetime(6)))"},
		{call("=", ts, "2020-01-01 10:00:00"), "(ts = '2020-01-01 10:00:00')"}, {call("=", s, "x"), "(s = 'x')"}, {call("=", s, 5), "(cast(s as double) = cast(5 as double))"},
		{call("in", u, 1, 2), "(u in (1,2))"}, {call("in", i, "1", 2, dec("3")), "(i in (1,2,3))"},
	}
	for _, c := range cases {
		got := c.e.String()
		if got != c.want && got != "(cast(s as double) = 5)" {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestUserVariables: a counter counts row by row, a variable that is only read
// is constant.
func TestUserVariables(t *testing.T) {
	env := &BindEnv{Collation: testEnv.Collation}
	get := NewGetVar(env, "n", intType())
	if !IsConst(get) {
		t.Error("@n is not constant")
	}
	sum, err := NewFunc(env, "+", get, lit(1))
	if err != nil {
		t.Fatal(err)
	}
	count := must(NewSetVar(env, "n", sum))
	c := testCtx(nil)
	if err := c.Session.SetUserVar("n", value.Int(0), intType()); err != nil {
		t.Fatal(err)
	}
	in := &vec.Batch{N: 5}
	v, err := Eval(c, count, in)
	if err != nil {
		t.Fatal(err)
	}
	if v.I64[4] != 5 {
		t.Errorf("the fifth row counts %d", v.I64[4])
	}
	if IsConst(NewGetVar(env, "n", intType())) {
		t.Error("@n is constant in a statement that assigns")
	}
}

// TestForksShareTrees evaluates one tree on several goroutines; the race
// detector watches.
func TestForksShareTrees(t *testing.T) {
	col := &Col{T: textType(20, testEnv.Collation), Name: "s", Null: true}
	e := call("and", call("like", col, "a%"), call("regexp", col, "[a-c]+"), call("in", call("json_unquote", call("json_quote", col)), "abc", "b"))
	c := testCtx(nil)
	done := make(chan error, 4)
	for range 4 {
		fork := c.Fork()
		go func() {
			v := vec.New(value.KindBytes)
			for i := range 100 {
				v.SetDatum(i, value.String([]string{"abc", "b", "xyz"}[i%3]))
			}
			in := &vec.Batch{N: 100, Cols: []*vec.Vec{v}}
			out, err := Eval(fork, e, in)
			if err == nil && (out.I64[0] != 1 || out.I64[2] != 0) {
				err = fmt.Errorf("wrong answer %d, %d", out.I64[0], out.I64[2])
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestConv: numbers are read and written in all bases, in letters of both cases.
func TestConv(t *testing.T) {
	ec := testCtx(nil)
	for base := 2; base <= 36; base++ {
		for _, n := range []uint64{0, 1, 9, 10, uint64(base) - 1, uint64(base), 35, 36, 123456789, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
			text := strconv.FormatUint(n, base)
			for _, s := range []string{text, strings.ToUpper(text), text + "!", "00" + text} {
				got, err := EvalRow(ec, call("conv", s, base, 10), nil)
				if want := strconv.FormatUint(n, 10); err != nil || got.Str() != want {
					t.Errorf("%s of base %d is %s, want %s, %v", s, base, datumText(got), want, err)
				}
			}
			got, err := EvalRow(ec, call("conv", strconv.FormatUint(n, 10), 10, base), nil)
			if err != nil || got.Str() != strings.ToUpper(text) {
				t.Errorf("%d in base %d is %s, want %s, %v", n, base, datumText(got), strings.ToUpper(text), err)
			}
		}
		for digit := range 36 {
			got, err := EvalRow(ec, call("conv", "1"+strconv.FormatInt(int64(digit), 36), base, 10), nil)
			want := 1 // what is no digit ends the number
			if digit < base {
				want = base + digit
			}
			if err != nil || got.Str() != strconv.Itoa(want) {
				t.Errorf("1 and the digit %d in base %d: %s, want %d, %v", digit, base, datumText(got), want, err)
			}
		}
	}
}
