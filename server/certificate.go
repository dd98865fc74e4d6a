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

	// grpc are the protocols that clients of the port for gRPC may choose, in the
	// server's order.
	grpc []string

	mu     sync.Mutex
	config *tls.Config // for gRPC; never changed once it was handed out
	web    *tls.Config // for a listener for HTTP alone; likewise
	pems   [3]string   // the files' contents that config was made of
	readAt time.Time
}

// newCertificates reads the files for the first time. The error is a
// *ConfigError.
func newCertificates(c Config, logger *slog.Logger) (*certificates, error) {
	s := &certificates{cert: c.TLSCert, key: c.TLSKey, clientCA: c.TLSClientCA, logger: logger, grpc: []string{"h2"}, readAt: time.Now()}
	if c.Web == "" {
		// gRPC clients offer only h2. Browsers offer both and get HTTP/1.1.
		s.grpc = []string{"http/1.1", "h2"}
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// grpcConfig returns a configuration for gRPC's port that uses the current files for
// every connection.
func (s *certificates) grpcConfig() *tls.Config {
	return perClient(func() *tls.Config { config, _ := s.current(); return config })
}

// webConfig is grpcConfig for a listener for HTTP alone.
func (s *certificates) webConfig() *tls.Config {
	return perClient(func() *tls.Config { _, config := s.current(); return config })
}

func perClient(current func() *tls.Config) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return current(), nil },
	}
}

// current returns the configurations of the files. If they are invalid, as while they
// are being replaced, it returns those before.
func (s *certificates) current() (grpc, web *tls.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.readAt) < readEvery {
		return s.config, s.web
	}
	s.readAt = time.Now()
	before := s.config
	if err := s.read(); err != nil {
		s.logger.Warn("certificate not renewed; the one before stays", "id", "certificate-not-renewed", "error", err)
	} else if s.config != before {
		s.logger.Info("certificate renewed", "until", s.config.Certificates[0].Leaf.NotAfter)
	}
	return s.config, s.web
}

// read makes new configurations if the files changed. The error is a *ConfigError.
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
		// With a ticket, a client whose authority was removed could resume.
		config.SessionTicketsDisabled = true
	}
	s.config, s.web, s.pems = config, config.Clone(), pems
	s.web.NextProtos = []string{"h2", "http/1.1"}
	return nil
}
