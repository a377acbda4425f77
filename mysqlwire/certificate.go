package mysqlwire

import (
	"crypto/tls"
	"encoding/asn1"
	"fmt"
	"strings"
)

// Requirements are what an account requires of its connections: the clause REQUIRE.
type Requirements struct {
	TLS bool
	// Certificate is that the client has a certificate of an authority that the server
	// knows. Issuer and Subject are names as OpenSSL prints them on one line
	// (/C=SE/O=MySQL/CN=client), Cipher is the name of a cipher; "" for any.
	Certificate             bool
	Cipher, Issuer, Subject string
}

// refusal is why a connection does not meet the requirements; "" if it does.
func (r *Requirements) refusal(st *tls.ConnectionState) string {
	if *r == (Requirements{}) {
		return ""
	}
	if st == nil {
		return "account requires TLS"
	}
	if r.Cipher != "" && r.Cipher != tls.CipherSuiteName(st.CipherSuite) && r.Cipher != openSSLName(st.CipherSuite) {
		return "account requires another cipher"
	}
	if !r.Certificate && r.Issuer == "" && r.Subject == "" {
		return ""
	}
	if len(st.VerifiedChains) == 0 {
		return "account requires a certificate"
	}
	cert := st.VerifiedChains[0][0]
	switch {
	case r.Issuer != "" && r.Issuer != oneLine(cert.RawIssuer):
		return "account requires another issuer of the certificate"
	case r.Subject != "" && r.Subject != oneLine(cert.RawSubject):
		return "account requires another subject of the certificate"
	}
	return ""
}

// openSSLName is a cipher's name as OpenSSL and MySQL know it, such as
// ECDHE-RSA-AES128-GCM-SHA256.
func openSSLName(id uint16) string {
	name := tls.CipherSuiteName(id)
	exchange, cipher, old := strings.Cut(name, "_WITH_")
	if !old {
		return name // of TLS 1.3
	}
	cipher = strings.NewReplacer("AES_", "AES", "_CBC", "", "POLY1305_SHA256", "POLY1305", "_", "-").Replace(cipher)
	if exchange == "TLS_RSA" {
		return cipher
	}
	return strings.ReplaceAll(strings.TrimPrefix(exchange, "TLS_"), "_", "-") + "-" + cipher
}

// attribute is a part of a name in a certificate.
type attribute struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

// attributeSET is read as a set: package asn1 goes by the end of the name.
type attributeSET []attribute

// oneLine is a name as OpenSSL's X509_NAME_oneline prints it; "" if it cannot be read.
func oneLine(name []byte) string {
	var parts []attributeSET
	if rest, err := asn1.Unmarshal(name, &parts); err != nil || len(rest) > 0 {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		for _, a := range p {
			key := attributeNames[a.Type.String()]
			if key == "" {
				key = a.Type.String()
			}
			b.WriteString("/" + key + "=")
			for _, c := range a.Value.Bytes {
				switch {
				case c < ' ' || c > '~':
					fmt.Fprintf(&b, `\x%02X`, c)
				case c == '/' || c == '+':
					b.WriteString(`\` + string(rune(c)))
				default:
					b.WriteByte(c)
				}
			}
		}
	}
	return b.String()
}

// attributeNames are OpenSSL's short names.
var attributeNames = map[string]string{
	"2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST",
	"2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.13": "description",
	"2.5.4.15": "businessCategory", "2.5.4.17": "postalCode", "2.5.4.41": "name", "2.5.4.42": "GN", "2.5.4.43": "initials",
	"2.5.4.44": "generationQualifier", "2.5.4.46": "dnQualifier", "2.5.4.65": "pseudonym", "2.5.4.97": "organizationIdentifier",
	"1.2.840.113549.1.9.1": "emailAddress", "1.2.840.113549.1.9.2": "unstructuredName",
	"0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
	"1.3.6.1.4.1.311.60.2.1.1": "jurisdictionL", "1.3.6.1.4.1.311.60.2.1.2": "jurisdictionST", "1.3.6.1.4.1.311.60.2.1.3": "jurisdictionC",
}
