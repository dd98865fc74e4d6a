package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// readEvery is the minimum interval between two reads of the files.
const readEvery = time.Second

// certificates provides the server's certificate from files. When a new connection needs it,
// certificates rereads the files if the last read was more than a second ago.
type certificates struct {
	cert, key string
	logger    *slog.Logger

	// reading is true while a connection reads the files. That connection holds no lock, so
	// that other connections do not wait for the disk.
	reading atomic.Bool
	readAt  time.Time // only used by the connection that set reading

	warning     rate.Sometimes                  // An expired certificate may stay for days.
	certificate atomic.Pointer[tls.Certificate] // never modified once stored
}

// newCertificates reads the files for the first time. The error is a *ConfigError.
func newCertificates(c Config, logger *slog.Logger) (*certificates, error) {
	s := &certificates{
		cert: c.TLSCert, key: c.TLSKey, logger: logger, readAt: time.Now(), warning: rate.Sometimes{Interval: logEvery},
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// current returns the current certificate. If the files are invalid, for example while they
// are being replaced, or if another connection is reading them, it returns the previous one.
func (s *certificates) current() *tls.Certificate {
	if s.reading.CompareAndSwap(false, true) {
		defer s.reading.Store(false)
		s.renew()
	}
	return s.certificate.Load()
}

// renew rereads the files if the last read was more than a second ago. Only one call may run
// at a time.
func (s *certificates) renew() {
	if time.Since(s.readAt) < readEvery {
		return
	}
	s.readAt = time.Now()
	before := s.certificate.Load()
	if err := s.read(); err != nil {
		s.warning.Do(func() {
			s.logger.Warn("certificate not renewed; the previous one stays in use", "id", "certificate-not-renewed", "error", err)
		})
	} else if now := s.certificate.Load(); !now.Leaf.Equal(before.Leaf) {
		s.logger.Info("certificate renewed", "until", now.Leaf.NotAfter)
	}
}

// read reads the files. It rejects a certificate that has expired, except at the start: browsers let people
// continue. The error is a *ConfigError.
func (s *certificates) read() error {
	certificate, err := tls.LoadX509KeyPair(s.cert, s.key)
	if unreadable, ok := errors.AsType[*fs.PathError](err); ok && unreadable.Path != s.cert {
		return &ConfigError{"tls-key", err}
	} else if err != nil {
		return &ConfigError{"tls-cert", err}
	}
	if until := certificate.Leaf.NotAfter; s.certificate.Load() != nil && time.Now().After(until) {
		return &ConfigError{"tls-cert", fmt.Errorf("the certificate expired at %s", until.Format(time.RFC3339))}
	}
	s.certificate.Store(&certificate)
	return nil
}
