package sqlerr

// HintSyntax is 1064 for a comment of optimizer hints, a warning; near is the rest of
// the text from the error on.
func HintSyntax(near string, line int) *Error {
	return newError(1064, "42000", "Optimizer hint syntax error near '%s' at line %d", near, line)
}

// FromGrammar is an error that the grammar raises with a number and state of MySQL.
func FromGrammar(number uint16, state, message string) *Error {
	return newError(number, state, "%s", message)
}
