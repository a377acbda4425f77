package session

import (
	"testing"
)

// A text with nothing but comments is no error (scripts and dumps send them),
// one with nothing at all is 1065.
func TestCommentsAlone(t *testing.T) {
	s := testSession(t)
	for sql, want := range map[string]int{
		"": 1065, " ;": 1065,
		"/* x */": 0, "-- x": 0, "# x\n": 0, "/*!99999 x */": 0, "/*M!100203 SELECT broken */ ;": 0, "/*! SELECT 1 */": 0, "/*! SELEC */": 1064,
	} {
		if got := s.errorOf(sql); got != want {
			t.Errorf("%q: %d, want %d", sql, got, want)
		}
	}
}
