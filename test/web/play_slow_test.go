//go:build slow

package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/palette"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// TestJourney_Play: a new player starts a game with three keystrokes, moves with every kind of key and
// the mouse, takes moves back, continues after a reload and elsewhere, and plays another game to its
// end.
func TestJourney_Play(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.open()
	tab.Visit("/")
	tab.Wait(says("Play"))
	tab.Press("p")
	tab.Wait(`location.pathname === "/play/classic" && ` + offer)
	tab.Wait(says("You play as a guest.") + ` && document.querySelector("main a[href='/account']")`)
	tab.Press(kb.Enter)
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	g := s.newest(tab)
	next := s.eventsAfter(g)
	positions := []*pb.Position{g.GetPosition()}
	waitForBoard(tab, positions[0])
	// press presses one of the keys for up, down, left and right, at a place named after the US keyboard.
	press := func(d pb.Direction, letters, places string) {
		tab.Wait(fmt.Sprintf(`!document.body.dispatchEvent(new KeyboardEvent("keydown", {
			key: [...%q][%[2]d], code: "Key" + %[3]q[%[2]d], bubbles: true, cancelable: true,
		}))`, letters, d-1, places))
	}
	for i, slide := range []func(pb.Direction){
		func(d pb.Direction) { tab.Press(arrows[d]) },
		func(d pb.Direction) { press(d, "zsqd", "WSAD") }, // French
		func(d pb.Direction) { press(d, "лорд", "KJHL") }, // Russian
		func(d pb.Direction) { drag(tab, ".b48", swipes[d]) },
	} {
		legal := positions[i].GetTwenty48().GetLegalMoves()
		direction := legal[i%len(legal)]
		slide(direction)
		e := next()
		require.Equal(t, direction, e.GetMoved().GetDirection(), "move %d", i+1)
		positions = append(positions, e.GetPosition())
		waitForBoard(tab, e.GetPosition())
	}

	// Undo asks only while the game has its rank to lose.
	require.True(t, s.game(g.GetId()).GetRanked())
	undone := func(to int) {
		t.Helper()
		e := next()
		require.NotNil(t, e.GetUndone())
		assert.Equal(t, label(positions[to]), label(e.GetPosition()))
		assert.Equal(t, positions[to].GetScores(), e.GetPosition().GetScores())
		waitForBoard(tab, positions[to])
	}
	tab.Press("u")
	tab.Wait(says("This makes the game unranked."))
	confirm(tab, "Undo the last move?")
	undone(3)
	assert.False(t, s.game(g.GetId()).GetRanked())
	tab.Wait(says("unranked"))
	tab.Press("u")
	undone(2)
	click(tab, "Undo")
	undone(1)

	// The page shows moves that the player makes elsewhere, also after a reload.
	g = s.game(g.GetId())
	me := &playertest.Player{Games: s.games, Ctx: playertest.WithToken(t.Context(), stored(t, tab).Token)}
	for range 3 {
		me.Move(t, g)
		waitForBoard(tab, g.GetPosition())
	}
	tab.Visit("/play/classic")
	waitForBoard(tab, g.GetPosition())
	assert.Empty(t, browsertest.Eval[[]string](tab, `performance.getEntriesByType("resource")
		.filter((e) => e.name.includes("/assets/") && e.transferSize > 0).map((e) => e.name)`), "a second visit requests only the page")
	tab.Wait(says("1 watching")) // Only events counts, not the player's own stream.
	tab.Press(keyOf(g))
	tab.Wait(fmt.Sprintf("%s.getAttribute('aria-label') !== %q", board, label(g.GetPosition())))
	tab.Press("n")
	confirm(tab, "Give up this game?")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	assert.Equal(t, pb.Result_REASON_RESIGNED, s.game(g.GetId()).GetResult().GetReason())
	assert.NotEqual(t, g.GetId(), s.newest(tab).GetId())

	const star = `getComputedStyle(document.querySelector(".b48 i b"), "::before").content === '"*"'`
	assert.False(t, browsertest.Eval[bool](tab, star))
	choose := func(theme string) {
		browsertest.Eval[bool](tab, fmt.Sprintf(`(document.getElementById("theme").value = %q, document.getElementById("theme").dispatchEvent(new Event("change")))`, theme))
	}
	choose("classic")
	tab.Wait(fmt.Sprintf(`getComputedStyle(%s).getPropertyValue("--empty").trim() === %q`, board, palette.Hex(palette.Classic.Empty)))
	choose("vt100")
	tab.Wait(star)
	begin(tab, "/play/3x3")
	tab.Wait(star)
	tab.Wait(says("Equal tiles that meet merge."))
	assert.False(t, browsertest.Eval[bool](tab, says("Build a 2048")), "no 2048 fits on this board")
	for g = s.newest(tab); g.GetResult() == nil; {
		g = s.press(tab, g)
	}
	waitForBoard(tab, g.GetPosition())
	tab.Wait(says("Play again"))
	tab.Wait(`document.querySelector(".bad")?.textContent === "Game over: no moves left"`)

	// Keys that the player still presses at the end are no keys of the replay, nor of the page. The page
	// has the events of the game.
	tab.Wait(says("Verified in this browser"))
	for _, key := range []string{kb.ArrowLeft, "d", "a", kb.ArrowRight, " ", kb.Home} {
		tab.Press(key)
		assert.False(t, browsertest.Eval[bool](tab, says("replay")), key)
		waitForBoard(tab, g.GetPosition())
	}
	tab.Wait(says("#1 of 1 today"))
	const failed = `performance.getEntriesByType("resource").filter((e) => e.responseStatus >= 400).map((e) => e.name)`
	assert.Empty(t, browsertest.Eval[[]string](tab, failed), "the browser logs each failed request")
	assert.True(t, g.GetRanked())
	assert.True(t, strings.HasPrefix(stored(t, tab).Name, "guest-"))
	click(tab, "Play again")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	tab.Visit("/top/twos")
	tab.Wait(says("1st Take it 2nd Take it 3rd Take it"))
	assert.Empty(t, browsertest.Eval[[]string](tab, failed), "a player without a score there")
	tab.Visit("/play/3x3")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")

	// Over HTTP/1.1, eight windows of the browser have six connections. All follow their games, and moves do not wait.
	ada := s.player("ada")
	other := ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"})
	browsertest.Eval[int](tab, fmt.Sprintf("(window.opened = [...Array(7)].map(() => open('/g/%s', '', 'popup'))).length", other.GetId()))
	for range 3 {
		tab.Wait(fmt.Sprintf(`opened.every((w) => w.%s?.getAttribute("aria-label") === %q)`, board, label(other.GetPosition())))
		s.press(tab, s.newest(tab))
		ada.Move(t, other)
	}
}

// TestJourney_Touch: a player on a phone plays 2048 with swipes, which do not scroll the page, and
// Tribolo with taps and a keyboard to its end.
func TestJourney_Touch(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.BotPace = 0 })
	tab := s.open()
	tab.Use(browsertest.Device{Width: 360, Height: 640, Touch: true})
	tab.Visit("/play/classic")
	tab.Wait(offer)
	tap(tab, ".offer button")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	g := s.newest(tab)
	waitForBoard(tab, g.GetPosition())
	next := s.eventsAfter(g)
	at := browsertest.Eval[float64](tab, `(document.querySelector(".b48").scrollIntoView({block: "nearest"}), scrollY)`)
	for position := g.GetPosition(); position.GetMoveCount() < 8; { // too few moves to end the game
		legal := position.GetTwenty48().GetLegalMoves()
		direction := legal[int(position.GetMoveCount())%len(legal)]
		touch(tab, ".b48", swipes[direction])
		e := next()
		require.Equal(t, direction, e.GetMoved().GetDirection())
		position = e.GetPosition()
		waitForBoard(tab, position)
		assert.InDelta(t, at, browsertest.Eval[float64](tab, "scrollY"), 1, "a swipe moved the page")
	}

	tab.Visit("/play/tribolo")
	tab.Wait(offer)
	tap(tab, ".offer button")
	tab.Wait(`document.querySelector(".tri .legal")`)
	const cells = `[...document.querySelectorAll(".tri rect:not(.ground)")]`
	next = s.eventsAfter(s.newest(tab))
	for range 3 {
		tab.Wait(says("Your turn"))
		cell := browsertest.Eval[int32](tab, cells+`.findIndex((r) => r.classList.contains("legal"))`)
		tap(tab, ".tri .legal")
		e := next()
		for e.GetSeat() != 0 { // a bot's move before the player's first one
			e = next()
		}
		assert.Equal(t, []int32{cell % 16, cell / 16}, []int32{e.GetMoved().GetCell().GetX(), e.GetMoved().GetCell().GetY()})
		for e.GetPosition().GetTurn() != 0 {
			e = next()
		}
		last := e.GetMoved().GetCell()
		tab.Wait(fmt.Sprintf(`document.querySelector(".tri").getAttribute("aria-label").endsWith("; last jump to %x,%d")`, last.GetX(), last.GetY()))
	}

	// The first arrow key shows a cursor, wherever the focus is. A screen reader says what a jump to its
	// cell takes.
	tab.Wait(says("Your turn"))
	browsertest.Eval[bool](tab, "(document.activeElement.blur(), true)")
	g = s.newest(tab)
	to := g.GetPosition().GetTribolo().GetLegalMoves()[0].GetCell()
	tab.Press(kb.ArrowRight)
	for range 16 + 11 {
		cursor := browsertest.Eval[int32](tab, cells+`.findIndex((r) => r.classList.contains("cursor"))`)
		require.GreaterOrEqual(t, cursor, int32(0))
		switch {
		case cursor%16 < to.GetX():
			tab.Press(kb.ArrowRight)
		case cursor%16 > to.GetX():
			tab.Press(kb.ArrowLeft)
		case cursor/16 < to.GetY():
			tab.Press(kb.ArrowDown)
		case cursor/16 > to.GetY():
			tab.Press(kb.ArrowUp)
		}
	}
	tab.Wait(`document.querySelector("[aria-live]").textContent.includes(" takes ")`)
	tab.Press(kb.Enter)
	e := next()
	assert.Equal(t, []int32{to.GetX(), to.GetY()}, []int32{e.GetMoved().GetCell().GetX(), e.GetMoved().GetCell().GetY()})

	over := says("Play again")
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
