//go:build slow

package compose

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
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
	e := nextEvent(p.t, p.spectator, what+": the spectator has lost the game")
	require.Equal(p.t, p.game.GetVersion(), e.GetVersion(), what)
}

// nextEvent returns the next event of a game.
func nextEvent(t *testing.T, w *client.Watch, lost string) *pb.Event {
	t.Helper()
	for {
		u, err := w.Next()
		require.NoError(t, err, lost)
		if u.Event != nil {
			return u.Event
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
		_, err := verify.Game(waittest.Context(p.t), c, p.game.GetId())
		require.NoError(p.t, err, server)
		// All events but the creation were acknowledged.
		w := c.Watch(waittest.Context(p.t), client.WatchOptions{
			GameID: p.game.GetId(), AfterVersion: proto.Int32(1), EveryEvent: true,
		})
		for _, acked := range p.acked {
			e := nextEvent(p.t, w, server+": an acknowledged move was lost")
			assert.True(p.t, proto.Equal(acked, e), "%s: an acknowledged move was changed: %v", server, e)
		}
		w.Close()
		waittest.Until(p.t, "the score is on the leaderboard", func() bool {
			got, err := c.Leaderboard.GetRank(p.t.Context(), &pb.GetRankRequest{Variant: "6x6", PlayerId: p.player.PlayerID()})
			return err == nil && got.GetEntry().GetScore() == p.game.GetPosition().GetScores()[0]
		})
	}
}
