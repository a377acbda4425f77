package slt

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Failure is one record that did not do what the file says.
type Failure struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	SQL    string `json:"sql"`
	Reason string `json:"reason"`
}

// String gives file and line, the SQL and the reason, over several lines.
func (f Failure) String() string {
	sql := f.SQL
	if len(sql) > 2000 {
		sql = sql[:2000] + " ..."
	}
	return fmt.Sprintf("%s:%d: %s\n  %s", f.File, f.Line, f.Reason, strings.ReplaceAll(sql, "\n", "\n  "))
}

// Report counts the records of one file.
type Report struct {
	File     string  `json:"file"`
	OK       int     `json:"ok"`
	Failed   int     `json:"failed"`
	Excepted int     `json:"excepted"`
	Skipped  int     `json:"skipped"`
	Seconds  float64 `json:"seconds"`
	// Stopped is true when MaxErrors ended the file.
	Stopped bool `json:"stopped,omitempty"`
	// Error is why the file could not be run to its end.
	Error string `json:"error,omitempty"`
	// Exceptions are those of Options.Exceptions that let records pass.
	Exceptions []Excepted `json:"exceptions,omitempty"`
	// Failures are the first of them, see Options.KeepFailures.
	Failures []Failure `json:"failures,omitempty"`
}

// Passed reports that the file ran to its end and no record failed.
func (r Report) Passed() bool { return r.Failed == 0 && r.Error == "" }

func (r Report) line() string {
	verdict := "ok    "
	if !r.Passed() {
		verdict = "FAILED"
	}
	s := fmt.Sprintf("%s %s: %d ok, %d failed, %d excepted, %d skipped, %.2f s",
		verdict, r.File, r.OK, r.Failed, r.Excepted, r.Skipped, r.Seconds)
	if r.Stopped {
		s += " (stopped)"
	}
	return s
}

// Summary is what the command prints as JSON.
type Summary struct {
	Engines  []string `json:"engines"`
	Protocol string   `json:"protocol"`
	Files    int      `json:"files"`
	Passed   int      `json:"files_passed"`
	OK       int      `json:"ok"`
	Failed   int      `json:"failed"`
	Excepted int      `json:"excepted"`
	Skipped  int      `json:"skipped"`
	Seconds  float64  `json:"seconds"`
	Reports  []Report `json:"reports"`
}

// Add counts the report of one more file.
func (s *Summary) Add(r Report) {
	s.Files++
	if r.Passed() {
		s.Passed++
	}
	s.OK += r.OK
	s.Failed += r.Failed
	s.Excepted += r.Excepted
	s.Skipped += r.Skipped
	s.Reports = append(s.Reports, r)
}

// exceptions lists what let records pass, a line each.
func (s *Summary) exceptions() []string {
	var out []string
	for _, r := range s.Reports {
		for _, e := range r.Exceptions {
			out = append(out, fmt.Sprintf("excepted %s: %d records, %s: %s", e.File, e.Records, e.Outcome, e.Reason))
		}
	}
	return out
}

// String gives the exceptions that were met, a line each, and the totals.
func (s *Summary) String() string {
	return strings.Join(append(s.exceptions(), s.line()), "\n")
}

func (s *Summary) line() string {
	rate := 0.0
	if s.Seconds > 0 {
		rate = float64(s.OK+s.Failed) / s.Seconds
	}
	return fmt.Sprintf("%d files, %d passed: %d records ok, %d failed, %d excepted, %d skipped in %.2f s (%.0f/s, %s protocol)",
		s.Files, s.Passed, s.OK, s.Failed, s.Excepted, s.Skipped, s.Seconds, rate, s.Protocol)
}

func (s *Summary) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	return nil
}
