package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/operator"
	"github.com/gridstand/gridstand/internal/names"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// console runs an operator's commands on a store.
type console struct {
	t     *testing.T
	store string
}

// does runs a command that must succeed, name the store on standard error, and print the wanted text.
func (c console) does(want string, args ...string) {
	c.t.Helper()
	code, stdout, stderr := call(c.t, append(args, "--store", c.store)...)
	require.Zero(c.t, code, stderr)
	assert.Equal(c.t, want, stdout, "%v", args)
	assert.Contains(c.t, stderr, " in "+c.store+"\n", "%v", args)
}

// refuses runs a command that must fail with the given reason.
func (c console) refuses(why string, args ...string) {
	c.t.Helper()
	code, stdout, stderr := call(c.t, append(args, "--store", c.store)...)
	assert.Equal(c.t, exitFailed, code, "%v", args)
	assert.Empty(c.t, stdout, "%v", args)
	assert.Contains(c.t, stderr, why, "%v", args)
}

// Ensure that an operator's commands work while a server is running, and report what they
// did with only names, ids and counts: an operator may be a player too.
func TestOperator(t *testing.T) {
	t.Parallel()
	config := servertest.Config(t).Unlimited()
	config.Store = server.File(filepath.Join(t.TempDir(), "games.db"))
	s, _ := servertest.Start(t, config)
	conn, c := servertest.Dial(t, s.Addr()), console{t, config.Store}
	ann, bob := playertest.New(t.Context(), t, conn, "Ann"), playertest.New(t.Context(), t, conn, "Bob")
	var over string
	for _, p := range []*playertest.Player{ann, bob} {
		g := p.Create(t, &pb.CreateGameRequest{Variant: "6x6", Private: true})
		p.Move(t, g)
		p.Resign(t, g)
		over = g.GetId()
	}
	c.refuses("game "+over+": the game is over\n", "quarantine", over)

	var ids []string
	for range 3 {
		ids = append(ids, bob.Create(t, &pb.CreateGameRequest{Variant: "classic"}).GetId())
	}
	// A server reads a public list at most once a second.
	lists := func(want int) {
		waittest.Until(t, "the list has the games", func() bool {
			reply, err := bob.Games.ListGames(bob.Ctx, &pb.ListGamesRequest{})
			require.NoError(t, err)
			return len(reply.GetGames()) == want
		})
	}
	c.does("Bob, id "+bob.ID+": hidden\n", "hide", "bob")
	lists(0)
	c.does("Bob, id "+bob.ID+": visible\n", "unhide", bob.ID)
	lists(3)

	c.refuses("no such game: the whole id is needed, all 26 characters\n", "quarantine", ids[0][:8])
	c.does(ids[0]+"\n", "quarantine", ids[0])
	_, err := bob.Games.GetGame(bob.Ctx, &pb.GetGameRequest{GameId: ids[0]})
	assert.Equal(t, codes.DataLoss, status.Code(err))
	code, stdout, stderr := call(t, "quarantine", "--before", "0001-01-01T00:00:00Z", "--store", c.store)
	assert.Equal(t, exitUsage, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, `--before must be a time such as 2026-11-20T18:00:00Z, or "now", not "0001-01-01T00:00:00Z"`)
	code, stdout, stderr = call(t, "quarantine", "--before", "now", "--store", c.store)
	assert.Zero(t, code, stderr)
	assert.ElementsMatch(t, []string{ids[1] + "\n", ids[2] + "\n"}, slices.Collect(strings.Lines(stdout)))
	assert.Equal(t, "2 games quarantined in "+c.store+"\n", stderr)
	lists(0)

	backup := filepath.Join(t.TempDir(), "copy.db")
	code, stdout, stderr = call(t, "backup", backup, "--store", c.store)
	assert.Zero(t, code, stderr)
	assert.Regexp(t, `^5 games copied from `+regexp.QuoteMeta(c.store)+` to `+regexp.QuoteMeta(backup)+`, \d+ bytes\n$`, stdout)
	code, stdout, stderr = call(t, "rebuild", "--store", "sqlite:"+backup) // no server has the backup open
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "5 games read, 2 of them finished.\n3 games, damaged or quarantined:\n")
	assert.Contains(t, stdout, ids[0]+" (quarantined)\n")
	code, stdout, stderr = call(t, "restore", backup, "--store", server.File(filepath.Join(t.TempDir(), "restored.db")))
	assert.Zero(t, code, stderr)
	assert.Equal(t, "5 games restored\n", stdout)
}

// Ensure that an operator can create, list and revoke the credentials of SSH hosts, and that a
// credential is shown once or written to a file, which keeps it until it is revoked.
func TestOperator_Credentials(t *testing.T) {
	t.Parallel()
	config := servertest.Config(t)
	config.Store = server.File(filepath.Join(t.TempDir(), "games.db"))
	servertest.Start(t, config)
	c := console{t, config.Store}
	const credential = `^gridstand_ssh_[a-z2-7]{26}\n$`
	_, shown, _ := call(t, "ssh-credential", "create", "host-1", "--store", c.store)
	assert.Regexp(t, credential, shown)
	c.refuses("a credential with this name already exists; revoke it first", "ssh-credential", "create", "host-1")
	_, stdout, _ := call(t, "ssh-credential", "list", "--store", c.store)
	assert.Regexp(t, `^host-1  created 20\S+Z\n$`, stdout)
	c.does("", "ssh-credential", "revoke", "host-1")

	file, other := filepath.Join(t.TempDir(), "credential"), filepath.Join(t.TempDir(), "credential")
	c.does("", "ssh-credential", "create", "host-2", "--file", file)
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, credential, string(written))
	_, stdout, _ = call(t, "ssh-credential", "create", "host-2", "--file", file, "--store", c.store)
	assert.Equal(t, file+": already exists\n", stdout)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, written, again)
	c.refuses("a credential with this name already exists; revoke it first", "ssh-credential", "create", "host-2", "--file", other)
	assert.NoFileExists(t, other)
	c.does("", "ssh-credential", "revoke", "host-2")
	c.does("", "ssh-credential", "create", "host-2", "--file", file)
	replaced, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, credential, string(replaced))
	assert.NotEqual(t, written, replaced, "a revoked credential")
	require.NoError(t, os.WriteFile(other, []byte("a note"), 0o600))
	c.refuses("file already exists", "ssh-credential", "create", "host-3", "--file", other)
	note, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Equal(t, "a note", string(note))
	c.does("", "ssh-credential", "revoke", "host-2")
	var errs bytes.Buffer
	code := run(t.Context(), []string{"ssh-credential", "create", "host-3", "--store", c.store}, fullDisk{}, &errs)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, errs.String(), "host-3: not created, because the credential could not be written: no space left on device\n")
	c.does("", "ssh-credential", "list")
	for _, name := range []string{"a b", "ä", "abcdefghijklmnopqrstuvwxyz"} {
		c.refuses("name must be 1 to 24 characters", "ssh-credential", "create", name)
	}
	for i := range 16 {
		code, _, _ := call(t, "ssh-credential", "create", fmt.Sprint("more-", i), "--store", c.store)
		require.Zero(t, code)
	}
	c.refuses("the maximum of 16 credentials is reached; revoke one first", "ssh-credential", "create", "too-many")
}

// Ensure that no new account can have the name of an operator's command.
func TestCommands_Reserved(t *testing.T) {
	t.Parallel()
	for _, command := range operator.Commands() {
		if !command.Hidden {
			assert.True(t, names.Reserved(command.Name()), command.Name())
		}
	}
}
