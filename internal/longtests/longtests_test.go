package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLongTests: a test is found by what it calls itself, by functions and methods in
// another file, and by variables.
func TestLongTests(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for name, text := range map[string]string{
		"a_test.go": `package a
func TestOwn(t *testing.T) { n := testflag.Pick(1, 2, 3); _ = n }
func TestSkips(t *testing.T) { t.Run("x", func(t *testing.T) { testflag.Long(t) }) }
func TestHelped(t *testing.T) { outer(t) }
func TestMethod(t *testing.T) { new(helper).run() }
func TestVariable(t *testing.T) { _ = sizes() }
func TestShort(t *testing.T) { testflag.Normal(t); plain() }
func TestShare(t *testing.T) { take := testflag.Share(t, 1, 2, 1); _ = take }
func TestKept(t *testing.T) { _ = testflag.PickRecorded(1, 2, 3) }
func TestInShort(t *testing.T) { _ = testflag.InShort(1, 2) }
func TestUpdate(t *testing.T) { _ = testflag.Update() }`,
		"b_test.go": `package a
func outer(t *testing.T) { inner(t) }
func inner(t *testing.T) { for range testflag.Rounds(1, 2, 3) { outer(t) } }
func plain() {}
type helper struct{}
func (*helper) run() { _ = testflag.Pick(1, 2, 3) }
var sizes = sync.OnceValue(func() int { return testflag.Pick(1, 2, 3) })`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	got, err := longTests(files)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := "TestHelped TestKept TestMethod TestOwn TestShare TestSkips TestVariable"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
