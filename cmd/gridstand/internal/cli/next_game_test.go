package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that players who want another game after one meet in it, and that a player of another game, or one who
// needs two seats, does not get there.
func TestNextGame(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.Config(t))
	ctx := waittest.Context(t)
	player := func(name string) *client.Client {
		c := servertest.Client(t, client.Config{Target: s.Addr().String()})
		_, token, err := c.CreatePlayer(ctx, name, false)
		require.NoError(t, err)
		c.SetToken(token)
		return c
	}
	seats := client.GameOptions{Seats: []*pb.SeatRequest{ui.SeatRequest(ui.SeatMe), ui.SeatRequest(ui.SeatOpen), ui.SeatRequest("greedy")}}
	ann, bob, eve := player("ann"), player("bob"), player("eve")
	over, err := ann.NewGame(ctx, "tribolo", seats)
	require.NoError(t, err)
	over, err = bob.Join(ctx, over.GetId(), nil)
	require.NoError(t, err)

	options := seats
	next := func(c *client.Client, over *pb.Game) *pb.Game {
		g, err := ui.NewServer(c).NewGame(ctx, ui.NewGame{Variant: "tribolo", Options: options, After: over})
		require.NoError(t, err)
		return g.Game
	}
	waits := next(ann, over.Game)
	_, err = ann.Watch(ctx, client.WatchOptions{GameID: waits.GetId()}).Next()
	require.NoError(t, err)
	waittest.Until(t, "the game is listed", func() bool {
		reply, err := eve.Games.ListGames(ctx, &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_WAITING})
		return assert.NoError(t, err) && len(reply.GetGames()) == 1
	})
	alone, err := eve.NewGame(ctx, "tribolo", seats)
	require.NoError(t, err)
	assert.NotEqual(t, waits.GetId(), next(eve, alone.Game).GetId())
	options.Seats = []*pb.SeatRequest{ui.SeatRequest(ui.SeatMe), ui.SeatRequest(ui.SeatMe), ui.SeatRequest(ui.SeatOpen)}
	assert.NotEqual(t, waits.GetId(), next(bob, over.Game).GetId())
	options = seats
	assert.Equal(t, waits.GetId(), next(bob, over.Game).GetId())
}
