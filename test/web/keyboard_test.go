package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// reachable lists what the Tab key must reach, in the order of the page.
const reachable = `[...document.querySelectorAll("a[href], button:not(:disabled), input, textarea, select, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility({visibilityProperty: true}))`

// focus is the element that has it: its place in the order, and how the focus is seen.
type focus struct {
	Stop          int
	Outline, HTML string
}

// Ensure that the Tab key goes to all that can be used on a page, in its order, and that
// the focus is seen there.
func TestKeyboard_Tab(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	live, over := s.create(ada, "classic"), s.create(ada, "3x3")
	s.move(ada, live)
	for range 5 {
		s.move(ada, over)
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: over.GetId()})
	require.NoError(t, err)
	tab := browsertest.Open(t, s.address)
	tab.Use(browsertest.Device{Width: 1000, Height: 800, Still: true})
	check := func(path string) {
		t.Helper()
		// The lists of a page may change while the key is pressed: mark what is there now.
		want := browsertest.Eval[int](tab, fmt.Sprintf(`(() => {
			const all = %s;
			all.forEach((e, i) => { e.stop = i; });
			return all.length;
		})()`, reachable))
		require.Positive(t, want)
		next := -1
		for range want {
			tab.Press(kb.Tab)
			if browsertest.Eval[bool](tab, "document.activeElement === document.body") { // After the last one comes the browser itself.
				tab.Press(kb.Tab)
			}
			got := browsertest.Eval[focus](tab, `(() => {
				const e = document.activeElement;
				return {Stop: e.stop ?? -1, Outline: getComputedStyle(e).outlineStyle, HTML: e.outerHTML.slice(0, 90)};
			})()`)
			if next >= 0 { // The first one is next to where the page put the focus.
				require.Equal(t, next, got.Stop, "%s: the focus is on %s", path, got.HTML)
			}
			next = (got.Stop + 1) % want
			assert.NotEqual(t, "none", got.Outline, "%s: the focus on %s is not seen", path, got.HTML)
		}
	}
	for path, ready := range map[string]string{
		"/g/" + over.GetId(): says("Verified in this browser"),
		"/g/" + live.GetId(): says("Copy link"),
		"/play":              says("Tribolo"),
		"/play/classic":      `document.querySelector(".offer button")`,
		"/top/3x3#all":       `document.querySelector("tbody tr") && document.querySelector("[aria-label=Variants] a")`,
		"/p/ada":             `document.querySelector(".gamerow")`,
		"/account":           `document.querySelector("main input")`,
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

// Ensure that Tribolo is played by keys alone: a cursor goes to a cell that may be jumped to.
func TestKeyboard_Tribolo(t *testing.T) {
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

// Ensure that a screen reader hears each move that is watched, if they are slow, and the end.
func TestScreenReader(t *testing.T) {
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
		direction := g.GetPosition().GetTwenty48().GetLegalMoves()[0]
		s.move(ada, g)
		points := fmt.Sprintf("%d point", g.GetPosition().GetScores()[0])
		hears(map[pb.Direction]string{
			pb.Direction_DIRECTION_UP: "up", pb.Direction_DIRECTION_DOWN: "down",
			pb.Direction_DIRECTION_LEFT: "left", pb.Direction_DIRECTION_RIGHT: "right",
		}[direction] + ", " + points)
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	hears("Given up")
	assert.Equal(t, "img", browsertest.Eval[string](tab, board+".getAttribute('role')"))
}
