//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
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
	if testing.Short() {
		t.Skip("plays on terminals")
	}
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
		sh -c 'echo $$ >%[1]s/%[2]s.pid; exec env %[5]s %[4]s'
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

// pid returns the process ID of a pane's command.
func (p *panes) pid(name string) int {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name+".pid"))
	require.NoError(p.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(p.t, err)
	return pid
}

// sees waits until a pane shows text that matches the pattern, and returns that text.
func (p *panes) sees(name, pattern string) string {
	p.t.Helper()
	var last, found string
	ok := assert.Eventually(p.t, func() bool {
		last = p.tmux("capture-pane", "-p", "-t", name)
		found = regexp.MustCompile(pattern).FindString(last)
		return found != ""
	}, limit, 30*time.Millisecond)
	require.True(p.t, ok, "%s does not show %q:\n%s", name, pattern, last)
	return found
}

// board returns the score and the numbers on a pane's board.
func (p *panes) board(name string) string {
	p.t.Helper()
	const boardEnd, scoreBegin, scoreEnd = 33, 35, 56 // columns
	var numbers []string
	score := ""
	below := false                                                              // whether the next line contains the score
	_, screen, _ := strings.Cut(p.tmux("capture-pane", "-p", "-t", name), "\n") // without the header
	for line := range strings.Lines(screen) {
		runes := []rune(fmt.Sprintf("%-80s", strings.TrimSuffix(line, "\n")))
		if below {
			score = strings.Fields(string(runes[scoreBegin:scoreEnd]))[0]
		}
		below = strings.Contains(line, "SCORE")
		numbers = append(numbers, regexp.MustCompile(`\d+`).FindAllString(string(runes[:boardEnd]), -1)...)
	}
	return fmt.Sprint(score, " points: ", numbers)
}

// shows waits until a pane shows a board in the form of panes.board. The screen may contain
// only a part of a new frame at first.
func (p *panes) shows(name, board string) {
	p.t.Helper()
	var last string
	ok := assert.Eventually(p.t, func() bool {
		last = p.board(name)
		return last == board
	}, limit, 30*time.Millisecond)
	require.True(p.t, ok, "%s shows %s instead of %s", name, last, board)
}

// boardOf returns what panes.board returns for a game.
func boardOf(g *pb.Game) string {
	var numbers []string
	for _, tile := range g.GetPosition().GetTwenty48().GetTiles() {
		if tile > 0 {
			numbers = append(numbers, strconv.Itoa(int(tile)))
		}
	}
	return fmt.Sprint(g.GetPosition().GetScores()[0], " points: ", numbers)
}

// TestOnTerminals plays on the program's own server in one terminal and watches the same
// game in two others. It checks that the program restores the terminal however it ends.
func TestOnTerminals(t *testing.T) {
	p := newPanes(t)
	server := " --server " + process.FreeAddress(t)
	p.open("play", "play --local"+server)
	p.sees("play", "What should others call you")
	p.tmux("send-keys", "-t", "play", "ada", "Enter")
	id := strings.Fields(p.sees("play", `gridstand watch [a-z2-7]{8} --server`))[2]
	p.open("tv", "watch"+server)
	p.open("watch", "watch "+id+server)
	p.sees("tv", "the (best live classic|most watched live) game")
	p.sees("watch", "● live|○ idle") // idle if the game is more than half a minute old
	p.sees("play", "2 watching")

	p.open("dumb", "watch "+id+server, "TERM=dumb")
	p.sees("dumb", `^classic  ada  0 points  version 1\n`)
	p.open("dumb play", "play"+server, "TERM=dumb")
	p.sees("dumb play", "(?s)play needs a terminal.*exit=1 icanon echo")

	for range 3 {
		p.tmux("send-keys", "-t", "play", "Left", "Down", "Right", "Down", "h", "s", "d", "k")
	}
	p.sees("play", `MOVES  [1-9]\d`)
	require.Eventually(t, func() bool {
		played := p.board("play")
		return played == p.board("tv") && played == p.board("watch") && played == p.board("play")
	}, limit, 50*time.Millisecond, "%s\n%s\n%s", p.board("play"), p.board("tv"), p.board("watch"))

	p.tmux("resize-window", "-t", "play", "-x", "40", "-y", "20")
	p.sees("play", `SCORE \d+.*\n +MOVES \d+`)
	p.tmux("resize-window", "-t", "play", "-x", "12", "-y", "4")
	p.sees("play", "The window")
	p.tmux("resize-window", "-t", "play", "-x", "80", "-y", "24")
	p.tmux("send-keys", "-t", "play", "n")
	p.sees("play", "Give up this game")
	p.tmux("send-keys", "-t", "play", "y")
	p.sees("play", "The previous game ended with")
	p.sees("watch", "Resigned")
	if p.sees("tv", "Resigned|move 0,") == "Resigned" { // TV shows the result for 6 s, and then the next game
		p.tmux("send-keys", "-t", "tv", "n")
	}
	p.sees("tv", "move 0,")

	p.tmux("send-keys", "-t", "watch", "q")
	p.sees("watch", `(?s)verify `+id+`.*exit=0 icanon echo`)
	p.tmux("send-keys", "-t", "play", "q")
	p.sees("play", `(?s)ada left a classic game.*games are stored in[^.]*[^ ]*\.\nexit=0 icanon echo`)
	p.sees("tv", "◌ reconnecting")
	require.NoError(t, syscall.Kill(p.pid("tv"), syscall.SIGTERM))
	p.sees("tv", "exit=130 icanon echo")
}

// Ensure that a game on the program's own server continues with the same board after
// SIGKILL.
func TestOnTerminals_KilledAndResumed(t *testing.T) {
	p, address := newPanes(t), process.FreeAddress(t)
	command, ada := "play --local --server "+address, newUser(t, address, "ada")
	p.open("first", command+" --name ada")
	p.sees("first", "MOVES +0")
	moves := func(pane string) int {
		n, err := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(p.sees(pane, `MOVES +\d+`)))
		require.NoError(t, err)
		return n
	}
	// Press one key for each move, and see its result before the next, so that no key remains when
	// the program is killed.
	id := strings.Fields(p.sees("first", `gridstand watch [a-z2-7]{8} `))[2]
	made := 12
	for n := range made {
		legal := ada.game(id).GetPosition().GetTwenty48().GetLegalMoves()[0]
		key := map[pb.Direction]string{
			pb.Direction_DIRECTION_UP: "Up", pb.Direction_DIRECTION_DOWN: "Down",
			pb.Direction_DIRECTION_LEFT: "Left", pb.Direction_DIRECTION_RIGHT: "Right",
		}[legal]
		p.tmux("send-keys", "-t", "first", key)
		p.sees("first", fmt.Sprintf(`MOVES +%d\b`, n+1))
	}
	board := boardOf(ada.game(id))
	p.shows("first", board)
	resume := func(before, after string) {
		pid := p.pid(before)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.Eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, limit, time.Millisecond)
		require.NoError(t, os.Rename(filepath.Join(p.dir, before), filepath.Join(p.dir, after)))
		p.open(after, command+" --resume")
	}
	resume("first", "second")
	p.sees("second", "MOVES +"+strconv.Itoa(made)+`\b`)
	p.shows("second", board)

	// Kill the program between moves: the last board on the screen must survive.
	p.tmux("send-keys", "-t", "second", "Left", "Down", "Right", "Down", "Up", "Left", "Down", "Right", "Down", "Up")
	require.Eventually(t, func() bool { return moves("second") > made }, limit, time.Millisecond)
	made = min(moves("second"), moves("second")) // one screen may contain only one new digit of two
	resume("second", "third")
	require.Eventually(t, func() bool { return moves("third") >= made }, limit, 30*time.Millisecond)
	p.tmux("send-keys", "-t", "third", "q")
	p.sees("third", "exit=0 icanon echo")
}
