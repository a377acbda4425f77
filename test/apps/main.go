package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed schemas.txt
var schemaList string

//go:embed known.txt
var knownList string

func main() {
	cache := flag.String("cache", filepath.Join(os.TempDir(), "sqlots-apps"), "directory for downloaded packages")
	only := flag.String("only", "", "only the schemas, applications and suites whose names have this in them")
	flag.Parse()
	if err := run(*cache, *only); err != nil {
		fmt.Fprintln(os.Stderr, "apps:", err)
		os.Exit(1)
	}
}

func run(cache, only string) error {
	dir, err := os.MkdirTemp("", "apps")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, err := startSqlots(dir)
	if err != nil {
		return err
	}
	defer ours.stop()
	maria, err := startMariaDB(dir)
	if err != nil {
		return err
	}
	defer maria.stop()
	known := readKnown(knownList)
	failed, checked := 0, 0
	report := func(name, size string, found []string) {
		checked++
		fmt.Printf("%-30s %s, %3d differences", name, size, len(found))
		if news := known.filter(name, found); len(news) > 0 {
			failed++
			fmt.Printf(", new:\n    %s", strings.Join(news, "\n    "))
		}
		fmt.Println()
	}
	for i, a := range schemas(schemaList) {
		if !strings.Contains(a.name, only) {
			continue
		}
		files, err := a.fetch(cache)
		if err != nil {
			return err
		}
		c := &check{app: a, ours: ours, maria: maria, db: fmt.Sprintf("app%d", i)}
		if err := c.run(files); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		report(a.name, fmt.Sprintf("%3d tables, %6d rows", c.tables, c.rows), c.found)
	}
	names, err := sites(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.Contains(name, only) {
			continue
		}
		lines, found, err := useSite(dir, cache, name, maria, ours)
		if err != nil {
			return err
		}
		report(name, fmt.Sprintf("%4d lines of output    ", lines), found)
	}
	if only == "" {
		for _, k := range known {
			if !k.used {
				failed++
				fmt.Println("known.txt: no difference any more:", k.app, k.text)
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d failed", failed, checked)
	}
	fmt.Printf("%d schemas and applications are as with MariaDB\n", checked)
	return nil
}

// knownDifference is a line of known.txt: differences of an app, * for all, that have a
// text in them.
type knownDifference struct {
	app, text string
	used      bool
}

type knownDifferences []*knownDifference

func readKnown(text string) (k knownDifferences) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		app, what, _ := strings.Cut(line, ": ")
		k = append(k, &knownDifference{app: app, text: what})
	}
	return k
}

// filter returns the differences of an app that are not known.
func (k knownDifferences) filter(app string, found []string) []string {
	return slices.DeleteFunc(slices.Clone(found), func(d string) bool {
		known := false
		for _, x := range k {
			if (x.app == "*" || x.app == app) && strings.Contains(d, x.text) {
				x.used, known = true, true
			}
		}
		return known
	})
}
