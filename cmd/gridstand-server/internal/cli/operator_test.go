package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that an operator's commands do their work beside a server and say what
// they did.
func TestOperator(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		operate(t, server.File(filepath.Join(t.TempDir(), "games.db")), true)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		operate(t, "redis://"+redistest.StartMiniredis(t).Addr(), false)
	})
}

// operate runs the commands on a store; alone says that some need it for themselves.
func operate(t *testing.T, store string, alone bool) {
	c := servertest.Config(t)
	c.Store = store
	server, _ := servertest.Start(t, c)
	conn := servertest.Dial(t, server.Addr())
	ann, err := pb.NewPlayerServiceClient(conn).CreatePlayer(t.Context(), &pb.CreatePlayerRequest{Name: "Ann"})
	require.NoError(t, err)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+ann.GetToken())
	games := pb.NewGameServiceClient(conn)
	var ids []string
	for range 3 {
		created, err := games.CreateGame(ctx, &pb.CreateGameRequest{Variant: "classic"})
		require.NoError(t, err)
		ids = append(ids, created.GetGame().GetId())
	}
	listed := func() int {
		reply, err := games.ListGames(ctx, &pb.ListGamesRequest{})
		require.NoError(t, err)
		return len(reply.GetGames())
	}
	does := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := call(t, append(args, "--store", c.Store)...)
		require.Zero(t, code, stderr)
		assert.Equal(t, want, stdout)
		assert.Empty(t, stderr)
	}
	id := ann.GetPlayer().GetId()
	does("Ann, id "+id+": hidden\n", "hide", "ann")
	assert.Zero(t, listed())
	does("Ann, id "+id+": shown again\n", "unhide", id)
	assert.Equal(t, 3, listed())

	does(ids[0]+"\n", "quarantine", ids[0])
	_, err = games.GetGame(ctx, &pb.GetGameRequest{GameId: ids[0]})
	assert.Equal(t, codes.DataLoss, status.Code(err))
	code, stdout, stderr := call(t, "fence", "--before", "now", "--store", c.Store)
	assert.Zero(t, code, stderr)
	assert.ElementsMatch(t, []string{ids[1] + "\n", ids[2] + "\n"}, slices.Collect(strings.Lines(stdout)))
	assert.Zero(t, listed())

	code, credential, _ := call(t, "ssh-credential", "create", "host-1", "--store", c.Store)
	assert.Zero(t, code)
	assert.Regexp(t, `^gridstand_ssh_[a-z2-7]{26}\n$`, credential)
	code, stdout, stderr = call(t, "ssh-credential", "create", "host-1", "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "there is a credential of this name already; revoke it first")
	code, stdout, _ = call(t, "ssh-credential", "list", "--store", c.Store)
	assert.Zero(t, code)
	assert.Regexp(t, `^host-1  created 20\S+Z\n$`, stdout)
	does("host-1: revoked\n", "ssh-credential", "revoke", "host-1")
	file := filepath.Join(t.TempDir(), "credential")
	does("", "ssh-credential", "create", "host-2", "--file", file)
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, `^gridstand_ssh_[a-z2-7]{26}\n$`, string(written))
	does(file+": exists already\n", "ssh-credential", "create", "host-2", "--file", file)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, written, again)
	other := filepath.Join(t.TempDir(), "credential")
	code, _, stderr = call(t, "ssh-credential", "create", "host-2", "--file", other, "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "there is a credential of this name already; revoke it first")
	assert.NoFileExists(t, other)
	does("host-2: revoked\n", "ssh-credential", "revoke", "host-2")
	does("", "ssh-credential", "list")

	if alone {
		code, _, stderr := call(t, "rebuild", "--store", c.Store)
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stderr, "another server uses it: process "+strconv.Itoa(os.Getpid())+"; stop it first\n")
		backup := filepath.Join(t.TempDir(), "copy.db")
		does("", "backup", backup)
		code, _, stderr = call(t, "backup", backup, "--store", c.Store)
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stderr, "already exists", "nothing is overwritten")
		c.Store = "sqlite:" + backup // on which no server runs
	}
	code, stdout, stderr = call(t, "rebuild", "--store", c.Store)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "3 games read, 0 of them over; 0 entries taken off the leaderboards.\n3 games are damaged:\n")
}
