package statement

import (
	"maps"

	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/introspect"
)

// Status implements infoschema.Session: what is the connection's own.
func (s *introspected) Status() map[string]string {
	m := introspect.SessionStatus(s.Metrics.Numbers())
	maps.Copy(m, infoschema.TLSStatus(s.Info.TLS))
	return m
}
