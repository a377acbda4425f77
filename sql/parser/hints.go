package parser

import "strings"

// hintNames are MySQL's index hints that TiDB's grammar does not take, and
// hints of the same form and length that it takes. None of these is a hint of
// MySQL but NO_ORDER_INDEX, which has no meaning here.
var hintNames = []struct{ name, as string }{
	{"NO_INDEX_MERGE", "NO_ORDER_INDEX"},
	{"INDEX_MERGE", "FORCE_INDEX"},
	{"NO_SKIP_SCAN", "IGNORE_INDEX"},
	{"SKIP_SCAN", "USE_INDEX"},
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
				to = h.as
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
