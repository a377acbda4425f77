package parser

import (
	"strings"

	"github.com/sqlots/sqlots/sql/types"
)

// AfterWith is the verb of a statement that begins with WITH, in upper case:
// SELECT, also for VALUES and TABLE, UPDATE or DELETE; "" when it cannot be
// found.
func AfterWith(text string) string {
	s := newScanner(text, types.SQLMode(0))
	depth := 0
	for {
		t := s.next()
		word := text[t.start:t.end]
		switch {
		case t.kind == tokEnd || t.kind == tokBad:
			return ""
		case t.kind == tokOp && word == "(":
			depth++
		case t.kind == tokOp && word == ")":
			depth--
		case t.kind == tokWord && depth == 0:
			switch w := strings.ToUpper(word); w {
			case "SELECT", "UPDATE", "DELETE":
				return w
			case "VALUES", "TABLE":
				return "SELECT"
			}
		}
	}
}
