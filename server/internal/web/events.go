package web

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// watchFunc opens a view of what a request names. ctx contains the caller.
type watchFunc func(ctx context.Context, r *http.Request, stream grpc.ServerStream) (*rpc.View, error)

// watchGame opens a view of a game, as the RPC Watch does.
func (c Config) watchGame(ctx context.Context, r *http.Request, stream grpc.ServerStream) (*rpc.View, error) {
	request := &pb.WatchRequest{GameId: r.PathValue("id")}
	if err := readQuery(r, request, "after_version", "every_event", "preview"); err != nil {
		return nil, err
	}
	return c.Service.OpenWatch(ctx, request, stream)
}

// watchChallenge opens a view of a challenge, as the RPC WatchChallenge does.
func (c Config) watchChallenge(ctx context.Context, r *http.Request, stream grpc.ServerStream) (*rpc.View, error) {
	request := &pb.WatchChallengeRequest{ChallengeId: r.PathValue("id")}
	if err := readQuery(r, request, "etag"); err != nil {
		return nil, err
	}
	return c.Service.OpenWatchChallenge(ctx, request, stream)
}

// events serves a stream of the contract as Server-Sent Events (HTML Living Standard, section 9.2). A
// record's data is a message in JSON, and its ID is the position after which a client can resume: the
// version of a game, or the etag of a challenge. method is the full name of the gRPC method.
func (s *Server) events(method string, watch watchFunc) http.HandlerFunc {
	info := &grpc.StreamServerInfo{FullMethod: method, IsServerStream: true}
	return func(w http.ResponseWriter, r *http.Request) {
		// The context of the request would keep much memory while the stream is open.
		md, _ := metadata.FromIncomingContext(r.Context())
		ctx, cancel := context.WithCancel(metadata.NewIncomingContext(front.BudgetOf(r.Context()).Context(context.Background()), md))
		e := &eventStream{cancel: cancel}
		e.serverStream = serverStream{ctx: ctx, send: e.write}
		handedOver := false
		defer func() {
			if !handedOver {
				e.close()
			}
		}()
		disconnected := context.AfterFunc(r.Context(), cancel)
		defer disconnected()
		header := w.Header()
		header.Set("Cache-Control", "no-store, no-transform") // also for 204 and 404 (RFC 9110, section 15.1)
		// A stream uses the interceptors only while it is being opened.
		err := s.config.Stream(s.config.Service, e, info, func(_ any, outer grpc.ServerStream) (err error) {
			e.view, err = watch(outer.Context(), r, e)
			return err
		})
		if err != nil {
			WriteError(w, r, err)
			return
		}
		if e.view.Over() {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		header.Set("Content-Type", "text/event-stream")
		header.Set("X-Accel-Buffering", "no") // Otherwise, nginx would buffer the events.
		if r.Method == http.MethodHead {
			return
		}
		if e.conn, err = hijack(w, s.config.Stall); err != nil {
			WriteError(w, r, err)
			return
		}
		if e.raw = rawConn(e.conn.Conn); e.raw != nil {
			limitUnread(e.raw, s.config.Stall)
		}
		e.first = append(answerHead(r, header), reconnectHint()...)
		disconnected()
		handedOver = s.start(e)
	}
}

// notRead rejects a request for an event stream whose method is not GET or HEAD.
func notRead(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", "GET, HEAD")
	writeStatus(w, http.StatusMethodNotAllowed, connect.CodeUnimplemented, "events are read with GET, not "+r.Method)
}

// Browsers reconnect after reconnectAfter plus a random delay of up to reconnectSpread, so
// that a stopping server's readers do not all connect to another server at once.
const (
	reconnectAfter  = 2 * time.Second
	reconnectSpread = 2 * time.Second
)

// reconnectHint returns the record that sets the browser's reconnection delay.
func reconnectHint() string {
	return "retry: " + strconv.FormatInt((reconnectAfter+rand.N(reconnectSpread)).Milliseconds(), 10) + "\n\n"
}

// lastEventID is the header that a reconnecting browser sends with the ID of the last
// record that it received.
const lastEventID = "Last-Event-ID"

// parameters describes the values of the query parameters, which have the names of fields of the request.
var parameters = map[string]string{
	"after_version": "a version: 0 or a positive number", "every_event": "1 or 0", "preview": "1 or 0", "etag": "the ID of an event",
}

// readQuery sets the known fields of a request to their query parameters. As in JSON, a parameter that
// is malformed, unknown, empty or repeated is most likely a mistake. The first field is the position
// after which a client resumes. Header Last-Event-ID takes precedence over its parameter, which stays
// the same when a page's EventSource reconnects.
func readQuery(r *http.Request, request proto.Message, known ...string) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return invalid.Field("query", "must consist of parameters such as %s=…", known[0])
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(known, name):
			return invalid.Field("query", "must not contain %.64q; the parameters of this stream are %s", name, strings.Join(known, ", "))
		case len(query[name]) > 1:
			return invalid.Field(name, "must not be set twice")
		case !setField(request, name, query.Get(name)):
			return invalid.Field(name, "must be %s", parameters[name])
		}
	}
	if position := r.Header.Get(lastEventID); position != "" && !setField(request, known[0], position) {
		return invalid.Field(lastEventID, "must be %s", parameters[known[0]])
	}
	return nil
}

// setField sets a field of a message to a value in text. It returns false if the value is not one of the
// field's type.
func setField(m proto.Message, name, text string) bool {
	field := m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
	value := protoreflect.ValueOfString(text)
	var err error
	switch field.Kind() {
	case protoreflect.BoolKind:
		var is bool
		is, err = strconv.ParseBool(text)
		value = protoreflect.ValueOfBool(is)
	case protoreflect.Int32Kind:
		var n uint64
		n, err = strconv.ParseUint(text, 10, 31)
		value = protoreflect.ValueOfInt32(int32(n))
	}
	if err != nil || text == "" {
		return false
	}
	m.ProtoReflect().Set(field, value)
	return true
}

var _ rpc.Sharer = (*eventStream)(nil)
