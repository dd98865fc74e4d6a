package web

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// stored returns the account that a tab has stored.
func stored(t testing.TB, tab *browsertest.Tab) (account struct{ ID, Name, Token string }) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(browsertest.Eval[string](tab, `localStorage.getItem("gridstand.account")`)), &account))
	return account
}

// newest returns the newest game of the tab's account.
func (s *testServer) newest(tab *browsertest.Tab) *pb.Game {
	s.t.Helper()
	listed, err := s.games.ListGames(s.t.Context(), &pb.ListGamesRequest{PlayerId: stored(s.t, tab).ID})
	require.NoError(s.t, err)
	require.NotEmpty(s.t, listed.GetGames())
	return s.game(listed.GetGames()[0].GetId())
}

// begin visits a path, starts a game of 2048 from the keyboard, and waits for the first two tiles.
func begin(tab *browsertest.Tab, path string) {
	tab.Visit(path)
	tab.Wait(`document.querySelector(".offer button")`)
	tab.Press(kb.Enter)
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
}

// playToEnd slides tiles until the game is over. The page must show the board after each
// move.
func (s *testServer) playToEnd(tab *browsertest.Tab, slide func(pb.Direction)) *pb.Game {
	s.t.Helper()
	g := s.newest(tab)
	for g.GetResult() == nil {
		waitForBoard(tab, g.GetPosition())
		slide(g.GetPosition().GetTwenty48().GetLegalMoves()[0])
		before := g.GetVersion()
		tab.Wait(fmt.Sprintf("%s.getAttribute('aria-label') !== %q", board, label(g.GetPosition())))
		require.Eventually(s.t, func() bool { // The page shows a slide before the server receives the move.
			g = s.game(g.GetId())
			return g.GetVersion() > before
		}, browsertest.Patience, pollEvery)
	}
	waitForBoard(tab, g.GetPosition())
	return g
}

// Ensure that a new player can reach the first move with three keystrokes and play a whole game
// from the keyboard.
func TestPlay_Keys(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	tab.Visit("/")
	tab.Wait(says("Play"))
	tab.Press("p")
	tab.Wait(`location.pathname === "/play/classic" && [...document.querySelectorAll("button")].some((b) => b.innerText === "Start")`)
	tab.Wait(says("guest name, which cannot be changed") + ` && document.querySelector("main a[href='/account']")`)
	tab.Press(kb.Enter)
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	first := s.newest(tab)
	waitForBoard(tab, first.GetPosition())
	tab.Press(keyOf(first.GetPosition().GetTwenty48().GetLegalMoves()[0]))
	tab.Wait(fmt.Sprintf("%s.getAttribute('aria-label') !== %q", board, label(first.GetPosition())))

	begin(tab, "/play/3x3")
	tab.Wait(says("Equal tiles that meet merge."))
	assert.False(t, browsertest.Eval[bool](tab, says("Build a 2048")), "no 2048 fits on this board")
	g := s.playToEnd(tab, func(d pb.Direction) { tab.Press(keyOf(d)) })
	tab.Wait(says("Play again"))
	tab.Wait(says("Verified in this browser"))
	tab.Wait(says("#1 of 1 today"))
	assert.Empty(t, browsertest.Eval[[]string](tab, `performance.getEntriesByType("resource")
		.filter((e) => e.responseStatus >= 400).map((e) => e.name)`), "the browser logs each failed request")
	assert.True(t, g.GetRanked())
	assert.True(t, strings.HasPrefix(stored(t, tab).Name, "guest-"))
}

func keyOf(d pb.Direction) string {
	return map[pb.Direction]string{
		pb.Direction_DIRECTION_UP: kb.ArrowUp, pb.Direction_DIRECTION_DOWN: kb.ArrowDown,
		pb.Direction_DIRECTION_LEFT: kb.ArrowLeft, pb.Direction_DIRECTION_RIGHT: kb.ArrowRight,
	}[d]
}

// tap taps the center of an element.
func tap(tab *browsertest.Tab, selector string) {
	touch(tab, selector, 0, 0)
}

// center scrolls an element into view and returns the coordinates of its center.
func center(tab *browsertest.Tab, selector string) [2]float64 {
	return browsertest.Eval[[2]float64](tab, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, selector))
}

// touch puts a finger on the center of an element, moves it, and lifts it.
func touch(tab *browsertest.Tab, selector string, dx, dy float64) {
	middle := center(tab, selector)
	at := func(part float64) []*input.TouchPoint {
		return []*input.TouchPoint{{X: middle[0] + part*dx, Y: middle[1] + part*dy}}
	}
	send := func(kind input.DispatchTouchEventType, points []*input.TouchPoint) {
		browsertest.Call(tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	send("touchStart", at(0))
	if dx != 0 || dy != 0 {
		send("touchMove", at(0.5))
		send("touchMove", at(1))
	}
	send("touchEnd", []*input.TouchPoint{})
}

// Ensure that a game can be played by touch on a phone, and that swipes on the board do not
// scroll the page.
func TestPlay_Touch_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	tab.Use(browsertest.Device{Width: 360, Height: 640, Touch: true})
	tab.Visit("/play/3x3")
	tab.Wait(`document.querySelector(".offer button")`)
	tap(tab, ".offer button")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	at := browsertest.Eval[float64](tab, `(document.querySelector(".b48").scrollIntoView({block: "nearest"}), scrollY)`)
	s.playToEnd(tab, func(d pb.Direction) {
		touch(tab, ".b48", swipes[d][0], swipes[d][1])
		if s.newest(tab).GetResult() == nil {
			assert.InDelta(t, at, browsertest.Eval[float64](tab, "scrollY"), 1, "a swipe moved the page")
		}
	})
	tab.Wait(says("Play again"))
}

// Ensure that Tribolo can be played with clicks against two bots to its end.
func TestPlay_Tribolo_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t, func(c *server.Config) { c.BotPace = 0 })
	tab := browsertest.Open(t, s.address)
	tab.Visit("/play/tribolo")
	tab.Wait(`document.querySelector(".offer button")`)
	tab.Press(kb.Enter)
	const over = `document.body.innerText.includes("Play again")`
	for {
		tab.Wait(over + ` || (document.querySelector(".tri .legal") && document.body.innerText.includes("Your turn"))`)
		if browsertest.Eval[bool](tab, over) {
			break
		}
		// One expression clicks and waits for the effect, because a bot may move at any time.
		browsertest.Eval[bool](tab, `new Promise((moved) => {
			const before = document.querySelector(".tri").getAttribute("aria-label");
			const look = () => document.querySelector(".tri").getAttribute("aria-label") !== before
				? moved(true) : setTimeout(look, 5);
			document.querySelector(".tri .legal").dispatchEvent(new MouseEvent("click", {bubbles: true}));
			look();
		})`)
	}
	assert.Equal(t, pb.Result_REASON_NO_MOVES, s.newest(tab).GetResult().GetReason())
	tab.Wait(says("Verified in this browser"))
}

// Ensure that a player can continue in a new tab, and that moves made elsewhere are shown.
func TestPlay_Resume(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	begin(tab, "/play/classic")
	g := s.newest(tab)
	elsewhere := playertest.WithToken(t.Context(), stored(t, tab).Token)
	for range 3 {
		s.move(elsewhere, g)
		waitForBoard(tab, g.GetPosition())
	}
	tab.Visit("/play/classic")
	waitForBoard(tab, g.GetPosition())
	tab.Press(keyOf(g.GetPosition().GetTwenty48().GetLegalMoves()[0]))
	tab.Wait(fmt.Sprintf("%s.getAttribute('aria-label') !== %q", board, label(g.GetPosition())))
	tab.Wait(`!document.body.innerText.includes("watching")`) // the player does not count as a spectator
}

// Ensure that an account can be moved from the browser to a terminal with its token.
func TestAccount_Token_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	program := process.Build(t, "cmd/gridstand")
	s := start(t)
	home := t.TempDir()
	gridstand := func(ctx context.Context, stdin string, args ...string) string {
		cmd := exec.CommandContext(ctx, program, append(args, "--server", s.address)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	tab := browsertest.Open(t, s.address)
	tab.Visit("/account")
	tab.Wait(`document.querySelector("main input")`)
	tab.Do(chromedp.SendKeys(chromedp.CSS("main input"), "ada"+kb.Enter))
	tab.Wait(`localStorage.getItem("gridstand.account")`)
	out := gridstand(t.Context(), stored(t, tab).Token+"\n", "login", "--token")
	assert.Contains(t, out, "ada")
}
