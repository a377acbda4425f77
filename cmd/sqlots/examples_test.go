package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// costs is what a plan says about costs, which may change.
var costs = regexp.MustCompile(`  \(cost=\S+ rows=\S+\)`)

// TestExamples runs the scripts of the folder examples as their README says,
// and compares with the results that lie next to them.
func TestExamples(t *testing.T) {
	testflag.Normal(t)
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	for _, name := range []string{"cities", "divisions", "cards", "files", "orders", "shops", "media", "im", "weather", "live", "monitoring", "mailbox", "hotcold",
		"search/places", "search/divisions", "search/orders", "search/shops", "search/messages", "search/grids", "search/media"} {
		t.Run(name, func(t *testing.T) {
			dir, name := name, filepath.Base(name)
			if dir != name {
				dir = filepath.Dir(dir)
			}
			t.Chdir("../../examples/" + dir)
			code, out, errs := sqlots("sql", "-dsn", dsn, "-batch", "-e", "source "+name+".sql")
			if code != 0 {
				t.Fatalf("code %d: %s", code, errs)
			}
			if testflag.Update() {
				if err := os.WriteFile(name+".out", []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name + ".out")
			if err != nil {
				t.Fatal(err)
			}
			if costs.ReplaceAllString(out, "") != costs.ReplaceAllString(string(want), "") {
				t.Errorf("got:\n%s\nwant:\n%s", out, want)
			}
		})
	}
}

var (
	statementEnd = regexp.MustCompile(`;\n`)
	fromTable    = regexp.MustCompile(`\bFROM (\w+)( FORCE INDEX \(\w+\))?`)
	comment      = regexp.MustCompile(`(?m)^--.*\n`)
)

// TestSearchExamples holds that the queries of the examples of search indexes
// give the same without them.
func TestSearchExamples(t *testing.T) {
	testflag.Normal(t)
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	files, err := filepath.Glob("../../examples/search/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tmp := t.TempDir()
			t.Chdir(filepath.Dir(file))
			var answers [2]string
			for i := range answers {
				var b strings.Builder
				for _, s := range statementEnd.Split(comment.ReplaceAllString(string(text), ""), -1) {
					s = strings.TrimSpace(s)
					switch {
					case s == "", strings.HasPrefix(s, "EXPLAIN"):
						continue
					case i == 1 && strings.HasPrefix(s, "SELECT"):
						s = fromTable.ReplaceAllString(s, "FROM $1 USE INDEX ()")
					}
					b.WriteString(s + ";\n")
				}
				script := filepath.Join(tmp, "script.sql")
				if err := os.WriteFile(script, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				code, out, errs := sqlots("sql", "-dsn", dsn, "-batch", "-e", "source "+script)
				if code != 0 {
					t.Fatalf("code %d: %s", code, errs)
				}
				answers[i] = out
			}
			if answers[0] != answers[1] {
				t.Errorf("by the indexes:\n%s\nwithout:\n%s", answers[0], answers[1])
			}
		})
	}
}
