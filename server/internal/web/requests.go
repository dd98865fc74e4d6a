package web

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"github.com/gridstand/gridstand/server/internal/rpc"
)

// isCall reports whether a path looks like that of an RPC in the contract.
func isCall(path string) bool { return strings.HasPrefix(path, "/gridstand.") }

// checkCalls responds to malformed calls to the contract's RPCs with an error message.
// Without it, package connect would respond with an empty body. It also limits the messages of calls to
// limit bytes.
func checkCalls(limit int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isShared(r.URL.Path) && strings.Contains(r.URL.Path, "//"): // The mux would redirect it.
			writeStatus(w, http.StatusNotFound, connect.CodeNotFound, "an id is missing in "+r.URL.Path)
			return
		case !isCall(r.URL.Path):
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		known, streams, _ := rpc.MethodOf(r.URL.Path)
		if !known {
			writeUnknown(w, r)
			return
		}
		kind := contentType(r)
		switch {
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			writeStatus(w, http.StatusMethodNotAllowed, connect.CodeUnimplemented,
				"calls must use POST, not "+r.Method)
			return
		case !slices.Contains(accepted(streams), kind):
			types := strings.Join(accepted(streams), ", ")
			message := "the content type must be one of " + types + ", not " +
				cmp.Or(r.Header.Get("Content-Type"), "none")
			if streams {
				message += "; GET /g/<id>/events and /c/<id>/events return the same as Server-Sent Events"
			}
			writeStatus(w, http.StatusUnsupportedMediaType, connect.CodeInvalidArgument, message)
			return
		}
		limitBody(r, kind, limit)
		next.ServeHTTP(w, r)
	})
}

// writeUnknown responds to a call that is not in the contract.
func writeUnknown(w http.ResponseWriter, r *http.Request) {
	message := "there is no call " + r.URL.Path
	if kind := contentType(r); strings.HasPrefix(kind, "application/grpc") || strings.HasPrefix(kind, streamPrefix) {
		_ = errorWriter.Write(w, r, connect.NewError(connect.CodeUnimplemented, errors.New(message)))
		return
	}
	writeStatus(w, http.StatusNotFound, connect.CodeUnimplemented, message)
}

const (
	unaryPrefix  = "application/"
	streamPrefix = "application/connect+"
)

// accepted returns the content types that a call may have, starting with the simplest.
func accepted(streams bool) []string {
	prefix := unaryPrefix
	if streams {
		prefix = streamPrefix
	}
	return []string{
		prefix + "json", prefix + "proto",
		"application/grpc-web", "application/grpc-web+proto", "application/grpc-web+json",
		"application/grpc", "application/grpc+proto", "application/grpc+json",
	}
}

// contentType returns a request's content type without its parameters. If the type is
// JSON, contentType also removes the parameters from the request, because JSON is always
// UTF-8, and package connect has another codec for JSON with a charset parameter.
func contentType(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	if strings.HasSuffix(kind, "json") {
		r.Header.Set("Content-Type", kind)
	}
	return kind
}
