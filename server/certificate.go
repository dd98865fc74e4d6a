package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// statEvery is how often, at most, the files are looked at for a renewal.
const statEvery = time.Second

// certificates is the server's half of TLS, read from files, and read again by
// the next connection once one of them was replaced.
type certificates struct {
	cert, key string
	clientCA  string // empty where clients need no certificate
	logger    *slog.Logger

	mu      sync.Mutex
	config  *tls.Config // never changed once it was given out
	read    []state     // of the files, when they were read last
	checked time.Time
}

// state is what changes when a file is replaced.
type state struct {
	modified time.Time
	size     int64
}

// newCertificates reads the files for the first time. The error is a
// *ConfigError.
func newCertificates(c Config, logger *slog.Logger) (*certificates, error) {
	s := &certificates{cert: c.TLSCert, key: c.TLSKey, clientCA: c.TLSClientCA, logger: logger}
	states, err := s.states()
	if err == nil {
		s.config, err = s.load()
	}
	if err != nil {
		return nil, err
	}
	s.read, s.checked = states, time.Now()
	return s, nil
}

// serverConfig asks for the files anew at every connection.
func (s *certificates) serverConfig() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.current(), nil },
	}
}

// current is what the files say; while they are being replaced, or wrong, what
// they said before.
func (s *certificates) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.checked) < statEvery {
		return s.config
	}
	s.checked = time.Now()
	states, err := s.states()
	if err == nil && slices.Equal(states, s.read) {
		return s.config
	}
	var config *tls.Config
	if err == nil {
		config, err = s.load()
	}
	if err != nil {
		s.logger.Warn("certificate not renewed; the one before stays", "id", "certificate-not-renewed", "error", err)
		return s.config
	}
	s.config, s.read = config, states
	s.logger.Info("certificate renewed", "until", leaf(config).NotAfter)
	return config
}

func (s *certificates) states() ([]state, error) {
	files := []string{s.cert, s.key}
	if s.clientCA != "" {
		files = append(files, s.clientCA)
	}
	states := make([]state, len(files))
	for i, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			// As reading it would say.
			var path *os.PathError
			if errors.As(err, &path) {
				path.Op = "open"
			}
			return nil, &ConfigError{[]string{"tls-cert", "tls-key", "tls-client-ca"}[i], err}
		}
		states[i] = state{info.ModTime(), info.Size()}
	}
	return states, nil
}

func (s *certificates) load() (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		return nil, &ConfigError{"tls-cert", err}
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"},
	}
	if s.clientCA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(s.clientCA)
	if err != nil {
		return nil, &ConfigError{"tls-client-ca", err}
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, &ConfigError{"tls-client-ca", fmt.Errorf("no certificate in %s", s.clientCA)}
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	// A ticket would let a client in again whose authority is trusted no more.
	config.SessionTicketsDisabled = true
	return config, nil
}

// leaf is the server's own certificate.
func leaf(c *tls.Config) *x509.Certificate {
	if l := c.Certificates[0].Leaf; l != nil {
		return l
	}
	return &x509.Certificate{}
}
