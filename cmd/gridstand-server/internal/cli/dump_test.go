package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
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

// Ensure that accounts, games and scores are unchanged after a store was moved from a file to Redis,
// and from there to another file; a file also while its server is running.
func TestDump(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	redis := "redis://" + redistest.StartMiniredis(t).Addr()
	stores := []string{server.File(filepath.Join(dir, "one.db")), redis, server.File(filepath.Join(dir, "two.db"))}
	dump := func(n int) string { return filepath.Join(dir, strconv.Itoa(n)) }

	var token string
	var want []proto.Message
	for i, store := range stores {
		if i > 0 {
			code, stdout, stderr := call(t, "restore", "--store", store, dump(i-1))
			require.Zero(t, code, stderr)
			assert.Regexp(t, `^3 games with \d+ entries, 1 account and \d+ challenges? restored\n$`, stdout)
			assert.Contains(t, stderr, "quarantine --before now")
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
		if store == redis { // A server counts as running once its first heartbeat is stored.
			waittest.Until(t, "dump refuses a Redis whose server is running", func() bool {
				code, _, stderr := call(t, "dump", "--store", store, filepath.Join(t.TempDir(), "dump"))
				return code == exitFailed && strings.HasSuffix(stderr, "first\n")
			})
			stop()
		}
		code, stdout, stderr := call(t, "dump", "--store", store, dump(i))
		require.Zero(t, code, stderr)
		assert.Regexp(t, `^3 games with \d+ entries, 1 account and \d+ challenges? dumped\n$`, stdout)
		info, err := os.Stat(dump(i))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())
		stop()
	}
	for _, store := range stores {
		code, _, stderr := call(t, "restore", "--store", store, dump(0))
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stderr, ": it has data; --replace deletes that first\n")
		code, _, stderr = call(t, "restore", "--replace", "--store", store, dump(0))
		assert.Zero(t, code, stderr)
	}
	code, _, stderr := call(t, "dump", "--store", redis, dump(0))
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "file already exists")

	// A dump of a file with a corrupt page fails, and leaves no file.
	code, _, stderr = call(t, "ssh-credential", "create", "kiosk", "--store", stores[0])
	require.Zero(t, code, stderr)
	file := filepath.Join(dir, "one.db")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	page := data[bytes.Index(data, []byte("kiosk"))&^4095:]
	clear(page[:100])
	require.NoError(t, os.WriteFile(file, data, 0o600))
	code, _, stderr = call(t, "dump", "--store", stores[0], dump(9))
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "one.db .recover | ")
	assert.NoFileExists(t, dump(9))
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
	kept := []proto.Message{board.GetEntries()[0]}
	for _, g := range listed.GetGames() {
		kept = append(kept, g)
	}
	return kept
}
