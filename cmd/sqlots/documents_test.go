//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestDocuments runs the code blocks of README.md and docs, and compares what
// they give with the blocks that show it. docs/README.md has the conventions.
// -update writes the results into the documents.
func TestDocuments(t *testing.T) {
	for _, path := range documents(t) {
		name, err := filepath.Rel("../..", path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			if slices.Contains(slowPages, filepath.Base(name)) {
				testflag.Normal(t)
			}
			t.Parallel()
			d := parseDocument(t, string(text))
			p := &page{t: t, dir: t.TempDir()}
			defer p.close()
			for i := range d.blocks {
				p.run(&d.blocks[i])
			}
			if testflag.Update() && d.changed() {
				if err := os.WriteFile(path, []byte(d.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// slowPages wait for servers and loads; -short leaves them out.
var slowPages = []string{"bench.md", "http.md", "load.md", "operations.md"}

// documents are the paths of all pages whose blocks are run.
func documents(t *testing.T) []string {
	t.Helper()
	paths := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// document is a page cut into lines and code blocks.
type document struct {
	lines  []string
	blocks []block
}

// block is a code block that is run.
type block struct {
	line int // of its first line of code, from 1
	lang string
	code string
	// shown are the first line and the one after the last of the result that
	// follows; both 0 where none does. got is what -update writes there.
	shown [2]int
	want  string
	got   string
}

// languages are the words that may open a code block. Blocks of sql and sh run.
var languages = []string{"sql", "sh", "text", "go", "json"}

// parseDocument finds the blocks to run, each with its result.
func parseDocument(t *testing.T, text string) *document {
	t.Helper()
	d := &document{lines: strings.Split(text, "\n")}
	var last *block // a block whose result may follow
	for i := 0; i < len(d.lines); i++ {
		line := d.lines[i]
		if !strings.HasPrefix(line, "```") {
			if strings.TrimSpace(line) != "" {
				last = nil
			}
			continue
		}
		begin := i + 1
		for i++; i < len(d.lines) && d.lines[i] != "```"; i++ {
		}
		if i == len(d.lines) {
			t.Fatalf("line %d: a block without an end", begin)
		}
		code := strings.Join(d.lines[begin:i], "\n")
		lang, rest, _ := strings.Cut(line[3:], " ")
		switch {
		case !slices.Contains(languages, lang):
			t.Errorf("line %d: the language of a block is one of %q, got %q", begin, languages, lang)
		case lang == "text" && last != nil:
			last.shown, last.want = [2]int{begin, i}, code
			last = nil
		case lang != "sql" && lang != "sh":
			last = nil
		case rest == "":
			d.blocks = append(d.blocks, block{line: begin + 1, lang: lang, code: code})
			last = &d.blocks[len(d.blocks)-1]
		case strings.HasPrefix(rest, "norun: "):
			last = nil
		default:
			t.Errorf("line %d: write %q and the reason, not %q", begin, lang+" norun: ", rest)
		}
	}
	return d
}

func (d *document) changed() bool {
	return slices.ContainsFunc(d.blocks, func(b block) bool { return b.shown[1] > 0 && b.got != b.want })
}

// String is the document with the results of its blocks.
func (d *document) String() string {
	var out []string
	next := 0
	for _, b := range d.blocks {
		if b.shown[1] == 0 {
			continue
		}
		out = append(append(out, d.lines[next:b.shown[0]]...), b.got)
		next = b.shown[1]
	}
	return strings.Join(append(out, d.lines[next:]...), "\n")
}
