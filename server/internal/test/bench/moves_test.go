//go:build slow

package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// players is the number of players who make moves concurrently. Each of them has their own game
// and connection, as real players do.
const players = 500

// BenchmarkMoves compares acknowledged moves with bare unary calls.
func BenchmarkMoves(b *testing.B) {
	b.Run("500 players in 500 games", func(b *testing.B) {
		all := newPlayers(b, startOurs(b))
		moves := movesOf(all)
		echoes := echoesOf(b, startBareProcess(b, echo, all[0].event), all)
		ratio.Compare(b, "moves/s", ratio.AtLeast(0.7),
			func() float64 { return perSecond(b, moves, nil) },
			func() float64 { return perSecond(b, echoes, nil) })
	})
	b.Run("and 4 watchers of each game", func(b *testing.B) {
		server := startOurs(b)
		all := newPlayers(b, server)
		plain := startBareProcess(b, prepared, all[0].event)
		moves, echoes := movesOf(all), echoesOf(b, plain, all)
		// Watch each game from its current version.
		var requests, plainRequests []*pb.WatchRequest
		for _, p := range all {
			version := p.event.GetVersion()
			for range 4 {
				requests = append(requests, &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version})
				plainRequests = append(plainRequests, &pb.WatchRequest{GameId: p.game.GetId()})
			}
		}
		// The streams of each game share a connection.
		ours := openAudience(b, server.address, watchPlan{requests: requests, perConnection: 4, versioned: true})
		theirs := openAudience(b, plain.address, watchPlan{requests: plainRequests, perConnection: 4})
		shown := func(a *audience, works []func() error) float64 {
			before := a.total()
			return perSecond(b, works, func(done int64) {
				a.await(b, func() bool { return a.total() >= before+4*done })
			})
		}
		ratio.Compare(b, "moves/s", ratio.AtLeast(0.6),
			func() float64 { return shown(ours, moves) },
			func() float64 { return shown(theirs, echoes) })
	})
}

// newPlayers creates players and makes a first move for each.
func newPlayers(b *testing.B, server *process) []*player {
	b.Helper()
	return playersOn(b, func() grpc.ClientConnInterface { return server.dial(b) })
}

// playersOn is like newPlayers, but the given function connects the players.
func playersOn(b *testing.B, connect func() grpc.ClientConnInterface) []*player {
	b.Helper()
	all := make([]*player, players)
	for i := range all {
		all[i] = newPlayer(b, connect(), fmt.Sprintf("player %d", i))
		require.NoError(b, all[i].move())
	}
	return all
}

// movesOf returns, for each player, a function that makes the next move.
func movesOf(all []*player) []func() error {
	moves := make([]func() error, len(all))
	for i, p := range all {
		moves[i] = p.move
	}
	return moves
}

// echoesOf returns, for each player, a function that makes a bare call over the player's own
// connection.
func echoesOf(b *testing.B, server *process, all []*player) []func() error {
	b.Helper()
	echoes := make([]func() error, len(all))
	for i, p := range all {
		echoes[i] = bareMove(server.dial(b), p.event)
	}
	return echoes
}
