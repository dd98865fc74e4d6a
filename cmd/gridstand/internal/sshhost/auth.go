package sshhost

import (
	"io"

	gossh "golang.org/x/crypto/ssh"
)

// provedKey is the entry in Permissions.Extensions that contains the fingerprint of the key that
// authenticated a connection.
const provedKey = "key"

// serverConfig returns the configuration of a connection. It accepts every public key if the
// client proves that it has the private key. Clients may offer other people's keys without
// proof, so only the Permissions count, which are set after the proof. A client without a key
// logs in as a guest, without any prompt. The method "none", which clients try first, is
// refused, or else every client would be a guest.
func (h *host) serverConfig(c *client) *gossh.ServerConfig {
	config := &gossh.ServerConfig{
		ServerVersion:     "SSH-2.0-Gridstand",
		PublicKeyCallback: func(gossh.ConnMetadata, gossh.PublicKey) (*gossh.Permissions, error) { return nil, nil },
		VerifiedPublicKeyCallback: func(
			_ gossh.ConnMetadata, key gossh.PublicKey, _ *gossh.Permissions, _ string,
		) (*gossh.Permissions, error) {
			if certificate, ok := key.(*gossh.Certificate); ok {
				key = certificate.Key // renewing a certificate does not change its key
			}
			return &gossh.Permissions{Extensions: map[string]string{provedKey: gossh.FingerprintSHA256(key)}}, nil
		},
		KeyboardInteractiveCallback: func(gossh.ConnMetadata, gossh.KeyboardInteractiveChallenge) (*gossh.Permissions, error) {
			return &gossh.Permissions{}, nil
		},
	}
	config.AddHostKey(&exchangeSigner{h.config.HostKey, c})
	return config
}

// exchangeSigner is the host key of one connection, which signs once in each exchange of keys.
type exchangeSigner struct {
	gossh.AlgorithmSigner
	client *client
}

// Sign implements gossh.Signer.
func (s *exchangeSigner) Sign(rand io.Reader, data []byte) (*gossh.Signature, error) {
	s.client.exchanged()
	return s.AlgorithmSigner.Sign(rand, data)
}

// SignWithAlgorithm implements gossh.AlgorithmSigner. The SSH library calls it for RSA keys.
func (s *exchangeSigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*gossh.Signature, error) {
	s.client.exchanged()
	return s.AlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}
