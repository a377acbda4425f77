package main

import "strings"

// statement is one piece of a script.
type statement struct {
	text     string
	vertical bool // ended by \G
	line     int  // where it starts, from 1
}

// splitter cuts text into statements at ; \g and \G outside of quotes and comments. It
// is fed line by line, so that a shell can prompt for more.
type splitter struct {
	buf []byte
	// state is 0, the quote that is open, '*' in a block comment or '#' in a
	// comment to the end of the line.
	state      byte
	hasContent bool
	line       int // lines fed
	start      int // line where the statement starts
}

// add takes one line with its end and returns the statements that it
// completes.
func (s *splitter) add(text string) []statement {
	var out []statement
	s.line++
	for i := 0; i < len(text); i++ {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		width := 1
		switch s.state {
		case 0:
			if c == ';' || c == '\\' && (next == 'g' || next == 'G') {
				out = s.emit(out, next == 'G' && c == '\\')
				if c == '\\' {
					i++
				}
				continue
			}
			if c == '\\' && next == 'c' {
				s.reset()
				i++
				continue
			}
			width = s.open(text, i)
		case '\'', '"':
			if c == '\\' && next != 0 {
				width = 2
			} else if c == s.state {
				s.state = 0
			}
		case '`':
			if c == '`' {
				s.state = 0
			}
		case '*':
			if c == '*' && next == '/' {
				s.state, width = 0, 2
			}
		case '#':
			if c == '\n' {
				s.state = 0
			}
		}
		s.buf = append(s.buf, text[i:i+width]...)
		i += width - 1
	}
	return out
}

// open looks at a character outside of quotes and comments and returns how
// many bytes belong together.
func (s *splitter) open(text string, i int) int {
	rest := text[i:]
	switch c := text[i]; {
	case strings.HasPrefix(rest, "/*"):
		s.state = '*'
		// Hints and version comments are for the server to read.
		if len(rest) > 2 && (rest[2] == '!' || rest[2] == '+') {
			s.mark()
		}
		return 2
	case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
		s.state = '#'
	case c == '\'' || c == '"' || c == '`':
		s.mark()
		s.state = c
	case c > ' ':
		s.mark()
	}
	return 1
}

func (s *splitter) mark() {
	if !s.hasContent {
		s.hasContent, s.start = true, s.line
	}
}

func (s *splitter) emit(out []statement, vertical bool) []statement {
	if s.hasContent {
		out = append(out, statement{strings.TrimSpace(string(s.buf)), vertical, s.start})
	}
	s.reset()
	return out
}

func (s *splitter) reset() {
	s.buf, s.state, s.hasContent = s.buf[:0], 0, false
}

// rest gives an unfinished statement at the end of the input, if there is one.
func (s *splitter) rest() []statement { return s.emit(nil, false) }

// isBlank reports that no statement has been begun.
func (s *splitter) isBlank() bool { return !s.hasContent && s.state == 0 }
