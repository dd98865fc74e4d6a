// Package unreachable tells why a connection could not be made. gRPC has one
// code for all the reasons, UNAVAILABLE, and words to tell them apart.
package unreachable

import "strings"

// Cause is why there is no connection, as far as gRPC's words tell.
type Cause int

// The causes. In all but the first something does answer.
const (
	// Unknown is whatever is none of the others, such as a refused connection.
	Unknown Cause = iota
	// NoTLS is a server that does not encrypt, where TLS was asked for.
	NoTLS
	// NoPlainText is something that hangs up on plain text or answers it with
	// something else, as a server that encrypts does.
	NoPlainText
	// Untrusted is a server's certificate that does not pass.
	Untrusted
	// CertificateWanted is a server that wants a certificate of the client, too,
	// or another than it was shown.
	CertificateWanted
)

// Why reads the cause out of the message of a status of gRPC, as it came or
// after Plain. encrypted says whether TLS was asked for.
func Why(message string, encrypted bool) Cause {
	switch {
	case strings.Contains(message, "does not look like a TLS handshake"):
		return NoTLS
	case strings.Contains(message, "remote error: tls: ") && strings.Contains(message, "certificate"):
		return CertificateWanted
	case strings.Contains(message, "x509: "):
		return Untrusted
	case strings.Contains(message, "error reading server preface") && !encrypted:
		return NoPlainText
	default:
		return Unknown
	}
}

// String says what the server does, to be read after its name.
func (c Cause) String() string {
	switch c {
	case NoTLS:
		return "answers, but without TLS"
	case NoPlainText:
		return "answers, but not as a server without TLS does"
	case Untrusted:
		return "answers, but its certificate is not to be trusted"
	case CertificateWanted:
		return "answers, but only those whose certificate it trusts"
	default:
		return "does not answer"
	}
}

// Plain takes gRPC's wrapping off the message of a failure to connect, down to
// something like "dial tcp 127.0.0.1:2048: connect: connection refused". Other
// messages stay as they are.
func Plain(message string) string {
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
