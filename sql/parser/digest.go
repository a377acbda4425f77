package parser

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	tidb "github.com/pingcap/tidb/pkg/parser"

	"github.com/sqlots/sqlots/sql/types"
)

var reserved = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, k := range tidb.Keywords {
		if k.Reserved {
			words[strings.ToUpper(k.Word)] = true
		}
	}
	return words
})

// Digest is a statement in normal form, as MySQL's statement digests have it
// (MySQL manual 29.10), and the SHA-256 of that in hexadecimal: literals are ?,
// lists of them (...), rows of lists (...) /* , ... */, names quoted, reserved
// words in capitals, everything apart by one space. The text is not parsed.
func Digest(sql string, mode types.SQLMode) (digest, text string) {
	sql, _ = versionComments(sql, mode)
	s := newScanner(sql, mode)
	var out []string
	for {
		t := s.next()
		if t.kind == tokEnd || t.kind == tokBad {
			break
		}
		out = reduceDigest(append(out, digestToken(s.src[t.start:t.end], t.kind, len(out) == 0, &s)))
	}
	if n := len(out); n > 0 && out[n-1] == ";" {
		out = out[:n-1]
	}
	text = strings.Join(out, " ")
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]), text
}

// HiddenDigest is Digest with ? also for secrets that are no literals.
func HiddenDigest(sql string, mode types.SQLMode) (digest, text string) {
	if list := secrets(sql, mode); len(list) > 0 {
		sql = strings.ReplaceAll(cutOut(sql, 0, list), hidden, "?")
	}
	return Digest(sql, mode)
}

func digestToken(text string, kind tokenKind, first bool, s *scanner) string {
	switch kind {
	case tokString, tokNumber, tokParam:
		return "?"
	case tokQuoted:
		q := text[:1]
		return backQuoted(strings.ReplaceAll(text[1:len(text)-1], q+q, q))
	case tokWord:
		upper := strings.ToUpper(text)
		switch {
		case strings.HasPrefix(upper, "0X") || upper == "NULL" || upper == "TRUE" || upper == "FALSE":
			return "?"
		case first || reserved()[upper] || strings.HasPrefix(s.src[s.pos:], "(") && isFuncWord(upper):
			return upper
		}
		return backQuoted(text)
	}
	return text
}

func backQuoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// isFuncWord reports function names that MySQL's lexer knows.
func isFuncWord(w string) bool {
	switch w {
	case "COUNT", "SUM", "MIN", "MAX", "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "STD", "STDDEV", "VARIANCE", "GROUP_CONCAT", "NOW", "CURDATE",
		"CURTIME", "CAST", "EXTRACT", "POSITION", "SUBSTR", "SUBSTRING", "TRIM", "SYSDATE", "DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE", "MID":
		return true
	}
	return false
}

// reduceDigest takes signs of literals away and folds lists of literals and
// rows of such lists.
func reduceDigest(out []string) []string {
	for {
		n := len(out)
		tail := func(want ...string) bool {
			if n < len(want) {
				return false
			}
			for i, w := range want {
				if out[n-len(want)+i] != w {
					return false
				}
			}
			return true
		}
		switch {
		case n >= 3 && out[n-1] == "?" && (out[n-2] == "-" || out[n-2] == "+") && isDigestOperator(out[n-3]):
			out = append(out[:n-2], "?")
		case tail("(", "?", ",", "?"), tail("(", "...", ",", "?"):
			out = append(out[:n-3], "...")
		case tail("(", "...", ")"), tail("(", "?", ")") && n >= 4 && (out[n-4] == "VALUES" || out[n-4] == "IN" || out[n-4] == "VALUE" || out[n-4] == ","):
			out = append(out[:n-3], "(...)")
		case tail("(...)", ",", "(...)"), tail("(...)", "/* , ... */", ",", "(...)"):
			keep := n - 2
			if out[n-3] == "/* , ... */" {
				keep = n - 3
			}
			out = append(out[:keep], "/* , ... */")
		default:
			return out
		}
	}
}

// isDigestOperator reports that a sign after w belongs to a literal.
func isDigestOperator(w string) bool {
	switch w {
	case "(", ",", "=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "SELECT", "WHERE", "AND", "OR", "LIMIT", "BETWEEN", "WHEN", "THEN", "ELSE", "BY", "RETURN":
		return true
	}
	return false
}
