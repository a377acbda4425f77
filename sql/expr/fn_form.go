package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Functions that read a value of a given form. What has another form is NULL,
// without a warning: fields of search indexes are made of them, and must take
// whatever a row has.

func formDefs() []entry {
	return []entry{
		fn("geo_point", "s", retGeometryOf(geo.TypePoint), rowGeoPoint, nullable),
		fn("parse_datetime", "xs+", retParseDatetime, rowParseDatetime, nullable),
	}
}

// ReadForm is the value of a text that a field of a search index reads in a form, NULL
// for one of another form: what INET6_ATON, GEO_POINT and PARSE_DATETIME give.
func ReadForm(as schema.SearchAs, formats []string, text string) value.Datum {
	switch as {
	case schema.AsIP:
		if addr, ok := address(text); ok {
			return value.Bytes(addr)
		}
	case schema.AsGeoPoint:
		return geoPoint(text)
	case schema.AsDate:
		for _, name := range formats {
			if format, err := dateFormatOf(name); err == nil {
				if t, ok := format.parse(text); ok {
					return value.TimeOf(t)
				}
			}
		}
	}
	return value.Null
}

// FormOf is the form in which a function reads its first argument, and the formats of
// a time: ReadForm gives its value. ok is false for other functions.
func FormOf(f *Func) (as schema.SearchAs, formats []string, ok bool) {
	switch f.Op {
	case OpINet6AToN:
		return schema.AsIP, nil, true
	case OpGeoPoint:
		return schema.AsGeoPoint, nil, true
	case OpParseDateTime:
	default:
		return "", nil, false
	}
	for _, a := range f.Args[1:] {
		k, isConst := a.(*Const)
		if !isConst || k.D.Kind() != value.KindBytes {
			return "", nil, false
		}
		formats = append(formats, k.D.Str())
	}
	return schema.AsDate, formats, true
}

// FormType is the type of what ReadForm gives.
func FormType(as schema.SearchAs) schema.Type {
	switch as {
	case schema.AsIP:
		return types.VarbinaryOf(16)
	case schema.AsGeoPoint:
		return types.GeometryOf(geo.TypePoint.String())
	}
	return types.DatetimeOf(6)
}

// rowGeoPoint is the point of 'latitude,longitude' in degrees, in that order.
func rowGeoPoint(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return geoPoint(a[0].Str()), nil
}

func geoPoint(text string) value.Datum {
	first, second, ok := strings.Cut(text, ",")
	if !ok {
		return value.Null
	}
	lat, ok := degrees(first, 90)
	lon, ok2 := degrees(second, 180)
	if !ok || !ok2 {
		return value.Null
	}
	if lon == -180 { // functions take the antimeridian by its other name
		lon = 180
	}
	return geoDatum(0, geo.NewPoint(geo.Point{X: lon, Y: lat}))
}

func degrees(s string, most float64) (float64, bool) {
	s = strings.Trim(s, " ")
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && math.Abs(x) <= most
}

func retParseDatetime(b *binding) (schema.Type, error) {
	for _, a := range b.args[1:] {
		if k, ok := a.(*Const); ok && k.D.Kind() == value.KindBytes {
			if _, err := dateFormatOf(k.D.Str()); err != nil {
				return schema.Type{}, sqlerr.WrongArgumentsReason(b.name, err.Error())
			}
		}
	}
	return datetimeType(6), nil
}

// rowParseDatetime reads a text as a time by the first format that fits.
func rowParseDatetime(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	d, t := a[0], f.Args[0].Type()
	if t.Variant {
		d, t = valueOf(d.Bytes())
	}
	text := ""
	if t.IsString() {
		text = d.Str()
	} else {
		text = string(types.AppendText(nil, t, d))
	}
	for _, d := range a[1:] {
		format, err := dateFormatOf(d.Str())
		if err != nil {
			return value.Null, sqlerr.WrongArgumentsReason(f.Name, err.Error())
		}
		if t, ok := format.parse(text); ok {
			return value.TimeOf(t), nil
		}
	}
	return value.Null, nil
}

// dateFormat is a pattern of letters as Java has them, or the unit of numbers
// that count from 1970 on.
type dateFormat struct {
	unit  int64 // numbers in a second; 0: a pattern
	items []dateItem
}

// dateItem is a letter with its number, or a text (letter 0).
type dateItem struct {
	letter byte
	n      int
	text   string
}

var epochUnits = map[string]int64{"epoch_second": 1, "epoch_millis": 1e3, "epoch_micros": 1e6, "epoch_nanos": 1e9}

// dateFormats are the formats that were read, by text; not many.
var (
	dateFormats     sync.Map
	dateFormatCount atomic.Int32
)

const (
	maxDateFormats = 1000
	// maxDateFormat is the most bytes of one: formats are kept, with their items.
	maxDateFormat = 1000
)

func dateFormatOf(text string) (*dateFormat, error) {
	if f, ok := dateFormats.Load(text); ok {
		return f.(*dateFormat), nil
	}
	f, err := readDateFormat(text)
	if err != nil {
		return nil, err
	}
	if dateFormatCount.Add(1) <= maxDateFormats {
		dateFormats.Store(text, f)
	}
	return f, nil
}

// maxDateDigits are the digits that the letters may stand for.
var maxDateDigits = map[byte]int{'y': 4, 'M': 2, 'd': 2, 'H': 2, 'h': 2, 'K': 2, 'k': 2, 'm': 2, 's': 2, 'S': 9, 'X': 3, 'x': 3, 'a': 1}

func readDateFormat(s string) (*dateFormat, error) {
	if unit, ok := epochUnits[s]; ok {
		return &dateFormat{unit: unit}, nil
	}
	switch {
	case s == "":
		return nil, fmt.Errorf("an empty date format")
	case len(s) > maxDateFormat:
		return nil, fmt.Errorf("a date format of more than %d bytes", maxDateFormat)
	}
	f := &dateFormat{}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\'':
			end := i + 1
			text := ""
			for {
				j := strings.IndexByte(s[end:], '\'')
				if j < 0 {
					return nil, fmt.Errorf("date format %q has a quote that is not closed", s)
				}
				text += s[end : end+j]
				if end += j + 1; end == len(s) || s[end] != '\'' || end == i+2 {
					break
				}
				text += "'"
				end++
			}
			if end == i+2 {
				text = "'"
			}
			f.items = append(f.items, dateItem{text: text})
			i = end
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for i+n < len(s) && s[i+n] == c {
				n++
			}
			if n > maxDateDigits[c] || c == 'y' && n == 3 {
				return nil, fmt.Errorf("date format %q has %q", s, s[i:i+n])
			}
			f.items = append(f.items, dateItem{letter: c, n: n})
			i += n
		default:
			f.items = append(f.items, dateItem{text: string(c)})
			i++
		}
	}
	return f, nil
}

// parse reads a text that has the format as a whole. A time without a zone is
// unchanged, one with a zone is converted to UTC.
func (f *dateFormat) parse(s string) (value.Time, bool) {
	if f.unit > 0 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || s[0] == '+' {
			return 0, false
		}
		sec := n / f.unit
		rest := n % f.unit
		if rest < 0 {
			sec, rest = sec-1, rest+f.unit
		}
		return timeAt(time.Unix(sec, rest*(1e9/f.unit)))
	}
	year, month, day, hour, minute, second, nano, zone := 1970, 1, 1, 0, 0, 0, 0, 0
	half := -1
	for i, it := range f.items {
		if it.letter == 0 {
			if !strings.HasPrefix(s, it.text) {
				return 0, false
			}
			s = s[len(it.text):]
			continue
		}
		if it.letter == 'a' {
			if len(s) < 2 {
				return 0, false
			}
			switch strings.ToUpper(s[:2]) {
			case "AM":
				half = 0
			case "PM":
				half = 12
			default:
				return 0, false
			}
			s = s[2:]
			continue
		}
		if it.letter == 'X' || it.letter == 'x' {
			var ok bool
			if zone, s, ok = readZone(s, it); !ok {
				return 0, false
			}
			continue
		}
		// A single letter stands for as many digits as there are, unless the next
		// item is a number too.
		least, most := it.n, it.n
		if it.n == 1 && it.letter != 'S' && (i+1 == len(f.items) || f.items[i+1].letter == 0 || strings.IndexByte("aXx", f.items[i+1].letter) >= 0) {
			most = maxDateDigits[it.letter]
		}
		n, digits := 0, 0
		for digits < most && digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
			n = n*10 + int(s[digits]-'0')
			digits++
		}
		if digits < least {
			return 0, false
		}
		s = s[digits:]
		low, high := 0, 59
		switch it.letter {
		case 'y':
			if year = n; it.n == 2 {
				if year += 2000; n >= 70 {
					year -= 100
				}
			}
			high = 9999
		case 'M':
			month, low, high = n, 1, 12
		case 'd':
			day, low, high = n, 1, 31
		case 'H':
			hour, high = n, 23
		case 'K':
			hour, high = n, 11
		case 'h':
			hour, low, high = n%12, 1, 12
		case 'k':
			hour, low, high = n%24, 1, 24
		case 'm':
			minute = n
		case 's':
			second = n
		case 'S':
			nano, high = n, math.MaxInt
			for range 9 - it.n {
				nano *= 10
			}
		}
		if n < low || n > high {
			return 0, false
		}
	}
	if s != "" || day > value.DaysInMonth(year, month) {
		return 0, false
	}
	if half > 0 && hour < 12 {
		hour += half
	}
	return timeAt(time.Date(year, time.Month(month), day, hour, minute, second, nano, time.UTC).Add(-time.Duration(zone) * time.Second))
}

// timeAt is a DATETIME in UTC, cut to microseconds.
func timeAt(t time.Time) (value.Time, bool) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return 0, false
	}
	return value.FromGo(t), true
}

// readZone reads an offset: +08, +0800 or +08:00, and Z for X.
func readZone(s string, it dateItem) (seconds int, rest string, ok bool) {
	if it.letter == 'X' && strings.HasPrefix(s, "Z") {
		return 0, s[1:], true
	}
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, s, false
	}
	h, rest, ok := twoDigits(s[1:], 18)
	if !ok {
		return 0, s, false
	}
	m, end, ok := twoDigits(strings.TrimPrefix(rest, ":"), 59)
	if ok {
		rest = end
	}
	seconds = h*3600 + m*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, rest, true
}

func twoDigits(s string, most int) (n int, rest string, ok bool) {
	if len(s) < 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, s, false
	}
	if n = int(s[0]-'0')*10 + int(s[1]-'0'); n > most {
		return 0, s, false
	}
	return n, s[2:], true
}

// CheckDateFormat is what is wrong with a format of PARSE_DATETIME.
func CheckDateFormat(format string) error {
	_, err := dateFormatOf(format)
	return err
}
