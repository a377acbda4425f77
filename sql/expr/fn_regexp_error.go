package expr

import (
	"errors"
	"unicode/utf8"

	"github.com/dlclark/regexp2/syntax"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// regexpError gives an error of the pattern the number that MySQL gives ICU's
// error for the same mistake (MySQL 8.4, Server Error Message Reference,
// ER_REGEXP_*).
func regexpError(err error, pattern string) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return sqlerr.RegexpIllegalArgument()
	}
	switch e.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrUnterminatedComment:
		return sqlerr.RegexpParenthesis()
	case syntax.ErrMissingBrace:
		return sqlerr.RegexpInterval()
	case syntax.ErrInvalidRepeatSize:
		return sqlerr.RegexpMaxLessThanMin()
	case syntax.ErrCaptureGroupOutOfRange, syntax.ErrUndefinedBackRef, syntax.ErrUndefinedNameRef, syntax.ErrMalformedNameRef:
		return sqlerr.RegexpBackReference()
	case syntax.ErrUnterminatedBracket:
		return sqlerr.RegexpBracket()
	case syntax.ErrReversedCharRange, syntax.ErrInvalidCharRange, syntax.ErrBadClassInCharRange:
		return sqlerr.RegexpRange()
	case syntax.ErrIllegalEndEscape, syntax.ErrUnrecognizedEscape, syntax.ErrTooFewHex, syntax.ErrInvalidHex,
		syntax.ErrMissingControl, syntax.ErrUnrecognizedControl:
		return sqlerr.RegexpEscape()
	case syntax.ErrMalformedSlashP, syntax.ErrIncompleteSlashP, syntax.ErrUnknownSlashP:
		return sqlerr.RegexpIllegalArgument()
	case syntax.ErrInvalidGroupName, syntax.ErrCapNumNotZero:
		return sqlerr.RegexpGroupName()
	case syntax.ErrMissingRepeatArgument:
		return sqlerr.RegexpSyntax(1 + danglingRepeat(pattern))
	}
	return sqlerr.RegexpSyntax(utf8.RuneCountInString(pattern))
}

// danglingRepeat is the position of the first repetition without an operand, in
// characters from 0.
func danglingRepeat(pattern string) int {
	at, operand := 0, false
	for _, r := range pattern {
		switch r {
		case '*', '+', '?':
			if !operand {
				return at
			}
		case '(', '|', '^':
			operand = false
		default:
			operand = true
		}
		at++
	}
	return max(at-1, 0)
}
