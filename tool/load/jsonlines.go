package load

import (
	"bytes"

	"github.com/sqlots/sqlots/internal/jsonlines"
)

// jsonText makes lines of tab-separated fields of lines of JSON. lines are the
// numbers of the JSON lines that the result's lines come from; what cannot be
// read is rejected.
func jsonText(data []byte, fields []string, ignoreUnknown bool) (text []byte, lines []int, bad []reject) {
	text = make([]byte, 0, len(data))
	row := jsonlines.NewRow(fields, ignoreUnknown)
	records(data, cutter{}, func(line int, rec []byte) bool {
		if len(bytes.TrimSpace(rec)) == 0 {
			return true
		}
		var err error
		if text, err = row.Append(text, rec); err != nil {
			bad = append(bad, reject{Line: line, Code: 3140, Message: err.Error()})
			return true
		}
		lines = append(lines, line)
		return true
	})
	return text, lines, bad
}
