package lint

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// maxParagraph is the most characters of a paragraph of a document.
const maxParagraph = 500

// isDocument reports whether a file is a page for readers.
func isDocument(path string) bool {
	if !strings.HasSuffix(path, ".md") {
		return false
	}
	return path == "README.md" || path == "ARCHITECTURE.md" || under(path, "docs", "examples")
}

// passage is a paragraph, an item of a list or a cell of a table.
type passage struct {
	line int // from 1
	text string
}

var (
	linkTarget = regexp.MustCompile(`\]\([^)\s]*\)`)
	listItem   = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	fence      = regexp.MustCompile("^\\s*```")
)

// passages cuts a document, without its code blocks, headings and link targets.
func passages(text string) []passage {
	var out []passage
	open, inCode := false, false // open: the next line continues the last passage
	for i, line := range strings.Split(text, "\n") {
		if fence.MatchString(line) {
			open, inCode = false, !inCode
			continue
		}
		line = strings.TrimRight(linkTarget.ReplaceAllString(line, "]"), " ")
		switch {
		case inCode:
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "<!--"):
			open = false
		case strings.HasPrefix(line, "|"):
			for _, cell := range strings.Split(line, "|") {
				out = append(out, passage{i + 1, strings.TrimSpace(cell)})
			}
			open = false
		case !open || listItem.MatchString(line):
			out = append(out, passage{i + 1, strings.TrimSpace(listItem.ReplaceAllString(line, ""))})
			open = true
		default:
			out[len(out)-1].text += " " + strings.TrimSpace(line)
		}
	}
	return out
}

func TestParagraphsAreShort(t *testing.T) {
	walkFiles(t, func(path string) {
		if !isDocument(path) {
			return
		}
		for _, p := range passages(readText(t, path)) {
			if n := utf8.RuneCountInString(p.text); n > maxParagraph {
				t.Errorf("%s:%d: a paragraph of %d characters, more than %d", path, p.line, n, maxParagraph)
			}
		}
	})
}

// plainWord is a word that the documents do not use in its odd sense. Phrases
// of allowed have it in its usual one.
type plainWord struct {
	word    *regexp.Regexp
	better  string
	allowed []string
}

// find is the first use of the word in its odd sense, "" without.
func (w plainWord) find(text string) string {
	if !w.word.MatchString(text) {
		return ""
	}
	for _, phrase := range w.allowed {
		text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(phrase)).ReplaceAllString(text, "")
	}
	return w.word.FindString(text)
}

func plainWords() []plainWord {
	word := func(pattern, better string, allowed ...string) plainWord {
		return plainWord{regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`), better, allowed}
	}
	return []plainWord{
		word(`roads?`, "access path, execution path"),
		word(`dear|dearer`, "expensive"),
		word(`tells?|told|telling`, "report, show, say, know"),
		word(`asks|asked|asking`, "query, request, require"),
		word(`stands?|standing|stood`, "is stored in, is, follows", "stands for", "stand for", "stand-in", "stands in for"),
		word(`lies`, "is in, is stored in"),
		word(`behind`, "after, below", "fell behind", "fall behind", "falls behind", "idea behind"),
		word(`besides?`, "next to, together with, compared with", "besides,", "besides go"),
		word(`put aside|puts aside|putting aside`, "spill"),
		word(`look-ups?`, "index join, lookup join, point get, lookup"),
		word(`anew`, "again"),
		word(`as ever|as it is|as they are`, "unchanged, as usual", "as it is now"),
		word(`for itself|for themselves`, "on its own"),
		word(`there is none|there are none|there were none`, "no …, none"),
		word(`nobody`, "no session, no one, no writer"),
		word(`mended?|mends`, "fix, correct"),
		word(`sleeps?|asleep|slept`, "is idle, is closed"),
		word(`takes? (?:it|them|that|this) back`, "roll back"),
		word(`part of the rows`, "fraction of the rows"),
		word(`derived`, "derived is MySQL's derived table only", "derived table", "derived.go"),
		word(`wants`, "needs, requires"),
		word(`passed over`, "ignored"),
		word(`kept up`, "maintained"),
		word(`but for`, "except"),
	}
}

var inlineCode = regexp.MustCompile("(``+).*?``+|`[^`]*`")

func TestDocumentsUsePlainWords(t *testing.T) {
	words := plainWords()
	walkFiles(t, func(path string) {
		if !isDocument(path) {
			return
		}
		for _, p := range passages(readText(t, path)) {
			text := inlineCode.ReplaceAllString(p.text, "")
			for _, w := range words {
				if m := w.find(text); m != "" {
					t.Errorf("%s:%d: %q; write %s", path, p.line, m, w.better)
				}
			}
		}
	})
}

// commentWords are those of plainWords that comments do not use either.
func commentWords() []plainWord {
	word := func(pattern, better string) plainWord {
		return plainWord{word: regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`), better: better}
	}
	return []plainWord{
		word(`roads?`, "path, way"),
		word(`dear|dearer`, "expensive"),
		word(`beside`, "next to, in addition to, during"),
		word(`put aside|puts aside|putting aside`, "spill"),
		word(`look-ups?`, "lookup"),
		word(`anew`, "again"),
	}
}

// plainFolders are the folders whose comments use none of folderWords.
var plainFolders = []string{"sql"}

// folderWords are commentWords, and those of plainWords that match one of the
// examples.
func folderWords() []plainWord {
	examples := []string{"tells", "asks", "stands", "lies", "behind", "nobody", "there is none", "as it is"}
	return append(commentWords(), slices.DeleteFunc(plainWords(), func(w plainWord) bool {
		return !slices.ContainsFunc(examples, w.word.MatchString)
	})...)
}

func TestCommentsUsePlainWords(t *testing.T) {
	everywhere, folders := commentWords(), folderWords()
	eachFile(t, func(dir, _ string, f *ast.File) {
		if dir == "internal/lint" {
			return
		}
		words, plain := everywhere, under(dir, plainFolders...)
		if plain {
			words = folders
		}
		for _, g := range f.Comments {
			text := inlineCode.ReplaceAllString(g.Text(), "")
			if plain { // phrases may go over the end of a line
				text = strings.Join(strings.Fields(text), " ")
			}
			for _, w := range words {
				if m := w.find(text); m != "" {
					t.Errorf("%s: %q; write %s", fset.Position(g.Pos()), m, w.better)
				}
			}
		}
	})
}

// anchors are the names by which links reach the headings of a document.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	inCode := false
	for _, line := range strings.Split(text, "\n") {
		if fence.MatchString(line) {
			inCode = !inCode
		}
		title := strings.TrimLeft(line, "#")
		if inCode || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		out[anchor(linkTarget.ReplaceAllString(title, "]"))] = true
	}
	return out
}

// anchor is the name of a heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}

func TestAnchors(t *testing.T) {
	got := anchors("# Where a log ends\n## `TEXT_MATCH`, and [more](x.md)\n```\n# no heading\n```\n")
	for _, want := range []string{"where-a-log-ends", "text_match-and-more"} {
		if !got[want] {
			t.Errorf("no anchor %s in %v", want, got)
		}
	}
	if len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

func TestPassages(t *testing.T) {
	got := passages("# Title\nOne\ntwo.\n\n- a\n  b\n- c\n\n| x | y |\n|---|---|\n```sql\nSELECT 1\n```\nEnd [here](far.md).\n")
	var texts []string
	for _, p := range got {
		if p.text != "" && strings.Trim(p.text, "-") != "" {
			texts = append(texts, p.text)
		}
	}
	if want := "One two.;a b;c;x;y;End [here]."; strings.Join(texts, ";") != want {
		t.Errorf("got %s, want %s", strings.Join(texts, ";"), want)
	}
}
