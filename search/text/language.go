package text

import (
	"strings"

	"github.com/blevesearch/bleve/v2/registry"

	// Each package registers the analyzer of its language.
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ar"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/da"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/de"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/es"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fa"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fi"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fr"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hi"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hr"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hu"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/it"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/nl"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/no"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/pl"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/pt"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ro"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ru"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/sv"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// languages are the analyzers that come from bleve, by the code of the
// language: words without stop words, stemmed.
var languages = map[string]string{
	"ar": "arabic", "ckb": "sorani", "da": "danish", "de": "german", "en": "english",
	"es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi",
	"hr": "croatian", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
	"pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
	"tr": "turkish",
}

// makeLanguage wraps bleve's analyzer of a language.
func makeLanguage(code string) func(options) (*Analyzer, error) {
	return func(options) (*Analyzer, error) {
		analyzer, err := registry.NewCache().AnalyzerNamed(code)
		if err != nil {
			return nil, err
		}
		tokens := func(dst []Token, text string) []Token {
			// Analyzers write into their input, and Persian's replaces the
			// zero-width non-joiner by fewer bytes.
			clean := strings.ReplaceAll(strings.ToValidUTF8(text, "\x00"), "\u200c", "   ")
			if len(clean) != len(text) {
				clean = sameLength(text)
			}
			for _, t := range analyzer.Analyze([]byte(clean)) {
				if len(t.Term) > 0 {
					dst = append(dst, Token{shortened(string(t.Term)), t.Position, t.Start, t.End})
				}
			}
			return dst
		}
		q := language{byTokens{tokens: tokens}}
		return &Analyzer{fold: folding{lower: true}, index: tokens, asker: q}, nil
	}
}

// sameLength makes each byte of a text that is no UTF-8 a byte that no word
// has.
func sameLength(text string) string {
	b := []byte(strings.ReplaceAll(text, "\u200c", "   "))
	for i := 0; i < len(b); {
		c, size := classify(string(b[i:min(i+4, len(b))]))
		if c == separator && size == 1 && b[i] >= 0x80 {
			b[i] = 0
		}
		i += size
	}
	return string(b)
}

// language searches for prefixes by their stems: the index has no others.
type language struct{ byTokens }

func (l language) prefix(text string) []Query {
	p := phraseTerms(l.tokens(nil, text))
	if len(p) == 0 {
		if text = strings.ToLower(strings.TrimSpace(text)); text == "" {
			return nil
		}
		return []Query{Prefix{text}}
	}
	p[len(p)-1].Prefix = true
	return oneOrNone(ofPhraseTerms(p))
}
