package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/charset"

	"github.com/sqlots/sqlots/collate"
)

// IntroducerFunc is the function as which the shim writes a literal with an
// introducer that TiDB's grammar does not take (_gbk'…', _cp1250 x'…'): the name
// of the character set and the literal.
const IntroducerFunc = "__sqlots_introducer"

// isHexOrBit reports 0x… and 0b….
func isHexOrBit(text string) bool {
	return len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b')
}

func (h *shim) introducers() {
	for i := 0; i+1 < len(h.toks); i++ {
		word := strings.ToLower(h.text(i))
		if h.toks[i].kind != tokWord || !strings.HasPrefix(word, "_") || h.op(i-1, ".") {
			continue
		}
		if _, known := collate.DefaultForCharset(word[1:]); !known {
			continue
		}
		if _, err := charset.GetDefaultCollationLegacy(word[1:]); err == nil {
			continue
		}
		last := i + 1
		if w := h.word(last); (w == "X" || w == "B") && last+1 < len(h.toks) && h.toks[last+1].kind == tokString {
			last++ // x'…'
		}
		if h.toks[last].kind != tokString && !isHexOrBit(h.text(last)) {
			continue
		}
		h.replace(i, i, IntroducerFunc+"('"+word[1:]+"',")
		h.insertAfter(last, ")")
	}
}
