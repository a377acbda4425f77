package slt

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// result is what a query returned, formatted, row after row.
type result struct {
	cols   int
	values []string
}

// sortBy orders the values for comparison.
func (r *result) sortBy(mode SortMode) {
	switch mode {
	case RowSort:
		sortRows(r.values, r.cols)
	case ValueSort:
		sort.Strings(r.values)
	}
}

// sortRows sorts rows of n values each, bytewise column by column.
func sortRows(values []string, n int) {
	if n == 0 || len(values) <= n {
		return
	}
	if n == 1 {
		sort.Strings(values)
		return
	}
	sort.Stable(&rowSorter{values: values, n: n})
}

type rowSorter struct {
	values []string
	n      int
}

func (s *rowSorter) Len() int { return len(s.values) / s.n }

func (s *rowSorter) Less(i, j int) bool {
	a, b := s.values[i*s.n:(i+1)*s.n], s.values[j*s.n:(j+1)*s.n]
	for k := range a {
		if a[k] != b[k] {
			return a[k] < b[k]
		}
	}
	return false
}

func (s *rowSorter) Swap(i, j int) {
	for k := 0; k < s.n; k++ {
		a, b := i*s.n+k, j*s.n+k
		s.values[a], s.values[b] = s.values[b], s.values[a]
	}
}

// hashValues is the MD5 of all values, each followed by a newline, in hex.
func hashValues(values []string) string {
	h := md5.New()
	buf := make([]byte, 0, 4096)
	for _, v := range values {
		if len(buf)+len(v) >= cap(buf) {
			h.Write(buf)
			buf = buf[:0]
		}
		buf = append(append(buf, v...), '\n')
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}

func hashLine(values []string) string {
	return strconv.Itoa(len(values)) + " values hashing to " + hashValues(values)
}

func isHashLine(lines []string) bool {
	if len(lines) != 1 {
		return false
	}
	n, rest, ok := strings.Cut(lines[0], " values hashing to ")
	if !ok || len(rest) != 2*md5.Size {
		return false
	}
	_, err := strconv.Atoi(n)
	return err == nil
}

// compare returns "" when the result is the expected one, otherwise a
// description of the difference.
func (r *result) compare(rec *Record) string {
	if isHashLine(rec.Expected) {
		got := hashLine(r.values)
		if got == rec.Expected[0] {
			return ""
		}
		return "expected " + rec.Expected[0] + "\n     got " + got + sample(r)
	}
	if r.cols < 2 {
		if equalLines(rec.Expected, r.values) {
			return ""
		}
		return diff(rec.Expected, r.values)
	}
	if rows, ok := splitRows(rec.Expected, r.cols, true); ok {
		return r.compareRows(rec, rows)
	}
	if equalLines(rec.Expected, r.values) {
		return ""
	}
	if rows, ok := splitRows(rec.Expected, r.cols, false); ok {
		return r.compareRows(rec, rows)
	}
	return diff(rec.Expected, r.values)
}

func (r *result) compareRows(rec *Record, want []string) string {
	switch rec.Sort {
	case RowSort:
		sortRows(want, r.cols)
	case ValueSort:
		sort.Strings(want)
	}
	if equalLines(want, r.values) {
		return ""
	}
	return diff(joinRows(want, r.cols), joinRows(r.values, r.cols))
}

// splitRows reads lines as rows of n fields; ok is false unless every line
// is one. Fields are separated by single tabs, or else by white space.
func splitRows(lines []string, n int, tabs bool) (values []string, ok bool) {
	if len(lines) == 0 {
		return nil, false
	}
	values = make([]string, 0, len(lines)*n)
	for _, line := range lines {
		var fields []string
		if tabs {
			fields = strings.Split(line, "\t")
		} else {
			fields = strings.Fields(line)
		}
		if len(fields) != n {
			return nil, false
		}
		values = append(values, fields...)
	}
	return values, true
}

func joinRows(values []string, n int) []string {
	out := make([]string, 0, len(values)/n)
	for i := 0; i+n <= len(values); i += n {
		out = append(out, strings.Join(values[i:i+n], "\t"))
	}
	return out
}

// equalLines compares without regard to blanks at the end of a value, which
// editors and the dialect's own reader remove.
func equalLines(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && strings.TrimRight(want[i], " ") != strings.TrimRight(got[i], " ") {
			return false
		}
	}
	return true
}

const diffLines = 12

// diff shows both sides from a little before their first difference.
func diff(want, got []string) string {
	first := 0
	for first < len(want) && first < len(got) && equalLines(want[first:first+1], got[first:first+1]) {
		first++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "expected %d lines, got %d; first difference at line %d", len(want), len(got), first+1)
	from := max(0, first-2)
	for _, l := range want[min(from, len(want)):first] {
		b.WriteString("\n    " + l)
	}
	writeSide(&b, "\n  - ", want, first)
	writeSide(&b, "\n  + ", got, first)
	return b.String()
}

func writeSide(b *strings.Builder, mark string, lines []string, from int) {
	for i := from; i < len(lines); i++ {
		if i == from+diffLines {
			fmt.Fprintf(b, "%s... %d more", mark, len(lines)-i)
			return
		}
		b.WriteString(mark + lines[i])
	}
}

func sample(r *result) string {
	var b strings.Builder
	if r.cols > 0 {
		writeSide(&b, "\n  + ", joinRows(r.values, r.cols), 0)
	}
	return b.String()
}
