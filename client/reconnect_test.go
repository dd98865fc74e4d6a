package client_test

import (
	"fmt"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// act is a step that a fake server takes with a stream; an error ends the stream.
type act func(f *fake, s watchStream) error

func send(m *pb.WatchResponse) act {
	return func(f *fake, s watchStream) error {
		f.count("sent")
		return s.Send(m)
	}
}

func whole(version int32) act {
	return send(&pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: gameAt(version)}})
}

func event(version int32) act {
	return send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: eventAt(version)}})
}

func audience(n int32) act {
	return send(&pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: n}, Reactions: []int32{0, 0, 0, 0, 0, n}})
}

func last(version int32) act {
	e := eventAt(version)
	e.Result = &pb.Result{Reason: pb.Result_REASON_NO_MOVES}
	return send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: e}})
}

func finished(version int32) act {
	g := gameAt(version)
	g.Status = pb.GameStatus_GAME_STATUS_FINISHED
	return send(&pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: g}})
}

func fail(err error) act { return func(*fake, watchStream) error { return err } }

// header sends the response headers before there is any message to send.
func header(_ *fake, s watchStream) error { return s.SendHeader(metadata.MD{}) }

// cut breaks the connection once everything that was sent has been read, and waits until
// the break is noticed.
func cut(f *fake, s watchStream) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for s.Context().Err() == nil && f.made("sent") > f.made("read") {
		<-look.C
	}
	f.listener.cut()
	return hang(f, s)
}

func hang(_ *fake, s watchStream) error {
	<-s.Context().Done()
	return s.Context().Err()
}

func after(versions ...int32) []*int32 {
	var list []*int32
	for _, v := range versions {
		if v < 0 {
			list = append(list, nil)
		} else {
			list = append(list, proto.Int32(v))
		}
	}
	return list
}

// drain reads from a Watch until it ends.
func (f *fake) drain(w *client.Watch) ([]string, error) {
	var got []string
	for {
		u, err := w.Next()
		if err != nil {
			return got, err
		}
		got = append(got, describe(u))
		if u.Game != nil || u.Event != nil || u.Audience != nil {
			f.count("read")
		}
	}
}

func describe(u client.Update) string {
	switch {
	case u.Game != nil && u.Skipped != 0:
		return fmt.Sprintf("game %d skipped %d", u.Game.GetVersion(), u.Skipped)
	case u.Game != nil:
		return fmt.Sprintf("game %d", u.Game.GetVersion())
	case u.Event != nil:
		return fmt.Sprintf("event %d", u.Event.GetVersion())
	case u.Audience != nil:
		return fmt.Sprintf("audience %d %v", *u.Audience, u.Reactions)
	case u.Connection.State == client.Reconnecting:
		return fmt.Sprintf("reconnecting %d", u.Connection.Attempt)
	default:
		return string(u.Connection.State)
	}
}
