//go:build slow

package web

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// terminal runs the terminal program in tmux with a new account, and returns functions that wait for a text
// on its screen and press keys.
func (s *testServer) terminal(name string) (sees func(text string), press func(keys ...string)) {
	s.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		s.t.Skip("tmux is not installed")
	}
	dir := s.t.TempDir()
	tmux := func(args ...string) string {
		out, err := exec.CommandContext(s.t.Context(), "tmux", append([]string{"-S", dir + "/tmux"}, args...)...).CombinedOutput()
		require.NoError(s.t, err, "%v: %s", args, out)
		return string(out)
	}
	tmux("new-session", "-d", "-x", "100", "-y", "30", fmt.Sprintf(
		"export XDG_CONFIG_HOME=%[1]s XDG_STATE_HOME=%[1]s; %[2]s account new %[4]s --server %[3]s && %[2]s --server %[3]s; exec cat",
		dir, process.Build(s.t, "cmd/gridstand"), s.address, name))
	s.t.Cleanup(func() { _ = exec.Command("tmux", "-S", dir+"/tmux", "kill-server").Run() })
	sees = func(text string) {
		s.t.Helper()
		waittest.Until(s.t, "the terminal shows "+text, func() bool { return strings.Contains(tmux("capture-pane", "-p"), text) })
	}
	return sees, func(keys ...string) { tmux(append([]string{"send-keys"}, keys...)...) }
}

// TestJourney_Table: a player creates a game of Tribolo with open seats in a browser and waits. Another one
// finds it on the start page, a third one in the lobby of the terminal program. It starts when all are there,
// and goes on if one gives up.
func TestJourney_Table(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada, bob := s.open(), s.open()
	ada.Visit("/play/tribolo")
	ada.Wait(`document.querySelectorAll("main select").length === 2`)
	browsertest.Eval[bool](ada, `([...document.querySelectorAll("main select")].forEach((s) => { s.value = ""; }), true)`)
	click(ada, "Start")
	ada.Wait(says("Waiting for 2 players") + " && " + says("1 player here"))
	g := s.newest(ada)
	assert.Equal(t, pb.GameStatus_GAME_STATUS_WAITING, g.GetStatus())
	link := "/play/tribolo?game=" + g.GetId()
	browsertest.Eval[bool](ada, "(document.execCommand = undefined, true)") // so that a dialog shows the link
	click(ada, "Copy link")
	ada.Wait(fmt.Sprintf(`document.querySelector("dialog textarea")?.value === %q`, "http://gridstand.test"+s.address[strings.LastIndex(s.address, ":"):]+link))

	bob.Visit(link)
	bob.Wait(says("Take a seat") + " && " + says("Here: guest-"))
	bob.Visit("/")
	bob.Wait(says("Open places") + " && " + says("tribolo, 2 seats free"))
	click(bob, "Join")
	bob.Wait(fmt.Sprintf("location.pathname + location.search === %q", link))
	for _, tab := range []*browsertest.Tab{ada, bob} {
		tab.Wait(says("Waiting for 1 player") + " && " + says("2 players here"))
	}
	ada.Visit("/play")
	ada.Wait(says("Open places") + ` && [...document.querySelectorAll("main a")].some((a) => a.innerText === "Return")`)
	ada.Visit("/play/tribolo") // The game that waits is the player's own.
	ada.Wait(says("Waiting for 1 player"))

	sees, press := s.terminal("carl")
	sees("1 waiting")
	press("enter")
	for _, tab := range []*browsertest.Tab{ada, bob} {
		tab.Wait("!" + says("Waiting for") + " && " + says("carl"))
	}
	sees("carl (you)")
	assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, s.game(g.GetId()).GetStatus())

	// The others play on without a player who gives up, who is not asked to give up again.
	click(ada, "Give up")
	confirm(ada, "Give up this game?")
	ada.Wait(says("(you), gave up") + " && !" + says("Give up"))
	click(ada, "New game")
	ada.Wait(says("Waiting for 2 players"))
	assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, s.game(g.GetId()).GetStatus())
}
