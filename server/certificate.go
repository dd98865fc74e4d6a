package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/internal/periodic"
)

// readEvery is the interval between two reads of the files.
const readEvery = time.Second

// certificates provides the server's certificate from files. It rereads the files every second, so that
// connections never wait for the disk.
type certificates struct {
	cert, key string
	logger    *slog.Logger

	warning     rate.Sometimes                  // An expired certificate may stay for days.
	certificate atomic.Pointer[tls.Certificate] // never modified once stored
}

// newCertificates reads the files for the first time. The error is a *ConfigError.
func newCertificates(c Config, logger *slog.Logger) (*certificates, error) {
	s := &certificates{cert: c.TLSCert, key: c.TLSKey, logger: logger, warning: rate.Sometimes{Interval: logEvery}}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// run rereads the files until ctx is done.
func (s *certificates) run(ctx context.Context) { periodic.Run(ctx, readEvery, s.renew) }

// renew rereads the files. If they are invalid, for example while they are being replaced, the previous
// certificate stays in use.
func (s *certificates) renew() {
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
