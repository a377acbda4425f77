package load

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// jsonText makes lines of tab-separated fields of lines of JSON. lines are the
// numbers of the JSON lines that the result's lines come from; what cannot be
// read is rejected.
func jsonText(data []byte, fields []string, ignoreUnknown bool) (text []byte, lines []int, bad []reject) {
	text = make([]byte, 0, len(data))
	place := make(map[string]int, len(fields))
	for i, f := range fields {
		place[f] = i
	}
	row := make([]json.RawMessage, len(fields))
	records(data, cutter{}, func(line int, rec []byte) bool {
		if len(bytes.TrimSpace(rec)) == 0 {
			return true
		}
		clear(row)
		if err := jsonRow(rec, place, row, ignoreUnknown); err != nil {
			bad = append(bad, reject{Line: line, Code: 3140, Message: err.Error()})
			return true
		}
		for i, v := range row {
			if i > 0 {
				text = append(text, '\t')
			}
			text = appendField(text, v)
		}
		text = append(text, '\n')
		lines = append(lines, line)
		return true
	})
	return text, lines, bad
}

func jsonRow(rec []byte, place map[string]int, row []json.RawMessage, ignoreUnknown bool) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(rec, &object); err != nil {
		return fmt.Errorf("not an object of JSON: %w", err)
	}
	if object == nil {
		return fmt.Errorf("not an object of JSON: null")
	}
	for key, v := range object {
		i, ok := place[key]
		if !ok {
			if ignoreUnknown {
				continue
			}
			return fmt.Errorf("unknown column '%s'", key)
		}
		row[i] = v
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
