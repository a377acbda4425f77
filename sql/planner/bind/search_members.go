package bind

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// nestedParser reads name type, …; a type is one of searchfield.PathType, TEXT with its
// analyzer, or NESTED (…).
type nestedParser struct {
	rest string
	// noEscapes: a backslash in a text is a plain character.
	noEscapes bool
}

// Tokens: a name in back-ticks, a text, a word or number, any other character.
var (
	nestedToken      = regexp.MustCompile("(?s)^\\s*(`(?:[^`]|``)+`|'(?:[^'\\\\]|''|\\\\.)*'|\"(?:[^\"\\\\]|\"\"|\\\\.)*\"|[0-9A-Za-z_$\\x{80}-\\x{10FFFF}]+|.)")
	nestedPlainToken = regexp.MustCompile("(?s)^\\s*(`(?:[^`]|``)+`|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[0-9A-Za-z_$\\x{80}-\\x{10FFFF}]+|.)")
)

func (p *nestedParser) token() (text string, length int) {
	re := nestedToken
	if p.noEscapes {
		re = nestedPlainToken
	}
	m := re.FindStringSubmatch(p.rest)
	if m == nil {
		return "", 0
	}
	return m[1], len(m[0])
}

// next is the next token, "" at the end.
func (p *nestedParser) next() string {
	text, _ := p.token()
	return text
}

func (p *nestedParser) skip() {
	_, n := p.token()
	p.rest = p.rest[n:]
}

// accept skips a token that is the word or character t.
func (p *nestedParser) accept(t string) bool {
	is := strings.EqualFold(p.next(), t)
	if is {
		p.skip()
	}
	return is
}

// value is the text, word or number that comes next.
func (p *nestedParser) value() (string, error) {
	t := p.next()
	if t == "" || strings.Contains("(),=", t) || len(t) == 1 && strings.Contains("'\"`", t) {
		return "", p.fail()
	}
	p.skip()
	switch t[0] {
	case '\'', '"':
		return parser.Unquote(t, p.noEscapes), nil
	case '`':
		return strings.ReplaceAll(t[1:len(t)-1], "``", "`"), nil
	}
	return t, nil
}

func (p *nestedParser) fail() error {
	return sqlerr.Parse("", p.rest, 1)
}

// members are those up to the end or the parenthesis that closes them: 1060,
// 1070, 1166, 1235.
func (p *nestedParser) members(level int) ([]schema.SearchField, error) {
	if level > searchfield.MaxNestedLevels {
		return nil, sqlerr.NotSupported("more than 5 levels of NESTED")
	}
	var out []schema.SearchField
	for {
		f, err := p.member(level)
		if err != nil {
			return nil, err
		}
		for i := range out {
			if strings.EqualFold(out[i].Name, f.Name) && !searchfield.IsTextOf(&out[i], &f) && !searchfield.IsTextOf(&f, &out[i]) {
				return nil, sqlerr.DuplicateColumn(f.Name)
			}
		}
		if out = append(out, f); len(out) > searchfield.MaxNestedMembers {
			return nil, sqlerr.TooManyNestedMembers(searchfield.MaxNestedMembers)
		}
		switch t := p.next(); {
		case t == ",":
			p.skip()
		case t == "" && level == 1, t == ")" && level > 1:
			return out, nil
		default:
			return nil, p.fail()
		}
	}
}

func (p *nestedParser) member(level int) (f schema.SearchField, err error) {
	name := p.next()
	if r, _ := utf8.DecodeRuneInString(name); name == "" || r != '`' && strings.ContainsRune("(),'\"", r) {
		return f, p.fail()
	}
	p.skip()
	if name[0] == '`' {
		name = strings.ReplaceAll(name[1:len(name)-1], "``", "`")
	}
	if err := define.CheckColumnName(name); err != nil {
		return f, err
	}
	if strings.Contains(name, ".") {
		return f, sqlerr.WrongColumnName(name)
	}
	f.Name = name
	if strings.EqualFold(p.next(), "NESTED") {
		if p.skip(); p.next() != "(" {
			return f, p.fail()
		}
		p.skip()
		f.Kind = schema.SearchNested
		if f.Sub, err = p.members(level + 1); err == nil {
			p.skip()
		}
		return f, err
	}
	if p.accept("TEXT") {
		f.Kind, f.Elem = schema.SearchText, types.Text(schema.CollationUTF8MB4Bin)
		if err = p.analyzer(&f); err == nil {
			_, err = searchfield.Analyzer(&schema.SearchIndex{}, &f, &schema.Column{Name: name})
		}
		return f, err
	}
	f.Kind = schema.SearchPath
	rest := p.rest
	if p.form(&f) {
		f.Elem = types.Text(schema.CollationUTF8MB4Bin)
		return f, p.formats(&f)
	}
	p.rest = rest
	var words strings.Builder
	for depth := 0; ; p.skip() {
		t := p.next()
		if t == "" || depth == 0 && (t == "," || t == ")") {
			break
		}
		switch {
		case t == "(":
			depth++
		case t == ")":
			depth--
		case depth == 0 && words.Len() > 0:
			words.WriteByte(' ')
		}
		words.WriteString(t)
	}
	if words.Len() == 0 {
		return f, p.fail()
	}
	f.Elem, err = searchfield.PathType(words.String())
	return f, err
}

// form reads IP, GEO_POINT or DATE FORMAT; false for another type.
func (p *nestedParser) form(f *schema.SearchField) bool {
	switch {
	case p.accept("IP"):
		f.As = schema.AsIP
	case p.accept("GEO_POINT"):
		f.As = schema.AsGeoPoint
	case p.accept("DATE") && p.accept("FORMAT"):
		f.As = schema.AsDate
	}
	return f.As != ""
}

// formats reads 'f' or ('f', …) of a time: 1210.
func (p *nestedParser) formats(f *schema.SearchField) error {
	if f.As != schema.AsDate {
		return nil
	}
	list := p.accept("(")
	for {
		if t := p.next(); t == "" || !strings.Contains(`'"`, t[:1]) {
			return p.fail()
		}
		format, err := p.value()
		if err != nil {
			return err
		}
		if err := expr.CheckDateFormat(format); err != nil {
			return sqlerr.WrongArgumentsReason("search index field "+f.Name, err.Error())
		}
		if f.Formats = append(f.Formats, format); !list || !p.accept(",") {
			break
		}
	}
	if list && !p.accept(")") {
		return p.fail()
	}
	return nil
}

// analyzer reads [ANALYZER a] [OPTIONS (o = v, …)].
func (p *nestedParser) analyzer(f *schema.SearchField) error {
	if p.accept("ANALYZER") {
		a, err := p.value()
		if err != nil {
			return err
		}
		searchfield.AddOption(f, "analyzer", a)
	}
	if !p.accept("OPTIONS") {
		return nil
	}
	if !p.accept("(") {
		return p.fail()
	}
	for {
		name, err := p.value()
		if err != nil {
			return err
		}
		if !p.accept("=") {
			return p.fail()
		}
		val, err := p.value()
		if err != nil {
			return err
		}
		if searchfield.AddOption(f, name, val); !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		return p.fail()
	}
	searchfield.SortOptions(f)
	return nil
}
