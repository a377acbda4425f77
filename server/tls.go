package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/sqlots/sqlots/value"
)

func loadTLS(cfg Config) (*tls.Config, error) {
	if cfg.TLSCert == "" && cfg.TLSKey == "" {
		if cfg.TLSCA != "" {
			return nil, errors.New("--tls-ca needs --tls-cert and --tls-key")
		}
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if cfg.TLSCA == "" {
		return c, nil
	}
	pem, err := os.ReadFile(cfg.TLSCA)
	if err != nil {
		return nil, fmt.Errorf("TLS certificates of authorities: %w", err)
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !c.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("TLS certificates of authorities: %s has none in PEM", cfg.TLSCA)
	}
	return c, nil
}

// reloadTLS is engine.Config.ReloadTLS.
func (s *Server) reloadTLS(rollback bool) error {
	c, err := loadTLS(s.cfg)
	if c == nil && err == nil {
		err = errors.New("the server has been started without a certificate")
	}
	if err == nil || !rollback {
		s.wire.SetTLS(c)
		s.httpTLS.Store(c)
		s.showTLS(c)
	}
	return err
}

// showTLS sets the variables that say whether there is TLS.
func (s *Server) showTLS(c *tls.Config) {
	have := "DISABLED"
	if c != nil {
		have = "YES"
	}
	for _, name := range []string{"have_ssl", "have_openssl"} {
		s.engine.Globals.Set(name, value.String(have))
	}
}
