package sshhost

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"

	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
)

// whoAmI prints the key of a session.
func whoAmI(_ context.Context, s *Session) int {
	_, _ = fmt.Fprint(s.Out, cmp.Or(s.Key, "guest"))
	return 0
}

func fingerprint(s gossh.Signer) string { return gossh.FingerprintSHA256(s.PublicKey()) }

// offered is a public key that a client offers without having the private key. The SSH
// library calls Marshal first for the offer; later calls return other bytes.
type offered struct {
	gossh.PublicKey
	asked atomic.Bool
}

func (o *offered) Marshal() []byte {
	if o.asked.Swap(true) {
		return []byte("another")
	}
	return o.PublicKey.Marshal()
}

// offer is a signer that offers someone else's public key.
type offer struct {
	gossh.Signer
	key gossh.PublicKey
}

func (o offer) PublicKey() gossh.PublicKey { return o.key }

// Ensure that a client that offers another player's public key, which is not secret,
// gains nothing without the private key (CVE-2024-45337), and that a client needs a key or the guest's method.
func TestServe_OfferedKey(t *testing.T) {
	t.Parallel()
	h := start(t, whoAmI)
	victim, own := sshtest.Key(t), sshtest.Key(t)
	pretend := func() gossh.Signer { return offer{own, &offered{PublicKey: victim.PublicKey()}} }
	for name, signers := range map[string][]gossh.Signer{
		"before the client's own key":           {pretend(), own},
		"twice":                                 {pretend(), pretend(), own},
		"before and after the client's own key": {pretend(), own, victim},
	} {
		assert.Equal(t, fingerprint(own), output(t, h.dial(gossh.PublicKeys(signers...)), "help"), name)
	}
	assert.Equal(t, "guest", output(t, h.dial(gossh.PublicKeys(pretend()), guest()), "help"))

	// The proof is signed by another key.
	_, err := h.tryDial(address, gossh.ClientConfig{Auth: []gossh.AuthMethod{
		gossh.PublicKeys(offer{own, victim.PublicKey()}), guest(),
	}})
	require.Error(t, err)

	for name, methods := range map[string][]gossh.AuthMethod{"a password": {gossh.Password("")}, "nothing": nil} {
		_, err := h.tryDial(address, gossh.ClientConfig{Auth: methods})
		require.ErrorContains(t, err, "unable to authenticate", name)
	}
}

// Ensure that a certificate identifies the same player as its key, because certificates
// are renewed.
func TestServe_Certificate(t *testing.T) {
	t.Parallel()
	h := start(t, whoAmI)
	own, authority := sshtest.Key(t), sshtest.Key(t)
	certificate := &gossh.Certificate{
		Key: own.PublicKey(), CertType: gossh.UserCert, ValidPrincipals: []string{"root"}, ValidBefore: gossh.CertTimeInfinity,
	}
	require.NoError(t, certificate.SignCert(rand.Reader, authority))
	signer, err := gossh.NewCertSigner(certificate, own)
	require.NoError(t, err)
	assert.Equal(t, fingerprint(own), output(t, h.dial(gossh.PublicKeys(signer)), "help"))
}
