package slt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// rewriter writes a file again next to the old one and then replaces it.
type rewriter struct {
	path string
	tmp  *os.File
	w    *bufio.Writer
}

func newRewriter(path string) (*rewriter, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("rewriting %s: %w", path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".slt-*")
	if err != nil {
		return nil, fmt.Errorf("rewriting %s: %w", path, err)
	}
	if err := tmp.Chmod(info.Mode().Perm()); err != nil {
		return nil, errors.Join(fmt.Errorf("rewriting %s: %w", path, err), tmp.Close(), os.Remove(tmp.Name()))
	}
	return &rewriter{path: path, tmp: tmp, w: bufio.NewWriter(tmp)}, nil
}

// write copies a record, whose text may have been changed. Errors of the
// buffered writer stay until finish.
func (w *rewriter) write(rec *Record) {
	t := &rec.text
	_, _ = w.w.WriteString(t.lead + t.header + "\n" + t.sql)
	if rec.HasResult {
		_, _ = w.w.WriteString("----\n")
		for _, line := range rec.Expected {
			_, _ = w.w.WriteString(line + "\n")
		}
	}
	_, _ = w.w.WriteString(t.end)
}

// finish copies what the parser has not delivered and replaces the file.
func (w *rewriter) finish(p *Parser) error {
	_, _ = w.w.WriteString(p.lead.String())
	_, copyErr := io.Copy(w.w, p.in)
	if err := errors.Join(copyErr, w.w.Flush(), w.tmp.Sync(), w.tmp.Close()); err != nil {
		return fmt.Errorf("rewriting %s: %w", w.path, err)
	}
	if err := os.Rename(w.tmp.Name(), w.path); err != nil {
		return fmt.Errorf("rewriting %s: %w", w.path, err)
	}
	w.tmp = nil
	return nil
}

// discard removes the new file unless finish has put it in place.
func (w *rewriter) discard() {
	if w.tmp != nil {
		_ = w.tmp.Close()
		_ = os.Remove(w.tmp.Name())
	}
}

// rewriteError puts the number into the header and keeps the pattern only if
// it still holds (the caller has checked a spec with both as one).
func rewriteError(rec *Record, number int) {
	head := "statement"
	if rec.Kind == KindQuery {
		head = "query"
	}
	rec.text.header = fmt.Sprintf("%s error %d", head, number)
	if rec.Error.Pattern != nil && len(rec.Error.Numbers) == 0 {
		rec.text.header += fmt.Sprintf(" /%s/", rec.Error.Pattern)
	}
}

// rewriteResult replaces the expected lines. Results of several columns are
// written row-wise, unless the file listed them value by value before.
func rewriteResult(rec *Record, res *result, threshold int) {
	byValue := res.cols < 2
	if !byValue && len(rec.Expected) > 0 && !isHashLine(rec.Expected) {
		_, tabs := splitRows(rec.Expected, res.cols, true)
		_, spaces := splitRows(rec.Expected, res.cols, false)
		byValue = !tabs && !spaces
	}
	rec.HasResult = true
	switch {
	case threshold > 0 && len(res.values) > threshold:
		rec.Expected = []string{hashLine(res.values)}
	case byValue:
		rec.Expected = res.values
	default:
		rec.Expected = joinRows(res.values, res.cols)
	}
	for i, line := range rec.Expected {
		rec.Expected[i] = strings.TrimRight(line, " ")
	}
}
