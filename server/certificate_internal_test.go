//go:build unix

package server

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that connections get the previous certificate while another connection reads the files
// from a disk that does not answer.
func TestCertificates_SlowDisk(t *testing.T) {
	t.Parallel()
	authority := tlstest.NewAuthority(t)
	var c Config
	c.TLSCert, c.TLSKey = authority.Issue(t)
	old := authority.Renew(t, c.TLSCert, c.TLSKey)
	s, err := newCertificates(c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	s.readAt = time.Time{}

	// A read of a pipe waits for a writer.
	require.NoError(t, os.Remove(c.TLSCert))
	require.NoError(t, syscall.Mkfifo(c.TLSCert, 0o600))
	current := func() <-chan *tls.Certificate {
		got := make(chan *tls.Certificate, 1)
		go func() { got <- s.current() }()
		return got
	}
	await := func(got <-chan *tls.Certificate) *tls.Certificate {
		return waittest.Receive(t, "a certificate that does not wait for the disk", got)
	}
	reader := current()
	disk, err := os.OpenFile(c.TLSCert, os.O_WRONLY, 0) // waits for the reader
	require.NoError(t, err)
	assert.Equal(t, old.SerialNumber, await(current()).Leaf.SerialNumber)

	file, key := authority.Issue(t)
	renewed := authority.Renew(t, file, key)
	require.NoError(t, os.Rename(key, c.TLSKey)) // the reader reads the key after the certificate
	pem, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Rename(file, c.TLSCert)) // for later readers
	_, err = disk.Write(pem)
	require.NoError(t, err)
	require.NoError(t, disk.Close())
	assert.Equal(t, renewed.SerialNumber, await(reader).Leaf.SerialNumber)
	assert.Equal(t, renewed.SerialNumber, await(current()).Leaf.SerialNumber)
}

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
			assert.Equal(t, used.SerialNumber, s.current().Leaf.SerialNumber)
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
