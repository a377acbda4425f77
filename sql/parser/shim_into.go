package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/types"
)

// IntoFile is INTO OUTFILE and INTO DUMPFILE of a query.
type IntoFile struct {
	// Option is the file with FIELDS and LINES.
	Option *ast.SelectIntoOption
	// Dump is INTO DUMPFILE: one row, without formatting.
	Dump bool
	// Charset is that of CHARACTER SET, "" without.
	Charset string
}

// intoFile takes INTO OUTFILE and INTO DUMPFILE out of a query, where they are
// allowed in several places, and keeps them as a statement of their own for
// TiDB's grammar, which knows one of these places.
func (h *shim) intoFile() bool {
	for i := range h.toks {
		what := h.word(i + 1)
		if h.word(i) != "INTO" || what != "OUTFILE" && what != "DUMPFILE" || i+2 >= len(h.toks) || h.toks[i+2].kind != tokString || h.around[i] >= 0 {
			continue
		}
		f := &IntoFile{Dump: what == "DUMPFILE"}
		text := "SELECT 1 INTO OUTFILE " + h.text(i+2)
		end := i + 2
		if what == "OUTFILE" {
			next := end + 1
			if h.words(next, "CHARACTER", "SET") {
				next++
			}
			if next > end+1 || h.word(next) == "CHARSET" {
				f.Charset = strings.ToLower(h.name(next + 1))
				end = next + 1
			}
			from := end + 1
			end = h.formatEnd(from)
			if end >= from {
				text += " " + h.src[h.toks[from].start:h.toks[end].end]
			}
		}
		h.blank(i, end)
		h.into, h.intoText = f, text
		return true
	}
	return false
}

// formatEnd is the last token of FIELDS … LINES … from token i on; i-1 without.
func (h *shim) formatEnd(i int) int {
	for ; i < len(h.toks); i++ {
		switch h.word(i) {
		case "FIELDS", "COLUMNS", "LINES", "TERMINATED", "ENCLOSED", "ESCAPED", "OPTIONALLY", "STARTING":
		case "BY":
			i++ // and its text
		default:
			return i - 1
		}
	}
	return min(i, len(h.toks)) - 1
}

// parseInto parses what intoFile kept.
func (p *Parser) parseInto(h *shim, mode types.SQLMode) error {
	if h.into == nil {
		return nil
	}
	n, err := p.run(h.st, h.intoText, mode)
	if err != nil {
		return parseError(h.intoText, err, mode)
	}
	if s, ok := n.(*ast.SelectStmt); ok {
		h.into.Option = s.SelectIntoOpt
	}
	h.st.File = h.into
	return nil
}
