// Package sshtest makes SSH keys, and signs with them. Only tests import it.
package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha512"
	"encoding/pem"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// Key returns a new key.
func Key(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	return key
}

// Sign returns the signature of a message that "ssh-keygen -Y sign -n gridstand" would make. OpenSSH
// describes the format in PROTOCOL.sshsig.
func Sign(t testing.TB, key ssh.Signer, message string) string {
	t.Helper()
	magic, hash := [6]byte([]byte("SSHSIG")), sha512.Sum512([]byte(message))
	data := ssh.Marshal(struct {
		Magic                              [6]byte
		Namespace, Reserved, HashAlgorithm string
		Hash                               []byte
	}{magic, "gridstand", "", "sha512", hash[:]})
	sign := key.Sign
	if rsa, ok := key.(ssh.AlgorithmSigner); ok && key.PublicKey().Type() == ssh.KeyAlgoRSA {
		sign = func(random io.Reader, data []byte) (*ssh.Signature, error) { // The default is SHA-1.
			return rsa.SignWithAlgorithm(random, data, ssh.KeyAlgoRSASHA512)
		}
	}
	signature, err := sign(rand.Reader, data)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: ssh.Marshal(struct {
		Magic                                                    [6]byte
		Version                                                  uint32
		PublicKey, Namespace, Reserved, HashAlgorithm, Signature string
	}{magic, 1, string(key.PublicKey().Marshal()), "gridstand", "", "sha512", string(ssh.Marshal(signature))})}))
}
