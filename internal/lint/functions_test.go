package lint

import (
	"flag"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/expr"
)

var update = flag.Bool("update", false, "write docs/functions.md")

// functionsDocument lists what users can call by name.
func functionsDocument() string {
	byLetter := map[string][]string{}
	for _, name := range expr.FuncNames() {
		if expr.IsFunc(name) {
			letter := strings.ToUpper(name[:1])
			byLetter[letter] = append(byLetter[letter], strings.ToUpper(name))
		}
	}
	letters := make([]string, 0, len(byLetter))
	for l := range byLetter {
		letters = append(letters, l)
	}
	sort.Strings(letters)
	var b strings.Builder
	b.WriteString(`# Functions

<!-- Written by "go test ./internal/lint -update". -->

The functions do what MySQL 8.4's of the same name do. Any other name answers with error 1305. The aggregate functions stand in [sql.md](sql.md).

Operators: ` + "`+ - * / DIV % MOD`, `= <=> <> != < <= > >=`, `AND && OR || XOR NOT !`, `BETWEEN`, `IN`, `LIKE`, `REGEXP`, `RLIKE`, `IS NULL`, `IS TRUE`, `IS FALSE`, `& | ^ ~ << >>`, `CASE`, `BINARY`, `COLLATE`, `->`, `->>`, `MEMBER OF`, `SOUNDS LIKE`, `:=`" + `. ` + "`CAST`, `CONVERT`, `EXTRACT`, `TRIM`, `SUBSTRING … FROM`, `POSITION … IN`" + ` and their like have MySQL's syntax of their own.

`)
	for _, l := range letters {
		names := byLetter[l]
		sort.Strings(names)
		b.WriteString("- `" + strings.Join(names, "` `") + "`\n")
	}
	return b.String()
}

func TestFunctionsDocument(t *testing.T) {
	want := functionsDocument()
	path := filepath.Join(root, "docs", "functions.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if readText(t, "docs/functions.md") != want {
		t.Error(`docs/functions.md is out of date: run "go test ./internal/lint -update"`)
	}
}
