package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// app is a line of schemas.txt.
type app struct {
	name  string
	globs []string // of files in the package
}

func schemas(list string) (apps []app) {
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, files, _ := strings.Cut(line, ":")
		apps = append(apps, app{name, strings.Fields(files)})
	}
	return apps
}

// fetch has the package in the cache, and returns its files as text.
func (a app) fetch(cache string) (texts [][]byte, err error) {
	dir := filepath.Join(cache, a.name)
	if _, err := os.Stat(dir); err != nil {
		if err := unpack(cache, a.name, dir); err != nil {
			return nil, err
		}
	}
	done := map[string]bool{}
	for _, g := range a.globs {
		names, err := filepath.Glob(filepath.Join(dir, g))
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("%s has no %s: %w", a.name, g, os.ErrNotExist)
		}
		for _, name := range names {
			if done[name] {
				continue
			}
			done[name] = true
			b, err := readText(name)
			if err != nil {
				return nil, err
			}
			texts = append(texts, b)
		}
	}
	return texts, nil
}

func unpack(cache, name, dir string) error {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("apt-get", "download", "-qq", name)
	cmd.Dir = cache
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get download %s: %w: %s", name, err, out)
	}
	debs, err := filepath.Glob(filepath.Join(cache, name+"_*.deb"))
	if err != nil || len(debs) == 0 {
		return fmt.Errorf("no package %s was downloaded: %w", name, os.ErrNotExist)
	}
	if out, err := exec.Command("dpkg-deb", "-x", debs[0], dir).CombinedOutput(); err != nil {
		return fmt.Errorf("dpkg-deb -x %s: %w: %s", debs[0], err, out)
	}
	return nil
}

func readText(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return b, err
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
