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

	// grpc contains the protocols that clients of the gRPC port may choose, in the
	// server's order of preference.
	grpc []string

	mu     sync.Mutex
	config *tls.Config // for gRPC; never modified once returned
	web    *tls.Config // for an HTTP-only listener; never modified once returned
	pems   [3]string   // contents of the files that config was created from
	readAt time.Time
}

// newCertificates reads the files for the first time. The error is a *ConfigError.
func newCertificates(c Config, logger *slog.Logger) (*certificates, error) {
	s := &certificates{cert: c.TLSCert, key: c.TLSKey, clientCA: c.TLSClientCA, logger: logger, grpc: []string{"h2"}, readAt: time.Now()}
	if c.Web == "" {
		// gRPC clients offer only h2. Browsers offer h2 and http/1.1, and get http/1.1.
		s.grpc = []string{"http/1.1", "h2"}
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// grpcConfig returns a configuration for the gRPC port that uses the current files for
// each new connection.
func (s *certificates) grpcConfig() *tls.Config {
	return perClient(func() *tls.Config { config, _ := s.current(); return config })
}

// webConfig is like grpcConfig but for an HTTP-only listener.
func (s *certificates) webConfig() *tls.Config {
	return perClient(func() *tls.Config { _, config := s.current(); return config })
}

func perClient(current func() *tls.Config) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return current(), nil },
	}
}

// current returns the current configurations. If the files are invalid, for example while
// they are being replaced, it returns the previous ones.
func (s *certificates) current() (grpc, web *tls.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.readAt) < readEvery {
		return s.config, s.web
	}
	s.readAt = time.Now()
	before := s.config
	if err := s.read(); err != nil {
		s.logger.Warn("certificate not renewed; the previous one stays in use", "id", "certificate-not-renewed", "error", err)
	} else if s.config != before {
		s.logger.Info("certificate renewed", "until", s.config.Certificates[0].Leaf.NotAfter)
	}
	return s.config, s.web
}

// read creates new configurations if the files have changed. The error is a *ConfigError.
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
		NextProtos: s.grpc,
	}
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
	s.config, s.web, s.pems = config, config.Clone(), pems
	s.web.NextProtos = []string{"h2", "http/1.1"}
	return nil
}
