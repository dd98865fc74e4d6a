package web

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// sees waits until a terminal shows text that matches the pattern, and returns that text.
func (p *terminals) sees(name, pattern string) string {
	p.t.Helper()
	var found string
	p.wait(name, pattern, func() bool {
		found = regexp.MustCompile(pattern).FindString(p.tmux("capture-pane", "-p", "-t", name))
		return found != ""
	})
	return found
}

// wait waits until a terminal shows what done looks for.
func (p *terminals) wait(name, what string, done func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(browsertest.Patience); !done(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.Fail(p.t, "timed out", "%s does not show %q:\n%s", name, what, p.tmux("capture-pane", "-p", "-t", name))
		}
	}
}

// lines returns the lines of a terminal, padded to its width.
func (p *terminals) lines(name string) [][]rune {
	p.t.Helper()
	var lines [][]rune
	for line := range strings.Lines(p.tmux("capture-pane", "-p", "-t", name)) {
		lines = append(lines, []rune(fmt.Sprintf("%-100s", strings.TrimSuffix(line, "\n"))))
	}
	return lines
}

// ownBoard returns the score and tiles of the game that a terminal's player plays.
func (p *terminals) ownBoard(name string) string {
	p.t.Helper()
	const width = 51 // of the board
	lines := p.lines(name)
	score := slices.IndexFunc(lines, func(line []rune) bool { return strings.Contains(string(line), "SCORE") })
	if score < 0 {
		return ""
	}
	return strings.Fields(string(lines[score+1][width:]))[0] + tilesIn(lines[1:], 0, width)
}

// wallBoard returns the score and tiles of a player's game in a terminal that shows the boards of a
// race in two columns.
func (p *terminals) wallBoard(name, player string) string {
	p.t.Helper()
	const width = 50 // of a column
	lines := p.lines(name)
	for row, line := range lines {
		for _, left := range []int{0, width} {
			title := regexp.MustCompile(`\d ` + player + ` +(\d+) `).FindStringSubmatch(string(line[left : left+width]))
			if title == nil {
				continue
			}
			below := lines[row+1:]
			bottom := slices.IndexFunc(below, func(line []rune) bool {
				return strings.Contains(string(line[left:left+width]), "▀▀▀▀▀▀▀▀▀▀▀▀")
			})
			return title[1] + tilesIn(below[:max(bottom, 0)], left, left+width)
		}
	}
	return ""
}

// tilesIn returns the numbers between two columns of some lines.
func tilesIn(lines [][]rune, from, to int) string {
	var text strings.Builder
	for _, line := range lines {
		for _, tile := range regexp.MustCompile(`\d+`).FindAllString(string(line[from:to]), -1) {
			text.WriteString(" " + tile)
		}
	}
	return text.String()
}

// scoreAndTiles returns a position as ownBoard and wallBoard do.
func scoreAndTiles(p *pb.Position) string {
	text := strconv.Itoa(int(p.GetScores()[0]))
	for _, tile := range p.GetTwenty48().GetTiles() {
		if tile > 0 {
			text += " " + strconv.Itoa(int(tile))
		}
	}
	return text
}

// Ensure that two players in terminals and one in a browser can race on the same tiles, and that
// a watcher in a terminal and one in a browser see all three boards.
func TestRace_Everywhere_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	cleo, page := browsertest.Open(t, s.address), browsertest.Open(t, s.address)
	panes := newTerminals(t, s.address)
	panes.open("ada", "race --minutes 60 --name ada")
	id := strings.TrimPrefix(panes.sees("ada", `/c/[a-z2-7]{26}`), "/c/")
	panes.open("bob", "join "+id+" --name bob")
	panes.sees("bob", `(?s)ada, creator.*bob \(you\)`)
	cleo.Visit("/c/" + id)
	cleo.Wait(says("bob not ready"))
	browsertest.Eval[bool](cleo, `(document.querySelector("main input").value = "cleo", true)`)
	click(cleo, "Join")
	for _, pane := range []string{"ada", "bob"} {
		panes.sees(pane, "cleo")
	}
	panes.open("watcher", "watch "+id)
	panes.sees("watcher", `(?s)ada, creator.*bob.*cleo`)
	page.Visit("/c/" + id)
	page.Wait(says("cleo not ready"))
	panes.tmux("send-keys", "-t", "ada", "Enter")
	panes.tmux("send-keys", "-t", "bob", "Enter")
	cleo.Wait(says("ada ✓ ready") + " && " + says("bob ✓ ready"))
	click(cleo, "Ready")

	press := map[string]func(d pb.Direction){"cleo": func(d pb.Direction) { cleo.Press(keyOf(d)) }}
	for _, pane := range []string{"ada", "bob"} {
		press[pane] = func(d pb.Direction) {
			panes.tmux("send-keys", "-t", pane, map[pb.Direction]string{
				pb.Direction_DIRECTION_UP: "Up", pb.Direction_DIRECTION_DOWN: "Down",
				pb.Direction_DIRECTION_LEFT: "Left", pb.Direction_DIRECTION_RIGHT: "Right",
			}[d])
		}
	}
	page.Wait(`[...document.querySelectorAll(".wall .b48")].filter((b) => b.querySelector(".tile")).length === 3`)
	got, err := s.challenges.GetChallenge(t.Context(), &pb.GetChallengeRequest{ChallengeId: id})
	require.NoError(t, err)
	games := map[string]*pb.Game{}
	for _, e := range got.GetChallenge().GetEntrants() {
		games[e.GetPlayer().GetName()] = s.game(e.GetGameId())
	}
	require.Len(t, games, 3)
	// shown waits until all players and watchers see the current boards.
	shown := func() {
		t.Helper()
		waitForBoard(cleo, games["cleo"].GetPosition())
		for _, pane := range []string{"ada", "bob"} {
			want := scoreAndTiles(games[pane].GetPosition())
			panes.wait(pane, want, func() bool { return panes.ownBoard(pane) == want })
		}
		for name, g := range games {
			want := scoreAndTiles(g.GetPosition())
			panes.wait("watcher", name+": "+want, func() bool { return panes.wallBoard("watcher", name) == want })
			page.Wait(fmt.Sprintf(`[...document.querySelectorAll(".wall li")].some((e) =>
				e.querySelector("span b").innerText === %q && e.querySelector(".b48")?.getAttribute("aria-label") === %q &&
				e.innerText.includes(%q))`, name, label(g.GetPosition()), " "+pointsOf(g)))
		}
	}
	// move presses the key of a player's next move and waits until the server has made the move.
	move := func(name string, d pb.Direction) {
		t.Helper()
		press[name](d)
		before := games[name]
		require.Eventually(t, func() bool {
			games[name] = s.game(before.GetId())
			return games[name].GetVersion() > before.GetVersion()
		}, browsertest.Patience, 20*time.Millisecond, "%s made no move", name)
	}
	// equal checks that all players have the same board after the same number of moves.
	equal := func() {
		t.Helper()
		for name, g := range games {
			assert.Equal(t, games["ada"].GetVersion(), g.GetVersion(), name)
			assert.True(t, proto.Equal(games["ada"].GetPosition(), g.GetPosition()), "%s has other tiles than ada", name)
		}
	}
	shown()
	equal()
	for range 8 {
		d := games["ada"].GetPosition().GetTwenty48().GetLegalMoves()[0]
		for name := range games {
			move(name, d)
		}
		equal()
		shown()
	}
	// With different numbers of moves, the boards differ.
	for i, name := range []string{"ada", "bob", "cleo"} {
		for range i {
			move(name, games[name].GetPosition().GetTwenty48().GetLegalMoves()[0])
			shown()
		}
	}

	for _, pane := range []string{"ada", "bob"} {
		panes.tmux("send-keys", "-t", pane, "n")
		panes.sees(pane, "points are kept")
		panes.tmux("send-keys", "-t", pane, "y")
		panes.sees(pane, "Resigned")
	}
	click(cleo, "Give up")
	cleo.Wait(`document.querySelector("dialog[open]")`)
	cleo.Press(kb.Enter)
	cleo.Wait(says("of 3"))
}
