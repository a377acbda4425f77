package define

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Bounds and defaults of the attributes of a table.
const (
	defaultRetention = 24 * time.Hour
	maxRetention     = 10 * 365 * 24 * time.Hour
	maxVersions      = 1000
)

// SetAttributes gives a table what the text of SECONDARY_ENGINE_ATTRIBUTE says,
// in place of what it said before: 3981, 1235. A stream has no id yet.
func SetAttributes(t *schema.Table, text string) error {
	t.Attributes, t.Stream, t.MaxVersions, t.VersionRetention = text, nil, 0, 0
	if text == "" {
		return nil
	}
	var a map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return sqlerr.InvalidJSONAttribute(text)
	}
	for name, v := range a {
		var err error
		switch name {
		case "dynamic_columns":
			var on bool
			if json.Unmarshal(v, &on) != nil {
				err = sqlerr.InvalidAttribute(name, string(v), "true or false")
			}
		case "max_versions":
			t.MaxVersions, err = versionsAttribute(v)
		case "version_retention":
			ok := false
			if t.VersionRetention, ok = retention(v); !ok {
				err = sqlerr.InvalidAttribute(name, string(v), retentionForm)
			}
		case "stream":
			t.Stream, err = streamAttribute(v)
		default:
			err = sqlerr.InvalidJSONAttribute(text)
		}
		if err != nil {
			return err
		}
	}
	if t.VersionRetention > 0 && !t.KeepsVersions() {
		return sqlerr.InvalidAttribute("version_retention", string(a["version_retention"]), "of use without max_versions")
	}
	return nil
}

func versionsAttribute(v json.RawMessage) (int, error) {
	var n int
	if err := json.Unmarshal(v, &n); err != nil || n < 1 || n > maxVersions {
		return 0, sqlerr.InvalidAttribute("max_versions", string(v), "a number from 1 to "+strconv.Itoa(maxVersions))
	}
	return n, nil
}

// streamAttribute reads true, false, or {"retention": "24h", "max_bytes": "10G"}.
func streamAttribute(v json.RawMessage) (*schema.Stream, error) {
	s := &schema.Stream{Retention: int64(defaultRetention / time.Second)}
	switch strings.TrimSpace(string(v)) {
	case "true":
		return s, nil
	case "false", "null":
		return nil, nil
	}
	var a map[string]json.RawMessage
	if err := json.Unmarshal(v, &a); err != nil {
		return nil, sqlerr.InvalidAttribute("stream", string(v), "true, false or an object")
	}
	for name, v := range a {
		ok := false
		want := ""
		switch name {
		case "retention":
			want = retentionForm
			s.Retention, ok = retention(v)
		case "max_bytes":
			want = `a number of bytes such as 1000000 or "10G", at least 1024`
			s.MaxBytes, ok = byteCount(v)
		default:
			want = "retention and max_bytes"
			v = json.RawMessage(strconv.Quote(name))
		}
		if !ok {
			return nil, sqlerr.InvalidAttribute("stream."+name, string(v), want)
		}
	}
	return s, nil
}

const retentionForm = `a time such as "90s", "30m", "24h" or "7d", up to "3650d"`

// retention reads a time in seconds.
func retention(v json.RawMessage) (int64, bool) {
	var text string
	if json.Unmarshal(v, &text) != nil {
		return 0, false
	}
	return Duration(text)
}

// Duration reads a time in seconds, such as "90s", "30m", "1h30m" or "7d".
func Duration(text string) (int64, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, false
		}
		text = strconv.FormatUint(n*24, 10) + "h"
	}
	d, err := time.ParseDuration(text)
	return int64(d / time.Second), err == nil && d >= time.Second && d <= maxRetention
}

// byteCount reads a number of bytes, as MySQL's options take it: in a string it
// may be followed by K, M, G or T.
func byteCount(v json.RawMessage) (int64, bool) {
	var n int64
	if json.Unmarshal(v, &n) != nil {
		var text string
		if json.Unmarshal(v, &text) != nil || text == "" {
			return 0, false
		}
		shift := 0
		if i := strings.IndexByte("KMGT", text[len(text)-1]&^0x20); i >= 0 {
			text, shift = text[:len(text)-1], 10*(i+1)
		}
		var err error
		if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 || n > math.MaxInt64>>shift {
			return 0, false
		}
		n <<= shift
	}
	return n, n >= 1024
}
