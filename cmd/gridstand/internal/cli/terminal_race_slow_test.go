//go:build slow && unix

package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that two players in two terminals can race on the same tiles: they meet in the waiting
// room, hear the countdown, see each other's score and place, keep their points when they leave,
// and can play a rematch. A program waits for the start, races with them, and verifies its game.
func TestTerminal_Race(t *testing.T) {
	t.Parallel()
	p, clock, config := newPanes(t), servertest.ClockAt(12), servertest.Config(t)
	config.StoreNow = clock.Now
	running, _ := servertest.Start(t, config)
	server := running.Addr().String()
	for _, name := range []string{"ada", "bob", "eve"} {
		p.named(name, server)
	}
	p.open("ada", "race --limit 10m --server "+server)
	race := p.sees("ada", `(?s)Roster.*ada \(you\), creator.*/c/[a-z2-7]{26}`)
	race = regexp.MustCompile(`/c/([a-z2-7]{26})`).FindStringSubmatch(race)[1]
	p.open("bob", "join "+race+" --server "+server)
	p.sees("bob", `(?s)ada, creator.*bob \(you\)`)
	p.sees("ada", `2 of 8`)
	cal := newUser(t, server, "cal")
	cal.ok("account", "new", "cal")
	var begun, note output
	code := make(chan int, 1)
	go func() {
		code <- cal.program(&begun, &note).run(t.Context(), []string{"join", race, "--wait"})
	}()
	waittest.Until(t, "the program waits", func() bool { return note.String() == "Waiting for the challenge to open.\n" })
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("bob", `✓ ada`)
	// The clock stands still until the players have been alerted to the countdown, which takes only 3 s.
	clock.Stop()
	alerted := func(pane string) bool {
		return p.tmux("display-message", "-p", "-t", pane, "#{window_bell_flag}") == "1\n"
	}
	for _, pane := range []string{"ada", "bob"} {
		require.False(t, alerted(pane), pane)
	}
	p.tmux("send-keys", "-t", "bob", "Enter")
	for _, pane := range []string{"ada", "bob"} {
		waittest.Until(t, pane+" hears the bell", func() bool { return alerted(pane) })
	}
	clock.Resume()
	p.sees("ada", `(?s)PLACE.*bob`)
	p.sees("bob", `(?s)PLACE.*ada`)
	p.shows("bob", p.board("ada"))

	// After so many keys, some tiles have merged.
	keys := []string{"send-keys", "-t", "ada", "Left", "Down", "Right", "Down", "Left", "Up", "Left", "Down", "Right", "Up", "Left", "Down"}
	p.tmux(keys...)
	p.sees("bob", `ada +[1-9]\d*`)
	keys[2] = "bob"
	p.tmux(keys...)
	p.sees("ada", `bob +[1-9]\d*`)
	waittest.Until(t, "equal moves give equal boards", func() bool {
		board := p.board("ada")
		return board == p.board("bob") && board == p.board("ada")
	})

	require.Equal(t, exitOK, waittest.Receive(t, "the program's game", code))
	game := strings.TrimSpace(begun.String())
	cal.slide(game, 3)
	assert.Regexp(t, `(?m)^ +\d  cal ◂ you +\d+ +\d+ +3  playing`, cal.ok("top", race))
	cal.ok("resign", game)

	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", `(?s)Leave the race.*You can return`)
	p.tmux("send-keys", "-t", "ada", "n", "n")
	p.sees("ada", `(?s)Give up the race.*points are kept`)
	p.tmux("send-keys", "-t", "ada", "y")
	p.sees("ada", `(?s)resigned.*of 3 so far.*ada \(you\)`)
	p.sees("bob", `ada +\d+ ■`)
	p.tmux("send-keys", "-t", "ada", "q", "q")
	p.sees("ada", `(?s)Gridstand race.*points`)
	p.sane("ada", exitOK)
	p.tmux("send-keys", "-t", "bob", "n")
	p.sees("bob", `(?s)Give up the race.*points are kept`)
	p.tmux("send-keys", "-t", "bob", "y")
	p.sees("bob", `resigned|The race is over|You win`) // the last player's resignation also closes the race
	p.tmux("send-keys", "-t", "bob", "q", "q")
	p.sane("bob", exitOK)

	waittest.Until(t, "the race is closed", func() bool {
		out, _, code := cal.run("verify", game)
		return code == exitOK && strings.Contains(out, "an attempt at the challenge "+race)
	})
	hers := regexp.MustCompile(`(?m)^ +\d  ada .*  ([a-z2-7]{6,}) `).FindStringSubmatch(cal.ok("top", race))[1]
	p.open("eve", "challenge "+hers+" --server "+server)
	p.sees("eve", `(?s)Challenge: beat ada's [\d,]+.*/c/[a-z2-7]{26}`)
	p.tmux("send-keys", "-t", "eve", "Enter")
	p.sees("eve", `(?s)Challenge: beat ada's.*TO BEAT`)
	p.tmux(append([]string{"send-keys", "-t", "eve"}, keys[3:]...)...)
	p.sees("eve", `MOVES +[1-9]`)
	p.tmux("send-keys", "-t", "eve", "C-c")
	p.sane("eve", exitInterrupted)
}
