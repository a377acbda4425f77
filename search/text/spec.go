package text

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
)

// Spec names an analyzer with all its options, in the form that a schema
// stores. Specs that print alike make the same tokens.
type Spec struct {
	Name    string
	Options []Option // in the order in which the analyzer declares them
}

// Option is one option of an analyzer and its value.
type Option struct{ Name, Value string }

// String gives the form that [ParseSpec] reads: single_word(case_sensitive=true).
// Options at their defaults are left out.
func (s Spec) String() string {
	var set []string
	for _, o := range s.Options {
		if o.Value != defaultOf(s.Name, o.Name) {
			set = append(set, o.Name+"="+quoteValue(o.Value))
		}
	}
	if len(set) == 0 {
		return s.Name
	}
	return s.Name + "(" + strings.Join(set, ", ") + ")"
}

// Value gives the value of an option, "" when the analyzer has no such option.
func (s Spec) Value(name string) string {
	for _, o := range s.Options {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}

func quoteValue(v string) string {
	plain := v != ""
	for i := 0; i < len(v); i++ {
		if c := classOf(rune(v[i])); v[i] >= utf8.RuneSelf || c == separator {
			plain = false
		}
	}
	if plain {
		return v
	}
	return "'" + strings.ReplaceAll(v, "'", "''") + "'"
}

// UnknownAnalyzerError reports that no analyzer has the name.
type UnknownAnalyzerError struct {
	Name  string
	Known []string
}

// Error is the message for a user.
func (e *UnknownAnalyzerError) Error() string {
	return fmt.Sprintf("unknown analyzer '%s'; known are %s", e.Name, strings.Join(e.Known, ", "))
}

// UnknownOptionError reports that an analyzer has no option of a name.
type UnknownOptionError struct {
	Analyzer, Option string
	Known            []string
}

// Error is the message for a user.
func (e *UnknownOptionError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("analyzer '%s' has no options, so no '%s'", e.Analyzer, e.Option)
	}
	return fmt.Sprintf("analyzer '%s' has no option '%s'; it has %s", e.Analyzer, e.Option, strings.Join(e.Known, ", "))
}

// BadValueError reports that an option cannot have a value.
type BadValueError struct {
	Analyzer, Option, Value string
	// Allowed says what the option can be.
	Allowed string
}

// Error is the message for a user.
func (e *BadValueError) Error() string {
	return fmt.Sprintf("option '%s' of analyzer '%s' cannot be '%s'; it must be %s", e.Option, e.Analyzer, e.Value, e.Allowed)
}

// BadSpecError reports that the text of a spec is malformed.
type BadSpecError struct{ Text, Reason string }

// Error is the message for a user.
func (e *BadSpecError) Error() string {
	return fmt.Sprintf("malformed analyzer '%s': %s", e.Text, e.Reason)
}

// optionKind is what values an option takes.
type optionKind uint8

const (
	boolOption optionKind = iota
	intOption
	textOption
	choiceOption
)

// optionDef declares one option.
type optionDef struct {
	name     string
	kind     optionKind
	def      string
	min, max int      // of intOption
	choices  []string // of choiceOption
}

func (o optionDef) allowed() string {
	switch o.kind {
	case boolOption:
		return "true or false"
	case intOption:
		return fmt.Sprintf("a number from %d to %d", o.min, o.max)
	case choiceOption:
		return strings.Join(o.choices, " or ")
	}
	return "a text of 1 to 16 characters"
}

// canonical checks a value and gives its one spelling.
func (o optionDef) canonical(v string) (string, bool) {
	switch o.kind {
	case boolOption:
		switch strings.ToLower(v) {
		case "true", "1", "on", "yes":
			return "true", true
		case "false", "0", "off", "no":
			return "false", true
		}
		return "", false
	case intOption:
		n, err := strconv.Atoi(v)
		return strconv.Itoa(n), err == nil && o.min <= n && n <= o.max
	case choiceOption:
		v = strings.ToLower(v)
		return v, slices.Contains(o.choices, v)
	}
	n := utf8.RuneCountInString(v)
	return v, utf8.ValidString(v) && 1 <= n && n <= 16
}

// definition declares an analyzer: its options and how it is made of them.
type definition struct {
	options []optionDef
	make    func(o options) (*Analyzer, error)
}

// options are the values of one analyzer's options, checked.
type options map[string]string

func (o options) on(name string) bool { return o[name] == "true" }

func (o options) number(name string) int {
	n, _ := strconv.Atoi(o[name])
	return n
}

// folding reads the two options that most analyzers have.
func (o options) folding() folding {
	return folding{lower: !o.on("case_sensitive"), accents: !o.on("accent_sensitive")}
}

// foldOptions are the options that [options.folding] reads.
var foldOptions = []optionDef{
	{name: "case_sensitive", kind: boolOption, def: "false"},
	{name: "accent_sensitive", kind: boolOption, def: "false"},
}

func withFolding(more ...optionDef) []optionDef { return slices.Concat(foldOptions, more) }

// FoldingOptions gives the options case_sensitive and accent_sensitive that
// compare words as a collation does: a FULLTEXT key has those of its columns.
func FoldingOptions(c *collate.Collation) map[string]string {
	name := c.Name + "_"
	sensitive := c.IsBinary() || strings.Contains(name, "_bin_")
	return map[string]string{
		"case_sensitive":   strconv.FormatBool(sensitive || strings.Contains(name, "_cs_") || strings.Contains(name, "_ks_")),
		"accent_sensitive": strconv.FormatBool(sensitive || strings.Contains(name, "_as_") || strings.Contains(name, "_cs_")),
	}
}

// Names lists the analyzers that [New] knows.
func Names() []string { return slices.Sorted(maps.Keys(definitions())) }

// OptionNames lists the options of an analyzer, in their order.
func OptionNames(analyzer string) []string {
	var names []string
	for _, o := range definitions()[canonicalName(analyzer)].options {
		names = append(names, o.name)
	}
	return names
}

func defaultOf(analyzer, option string) string {
	for _, o := range definitions()[analyzer].options {
		if o.name == option {
			return o.def
		}
	}
	return ""
}

// sameName compares names without case and underscores, so that Tablestore's
// spellings (caseSensitive, MaxWord) are read too.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

func canonicalName(name string) string {
	for known := range definitions() {
		if sameName(known, name) {
			return known
		}
	}
	if language, ok := languages[strings.ToLower(name)]; ok {
		return language
	}
	return name
}

// New makes an analyzer. Options that are not given have their defaults. The
// errors are [*UnknownAnalyzerError], [*UnknownOptionError] and
// [*BadValueError].
func New(name string, given map[string]string) (*Analyzer, error) {
	name = canonicalName(name)
	def, ok := definitions()[name]
	if !ok {
		return nil, &UnknownAnalyzerError{name, Names()}
	}
	values := options{}
	for key, v := range given {
		i := slices.IndexFunc(def.options, func(o optionDef) bool { return sameName(o.name, key) })
		if i < 0 {
			return nil, &UnknownOptionError{name, key, OptionNames(name)}
		}
		canon, ok := def.options[i].canonical(v)
		if !ok {
			return nil, &BadValueError{name, def.options[i].name, v, def.options[i].allowed()}
		}
		values[def.options[i].name] = canon
	}
	spec := Spec{Name: name}
	for _, o := range def.options {
		if _, ok := values[o.name]; !ok {
			values[o.name] = o.def
		}
		spec.Options = append(spec.Options, Option{o.name, values[o.name]})
	}
	a, err := def.make(values)
	if err != nil {
		return nil, err
	}
	a.spec = spec
	return a, nil
}

// Parse makes the analyzer that [ParseSpec] reads.
func Parse(spec string) (*Analyzer, error) {
	name, given, err := ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	return New(name, given)
}

// ParseSpec reads name or name(option=value, …), as [Spec.String] writes it.
// Values may be quoted by '…', doubled inside. It does not look at what
// the names mean; the error is [*BadSpecError].
func ParseSpec(s string) (name string, given map[string]string, err error) {
	bad := func(reason string) (string, map[string]string, error) {
		return "", nil, &BadSpecError{s, reason}
	}
	name, rest, hasOptions := strings.Cut(s, "(")
	if name = strings.TrimSpace(name); name == "" {
		return bad("the name is missing")
	}
	if !hasOptions {
		return name, nil, nil
	}
	given = map[string]string{}
	for {
		rest = strings.TrimLeft(rest, " \t\n,")
		if after, ok := strings.CutPrefix(rest, ")"); ok {
			if strings.TrimSpace(after) != "" {
				return bad("there is text after ')'")
			}
			return name, given, nil
		}
		key, after, ok := strings.Cut(rest, "=")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key, ",)'") {
			return bad("options are written name=value, and end with ')'")
		}
		var value string
		if value, rest, ok = readValue(strings.TrimLeft(after, " \t\n")); !ok {
			return bad("a quote is not closed")
		}
		if _, twice := given[key]; twice {
			return bad("option '" + key + "' is given twice")
		}
		given[key] = value
	}
}

// readValue takes a value off the front of s.
func readValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		end := strings.IndexAny(s, ",)")
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), s[end:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if !strings.HasPrefix(s[i+1:], "'") {
			return b.String(), s[i+1:], true
		}
		b.WriteByte('\'')
		i++
	}
	return "", "", false
}
