package slt

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// IsArchive reports by its name whether Unpack reads a file.
func IsArchive(path string) bool {
	for _, end := range []string{".tar", ".tar.gz", ".tgz", ".tar.xz"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// Unpack writes the *.test files of a tar archive below dir. Those packed by
// xz need the program of that name.
func Unpack(ctx context.Context, path, dir string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	switch {
	case strings.HasSuffix(path, ".xz"):
		cmd := exec.CommandContext(ctx, "xz", "-dc")
		cmd.Stdin = f
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("unpacking %s: %w", path, err)
		}
		err = untar(out, dir)
		_, drainErr := io.Copy(io.Discard, out) // so that xz ends
		return errors.Join(err, drainErr, cmd.Wait())
	case strings.HasSuffix(path, "gz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", path, err)
		}
		return untar(z, dir)
	}
	return untar(f, dir)
}

func untar(in io.Reader, dir string) (err error) {
	root, err := os.OpenRoot(dir) // keeps names such as ../x inside
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for t := tar.NewReader(in); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpacking: %w", err)
		}
		if h.Typeflag != tar.TypeReg || filepath.Ext(h.Name) != ".test" {
			continue
		}
		if err := writeUnpacked(root, filepath.FromSlash(h.Name), t); err != nil {
			return fmt.Errorf("unpacking %s: %w", h.Name, err)
		}
	}
}

func writeUnpacked(root *os.Root, name string, in io.Reader) (err error) {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, in)
	return err
}
