package parser

import "strings"

// TreeBytes is about how many bytes the tree of a text and the plan made of it take:
// it counts the tokens. Comments and texts in quotes count as one.
func TreeBytes(text string) int64 {
	each := int64(bytesOfToken)
	if isInsert(text) {
		each = bytesOfValue
	}
	tokens := int64(0)
	for i := 0; i < len(text); tokens++ {
		c := text[i]
		i++
		switch {
		case isWordByte(c):
			for i < len(text) && isWordByte(text[i]) {
				i++
			}
		case c == '\'' || c == '"' || c == '`':
			for i < len(text) && text[i] != c {
				if text[i] == '\\' && c != '`' {
					i++
				}
				i++
			}
			i++
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			tokens--
		}
	}
	return each * tokens
}

// What a token takes, as measured: in lists of numbers and chains of operators, and
// among the rows of an INSERT, which have no tree.
const (
	bytesOfToken = 256
	bytesOfValue = 96
)

func isInsert(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, word := range []string{"INSERT", "REPLACE"} {
		if len(text) > len(word) && strings.EqualFold(text[:len(word)], word) && !isWordByte(text[len(word)]) {
			return true
		}
	}
	return false
}
