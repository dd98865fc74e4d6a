//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// half finds the half of a pane that shows a player's name, and returns the score and the
// numbers on the board below the name.
func (p *panes) half(pane, player string) string {
	p.t.Helper()
	const middle = 40
	screen := strings.Split(p.tmux("capture-pane", "-p", "-t", pane), "\n")
	for row, line := range screen {
		runes := []rune(fmt.Sprintf("%-80s", line))
		for _, part := range [][2]int{{0, middle}, {middle, 80}} {
			title := string(runes[part[0]:part[1]])
			if !regexp.MustCompile(`\b`+player+` `).MatchString(title) || strings.Contains(title, "GRIDSTAND") {
				continue
			}
			numbers := regexp.MustCompile(`[\d,]+`).FindAllString(title, -1)
			if len(numbers) == 0 {
				continue
			}
			score := numbers[len(numbers)-1]
			var tiles []string
			for _, below := range screen[row+1 : len(screen)-2] {
				cells := []rune(fmt.Sprintf("%-80s", below))
				tiles = append(tiles, regexp.MustCompile(`\d+`).FindAllString(string(cells[part[0]:part[1]]), -1)...)
			}
			return fmt.Sprint(score, " points: ", tiles)
		}
	}
	return ""
}

// TestTerminal_Race_long lets two players race in two terminals on the same tiles while a
// third person watches both boards. A player whose program was killed resumes the race; a
// player who leaves keeps the points. When both have left, the race is closed, and a person
// without an account sees the results.
func TestTerminal_Race_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p, clock, config := newPanes(t), &storeClock{}, servertest.Config(t)
	config.StoreNow = clock.now
	running, _ := servertest.Start(t, config)
	server := running.Addr().String()
	p.open("ada", "race --minutes 10 --server "+server+" --name ada")
	race := p.sees("ada", `(?s)Roster.*ada \(you\), creator.*/c/[a-z2-7]{26}`)
	race = regexp.MustCompile(`/c/([a-z2-7]{26})`).FindStringSubmatch(race)[1]
	p.open("bob", "join "+race+" --server "+server+" --name bob")
	p.sees("bob", `(?s)ada, creator.*bob \(you\)`)
	p.sees("ada", `2 of 8`)
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("bob", `✓ ada`)
	p.open("eve", "--server "+server)
	p.sees("eve", `Race of 10 min`)
	// The clock stands still until the players have been alerted to the countdown, which takes only 3 s.
	clock.stop()
	for _, pane := range []string{"ada", "bob"} {
		require.Equal(t, "0\n", p.tmux("display-message", "-p", "-t", pane, "#{window_bell_flag}"))
	}
	p.tmux("send-keys", "-t", "bob", "Enter")
	for _, pane := range []string{"ada", "bob"} {
		require.Eventually(t, func() bool {
			return p.tmux("display-message", "-p", "-t", pane, "#{window_bell_flag}") == "1\n"
		}, limit, 30*time.Millisecond, "%s did not hear the bell", pane)
	}
	clock.resume()
	p.sees("ada", `(?s)PLACE.*bob`)
	p.sees("bob", `(?s)PLACE.*ada`)
	same := func() bool {
		board := p.board("ada")
		return board == p.board("bob") && board == p.board("ada")
	}
	require.Eventually(t, same, limit, 50*time.Millisecond, "the first boards differ")

	// After so many keys, some tiles have merged.
	keys := []string{"send-keys", "-t", "ada", "Left", "Down", "Right", "Down", "Left", "Up", "Left", "Down", "Right", "Up", "Left", "Down"}
	p.tmux(keys...)
	p.sees("bob", `ada +[1-9]\d*`)
	keys[2] = "bob"
	p.tmux(keys...)
	p.sees("ada", `bob +[1-9]\d*`)
	require.Eventually(t, same, limit, 50*time.Millisecond, "equal moves gave different boards")

	// If the last move was more than half a minute ago, the race is idle, and the lobby shows no badge for it.
	p.sees("eve", `(?s)(● live|○ 0 live).*▸[●○] classic`)
	p.tmux("send-keys", "-t", "eve", "Enter")
	p.sees("eve", `(?s)(● live|○ idle).*ada.*bob`)
	both := func() bool {
		played := p.board("ada")
		return p.half("eve", "ada") == played && p.half("eve", "bob") == played
	}
	require.Eventually(t, both, limit, 50*time.Millisecond, "eve sees %s\n%s\ninstead of %s",
		p.half("eve", "ada"), p.half("eve", "bob"), p.board("ada"))
	p.tmux("send-keys", "-t", "ada", "Right", "Up", "Down", "Left")
	var board string
	require.Eventually(t, func() bool {
		board = p.board("bob")
		return p.half("eve", "ada") == p.board("ada") && p.half("eve", "bob") == board
	}, limit, 50*time.Millisecond)

	require.NoError(t, syscall.Kill(p.pid("bob"), syscall.SIGKILL))
	require.NoError(t, os.Rename(filepath.Join(p.dir, "bob"), filepath.Join(p.dir, "again")))
	p.open("again", "join "+race+" --server "+server)
	p.sees("again", `(?s)PLACE.*ada`)
	p.shows("again", board)

	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", `(?s)Leave the race.*points are kept`)
	p.tmux("send-keys", "-t", "ada", "y")
	p.sees("ada", `(?s)Resigned.*of 2 so far.*ada \(you\)`)
	p.sees("again", `ada +\d+ ■`)
	p.tmux("send-keys", "-t", "ada", "s")
	p.sees("ada", `(?s)(● live|○ idle).*ada \(you\).*bob`)
	p.tmux("send-keys", "-t", "ada", "q", "q")
	p.sees("ada", `(?s)Gridstand race.*points.*exit=0 icanon echo`)
	p.tmux("send-keys", "-t", "eve", "q")
	p.sees("eve", `Live games`)

	p.tmux("send-keys", "-t", "again", "q")
	p.sees("again", `(?s)Leave the race.*points are kept`)
	p.tmux("send-keys", "-t", "again", "y")
	p.sees("again", `Resigned|The race is over|You win!`) // the last player's resignation also closes the race
	p.open("late", "join "+race+" --server "+server)
	p.sees("late", `(?s)■ closed.*ada.*bob|■ closed.*bob.*ada`)
	p.tmux("send-keys", "-t", "late", "q")
	p.sees("late", `exit=0 icanon echo`)
}

// playOut plays the game in a pane until there is no legal move.
func (p *panes) playOut(pane string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		if strings.Contains(p.tmux("capture-pane", "-p", "-t", pane), "No moves left") {
			return true
		}
		p.tmux("send-keys", "-t", pane, "Left", "Down", "Right", "Up")
		return false
	}, limit, 50*time.Millisecond)
}

// TestTerminal_Rematch_long plays the daily game from the lobby, which shows the result. It
// then plays a game to its end and lets another player try to beat it on the same tiles.
func TestTerminal_Rematch_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := newPanes(t)
	server, _ := serverAtNoon(t) // so that the day does not end during the test
	p.open("ada", "--server "+server+" --name ada")
	p.sees("ada", `Daily \d{4}-\d\d-\d\d .*d play +next in `)
	p.tmux("send-keys", "-t", "ada", "d")
	p.sees("ada", `What should others call you`)
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("ada", `(?s)Daily \d{4}.*MOVES  0`)
	for range 5 { // enough keys for at least ten moves
		p.tmux("send-keys", "-t", "ada", "Left", "Down", "Right", "Up")
	}
	p.sees("ada", `MOVES  [1-9]\d`)
	p.tmux("send-keys", "-t", "ada", "n")
	p.sees("ada", `points? are kept`)
	p.tmux("send-keys", "-t", "ada", "y")
	p.sees("ada", `(?s)Resigned.*1st of 1.*ada \(you\).*Gridstand daily`)
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", `points?, 1st of 1 +d result`)
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", `exit=0 icanon echo`)
	require.NoError(t, os.Rename(filepath.Join(p.dir, "ada"), filepath.Join(p.dir, "first")))

	p.open("first", "play 3x3 --server "+server)
	p.sees("first", `MOVES  0`)
	p.playOut("first")
	p.tmux("send-keys", "-t", "first", "b")
	rematch := regexp.MustCompile(`/c/([a-z2-7]{26})`).FindStringSubmatch(
		p.sees("first", `(?s)Rematch: beat ada's [\d,]+, 3x3.*/c/[a-z2-7]{26}`))[1]
	p.open("bob", "join "+rematch+" --server "+server+" --name bob")
	p.sees("bob", `(?s)Rematch: beat ada's.*TO BEAT`)
	p.playOut("bob")
	p.sees("bob", `(?s)1st of 1.*(beat ada by|level with ada|points? behind ada)`)
	p.sees("first", `1 bob`)
	p.tmux("send-keys", "-t", "bob", "s")
	p.sees("bob", `(?s)Standings.*1 bob \(you\).*prove nothing`)
	p.tmux("send-keys", "-t", "bob", "Enter")
	p.sees("bob", `1st of 1`)
	p.tmux("send-keys", "-t", "bob", "q", "q")
	p.sees("bob", `(?s)Gridstand rematch.*exit=0 icanon echo`)
}
