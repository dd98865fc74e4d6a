package sshhost

import (
	"io"
	"sync/atomic"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// provedKey is the entry in Permissions.ExtraData that contains the key that authenticated a
// connection.
type provedKey struct{}

// authentication returns a configuration that accepts every public key if the client proves
// that it has the private key. Clients may offer other people's keys without proof, so only
// the Permissions count, which are set after the proof.
func authentication() *gossh.ServerConfig {
	return &gossh.ServerConfig{
		PublicKeyCallback: func(gossh.ConnMetadata, gossh.PublicKey) (*gossh.Permissions, error) { return nil, nil },
		VerifiedPublicKeyCallback: func(
			_ gossh.ConnMetadata, key gossh.PublicKey, _ *gossh.Permissions, _ string,
		) (*gossh.Permissions, error) {
			if certificate, ok := key.(*gossh.Certificate); ok {
				key = certificate.Key // renewing a certificate does not change its key
			}
			return &gossh.Permissions{ExtraData: map[any]any{provedKey{}: key}}, nil
		},
	}
}

// serverConfig returns the configuration of a connection. It implements
// ssh.ServerConfigCallback.
func (h *host) serverConfig(ctx ssh.Context) *gossh.ServerConfig {
	config, key := authentication(), h.config.HostKey
	if c, ok := ctx.Value(clientKey{}).(*client); ok {
		if conn, ok := c.conn.(*pacedConn); ok {
			key = countExchanges(key, conn.exchanged)
		}
	}
	config.AddHostKey(key)
	return config
}

// exchangeSigner is the host key of one connection, which signs once in each key exchange.
type exchangeSigner struct {
	gossh.AlgorithmSigner
	signed atomic.Bool
	again  func()
}

// countExchanges returns a signer that calls again for every key exchange of a connection
// except the first one, with which the connection begins. A client may ask for another one at
// any time.
func countExchanges(key gossh.Signer, again func()) gossh.Signer {
	signer, ok := key.(gossh.AlgorithmSigner)
	if !ok {
		return key // no signer of the SSH library
	}
	return &exchangeSigner{AlgorithmSigner: signer, again: again}
}

// Sign implements gossh.Signer.
func (s *exchangeSigner) Sign(rand io.Reader, data []byte) (*gossh.Signature, error) {
	s.count()
	return s.AlgorithmSigner.Sign(rand, data)
}

// SignWithAlgorithm implements gossh.AlgorithmSigner.
func (s *exchangeSigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*gossh.Signature, error) {
	s.count()
	return s.AlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}

func (s *exchangeSigner) count() {
	if s.signed.Swap(true) {
		s.again()
	}
}
