package searchfield

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// AddOption gives a text field its analyzer, or an option of it.
func AddOption(f *schema.SearchField, name, val string) {
	if name = strings.ToLower(name); name == "analyzer" {
		f.Analyzer = strings.ToLower(val)
		return
	}
	f.Options = append(f.Options, schema.SearchOption{Name: name, Value: val})
}

// SortOptions brings the options of a text field into the order in which they are
// kept.
func SortOptions(f *schema.SearchField) {
	sort.Slice(f.Options, func(i, j int) bool { return f.Options[i].Name < f.Options[j].Name })
}

// Analyzer returns the analyzer of a text field over a column. It fails with 1210
// if the analyzer or one of its options is unknown.
func Analyzer(x *schema.SearchIndex, f *schema.SearchField, c *schema.Column) (*text.Analyzer, error) {
	name := f.Analyzer
	given := map[string]string{}
	for _, o := range f.Options {
		given[o.Name] = o.Value
	}
	if name == "" {
		name = text.DefaultAnalyzer
		if x.Form == schema.FormFulltext {
			name = text.DefaultFulltext
		}
	}
	if x.Form == schema.FormFulltext {
		if coll, ok := collate.Lookup(c.Type.Collation); ok {
			for option, v := range text.FoldingOptions(coll) {
				if _, set := given[option]; !set && slices.Contains(text.OptionNames(name), option) {
					given[option] = v
				}
			}
		}
	}
	key := text.Spec{Name: name}
	for _, o := range sortedOptions(given) {
		key.Options = append(key.Options, text.Option{Name: o, Value: given[o]})
	}
	if a, ok := analyzers.Load(key.String()); ok {
		return a.(*text.Analyzer), nil
	}
	a, err := text.New(name, given)
	if err != nil {
		return nil, sqlerr.WrongArgumentsReason("search index field "+c.Name, err.Error())
	}
	analyzers.Store(key.String(), a)
	return a, nil
}

// analyzers are the analyzers that are in use, by their specs. They are few.
var analyzers sync.Map

func sortedOptions(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
