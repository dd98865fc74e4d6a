package client

import (
	"errors"
	"strings"
)

// Cause says why no connection could be made, as far as gRPC's message tells.
type Cause int

const (
	// CauseUnknown is any cause but the following, such as a refused connection.
	CauseUnknown Cause = iota
	// CauseNoTLS is a server that does not encrypt, though TLS was asked for.
	CauseNoTLS
	// CauseNoPlainText is a peer that closes a connection in clear text, or answers
	// with something other than gRPC, as a server with TLS does.
	CauseNoPlainText
	// CauseUntrusted is a server whose certificate cannot be verified.
	CauseUntrusted
	// CauseCertificateWanted is a server that requires a client certificate, or does
	// not trust the one that it was shown.
	CauseCertificateWanted
)

// CauseOf returns why a server was not reached, if err says so and the cause is
// known.
func CauseOf(err error) Cause {
	var e *Error
	if !errors.As(err, &e) {
		return CauseUnknown
	}
	return e.Cause
}

// String says what the server does, to follow its name in a sentence.
func (c Cause) String() string {
	switch c {
	case CauseNoTLS:
		return "answers, but without TLS"
	case CauseNoPlainText:
		return "answers, but not as a server without TLS does"
	case CauseUntrusted:
		return "answers, but its certificate is not trusted"
	case CauseCertificateWanted:
		return "answers, but only to clients whose certificate it trusts"
	default:
		return "does not answer"
	}
}

// causeIn reads the cause from the message of a gRPC status, before or after
// plainMessage. encrypted says whether TLS was asked for.
func causeIn(message string, encrypted bool) Cause {
	switch {
	case strings.Contains(message, "use of closed network connection"), strings.Contains(message, "i/o timeout"):
		return CauseUnknown // The peer did not answer in time.
	case strings.Contains(message, "does not look like a TLS handshake"):
		return CauseNoTLS
	case strings.Contains(message, "remote error: tls: ") && strings.Contains(message, "certificate"):
		return CauseCertificateWanted
	case strings.Contains(message, "x509: "):
		return CauseUntrusted
	case strings.Contains(message, "error reading server preface") && !encrypted:
		return CauseNoPlainText
	default:
		return CauseUnknown
	}
}

// plainMessage takes gRPC's wrapping off the message of a failure to connect, down
// to something like "dial tcp 127.0.0.1:2048: connect: connection refused". Other
// messages stay as they are.
func plainMessage(message string) string {
	for _, prefix := range []string{
		`last connection error: `, `connection error: desc = "`, `transport: `, `Error while dialing: `,
		`authentication handshake failed: `,
	} {
		if _, after, ok := strings.Cut(message, prefix); ok {
			message = strings.TrimSuffix(after, `"`)
		}
	}
	return message
}
