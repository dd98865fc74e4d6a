package client

import (
	"errors"
	"strings"
)

// Cause is the reason why no connection could be made, if gRPC's message reveals it.
type Cause int

const (
	// CauseUnknown means any other cause, such as a refused connection.
	CauseUnknown Cause = iota
	// CauseNoTLS means that the client asked for TLS but the server does not use it.
	CauseNoTLS
	// CauseNoPlainText means that the peer closes a clear-text connection or responds
	// with something other than gRPC, as a TLS server does.
	CauseNoPlainText
	// CauseUntrusted means that the server's certificate cannot be verified.
	CauseUntrusted
	// CauseCertificateWanted means that the server requires a client certificate, or does
	// not trust the client's certificate.
	CauseCertificateWanted
)

// CauseOf returns the reason why no server was reached, or CauseUnknown if err does not
// reveal it.
func CauseOf(err error) Cause {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Cause
	}
	return CauseUnknown
}

// String describes the cause as a predicate that follows the server's name in a sentence.
func (c Cause) String() string {
	switch c {
	case CauseNoTLS:
		return "answers, but without TLS"
	case CauseNoPlainText:
		return "answers, but not like a server without TLS"
	case CauseUntrusted:
		return "answers, but its certificate is not trusted"
	case CauseCertificateWanted:
		return "answers, but only to clients whose certificate it trusts"
	default:
		return "does not answer"
	}
}

// causeIn derives the cause from the message of a gRPC status, which may have been
// through plainMessage. encrypted reports whether the client asked for TLS.
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

// plainMessage strips gRPC's wrapping from the message of a failed connection, which
// leaves something like "dial tcp 127.0.0.1:2048: connect: connection refused". It
// returns other messages unchanged.
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
