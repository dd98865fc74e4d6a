package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// readEvery is the minimum interval between two reads of the files.
const readEvery = time.Second

// certificates provides the server's TLS configuration from files. When a new connection
// needs the configuration, certificates rereads the files if the last read was more than a
// second ago.
type certificates struct {
	cert, key string
	clientCA  string // empty if clients need no certificate
	logger    *slog.Logger

	mu     sync.Mutex
	config *tls.Config // never modified once returned
	pems   [3]string   // contents of the files that config was created from
	readAt time.Time
}

// newCertificates reads the files for the first time. The error is a *ConfigError.
func newCertificates(c Config, logger *slog.Logger) (*certificates, error) {
	s := &certificates{cert: c.TLSCert, key: c.TLSKey, clientCA: c.TLSClientCA, logger: logger, readAt: time.Now()}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// configFor returns a configuration that uses the current files for each new connection.
// Clients may choose among the given protocols, which are in the server's order of
// preference.
func (s *certificates) configFor(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			config := s.current().Clone()
			config.NextProtos = protocols
			return config, nil
		},
	}
}

// current returns the current configuration. If the files are invalid, for example while
// they are being replaced, it returns the previous one.
func (s *certificates) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.readAt) < readEvery {
		return s.config
	}
	s.readAt = time.Now()
	before := s.config
	if err := s.read(); err != nil {
		s.logger.Warn("certificate not renewed; the previous one stays in use", "id", "certificate-not-renewed", "error", err)
	} else if s.config != before {
		s.logger.Info("certificate renewed", "until", s.config.Certificates[0].Leaf.NotAfter)
	}
	return s.config
}

// read creates a new configuration if the files have changed. The error is a *ConfigError.
func (s *certificates) read() error {
	var pems [3]string
	for i, file := range []string{s.cert, s.key, s.clientCA} {
		if file == "" {
			continue
		}
		pem, err := os.ReadFile(file)
		if err != nil {
			return &ConfigError{[]string{"tls-cert", "tls-key", "tls-client-ca"}[i], err}
		}
		pems[i] = string(pem)
	}
	if pems == s.pems {
		return nil
	}
	certificate, err := tls.X509KeyPair([]byte(pems[0]), []byte(pems[1]))
	if err != nil {
		return &ConfigError{"tls-cert", err}
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if s.clientCA != "" {
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM([]byte(pems[2])) {
			return &ConfigError{"tls-client-ca", fmt.Errorf("no certificate in %s", s.clientCA)}
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		// A session ticket would let a client resume a session after the authority that
		// signed its certificate was removed.
		config.SessionTicketsDisabled = true
	}
	s.config, s.pems = config, pems
	return nil
}
