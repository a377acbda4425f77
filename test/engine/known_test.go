package engine

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// known is a difference that is understood.
type known struct {
	reason string
	// number is the error that the server gives, 0 if it answers, and -1 if
	// the section says nothing.
	number int
	line   int
}

// readKnown reads sections: a line "== outcome: reason", then the keys of
// differences, a line each. The outcome is "error 1235", "answers" or "any".
func readKnown(path string) (map[string]known, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]known{}
	var section *known
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "== "):
			if section, err = parseSection(line[3:]); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
		case section == nil:
			return nil, fmt.Errorf("%s:%d: an entry before the first section", path, n)
		default:
			if old, ok := out[line]; ok {
				return nil, fmt.Errorf("%s:%d: stands in line %d as well", path, n, old.line)
			}
			k := *section
			k.line = n
			out[line] = k
		}
	}
	return out, sc.Err()
}

func parseSection(text string) (*known, error) {
	outcome, reason, ok := strings.Cut(text, ": ")
	if !ok || reason == "" {
		return nil, fmt.Errorf("a section is \"== outcome: reason\"")
	}
	k := &known{reason: reason, number: -1}
	switch {
	case outcome == "any":
	case outcome == "answers":
		k.number = 0
	case strings.HasPrefix(outcome, "error "):
		n, err := strconv.Atoi(outcome[len("error "):])
		if err != nil {
			return nil, fmt.Errorf("%q is no error number", outcome)
		}
		k.number = n
	default:
		return nil, fmt.Errorf("%q is no outcome", outcome)
	}
	return k, nil
}

func (k known) covers(d difference) bool { return k.number == -1 || k.number == d.number }
