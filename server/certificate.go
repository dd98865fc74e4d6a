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

// readEvery is how often, at most, the files are read.
const readEvery = time.Second

// certificates is the server's TLS configuration, read from files. A new connection
// reads them again if that was not done in the last second.
type certificates struct {
	cert, key string
	clientCA  string // empty if clients need no certificate
	logger    *slog.Logger

	mu     sync.Mutex
	config *tls.Config // never changed once it was handed out
	pems   [3]string   // the files' contents that config was made of
	readAt time.Time
}

// newCertificates reads the files for the first time. The error is a
// *ConfigError.
func newCertificates(c Config, logger *slog.Logger) (*certificates, error) {
	s := &certificates{cert: c.TLSCert, key: c.TLSKey, clientCA: c.TLSClientCA, logger: logger, readAt: time.Now()}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// serverConfig returns a configuration that calls current for every connection.
func (s *certificates) serverConfig() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.current(), nil },
	}
}

// current returns the configuration of the files. If they are invalid, as while they
// are being replaced, it returns the one before.
func (s *certificates) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.readAt) < readEvery {
		return s.config
	}
	s.readAt = time.Now()
	before := s.config
	if err := s.read(); err != nil {
		s.logger.Warn("certificate not renewed; the one before stays", "id", "certificate-not-renewed", "error", err)
	} else if s.config != before {
		s.logger.Info("certificate renewed", "until", s.config.Certificates[0].Leaf.NotAfter)
	}
	return s.config
}

// read makes a new configuration if the files changed. The error is a *ConfigError.
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
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
		// gRPC clients offer only h2. Browsers offer both and get HTTP/1.1.
		NextProtos: []string{"http/1.1", "h2"},
	}
	if s.clientCA != "" {
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM([]byte(pems[2])) {
			return &ConfigError{"tls-client-ca", fmt.Errorf("no certificate in %s", s.clientCA)}
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		// With a ticket, a client whose authority was removed could resume.
		config.SessionTicketsDisabled = true
	}
	s.config, s.pems = config, pems
	return nil
}
