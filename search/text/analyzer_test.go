package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
)

// allSpecs are all analyzers, some with options.
func allSpecs() []string {
	return append(Names(),
		"single_word(delimit_word=true)", "single_word(case_sensitive=true, accent_sensitive=true)",
		"single_word(accent_sensitive=true)", "split(delimiter=',')", "split(delimiter='--')",
		"fuzzy(min_chars=2, max_chars=4)", "fuzzy(case_sensitive=true, accent_sensitive=true)",
		"ngram(token_size=1)", "ngram(token_size=3)", "fulltext(stopwords=none, min_token_size=1)",
		"cjk(case_sensitive=true)", "max_word(accent_sensitive=true)")
}

var analyzers = sync.OnceValue(func() []*Analyzer {
	var all []*Analyzer
	for _, s := range allSpecs() {
		a, err := Parse(s)
		if err != nil {
			panic(err)
		}
		all = append(all, a)
	}
	return all
})

// samples are texts with all that is awkward.
var samples = []string{
	"", " ", "a", "é", "中", "...", "\xff", "a\xffb", "中\xe4\xb8", "\x00a\x00", "\u200c", "می\u200cخواهم و کتاب",
	"The quick brown fox jumps over the lazy dog", "IPhone6 Plus+ 3.14 user_name o'neil",
	"中华人民共和国-国歌", "梨花茶 and 南京市长江大桥", "長江大橋", "ABC中文def日本語テスト한국어", "がぎぐ ガギ ﾊﾝｶｸ ーー々〆〇",
	"São Paulo Ærøskøbing Straße ŁÓDŹ Đà Nẵng", "e\u0301cole cafe\u0301\u0323", "中\ufe00文\u0301", "ＦＵＬＬ　ｗｉｄｔｈ ①②½ ﬁ",
	"กรุงเทพมหานคร हिन्दी ภาษา", "İstanbul ΣΊΣΥΦΟΣ", "l'avion n'est qu'à 5km", "한국어를 ㄱㄴ 각", "a\u0301", "\u0301a", "-中--国-",
	strings.Repeat("xé长", 5) + "\u0301 " + strings.Repeat("é", 520), strings.Repeat("长", 40) + strings.Repeat("x", 100), "😀 emoji 👨\u200d👩", "ﷺ \u037a \ufe70",
}

func TestTokenInvariants(t *testing.T) {
	for _, a := range analyzers() {
		for _, s := range samples {
			checkTokens(t, a, s)
		}
	}
}

// checkTokens checks I1 to I4 and what queries promise of a document that is
// the text itself.
func checkTokens(t *testing.T, a *Analyzer, text string) {
	t.Helper()
	where := fmt.Sprintf("%s of %q", a.Spec(), text)
	tokens := a.Tokens(nil, text)
	border := func(i int) bool { return i == len(text) || utf8.RuneStart(text[i]) || !utf8.ValidString(text) }
	for _, list := range [][]Token{tokens, a.Logical(nil, text)} {
		pos, start := 1, 0
		for _, tok := range list {
			if tok.Start < start || tok.Start >= tok.End || tok.End > len(text) || !border(tok.Start) || !border(tok.End) {
				t.Fatalf("%s: %+v: bad offsets", where, tok)
			}
			if tok.Pos < pos {
				t.Fatalf("%s: %+v: position after %d", where, tok, pos)
			}
			if tok.Term == "" {
				t.Fatalf("%s: %+v: no term", where, tok)
			}
			pos, start = tok.Pos, tok.Start
			checkTerm(t, a, text, tok)
		}
	}
	if again := a.Tokens(nil, text); !slices.Equal(tokens, again) {
		t.Fatalf("%s: tokens differ at the second time", where)
	}
	for _, f := range []folding{{}, a.fold, {true, true}} {
		if once := f.term(text); f.term(once) != once && len(text) <= MaxTerm && len(once) <= MaxTerm {
			t.Fatalf("folding %+v of %q: %q, then %q", f, text, once, f.term(once))
		}
	}
}

// checkTerm relates a term to its bytes.
func checkTerm(t *testing.T, a *Analyzer, text string, tok Token) {
	t.Helper()
	piece := a.fold.term(text[tok.Start:tok.End])
	switch a.spec.Name {
	case "single_word", "split", "keyword", "standard", "min_word", "max_word":
		if tok.Term != piece {
			t.Fatalf("%s of %q: %+v is not %q", a.Spec(), text, tok, piece)
		}
	case "fulltext":
		if strings.TrimPrefix(tok.Term, hiddenMark) != piece {
			t.Fatalf("%s of %q: %+v is not %q", a.Spec(), text, tok, piece)
		}
	case "fuzzy", "ngram", "cjk":
		if tok.Term == oddTerm {
			return
		}
		// A character may fold into several, of which a gram has a part.
		if !strings.Contains(piece, tok.Term) {
			t.Fatalf("%s of %q: %+v is not in %q", a.Spec(), text, tok, piece)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for i, s := range samples {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		all := analyzers()
		checkTokens(t, all[int(which)%len(all)], text)
	})
}

func TestAnalyzersAreConcurrent(t *testing.T) {
	for _, a := range analyzers() {
		var wg sync.WaitGroup
		want := a.Tokens(nil, samples[12])
		for range 4 {
			wg.Go(func() {
				for range 20 {
					if !slices.Equal(a.Tokens(nil, samples[12]), want) {
						t.Errorf("%s: tokens differ", a.Spec())
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestTokens shows what each analyzer makes: term@position[start:end].
func TestTokens(t *testing.T) {
	for _, c := range []struct{ spec, text, want string }{
		{"single_word", "Zum Öl-Ofen 3x", "zum@1[0:3] ol@2[4:7] ofen@3[8:12] 3x@4[13:15]"},
		{"single_word(accent_sensitive=true)", "Öl ÖL", "öl@1[0:3] öl@2[4:7]"},
		{"single_word", "a中文b", "a@1[0:1] 中@2[1:4] 文@3[4:7] b@4[7:8]"},
		{"single_word(delimit_word=true)", "mp3player v2", "mp@1[0:2] 3@2[2:3] player@3[3:9] v@4[10:11] 2@5[11:12]"},
		{"split", " a  B\tc ", "a@1[1:2] b@2[4:5] c@3[6:7]"},
		{"split(delimiter=',')", "red, blue,,x", "red@1[0:3] \" blue\"@2[4:9] x@3[11:12]"},
		{"keyword", "New York", "\"new york\"@1[0:8]"},
		{"standard", "can't stop, ab_c 中文", "\"can't\"@1[0:5] stop@2[6:10] ab_c@3[12:16] 中@4[17:20] 文@5[20:23]"},
		{"fulltext", "The cat_1 is on O'Neil", "\"\\x00the\"@1[0:3] cat_1@2[4:9] \"\\x00is\"@3[10:12] \"\\x00on\"@4[13:15] \"\\x00o\"@5[16:17] neil@6[18:22]"},
		{"fulltext", "南京abc", "南京abc@1[0:9]"},
		{"ngram", "abc d ef-", "ab@1[0:2] bc@2[1:3] ef@7[6:8] \"f-\"@8[7:9]"},
		{"cjk", "日本語 Go 茶", "日本@1[0:6] 本語@2[3:9] 語@3[6:9] go@4[10:12] 茶@5[13:16]"},
		{"fuzzy", "abc-D", "a@1[0:1] ab@1[0:2] b@2[1:2] bc@2[1:3] c@3[2:3] d@5[4:5]"},
		{"fuzzy(min_chars=2)", "abc-D", "ab@1[0:2] bc@2[1:3] c@3[2:3] d@5[4:5]"},
		{"min_word", "他在南京市长江大桥 Bridge", "他@1[0:3] 在@2[3:6] 南京市@3[6:15] 长江大桥@4[15:27] bridge@5[28:34]"},
		{"max_word", "南京市长江大桥", "南京市@1[0:9] 南京@1[0:6] 京市@2[3:9] 市长@3[6:12] 长江大桥@4[9:21] 长江@4[9:15] 大桥@6[15:21]"},
		{"english", "The running dogs' tails", "run@2[4:11] dog@3[12:16] tail@4[18:23]"},
		{"german", "Die schönen Häuser", "schon@2[4:12] haus@3[13:20]"},
		{"persian", "می\u200cخواهم", "خواهم@2[7:17]"},
	} {
		var got []string
		for _, tok := range mustParse(t, c.spec).Tokens(nil, c.text) {
			got = append(got, fmt.Sprintf("%s@%d[%d:%d]", quoteTerm(tok.Term), tok.Pos, tok.Start, tok.End))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", c.spec, c.text, got, c.want)
		}
	}
}

func TestSpecs(t *testing.T) {
	for in, want := range map[string]string{
		"single_word":                  "single_word",
		"SingleWord(caseSensitive=1)":  "single_word(case_sensitive=true)",
		" Max_Word ":                   "max_word",
		"fuzzy(minChars=2,maxChars=3)": "fuzzy(min_chars=2)",
		"split(delimiter='''')":        "split(delimiter='''')",
		"split( delimiter = ', ' )":    "split(delimiter=', ')",
		"en":                           "english",
		"fulltext(stopwords=NONE)":     "fulltext(stopwords=none)",
		"cjk(accent_sensitive=no)":     "cjk",
		"ngram(token_size=3,)":         "ngram(token_size=3)",
	} {
		a, err := Parse(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := a.Spec().String(); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if again, err := Parse(a.Spec().String()); err != nil || again.Spec().String() != want {
			t.Errorf("%s: cannot be read again: %v", want, err)
		}
	}
	for in, want := range map[string]string{
		"singleword2":                            "unknown analyzer 'singleword2'; known are arabic, cjk, croatian, ",
		"single_word(x=1)":                       "analyzer 'single_word' has no option 'x'; it has case_sensitive, accent_sensitive, delimit_word",
		"english(x=1)":                           "analyzer 'english' has no options, so no 'x'",
		"fuzzy(min_chars=0)":                     "option 'min_chars' of analyzer 'fuzzy' cannot be '0'; it must be a number from 1 to 7",
		"fuzzy(min_chars=4)":                     "option 'max_chars' of analyzer 'fuzzy' cannot be '3'; it must be at least min_chars and at most 6 above it",
		"fuzzy(min_chars=two)":                   "option 'min_chars' of analyzer 'fuzzy' cannot be 'two'; it must be a number from 1 to 7",
		"single_word(case_sensitive=2)":          "option 'case_sensitive' of analyzer 'single_word' cannot be '2'; it must be true or false",
		"fulltext(stopwords=all)":                "option 'stopwords' of analyzer 'fulltext' cannot be 'all'; it must be innodb or none",
		"split(delimiter='')":                    "option 'delimiter' of analyzer 'split' cannot be ''; it must be a text of 1 to 16 characters",
		"":                                       "malformed analyzer '': the name is missing",
		"cjk(":                                   "malformed analyzer 'cjk(': options are written name=value, and end with ')'",
		"cjk(a)":                                 "malformed analyzer 'cjk(a)': options are written name=value, and end with ')'",
		"cjk() x":                                "malformed analyzer 'cjk() x': there is text after ')'",
		"split(delimiter=',)":                    "malformed analyzer 'split(delimiter=',)': a quote is not closed",
		"cjk(case_sensitive=1,case_sensitive=1)": "malformed analyzer 'cjk(case_sensitive=1,case_sensitive=1)': option 'case_sensitive' is given twice",
	} {
		_, err := Parse(in)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", in, err, want)
		}
	}
	var unknown *UnknownAnalyzerError
	if _, err := New("nope", nil); !errors.As(err, &unknown) || unknown.Name != "nope" {
		t.Errorf("got %v", err)
	}
}

func TestFoldingOptions(t *testing.T) {
	for name, want := range map[string]string{
		"utf8mb4_0900_ai_ci": "fulltext", "utf8mb4_general_ci": "fulltext", "latin1_swedish_ci": "fulltext",
		"utf8mb4_0900_as_ci":    "fulltext(accent_sensitive=true)",
		"utf8mb4_0900_as_cs":    "fulltext(case_sensitive=true, accent_sensitive=true)",
		"utf8mb4_0900_bin":      "fulltext(case_sensitive=true, accent_sensitive=true)",
		"utf8mb4_bin":           "fulltext(case_sensitive=true, accent_sensitive=true)",
		"utf8mb4_ja_0900_as_cs": "fulltext(case_sensitive=true, accent_sensitive=true)",
	} {
		c, ok := collate.ByName(name)
		if !ok {
			t.Errorf("no collation %s", name)
			continue
		}
		a, err := New("fulltext", FoldingOptions(c))
		if err != nil || a.Spec().String() != want {
			t.Errorf("%s: got %s, %v, want %s", name, a.Spec(), err, want)
		}
	}
}

func TestTokensOf(t *testing.T) {
	a := mustParse(t, "single_word")
	d := NewDoc(a.TokensOf(nil, "red apple", "", "pie dish"))
	for text, want := range map[string]bool{`"red apple"`: true, `"pie dish"`: true, `"apple pie"`: false, `"apple pie"@99`: false, "+red +dish": true} {
		q, _ := a.Boolean(text)
		if got := d.Matches(q); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range allSpecs() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(a.Spec().String()); err != nil || again.Spec().String() != a.Spec().String() {
			t.Fatalf("%q is written %q, which is read as %v, %v", s, a.Spec(), again, err)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	for _, c := range []struct{ spec, text string }{
		{"single_word", latin}, {"single_word", han}, {"fulltext", latin}, {"standard", latin}, {"english", latin},
		{"split", latin}, {"cjk", han}, {"ngram", han}, {"fuzzy", han}, {"fuzzy", latin}, {"fuzzy(min_chars=2)", han},
		{"min_word", han}, {"max_word", han}, {"single_word", accented},
	} {
		a := mustParse(b, c.spec)
		name := map[string]string{latin: "latin", han: "han", accented: "accented"}[c.text]
		b.Run(c.spec+"/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			var dst []Token
			for b.Loop() {
				dst = a.Tokens(dst[:0], c.text)
			}
		})
	}
}

var (
	latin    = strings.Repeat("The quick brown Fox jumps over the lazy dog, and 42 others watched from 3 Hills. ", 25)
	han      = strings.Repeat("中华人民共和国国歌是义勇军进行曲。南京市长江大桥位于江苏省,每天有许多研究生在这里学习计算机科学与技术。", 14)
	accented = strings.Repeat("Ærøskøbing är på São Tomé; Łódź leží v Polsku. ", 40)
)
