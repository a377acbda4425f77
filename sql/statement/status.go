package statement

import (
	"crypto/tls"
	"strings"

	"github.com/sqlots/sqlots/sql/introspect"
)

// Status implements infoschema.Session: what is the connection's own.
func (s *introspected) Status() map[string]string {
	m := introspect.SessionStatus(s.Metrics.Numbers())
	if t := s.Info.TLS; t != nil {
		m["Ssl_cipher"] = tls.CipherSuiteName(t.CipherSuite)
		m["Ssl_cipher_list"] = m["Ssl_cipher"]
		m["Ssl_version"] = strings.Replace(tls.VersionName(t.Version), " ", "v", 1)
	}
	return m
}
