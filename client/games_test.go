package client_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestPlayerByName(t *testing.T) {
	t.Parallel()
	ada := &pb.Player{Id: playerID, Name: "Ada"}
	f := &fake{getPlayer: func(_ int, _ context.Context, r *pb.GetPlayerRequest) (*pb.Player, error) {
		assert.Empty(t, r.GetPlayerId())
		switch strings.ToLower(r.GetName()) {
		case "ada", "bob":
			return ada, nil
		case "cut":
			return &pb.Player{Id: "cut", Name: "cut"}, nil
		default:
			return nil, refuse(codes.NotFound, pb.ReasonPlayerNotFound)
		}
	}}
	c := f.client(t)
	for _, name := range []string{"Ada", "ada", "ADA", "bob"} { // Bob is now called Ada.
		player, err := c.PlayerByName(waittest.Context(t), name)
		require.NoError(t, err)
		assert.Equal(t, playerID, player.GetId())
	}
	for name, want := range map[string]error{
		"Eve": client.ErrPlayerNotFound, "\xff": client.ErrPlayerNotFound,
		"cut": client.ErrBadStream,
	} {
		_, err := c.PlayerByName(waittest.Context(t), name)
		assert.ErrorIs(t, err, want, name)
	}
}

func TestCurrentGame(t *testing.T) {
	t.Parallel()
	of := func(id string, change func(g *pb.Game)) *pb.Game {
		g := gameAt(3)
		g.Id = id
		if change != nil {
			change(g)
		}
		return g
	}
	over := of("a", func(g *pb.Game) { g.Status = pb.GameStatus_GAME_STATUS_FINISHED })
	waits := of("b", func(g *pb.Game) { g.Status = pb.GameStatus_GAME_STATUS_WAITING })
	private := of("c", func(g *pb.Game) { g.Private = true })
	created := of("d", func(g *pb.Game) { g.Seats = []*pb.Seat{{Occupant: &pb.Seat_Bot{Bot: "greedy"}}} })
	resigned := of("e", func(g *pb.Game) { g.Seats[0].Resigned = true })
	broken := of("f", func(g *pb.Game) { g.Position = nil })
	for name, test := range map[string]struct {
		games []*pb.Game
		want  string
		err   error
	}{
		"none":              {},
		"the latest":        {games: []*pb.Game{of(gameID, nil), of(otherID, nil)}, want: gameID},
		"the latest active": {games: []*pb.Game{over, waits, private, created, resigned, of(otherID, nil), of(gameID, nil)}, want: otherID},
		"all finished":      {games: []*pb.Game{over, over}},
		"broken":            {games: []*pb.Game{broken}, err: client.ErrBadStream},
	} {
		f := &fake{listGames: func(_ int, _ context.Context, r *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
			assert.Equal(t, playerID, r.GetPlayerId())
			return &pb.ListGamesResponse{Games: test.games, NextPageToken: "more"}, nil
		}}
		g, found, err := f.client(t).CurrentGame(waittest.Context(t), playerID)
		assert.ErrorIs(t, err, test.err, name)
		assert.Equal(t, test.want != "", found, name)
		assert.Equal(t, test.want, g.GetId(), name)
	}
	f := &fake{listGames: func(int, context.Context, *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
		return nil, badToken()
	}}
	_, found, err := f.client(t).CurrentGame(waittest.Context(t), playerID)
	assert.ErrorIs(t, err, client.ErrBadToken)
	assert.False(t, found)

	f = &fake{listGames: func(int, context.Context, *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
		return &pb.ListGamesResponse{Games: []*pb.Game{created}}, nil
	}}
	for _, none := range []string{"", "me"} { // "" is not the id of a bot
		_, found, err = f.client(t).CurrentGame(waittest.Context(t), none)
		assert.ErrorIs(t, err, client.ErrInvalid, none)
		assert.False(t, found)
	}
}
