package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that accounts, games and scores are unchanged after the store has been copied
// from a file to Redis, and from there to another file.
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
			assert.Regexp(t, `^3 games with \d+ entries, 1 account and [1-9]\d* scores? copied\.\n$`, stdout)
			assert.Regexp(t, `^(\d+ games and \d+ scores so far\n)*$`, stderr) // only if copying takes seconds
		}
		c := servertest.Config(t)
		c.Store = store
		srv, stop := servertest.Start(t, c)
		conn := servertest.Dial(t, srv.Addr())
		if i == 0 {
			ann := playertest.New(t.Context(), t, conn, "Ann")
			playSome(t, ann)
			token = ann.Token
		}
		ctx := playertest.WithToken(t.Context(), token)
		kept := keptBy(ctx, t, pb.NewGameServiceClient(conn), pb.NewLeaderboardServiceClient(conn))
		if i == 0 {
			want = kept
		}
		require.Len(t, kept, len(want))
		for n := range want {
			assert.True(t, proto.Equal(want[n], kept[n]), "on %s:\n%v\nwant\n%v", store, kept[n], want[n])
		}
		if i < 2 {
			// On Redis a server counts as running once its first heartbeat is stored.
			var other string
			waittest.Until(t, "copy refuses a store whose server is running", func() bool {
				other = filepath.Join(t.TempDir(), "other.db")
				code, _, stderr := call(t, "copy", "--from", store, "--to", server.File(other))
				return code == exitFailed && strings.HasSuffix(stderr, "first\n")
			})
			assert.NoFileExists(t, other)
		}
		stop()
	}
	code, _, stderr := call(t, "copy", "--from", redis, "--to", file)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "gridstand-server: the store to copy to is not empty; copy to a new file or to an empty Redis database\n", stderr)
	assert.FileExists(t, filepath.Join(dir, "one.db"))

	other := filepath.Join(dir, "other.db")
	code, _, stderr = call(t, "copy", "--from", redis+"/7", "--to", server.File(other))
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "gridstand-server: the store to copy from is empty\n", stderr, "another database")
	assert.NoFileExists(t, other)
}

// Ensure that a file cannot be copied to itself, and that a path that the shell does not expand is
// refused.
func TestCopy_WrongTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from := server.File(filepath.Join(dir, "one.db"))
	c := servertest.Config(t)
	c.Store = from
	_, stop := servertest.Start(t, c)
	stop()
	for to, want := range map[string]string{
		from:                           "must not be the same store as --from",
		server.File(dir + "/./one.db"): "must not be the same store as --from",
		"sqlite:~/two.db":              "write sqlite:$HOME/two.db",
	} {
		code, _, stderr := call(t, "copy", "--from", from, "--to", to)
		assert.NotZero(t, code)
		assert.Contains(t, stderr, want)
	}
	assert.NoDirExists(t, "~")
}

// playSome plays three games and finishes one of them.
func playSome(t *testing.T, p *playertest.Player) {
	t.Helper()
	for n := range 3 {
		g := p.Create(t, &pb.CreateGameRequest{Variant: "classic"})
		for range 20 {
			p.Move(t, g)
		}
		if n == 0 {
			p.Resign(t, g)
		}
	}
}

// keptBy returns the player's scores and games, as reported by the server.
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
