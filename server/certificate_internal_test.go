//go:build unix

package server

import (
	"crypto/tls"
	"log/slog"
	"os"
	"syscall"
	"testing"
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
