package text

import (
	"strings"
	"testing"
)

// golden are tokens that users of Tablestore know, each term once, in the
// order in which it first comes.
var golden = []struct{ spec, text, terms string }{
	{"single_word", "中华人民共和国-国歌", "中 华 人 民 共 和 国 歌"},
	{"single_word", "Hang Zhou", "hang zhou"},
	{"single_word", "IPhone6", "iphone6"},
	{"single_word(delimit_word=true)", "IPhone6", "iphone 6"},
	{"single_word(case_sensitive=true)", "Hang Zhou", "Hang Zhou"},
	{"split(delimiter='-')", "中华人民共和国-国歌", "中华人民共和国 国歌"},
	{"fuzzy", "中华人民共和国-国歌", "中 中华 中华人 华 华人 华人民 人 人民 人民共 民 民共 民共和 共 共和 共和国 和 和国 国 国歌 歌"},
	{"min_word", "中华人民共和国-国歌", "中华人民共和国 国歌"},
	{"min_word", "梨花茶", "梨 花茶"},
	{"min_word", "杭州市西湖区", "杭州市 西湖区"},
	{"max_word", "中华人民共和国-国歌", "中华人民共和国 中华人民 中华 华人 人民共和国 人民 共和国 共和 国 国歌"},
	{"max_word", "梨花茶", "梨花 花茶"},
}

func TestGoldenTokens(t *testing.T) {
	for _, g := range golden {
		a := mustParse(t, g.spec)
		var terms []string
		seen := map[string]bool{}
		for _, tok := range a.Logical(nil, g.text) {
			if !seen[tok.Term] {
				seen[tok.Term] = true
				terms = append(terms, tok.Term)
			}
		}
		if got := strings.Join(terms, " "); got != g.terms {
			t.Errorf("%s of %q:\n got %s\nwant %s", g.spec, g.text, got, g.terms)
		}
	}
}

func mustParse(t testing.TB, spec string) *Analyzer {
	t.Helper()
	a, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
