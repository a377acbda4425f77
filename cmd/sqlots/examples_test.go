package main

import (
	"flag"
	"os"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write the results of the examples")

// costs is what a plan says about costs, which may change.
var costs = regexp.MustCompile(`  \(cost=\S+ rows=\S+\)`)

// TestExamples runs the scripts of the folder examples as their README says,
// and compares with the results that lie beside them.
func TestExamples(t *testing.T) {
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	for _, name := range []string{"cities", "divisions", "cards", "files", "orders", "shops", "media", "im", "weather", "live", "monitoring", "mailbox", "hotcold"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir("../../examples/" + name)
			code, out, errs := sqlots("sql", "-dsn", dsn, "-batch", "-e", "source "+name+".sql")
			if code != 0 {
				t.Fatalf("code %d: %s", code, errs)
			}
			if *update {
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
