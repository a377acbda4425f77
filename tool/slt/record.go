package slt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a record does.
type Kind int

// The kinds of records.
const (
	KindStatement Kind = iota
	KindQuery
	KindHalt
	KindHashThreshold
	KindEncoding
	KindConnection
	KindInclude
)

// SortMode is how results are ordered before they are compared.
type SortMode int

// The sort modes, in the order of strictness.
const (
	NoSort SortMode = iota
	RowSort
	ValueSort
)

// Condition is one skipif or onlyif line.
type Condition struct {
	// Only is true for onlyif.
	Only bool
	// Names are the engine names on the line; any of them matches.
	Names []string
}

// holds reports whether the record under the condition runs on an engine that goes by
// these names.
func (c Condition) holds(engines []string) bool {
	match := slices.ContainsFunc(c.Names, func(n string) bool { return slices.Contains(engines, n) })
	return match == c.Only
}

// Record is one record of a file.
type Record struct {
	Kind       Kind
	Line       int // of the header, counted from 1
	Conditions []Condition

	// SQL is the statement or query, its lines joined by newlines.
	SQL string
	// Error is what a failing statement or query must fail with; nil when it
	// must succeed.
	Error *ErrorSpec
	// Count is the number of affected rows demanded, -1 when none is.
	Count int64

	// Types has one of I, R and T for each column of a query.
	Types string
	Sort  SortMode
	Label string
	// HasResult is true when "----" is present; Expected are the lines after it.
	HasResult bool
	Expected  []string

	// Arg is the argument of connection, include and encoding; N that of hash-threshold.
	Arg string
	N   int

	text recordText
}

// recordText holds the source of a record in pieces, for rewriting: the lines
// before the header, the header, the SQL and the blank line at the end.
type recordText struct {
	lead, header, sql, end string
}

// runs reports whether all conditions hold.
func (r *Record) runs(engines []string) bool {
	for _, c := range r.Conditions {
		if !c.holds(engines) {
			return false
		}
	}
	return true
}

// ErrorSpec is an expected error. The zero value accepts every error.
type ErrorSpec struct {
	// Numbers are the accepted MySQL error numbers; empty accepts all.
	Numbers []int
	// Pattern must match the message, if it is not nil.
	Pattern *regexp.Regexp
}

// parseErrorSpec reads what follows "error" in a header.
func parseErrorSpec(s string) (*ErrorSpec, error) {
	spec := &ErrorSpec{}
	s = strings.TrimSpace(s)
	first, rest, _ := strings.Cut(s, " ")
	if numbers, ok := parseNumbers(first); ok {
		spec.Numbers = numbers
		s = strings.TrimSpace(rest)
	}
	if len(s) >= 2 && s[0] == '/' && s[len(s)-1] == '/' {
		s = s[1 : len(s)-1]
	}
	if s == "" {
		return spec, nil
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, fmt.Errorf("expected error: %w", err)
	}
	spec.Pattern = re
	return spec, nil
}

func parseNumbers(s string) ([]int, bool) {
	var out []int
	for _, part := range strings.Split(s, "|") {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return nil, false
		}
		out = append(out, int(n))
	}
	return out, true
}

// check returns "" when the error is an expected one, otherwise the reason.
func (s *ErrorSpec) check(number int, message string) string {
	if len(s.Numbers) > 0 && !slices.Contains(s.Numbers, number) {
		return fmt.Sprintf("expected error %s, got error %d: %s", joinInts(s.Numbers), number, message)
	}
	if s.Pattern != nil && !s.Pattern.MatchString(message) {
		return fmt.Sprintf("expected an error matching /%s/, got error %d: %s", s.Pattern, number, message)
	}
	return ""
}

func joinInts(ns []int) string {
	parts := make([]string, len(ns))
	for i, n := range ns {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, "|")
}
