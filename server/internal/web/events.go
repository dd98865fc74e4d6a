package web

import (
	"fmt"
	"net/http"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// events serves games as Server-Sent Events (HTML Living Standard, section 9.2).
type events struct{ Config }

func (e *events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	begun := false
	stream := &serverStream{ctx: r.Context(), send: func(m any) error {
		if !begun {
			begun = true
			header := w.Header()
			header.Set("Content-Type", "text/event-stream")
			header.Set("Cache-Control", "no-store, no-transform")
			header.Set("X-Accel-Buffering", "no")
		}
		update := m.(*pb.WatchResponse)
		data, err := protojson.Marshal(update)
		if err != nil {
			return err
		}
		if v := version(update); v > 0 {
			_, _ = fmt.Fprintf(w, "id: %d\n", v)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		return out.Flush()
	}}
	info := &grpc.StreamServerInfo{FullMethod: pb.GameService_Watch_FullMethodName, IsServerStream: true}
	err := chainStream(e.Stream)(e.Service, stream, info, func(_ any, s grpc.ServerStream) error {
		request, err := watchRequest(r)
		if err != nil {
			return err
		}
		return e.Service.Watch(request, &grpc.GenericServerStream[pb.WatchRequest, pb.WatchResponse]{ServerStream: s})
	})
	switch {
	case err != nil && !begun:
		writeError(w, r, err)
	case err == nil && !begun:
		w.WriteHeader(http.StatusNoContent)
	case err == nil:
		_, _ = fmt.Fprint(w, "event: end\ndata: {}\n\n")
	}
}

// version returns the version that a client resumes after, 0 for an update that has none.
func version(m *pb.WatchResponse) int32 {
	switch u := m.GetUpdate().(type) {
	case *pb.WatchResponse_Game:
		return u.Game.GetVersion()
	case *pb.WatchResponse_Event:
		return u.Event.GetVersion()
	}
	return 0
}

// watchRequest reads a request for events. Last-Event-ID, which a browser sends when it
// reconnects, precedes the parameter after of the address that it was given first.
func watchRequest(r *http.Request) (*pb.WatchRequest, error) {
	query := r.URL.Query()
	request := &pb.WatchRequest{
		GameId: r.PathValue("id"), EveryEvent: query.Get("every_event") != "", Preview: query.Get("preview") != "",
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = query.Get("after")
	}
	if after != "" {
		n, err := strconv.ParseInt(after, 10, 32)
		if err != nil {
			return nil, invalid.Field("after", "must be a version: a number that is not negative")
		}
		version := int32(n)
		request.AfterVersion = &version
	}
	return request, nil
}
