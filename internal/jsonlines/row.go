package jsonlines

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Row makes lines of tab-separated fields, with backslashes as escapes. Its methods are
// called by one goroutine at a time.
type Row struct {
	place         map[string]int
	values        []json.RawMessage
	ignoreUnknown bool
}

// NewRow makes a Row for fields of these names. Other keys are errors unless they are
// ignored.
func NewRow(fields []string, ignoreUnknown bool) *Row {
	r := &Row{place: make(map[string]int, len(fields)), values: make([]json.RawMessage, len(fields)), ignoreUnknown: ignoreUnknown}
	for i, f := range fields {
		r.place[f] = i
	}
	return r
}

// Append appends the line of an object to text. Errors say what is wrong with the record;
// text is unchanged then.
func (r *Row) Append(text, record []byte) ([]byte, error) {
	clear(r.values)
	if err := r.read(record); err != nil {
		return text, err
	}
	for i, v := range r.values {
		if i > 0 {
			text = append(text, '\t')
		}
		text = appendField(text, v)
	}
	return append(text, '\n'), nil
}

func (r *Row) read(record []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(record, &object); err != nil {
		return fmt.Errorf("not an object of JSON: %w", err)
	}
	if object == nil {
		return fmt.Errorf("not an object of JSON: null")
	}
	for key, v := range object {
		i, ok := r.place[key]
		if !ok {
			if r.ignoreUnknown {
				continue
			}
			return fmt.Errorf("unknown column '%s'", key)
		}
		r.values[i] = v
	}
	return nil
}

// appendField writes a JSON value as a field: text without its quotes, true and
// false as 1 and 0, objects and arrays as JSON.
func appendField(text []byte, v json.RawMessage) []byte {
	v = bytes.TrimSpace(v)
	switch {
	case len(v) == 0 || string(v) == "null":
		return append(text, `\N`...)
	case string(v) == "true":
		return append(text, '1')
	case string(v) == "false":
		return append(text, '0')
	case v[0] == '"':
		if bytes.IndexByte(v, '\\') < 0 {
			v = v[1 : len(v)-1]
			break
		}
		var s string
		if json.Unmarshal(v, &s) == nil { // it was part of valid JSON
			v = []byte(s)
		}
	}
	for _, c := range v {
		switch c {
		case '\\':
			text = append(text, `\\`...)
		case '\t':
			text = append(text, `\t`...)
		case '\n':
			text = append(text, `\n`...)
		case '\r':
			text = append(text, `\r`...)
		case 0:
			text = append(text, `\0`...)
		default:
			text = append(text, c)
		}
	}
	return text
}
