//go:build slow

package compose

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	transcripts "github.com/gridstand/gridstand/internal/testkit/transcript"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// party is a player with a game and a spectator of it. They go on, whatever happens to the servers.
type party struct {
	t         *testing.T
	player    *client.Client
	game      client.Game
	seat      *client.Seat
	spectator *client.Watch
	acked     []*pb.Event // every event that the player caused
}

// begin starts a party at the given address.
func begin(t *testing.T, address string) *party {
	t.Helper()
	p := &party{t: t, player: dial(t, address)}
	_, token, err := p.player.CreatePlayer(t.Context(), "ada", false)
	require.NoError(t, err)
	p.player.SetToken(token)
	p.game, err = p.player.NewGame(t.Context(), "6x6", client.GameOptions{RequestID: client.NewSecret()})
	require.NoError(t, err)
	p.seat = p.player.Seat(p.game)
	p.spectator = dial(t, address).Watch(context.WithoutCancel(t.Context()), client.WatchOptions{
		GameID: p.game.GetId(), AfterVersion: proto.Int32(p.game.GetVersion()), EveryEvent: true,
	})
	t.Cleanup(p.spectator.Close)
	return p
}

// goesOn makes several more moves, each of which the spectator must see.
func (p *party) goesOn(what string) {
	p.t.Helper()
	for range 5 {
		direction := playertest.Lasting(p.game.GetVersion(), p.game.GetPosition())
		e, err := p.seat.Move(waittest.Context(p.t), p.game.GetVersion(), client.Slide(direction), false)
		require.NoError(p.t, err, "%s: the player is stuck", what)
		p.acked = append(p.acked, e)
		p.game.Apply(e)
		p.seen(what)
	}
}

// seen checks that the next event that the spectator sees is the player's last one.
func (p *party) seen(what string) {
	p.t.Helper()
	for {
		u, err := p.spectator.Next()
		require.NoError(p.t, err, "%s: the spectator has lost the game", what)
		if u.Event != nil {
			require.Equal(p.t, p.game.GetVersion(), u.Event.GetVersion(), what)
			return
		}
	}
}

// end resigns the game.
func (p *party) end() {
	p.t.Helper()
	e, err := p.seat.Resign(waittest.Context(p.t))
	require.NoError(p.t, err)
	p.acked = append(p.acked, e)
	p.game.Apply(e)
	p.seen("the end")
}

// check compares what the player was told with each server's data, and the leaderboard with the score.
func (p *party) check(servers ...string) {
	p.t.Helper()
	for _, server := range servers {
		c := dial(p.t, server)
		events := transcript(p.t, c, p.game.GetId())
		_, err := verify.Transcript(transcripts.All(events))
		require.NoError(p.t, err, server)
		// All events but the creation were acknowledged.
		same := slices.EqualFunc(events[1:], p.acked, func(a, b *pb.Event) bool { return proto.Equal(a, b) })
		assert.True(p.t, same, "%s: an acknowledged move was lost or changed", server)
		waittest.Until(p.t, "the score is on the leaderboard", func() bool {
			got, err := c.Leaderboard.GetRank(p.t.Context(), &pb.GetRankRequest{Variant: "6x6", PlayerId: p.player.PlayerID()})
			return err == nil && got.GetEntry().GetScore() == p.game.GetPosition().GetScores()[0]
		})
	}
}

// transcript returns all events of a finished game.
func transcript(t *testing.T, c *client.Client, gameID string) []*pb.Event {
	t.Helper()
	w := c.Watch(waittest.Context(t), client.WatchOptions{GameID: gameID, AfterVersion: proto.Int32(0), EveryEvent: true})
	defer w.Close()
	var events []*pb.Event
	for {
		u, err := w.Next()
		if errors.Is(err, io.EOF) {
			require.NotEmpty(t, events)
			return events
		}
		require.NoError(t, err, "the transcript of %s", gameID)
		if u.Event != nil {
			events = append(events, u.Event)
		}
	}
}
