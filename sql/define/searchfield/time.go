package searchfield

import (
	"regexp"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// timeText is how a text looks that is one time in each SQL mode and time zone.
var timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?)?$`)

// ElementTime is the time of type elem that a string in a document denotes, or
// that a scalar is; false for a string whose time depends on the SQL mode or time
// zone, or with more digits than the type has.
func ElementTime(elem *schema.Type, doc []byte) (value.Time, bool) {
	var t value.Time
	ok := false
	switch text, isText := value.JSONText(doc); {
	case isText && timeText.Match(text):
		var err error
		t, ok, err = types.ParseTime(&types.Env{}, text, types.DatetimeOf(6))
		ok = ok && err == nil
	case !isText:
		var d value.Datum
		if d, ok = value.JSONScalar(doc); ok && d.Kind() == value.KindTime {
			t = d.Time()
		}
	}
	switch {
	case !ok || t.Year() == 0 || t.HasZeroPart():
		return 0, false
	case elem.ID == schema.TypeDate:
		return t.Date(), true
	}
	return t, t == t.TruncateFSP(elem.Scale)
}

// TellsTime reports a string that no other string is equal in time to of those that
// are written so: as a value of type elem is shown.
func TellsTime(elem *schema.Type, doc []byte) bool {
	text, isText := value.JSONText(doc)
	t, ok := ElementTime(elem, doc)
	return isText && ok && string(types.AppendText(nil, *elem, value.TimeOf(t))) == string(text)
}
