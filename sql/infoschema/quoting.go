package infoschema

import (
	"strings"
	"sync"
)

// quoting is how SHOW CREATE writes names.
type quoting struct {
	ansi  bool // "name", for sql_mode ANSI_QUOTES
	plain bool // name, where it needs no quotes, for sql_quote_show_create = OFF
}

// quoting is that of the session.
func (q *query) quoting() quoting {
	ansi, always := q.sess.NameQuotes()
	return quoting{ansi: ansi, plain: !always}
}

// apply changes the quotes of the names in a definition, which has backquotes.
func (o quoting) apply(text string) string {
	if o == (quoting{}) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexAny(text, "'`")
		if n < 0 {
			break
		}
		quote := text[n]
		end := n + 1 + quotedEnd(text[n+1:], quote)
		b.WriteString(text[:n])
		if quote == '\'' {
			b.WriteString(text[n:end])
		} else {
			b.WriteString(o.name(strings.ReplaceAll(text[n+1:end-1], "``", "`")))
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// quotedEnd is the offset after the quote that ends a name or literal. In literals a
// backslash escapes what follows.
func quotedEnd(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '\'':
			i++
		case text[i] != quote:
		case i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

func (o quoting) name(s string) string {
	switch {
	case o.plain && !needsQuotes(s):
		return s
	case o.ansi:
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return quoteName(s)
}

// needsQuotes reports keywords, and what is no identifier without quotes.
// (https://dev.mysql.com/doc/refman/8.4/en/identifiers.html)
func needsQuotes(s string) bool {
	digits := true
	for _, c := range s {
		isDigit := c >= '0' && c <= '9'
		if !isDigit && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '$' && c < 0x80 {
			return true
		}
		digits = digits && isDigit
	}
	return digits || allKeywords()[strings.ToUpper(s)]
}

var allKeywords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, words := range [...]string{reservedWords, plainWords} {
		for _, w := range strings.Fields(words) {
			all[w] = true
		}
	}
	return all
})
