package slt

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Exception is a record whose expectation is not MySQL's. It names what MySQL
// does instead; any other outcome of the record is still a failure.
type Exception struct {
	// File is the end of the file's path, in whole names.
	File string
	// First and Last are lines of the record's header; both are 0 for every
	// record of the file that has the outcome.
	First, Last int
	// Number is MySQL's error, 0 when the statement succeeds.
	Number int
	Reason string
}

// Excepted counts the records that one exception let pass.
type Excepted struct {
	File    string `json:"file"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Records int    `json:"records"`
}

// ParseExceptions reads one exception a line: the end of the file's path, a
// line, a range of lines or *, "ok" or an error number, and the reason. Empty
// lines and those that begin with # are comments.
func ParseExceptions(name string, in io.Reader) ([]Exception, error) {
	var out []Exception
	sc := bufio.NewScanner(in)
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		e, err := parseException(strings.Fields(text))
		if err != nil {
			return nil, &ParseError{File: name, Line: line, Message: err.Error()}
		}
		out = append(out, e)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return out, nil
}

func parseException(fields []string) (Exception, error) {
	if len(fields) < 4 {
		return Exception{}, fmt.Errorf("an exception has a file, lines, an outcome and a reason")
	}
	e := Exception{File: fields[0], Reason: strings.Join(fields[3:], " ")}
	if fields[1] != "*" {
		from, to, isRange := strings.Cut(fields[1], "-")
		if !isRange {
			to = from
		}
		var err error
		if e.First, err = strconv.Atoi(from); err != nil || e.First < 1 {
			return e, fmt.Errorf("%q is no line", from)
		}
		if e.Last, err = strconv.Atoi(to); err != nil || e.Last < e.First {
			return e, fmt.Errorf("%q is no last line", to)
		}
	}
	if fields[2] != "ok" {
		n, err := strconv.ParseUint(fields[2], 10, 16)
		if err != nil || n == 0 {
			return e, fmt.Errorf("%q is neither ok nor an error number", fields[2])
		}
		e.Number = int(n)
	}
	return e, nil
}

func (e *Exception) outcome() string {
	if e.Number == 0 {
		return "succeeds"
	}
	return fmt.Sprintf("error %d", e.Number)
}

// isFor reports whether the exception is for the file.
func (e *Exception) isFor(path string) bool {
	path = filepath.ToSlash(path)
	return path == e.File || strings.HasSuffix(path, "/"+e.File)
}

func (e *Exception) covers(line int) bool {
	return e.First == 0 || e.First <= line && line <= e.Last
}

// exceptions are those of one file's run.
type exceptions struct {
	list []Exception
	used []int
}

func exceptionsFor(path string, all []Exception) exceptions {
	var x exceptions
	for _, e := range all {
		if e.isFor(path) {
			x.list = append(x.list, e)
		}
	}
	x.used = make([]int, len(x.list))
	return x
}

// allows reports whether a failed record is excepted: an unexpected error, or a success
// where the file demands an error.
func (x *exceptions) allows(rec *Record, err error) bool {
	number, _ := errorNumber(err)
	if err != nil && number == 0 || err == nil && rec.Error == nil {
		return false
	}
	for i := range x.list {
		if e := &x.list[i]; e.Number == number && e.covers(rec.Line) {
			x.used[i]++
			return true
		}
	}
	return false
}

func (x *exceptions) counts() []Excepted {
	var out []Excepted
	for i := range x.list {
		if e := &x.list[i]; x.used[i] > 0 {
			out = append(out, Excepted{File: e.File, Outcome: e.outcome(), Reason: e.Reason, Records: x.used[i]})
		}
	}
	return out
}

// unused gives the exceptions that let nothing pass.
func (x *exceptions) unused() []Exception {
	var out []Exception
	for i, e := range x.list {
		if x.used[i] == 0 {
			out = append(out, e)
		}
	}
	return out
}
