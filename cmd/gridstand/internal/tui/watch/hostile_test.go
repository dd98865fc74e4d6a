package watch

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// messagesOf decodes length-prefixed messages up to the first invalid one.
func messagesOf(data []byte) []*pb.WatchResponse {
	var all []*pb.WatchResponse
	for r := bytes.NewReader(data); len(all) < 20; {
		m := &pb.WatchResponse{}
		if protodelim.UnmarshalFrom(r, m) != nil {
			break
		}
		all = append(all, m)
	}
	return all
}

// FuzzHostile sends a page those messages of a hostile server that the client's checks accept: escape
// sequences in names, absurd numbers, events out of order. The program must not crash, and the page
// must show only text and styling.
func FuzzHostile(f *testing.F) {
	event := func(v int32) *pb.WatchResponse {
		return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: tuitest.Moved(v, pb.Direction_DIRECTION_UP, aBoard(), 4)}}
	}
	game := func(alter func(*pb.Game)) *pb.WatchResponse {
		g := tuitest.Game(aBoard())
		alter(g)
		return &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: g}}
	}
	first := game(func(*pb.Game) {})
	as := first.GetGame().GetVersion()
	for _, messages := range [][]*pb.WatchResponse{
		{first, event(as + 1), event(as + 2), {Update: &pb.WatchResponse_Audience{Audience: -1 << 31}}},
		{game(func(g *pb.Game) {
			g.Seats[0].Occupant = &pb.Seat_Player{Player: &pb.Player{Id: g.GetId(), Name: "\x1b]0;owned\a\x1b[2J\u202e\u0085\u009b31m"}}
		})},
		{event(as + 1), first, event(as + 2), game(func(g *pb.Game) { g.Version = 1 })},
	} {
		var data bytes.Buffer
		for _, m := range messages {
			_, err := protodelim.MarshalTo(&data, m)
			require.NoError(f, err)
		}
		f.Add(data.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		env := tuitest.Env(&tuitest.Server{})
		p := New(t.Context(), env, ui.Route{Watch: []string{tuitest.GameID}})
		defer p.Own().Stop()
		p.Init()
		for _, m := range messagesOf(data) {
			u := client.Update{Game: m.GetGame(), Event: m.GetEvent()}
			if m.GetGame() != nil && client.CheckGame(u.Game) != nil || m.GetEvent() != nil && client.CheckEvent(u.Event) != nil {
				continue
			}
			if u.Game == nil && u.Event == nil {
				count := m.GetAudience()
				u.Audience = &count
			}
			p.Continue(tuitest.Result(p.(*page).game.onUpdate, u, nil))
			for _, key := range []string{"end", "left", "home", "end"} {
				for _, size := range tuitest.Sizes {
					env.Width, env.Height = size[0], size[1]
					tuitest.Harmless(t, env, p)
				}
				p.Key(tuitest.Key(key))
			}
		}
	})
}
