package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/operator"
	"github.com/gridstand/gridstand/internal/reserved"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that an operator's commands work while a server is running, and report what they
// did.
func TestOperator(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		operate(t, server.File(filepath.Join(t.TempDir(), "games.db")), true)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		operate(t, "redis://"+redistest.StartMiniredis(t).Addr()+"/0", false)
	})
}

// Ensure that the commands that name a challenge or its players print only names, ids and counts:
// an operator may be a player too.
func TestOperator_Challenge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	c := servertest.Config(t).Unlimited()
	c.Store = server.File(filepath.Join(t.TempDir(), "games.db"))
	s, _ := servertest.Start(t, c)
	conn := servertest.Dial(t, s.Addr())
	ann, bob := playertest.New(t.Context(), t, conn, "Ann"), playertest.New(t.Context(), t, conn, "Bob")
	created, err := pb.NewChallengeServiceClient(conn).CreateChallenge(ann.Ctx,
		&pb.CreateChallengeRequest{Kind: pb.ChallengeKind_CHALLENGE_KIND_LINK, Variant: "6x6"})
	require.NoError(t, err)
	challenge := created.GetChallenge().GetId()
	var same []string
	for _, p := range []*playertest.Player{ann, bob} {
		g := p.Create(t, &pb.CreateGameRequest{ChallengeId: challenge})
		for range 110 {
			p.Move(t, g)
		}
		p.Resign(t, g)
		same = append(same, g.GetId())
	}
	slices.Sort(same)
	cat := playertest.New(t.Context(), t, conn, "Cat")
	open := cat.Create(t, &pb.CreateGameRequest{ChallengeId: challenge})
	cat.Move(t, open)

	require.Eventually(t, func() bool { // the standings may be late
		code, stdout, stderr := call(t, "identical", challenge, "--store", c.Store)
		return code == 0 && stdout == strings.Join(same, " ")+"\n" && stderr == "1 group of identical attempts in "+c.Store+"\n"
	}, 5*time.Minute, 10*time.Millisecond)
	for _, tt := range []struct{ command, argument, stdout, stderr string }{
		{"hide", "bob", "Bob, id " + bob.ID + ": hidden\n", "1 player hidden"},
		{"identical", challenge, "", "0 groups of identical attempts"},
		{"unhide", "bob", "Bob, id " + bob.ID + ": shown again\n", "1 player shown again"},
		{"quarantine", open.GetId(), open.GetId() + "\n", "1 game quarantined"},
	} {
		code, stdout, stderr := call(t, tt.command, tt.argument, "--store", c.Store)
		assert.Zero(t, code, tt.command)
		assert.Equal(t, tt.stdout, stdout, tt.command)
		assert.Equal(t, tt.stderr+" in "+c.Store+"\n", stderr, tt.command)
	}
	code, stdout, stderr := call(t, "quarantine", same[0], "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Equal(t, "gridstand-server: "+c.Store+": game "+same[0]+": the game is over\n", stderr)
}

// operate runs the operator commands on a store. alone is set if some of them need
// exclusive access to the store.
func operate(t *testing.T, store string, alone bool) {
	c := servertest.Config(t)
	c.Store = store
	server, _ := servertest.Start(t, c)
	conn := servertest.Dial(t, server.Addr())
	ann := playertest.New(t.Context(), t, conn, "Ann")
	ctx, games := ann.Ctx, ann.Games
	var ids []string
	for range 3 {
		ids = append(ids, ann.Create(t, &pb.CreateGameRequest{Variant: "classic"}).GetId())
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
		assert.Contains(t, stderr, " in "+store, "the store must be named")
	}
	id := ann.ID
	does("Ann, id "+id+": hidden\n", "hide", "ann")
	assert.Zero(t, listed())
	does("Ann, id "+id+": shown again\n", "unhide", id)
	assert.Equal(t, 3, listed())

	_, err := pb.NewChallengeServiceClient(conn).GetChallenge(ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: "classic"}})
	require.NoError(t, err)
	does("", "identical", "daily")
	code, _, stderr := call(t, "identical", "daily", "--variant", "6x6", "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, `there is no daily game of "6x6" today`)

	code, _, stderr = call(t, "quarantine", ids[0][:8], "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "no such game: the whole id is needed, all 26 characters\n")
	does(ids[0]+"\n", "quarantine", ids[0])
	_, err = games.GetGame(ctx, &pb.GetGameRequest{GameId: ids[0]})
	assert.Equal(t, codes.DataLoss, status.Code(err))
	code, stdout, stderr := call(t, "fence", "--before", "now", "--store", c.Store)
	assert.Zero(t, code, stderr)
	assert.ElementsMatch(t, []string{ids[1] + "\n", ids[2] + "\n"}, slices.Collect(strings.Lines(stdout)))
	assert.Equal(t, "2 games quarantined in "+store+"\n", stderr)
	code, _, stderr = call(t, "hide", "nobody", "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "gridstand-server: "+store+": there is no such player\n", stderr)
	assert.Zero(t, listed())

	code, credential, _ := call(t, "ssh-credential", "create", "host-1", "--store", c.Store)
	assert.Zero(t, code)
	assert.Regexp(t, `^gridstand_ssh_[a-z2-7]{26}\n$`, credential)
	code, stdout, stderr = call(t, "ssh-credential", "create", "host-1", "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "a credential with this name already exists; revoke it first")
	code, stdout, _ = call(t, "ssh-credential", "list", "--store", c.Store)
	assert.Zero(t, code)
	assert.Regexp(t, `^host-1  created 20\S+Z\n$`, stdout)
	does("host-1: revoked\n", "ssh-credential", "revoke", "host-1")
	file := filepath.Join(t.TempDir(), "credential")
	does("", "ssh-credential", "create", "host-2", "--file", file)
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, `^gridstand_ssh_[a-z2-7]{26}\n$`, string(written))
	code, stdout, stderr = call(t, "ssh-credential", "create", "host-2", "--file", file, "--store", c.Store)
	assert.Zero(t, code, stderr)
	assert.Equal(t, file+": already exists\n", stdout)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, written, again)
	other := filepath.Join(t.TempDir(), "credential")
	code, _, stderr = call(t, "ssh-credential", "create", "host-2", "--file", other, "--store", c.Store)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "a credential with this name already exists; revoke it first")
	assert.NoFileExists(t, other)
	does("host-2: revoked\n", "ssh-credential", "revoke", "host-2")
	var errs bytes.Buffer
	code = run(ctx, []string{"ssh-credential", "create", "host-3", "--store", c.Store}, fullDisk{}, &errs)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, errs.String(), "host-3: not created, because the credential could not be written: no space left on device\n")
	does("", "ssh-credential", "list")

	if alone {
		code, _, stderr := call(t, "rebuild", "--store", c.Store)
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stderr, "another server is using it: process "+strconv.Itoa(os.Getpid())+"; stop it first\n")
		backup := filepath.Join(t.TempDir(), "copy.db")
		code, stdout, stderr = call(t, "backup", backup, "--store", c.Store)
		assert.Zero(t, code, stderr)
		assert.Regexp(t, `^3 games copied from `+regexp.QuoteMeta(store)+` to `+regexp.QuoteMeta(backup)+`, \d+ bytes\n$`, stdout)
		code, _, stderr = call(t, "backup", backup, "--store", c.Store)
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stderr, "already exists", "the file must not be overwritten")
		c.Store = "sqlite:" + backup // no server has the backup open
	}
	code, stdout, stderr = call(t, "rebuild", "--store", c.Store)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "3 games read, 0 of them finished; 0 entries removed from the leaderboards.\n3 games, damaged or quarantined:\n")
	assert.Contains(t, stdout, ids[0]+" (quarantined)\n")
}

// Ensure that no new account can have the name of an operator's command.
func TestCommands_Reserved(t *testing.T) {
	t.Parallel()
	for _, command := range operator.Commands() {
		if !command.Hidden {
			assert.True(t, reserved.Name(command.Name()), command.Name())
		}
	}
}
