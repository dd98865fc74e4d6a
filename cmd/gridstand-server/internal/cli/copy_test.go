package cli

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that players find everything as it was after it was copied from a file to a
// Redis, and from there to another file.
func TestCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, redis := server.File(filepath.Join(dir, "one.db")), "redis://"+redistest.StartMiniredis(t).Addr()
	stores := []string{file, redis, server.File(filepath.Join(dir, "two.db"))}

	var token string
	var want []proto.Message
	for i, store := range stores {
		if i > 0 {
			code, stdout, stderr := call(t, "copy", "--from", stores[i-1], "--to", store)
			require.Zero(t, code, stderr)
			assert.Regexp(t, `^3 games with \d+ entries, 1 accounts and [1-9]\d* scores copied\.\n$`, stdout)
			assert.Empty(t, stderr)
		}
		c := servertest.Config(t)
		c.Store = store
		srv, stop := servertest.Start(t, c)
		conn := servertest.Dial(t, srv.Addr())
		if i == 0 {
			created, err := pb.NewPlayerServiceClient(conn).CreatePlayer(t.Context(), &pb.CreatePlayerRequest{Name: "Ann"})
			require.NoError(t, err)
			token = created.GetToken()
		}
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		games := pb.NewGameServiceClient(conn)
		if i == 0 {
			playSome(ctx, t, games)
		}
		kept := keptBy(ctx, t, games, pb.NewLeaderboardServiceClient(conn))
		if i == 0 {
			want = kept
		}
		require.Len(t, kept, len(want))
		for n := range want {
			assert.True(t, proto.Equal(want[n], kept[n]), "on %s:\n%v\ninstead of\n%v", store, kept[n], want[n])
		}
		if i < 2 {
			code, _, stderr := call(t, "copy", "--from", store, "--to", server.File(filepath.Join(dir, "other.db")))
			assert.Equal(t, exitFailed, code)
			assert.Contains(t, stderr, "first\n", "its server runs")
			assert.NoFileExists(t, filepath.Join(dir, "other.db"))
		}
		stop()
	}
	code, _, stderr := call(t, "copy", "--from", redis, "--to", file)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "gridstand-server: the store to copy to is not empty\n", stderr)
	assert.FileExists(t, filepath.Join(dir, "one.db"))
}

// playSome plays three games, one of them to its end.
func playSome(ctx context.Context, t *testing.T, games pb.GameServiceClient) {
	t.Helper()
	for n := range 3 {
		created, err := games.CreateGame(ctx, &pb.CreateGameRequest{Variant: "classic"})
		require.NoError(t, err)
		g := created.GetGame()
		version, position := g.GetVersion(), g.GetPosition()
		for range 30 {
			moved, err := games.Move(ctx, &pb.MoveRequest{
				GameId: g.GetId(), Version: version,
				Move: &pb.MoveRequest_Direction{Direction: position.GetTwenty48().GetLegalMoves()[0]},
			})
			require.NoError(t, err)
			version, position = moved.GetEvent().GetVersion(), moved.GetEvent().GetPosition()
		}
		if n == 0 {
			_, err := games.Resign(ctx, &pb.ResignRequest{GameId: g.GetId()})
			require.NoError(t, err)
		}
	}
}

// keptBy is what a server says of the games and scores of a player.
func keptBy(ctx context.Context, t *testing.T, games pb.GameServiceClient, scores pb.LeaderboardServiceClient) []proto.Message {
	t.Helper()
	listed, err := games.ListGames(ctx, &pb.ListGamesRequest{PlayerId: "me"})
	require.NoError(t, err)
	require.Len(t, listed.GetGames(), 3)
	board, err := scores.ListScores(ctx, &pb.ListScoresRequest{Variant: "classic"})
	require.NoError(t, err)
	require.Len(t, board.GetEntries(), 1)
	rank, err := scores.GetRank(ctx, &pb.GetRankRequest{Variant: "classic", PlayerId: "me"})
	require.NoError(t, err)
	kept := []proto.Message{rank.GetEntry(), board.GetEntries()[0]}
	for _, g := range listed.GetGames() {
		kept = append(kept, g)
	}
	return kept
}
