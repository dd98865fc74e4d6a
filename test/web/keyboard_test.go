package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/describe"
	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// reachable is an expression for the elements that the Tab key must reach, in page order.
const reachable = `[...document.querySelectorAll("a[href], button:not(:disabled), input, textarea, select, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility({visibilityProperty: true}))`

// focus describes the focused element: its place in the order and its focus outline.
type focus struct {
	Stop          int
	Outline, HTML string
}

// Ensure that the Tab key reaches every control of a page in order, and that the focus is
// visible.
func TestKeyboard_Tab_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	live, over := s.create(ada, "classic"), s.create(ada, "3x3")
	s.move(ada, live)
	for over.GetPosition().GetScores()[0] == 0 { // The leaderboard omits games without points.
		s.move(ada, over)
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: over.GetId()})
	require.NoError(t, err)
	race := s.race(ada, "3x3", time.Minute)
	tab := browsertest.Open(t, s.address)
	tab.Use(browsertest.Device{Width: 1000, Height: 800, Still: true})
	check := func(path string) {
		t.Helper()
		// The page's lists may change during the test, so mark the current elements.
		want := browsertest.Eval[int](tab, fmt.Sprintf(`(() => {
			const all = %s;
			all.forEach((e, i) => { e.stop = i; });
			return all.length;
		})()`, reachable))
		require.Positive(t, want)
		next := -1
		for range want {
			tab.Press(kb.Tab)
			// After the last element, the focus moves to the browser itself.
			if browsertest.Eval[bool](tab, "document.activeElement === document.body") {
				tab.Press(kb.Tab)
			}
			got := browsertest.Eval[focus](tab, `(() => {
				const e = document.activeElement;
				return {Stop: e.stop ?? -1, Outline: getComputedStyle(e).outlineStyle, HTML: e.outerHTML.slice(0, 90)};
			})()`)
			if next >= 0 { // The first stop depends on where the page placed the focus.
				require.Equal(t, next, got.Stop, "%s: the focus is on %s", path, got.HTML)
			}
			next = (got.Stop + 1) % want
			assert.NotEqual(t, "none", got.Outline, "%s: the focus on %s is not visible", path, got.HTML)
		}
	}
	for path, ready := range map[string]string{
		"/g/" + over.GetId(): says("Verified in this browser") + " && " + says("Beat this score"),
		"/g/" + live.GetId(): says("Copy link"),
		"/play":              says("Tribolo"),
		"/play/classic":      `document.querySelector(".offer button")`,
		"/top/3x3#all":       `document.querySelector("tbody tr") && document.querySelector("[aria-label=Variants] a")`,
		"/p/ada":             `document.querySelector(".gamerow")`,
		"/account":           `document.querySelector("main input")`,
		"/daily":             `document.querySelector(".offer button")`,
		"/race":              says("6×6"),
		"/c/" + race:         says("ada not ready"),
	} {
		tab.Visit(path)
		tab.Wait(ready)
		check(path)
	}
	tab.Visit("/play/tribolo")
	tab.Wait(`document.querySelector(".offer button")`)
	tab.Press(kb.Enter)
	tab.Wait(`document.querySelector(".tri .legal")`)
	check("playing Tribolo")
}

// Ensure that Tribolo can be played with the keyboard alone: a cursor moves to a legal cell.
func TestKeyboard_Tribolo_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	tab.Visit("/play/tribolo")
	tab.Wait(`document.querySelector(".offer button")`)
	tab.Press(kb.Enter)
	tab.Wait(`document.querySelector(".tri .legal")`)
	g := s.newest(tab)
	to := g.GetPosition().GetTribolo().GetLegalMoves()[0].GetCell()
	tab.Press(kb.ArrowRight) // The cursor appears.
	for range 16 + 11 {
		at := browsertest.Eval[int32](tab, `[...document.querySelectorAll(".tri rect:not(.ground)")].findIndex((r) => r.classList.contains("cursor"))`)
		require.GreaterOrEqual(t, at, int32(0))
		switch {
		case at%16 < to.GetX():
			tab.Press(kb.ArrowRight)
		case at%16 > to.GetX():
			tab.Press(kb.ArrowLeft)
		case at/16 < to.GetY():
			tab.Press(kb.ArrowDown)
		case at/16 > to.GetY():
			tab.Press(kb.ArrowUp)
		}
	}
	tab.Wait(`document.querySelector("[aria-live]").textContent.includes(" takes ")`)
	tab.Press(kb.Enter)
	require.Eventually(t, func() bool { return s.game(g.GetId()).GetVersion() > g.GetVersion() }, browsertest.Patience, pollEvery)
}

// Ensure that a screen reader announces each move of a slow game, and its end.
func TestScreenReader_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "classic")
	tab := browsertest.Open(t, s.address)
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	hears := func(text string) {
		t.Helper()
		tab.Wait(fmt.Sprintf(`[...document.querySelectorAll("[aria-live]")].some((e) => e.textContent.includes(%q))`, text))
	}
	for range 3 {
		moved := s.move(ada, g)
		hears(describe.Happened(g, moved, describe.Seat) + ", " + pointsOf(g))
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	hears("Resigned")
	assert.Equal(t, "img", browsertest.Eval[string](tab, board+".getAttribute('role')"))
}
