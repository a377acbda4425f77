package session

import (
	"strings"

	"github.com/sqlots/sqlots/mysqlwire"
)

var _ mysqlwire.StateTracker = (*Session)(nil)

// TracksSchema implements mysqlwire.StateTracker: session_track_schema.
func (s *Session) TracksSchema() bool { return s.Vars.Number("session_track_schema") != 0 }

// StateChanges implements mysqlwire.StateTracker: the variables of
// session_track_system_variables that were set (MySQL 8.4, Server Tracking of
// Client Session State).
func (s *Session) StateChanges() []mysqlwire.StateChange {
	names := s.Vars.Changed
	if len(names) == 0 {
		return nil
	}
	s.Vars.Changed = nil
	var out []mysqlwire.StateChange
	if s.Vars.Number("session_track_state_change") != 0 {
		out = append(out, mysqlwire.StateChange{})
	}
	tracked := map[string]bool{}
	for _, n := range strings.Split(s.Vars.Text("session_track_system_variables"), ",") {
		tracked[strings.ToLower(strings.TrimSpace(n))] = true
	}
	told := map[string]bool{}
	for _, n := range names {
		if told[n] || !tracked[n] && !tracked["*"] {
			continue
		}
		told[n] = true
		v, d, err := s.Vars.Get("", n)
		if err != nil {
			continue
		}
		out = append(out, mysqlwire.StateChange{Name: d.Name, Value: d.Text(v)})
	}
	return out
}
