package slt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ParseError is a malformed place in a file.
type ParseError struct {
	File    string
	Line    int
	Message string
}

// Error gives file, line and message.
func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// Parser reads records from a stream. Single goroutine.
type Parser struct {
	name     string
	in       *bufio.Reader
	line     int
	keepText bool
	lead     strings.Builder // source since the end of the last record
	eof      bool
}

// NewParser reads from r; name is what errors call the file.
func NewParser(name string, r io.Reader) *Parser {
	return &Parser{name: name, in: bufio.NewReaderSize(r, 1<<18)}
}

func (p *Parser) errorf(format string, args ...any) error {
	return &ParseError{File: p.name, Line: p.line, Message: fmt.Sprintf(format, args...)}
}

// readLine returns the next line without its end (LF or CRLF), io.EOF after
// the last one.
func (p *Parser) readLine() (string, error) {
	if p.eof {
		return "", io.EOF
	}
	s, err := p.in.ReadString('\n')
	if err != nil {
		if !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading %s: %w", p.name, err)
		}
		p.eof = true
		if s == "" {
			return "", io.EOF
		}
	}
	p.line++
	if p.line == 1 {
		s = strings.TrimPrefix(s, "\ufeff")
	}
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r"), nil
}

func (p *Parser) keep(b *strings.Builder, line string) {
	if p.keepText {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// Next returns the next record, io.EOF at the end, or a *ParseError. The
// record stays valid after later calls.
func (p *Parser) Next() (*Record, error) {
	var conds []Condition
	for {
		line, err := p.readLine()
		if err != nil {
			if errors.Is(err, io.EOF) && len(conds) > 0 {
				return nil, p.errorf("condition without a record")
			}
			return nil, err
		}
		if isBlank(line) || line[0] == '#' {
			if isBlank(line) && len(conds) > 0 {
				return nil, p.errorf("condition without a record")
			}
			p.keep(&p.lead, line)
			continue
		}
		word, rest := cutWord(line)
		if word == "skipif" || word == "onlyif" {
			names := engineNames(rest)
			if len(names) == 0 {
				return nil, p.errorf("%s without a name", word)
			}
			conds = append(conds, Condition{Only: word == "onlyif", Names: names})
			p.keep(&p.lead, line)
			continue
		}
		rec := &Record{Line: p.line, Conditions: conds, Count: -1}
		rec.text.header = line
		if err := p.record(rec, word, rest); err != nil {
			return nil, err
		}
		rec.text.lead = p.lead.String()
		p.lead.Reset()
		return rec, nil
	}
}

// record fills rec from its header and the lines that follow.
func (p *Parser) record(rec *Record, word, rest string) error {
	switch word {
	case "statement":
		return p.statement(rec, rest)
	case "query":
		return p.query(rec, rest)
	case "halt":
		rec.Kind = KindHalt
		return nil
	case "hash-threshold":
		rec.Kind = KindHashThreshold
		n, err := strconv.Atoi(stripComment(rest))
		if err != nil || n < 0 {
			return p.errorf("hash-threshold needs a number, not %q", rest)
		}
		rec.N = n
		return nil
	case "encoding":
		rec.Kind = KindEncoding
		rec.Arg = stripComment(rest)
		if rec.Arg != "ascii" && rec.Arg != "utf8" {
			return p.errorf("encoding is ascii or utf8, not %q", rec.Arg)
		}
		return nil
	case "connection", "include":
		rec.Kind = KindConnection
		if word == "include" {
			rec.Kind = KindInclude
		}
		rec.Arg = stripComment(rest)
		if rec.Arg == "" {
			return p.errorf("%s needs an argument", word)
		}
		return nil
	}
	return p.errorf("unknown directive %q", word)
}

func (p *Parser) statement(rec *Record, rest string) error {
	rec.Kind = KindStatement
	word, arg := cutWord(rest)
	switch word {
	case "ok":
	case "error":
		spec, err := parseErrorSpec(arg)
		if err != nil {
			return p.errorf("%v", err)
		}
		rec.Error = spec
	case "count":
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || n < 0 {
			return p.errorf("statement count needs a number, not %q", arg)
		}
		rec.Count = n
	default:
		return p.errorf("statement must be ok, error or count, not %q", word)
	}
	sep, err := p.readSQL(rec)
	if err == nil && sep {
		return p.errorf("a statement has no result section")
	}
	return err
}

func (p *Parser) query(rec *Record, rest string) error {
	rec.Kind = KindQuery
	word, arg := cutWord(rest)
	if word == "error" {
		spec, err := parseErrorSpec(arg)
		if err != nil {
			return p.errorf("%v", err)
		}
		rec.Error = spec
		sep, err := p.readSQL(rec)
		if err == nil && sep {
			return p.errorf("a query that must fail has no result section")
		}
		return err
	}
	if word == "" || strings.Trim(word, "IRT") != "" {
		return p.errorf("column types must be of I, R and T, not %q", word)
	}
	rec.Types = word
	fields := strings.Fields(arg)
	if len(fields) > 2 {
		return p.errorf("too many words after the column types")
	}
	if len(fields) > 0 {
		mode, ok := sortModes()[fields[0]]
		if !ok {
			return p.errorf("unknown sort mode %q", fields[0])
		}
		rec.Sort = mode
	}
	if len(fields) > 1 {
		rec.Label = fields[1]
	}
	sep, err := p.readSQL(rec)
	if err != nil || !sep {
		return err
	}
	rec.HasResult = true
	return p.readExpected(rec)
}

func sortModes() map[string]SortMode {
	return map[string]SortMode{"nosort": NoSort, "rowsort": RowSort, "valuesort": ValueSort}
}

// readSQL reads up to a blank line or "----"; sep reports that it was the latter.
func (p *Parser) readSQL(rec *Record) (sep bool, err error) {
	var sql, src strings.Builder
	defer func() {
		rec.SQL = sql.String()
		rec.text.sql = src.String()
	}()
	for {
		line, err := p.readLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
		if isBlank(line) {
			rec.text.end = line + "\n"
			break
		}
		if strings.TrimSpace(line) == "----" {
			sep = true
			break
		}
		if sql.Len() > 0 {
			sql.WriteByte('\n')
		}
		sql.WriteString(line)
		p.keep(&src, line)
	}
	if sql.Len() == 0 {
		return false, p.errorf("a record without SQL")
	}
	return sep, nil
}

func (p *Parser) readExpected(rec *Record) error {
	for {
		line, err := p.readLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if isBlank(line) {
			rec.text.end = line + "\n"
			return nil
		}
		rec.Expected = append(rec.Expected, strings.TrimRight(line, " \t\r"))
	}
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

func stripComment(s string) string {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

func engineNames(s string) []string {
	return strings.FieldsFunc(stripComment(s), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
}
