package unreachable_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/unreachable"
)

func TestWords(t *testing.T) {
	t.Parallel()
	const refused = `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`
	for _, tt := range []struct {
		message   string
		encrypted bool
		why       unreachable.Cause
		plain     string
	}{
		{refused, false, unreachable.Unknown, "dial tcp 127.0.0.1:1: connect: connection refused"},
		{"last connection error: " + refused, true, unreachable.Unknown, "dial tcp 127.0.0.1:1: connect: connection refused"},
		{
			`connection error: desc = "transport: authentication handshake failed: tls: first record does not look like a TLS handshake"`,
			true, unreachable.NoTLS, "tls: first record does not look like a TLS handshake",
		},
		{
			`connection error: desc = "transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority"`,
			true, unreachable.Untrusted, "tls: failed to verify certificate: x509: certificate signed by unknown authority",
		},
		{`connection error: desc = "error reading server preface: EOF"`, false, unreachable.NoPlainText, "error reading server preface: EOF"},
		{`connection error: desc = "error reading server preface: EOF"`, true, unreachable.Unknown, "error reading server preface: EOF"},
		{
			`connection error: desc = "error reading server preface: remote error: tls: certificate required"`,
			true, unreachable.CertificateWanted, "error reading server preface: remote error: tls: certificate required",
		},
		{
			`connection error: desc = "error reading server preface: remote error: tls: unknown certificate authority"`,
			true, unreachable.CertificateWanted, "error reading server preface: remote error: tls: unknown certificate authority",
		},
		{"the server stops", false, unreachable.Unknown, "the server stops"},
	} {
		assert.Equal(t, tt.why, unreachable.Why(tt.message, tt.encrypted), tt.message)
		assert.Equal(t, tt.plain, unreachable.Plain(tt.message))
		assert.Equal(t, tt.why, unreachable.Why(tt.plain, tt.encrypted), tt.plain)
	}
}
