package client

import (
	"cmp"
	"errors"
	"strings"
)

// Cause is the reason why no server could be reached, if gRPC's message reveals it: a
// predicate that follows the server's name in a sentence.
type Cause string

const (
	// CauseUnknown means any other cause, such as a refused connection.
	CauseUnknown Cause = ""
	// CauseNoTLS means that the client asked for TLS but the server does not use it.
	CauseNoTLS Cause = "answers, but without TLS"
	// CauseNoPlainText means that the peer closes a clear-text connection or responds
	// with something other than gRPC, as a TLS server does.
	CauseNoPlainText Cause = "answers, but not like a server without TLS"
	// CauseUntrusted means that the server's certificate cannot be verified.
	CauseUntrusted Cause = "answers, but its certificate is not trusted"
	// CauseSilent means that the peer accepts connections but sends nothing, as a suspended
	// server does.
	CauseSilent Cause = "accepts connections but does not answer"
	// CauseNotGridstand means that the peer is a web server, not a Gridstand server.
	CauseNotGridstand Cause = "answers, but is not a Gridstand server"
	// CauseNoBackend means that the peer is a proxy that cannot reach a server.
	CauseNoBackend Cause = "answers, but is a proxy that cannot reach a server"
)

// CauseOf returns the reason why no server was reached, or CauseUnknown if err does not
// reveal it.
func CauseOf(err error) Cause {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Cause
	}
	return CauseUnknown
}

// String returns the predicate, also for CauseUnknown.
func (c Cause) String() string { return cmp.Or(string(c), "does not answer") }

// causeIn derives the cause from the message of a gRPC status, which may have been
// through plainMessage. encrypted reports whether the client asked for TLS.
func causeIn(message string, encrypted bool) Cause {
	message = plainMessage(message)
	switch {
	case message == noAnswer:
		return CauseSilent
	case message == httpStatus+"502", message == httpStatus+"503", message == httpStatus+"504":
		return CauseNoBackend
	case message == httpStatus+"429":
		return CauseUnknown // a proxy that limits its clients
	case strings.HasPrefix(message, httpStatus), message == noHTTP2:
		return CauseNotGridstand
	case strings.Contains(message, "does not look like a TLS handshake"):
		return CauseNoTLS
	case strings.Contains(message, "x509: "):
		return CauseUntrusted
	case strings.Contains(message, "error reading server preface") && !encrypted:
		return CauseNoPlainText
	default:
		return CauseUnknown
	}
}

// Messages that plainMessage returns in place of gRPC's.
const (
	noAnswer   = "no answer in time"
	noHTTP2    = "no HTTP/2"
	httpStatus = "HTTP status " // followed by the status
)

// plainMessage strips gRPC's wrapping from the message of a failed connection, which
// leaves something like "dial tcp 127.0.0.1:2048: connect: connection refused". It
// replaces the messages of connections that time out and of responses that are not
// gRPC's, which contain the page, and returns other messages unchanged.
func plainMessage(message string) string {
	if page, ok := strings.CutPrefix(message, "unexpected HTTP status code received from server: "); ok {
		code, _, _ := strings.Cut(page, " ")
		return httpStatus + code
	}
	if strings.Contains(message, "authentication handshake failed: context deadline exceeded") {
		return noAnswer
	}
	if strings.Contains(message, "missing selected ALPN property") || strings.Contains(message, "tls: no application protocol") {
		return noHTTP2
	}
	for _, prefix := range []string{
		`last connection error: `, `connection error: desc = "`, `transport: `, `Error while dialing: `,
		`authentication handshake failed: `,
	} {
		if _, after, ok := strings.Cut(message, prefix); ok {
			message = strings.TrimSuffix(after, `"`)
		}
	}
	// gRPC closes a connection that is not ready in time, also during a TLS handshake.
	opening := strings.HasPrefix(message, "error reading server preface: ") || strings.HasPrefix(message, "read tcp ")
	if opening && (strings.HasSuffix(message, ": use of closed network connection") || strings.HasSuffix(message, ": i/o timeout")) {
		return noAnswer
	}
	return message
}
