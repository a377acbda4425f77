package expr

import (
	"bytes"
	"math"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// wordLoop computes words from words. It gets undefined ones too.
type wordLoop func(dst, src []int64)

// mapWords calls loop for the live rows of in, also for null ones.
func (c *Ctx) mapWords(in *vec.Batch, dst, src []int64, loop wordLoop) {
	sel := selOf(in)
	if sel == nil {
		loop(dst[:in.N], src[:in.N])
		return
	}
	tmp := c.getVec(value.KindInt, len(sel))
	part := tmp.I64[:len(sel)]
	for l, i := range sel {
		part[l] = src[i]
	}
	loop(part, part)
	for l, i := range sel {
		dst[i] = part[l]
	}
	c.Release(tmp)
}

// vecWords is the kernel of a function of one time that is NULL for NULL only.
func vecWords(from value.Kind, loop wordLoop) vecFunc {
	return func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
		if kindOf(f.Args[0]) != from {
			return evalGeneric(c, f, in)
		}
		a, err := Eval(c, f.Args[0], in)
		if err != nil {
			return nil, err
		}
		out := c.getVec(kindOf(f), in.N)
		out.Nulls.CopyFrom(&a.Nulls)
		c.mapWords(in, out.I64, a.I64, loop)
		c.Release(a)
		return out, nil
	}
}

func yearWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Year())
	}
}

func monthWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Month())
	}
}

func quarterWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64((value.Time(x).Month() + 2) / 3)
	}
}

func dayWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Day())
	}
}

func dateWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Date())
	}
}

// vecWhole is the kernel of a function of a date without zero parts, which is NULL for
// others.
func vecWhole(get func(value.Time) int64) vecFunc {
	return func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
		if kindOf(f.Args[0]) != value.KindTime || len(f.Args) > 1 {
			return evalGeneric(c, f, in)
		}
		a, err := Eval(c, f.Args[0], in)
		if err != nil {
			return nil, err
		}
		out := c.getVec(kindOf(f), in.N)
		out.Nulls.CopyFrom(&a.Nulls)
		for l, n := 0, in.Live(); l < n; l++ {
			i := in.Row(l)
			t := value.Time(a.I64[i])
			if t.HasZeroPart() {
				out.Nulls.Set(i)
			} else {
				out.I64[i] = get(t)
			}
		}
		c.Release(a)
		return out, nil
	}
}

// clockPart is a part of a TIME, and the same part of the time of day of a date.
type clockPart struct {
	ofTime     wordLoop
	ofDuration func(h, m, s, us int) int
}

var clockParts = [...]clockPart{
	{hourWords, func(h, _, _, _ int) int { return h }},
	{minuteWords, func(_, m, _, _ int) int { return m }},
	{secondWords, func(_, _, s, _ int) int { return s }},
	{microWords, func(_, _, _, us int) int { return us }},
}

func hourWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Hour())
	}
}

func minuteWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Minute())
	}
}

func secondWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Second())
	}
}

func microWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = int64(value.Time(x).Micro())
	}
}

// vecClock is the kernel of a part of a TIME. signed: those of negative ones are
// negative.
func vecClock(part clockPart, signed bool) vecFunc {
	return func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
		if kindOf(f.Args[0]) != value.KindDuration {
			return evalGeneric(c, f, in)
		}
		if inner := timeOfDayArg(f.Args[0]); inner != nil && in.Live() > 0 {
			return vecTimeOfDay(c, f, in, inner, part)
		}
		a, err := Eval(c, f.Args[0], in)
		if err != nil {
			return nil, err
		}
		out := c.getVec(kindOf(f), in.N)
		out.Nulls.CopyFrom(&a.Nulls)
		for l, n := 0, in.Live(); l < n; l++ {
			i := in.Row(l)
			neg, h, m, s, us := value.Duration(a.I64[i]).Parts()
			out.I64[i] = int64(part.ofDuration(h, m, s, us))
			if signed && neg {
				out.I64[i] = -out.I64[i]
			}
		}
		c.Release(a)
		return out, nil
	}
}

// timeOfDayArg is the date in a cast of a date to TIME, nil for anything else.
func timeOfDayArg(e Expr) Expr {
	f, ok := e.(*Func)
	if !ok || f.Op != OpCast || f.T.ID != schema.TypeTime || !f.Args[0].Type().HasDate() {
		return nil
	}
	return f.Args[0]
}

// vecTimeOfDay takes a part of dates without making a TIME of them first.
func vecTimeOfDay(c *Ctx, f *Func, in *vec.Batch, inner Expr, part clockPart) (*vec.Vec, error) {
	a, err := Eval(c, inner, in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(kindOf(f), in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	c.mapWords(in, out.I64, a.I64, part.ofTime)
	cast := f.Args[0].(*Func)
	if fsp := max(cast.T.Scale, 0); fsp > 0 && fsp < 6 || fsp == 0 && haveMicros(a.I64[:in.N]) {
		// The cast may round.
		for l, n := 0, in.Live(); l < n && err == nil; l++ {
			i := in.Row(l)
			t := value.Time(a.I64[i])
			if out.Nulls.IsNull(i) || t == t.TruncateFSP(fsp) {
				continue
			}
			var d value.Datum
			if d, err = c.call(cast, []value.Datum{value.TimeOf(t)}); err == nil {
				_, h, m, s, us := d.Duration().Parts()
				out.I64[i] = int64(part.ofDuration(h, m, s, us))
			}
		}
	}
	c.Release(a)
	return out, err
}

func haveMicros(src []int64) bool {
	var any int64
	for _, x := range src {
		any |= x
	}
	return value.Time(any).Micro() != 0
}

// vecExtract has kernels for the units with one part.
func vecExtract(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	switch f.unit() {
	case unitYear:
		return vecWords(value.KindTime, yearWords)(c, f, in)
	case unitQuarter:
		return vecWords(value.KindTime, quarterWords)(c, f, in)
	case unitMonth:
		return vecWords(value.KindTime, monthWords)(c, f, in)
	case unitDay:
		return vecWords(value.KindTime, dayWords)(c, f, in)
	case unitHour, unitMinute, unitSecond, unitMicrosecond:
		return vecClock(clockParts[f.unit()-unitHour], true)(c, f, in)
	}
	return evalGeneric(c, f, in)
}

// vecTimePair is the kernel of a function of two dates without zero parts, which is NULL
// for others.
func vecTimePair(get func(f *Func, x, y value.Time) int64) vecFunc {
	return func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
		if kindOf(f.Args[0]) != value.KindTime || kindOf(f.Args[1]) != value.KindTime {
			return evalGeneric(c, f, in)
		}
		a, err := Eval(c, f.Args[0], in)
		if err != nil {
			return nil, err
		}
		b, err := Eval(c, f.Args[1], in)
		if err != nil {
			return nil, err
		}
		out := c.getVec(kindOf(f), in.N)
		out.Nulls.CopyFrom(&a.Nulls)
		out.Nulls.Or(&b.Nulls)
		for l, n := 0, in.Live(); l < n; l++ {
			i := in.Row(l)
			x, y := value.Time(a.I64[i]), value.Time(b.I64[i])
			if x.HasZeroPart() || y.HasZeroPart() {
				out.Nulls.Set(i)
			} else if !out.Nulls.IsNull(i) {
				out.I64[i] = get(f, x, y)
			}
		}
		c.Release(a)
		c.Release(b)
		return out, nil
	}
}

// vecDateArith adds intervals to dates with or without times.
func vecDateArith(sub bool) vecFunc {
	return func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
		if kindOf(f.Args[0]) != value.KindTime || in.Live() == 0 {
			return evalGeneric(c, f, in)
		}
		a, err := Eval(c, f.Args[0], in)
		if err != nil {
			return nil, err
		}
		d, b, err := evalOperand(c, f.Args[1], in)
		if err != nil {
			return nil, err
		}
		out := c.getVec(kindOf(f), in.N)
		out.Nulls.CopyFrom(&a.Nulls)
		if b != nil {
			out.Nulls.Or(&b.Nulls)
		} else if d.IsNull() {
			out.Nulls.SetAll(in.N)
		}
		err = addSpans(c, f.unit(), in, out, a, b, d, sub)
		c.Release(a)
		if b != nil {
			c.Release(b)
		}
		return out, err
	}
}

// addSpans adds the intervals of b, or d if b is nil.
func addSpans(c *Ctx, u unitSpec, in *vec.Batch, out, a, b *vec.Vec, d value.Datum, sub bool) error {
	var s span
	ok := false
	simple := b != nil && isInteger(b.Kind) && u.fields() == ""
	if b == nil && !d.IsNull() {
		if s, ok = spanOf(u, d); sub {
			s = s.neg()
		}
	}
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		switch {
		case simple:
			s, ok = simpleSpan(u, asInt(b.Datum(i)))
		case b != nil:
			s, ok = spanOf(u, b.Datum(i))
		}
		if sub && b != nil {
			s = s.neg()
		}
		var r value.Time
		fits := ok
		if ok {
			t := value.Time(a.I64[i])
			if t.HasZeroPart() {
				out.Nulls.Set(i)
				continue
			}
			r, fits = addSpan(t, s)
		}
		if !fits {
			if _, err := overflow(c, "datetime"); err != nil {
				return err
			}
			out.Nulls.Set(i)
			continue
		}
		out.I64[i] = int64(r)
	}
	return nil
}

// unixEpoch is TO_DAYS('1970-01-01').
const unixEpoch = 719528

// zonePeriod is a time in which the clocks of a zone do not change.
type zonePeriod struct {
	start, end, offset int64 // seconds; the period is [start, end) of Unix time
}

func periodOf(g time.Time) zonePeriod {
	p := zonePeriod{start: math.MinInt64, end: math.MaxInt64}
	_, offset := g.Zone()
	p.offset = int64(offset)
	start, end := g.ZoneBounds()
	if !start.IsZero() {
		p.start = start.Unix()
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	return p
}

// holds reports that clocks which show wall, as seconds since 1970, are in the period
// and so is the instant: then it is the one that time.Date finds.
func (p *zonePeriod) holds(wall int64) bool {
	return p.has(wall) && p.has(wall-p.offset)
}

func (p *zonePeriod) has(unix int64) bool { return unix >= p.start && unix < p.end }

// vecUnixTimestamp remembers the offset of the zone from row to row.
func vecUnixTimestamp(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if len(f.Args) != 1 || kindOf(f.Args[0]) != value.KindTime {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	k := types.KindOf(f.T)
	out := c.getVec(k, in.N)
	if f.B.strict {
		out.Nulls.CopyFrom(&a.Nulls)
	}
	loc := c.loc()
	var p zonePeriod // empty
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		t := value.Time(a.I64[i])
		us := int64(0)
		if y := t.Year(); !t.HasZeroPart() && y >= 1969 {
			wall := int64(t.DayNumber()-unixEpoch)*86400 + int64(t.Hour()*3600+t.Minute()*60+t.Second())
			if p.holds(wall) {
				us = (wall-p.offset)*microsPerSecond + int64(t.Micro())
			} else if g, ok := t.Go(loc); ok {
				us = g.UnixMicro()
				p = periodOf(g)
			}
		}
		if us < 0 || us > (maxUnix+1)*microsPerSecond-1 {
			us = 0
		}
		if k == value.KindInt {
			out.I64[i] = us / microsPerSecond
		} else {
			out.Dec[i] = value.DecimalFromInt128(0, uint64(us), 6).Truncate(f.T.Scale)
		}
	}
	c.Release(a)
	return out, nil
}

// vecFromUnixtime remembers the offset of the zone from row to row.
func vecFromUnixtime(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	k := kindOf(f.Args[0])
	if len(f.Args) != 1 || !isInteger(k) && k != value.KindDecimal {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(value.KindTime, in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	loc := c.loc()
	var p zonePeriod
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		us, ok := microsOfNumber(a.Datum(i))
		if !ok || us < 0 || us > (maxUnix+1)*microsPerSecond-1 {
			out.Nulls.Set(i)
			continue
		}
		unix := us / microsPerSecond
		if !p.has(unix) {
			p = periodOf(time.Unix(unix, 0).In(loc))
		}
		wall := unix + p.offset
		day := floorDiv(wall, 86400)
		t := withTime(value.FromDayNumber(int(day+unixEpoch)), value.Duration((wall-day*86400)*microsPerSecond+us%microsPerSecond))
		out.I64[i] = int64(t.TruncateFSP(f.T.Scale))
	}
	c.Release(a)
	return out, nil
}

// vecDateFormat has a kernel for a constant format.
func vecDateFormat(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if kindOf(f.Args[0]) != value.KindTime || !IsConst(f.Args[1]) || in.Live() == 0 {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	d, err := c.evalConst(f.Args[1])
	if err != nil {
		return nil, err
	}
	out := c.getVec(kindOf(f), in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	if len(d.Bytes()) == 0 { // or NULL
		out.Nulls.SetAll(in.N)
	}
	if len(d.Bytes()) >= largeFormat {
		return out, c.formatLoop(f, in, out, a, d)
	}
	loc, asUTF8 := c.timeLocale(), collate.Must(f.T.Collation).Charset == "utf8mb4"
	var room [64]byte
	buf := room[:0]
	var days [64]formattedDay
	ofDay := in.Live() >= len(days) && formatsDay(d.Bytes())
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		t := value.Time(a.I64[i])
		day := &days[t>>41&63]
		if ofDay && day.text != nil && day.t == t.Date() {
			out.Bytes[i] = day.text
			continue
		}
		text, ok := loc.format(buf[:0], d.Bytes(), t, t.Hour())
		if !ok {
			out.Nulls.Set(i)
			continue
		}
		buf = text
		if !asUTF8 {
			text = c.fromUTF8(f, text).Bytes()
		}
		out.Bytes[i] = out.Own(text)
		if ofDay {
			*day = formattedDay{t.Date(), out.Bytes[i]}
		}
	}
	c.Release(a)
	return out, nil
}

// formattedDay is the text of all times of a day.
type formattedDay struct {
	t    value.Time
	text []byte
}

// formatsDay reports a format that shows nothing of the time of the day.
func formatsDay(format []byte) bool {
	for i, b := range format {
		if b == '%' && i+1 < len(format) && bytes.IndexByte([]byte("HkhIlisSfprT"), format[i+1]) >= 0 {
			return false
		}
	}
	return true
}

// largeFormat is a format whose values the loop over rows makes, which counts them.
const largeFormat = 1 << 10

func (c *Ctx) formatLoop(f *Func, in *vec.Batch, out, a *vec.Vec, format value.Datum) error {
	err := c.loopRows(f, in, []value.Datum{value.Null, format}, []*vec.Vec{a, nil}, out)
	c.Release(a)
	return err
}

// vecWeek has a kernel for a mode that is the same for all rows.
func vecWeek(get func(t value.Time, mode int) int64) vecFunc {
	return func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
		if kindOf(f.Args[0]) != value.KindTime || in.Live() == 0 {
			return evalGeneric(c, f, in)
		}
		mode := 0
		switch {
		case len(f.Args) == 1 && f.B.Settings:
			mode = c.weekMode()
		case len(f.Args) > 1:
			m, ok := f.Args[1].(*Const)
			if !ok {
				return evalGeneric(c, f, in)
			}
			if !m.D.IsNull() {
				mode = int(asInt(m.D) & 7)
			}
		}
		a, err := Eval(c, f.Args[0], in)
		if err != nil {
			return nil, err
		}
		out := c.getVec(kindOf(f), in.N)
		out.Nulls.CopyFrom(&a.Nulls)
		for l, n := 0, in.Live(); l < n; l++ {
			i := in.Row(l)
			if t := value.Time(a.I64[i]); t.HasZeroPart() {
				out.Nulls.Set(i)
			} else if !out.Nulls.IsNull(i) {
				out.I64[i] = get(t, mode)
			}
		}
		c.Release(a)
		return out, nil
	}
}

// vecDateName is the kernel of names: which gives the index of a date's name in list, -1
// for none.
func vecDateName(list func(*locale) []string, which func(value.Time) int) vecFunc {
	return func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
		if kindOf(f.Args[0]) != value.KindTime || in.Live() == 0 {
			return evalGeneric(c, f, in)
		}
		a, err := Eval(c, f.Args[0], in)
		if err != nil {
			return nil, err
		}
		var names [12][]byte
		texts := list(c.timeLocale())
		out := c.getVec(kindOf(f), in.N)
		out.Nulls.CopyFrom(&a.Nulls)
		for l, n := 0, in.Live(); l < n; l++ {
			i := in.Row(l)
			if out.Nulls.IsNull(i) {
				continue
			}
			k := which(value.Time(a.I64[i]))
			if k < 0 {
				out.Nulls.Set(i)
				continue
			}
			if names[k] == nil {
				names[k] = c.fromUTF8(f, []byte(texts[k])).Bytes()
			}
			out.Bytes[i] = names[k]
		}
		c.Release(a)
		return out, nil
	}
}

// vecLastDay calls the function for rows without a month, which warn.
func vecLastDay(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if kindOf(f.Args[0]) != value.KindTime {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(kindOf(f), in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		t := value.Time(a.I64[i])
		y, m := t.Year(), t.Month()
		if m != 0 {
			out.I64[i] = int64(value.MakeTime(y, m, value.DaysInMonth(y, m), 0, 0, 0, 0))
			continue
		}
		d, err := c.call(f, []value.Datum{value.TimeOf(t)})
		if err != nil {
			return nil, err
		}
		out.SetDatum(i, d)
	}
	c.Release(a)
	return out, nil
}

func secondsWords(dst, src []int64) {
	for i, x := range src[:len(dst)] {
		dst[i] = x / microsPerSecond
	}
}
