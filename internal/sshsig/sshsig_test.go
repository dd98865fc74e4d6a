package sshsig_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/internal/sshsig"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
)

const message = "abcdefghijklmnopqrstuvwxyz"

// signers returns one key of each accepted type.
func signers(t *testing.T) map[string]ssh.Signer {
	t.Helper()
	curve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	all := map[string]ssh.Signer{"ed25519": sshtest.Key(t)}
	for name, key := range map[string]any{"ecdsa": curve, "rsa": long} {
		all[name], err = ssh.NewSignerFromKey(key)
		require.NoError(t, err)
	}
	return all
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, signer := range signers(t) {
		armored := sshtest.Sign(t, signer, message)
		key, err := sshsig.Verify(armored, "gridstand", message)
		require.NoError(t, err, name)
		assert.Equal(t, signer.PublicKey().Marshal(), key.Marshal())
		_, err = sshsig.Verify("\r\n"+strings.ReplaceAll(armored, "\n", "\r\n"), "gridstand", message)
		require.NoError(t, err, "Windows line endings")

		_, err = sshsig.Verify(armored, "gridstand", message+"\n")
		require.ErrorContains(t, err, "not valid", name)
		_, err = sshsig.Verify(armored, "git", message)
		require.ErrorContains(t, err, "namespace", name)
	}
}

func TestVerify_Malformed(t *testing.T) {
	t.Parallel()
	armored := sshtest.Sign(t, sshtest.Key(t), message)
	for name, text := range map[string]string{
		"empty":            "",
		"text":             message,
		"two":              armored + armored,
		"another type":     strings.ReplaceAll(armored, "SSH SIGNATURE", "OPENSSH PRIVATE KEY"),
		"cut":              "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n",
		"too long":         strings.Repeat("a", sshsig.MaxLength+1),
		"changed":          strings.Replace(armored, "U1NIU0lHAAAAAQ", "U1NIU0lHAAAAAg", 1),
		"too many headers": strings.Replace(armored, "\n", "\nA: b\n\n", 1),
	} {
		_, err := sshsig.Verify(text, "gridstand", message)
		assert.Error(t, err, name)
	}
	for i := range armored { // must not panic, no matter which byte is missing
		_, _ = sshsig.Verify(armored[:i]+armored[i+1:], "gridstand", message)
	}
}

// Ensure that weak keys and SHA-1 signatures are refused.
func TestVerify_Weak(t *testing.T) {
	t.Parallel()
	// crypto/rsa refuses to generate a 1,024-bit key.
	p, err := rand.Prime(rand.Reader, 512)
	require.NoError(t, err)
	q, err := rand.Prime(rand.Reader, 512)
	require.NoError(t, err)
	short := ssh.Marshal(struct {
		Type string
		E, N *big.Int
	}{ssh.KeyAlgoRSA, big.NewInt(65537), new(big.Int).Mul(p, q)})
	requireRefused(t, short, ssh.KeyAlgoRSASHA512, "below 2048 bits")
	requireRefused(t, signers(t)["rsa"].PublicKey().Marshal(), ssh.KeyAlgoRSA, "not accepted")
	bit := func(n int) *big.Int { return new(big.Int).SetBit(big.NewInt(1), n, 1) }
	dsa := ssh.Marshal(struct {
		Type       string
		P, Q, G, Y *big.Int
	}{"ssh-dss", bit(1023), bit(159), big.NewInt(2), big.NewInt(3)})
	requireRefused(t, dsa, "ssh-dss", "") // any error will do: parsing this key may already fail
}

// requireRefused requires that a signature with the given key and format is refused.
func requireRefused(t *testing.T, key []byte, format, want string) {
	t.Helper()
	signer := forged{sshtest.Key(t), key, format}
	_, err := sshsig.Verify(sshtest.Sign(t, signer, message), "gridstand", message)
	require.ErrorContains(t, err, want)
}

// forged is a signer that presents another signer's public key.
type forged struct {
	ssh.Signer
	key    []byte
	format string
}

type publicKey struct {
	ssh.PublicKey
	blob []byte
}

func (k publicKey) Marshal() []byte { return k.blob }

func (f forged) PublicKey() ssh.PublicKey { return publicKey{f.Signer.PublicKey(), f.key} }

func (f forged) Sign(_ io.Reader, _ []byte) (*ssh.Signature, error) {
	return &ssh.Signature{Format: f.format, Blob: []byte("signature")}, nil
}

// FuzzVerify verifies arbitrary text: if the text is accepted, it must be a signature of the
// message.
func FuzzVerify(f *testing.F) {
	signer := sshtest.Key(f)
	armored := sshtest.Sign(f, signer, message)
	f.Add(armored, message)
	f.Add(armored, "")
	f.Fuzz(func(t *testing.T, text, about string) {
		key, err := sshsig.Verify(text, "gridstand", about)
		if err == nil && bytes.Equal(key.Marshal(), signer.PublicKey().Marshal()) {
			assert.Equal(t, message, about)
		}
	})
}
