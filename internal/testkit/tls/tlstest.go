// Package tlstest issues certificates for tests. Only tests import it.
package tlstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority is a certificate authority for one test.
type Authority struct {
	// File is the path of the authority's certificate, in PEM, which clients or servers must trust.
	File string

	certificate *x509.Certificate
	key         crypto.Signer
}

// NewAuthority creates an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t)}
	template := template("authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a.certificate = a.sign(t, template, template, a.key.Public())
	a.File = filepath.Join(t.TempDir(), "ca.pem")
	write(t, a.File, "CERTIFICATE", a.certificate.Raw)
	return a
}

// Issue writes a certificate for 127.0.0.1 and localhost, valid for servers and clients, and its
// key to new files.
func (a *Authority) Issue(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	return a.IssueFor(t, newKey(t))
}

// IssueFor is like Issue, for a given key.
func (a *Authority) IssueFor(t testing.TB, key crypto.Signer) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.issue(t, certFile, keyFile, key)
	return certFile, keyFile
}

// Renew is like Issue, but replaces the given files, first the key and then the certificate.
func (a *Authority) Renew(t testing.TB, certFile, keyFile string) *x509.Certificate {
	t.Helper()
	return a.issue(t, certFile, keyFile, newKey(t))
}

func (a *Authority) issue(t testing.TB, certFile, keyFile string, key crypto.Signer) *x509.Certificate {
	t.Helper()
	template := template("server")
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames, template.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	certificate := a.sign(t, template, a.certificate, key.Public())
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	write(t, keyFile, "PRIVATE KEY", der)
	write(t, certFile, "CERTIFICATE", certificate.Raw)
	return certificate
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// sign signs a certificate for a key.
func (a *Authority) sign(t testing.TB, template, parent *x509.Certificate, key crypto.PublicKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return certificate
}

// write replaces a file atomically, as tools that renew certificates do.
func write(t testing.TB, file, kind string, der []byte) {
	t.Helper()
	fresh := file + ".new"
	require.NoError(t, os.WriteFile(fresh, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	require.NoError(t, os.Rename(fresh, file))
}
