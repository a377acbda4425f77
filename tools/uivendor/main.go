package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// source is a line of SOURCES.json: a file, and the packages in it.
type source struct {
	File     string   `json:"file"`
	SHA256   string   `json:"sha256"`
	Packages []string `json:"packages"`
}

// pkg is a package of npm.
type pkg struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"`
	From    string `json:"integrity"` // of the archive that npm fetched
}

// copied are files that are taken over without a change.
var copied = map[string]string{
	"uplot.css":  "uplot/dist/uPlot.min.css",
	"world.json": "world-atlas/countries-110m.json",
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "uivendor:", err)
		os.Exit(1)
	}
}

func run() error {
	here, err := filepath.Abs("uivendor")
	if err != nil {
		return err
	}
	out := filepath.Join(here, "../../console/ui/vendor")
	work, err := os.MkdirTemp("", "uivendor")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, f := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(here, f))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, f), b, 0o600); err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir, npm.Stderr = work, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm ci: %w", err)
	}
	modules := filepath.Join(work, "node_modules")
	files := map[string][]byte{}
	used := map[string][]string{} // file: packages
	entries, err := filepath.Glob(filepath.Join(here, "entry", "*.js"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Base(e)
		if files[name], used[name], err = bundle(e, work); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, from := range copied {
		if files[name], err = os.ReadFile(filepath.Join(modules, from)); err != nil {
			return err
		}
		used[name] = []string{packageOf(from)}
	}
	return write(out, work, files, used)
}

// bundle makes one ES module of an entry, and names the packages in it.
func bundle(entry, work string) (text []byte, packages []string, err error) {
	code, err := os.ReadFile(entry)
	if err != nil {
		return nil, nil, err
	}
	r := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: string(code), ResolveDir: work, Sourcefile: filepath.Base(entry)},
		Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformBrowser,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		LegalComments: api.LegalCommentsNone, Metafile: true, AbsWorkingDir: work,
		Define: map[string]string{"process.env.NODE_ENV": `"production"`},
	})
	if len(r.Errors) > 0 {
		return nil, nil, fmt.Errorf("%s", r.Errors[0].Text)
	}
	var meta struct {
		Outputs map[string]struct {
			Inputs map[string]struct {
				Bytes int `json:"bytesInOutput"`
			} `json:"inputs"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(r.Metafile), &meta); err != nil {
		return nil, nil, err
	}
	for _, o := range meta.Outputs {
		for path, in := range o.Inputs {
			if p, ok := strings.CutPrefix(path, "node_modules/"); ok && in.Bytes > 0 {
				packages = append(packages, packageOf(p))
			}
		}
	}
	slices.Sort(packages)
	return r.OutputFiles[0].Contents, slices.Compact(packages), nil
}

// packageOf is the package of a path below node_modules.
func packageOf(path string) string {
	parts := strings.SplitN(path, "/", 3)
	if strings.HasPrefix(path, "@") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

func write(out, work string, files map[string][]byte, used map[string][]string) error {
	var lock struct {
		Packages map[string]struct {
			Version   string `json:"version"`
			License   string `json:"license"`
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	b, err := os.ReadFile(filepath.Join(work, "package-lock.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		return err
	}
	var list struct {
		Files    []source `json:"files"`
		Packages []pkg    `json:"packages"`
	}
	var names []string
	licences := &strings.Builder{}
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var packages []string
	for _, name := range names {
		packages = append(packages, used[name]...)
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	for _, p := range packages {
		l := lock.Packages["node_modules/"+p]
		list.Packages = append(list.Packages, pkg{p, l.Version, l.License, l.Integrity})
		text, err := licence(filepath.Join(work, "node_modules", p))
		if err != nil {
			return err
		}
		fmt.Fprintf(licences, "%s %s (%s)\n\n%s\n\n%s\n\n", p, l.Version, l.License, strings.TrimSpace(text), strings.Repeat("-", 72))
	}
	files["LICENSES.txt"] = []byte(licences.String())
	names = append(names, "LICENSES.txt")
	for _, name := range names {
		sum := sha256.Sum256(files[name])
		list.Files = append(list.Files, source{name, hex.EncodeToString(sum[:]), used[name]})
	}
	if files["SOURCES.json"], err = json.MarshalIndent(list, "", "  "); err != nil {
		return err
	}
	files["SOURCES.json"] = append(files["SOURCES.json"], '\n')
	old, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil { //nolint:gosec // files of the repository
			return err
		}
	}
	return nil
}

var licenceName = regexp.MustCompile(`(?i)^licen[cs]e(\.(md|txt))?$`)

// licence is the text of a package's licence.
func licence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if licenceName.MatchString(e.Name()) {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			return string(b), err
		}
	}
	return "", fmt.Errorf("%s has no licence file", dir)
}
