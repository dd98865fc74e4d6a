package web

import (
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// procedures has the paths of the calls of the contract. The values say whether they are
// streams.
var procedures = func() map[string]bool {
	all := map[string]bool{}
	for _, file := range []protoreflect.FileDescriptor{
		pb.File_gridstand_v1_game_proto, pb.File_gridstand_v1_leaderboard_proto, pb.File_gridstand_v1_player_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				all["/"+string(service.FullName())+"/"+string(method.Name())] = method.IsStreamingServer()
			}
		}
	}
	return all
}()

// isCall reports whether a path is that of a call of the contract.
func isCall(path string) bool { return strings.HasPrefix(path, "/gridstand.") }

// checkCalls answers requests that cannot be a call of the contract, saying what is wrong
// with them: package connect answers them without a body.
func checkCalls(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isCall(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		streams, known := procedures[r.URL.Path]
		kind := contentType(r)
		switch {
		case !known:
			writeUnknown(w, r)
			return
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			writeStatus(w, http.StatusMethodNotAllowed, connect.CodeUnimplemented,
				"calls are made with POST, not "+r.Method)
			return
		case !accepts(kind, streams):
			w.Header().Set("Accept-Post", strings.Join(accepted(streams), ", "))
			writeStatus(w, http.StatusUnsupportedMediaType, connect.CodeInvalidArgument, wrongType(kind, streams))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// writeUnknown answers a call that the contract does not have.
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

// accepted lists the content types of calls, the simplest first.
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

func accepts(kind string, streams bool) bool {
	return slices.Contains(accepted(streams), kind)
}

// contentType returns the type of a request's body without its parameters. It removes
// those of JSON from the request: there is only UTF-8, and package connect knows only one
// way to say so.
func contentType(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	if kind == "application/json" {
		r.Header.Set("Content-Type", kind)
	}
	return kind
}

// wrongType says which content type a call needs.
func wrongType(kind string, streams bool) string {
	if kind == "" {
		kind = "none"
	}
	if streams {
		return "the content type of this stream must be " + streamPrefix + "json or " + streamPrefix + "proto (Connect), " +
			"or application/grpc-web+proto (gRPC-Web), not " + kind + "; GET /g/<id>/events gives the same as Server-Sent Events"
	}
	return "the content type of a call must be application/json or application/proto (Connect), " +
		"or application/grpc-web+proto (gRPC-Web), not " + kind
}
