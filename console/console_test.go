package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestVendor compares the libraries with the list of them.
func TestVendor(t *testing.T) {
	text, err := embedded.ReadFile("ui/vendor/SOURCES.json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Files []struct {
			File, SHA256 string
			Packages     []string
		}
		Packages []struct{ Name, Version, Licence, Integrity string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"SOURCES.json": true}
	known := map[string]bool{}
	for _, p := range list.Packages {
		if p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-") || !slices.Contains([]string{"MIT", "ISC", "Apache-2.0"}, p.Licence) {
			t.Errorf("package %+v", p)
		}
		known[p.Name] = true
	}
	for _, f := range list.Files {
		listed[f.File] = true
		body, err := embedded.ReadFile("ui/vendor/" + f.File)
		if err != nil {
			t.Error(err)
			continue
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s is not what SOURCES.json says: go -C tools run ./uivendor", f.File)
		}
		for _, p := range f.Packages {
			if !known[p] {
				t.Errorf("%s: package %s is not listed", f.File, p)
			}
		}
	}
	entries, err := embedded.ReadDir("ui/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !listed[e.Name()] {
			t.Errorf("%s is not in SOURCES.json", e.Name())
		}
	}
}

// sent is the size of a file as browsers get it.
func sent(f *file) int {
	if f.zipped != nil {
		return len(f.zipped)
	}
	return len(f.plain)
}

// imports are the modules that a module loads at once.
var imports = regexp.MustCompile(`(?m)^(?:import|export)\s[^'"]*?from\s*['"](\.[^'"]+)['"]|^import\s*['"](\.[^'"]+)['"]`)

// reach adds a file and all that it loads at once.
func reach(t *testing.T, name string, seen map[string]bool) {
	t.Helper()
	if seen[name] {
		return
	}
	f := files()[name]
	if f == nil {
		t.Fatalf("no file %s", name)
	}
	seen[name] = true
	if path.Ext(name) != ".js" {
		return
	}
	for _, m := range imports.FindAllSubmatch(f.plain, -1) {
		reach(t, path.Join(path.Dir(name), string(m[1])+string(m[2])), seen)
	}
}

func TestBudget(t *testing.T) {
	all, raw := 0, 0
	for name, f := range files() {
		raw += len(f.plain)
		if name != "vendor/LICENSES.txt" && name != "vendor/SOURCES.json" { // no page loads these
			all += sent(f)
		}
	}
	first := map[string]bool{}
	for _, name := range []string{"index.html", "style.css", "vendor/uplot.css", "icon.svg", "main.js", "pages/overview.js", "vendor/uplot.js"} {
		reach(t, name, first)
	}
	size := 0
	for name := range first {
		size += sent(files()[name])
	}
	t.Logf("all %d bytes compressed, %d plain; first page %d bytes compressed in %d files", all, raw, size, len(first))
	if all > 400_000 || size > 60_000 || len(first) > 25 || raw > 6<<20 {
		t.Error("the console is too large")
	}
}

// TestDocumentation: all pages are there, in a file of a size that a page can load.
func TestDocumentation(t *testing.T) {
	r := get(t, "GET", "/console/"+docsFile, nil)
	var list []document
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil || r.Header.Get("Content-Type") != "application/json" {
		t.Fatal(err, r.Header)
	}
	got := map[string]string{}
	for _, d := range list {
		got[d.Path+".md"] = d.Text
	}
	files := 0
	err := filepath.WalkDir("../docs", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		files++
		text, err := os.ReadFile(name)
		if rel, _ := filepath.Rel("../docs", name); got[filepath.ToSlash(rel)] != string(text) {
			t.Errorf("%s is not in the binary as it is: a new folder of docs has a pattern in docs/docs.go", name)
		}
		return err
	})
	if err != nil || files != len(list) {
		t.Errorf("%d of %d files: %v", len(list), files, err)
	}
	if n := sent(documentation()); n > 200_000 {
		t.Errorf("the documentation has %d bytes compressed", n)
	}
}

// TestModules looks for what pages may not do, and for imports that lead nowhere.
func TestModules(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|https?://[^$'"\s)]*`)
	dynamic := regexp.MustCompile(`import\('(\.[^']+)'\)`)
	for name, f := range files() {
		if path.Ext(name) != ".js" || strings.HasPrefix(name, "vendor/") {
			continue
		}
		for _, m := range forbidden.FindAll(f.plain, -1) {
			t.Errorf("%s has %s", name, m)
		}
		reach(t, name, map[string]bool{})
		for _, m := range dynamic.FindAllSubmatch(f.plain, -1) {
			reach(t, path.Join(path.Dir(name), string(m[1])), map[string]bool{})
		}
	}
	for _, m := range regexp.MustCompile(`"/console/([^"]+)"`).FindAllSubmatch(files()["index.html"].plain, -1) {
		if files()[string(m[1])] == nil {
			t.Errorf("index.html names %s", m[1])
		}
	}
}

// TestFunctions compares the functions that are completed with the documentation.
func TestFunctions(t *testing.T) {
	doc, err := os.ReadFile("../docs/functions.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z][A-Z0-9_]*)\\([^\n]*?` \\| yes").FindAllSubmatch(doc, -1) {
		want = append(want, string(m[1]))
	}
	slices.Sort(want)
	want = slices.Compact(want)
	text := string(files()["sql/functions.js"].plain)
	_, text, _ = strings.Cut(text, "`")
	text, _, _ = strings.Cut(text, "`")
	if got := strings.Fields(text); !slices.Equal(got, want) {
		t.Errorf("console/ui/sql/functions.js has %d functions, docs/functions.md %d:\n%s", len(got), len(want), strings.Join(want, " "))
	}
}

func get(t *testing.T, method, target string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for k, v := range header {
		r.Header[k] = v
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestPage(t *testing.T) {
	nonce := regexp.MustCompile(`'nonce-([^']+)'`)
	seen := map[string]bool{}
	for range 2 {
		r := get(t, "GET", "/", nil)
		csp := r.Header.Get("Content-Security-Policy")
		m := nonce.FindStringSubmatch(csp)
		if m == nil || seen[m[1]] {
			t.Fatalf("policy %q", csp)
		}
		seen[m[1]] = true
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		if r.StatusCode != 200 || strings.Count(body.String(), m[1]) != 1 || !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") {
			t.Errorf("status %d, policy %q", r.StatusCode, csp)
		}
		if regexp.MustCompile(`<script[^>]*>[^<]|\son\w+=`).Match(body.Bytes()) {
			t.Error("the page has a script in it")
		}
	}
}

func TestFiles(t *testing.T) {
	plain := get(t, "GET", "/console/main.js", nil)
	zipped := get(t, "GET", "/console/main.js", http.Header{"Accept-Encoding": {"br, gzip"}})
	if plain.Header.Get("Content-Encoding") != "" || zipped.Header.Get("Content-Encoding") != "gzip" || plain.ContentLength <= zipped.ContentLength {
		t.Errorf("%v %v", plain.Header, zipped.Header)
	}
	want, err := os.ReadFile("ui/main.js")
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	_, _ = body.ReadFrom(plain.Body)
	if !bytes.Equal(body.Bytes(), want) {
		t.Error("main.js is not served as it is")
	}
	if r := get(t, "GET", "/console/main.js", http.Header{"If-None-Match": {plain.Header.Get("ETag")}}); r.StatusCode != http.StatusNotModified {
		t.Errorf("status %d for the same tag", r.StatusCode)
	}
	for _, c := range []struct {
		method, target string
		status         int
	}{
		{"HEAD", "/console/style.css", 200}, {"GET", "/console/vendor/world.json", 200}, {"GET", "/console/", 404}, {"GET", "/console/none.js", 404},
		{"GET", "/console/index.html", 404}, {"GET", "/console/../console.go", 404}, {"POST", "/", 405}, {"DELETE", "/console/main.js", 405},
	} {
		if r := get(t, c.method, c.target, nil); r.StatusCode != c.status {
			t.Errorf("%s %s: %d, not %d", c.method, c.target, r.StatusCode, c.status)
		}
	}
}
