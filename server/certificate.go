package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
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

	// reading is true while a connection reads the files. That connection holds no lock, so
	// that other connections do not wait for the disk.
	reading atomic.Bool
	readAt  time.Time // only used by the connection that set reading
	pems    pems      // the same; the contents of the files that config was created from

	config atomic.Pointer[tls.Config] // never modified once stored
}

// pems contains the contents of the certificate's, the key's and the authorities' file.
type pems [3]string

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
// they are being replaced, or if another connection is reading them, it returns the previous
// one.
func (s *certificates) current() *tls.Config {
	if s.reading.CompareAndSwap(false, true) {
		defer s.reading.Store(false)
		s.renew()
	}
	return s.config.Load()
}

// renew rereads the files if the last read was more than a second ago. Only one call may run
// at a time.
func (s *certificates) renew() {
	if time.Since(s.readAt) < readEvery {
		return
	}
	s.readAt = time.Now()
	before := s.config.Load()
	if err := s.read(); err != nil {
		s.logger.Warn("certificate not renewed; the previous one stays in use", "id", "certificate-not-renewed", "error", err)
	} else if now := s.config.Load(); now != before {
		s.logger.Info("certificate renewed", "until", now.Certificates[0].Leaf.NotAfter)
	}
}

// read creates a new configuration if the files have changed. The error is a *ConfigError.
func (s *certificates) read() error {
	var read pems
	for i, file := range []string{s.cert, s.key, s.clientCA} {
		if file == "" {
			continue
		}
		pem, err := os.ReadFile(file)
		if err != nil {
			return &ConfigError{[]string{"tls-cert", "tls-key", "tls-client-ca"}[i], err}
		}
		read[i] = string(pem)
	}
	if read == s.pems {
		return nil
	}
	certificate, err := tls.X509KeyPair([]byte(read[0]), []byte(read[1]))
	if err != nil {
		return &ConfigError{"tls-cert", err}
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if s.clientCA != "" {
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM([]byte(read[2])) {
			return &ConfigError{"tls-client-ca", fmt.Errorf("no certificate in %s", s.clientCA)}
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		// A session ticket would let a client resume a session after the authority that
		// signed its certificate was removed.
		config.SessionTicketsDisabled = true
	}
	s.config.Store(config)
	s.pems = read
	return nil
}
