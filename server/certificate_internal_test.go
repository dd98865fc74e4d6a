package server

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
)

// Ensure that the log says when the certificate has expired, and that no expired one replaces it.
func TestCertificates_Expired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		authority := tlstest.NewAuthority(t)
		expired, key := authority.Issue(t) // for an hour
		time.Sleep(time.Hour)              //nolint:forbidigo // The bubble's clock is fake.
		var c Config
		c.TLSCert, c.TLSKey = authority.Issue(t)
		used := authority.Renew(t, c.TLSCert, c.TLSKey)
		var log bytes.Buffer
		s, err := newCertificates(c, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		read := func(wait time.Duration) string {
			time.Sleep(wait) //nolint:forbidigo // as above
			log.Reset()
			s.renew()
			assert.Equal(t, used.SerialNumber, s.certificate.Load().Leaf.SerialNumber)
			return log.String()
		}

		s.cert, s.key = expired, key
		assert.Contains(t, read(time.Minute), "id=certificate-not-renewed error=\"--tls-cert: the certificate expired at 2000-01-01T01:00:00Z\"")
		assert.Empty(t, read(logEvery-1), "a warning a minute")
		assert.NotEmpty(t, read(readEvery))
		s.cert, s.key = c.TLSCert, c.TLSKey
		assert.Empty(t, read(time.Minute))
		assert.Contains(t, read(time.Hour), "the certificate expired at 2000-01-01T02:00:00Z")
		used = authority.Renew(t, c.TLSCert, c.TLSKey)
		assert.Contains(t, read(time.Minute), "certificate renewed")

		_, err = newCertificates(Config{TLSCert: expired, TLSKey: key}, slog.New(slog.DiscardHandler))
		assert.NoError(t, err, "a start with an expired certificate")
	})
}
