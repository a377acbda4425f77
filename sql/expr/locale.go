package expr

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// localeText is the table of locales, a line each: name, decimal point,
// separator of groups, sizes of groups from the point on (the last repeats, 0
// is none), months, short months, days from Monday on, short days.
//
//go:embed locales.txt
var localeText string

// locale is how FORMAT writes numbers and DATE_FORMAT names months and days
// (MySQL manual 12.16).
type locale struct {
	point, separator string
	groups           []int
	months, shortMonths,
	days, shortDays []string // months from January, days from Monday
}

var locales = sync.OnceValue(func() map[string]*locale {
	all := map[string]*locale{}
	words := strings.NewReplacer("NUL", "\x00", "SPACE", " ", "NONE", "")
	for line := range strings.Lines(localeText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		l := &locale{point: f[1], separator: words.Replace(f[2])}
		for _, g := range strings.Split(f[3], ",") {
			l.groups = append(l.groups, int(g[0]-'0'))
		}
		for i, to := range []*[]string{&l.months, &l.shortMonths, &l.days, &l.shortDays} {
			*to = strings.Split(f[4+i], "|")
		}
		all[strings.ToLower(f[0])] = l
	}
	return all
})

// LocaleName is the name of a locale as MySQL writes it, given in any case;
// false if no locale has it.
func LocaleName(name string) (string, bool) {
	if _, ok := locales()[strings.ToLower(name)]; !ok {
		return "", false
	}
	return strings.ToLower(name[:3]) + strings.ToUpper(name[3:]), true
}

// defaultLocale is lc_time_names' default and the locale of FORMAT.
func defaultLocale() *locale { return locales()["en_us"] }

// timeLocale is that of lc_time_names.
func (c *Ctx) timeLocale() *locale {
	n := c.extras()
	if n.locale == nil {
		n.locale = defaultLocale()
		if l, ok := locales()[strings.ToLower(c.setting("lc_time_names").Str())]; ok {
			n.locale = l
		}
	}
	return n.locale
}

// fromUTF8 is UTF-8 text as a value of f, in the character set of its type.
func (c *Ctx) fromUTF8(f *Func, text []byte) value.Datum {
	to := collate.Must(f.T.Collation)
	from := collate.Must(schema.CollationUTF8MB40900AICI)
	if from.NeedsConversion(text, to) {
		text, _ = from.Convert(nil, text, to)
	}
	return value.Bytes(text)
}

// group puts the separator between the groups of digits of a number without
// a sign.
func (l *locale) group(digits string) string {
	size, next := l.groups[0], 1
	if size == 0 || len(digits) <= size {
		return digits
	}
	var parts []string
	for size > 0 && len(digits) > size {
		parts = append(parts, digits[len(digits)-size:])
		digits = digits[:len(digits)-size]
		if next < len(l.groups) {
			size = l.groups[next]
			next++
		}
	}
	var b strings.Builder
	b.WriteString(digits)
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(l.separator + parts[i])
	}
	return b.String()
}

// number writes a decimal text in the manner of the locale.
func (l *locale) number(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, frac, hasFrac := strings.Cut(text, ".")
	out := sign + l.group(whole)
	if hasFrac {
		out += l.point + frac
	}
	return out
}
