package web

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// events serves games as Server-Sent Events (HTML Living Standard, section 9.2): Watch by
// HTTP. Each record has the version of the game as its ID and a WatchResponse in JSON as
// its data.
type events struct {
	Config
	readers *readers
	// intercept runs the interceptors around the opening of a stream.
	intercept grpc.StreamServerInterceptor
}

var eventsInfo = &grpc.StreamServerInfo{FullMethod: pb.GameService_Watch_FullMethodName, IsServerStream: true}

// ServeHTTP implements http.Handler.
func (e *events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(readerContext(r.Context()))
	s := &eventStream{ctx: ctx, cancel: cancel}
	handedOver := false
	defer func() {
		if !handedOver {
			s.close()
		}
	}()
	disconnected := context.AfterFunc(r.Context(), cancel)
	defer disconnected()
	if err := e.open(s, r); err != nil {
		writeError(w, r, err)
		return
	}
	header := w.Header()
	if s.view.Over() {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store, no-transform")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Accel-Buffering", "no") // nginx would otherwise wait for more
	if r.Method == http.MethodHead {
		return
	}
	s.first = append(s.first, reconnectHint()...)
	if conn, err := hijack(w, r); err == nil {
		s.out, s.raw, s.first = conn, rawConn(conn.Conn), append(answerHead(r, header), s.first...)
		if err := s.view.Begin(); err != nil {
			return
		}
		disconnected()
		handedOver = e.readers.start(s)
		return
	}
	s.out = &flusher{w, http.NewResponseController(w)}
	if s.view.Begin() == nil {
		s.end(s.view.Follow())
	}
}

// open makes all checks, and s a watcher.
func (e *events) open(s *eventStream, r *http.Request) error {
	if e.AdmitEvents != nil {
		release, err := e.AdmitEvents(s.ctx)
		if err != nil {
			return err
		}
		s.release = release
	}
	return e.intercept(e.Service, s, eventsInfo, func(_ any, outer grpc.ServerStream) error {
		request, err := watchRequest(r)
		if err != nil {
			return err
		}
		s.view, err = e.Service.OpenWatch(request, outer)
		return err
	})
}

// readerContext returns what a stream needs of its request's context. That stays in
// memory for as long as the stream, the rest does not.
func readerContext(from context.Context) context.Context {
	ctx := context.Background()
	if p, ok := peer.FromContext(from); ok {
		ctx = peer.NewContext(ctx, p)
	}
	if md, ok := metadata.FromIncomingContext(from); ok && len(md) > 0 {
		ctx = metadata.NewIncomingContext(ctx, md)
	}
	return ctx
}

// Browsers reconnect after reconnectAfter and up to reconnectSpread more, so that the
// readers of a server that stops do not come to another at the same time.
const (
	reconnectAfter  = 2 * time.Second
	reconnectSpread = 2 * time.Second
)

// reconnectHint returns the record that sets a browser's time before it reconnects.
func reconnectHint() string {
	return "retry: " + strconv.FormatInt((reconnectAfter+rand.N(reconnectSpread)).Milliseconds(), 10) + "\n\n"
}

// watchRequest reads a request for events. Last-Event-ID, which a browser sends when it
// reconnects, precedes the parameter after of the address that it was given first.
func watchRequest(r *http.Request) (*pb.WatchRequest, error) {
	query := r.URL.Query()
	request := &pb.WatchRequest{GameId: r.PathValue("id")}
	for name, field := range map[string]*bool{"every_event": &request.EveryEvent, "preview": &request.Preview} {
		if value := query.Get(name); value != "" {
			is, err := strconv.ParseBool(value)
			if err != nil {
				return nil, invalid.Field(name, "must be 1 or 0")
			}
			*field = is
		}
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = query.Get("after")
	}
	if after != "" {
		n, err := strconv.ParseInt(after, 10, 32)
		if err != nil || n < 0 {
			return nil, invalid.Field("after_version", "must be a version: a number that is not negative")
		}
		version := int32(n)
		request.AfterVersion = &version
	}
	return request, nil
}

var _ interface {
	grpc.ServerStream
	rpc.TrySender
	rpc.Aborter
} = (*eventStream)(nil)
