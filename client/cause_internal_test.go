package client

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCauseIn(t *testing.T) {
	t.Parallel()
	const refused = `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`
	for _, tt := range []struct {
		message   string
		encrypted bool
		cause     Cause
		plain     string
	}{
		{refused, false, CauseUnknown, "dial tcp 127.0.0.1:1: connect: connection refused"},
		{"last connection error: " + refused, true, CauseUnknown, "dial tcp 127.0.0.1:1: connect: connection refused"},
		{`connection error: desc = "error reading server preface: EOF"`, false, CauseNoPlainText, "error reading server preface: EOF"},
		{`connection error: desc = "error reading server preface: EOF"`, true, CauseUnknown, "error reading server preface: EOF"},
		{
			`connection error: desc = "error reading server preface: read tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection"`,
			false, CauseSilent, "no answer in time",
		},
		{
			`connection error: desc = "error reading server preface: read tcp 127.0.0.1:2->127.0.0.1:1: i/o timeout"`,
			false, CauseSilent, "no answer in time",
		},
		{
			`connection error: desc = "transport: authentication handshake failed: context deadline exceeded"`,
			true, CauseSilent, "no answer in time",
		},
		{
			`connection error: desc = "transport: authentication handshake failed: read tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection"`,
			true, CauseSilent, "no answer in time",
		},
		{
			`connection error: desc = "error reading from server: read tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection"`,
			true, CauseUnknown, "error reading from server: read tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection",
		},
		{"context deadline exceeded", true, CauseUnknown, "context deadline exceeded"},
		{
			`connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: i/o timeout"`,
			false, CauseUnknown, "dial tcp 127.0.0.1:1: i/o timeout",
		},
		{"the server stops", false, CauseUnknown, "the server stops"},
	} {
		assert.Equal(t, tt.cause, causeIn(tt.message, tt.encrypted), tt.message)
		assert.Equal(t, tt.plain, plainMessage(tt.message))
		assert.Equal(t, tt.cause, causeIn(tt.plain, tt.encrypted), tt.plain)
	}
}
