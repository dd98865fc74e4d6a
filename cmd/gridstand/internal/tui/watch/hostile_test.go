package watch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/gridstand/gridstand/client"
	screen "github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// hostile is a server that sends watchers whatever messages the test sets.
type hostile struct {
	pb.UnimplementedGameServiceServer
	mu      sync.Mutex
	message []*pb.WatchResponse
}

func (h *hostile) Watch(_ *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	h.mu.Lock()
	messages := h.message
	h.mu.Unlock()
	for _, m := range messages {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}

// serveHostile starts a hostile server and connects to it with the client library.
func serveHostile(f *testing.F) (*hostile, *client.Client) {
	f.Helper()
	h, listener := &hostile{}, bufconn.Listen(1<<20)
	server := grpc.NewServer()
	pb.RegisterGameServiceServer(server, h)
	grpctest.Serve(f, server, listener)
	client, err := client.Dial(client.Config{Target: "hostile", DialOptions: []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	}})
	require.NoError(f, err)
	f.Cleanup(func() { assert.NoError(f, client.Close()) })
	return h, client
}

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

// styling matches the escape sequences that pages may write.
var styling = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// harmless requires that a view has only text and styling, and fits on the screen.
func harmless(t *testing.T, content string, height int) {
	t.Helper()
	for _, r := range styling.ReplaceAllString(content, "") {
		if r != '\n' && !unicode.IsPrint(r) {
			require.Failf(t, "control character on the screen", "%q in %q", r, content)
		}
	}
	require.LessOrEqual(t, strings.Count(content, "\n"), height)
}

// FuzzHostile sends a page the messages of a hostile server: escape sequences in names,
// absurd boards, events out of order. The program must not crash, the page must show only
// text and styling, and its version must never decrease.
func FuzzHostile(f *testing.F) {
	event := func(v int32) *pb.WatchResponse {
		return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: tuitest.Moved(v, pb.Direction_DIRECTION_UP, aBoard(), 4)}}
	}
	game := func(alter func(*pb.Game)) *pb.WatchResponse {
		g := tuitest.Game(aBoard())
		alter(g)
		return &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: g}}
	}
	as := game(func(*pb.Game) {}).GetGame().GetVersion()
	for _, messages := range [][]*pb.WatchResponse{
		{game(func(*pb.Game) {}), event(as + 1), event(as + 2), {Update: &pb.WatchResponse_Audience{Audience: 7}}},
		{game(func(g *pb.Game) {
			g.Seats[0].Occupant = &pb.Seat_Player{Player: &pb.Player{Id: g.GetId(), Name: "\x1b]0;owned\a\x1b[2J\u202e\u0085\u009b31m"}}
		})},
		{game(func(g *pb.Game) { g.Variant = "\x1b[6n" + strings.Repeat("w", 10_000) })},
		{game(func(g *pb.Game) { g.GetPosition().GetTwenty48().Tiles[0] = 1 << 30 })},
		{game(func(g *pb.Game) { g.GetPosition().GetTwenty48().Rows = 1 << 30 })},
		{game(func(g *pb.Game) { g.GetPosition().Scores = []int32{-1 << 31} })},
		{game(func(g *pb.Game) { g.Result = &pb.Result{Winners: []int32{99}, Reason: 99} })},
		{game(func(*pb.Game) {}), event(as + 2)},
		{event(as + 1)},
		{game(func(*pb.Game) {}), game(func(g *pb.Game) { g.Version = 1 })},
		{game(func(*pb.Game) {}), {Update: &pb.WatchResponse_Audience{Audience: -1 << 31}}},
	} {
		var data bytes.Buffer
		for _, m := range messages {
			_, err := protodelim.MarshalTo(&data, m)
			require.NoError(f, err)
		}
		f.Add(data.Bytes())
	}
	h, c := serveHostile(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		messages := messagesOf(data)
		if len(messages) == 0 {
			return
		}
		h.mu.Lock()
		h.message = messages
		h.mu.Unlock()
		updates := c.Watch(t.Context(), client.WatchOptions{GameID: tuitest.GameID})
		defer updates.Close()
		env := tuitest.Env(&tuitest.Server{})
		p := New(t.Context(), env, ui.Route{Watch: []string{tuitest.GameID}})
		defer p.Own().Stop()
		p.Init()
		for version := int32(0); ; {
			update, err := updates.Next()
			if err != nil {
				require.True(t, errors.Is(err, client.ErrBadStream) || errors.Is(err, io.EOF), "%v", err)
			}
			if update.Connection.State == client.Reconnecting {
				return
			}
			for _, v := range []int32{update.Game.GetVersion(), update.Event.GetVersion()} {
				if v > 0 && err == nil {
					require.Greater(t, v, version)
					version = v
				}
			}
			p.Continue(tuitest.Result(p.(*page).game.onUpdate, update, err))
			for _, key := range []rune{tea.KeyEnd, tea.KeyLeft, tea.KeyHome} {
				for _, size := range [][2]int{{80, 24}, {30, 10}} {
					env.Width, env.Height = size[0], size[1]
					harmless(t, screen.Draw(env, p, screen.State{}).Content, size[1])
				}
				p.Key(tea.KeyPressMsg{Code: key})
			}
			p.Key(tea.KeyPressMsg{Code: tea.KeyEnd})
			if err != nil {
				return
			}
		}
	})
}
