package infoschema

import (
	"crypto/tls"
	"strings"
)

// The status variables of TLS that each connection has.
const (
	tlsCipher  = "Ssl_cipher"
	tlsCiphers = "Ssl_cipher_list"
	tlsReused  = "Ssl_sessions_reused"
	tlsVersion = "Ssl_version"
)

// tlsVariables are their names in order.
var tlsVariables = []string{tlsCipher, tlsCiphers, tlsReused, tlsVersion}

// TLSStatus are the status variables of a connection that depend on its TLS, by name; st
// is nil for one without.
func TLSStatus(st *tls.ConnectionState) map[string]string {
	out := map[string]string{tlsCipher: "", tlsCiphers: "", tlsReused: "0", tlsVersion: ""}
	if st == nil {
		return out
	}
	out[tlsCipher] = tls.CipherSuiteName(st.CipherSuite)
	out[tlsCiphers] = out[tlsCipher]
	out[tlsVersion] = strings.Replace(tls.VersionName(st.Version), " ", "v", 1)
	if st.DidResume {
		out[tlsReused] = "1"
	}
	return out
}
