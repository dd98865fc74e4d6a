package sshhost

import (
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
