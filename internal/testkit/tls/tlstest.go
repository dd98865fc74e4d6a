// Package tlstest issues certificates for tests. Only tests import it.
package tlstest

import (
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
	key         *ecdsa.PrivateKey
}

// NewAuthority creates an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{}
	template := template("authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a.certificate, a.key = sign(t, template, nil, nil)
	a.File = filepath.Join(t.TempDir(), "ca.pem")
	write(t, a.File, "CERTIFICATE", a.certificate.Raw)
	return a
}

// Issue writes a certificate for 127.0.0.1 and localhost, valid for servers and clients, and its
// key to new files.
func (a *Authority) Issue(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.Renew(t, certFile, keyFile)
	return certFile, keyFile
}

// Renew is like Issue, but replaces the given files, first the key and then the certificate.
func (a *Authority) Renew(t testing.TB, certFile, keyFile string) *x509.Certificate {
	t.Helper()
	template := template("server")
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames, template.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	certificate, key := sign(t, template, a.certificate, a.key)
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

// sign signs a template. If parent is nil, the certificate is self-signed.
func sign(t testing.TB, template, parent *x509.Certificate, with *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	if parent == nil {
		parent, with = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, with)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return certificate, key
}

// write replaces a file atomically, as tools that renew certificates do.
func write(t testing.TB, file, kind string, der []byte) {
	t.Helper()
	fresh := file + ".new"
	require.NoError(t, os.WriteFile(fresh, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	require.NoError(t, os.Rename(fresh, file))
}
