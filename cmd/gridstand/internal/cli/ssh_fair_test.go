//go:build unix

package cli

import (
	"encoding/base64"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/internal/sshsig"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// escapes matches the control sequences of a terminal.
var escapes = regexp.MustCompile(`\x1b(\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\))`)

// Ensure that neither an SSH host's terminals nor the client's commands show the seed of an open
// daily game, or show another player's attempt to a player who has not finished.
func TestSSH_Fair_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	clock := noon()
	address, credential, _ := hostedServer(t, func(c *server.Config) { *c = c.Unlimited(); c.StoreNow = clock.now })
	h := startSSH(t, address, "--credential-file", credential)
	tcp, err := net.ResolveTCPAddr("tcp", address)
	require.NoError(t, err)
	conn := servertest.Dial(t, tcp)
	challenges := pb.NewChallengeServiceClient(conn)
	daily := &pb.DailyRequest{Date: clock.now().UTC().Format(time.DateOnly)}
	today, err := challenges.GetChallenge(t.Context(), &pb.GetChallengeRequest{Daily: daily})
	require.NoError(t, err)

	key, owner := sshtest.Key(t), playertest.New(t.Context(), t, conn, "Owner")
	signature, err := sshsig.Sign(key, "gridstand", owner.ID)
	require.NoError(t, err)
	_, err = pb.NewPlayerServiceClient(conn).AddKey(owner.Ctx, &pb.AddKeyRequest{Signature: signature})
	require.NoError(t, err)
	own := recordSSH(t, h, key)
	own.terminal("daily", "SCORE")
	own.run("daily")
	game := owner.Create(t, &pb.CreateGameRequest{ChallengeId: today.GetChallenge().GetId()})
	var board *regexp.Regexp // matches a full row of the owner's board that has a tile of 16 or more
	for board == nil {
		owner.Move(t, game)
		for row := range slices.Chunk(game.GetPosition().GetTwenty48().GetTiles(), 4) {
			if !slices.Contains(row, 0) && slices.Max(row) >= 16 {
				board = regexp.MustCompile(`\b` + strings.ReplaceAll(strings.Trim(fmt.Sprint(row), "[]"), " ", `\D{1,400}`) + `\b`)
			}
		}
	}
	own.terminal("daily", "SCORE")
	assert.Regexp(t, board, own.shown(), "the owner's own terminal")

	id := game.GetId()
	other, user := recordSSH(t, h, sshtest.Key(t)), newUser(t, address, "carol")
	for command, pattern := range map[string]string{
		"": "Live games", "standings daily": "results", "watch " + id: "hidden", "play " + id: "hidden", "watch @Owner": "not playing", "tv": "live game",
	} {
		other.terminal(command, pattern)
	}
	for _, command := range []string{"daily", "standings daily", "watch " + id, "games", "top", "help"} {
		other.run(command)
	}
	// commands runs all commands that concern the attempt and returns their output.
	commands := func() string {
		var all strings.Builder
		for _, command := range []string{
			"daily", "standings daily", "standings daily --json", "show " + id, "show " + id + " --json", "verify " + id,
			"watch " + id, "watch " + id + " --from 0 --json", "games", "games --json --status all", "top",
		} {
			out, err, _ := user.run(strings.Fields(command)...)
			all.WriteString(out + err)
		}
		return all.String()
	}
	before := commands()
	other.terminal("daily", "call", "\r", "SCORE")

	clock.forward(12 * time.Hour)
	var seed []byte
	require.Eventually(t, func() bool {
		got, err := challenges.GetChallenge(t.Context(), &pb.GetChallengeRequest{Daily: daily})
		assert.NoError(t, err)
		seed = got.GetChallenge().GetSeed()
		return len(seed) > 0
	}, limit, 10*time.Millisecond)
	forms := regexp.MustCompile(fmt.Sprintf("(?i:%x)|%s|%s", seed, regexp.QuoteMeta(base64.StdEncoding.EncodeToString(seed)),
		regexp.QuoteMeta(base64.URLEncoding.EncodeToString(seed))))
	for who, shown := range map[string]string{"the owner's terminal": own.shown(), "the other's terminal": other.shown(), "commands": before} {
		assert.NotRegexp(t, forms, shown, who)
		if who != "the owner's terminal" {
			assert.NotRegexp(t, board, shown, who)
		}
	}
	// Make sure that the search works: it must find the seed and the board once they are public.
	after := commands()
	assert.Regexp(t, forms, after)
	assert.Regexp(t, board, after)
	other.terminal("watch "+id, board.String())
}

// recordedSSH is an SSH client that records everything that its sessions receive.
type recordedSSH struct {
	t      *testing.T
	client *ssh.Client
	all    output
}

// recordSSH connects to a host with a key.
func recordSSH(t *testing.T, h *sshHost, key ssh.Signer) *recordedSSH {
	t.Helper()
	c, err := ssh.Dial("tcp", "127.0.0.1:"+h.port, &ssh.ClientConfig{
		User: "ada", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &recordedSSH{t: t, client: c}
}

// shown returns everything that was received, without control sequences.
func (r *recordedSSH) shown() string { return escapes.ReplaceAllString(r.all.String(), " ") }

// run runs a command without a terminal.
func (r *recordedSSH) run(command string) {
	r.t.Helper()
	session, err := r.client.NewSession()
	require.NoError(r.t, err)
	out, _ := session.CombinedOutput(command)
	require.NotEmpty(r.t, out, command)
	_, _ = r.all.Write(out)
}

// terminal runs a command on a terminal. steps are patterns to wait for, with keys to press between
// them. At the end, terminal presses Ctrl+C and waits for the session to end.
func (r *recordedSSH) terminal(command string, steps ...string) {
	r.t.Helper()
	session, err := r.client.NewSession()
	require.NoError(r.t, err)
	in, err := session.StdinPipe()
	require.NoError(r.t, err)
	var shown output
	session.Stdout, session.Stderr = &shown, &shown
	require.NoError(r.t, session.RequestPty("xterm-256color", 24, 80, nil))
	require.NoError(r.t, session.Start(command))
	for step := range slices.Chunk(append(steps, "\x03"), 2) {
		pattern := regexp.MustCompile(step[0])
		require.Eventually(r.t, func() bool { return pattern.MatchString(escapes.ReplaceAllString(shown.String(), " ")) },
			limit, 10*time.Millisecond, "%q does not show %s", command, pattern)
		_, _ = in.Write([]byte(step[1])) // the session may have ended
	}
	_ = session.Wait()
	_, _ = r.all.Write([]byte(shown.String()))
}
