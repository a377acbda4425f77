package parser

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Hints are written in MySQL's grammar, which is not TiDB's. What TiDB's parser
// finds in their place is one hint of its own that it takes, MERGE(a), whose
// table is the number of the comment. So the tree says to which query block the
// comment belongs.

// hintComment is the inside of a comment of hints in a text.
type hintComment struct{ at, end int }

// carryHints puts the number n of a comment of hints, src[start:end], in its
// place. One that has no room for it has only hints that change nothing.
func carryHints(out []byte, src string, start, end, n int) []byte {
	if out == nil {
		out = []byte(src)
	}
	body := out[start+3 : end-2]
	carrier := "MERGE(" + hintLetters(n) + ")"
	if strings.EqualFold(strings.TrimSpace(string(body)), "MERGE()") {
		return out
	}
	if len(body) < len(carrier) {
		out[start+2] = ' ' // a plain comment
		return out
	}
	at := len(body) - len(strings.TrimLeft(string(body), " \t\r\n"))
	if len(body)-at < len(carrier) {
		at = 0
	}
	for i := range body {
		if body[i] != '\n' {
			body[i] = ' '
		}
	}
	copy(body[at:], carrier)
	return out
}

// hintLetters is n in letters.
func hintLetters(n int) string {
	text := string(rune('a' + n%26))
	if n >= 26 {
		return hintLetters(n/26-1) + text
	}
	return text
}

// hintsOf gives the comments of hints by their number in letters.
func hintsOf(list []hintComment) map[string]hintComment {
	out := make(map[string]hintComment, len(list))
	for i, c := range list {
		out[hintLetters(i)] = c
	}
	return out
}

// hintReader puts the hints in the place of their numbers: the HintData of one
// TiDB hint of a block is a []Hint.
type hintReader struct {
	st       *Statement
	mode     types.SQLMode
	comments map[string]hintComment
}

// Enter implements ast.Visitor.
func (r *hintReader) Enter(n ast.Node) (ast.Node, bool) {
	if list := hintList(n); list != nil {
		r.read(list)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (r *hintReader) Leave(n ast.Node) (ast.Node, bool) {
	for _, h := range BlockHints(n) {
		if h.Name == "SET_VAR" {
			r.st.SetVars = append(r.st.SetVars, h)
		}
	}
	return n, true
}

// hintList is where a query block has its hints; nil for other nodes.
func hintList(n ast.Node) *[]*ast.TableOptimizerHint {
	switch x := n.(type) {
	case *ast.SelectStmt:
		return &x.TableHints
	case *ast.InsertStmt:
		return &x.TableHints
	case *ast.UpdateStmt:
		return &x.TableHints
	case *ast.DeleteStmt:
		return &x.TableHints
	}
	return nil
}

// BlockHints are the hints of a query block, nil for other nodes.
func BlockHints(n ast.Node) []Hint {
	if list := hintList(n); list != nil {
		return HintsOf(*list)
	}
	return nil
}

func (r *hintReader) read(list *[]*ast.TableOptimizerHint) {
	if len(*list) == 0 {
		return
	}
	first := (*list)[0]
	if _, done := first.HintData.([]Hint); done {
		return
	}
	var hints []Hint
	if len(first.Tables) == 0 {
		hints = []Hint{{Name: "MERGE"}}
	} else if c, ok := r.comments[first.Tables[0].TableName.O]; ok {
		var err *sqlerr.Error
		if hints, err = readHints(r.st.Text, c, r.mode); err != nil {
			r.st.Warnings = append(r.st.Warnings, err)
		}
	}
	*list = nil
	if len(hints) > 0 {
		*list = []*ast.TableOptimizerHint{{HintData: hints}}
		r.st.Hinted = true
	}
}

// HintsOf are the hints of a query block.
func HintsOf(list []*ast.TableOptimizerHint) []Hint {
	if len(list) == 0 {
		return nil
	}
	hints, _ := list[0].HintData.([]Hint)
	return hints
}

var maxTimeHint = regexp.MustCompile(`(?i)\bmax_execution_time\s*\(\s*([0-9]{1,9})\s*\)`)

// MaxExecutionTime is the limit, in milliseconds, that a hint gives a text that
// begins with SELECT; false if none exists.
func MaxExecutionTime(text string) (int, bool) {
	text = strings.TrimLeft(text, " \t\r\n(")
	if len(text) < 6 {
		return 0, false
	}
	text = strings.TrimLeft(text[6:], " \t\r\n")
	if !strings.HasPrefix(text, "/*+") {
		return 0, false
	}
	hints, _, _ := strings.Cut(text, "*/")
	m := maxTimeHint.FindStringSubmatch(hints)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
