package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed sites/*.sh
var siteScripts embed.FS

// sites are the applications that a script of the folder sites uses.
func sites(dir string) (names []string, err error) {
	to := filepath.Join(dir, "sites")
	if err := os.CopyFS(dir, siteScripts); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(to)
	for _, e := range list {
		if name := strings.TrimSuffix(e.Name(), ".sh"); name != "common" {
			names = append(names, name)
		}
	}
	return names, err
}

// passes begins a line about a test that passes. That one passes with sqlots only is no
// difference.
const passes = "passes "

// leastLines is less than any script prints that ran to its end.
const leastLines = 30

// missing is the exit code of a script that lacks a package or a download.
const missing = 3

// useSite runs a script with both servers, and returns the lines in which the second
// output differs from the first.
func useSite(dir, cache, name string, want, got *srv) (lines int, found []string, err error) {
	var out [2][]string
	for i, s := range []*srv{want, got} {
		if out[i], err = s.site(dir, cache, name); err != nil {
			return 0, nil, err
		}
	}
	if len(out[0]) < leastLines {
		return 0, nil, fmt.Errorf("%s.sh: only %d lines of output with MariaDB", name, len(out[0]))
	}
	found = slices.DeleteFunc(differences(out[0], out[1]), func(d string) bool { return strings.HasPrefix(d, "+ "+passes) })
	return len(out[0]), found, nil
}

// site runs a script with a server. Ports, folders and what the two servers show in
// different forms are plain in the lines of its output.
func (s *srv) site(dir, cache, name string) ([]string, error) {
	web, err := freePort()
	if err != nil {
		return nil, err
	}
	work := filepath.Join(dir, name+s.name)
	if err := os.Mkdir(work, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command("bash", filepath.Join(dir, "sites", name+".sh"))
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), "PORT="+s.port, "WEB="+web, "DIR="+work, "CACHE="+cache, "ROOT="+root)
	b, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == missing {
		return nil, fmt.Errorf("%s.sh: %s", name, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil && len(b) == 0 {
		return nil, fmt.Errorf("%s.sh: %w", name, err)
	}
	text := strings.NewReplacer(work, "DIR", ":"+s.port, ":PORT", ":"+web, ":WEB", web, "WEB").Replace(string(b))
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, plainSite(strings.TrimRight(line, "\n")))
	}
	return lines, os.RemoveAll(work)
}

var (
	width         = regexp.MustCompile(`(int)\(\d+\)`)
	ownCollation  = regexp.MustCompile(` COLLATE utf8mb4_\w+`)
	nullOfText    = regexp.MustCompile("(`\\w+` text) DEFAULT NULL")
	columnInError = regexp.MustCompile("`\\w+`\\.`\\w+`\\.`(\\w+)`")
)

// plainSite is a line without what MariaDB shows in another form.
func plainSite(line string) string {
	line = width.ReplaceAllString(line, "$1")
	line = ownCollation.ReplaceAllString(line, "")
	line = nullOfText.ReplaceAllString(line, "$1")
	return columnInError.ReplaceAllString(line, "'$1'")
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	_ = l.Close() // the port is all that counts
	return port, err
}
