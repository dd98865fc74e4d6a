package sshhost

import (
	gossh "golang.org/x/crypto/ssh"
)

// keyExtension is the entry of Permissions.Extensions with the key that authenticated a
// connection, in SSH's wire format.
const keyExtension = "gridstand-key"

// authentication accepts every public key that a client proves to have. Clients may
// offer other people's keys without a proof, so that only what is returned in
// Permissions counts, and it is set after the proof.
func authentication() *gossh.ServerConfig {
	return &gossh.ServerConfig{
		PublicKeyCallback: func(gossh.ConnMetadata, gossh.PublicKey) (*gossh.Permissions, error) { return nil, nil },
		VerifiedPublicKeyCallback: func(
			_ gossh.ConnMetadata, key gossh.PublicKey, _ *gossh.Permissions, _ string,
		) (*gossh.Permissions, error) {
			if certificate, ok := key.(*gossh.Certificate); ok {
				key = certificate.Key // A certificate is renewed; its key is what was proved.
			}
			return &gossh.Permissions{Extensions: map[string]string{keyExtension: string(key.Marshal())}}, nil
		},
	}
}

// provedKey returns the key that authenticated a connection, nil for a guest.
func provedKey(conn *gossh.ServerConn) gossh.PublicKey {
	if conn.Permissions == nil {
		return nil
	}
	key, err := gossh.ParsePublicKey([]byte(conn.Permissions.Extensions[keyExtension]))
	if err != nil {
		return nil
	}
	return key
}
