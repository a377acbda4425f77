package parser

// TreeBytes is about how many bytes the tree of a text and the plan made of it take:
// it counts the tokens. Comments and texts in quotes count as one.
func TreeBytes(text string) int64 {
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
	return bytesOfToken * tokens
}

// bytesOfToken is measured: lists of numbers, of rows, chains of operators.
const bytesOfToken = 256
