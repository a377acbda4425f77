package parser

import (
	"regexp"
	"strconv"
	"strings"
)

// hintNames are MySQL's index hints that TiDB's grammar does not take, and
// hints of the same form, no longer, that it takes. None of these is a hint of
// MySQL but NO_ORDER_INDEX, which has no meaning here.
var hintNames = []struct{ name, as string }{
	{"NO_INDEX_MERGE", "NO_ORDER_INDEX"},
	{"INDEX_MERGE", "FORCE_INDEX"},
	{"NO_SKIP_SCAN", "IGNORE_INDEX"},
	{"SKIP_SCAN", "USE_INDEX"},
	{"JOIN_FIXED_ORDER", "STRAIGHT_JOIN"},
}

// idleHints are MySQL's hints about what this planner does not choose between:
// they are taken without a word, as MySQL takes them, and change nothing.
var idleHints = map[string]bool{
	"BKA": true, "NO_BKA": true, "BNL": true, "NO_BNL": true, "HASH_JOIN": true, "NO_HASH_JOIN": true,
	"MRR": true, "NO_MRR": true, "NO_ICP": true, "NO_RANGE_OPTIMIZATION": true,
	"DERIVED_CONDITION_PUSHDOWN": true, "NO_DERIVED_CONDITION_PUSHDOWN": true,
}

// IsIdleHint reports a hint of MySQL that means nothing here.
func IsIdleHint(name string) bool { return idleHints[strings.ToUpper(name)] }

// ignoredHint is the name of the hint that a warning of the parser is about,
// "" if it is about something else.
func ignoredHint(warning string) string {
	_, name, ok := strings.Cut(warning, "[parser:8061]Optimizer hint ")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, " ")
	return HintName(name)
}

var maxTimeHint = regexp.MustCompile(`(?i)\bmax_execution_time\s*\(\s*([0-9]{1,9})\s*\)`)

// MaxExecutionTime is the limit, in milliseconds, that a hint gives a text that
// begins with SELECT; false if there is none.
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

// HintName is MySQL's name of a hint in the parser's tree.
func HintName(inTree string) string {
	for _, h := range hintNames {
		if strings.EqualFold(h.as, inTree) {
			return h.name
		}
	}
	return strings.ToUpper(inTree)
}

// translateHints writes the names of hints in the comment src[start:end] as
// the grammar takes them, and those that would be taken for them as unknown
// ones. out is the changed text, nil as long as nothing changed.
func translateHints(out []byte, src string, start, end int) []byte {
	if !strings.HasPrefix(src[start:], "/*+") {
		return out
	}
	for i := start + 3; i < end; {
		if !isNameByte(src[i]) {
			i++
			continue
		}
		from := i
		for i < end && isNameByte(src[i]) {
			i++
		}
		to := ""
		for _, h := range hintNames {
			switch {
			case strings.EqualFold(src[from:i], h.name):
				to = h.as + strings.Repeat(" ", len(h.name)-len(h.as))
			case strings.EqualFold(src[from:i], h.as) && strings.HasPrefix(strings.TrimLeft(src[i:end], " \t\r\n"), "("):
				to = "MRR" + strings.Repeat(" ", len(h.as)-3) // a hint without effect
			}
		}
		if to != "" {
			if out == nil {
				out = []byte(src)
			}
			copy(out[from:], to)
		}
	}
	return out
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
