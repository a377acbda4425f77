package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// grid is a result set as text, ready to print.
type grid struct {
	columns []string
	numeric []bool // right-aligned columns
	rows    [][]cell
}

// cell is one printed value.
type cell struct {
	text   string
	isNull bool
}

// String is what the cell prints as.
func (c cell) String() string {
	if c.isNull {
		return "NULL"
	}
	return c.text
}

// table prints g framed by lines, as MySQL's client does.
func (g *grid) table(w io.Writer) error {
	widths := make([]int, len(g.columns))
	for i, name := range g.columns {
		widths[i] = displayWidth(name)
	}
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], displayWidth(c.String()))
		}
	}
	b := bufio.NewWriter(w)
	rule := &strings.Builder{}
	for _, n := range widths {
		rule.WriteString("+" + strings.Repeat("-", n+2))
	}
	rule.WriteString("+\n")
	line := func(values func(i int) string, right func(i int) bool) {
		for i, n := range widths {
			v := values(i)
			pad := strings.Repeat(" ", n-displayWidth(v))
			if right(i) {
				v = pad + v
			} else {
				v += pad
			}
			b.WriteString("| " + v + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString(rule.String())
	line(func(i int) string { return g.columns[i] }, func(int) bool { return false })
	b.WriteString(rule.String())
	for _, row := range g.rows {
		line(func(i int) string { return row[i].String() }, func(i int) bool { return g.numeric[i] })
	}
	b.WriteString(rule.String())
	return b.Flush()
}

// vertical prints each value on a line of its own, for \G.
func (g *grid) vertical(w io.Writer) error {
	widest := 0
	for _, name := range g.columns {
		widest = max(widest, displayWidth(name))
	}
	b := bufio.NewWriter(w)
	for n, row := range g.rows {
		fmt.Fprintf(b, "*************************** %d. row ***************************\n", n+1)
		for i, c := range row {
			pad := strings.Repeat(" ", widest-displayWidth(g.columns[i]))
			fmt.Fprintf(b, "%s%s: %s\n", pad, g.columns[i], c)
		}
	}
	return b.Flush()
}

// tabs prints tab-separated lines with a header, for scripts. Tabs, line ends
// and backslashes within values are escaped, and nothing is printed for an
// empty set, as MySQL's client does.
func (g *grid) tabs(w io.Writer) error {
	if len(g.rows) == 0 {
		return nil
	}
	b := bufio.NewWriter(w)
	b.WriteString(strings.Join(g.columns, "\t") + "\n")
	escape := strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\x00", `\0`)
	for _, row := range g.rows {
		for i, c := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(escape.Replace(c.String()))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// displayWidth is the number of columns that s takes on a terminal: two for
// wide East Asian characters, none for combining marks.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < 0x300:
			n++
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		default:
			n++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
		}
	}
	return n
}
