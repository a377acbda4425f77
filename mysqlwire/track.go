package mysqlwire

// The kinds of session changes in an OK packet (MySQL Client/Server Protocol,
// Session State Information).
const (
	trackSystemVariable = 0
	trackSchema         = 1
	trackState          = 2
)

// StateChange is a change of a session: of a system variable, or, without a
// Name, of the session as a whole.
type StateChange struct{ Name, Value string }

// stateChanges are the changes since the last OK packet, encoded; empty when
// the client does not want them.
func (c *conn) stateChanges() []byte {
	var list []StateChange
	schema := true
	if c.tracker != nil {
		list, schema = c.tracker.StateChanges(), c.tracker.TracksSchema()
	}
	if !c.caps.has(capSessionTrack) {
		return nil
	}
	var out []byte
	for _, x := range list {
		if x.Name == "" {
			out = appendLenEncBytes(append(out, trackState), appendLenEncString(nil, "1"))
			continue
		}
		pair := appendLenEncString(appendLenEncString(nil, x.Name), x.Value)
		out = appendLenEncBytes(append(out, trackSystemVariable), pair)
	}
	if c.databaser == nil || c.databaser.Database() == c.database {
		return out
	}
	c.database = c.databaser.Database()
	if schema {
		out = appendLenEncBytes(append(out, trackSchema), appendLenEncString(nil, c.database))
	}
	return out
}
