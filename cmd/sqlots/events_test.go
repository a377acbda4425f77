package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEvents compares the events of the log with docs/operations.md.
func TestEvents(t *testing.T) {
	pattern := regexp.MustCompile(`"event", "([a-z._]+)"`)
	code := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range pattern.FindAllStringSubmatch(string(b), -1) {
			code[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "\n| event | when |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		cell := strings.Split(line, "|")[1]
		for _, m := range regexp.MustCompile("`([a-z._]+)`").FindAllStringSubmatch(cell, -1) {
			listed[m[1]] = true
		}
	}
	var wrong []string
	for e := range code {
		if !listed[e] {
			wrong = append(wrong, e+" is not listed")
		}
	}
	for e := range listed {
		if !code[e] {
			wrong = append(wrong, e+" is not logged")
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 || len(code) < 20 {
		t.Errorf("%d events: %s", len(code), strings.Join(wrong, ", "))
	}
}
