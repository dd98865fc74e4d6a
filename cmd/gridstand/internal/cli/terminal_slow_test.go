//go:build slow && unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// panes are the windows of a test's own tmux server.
type panes struct {
	t      *testing.T
	dir    string
	binary string
	socket string
	opened bool
}

func newPanes(t *testing.T) *panes {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	binary, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "conf"), []byte("set -g status off\n"), 0o600))
	return &panes{t: t, dir: dir, binary: binary, socket: fmt.Sprintf("gridstand-%s-%d", t.Name(), os.Getpid())}
}

// tmux runs a tmux command.
func (p *panes) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	require.NoError(p.t, err, "%v: %s", args, out)
	return string(out)
}

// command returns a tmux command.
func (p *panes) command(args ...string) *exec.Cmd {
	args = append([]string{"-L", p.socket, "-f", filepath.Join(p.dir, "conf")}, args...)
	cmd := exec.CommandContext(p.t.Context(), "tmux", args...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	return cmd
}

// open runs a command of the client in a pane of 80×24 cells, with additional environment
// variables. When the command ends, the pane shows its exit code and the state of the
// terminal.
func (p *panes) open(name, command string, variables ...string) {
	p.t.Helper()
	p.run(name, p.binary+" "+command, variables...)
}

// run is like open, but for any program.
func (p *panes) run(name, command string, variables ...string) {
	p.t.Helper()
	script := fmt.Sprintf(`
		unset TMUX NO_COLOR GRIDSTAND_SERVER
		export TERM=xterm-256color COLORTERM=truecolor XDG_CONFIG_HOME=%[1]s/%[2]s XDG_STATE_HOME=%[1]s/%[2]s %[3]s=1
		env %[5]s %[4]s
		echo exit=$? $(stty -a | grep -oE -- '-?(icanon|echo)\b')
		exec cat`, p.dir, name, actAsClient, command, strings.Join(variables, " "))
	if p.opened {
		p.tmux("new-window", "-d", "-n", name, script)
		return
	}
	p.opened = true
	p.tmux("new-session", "-d", "-n", name, "-x", "80", "-y", "24", script)
	socket := strings.TrimSpace(p.tmux("display-message", "-p", "#{socket_path}"))
	p.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
		_ = os.Remove(socket) // tmux leaves its socket behind
	})
}

// named creates the account that the commands in a pane use.
func (p *panes) named(name, server string) {
	p.t.Helper()
	u := newUser(p.t, server, name)
	u.store = client.NewStore(filepath.Join(p.dir, name, "gridstand", "credentials.json"))
	u.ok("account", "new", name)
}

// sees waits until a pane shows text that matches the pattern, and returns that text.
func (p *panes) sees(name, pattern string) string {
	p.t.Helper()
	var last, found string
	p.t.Cleanup(func() {
		if found == "" {
			p.t.Logf("%s does not show %q:\n%s", name, pattern, last)
		}
	})
	waittest.Until(p.t, fmt.Sprintf("%s shows %q", name, pattern), func() bool {
		last = p.tmux("capture-pane", "-p", "-t", name)
		found = regexp.MustCompile(pattern).FindString(last)
		return found != ""
	})
	return found
}

// sane waits until a pane's command has ended, and checks that it restored the terminal.
func (p *panes) sane(pane string, code int) {
	p.t.Helper()
	p.sees(pane, fmt.Sprintf("exit=%d icanon echo", code))
	for _, mode := range []string{"alternate_on", "mouse_any_flag", "keypad_flag"} {
		assert.Equal(p.t, "0\n", p.tmux("display-message", "-p", "-t", pane, "#{"+mode+"}"), mode)
	}
	assert.Equal(p.t, "1\n", p.tmux("display-message", "-p", "-t", pane, "#{cursor_flag}"))
}

// arrows are tmux's names of the keys that slide tiles.
var arrows = map[pb.Direction]string{
	pb.Direction_DIRECTION_UP: "Up", pb.Direction_DIRECTION_DOWN: "Down",
	pb.Direction_DIRECTION_LEFT: "Left", pb.Direction_DIRECTION_RIGHT: "Right",
}

// slides makes legal moves in a game of 2048 with arrow keys. It sees the result of each before the
// next, so that no key remains.
func (p *panes) slides(pane string, reader *person, game string, moves int) {
	p.t.Helper()
	for range moves {
		position := reader.game(game).GetPosition()
		p.tmux("send-keys", "-t", pane, arrows[position.GetTwenty48().GetLegalMoves()[0]])
		p.sees(pane, fmt.Sprintf(`MOVES +%d\b`, position.GetMoveCount()+1))
	}
}

// Ensure that a newcomer can play 2048 in a terminal while another one watches, leave it, and go on later.
func TestTerminal_Newcomer(t *testing.T) {
	t.Parallel()
	p, address := newPanes(t), someServer(t)
	reader := newUser(t, address, "reader")
	p.named("ada", address)
	p.open("ada", "--server "+address+" --no-animation")
	p.sees("ada", `(?s)No live games. Press n to start one.*None yet. Press n to start one, s to race`)
	p.tmux("send-keys", "-t", "ada", "n")
	p.sees("ada", `(?s)New game.*1 enter classic: `)
	p.tmux("send-keys", "-t", "ada", "1")
	p.sees("ada", `MOVES +0`)
	game := lines(t, reader.ok("games", "--json"), func() *pb.Game { return new(pb.Game) })[0].GetId()
	p.open("bob", "--server "+address)
	p.sees("bob", "▸[●○] classic +ada") // ○ if the game is more than half a minute old
	p.tmux("send-keys", "-t", "bob", "Enter")
	p.sees("ada", "1 watching")

	p.slides("ada", reader, game, 12)
	p.sees("bob", `move 12,`)
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", `(?s)Live games.*classic +ada.*My games.*classic +(live|idle)`)
	p.tmux("send-keys", "-t", "ada", "q")
	p.sane("ada", exitOK)

	require.NoError(t, os.Rename(filepath.Join(p.dir, "ada"), filepath.Join(p.dir, "again")))
	p.open("again", "play --server "+address+" --no-animation")
	p.sees("again", `MOVES +12\b`)
	p.slides("again", reader, game, 1)
	p.sees("bob", `move 13,`)

	// Another terminal of ada's does not show the token with which it uses the account.
	store := client.NewStore(filepath.Join(p.dir, "again", "gridstand", "credentials.json"))
	account, _, err := store.Load(address)
	require.NoError(t, err)
	p.open("token", "account import --server "+address)
	p.sees("token", `Token of your account on .* \(it is not shown\):`)
	p.tmux("send-keys", "-t", "token", account.Token, "Enter")
	shown := p.sees("token", `(?s).*ada on .*exit=0 icanon echo`)
	assert.NotContains(t, strings.ReplaceAll(shown, "\n", ""), account.Token, "also across lines")

	p.tmux("send-keys", "-t", "again", "q")
	p.sees("again", `(?s)classic by ada: .*Resume it with`)
	p.sane("again", exitOK)
	p.tmux("send-keys", "-t", "bob", "C-c")
	p.sane("bob", exitInterrupted)
}
